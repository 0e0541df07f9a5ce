"""The whole lint of a URDF: what loading finds, meshes that are not there, and motions that meet no inertia."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.functions import mass_matrix
from urdf_gibbs.robot.findings import Finding
from urdf_gibbs.robot.load import read_source
from urdf_gibbs.robot.meshes import ALLOW, MeshFolders, inside
from urdf_gibbs.robot.model import Robot, assemble
from urdf_gibbs.robot.singular import idle_velocities, joints_of
from urdf_gibbs.robot.tree import build
from urdf_gibbs.robot.urdf import Urdf

UNCOMPILED_DOF = 60  # three matrices in plain Python are sooner there than one compilation
EXAMINED_DOF = 1000  # the singular values of a larger mass matrix take seconds


def check(source: Any, package_dirs: Iterable[str | os.PathLike[str]] = ()) -> list[Finding]:
    """Everything there is to say about a URDF (path, XML text or loaded object), in the order of its lines."""
    urdf = read_source(source)
    tree = build(urdf, "fixed", mimic=True)
    _check_meshes(urdf, [os.fspath(folder) for folder in package_dirs])
    if tree is not None:
        _check_inertia_of_motion(urdf, assemble(urdf, tree, "fixed"))
    return sorted(urdf.findings.items, key=lambda finding: finding.line)


def _check_meshes(urdf: Urdf, package_dirs: list[str]) -> None:
    meshes = MeshFolders(urdf.file, package_dirs)
    seen: set[str] = set()
    for link in urdf.links:
        for kind, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in shapes:
                name = shape.geometry.filename
                if shape.geometry.kind != "mesh" or name in seen:
                    continue
                seen.add(name)
                what, value = f'link "{link.name}" <{kind}> <mesh>', f'filename="{name}"'
                path = meshes.find(name)
                if path is None:
                    urdf.findings.warning("mesh-missing", shape.line, what, value, "a file that exists (package folders: --package-dir)")
                elif not inside(path, meshes.folders(name, path)):
                    urdf.findings.warning("mesh-outside", shape.line, what, value, f"a file in a folder of the robot; {ALLOW}")


def _check_inertia_of_motion(urdf: Urdf, robot: Robot) -> None:
    """Physics, not mass == 0: at generic positions, is there a motion that no mass takes part in?"""
    lines = {joint.name: joint.line for joint in urdf.joints}
    if robot.nv > EXAMINED_DOF:
        urdf.findings.note(
            "not-examined",
            1,
            "<robot>",
            f"{robot.nv} degrees of freedom",
            f"at most {EXAMINED_DOF} for the search for motions without inertia",
        )
        return
    plain = "gibbs_appell_flexible" if robot.is_flexible else "gibbs_appell"
    method = plain if robot.nv <= UNCOMPILED_DOF else "compiled"

    def idle_at(q: NDArray[np.float64]) -> set[int]:
        return set(idle_velocities(robot, q, mass_matrix(robot, q, method=method)))

    one, other = robot.random(0, 2)
    always = idle_at(one) & idle_at(other)
    at_zero = idle_at(robot.neutral()) - always
    expected = "mass beyond the joint and off its axis; forward dynamics does not exist there"
    for idle, where in ((always, "at every q"), (at_zero, "at q = 0")):
        for joint in joints_of(robot, sorted(idle)):
            urdf.findings.warning(
                "singular", lines.get(joint, 1), f'joint "{joint}"', f"part of a motion that meets no inertia {where}", expected
            )
