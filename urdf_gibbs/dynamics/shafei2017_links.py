"""The robots of Shafei 2017 (S17) as its equations see them: the links' integrals (Eqs. 6, 17-24, 31), where their coordinates are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from urdf_gibbs.dynamics.elastic import vex
from urdf_gibbs.dynamics.model import Body, Model
from urdf_gibbs.dynamics.scalar import Matrix, Vector, skew
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.flexible.beam import Array, Beam

EXPECTED = (
    "expected n elastic links in a row in the plane: slides along x and along y, then for each link a joint about z at the end of the link "
    "before, the link along x with the same number of modes along x or y, no damping, foreshortening, elastic rotary inertia or other mass"
)


@dataclass(frozen=True, slots=True)
class Integrals:
    """Constants of a link, in its axes; lists over its m modes."""

    m: int
    B0: float  # (6)
    B10: Matrix  # (16)
    C1: list[Vector]  # (17)
    C2: Matrix  # (18)
    C3: Matrix  # (19), m x m
    C4: list[list[Vector]]  # (20)
    C5: Matrix  # (21)
    C6: list[Matrix]  # (22)
    C7: list[Vector]  # (23)
    C8: list[list[Matrix]]  # (24)
    K: Matrix  # (31), m x m
    straight: Vector  # l x_{i,1}
    r: list[Vector]  # r_ij(l)
    theta: list[Vector]  # theta_ij(l)


@dataclass(frozen=True, slots=True)
class Links:
    """The chain; links are 1 ... n. ``iv``: where q_i, delta_i1 ... delta_im and, at 0, X1 and X2 stand in v, and in q as well."""

    joints: dict[int, Body]
    beams: dict[int, Beam]
    integrals: dict[int, Integrals]
    iv: dict[tuple[str, int], list[int]]

    @property
    def n(self) -> int:
        return len(self.joints)


def links_of(model: Model) -> Links:
    """The links of a robot of the paper's shape; raises ArgumentError for any other."""
    bodies = model.bodies
    n = len(bodies) // 2 - 1
    if n < 1 or len(bodies) % 2 or [body.parent for body in bodies] != list(range(-1, len(bodies) - 1)):
        raise ArgumentError(f"{len(bodies)} moving bodies that are no such chain: {EXPECTED}")
    for i, axis in enumerate(([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])):
        if bodies[i].type != "prismatic" or bodies[i].axis != axis or _turned(bodies[i]):
            raise ArgumentError(f"joint {i + 1} is no slide along {'xy'[i]}: {EXPECTED}")
    joints, beams = {i: bodies[2 * i] for i in range(1, n + 1)}, {}
    for i, joint in joints.items():
        tip = bodies[2 * i + 1]
        if joint.type not in ("revolute", "continuous") or joint.axis != [0.0, 0.0, 1.0] or _turned(joint) or _moved(joint):
            raise ArgumentError(f"link {i} has no joint about z at the end of what it hangs on: {EXPECTED}")
        if tip.beam is None or _unlike(tip.beam):
            raise ArgumentError(f"link {i} is not elastic as the paper's links are: {EXPECTED}")
        beams[i] = tip.beam
    if len({beam.m for beam in beams.values()}) > 1:
        raise ArgumentError(f"the links have {', '.join(str(beam.m) for beam in beams.values())} modes: {EXPECTED}")
    for body in bodies:
        if body.mass != 0.0 or np.any(body.inertia) or any(column.ratio != 1.0 for column in body.columns):
            raise ArgumentError(f"a body with mass of its own, or a joint that follows another: {EXPECTED}")
    iv = {("X", 0): [bodies[0].columns[0].iv, bodies[1].columns[0].iv]}
    for i in joints:
        iv["q", i], iv["delta", i] = ([column.iv for column in body.columns] for body in bodies[2 * i : 2 * i + 2])
    return Links(joints, beams, {i: _integrals(beam) for i, beam in beams.items()}, iv)


def is_chain(model: Model) -> bool:
    """Whether a robot is of the paper's shape."""
    try:
        links_of(model)
    except ArgumentError:
        return False
    return True


def _turned(body: Body) -> bool:
    return [row[:3] for row in body.E[:3]] != np.eye(3).tolist()


def _moved(body: Body) -> bool:
    return any(row[3] for row in body.E[:3])


def _unlike(beam: Beam) -> bool:
    """Whether a link has what the paper's links in the plane have not."""
    outside = beam.tip_rotation[:, :2].any() or beam.G[:, :, 2].any()  # torsion, or deflection along z
    added = beam.pairs or beam.damping.any() or beam.spin.any() or beam.spins.any()
    return bool(outside or added or beam.root.any() or beam.axis.tolist() != [1.0, 0.0, 0.0])


def _integrals(beam: Beam) -> Integrals:
    """x~ᵀ y~ = (x . y) 1 - y xᵀ makes C5, C6 and C8 of the integrals of x yᵀ."""

    def crossed(product: Array) -> Matrix:
        return (np.trace(product) * np.eye(3) - product.T).tolist()  # type: ignore[no-any-return]

    modes = range(beam.m)
    return Integrals(
        beam.m,
        beam.mass,
        beam.rotary.tolist(),
        beam.C1.tolist(),
        skew(beam.first.tolist()),
        [[float(np.trace(beam.G[j, k])) for k in modes] for j in modes],
        [[vex(beam.G[j, k]) for k in modes] for j in modes],
        crossed(beam.second),
        [crossed(beam.G0[j]) for j in modes],
        [vex(beam.G0[j]) for j in modes],
        [[crossed(beam.G[j, k]) for k in modes] for j in modes],
        beam.stiffness.tolist(),
        (beam.length * beam.axis).tolist(),
        beam.tip.tolist(),
        beam.tip_rotation.tolist(),
    )
