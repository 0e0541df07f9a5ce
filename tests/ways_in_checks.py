"""Comparisons of robots with references that read the same source: M and bias, without machine code."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import urdf_gibbs as ug

FILES = Path(__file__).parent / "ways"
EXACT = 1e-9  # what is promised; 1e-14 is measured
GRAVITY = np.array([0.0, 0.0, -9.81])


def quiet(source: Any, **options: Any) -> ug.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ug.UrdfWarning)
        return ug.load(source, **options)


def ours(robot: ug.Robot, q: Any, v: Any, gravity: Any = GRAVITY) -> tuple[Any, Any]:
    """M and bias by a formulation in plain Python: nothing is compiled."""
    return ug.mass_matrix(robot, q, method="gibbs_appell"), ug.bias(robot, q, v, method="gibbs_appell", gravity=gravity)


def states(robot: ug.Robot, count: int = 3, seed: int = 0) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(seed)
    return [(robot.random(rng), rng.normal(size=robot.nv)) for _ in range(count)]


def relative(found: tuple[Any, Any], expected: tuple[Any, Any]) -> float:
    """The largest error of M and bias; the bias of a balanced wheel is round-off, which counts with the size of M."""
    (M, bias), (other, push) = found, expected
    size = float(np.abs(other).max())
    return max(float(np.abs(M - other).max()) / size, float(np.abs(bias - push).max() / max(np.abs(push).max(), size)))


def pinocchio_dynamics(model: Any, x: Any, u: Any) -> tuple[Any, Any]:
    """M and bias of a model at its own q and v; new data, for its crba is right only once where mimic joints follow joints above."""
    upper = np.triu(pin.crba(model, model.createData(), x))
    return upper + np.triu(upper, 1).T, np.array(pin.nonLinearEffects(model, model.createData(), x, u))


def difference_from_model(robot: ug.Robot, model: Any) -> float:
    """The largest relative error of M and bias beside a model whose joints are in the same order."""
    worst = 0.0
    for q, v in states(robot):
        expected = pinocchio_dynamics(model, robot.q_to_pinocchio(q), v)
        worst = max(worst, relative(ours(robot, q, v, model.gravity.linear), expected))
    return worst


def difference_from_engine(robot: ug.Robot, engine: Any) -> float:
    """The same beside an engine with coordinates of its own (oracle/engines.py)."""
    worst = 0.0
    for q, v in states(robot):
        worst = max(worst, relative(ours(robot, q, v, engine.gravity), engine.answers(q, v)))
    return worst


def read_by_pinocchio(text: str) -> Any:
    """Its own reader, mimic joints free."""
    return pin.buildModelFromXML(text)
