"""The contact problem of a time step where nothing slips, against NumPy's solution of the linear system."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL
from urdf_gibbs.contact.coulomb.sticking import stick

Array = NDArray[np.float64]

ENOUGH = 1e-11
ROUNDING = 1e-13  # of systems whose conditions are below 100


def problem(rng: np.random.Generator, kinds: list[int], mu: float) -> tuple[Array, NDArray[np.int64], NDArray[np.int64], Array]:
    """S of rows that do not depend on each other, with a unit diagonal; kinds, where contacts begin, and what they ask for."""
    at = np.cumsum([0, *(3 if kind == FRICTION else 1 for kind in kinds)]).astype(np.int64)
    B = np.hstack([rng.uniform(-0.3, 0.3, (at[-1], at[-1])), np.eye(at[-1])])
    B /= np.linalg.norm(B, axis=1)[:, None]
    law = np.zeros((len(kinds), 3))
    law[:, 0] = mu
    return B @ B.T, np.array(kinds, np.int64), at, law


@pytest.mark.parametrize("seed", range(5))
def test_contacts_that_stick_are_solved_at_once(seed: int) -> None:
    """Impulses inside of all cones, velocities zero: S y = -b. The start is a little off; two further contacts are open and stay so."""
    rng = np.random.default_rng(seed)
    kinds = [FRICTION, NORMAL, FRICTION, JOINT, FRICTION, NORMAL]
    S, kind, at, law = problem(rng, kinds, 0.8)
    wanted, b, closed = np.zeros(at[-1]), np.empty(at[-1]), np.ones(at[-1], bool)
    for i in range(4):
        wanted[at[i]] = 1.0 + rng.random() if kind[i] != JOINT else 0.5
    closed[at[4] :] = False
    wanted[at[0] + 1], wanted[at[2] + 2] = 0.5, -0.6
    b = -S @ wanted
    b[~closed] += 0.1 + rng.random(int((~closed).sum()))  # they open
    y = wanted * (1.0 + 0.01 * rng.normal(size=len(wanted)))
    exact = np.zeros(len(b))
    exact[closed] = np.linalg.solve(S[np.ix_(closed, closed)], -b[closed])
    assert stick(S, b, kind, at, law, y, ENOUGH) < 1e-14
    assert np.abs(y - exact).max() < ROUNDING


def test_a_joint_that_slides_acts_with_all_its_friction() -> None:
    """Its friction is known, 0.8 against the motion; the others carry it."""
    S, kind, at, law = problem(np.random.default_rng(1), [FRICTION, JOINT], 0.8)
    b = np.array([-2.0, 0.1, 0.0, -3.0])
    y = np.array([1.5, 0.0, 0.0, 0.8])
    assert stick(S, b, kind, at, law, y, ENOUGH) < 1e-14
    exact = np.linalg.solve(S[:3, :3], -b[:3] - 0.8 * S[:3, 3])
    assert y == pytest.approx([*exact, 0.8], abs=ROUNDING)


@pytest.mark.parametrize("what", ["slips", "leaves its cone", "pulls", "approaches"])
def test_what_is_no_solution_is_not_taken(what: str) -> None:
    """Then y stays as it was: another method begins there."""
    S, kind, at, law = problem(np.random.default_rng(2), [FRICTION, FRICTION], 0.5)
    b, y = np.array([-1.0, 0.0, 0.0, -1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    if what == "slips":
        b[1] = 5.0
    elif what == "leaves its cone":  # by its modes it sticks, as S is not the unit matrix
        S[1, 0] = S[0, 1] = 0.6
        y[1] = -0.4
    elif what == "pulls":  # by its modes it is closed, but the other one carries all
        S[3, 0] = S[0, 3] = 0.9
        b[0], y[3] = -0.1, 0.05
    else:  # an open contact that the other pushes into its wall
        S[3, 0] = S[0, 3] = -0.9
        y[3:], b[3] = 0.0, 0.2
        y[0] = 0.1
    start = y.copy()
    assert stick(S, b, kind, at, law, y, ENOUGH) == np.inf
    assert np.array_equal(y, start)


def test_rows_that_depend_on_each_other_are_left_to_others() -> None:
    """Dry friction of one joint twice: how they share the impulse is not decided by the velocities."""
    S, kind, at, law = np.ones((2, 2)), np.array([JOINT, JOINT]), np.array([0, 1, 2]), np.full((2, 3), 2.0)
    y = np.array([0.1, 0.2])
    assert stick(S, np.array([-0.5, -0.5]), kind, at, law, y, ENOUGH) == np.inf
    assert y.tolist() == [0.1, 0.2]
