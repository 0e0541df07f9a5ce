"""The contact problems of robots of example-robot-data, a few of those of validation/bench_contact_problem.py."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from coulomb_law import lacks

from urdf_gibbs.bundled import example_robots
from urdf_gibbs.contact.coulomb import contact_impulses

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))

from contact_problems import ROBOTS, problems

pytestmark = pytest.mark.skipif(not example_robots(), reason="pip install example-robot-data")

# Walls that close on a robot (a restitution of normals alone, random normals) may leave no solution: those are not asked for here.
ALWAYS = ("impact e=0", "impact e=.5 all", "rest")


@pytest.mark.parametrize("robot", list(ROBOTS))
def test_robots_are_solved(robot: str) -> None:
    """States on a plane, for which a solution exists, and in a bowl with velocities that a motion before explains."""
    count = 0
    for problem in problems(robot, range(2)):
        p, certificate = contact_impulses(problem.K, problem.b, problem.mu, search=0)
        if problem.case in ALWAYS:
            count += 1
            assert certificate < 1e-10, problem.case
            u = problem.K @ p + problem.b
            assert u[::3].min() > -1e-9 * np.abs(problem.b).max()
            assert (np.hypot(p[1::3], p[2::3]) <= problem.mu * p[::3] + 1e-9 * np.abs(p).max()).all()
    assert count == 6


@pytest.mark.parametrize(("robot", "number", "case"), [("pr2", 45, "impact e=0"), ("pr2", 45, "impact e=.5 all")])
def test_a_load_that_many_sticking_contacts_share(robot: str, number: int, case: str) -> None:
    """Five contacts of one body stick: impulses are not unique, and Newton's method with Gauss-Seidel and a curve leave 5e-5."""
    (problem,) = [one for one in problems(robot, range(number, number + 1)) if one.case == case]
    found = contact_impulses(problem.K, problem.b, problem.mu, search=0)
    assert found.verdict == "solved"
    assert lacks(problem.K, problem.b, problem.mu, found.impulses) < 1e-9  # units of single contacts differ by a factor of 100


@pytest.mark.parametrize(("robot", "number"), [("pr2", 45), ("go2-16", 27)])
def test_impulses_that_are_drawn_to_the_last_ones_find_what_others_miss(robot: str, number: int) -> None:
    """Newton's law with e = 0.5 for normals alone, before any linear program: one is allowed."""
    (problem,) = [one for one in problems(robot, range(number, number + 1)) if one.case == "impact e=.5"]
    found = contact_impulses(problem.K, problem.b, problem.mu, search=1)
    assert found.verdict == "solved"
    assert lacks(problem.K, problem.b, problem.mu, found.impulses) < 1e-9


@pytest.mark.parametrize(("robot", "number"), [("romeo", 19), ("pr2", 12)])
def test_curves_with_other_beginnings_find_what_the_first_one_leads_away_from(robot: str, number: int) -> None:
    """Newton's law with e = 0.5 for normals alone: the curve from impulses of size 1 goes to infinity, one of the next few ends."""
    (problem,) = [one for one in problems(robot, range(number, number + 1)) if one.case == "impact e=.5"]
    assert contact_impulses(problem.K, problem.b, problem.mu, search=0).verdict == "open"
    found = contact_impulses(problem.K, problem.b, problem.mu, search=1)
    assert found.verdict == "solved"
    assert lacks(problem.K, problem.b, problem.mu, found.impulses) < 1e-9
