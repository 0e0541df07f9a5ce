"""Random robots for property tests: trees of all joint types with random inertias, as URDF text."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

TYPES = ("revolute", "continuous", "prismatic", "floating", "planar", "fixed")


def _vector(rng: np.random.Generator, scale: float = 1.0) -> str:
    return " ".join(f"{x:.17g}" for x in rng.uniform(-scale, scale, 3))


def _inertial(rng: np.random.Generator) -> str:
    """A physical inertia: that of a random cloud of points."""
    points = rng.normal(size=(4, 3)) * rng.uniform(0.02, 0.5)
    mass = rng.uniform(0.1, 5.0)
    second = np.cov(points.T, bias=True) * mass
    inertia = np.trace(second) * np.eye(3) - second
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = " ".join(f'{name}="{value:.17g}"' for name, value in zip(names, inertia[np.triu_indices(3)], strict=True))
    return (
        f'<inertial><origin xyz="{_vector(rng, 0.3)}" rpy="{_vector(rng, 3.0)}"/><mass value="{mass:.17g}"/><inertia {entries}/></inertial>'
    )


def random_tree(seed: int, joints: int, types: tuple[str, ...] = TYPES, mimic: float = 0.0, branching: int = 4) -> str:
    """URDF text of a tree with this many joints; ``mimic``: chance that a one-DOF joint follows another; ``branching`` 1: a chain."""
    rng = np.random.default_rng(seed)
    lines = ['<robot name="random">', f'<link name="l0">{_inertial(rng)}</link>']
    one_dof: list[str] = []
    for i in range(1, joints + 1):
        kind = str(rng.choice(types))
        parent = int(rng.integers(max(0, i - branching), i))
        # Leaves of fixed joints may be bare; every moving link has an inertia, so that M is regular.
        bare = kind == "fixed" and rng.random() < 0.5
        lines.append(f'<link name="l{i}">{"" if bare else _inertial(rng)}</link>')
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]) if rng.random() < 0.5 else rng.normal(size=3)
        if rng.random() < 0.7:
            axis = axis / np.linalg.norm(axis)
        body = f'<parent link="l{parent}"/><child link="l{i}"/><origin xyz="{_vector(rng)}" rpy="{_vector(rng, 3.0)}"/>'
        if kind not in ("fixed", "floating"):
            body += f'<axis xyz="{" ".join(f"{x:.17g}" for x in axis)}"/>'
        if kind in ("revolute", "prismatic"):
            body += '<limit lower="-2" upper="2" effort="10" velocity="10"/>'
        name = f"j{int(rng.integers(1000))}_{i}"
        if kind in ("revolute", "continuous", "prismatic"):
            if one_dof and rng.random() < mimic:
                body += f'<mimic joint="{rng.choice(one_dof)}" multiplier="{rng.uniform(-2, 2):.17g}" offset="{rng.uniform(-1, 1):.17g}"/>'
            one_dof.append(name)
        lines.append(f'<joint name="{name}" type="{kind}">{body}</joint>')
    return "\n".join([*lines, "</robot>"])


# drawn by Hypothesis ------------------------------------------------------------------------------------
# Every choice is drawn for itself, the simplest first, so that a failure shrinks to the few joints, turns and masses that it needs.
# Numbers are multiples of a step: neither such that no file has nor such that a comparison in 16 digits does not stand. The numbers of
# a vector are drawn as one, as Hypothesis gives up where an example has more than a thousand draws.

FINE = 101  # numbers that an entry of a vector can have, 0 among them


def _entry(digit: int) -> float:
    """0, 1, -1, 2, -2, ... of 50 steps."""
    return (digit + 1) // 2 * (1 if digit % 2 else -1) / (FINE // 2)


def vectors(scale: float, least: int = 0) -> st.SearchStrategy[str]:
    """Three numbers up to a scale as text, often zero."""
    drawn = st.integers(least, FINE**3 - 1).map(
        lambda code: " ".join(f"{scale * _entry(digit):.6g}" for digit in (code % FINE, code // FINE % FINE, code // FINE**2))
    )
    return drawn if least else st.just("0 0 0") | drawn


def _box(code: int) -> str:
    """Mass and moments of inertia of a box: its mass and its three edges."""
    mass, *edges = (0.1 + 0.05 * (code // 64**k % 64) for k in range(4))
    x, y, z = (0.25 * edge**2 for edge in edges)
    moments = (f'{name}="{mass * value / 12.0:.17g}"' for name, value in (("ixx", y + z), ("iyy", z + x), ("izz", x + y)))
    return f'<mass value="{mass:.6g}"/><inertia {" ".join(moments)} ixy="0" ixz="0" iyz="0"/>'


inertials = st.builds(
    lambda xyz, rpy, box: f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/>{box}</inertial>',
    vectors(0.3),
    vectors(3.0),
    st.integers(0, 64**4 - 1).map(_box),
)
AXES = st.sampled_from(("0 0 1", "0 1 0", "1 0 0", "0 0 -1", "0 -1 0", "-1 0 0")) | vectors(1.0, least=1)


# One joint with its link: type, how many links back its parent is, whether a fixed link is bare, inertial, place, turn, axis, the first
# letter of its name (so that the order of names is not that of the tree), and, where it follows another: which, ratio and offset.
JOINTS = st.tuples(
    st.sampled_from(TYPES),
    st.integers(1, 4),
    st.booleans(),
    inertials,
    vectors(1.0),
    vectors(3.0),
    AXES,
    st.sampled_from("bca"),
    st.none() | st.tuples(st.integers(0, 30), st.integers(1, FINE - 1), st.integers(0, FINE - 1)),
)


def tree_of(root: str, joints: list[tuple[Any, ...]]) -> str:
    """URDF text of a tree: the root's inertial, and a joint of JOINTS after the other. Any part of the list is a tree as well."""
    lines = ['<robot name="drawn">', f'<link name="l0">{root}</link>']
    one_dof: list[str] = []
    for i, (kind, back, bare, own, xyz, rpy, axis, letter, follows) in enumerate(joints, start=1):
        # Leaves of fixed joints may be bare; every moving link has an inertia, so that M is regular.
        lines.append(f'<link name="l{i}">{"" if bare and kind == "fixed" else own}</link>')
        body = f'<parent link="l{max(0, i - back)}"/><child link="l{i}"/><origin xyz="{xyz}" rpy="{rpy}"/>'
        if kind not in ("fixed", "floating"):
            body += f'<axis xyz="{axis}"/>'
        if kind in ("revolute", "prismatic"):
            body += '<limit lower="-2" upper="2" effort="10" velocity="10"/>'
        if kind in ("revolute", "continuous", "prismatic"):
            if one_dof and follows is not None:
                master, ratio, offset = follows
                body += f'<mimic joint="{one_dof[master % len(one_dof)]}" multiplier="{2.0 * _entry(ratio)}" offset="{_entry(offset)}"/>'
            one_dof.append(f"{letter}{i}")
        lines.append(f'<joint name="{letter}{i}" type="{kind}">{body}</joint>')
    return "\n".join([*lines, "</robot>"])


small_trees = st.builds(tree_of, inertials, st.lists(JOINTS, min_size=1, max_size=8))
trees = small_trees | st.builds(tree_of, inertials, st.lists(JOINTS, min_size=8, max_size=30))
bases = st.sampled_from(["fixed", "floating", "planar"])
