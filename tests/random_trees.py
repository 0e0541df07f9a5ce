"""Random robots for property tests: trees of all joint types with random inertias, as URDF text."""

from __future__ import annotations

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


trees = st.builds(random_tree, st.integers(0, 2**32 - 1), st.integers(1, 30), st.just(TYPES), st.sampled_from([0.0, 0.3]))
small_trees = st.builds(random_tree, st.integers(0, 2**32 - 1), st.integers(1, 8), st.just(TYPES), st.sampled_from([0.0, 0.3]))
bases = st.sampled_from(["fixed", "floating", "planar"])
