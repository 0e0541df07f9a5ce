"""Errors of the formulations against Pinocchio."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import BASELINES, REFERENCES
from urdf_gibbs.flexible.sections import body_point
from urdf_gibbs.names import Base
from urdf_gibbs.oracle.difference import random_states
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]
TOLERANCE = 1e-12  # round-off of some hundred additions; found: 5e-15


def loaded(source: Path | str, base: Base) -> tuple[Robot, bool]:
    """The robot, and whether its mimic joints follow: those whose master does not exist are free."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ug.UrdfWarning)
        try:
            return ug.load(source, base), True
        except ug.UrdfError:  # what else is wrong is raised again
            return ug.load(source, base, mimic=False), False


def relative(ours: Any, reference: Array) -> float:
    return float(np.max(np.abs(np.asarray(ours) - reference), initial=0.0) / max(np.max(np.abs(reference), initial=0.0), 1e-12))


def errors(source: Path | str, base: Base, samples: int, seed: int = 0) -> dict[tuple[str, str], float]:
    """For each method and quantity, the largest error over random states against what Pinocchio reads from the same source."""
    robot, mimic = loaded(source, base)
    oracle = Oracle(source, base, mimic, EARTH_GRAVITY)
    states = random_states(robot, samples, seed)
    link, point = robot.link_names[-1], np.array([0.1, -0.2, 0.3])
    body, place = body_point(robot, link, point)
    expected = [oracle.answers(states.q[i], states.v[i], states.a[i], states.tau[i], {link: point}) for i in range(samples)]
    found: dict[tuple[str, str], float] = {}
    for method in BASELINES:
        M, h = ug.mass_matrix(robot, states.q, method=method), ug.bias(robot, states.q, states.v, method=method)
        assert np.array_equal(M, M.transpose(0, 2, 1))
        for i, answer in enumerate(expected):
            J = REFERENCES[method].point_jacobian(model_of(robot), states.q[i].tolist(), body, place.tolist())
            # a bias that vanishes is measured against the forces of a random acceleration
            unit = np.max(np.abs(answer.inverse), initial=0.0)
            rows = {
                "M": relative(M[i], answer.mass_matrix),
                "h": float(np.max(np.abs(h[i] - answer.bias), initial=0.0) / max(unit, 1e-12)),
                "J": relative(J, answer.jacobians[link][:3]),
            }
            for quantity, error in rows.items():
                found[method, quantity] = max(found.get((method, quantity), 0.0), error)
    return found
