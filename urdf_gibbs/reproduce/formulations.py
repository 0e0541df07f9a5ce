"""Every formulation, also those that the papers compare theirs with, against Pinocchio on all robots at hand."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.engine.kernel import BASELINES, GRAVITY, METHODS
from urdf_gibbs.oracle.pinocchio import Oracle, OracleRefusal
from urdf_gibbs.reproduce.claims import Claim, Grid, Progress, Section
from urdf_gibbs.reproduce.measure import bounded

TOLERANCE = 1e-9
SOURCES = {
    "lagrangian_4x4": ("s18", "Table 1 [38]", "Hollerbach's recursive Lagrangian, extended to trees"),
    "gibbs_appell_3x3": ("s18", "Table 1 [39]", "Mata's recursive Gibbs-Appell equations, extended to trees"),
    "gibbs_appell": ("s18", "Sect. 3", "the recursive Gibbs-Appell equations with 3×3 and 4×4 matrices"),
    "generalised_momentum": ("wj", "Table 1 [31]", "the generalised momentum by Jacobians"),
    "pseudo_inertia": ("wj", "Table 1 [28]", "pseudo-inertia matrices"),
    "explicit": ("wj", "Sect. 4", "the explicit elements"),
}


def section(progress: Progress) -> Section:
    """Largest error of M and of the bias at one random state of each robot, floating base, relative to the largest entry."""
    methods = tuple(method for method in SOURCES if method in (*METHODS, *BASELINES))
    worst = {method: (0.0, "") for method in methods}
    robots = _robots()
    compared, joints = 0, set()
    for name, path in robots.items():
        progress(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ug.UrdfWarning)
            try:
                robot = ug.load(path, base="floating")
                oracle = Oracle(path, "floating", True, GRAVITY)
            except (ug.UrdfError, OracleRefusal):
                continue
        if robot.is_flexible:
            continue
        rng = np.random.default_rng(0)
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        reference = oracle.answers(q, v, v, v, {})
        compared += 1
        joints |= {joint.type for joint in robot.joints} | ({"mimic"} if any(joint.is_mimic for joint in robot.joints) else set())
        for method in methods:
            pairs = (
                (ug.mass_matrix(robot, q, method=method), reference.mass_matrix),
                (ug.bias(robot, q, v, method=method), reference.bias),
            )
            error = max(float(np.abs(ours - theirs).max() / np.abs(theirs).max()) for ours, theirs in pairs)
            worst[method] = max(worst[method], (error, name))
    claims = [
        Claim(
            f"{paper}.agrees.{method}",
            place,
            f"M and right-hand side by {what} (method={method!r}).",
            "equations of motion",
            f"{bounded(worst[method][0])} from Pinocchio's on {compared} robots with {', '.join(sorted(joints))} joints",
            bounded(worst[method][0]),
            worst[method][0] < TOLERANCE and compared > 0,
        )
        for method, (paper, place, what) in SOURCES.items()
    ]
    grid = Grid(
        f"{compared} robots of {len(robots)}, floating base, one random state each",
        ("method", "largest error", "robot"),
        [(method, bounded(error), name) for method, (error, name) in worst.items()],
    )
    return Section("All formulations against Pinocchio", claims, grids=[grid])


def _robots() -> dict[str, Path]:
    return {**{name: ug.model_path(name) for name in ug.model_names()}, **example_robots()}
