"""Random robots with elastic links as URDF text, and the same robots for the oracle of ``flexible_lagrangian``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flexible_lagrangian import LagrangianRobot
from numpy.typing import NDArray
from random_trees import _inertial
from urdf_text import numbers

import urdf_gibbs as ug
from urdf_gibbs.flexible.build import Mode, Specification, shapes_of
from urdf_gibbs.robot.load import read_text

Array = NDArray[np.float64]

TYPES = ("revolute", "continuous", "prismatic", "floating", "planar", "fixed")
LIMIT = '<limit lower="-2" upper="2" effort="10" velocity="10"/>'


def chain(n: int, m: int, EI: float = 1000.0, attributes: str = "", rods: bool = True) -> str:
    """n elastic links of 1 m and 1 kg in the x-y plane, m modes each, on slides X1 and X2: the robots of S17."""
    moments = 'ixx="0" iyy="0.08333333333333333" izz="0.08333333333333333" ixy="0" ixz="0" iyz="0"'
    rod = f'<inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia {moments}/></inertial>' if rods else ""
    text = ['<robot name="chain"><link name="ground"/><link name="s1"/><link name="s2"/>']
    for i, (parent, child, axis) in enumerate((("ground", "s1", "1 0 0"), ("s1", "s2", "0 1 0")), 1):
        text.append(
            f'<joint name="X{i}" type="prismatic"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>{LIMIT}</joint>'
        )
    for i in range(1, n + 1):
        parent, place = ("s2", "0 0 0") if i == 1 else (f"b{i - 1}", "1 0 0")
        text.append(f'<link name="b{i}">{rod}</link><joint name="q{i}" type="continuous"><parent link="{parent}"/><child link="b{i}"/>')
        text.append(f'<origin xyz="{place}"/><axis xyz="0 0 1"/></joint>')
        element = f'<flexible link="b{i}" length="1" direction="1 0 0" mass_per_length="1" EI_z="{EI!r}" modes="y=clamped-free:{m}" {attributes}/>'
        text.append(f"<urdf_gibbs>{element}</urdf_gibbs>")
    return "\n".join([*text, "</robot>"])


def spatial_chain(n: int, m: int, EI: float = 30.0, attributes: str = "") -> str:
    """n elastic links in a row, bending both ways, joints about z, y, x, z, ...; a rigid body is the base."""
    text = [f'<robot name="spatial"><link name="b0">{_inertial(np.random.default_rng(3))}</link>']
    for i in range(1, n + 1):
        axis, place = ("0 0 1", "0 1 0", "1 0 0")[i % 3], "0.1 0.2 0" if i == 1 else "0.8 0 0"
        text.append(f'<link name="b{i}"/><joint name="q{i}" type="continuous"><parent link="b{i - 1}"/><child link="b{i}"/>')
        text.append(f'<origin xyz="{place}"/><axis xyz="{axis}"/></joint>')
        element = f'<flexible link="b{i}" length="0.8" direction="1 0 0" mass_per_length="1.3" EI_z="{EI!r}" EI_y="{0.8 * EI!r}"'
        text.append(f'<urdf_gibbs>{element} J="0.02 0.01 0.011" modes="clamped-free:{m}" {attributes}/></urdf_gibbs>')
    return "\n".join([*text, "</robot>"])


def random_flexible(seed: int, joints: int, types: tuple[str, ...] = TYPES, mimic: float = 0.2, damping: bool = True) -> str:
    """A tree of rigid and elastic links: several children at roots and tips, beams on the world, all that <flexible> knows."""
    rng = np.random.default_rng(seed)
    text, beams, one_dof = ['<robot name="random">'], [], []
    elastic: dict[int, tuple[Array, float]] = {}  # direction and length
    for i in range(joints + 1):
        bends = rng.random() < 0.5
        if bends:
            direction = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.normal(size=3)
            direction, length = direction / np.linalg.norm(direction), rng.uniform(0.3, 1.5)
            elastic[i] = direction, length
            beams.append(_element(rng, f"l{i}", direction, length, damping))
        text.append(f'<link name="l{i}">{"" if bends else _inertial(rng)}</link>')
        if not i:
            continue
        kind, parent = str(rng.choice(types)), int(rng.integers(max(0, i - 3), i))
        place = rng.uniform(-0.5, 0.5, 3)
        if parent in elastic:
            direction, length = elastic[parent]
            place = length * direction if rng.random() < 0.7 else np.zeros(3)
        body = f'<parent link="l{parent}"/><child link="l{i}"/><origin xyz="{numbers(place)}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'
        if kind not in ("fixed", "floating"):
            axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.normal(size=3)
            body += f'<axis xyz="{numbers(axis / np.linalg.norm(axis))}"/>'
        if kind in ("revolute", "prismatic"):
            body += LIMIT
        if kind in ("revolute", "continuous", "prismatic"):
            if one_dof and rng.random() < mimic:
                body += f'<mimic joint="{rng.choice(one_dof)}" multiplier="{rng.uniform(-2, 2)!r}" offset="{rng.uniform(-1, 1)!r}"/>'
            one_dof.append(f"j{i}")
        text.append(f'<joint name="j{i}" type="{kind}">{body}</joint>')
    return "\n".join([*text, "<urdf_gibbs>", *beams, "</urdf_gibbs></robot>"])


def _element(rng: np.random.Generator, name: str, direction: Array, length: float, damping: bool) -> str:
    """Soft, so that strain does not hide everything else behind its size."""
    modes = [f"y=clamped-free:{rng.integers(1, 4)}"]
    modes += [f"z=polynomial:{rng.integers(1, 3)}"] * (rng.random() < 0.6) + ["x=clamped-free:1"] * (rng.random() < 0.3)
    turning = rng.random() < 0.5
    modes += ["torsion=clamped-free:1"] * (turning and rng.random() < 0.6)
    words = [f'<flexible link="{name}" length="{length!r}" direction="{numbers(direction)}" mass_per_length="{rng.uniform(0.5, 2)!r}"']
    words.append(f'EI_z="2" EI_y="3" EA="20" GJ="1.5" J="0.02 0.011 0.013" elastic_rotary="{str(turning).lower()}"')
    words.append(f'foreshortening="{str(bool(rng.random() < 0.5)).lower()}" modes="{" ".join(modes)}"')
    if damping and rng.random() < 0.5:
        words.append('damping="0.3 0.02"')
    return " ".join([*words, "/>"])


def state(robot: ug.Robot, seed: int) -> tuple[Array, Array]:
    """Bent by a tenth of the length and more."""
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    for joint in robot.joints:
        if joint.beam is not None:
            q[joint.iq : joint.iq + joint.nq] = rng.uniform(-0.15, 0.15, joint.nq) * joint.beam.length
    return q, v


# for the oracle ---------------------------------------------------------------------------------------------------------


def lagrangian(robot: ug.Robot, text: str) -> LagrangianRobot:
    """The oracle of the same robot (without planar and mimic joints, without damping), from its shape functions."""
    specifications = read_text(text, "oracle").flexible
    bodies: list[dict[str, Any]] = []
    for i, joint in enumerate(robot.joints):
        body: dict[str, Any] = {"parent": robot.parent[i], "joint": joint.type, "placement": robot.placement[i], "axis": joint.axis}
        if robot.mass[i]:
            body |= {"mass": robot.mass[i], "com": robot.centre_of_mass[i], "inertia": robot.inertia[i]}
        if joint.beam is not None:
            where = robot.frame(joint.beam.link).placement
            body["beam"] = beam_data(specifications[joint.beam.link], where[:3, :3], where[:3, 3], joint.beam.stiffness)
            del body["axis"]
        elif joint.type == "floating":
            del body["axis"]
        bodies.append(body)
    return LagrangianRobot(bodies)


def beam_data(spec: Specification, turn: Array, root: Array, stiffness: Array) -> dict[str, Any]:
    R = turn @ spec.frame
    modes = shapes_of(spec)
    J = R @ np.diag(spec.rotary or (0.0, 0.0, 0.0)) @ R.T
    data: dict[str, Any] = {
        "length": spec.length, "mu": spec.mass_per_length, "root": root, "direction": R[:, 0], "stiffness": stiffness, "section": J,
        "phi": [_deflection(mode, R) for mode in modes], "theta": [_rotation(mode, R) for mode in modes],
        "elastic_rotary": spec.elastic_rotary,
    }  # fmt: skip
    if spec.foreshortening:
        bent = [j for j, mode in enumerate(modes) if mode.direction in ("y", "z")]
        pairs = [(j, k) for j in bent for k in bent if j <= k and modes[j].along == modes[k].along]
        data["psi"] = {(j, k): _shortening(modes[j], modes[k]) for j, k in pairs}
    return data


def _deflection(mode: Mode, R: Array) -> Callable[[float], Array]:
    shape = mode.displacement
    return lambda x: np.zeros(3) if shape is None else float(shape.derivative(x, 0)) * R[:, mode.along]


def _rotation(mode: Mode, R: Array) -> Callable[[float], Array]:
    shape = mode.rotation
    return lambda x: np.zeros(3) if shape is None else mode.sign * float(shape.derivative(x, 0)) * R[:, mode.about]


def _shortening(one: Mode, other: Mode) -> Callable[[float], float]:
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def integral(x: float) -> float:
        eta = 0.5 * x * (nodes + 1.0)
        assert one.displacement is not None and other.displacement is not None
        return float(0.5 * x * weights @ (one.displacement.derivative(eta, 1) * other.displacement.derivative(eta, 1)))

    return integral
