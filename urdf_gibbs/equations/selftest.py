"""The self-test of generated code: random states, and the results of another formulation there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from urdf_gibbs.dynamics import explicit
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import cross, dot
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.engine.quantities import Options, compute
from urdf_gibbs.robot.model import Robot

STATES = 3
TOLERANCE = 1e-9  # of the largest entry: far above the round-off of two orders of summation, far below a wrong term
DIGITS = 13  # of the stored answers, so that the last bits of a machine's sine do not show
NOISE = 1e-13  # residue where terms of size 1 cancel; stored as 0
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PAPERS = ("gibbs_appell", "explicit")
ELASTIC_PAPERS = ("transformations_flexible", "gibbs_appell_flexible")


@dataclass(frozen=True, slots=True)
class Case:
    """A state, by input, and for each function its answer there, flat, with the relative error it may have."""

    inputs: dict[str, list[float]]
    expected: dict[str, list[float]]
    tolerance: dict[str, float]


def independent(robot: Robot, method: str) -> str:
    """A formulation of the papers other than the one that the code is made from."""
    return next(name for name in (ELASTIC_PAPERS if robot.is_flexible else PAPERS) if name != method)


def cases(robot: Robot, what: list[str], options: Options, method: str) -> list[Case]:
    """The cases; always the same ones."""
    rng = np.random.default_rng(0)
    other = independent(robot, method)
    result = []
    for _ in range(STATES):
        inputs = {"q": robot.random(rng), **{letter: rng.uniform(-1.0, 1.0, robot.nv) for letter in ("v", "a", "tau")}}
        expected, tolerance = {}, {}
        for name in what:
            flat = np.ravel(_expected(robot, name, options, other, inputs)).tolist()
            noise = NOISE * _size(robot, name, options, other, inputs)
            expected[name] = [float(f"{x:.{DIGITS}g}") if abs(x) > noise else 0.0 for x in flat]
            tolerance[name] = TOLERANCE if any(expected[name]) else max(TOLERANCE, float(f"{10.0 * noise:.1e}"))
            if name == "forward_dynamics":
                M = kernel(robot, "mass_matrix", method=other)(inputs["q"])
                tolerance[name] = max(TOLERANCE, float(f"{1e-14 * np.linalg.cond(M):.1e}"))
        result.append(Case({letter: values.tolist() for letter, values in inputs.items()}, expected, tolerance))
    return result


def _expected(robot: Robot, name: str, options: Options, method: str, inputs: dict[str, Any]) -> Any:
    if name in ("potential_energy", "jacobian", "placement"):
        q = inputs["q"].tolist()
        # Elastic links have one kinematics only: there the numbers come from the same formulas, evaluated rather than printed.
        return compute(robot, name, options, q) if robot.is_flexible else _from_poses(robot, name, options, q)
    asked = {"mass_matrix": "q", "gravity_force": "q", "bias": "qv", "kinetic_energy": "qv"}.get(name)
    letters = ["q", "v", "a" if name == "inverse_dynamics" else "tau"] if asked is None else list(asked)
    return kernel(robot, name, gravity=options.gravity, method=method)(*(inputs[letter] for letter in letters))


def _size(robot: Robot, name: str, options: Options, method: str, inputs: dict[str, Any]) -> float:
    """Of the terms that may cancel in an answer: gravity along the axes of the world, and velocity products; 0 where none do."""
    if name not in ("bias", "gravity_force", "potential_energy"):
        return 0.0
    kept = "gravity_force" if name == "bias" else name
    along = [_expected(robot, kept, replace(options, gravity=axis), method, inputs) for axis in AXES]
    size = float(np.linalg.norm(options.gravity) * np.abs(along).max())
    if name == "bias":
        M = _expected(robot, "mass_matrix", options, method, inputs)
        size += float(np.abs(M).max() * np.abs(inputs["v"]).max() ** 2)
    return size


def _from_poses(robot: Robot, name: str, options: Options, q: list[float]) -> Any:
    """Positions and twists from WJ's forward kinematics (Eqs. 4-5)."""
    model = model_of(robot)
    poses = explicit.poses(model, q)
    if name == "potential_energy":
        return -sum(body.mass * dot(list(options.gravity), pose.centre) for body, pose in zip(model.bodies, poses, strict=True))
    frame = robot.frame(options.frame)
    body = np.eye(4)
    if frame.body >= 0:
        body[:3, :3], body[:3, 3] = poses[frame.body].R, poses[frame.body].origin
    place = body @ frame.placement
    if name == "placement":
        return place
    J = np.zeros((6, robot.nv))
    i = frame.body
    while i >= 0:
        arm = (place[:3, 3] - np.array(poses[i].origin)).tolist()
        for column, n in zip(model.bodies[i].columns, poses[i].n, strict=True):
            twist = [*n, 0.0, 0.0, 0.0] if column.kind == "P" else [*cross(n, arm), *n]
            J[:, column.iv] += column.ratio * np.array(twist)
        i = model.bodies[i].parent
    return J
