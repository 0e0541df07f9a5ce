"""The robots that the papers count: S18's planar trees, WJ's chains of revolute joints, S17's elastic chains."""

from __future__ import annotations

import math
import warnings

from urdf_gibbs.errors import ArgumentError, UrdfWarning
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot

# A rod of 1 m and 1 kg along x, with the cross-section of S18's Table 2.
ROD = (
    '<inertial><origin xyz="0.5 0 0"/><mass value="1"/>'
    '<inertia ixx="5.89e-5" ixy="0" ixz="0" iyy="0.0833627333333333" iyz="0" izz="0.0833627333333333"/></inertial>'
)


def planar_tree(n_m: int, n_b: int) -> Robot:
    """S18's robots: n_b branches of n_m unit links each, which share link 1; joints about z, on a base that slides in X1 and X2.

    Link 1 moves by one planar joint: the paper has no transformation matrix for X1 and X2 either, only columns.
    """
    if n_m < 1 or n_b < 1 or (n_m == 1 and n_b > 1):
        raise ArgumentError(f"n_m={n_m}, n_b={n_b}: expected at least one of each, and two links where branches share the first")
    text = [f'<link name="ground"/><link name="l1">{ROD}</link>', _joint("X", "planar", "ground", "l1", "0 0 0", "0 0 1")]
    for b in range(1, n_b + 1):
        parent = "l1"
        for i in range(2, n_m + 1):
            child = f"l{i}_{b}"
            text += [f'<link name="{child}">{ROD}</link>', _joint(f"q{i}_{b}", "continuous", parent, child, "1 0 0", "0 0 1")]
            parent = child
    return _loaded(text)


def chain(n: int) -> Robot:
    """n revolute joints in a row, in space: oblique axes, turned placements, full inertias; WJ's most expensive case."""
    if n < 1:
        raise ArgumentError(f"n={n}, expected at least one joint")
    text = ['<link name="l0"/>']
    for i in range(1, n + 1):
        a, b, c = (math.sin(k * i + 1.0) for k in (1, 2, 3))  # arbitrary numbers
        size = math.hypot(a, b, c)
        inertia = 'ixx="0.05" ixy="0.003" ixz="0.002" iyy="0.06" iyz="0.001" izz="0.04"'
        inertial = f'<inertial><origin xyz="{0.3 + 0.1 * a!r} 0.1 0.2"/><mass value="1.5"/><inertia {inertia}/></inertial>'
        text.append(f'<link name="l{i}">{inertial}</link>')
        axis = f"{a / size!r} {b / size!r} {c / size!r}"
        text.append(_joint(f"q{i}", "continuous", f"l{i - 1}", f"l{i}", f"0.5 {0.2 * b!r} 0.1", axis, f"{a!r} {b!r} {c!r}"))
    return _loaded(text)


def elastic_chain(n: int, m: int) -> Robot:
    """S17's robots: n elastic unit links in the plane with m bending modes each, on a base that slides in X1 and X2."""
    if n < 1 or m < 1:
        raise ArgumentError(f"n={n}, m={m}: expected at least one link and one mode")
    text = ['<link name="ground"/><link name="s1"/><link name="s2"/>']
    text += [_joint("X1", "prismatic", "ground", "s1", "0 0 0", "1 0 0"), _joint("X2", "prismatic", "s1", "s2", "0 0 0", "0 1 0")]
    for i in range(1, n + 1):
        parent, place = ("s2", "0 0 0") if i == 1 else (f"l{i - 1}", "1 0 0")
        text += [f'<link name="l{i}"/>', _joint(f"q{i}", "continuous", parent, f"l{i}", place, "0 0 1")]
        element = f'<flexible link="l{i}" length="1" direction="1 0 0" mass_per_length="1" EI_z="1000" modes="y=clamped-free:{m}"/>'
        text.append(f"<urdf_gibbs>{element}</urdf_gibbs>")
    return _loaded(text)


def _joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str, rpy: str = "0 0 0") -> str:
    limit = '<limit lower="-10" upper="10" effort="10" velocity="10"/>' if kind == "prismatic" else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>'


def _loaded(text: list[str]) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # massless links are intended
        return load("\n".join(['<robot name="counted">', *text, "</robot>"]))
