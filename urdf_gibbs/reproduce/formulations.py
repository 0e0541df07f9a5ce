"""Every formulation, also those that the papers compare theirs with, against Pinocchio on all available robots.

A verification of this package: the papers claim nothing that it could be compared with.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.names import Method
from urdf_gibbs.oracle.pinocchio import Oracle, OracleRefusal
from urdf_gibbs.reproduce.claims import Grid, Progress, Section
from urdf_gibbs.reproduce.measure import bounded
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

TOLERANCE = 1e-9  # relative to the largest entry: far above round-off, and far below a lost term, which is 1e-4 or more
SOURCES: dict[Method, tuple[str, ...]] = {
    "lagrangian_4x4": ("S18, Table 1 [38]", "Hollerbach's recursive Lagrangian, extended to trees"),
    "gibbs_appell_3x3": ("S18, Table 1 [39]", "Mata's recursive Gibbs-Appell equations, extended to trees"),
    "gibbs_appell": ("S18, Sect. 3", "the recursive Gibbs-Appell equations with 3×3 and 4×4 matrices"),
    "generalised_momentum": ("WJ, Table 1 [31]", "the generalised momentum by Jacobians"),
    "pseudo_inertia": ("WJ, Table 1 [28]", "pseudo-inertia matrices"),
    "explicit": ("WJ, Sect. 4", "the explicit elements"),
}


def section(progress: Progress) -> Section:
    """Largest error of M and of the bias at one random state of each robot, floating base, relative to the largest entry."""
    worst = {method: (0.0, "-") for method in SOURCES}
    robots = _robots()
    compared, joints = 0, set()
    for name, path in robots.items():
        progress(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ug.UrdfWarning)
            try:
                robot = ug.load(path, base="floating")
                oracle = Oracle(path, "floating", True, EARTH_GRAVITY)
            except (ug.UrdfError, OracleRefusal):
                continue
        if robot.is_flexible:
            continue
        rng = np.random.default_rng(0)
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        reference = oracle.answers(q, v, v, v, {})
        compared += 1
        joints |= {joint.type for joint in robot.joints} | ({"mimic"} if any(joint.is_mimic for joint in robot.joints) else set())
        for method in SOURCES:
            pairs = (
                (ug.mass_matrix(robot, q, method=method), reference.mass_matrix),
                (ug.bias(robot, q, v, method=method), reference.bias),
            )
            error = max(float(np.abs(ours - theirs).max() / np.abs(theirs).max()) for ours, theirs in pairs)
            worst[method] = max(worst[method], (error, name))
    rows = [
        (method, *SOURCES[method], bounded(error), name, "met" if compared and error < TOLERANCE else "not met")
        for method, (error, name) in worst.items()
    ]
    caption = (
        f"M and bias on {compared} robots of {len(robots)} with {', '.join(sorted(joints))} joints, floating base, one random state each; "
        "errors relative to the largest entry"
    )
    heads = ("method", "place", "what it is", "largest error", "robot", f"tolerance {TOLERANCE:.0e}".replace("e-0", "e-"))
    return Section("All formulations against Pinocchio", grids=[Grid(caption, heads, rows)])


def _robots() -> dict[str, Path]:
    return {**{name: ug.model_path(name) for name in ug.model_names()}, **example_robots()}
