"""All checks of a URDF: findings of the loader, missing meshes, motions without inertia, and what is doubtful by physics."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from urdf_gibbs.arguments import folders
from urdf_gibbs.lint.bodies import check_bodies
from urdf_gibbs.lint.idle import check_idle
from urdf_gibbs.lint.joints import check_joints
from urdf_gibbs.lint.magnitudes import check_magnitudes
from urdf_gibbs.lint.mirror import check_mirror
from urdf_gibbs.lint.shapes import Shapes, check_meshes
from urdf_gibbs.lint.sizes import check_sizes
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.assemble import assemble
from urdf_gibbs.robot.findings import Finding
from urdf_gibbs.robot.load import read_source
from urdf_gibbs.robot.tree import build


def check(source: Any, package_dirs: Iterable[str | os.PathLike[str]] = ()) -> list[Finding]:
    """Everything there is to say about a URDF.

    Args:
        source: Path, XML text (str or bytes that starts with "<"), or a loaded urchin or urdfpy object.
        package_dirs: Folders that hold the packages of ``package://`` mesh names.

    Returns:
        Errors, warnings and notes, in the order of the lines.

    Raises:
        ArgumentError: An argument has a wrong type.
    """
    urdf = read_source(source)
    tree = build(urdf, "fixed", mimic=True)
    shapes = Shapes(urdf, folders(package_dirs))
    check_meshes(urdf, shapes.folders)
    if tree is not None:
        with np.errstate(all="ignore"):  # numbers near the largest there are overflow when squared
            check_idle(urdf, assemble(urdf, tree, "fixed"))
            if not check_magnitudes(urdf):
                _check_physics(Subject(urdf, tree.root, shapes))
        shapes.tell_what_was_skipped()
    return sorted(urdf.findings.items, key=lambda finding: finding.line)


def _check_physics(subject: Subject) -> None:
    check_bodies(subject, check_sizes(subject))
    check_joints(subject)
    check_mirror(subject)
