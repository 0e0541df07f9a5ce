"""URDF text for the tests: links, joints and robots as strings, and Pinocchio's model of the same string."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pinocchio as pin

Array = NDArray[np.float64]

HERE = "<!--here-->"  # stands on the line that a finding must name
XML = '<?xml version="1.0"?>\n'
UNIT = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def numbers(values: ArrayLike) -> str:
    """Blank-separated, with all digits."""
    return " ".join(repr(float(value)) for value in np.ravel(values))


def inertial(mass: float = 1.0, com: ArrayLike = (0, 0, 0), rpy: ArrayLike = (0, 0, 0), moments: Sequence[float] = (0.1, 0.1, 0.1)) -> str:
    """``moments``: (ixx, iyy, izz) in axes turned by rpy, about the centre of mass."""
    xx, yy, zz = map(float, moments)
    return (
        f'<inertial><origin xyz="{numbers(com)}" rpy="{numbers(rpy)}"/><mass value="{float(mass)!r}"/>'
        f'<inertia ixx="{xx!r}" ixy="0" ixz="0" iyy="{yy!r}" iyz="0" izz="{zz!r}"/></inertial>'
    )


def link(name: str, content: str = UNIT) -> str:
    return f'<link name="{name}">{content}</link>\n'


def massless(name: str) -> str:
    return link(name, inertial(0.0, moments=(0, 0, 0)))


def point_mass(name: str, mass: float, com: ArrayLike) -> str:
    return link(name, inertial(mass, com, moments=(0, 0, 0)))


def joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    content: str = "",
    *,
    xyz: ArrayLike = (0, 0, 0),
    rpy: ArrayLike = (0, 0, 0),
    axis: ArrayLike | None = None,
    limit: str | None = None,
) -> str:
    """A joint on one line; revolute and prismatic joints get a limit."""
    if limit is None:
        limit = LIMIT if kind in ("revolute", "prismatic") else ""
    turned = "" if axis is None else f'<axis xyz="{numbers(axis)}"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>{turned}{limit}{content}</joint>\n'
    )


def robot(*parts: str, name: str = "r") -> str:
    return f'{XML}<robot name="{name}">\n{"".join(parts)}</robot>\n'


def random_link(name: str, rng: np.random.Generator) -> str:
    """A link with a full inertia that obeys the triangle inequality."""
    a, b, c = rng.uniform(0.01, 0.1, 3)
    return link(name, inertial(rng.uniform(0.5, 3.0), rng.uniform(-0.3, 0.3, 3), rng.uniform(-3, 3, 3), (b + c, a + c, a + b)))


def random_joint(name: str, kind: str, parent: str, child: str, rng: np.random.Generator, content: str = "") -> str:
    """A joint with an oblique unit axis anywhere."""
    axis = rng.normal(size=3)
    return joint(
        name, kind, parent, child, content, xyz=rng.uniform(-0.5, 0.5, 3), rpy=rng.uniform(-3, 3, 3), axis=axis / np.linalg.norm(axis)
    )


def random_tree(joints: Sequence[tuple[str, str, str, str, str] | tuple[str, str, str, str]], seed: int = 0) -> str:
    """A robot of the given (name, kind, parent, child[, content]) joints with random links and placements."""
    rng = np.random.default_rng(seed)
    names = dict.fromkeys(end for entry in joints for end in entry[2:4])
    links = [random_link(name, rng) for name in names]
    return robot(*links, *(random_joint(*entry[:4], rng, *entry[4:]) for entry in joints))


def line_of(text: str) -> int:
    """Line of the mark, counted from 1."""
    assert text.count(HERE) == 1, "one mark in each text"
    return text[: text.index(HERE)].count("\n") + 1


# Pinocchio's view of the same text; imported here so that tests of the reader run without it ------------


def pinocchio_model(text: str, base: str = "fixed") -> pin.Model:
    """Read by Pinocchio's own parser, mimic joints free."""
    import pinocchio as pin

    roots = {"floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}
    return pin.buildModelFromXML(text) if base == "fixed" else pin.buildModelFromXML(text, roots[base]())


def pinocchio_mass_matrix(model: pin.Model, q: Array) -> Array:
    import pinocchio as pin

    M = pin.crba(model, model.createData(), q)
    return np.triu(M) + np.triu(M, 1).T


# A point mass that slides along x and z.
POINT_IN_PLANE = robot(
    link("w", ""),
    massless("slide"),
    point_mass("m", 1.0, (0, 0, 0)),
    joint("x", "prismatic", "w", "slide", axis=(1, 0, 0)),
    joint("z", "prismatic", "slide", "m", axis=(0, 0, 1)),
)
