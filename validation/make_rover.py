"""Writes models/rover.urdf and models/rover_printed.urdf: a rover with six wheels around the rear rocker arm of Wang and Ju's Table 3.

The paper gives the rear arm alone: its pivot, link 1, and on it two direction joints, each with a wheel. All else is chosen here, and
said so in the files. Usage: python validation/make_rover.py
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

MODELS = Path(__file__).parents[1] / "models"


class Size(NamedTuple):
    """How many times the lengths of Table 3, and the chosen radius and width of the wheels [m]."""

    file: str
    times: float
    radius: float
    width: float


SIZES = (Size("rover", 10.0, 0.25, 0.2), Size("rover_printed", 1.0, 0.025, 0.02))

# Table 3 in the rover's axes, x forwards, y to the left, z up: its x points outwards and its y backwards. Lengths [m] as printed.
ARM = {"mass": 1.0, "centre": 0.05, "across": 0.0833, "joint": 0.1, "half": 0.05}
DIRECTION = {"mass": 0.8, "centre": 0.04, "across": 0.0427, "out": 0.01, "down": 0.08}
WHEEL = {"mass": 0.6, "centre": 0.03, "across": 0.018}
# Chosen. Lengths are of the same scale as those above; masses [kg].
BODY_MASS, ROCKER_MASS = 30.0, 1.5
PIVOT = 0.01  # of the rockers from the plane of symmetry

HEAD = """<?xml version="1.0"?>
<!--
  A lunar rover with six wheels, written by validation/make_rover.py: a substitute for the rover of Wang and Ju (Figs. 7-9), of which the
  paper gives only the left rear rocker arm (Fig. 5, Table 3), here {how}.
  Units: m, kg, kg m^2, rad, N m. Axes at q = 0: x forwards, y to the left, z up; the origin lies between the pivots of the rockers.

      body - rocker (the right one turns against the left one: a differential) - front direction joint (LFD, RFD) - wheel (LFW, RFW)
                    - arm (Table 3, link 1) - middle (LMD, RMD) and rear (LRD, RRD) direction joints - wheels

  From Table 3: masses, mass centres and inertias of the arms, of the direction links and (but for one entry) of the wheels, and the
  places of their joints. Its x points outwards, its y backwards. The front has the same direction link and wheel.
  Chosen: body and rockers, radius {radius:g} m and width {width:g} m of the wheels, the differential, limits and efforts,
  and the wheels' inertia about their axles, m r^2/2: the table has 0 there, with which forward dynamics would not exist.
  The pivots lie so that all six wheels carry the same load on level ground: those of the rockers twice as far from the front wheels as
  from the arms' pivots, which lie midway between their wheels; the body's mass centre between the rockers' pivots.
-->
<robot name="{name}">

  <material name="gold"><color rgba="0.80 0.62 0.22 1"/></material>
  <material name="grey"><color rgba="0.55 0.56 0.58 1"/></material>
  <material name="dark"><color rgba="0.16 0.17 0.19 1"/></material>
  <material name="panel"><color rgba="0.10 0.16 0.36 1"/></material>
  <material name="white"><color rgba="0.90 0.90 0.88 1"/></material>
"""


def text(size: Size) -> str:
    """The URDF of the rover of one size."""
    k = size.times
    how = "as printed" if k == 1.0 else f"with its lengths taken {k:g} times, for which its inertias are right"
    parts = [HEAD.format(how=how, radius=size.radius, width=size.width, name=size.file), _body(k)]
    for side, sign in (("l", 1.0), ("r", -1.0)):
        parts += [_rocker(side, sign, k), _arm(side, sign, k)]
        for place, parent, x in (("f", "rocker", 2.0), ("m", "arm", 1.0), ("r", "arm", -1.0)):
            parts.append(_leg(side, sign, place, parent, x * ARM["half"] * k, size))
    return "\n".join([*parts, "</robot>", ""])


def _link(name: str, mass: float, centre: tuple[float, ...], inertia: tuple[float, ...], shapes: list[str]) -> str:
    ixx, iyy, izz = inertia
    return (
        f'  <link name="{name}">\n    <inertial>\n      <origin xyz="{_numbers(centre)}"/>\n      <mass value="{mass:g}"/>\n'
        f'      <inertia ixx="{ixx:.6g}" ixy="0" ixz="0" iyy="{iyy:.6g}" iyz="0" izz="{izz:.6g}"/>\n    </inertial>\n'
        + "".join(shapes)
        + "  </link>\n"
    )


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{value + 0.0:.10g}" for value in values)


def _visual(shape: str, place: tuple[float, ...], material: str, rpy: str = "", kind: str = "visual") -> str:
    turn = f' rpy="{rpy}"' if rpy else ""
    colour = f'<material name="{material}"/>' if material else ""
    return f'    <{kind}><origin xyz="{_numbers(place)}"{turn}/><geometry>{shape}</geometry>{colour}</{kind}>\n'


def _box(*sides: float) -> str:
    return f'<box size="{_numbers(sides)}"/>'


def _cylinder(radius: float, length: float) -> str:
    return f'<cylinder radius="{radius:.10g}" length="{length:.10g}"/>'


SIDEWAYS = "-1.5707963267948966 0 0"  # turns z to y


def _joint(name: str, kind: str, parent: str, child: str, place: tuple[float, ...], axis: str, more: str = "") -> str:
    return (
        f'\n  <joint name="{name}" type="{kind}">\n    <parent link="{parent}"/>\n    <child link="{child}"/>\n'
        f'    <origin xyz="{_numbers(place)}"/>\n    <axis xyz="{axis}"/>\n{more}  </joint>\n\n'
    )


def _limit(angle: float, effort: float) -> str:
    return f'    <limit lower="{-angle:g}" upper="{angle:g}" effort="{effort:g}" velocity="10"/>\n'


def _body(k: float) -> str:
    x, y, z = 0.14 * k, 0.1 * k, 0.04 * k
    square = BODY_MASS / 12.0
    inertia = (square * (y * y + z * z), square * (x * x + z * z), square * (x * x + y * y))
    shapes = [
        _visual(_box(x, y, z), (0, 0, 0.025 * k), "gold"),
        _visual(_box(0.12 * k, 0.09 * k, 0.004 * k), (0, 0, 0.047 * k), "white"),
        _visual(_box(0.11 * k, 0.085 * k, 0.003 * k), (0, 0.0925 * k, 0.055 * k), "panel", "0.25 0 0"),
        _visual(_box(0.11 * k, 0.085 * k, 0.003 * k), (0, -0.0925 * k, 0.055 * k), "panel", "-0.25 0 0"),
        _visual(_cylinder(0.004 * k, 0.07 * k), (0.05 * k, 0, 0.08 * k), "grey"),
        _visual(_box(0.015 * k, 0.04 * k, 0.015 * k), (0.05 * k, 0, 0.118 * k), "dark"),
        _visual(_cylinder(0.004 * k, 0.01 * k), (0.059 * k, 0.011 * k, 0.118 * k), "white", "0 1.5707963267948966 0"),
        _visual(_cylinder(0.004 * k, 0.01 * k), (0.059 * k, -0.011 * k, 0.118 * k), "white", "0 1.5707963267948966 0"),
        _visual(_cylinder(0.02 * k, 0.002 * k), (-0.04 * k, 0, 0.085 * k), "white", "0 -0.6 0"),
        _visual(_cylinder(0.002 * k, 0.035 * k), (-0.04 * k, 0, 0.065 * k), "grey"),
        _visual(_cylinder(0.003 * k, 2.2 * PIVOT * k), (0, 0, 0), "dark", SIDEWAYS),
    ]
    return _link("body", BODY_MASS, (0, 0, 0.02 * k), inertia, shapes)


def _rocker(side: str, sign: float, k: float) -> str:
    """From its pivot forwards and outwards to the front direction joint, and backwards to the pivot of the arm."""
    front, back, out = 2.0 * ARM["half"] * k, -ARM["half"] * k, ARM["joint"] * k
    name = f"{side}_rocker"
    follows = '    <mimic joint="l_rocker" multiplier="-1" offset="0"/>\n' if side == "r" else ""
    joint = _joint(name, "revolute", "body", name, (0, sign * PIVOT * k, 0), "0 1 0", _limit(0.7, 200) + follows)
    length = front - back
    across = ROCKER_MASS * length**2 / 12.0  # as a bar along x
    shapes = [
        _visual(_box(length, 0.008 * k, 0.01 * k), (0.5 * (front + back), 0, 0), "grey"),
        _visual(_box(0.008 * k, out, 0.01 * k), (front, 0.5 * sign * out, 0), "grey"),
        _visual(_cylinder(0.008 * k, 0.012 * k), (0, 0, 0), "dark", SIDEWAYS),
    ]
    balanced = front / 3.0  # as much of it and its front leg before the pivot as of the arm behind it
    return joint + _link(name, ROCKER_MASS, (balanced, 0, 0), (1e-2 * across, across, across), shapes)


def _arm(side: str, sign: float, k: float) -> str:
    """Link 1 of Table 3, whose two direction joints stand at its outer end."""
    name, out, half = f"{side}_arm", ARM["joint"] * k, ARM["half"] * k
    joint = _joint(name, "revolute", f"{side}_rocker", name, (-half, 0, 0), "0 1 0", _limit(0.7, 200))
    shapes = [
        _visual(_box(0.01 * k, out, 0.01 * k), (0, 0.5 * sign * out, 0), "grey"),
        _visual(_box(2.0 * half, 0.01 * k, 0.01 * k), (0, sign * out, 0), "grey"),
        _visual(_cylinder(0.007 * k, 0.012 * k), (0, 0, 0), "dark", SIDEWAYS),
    ]
    return joint + _link(name, ARM["mass"], (0, sign * ARM["centre"] * k, 0), (ARM["across"], 0, ARM["across"]), shapes)


def _leg(side: str, sign: float, place: str, parent: str, x: float, size: Size) -> str:
    """A direction joint with links 2 and 3 (or 4 and 5) of Table 3: the direction link and its wheel."""
    k = size.times
    direction, wheel = f"{side}{place}_direction", f"{side}{place}_wheel"
    down, out, centre = DIRECTION["down"] * k, sign * DIRECTION["out"] * k, sign * WHEEL["centre"] * k
    first = _joint(
        f"{side}{place}d".upper(), "revolute", f"{side}_{parent}", direction, (x, sign * ARM["joint"] * k, 0), "0 0 1", _limit(1.0, 200)
    )
    shapes = [
        _visual(_cylinder(0.005 * k, down), (0, 0, -0.5 * down), "grey"),
        _visual(_cylinder(0.009 * k, 0.014 * k), (0, 0, 0), "dark"),
        _visual(_cylinder(0.004 * k, abs(centre + out)), (0, 0.5 * (centre + out), -down), "grey", SIDEWAYS),
    ]
    inertia = (DIRECTION["across"], DIRECTION["across"], 0.0)
    made = first + _link(direction, DIRECTION["mass"], (0, 0, -DIRECTION["centre"] * k), inertia, shapes)
    second = _joint(
        f"{side}{place}w".upper(), "continuous", direction, wheel, (0, out, -down), "0 1 0", '    <limit effort="50" velocity="20"/>\n'
    )
    return made + second + _wheel(wheel, centre, size)


def _wheel(name: str, centre: float, size: Size) -> str:
    radius, width, at = size.radius, size.width, (0, centre, 0)
    tyre = _cylinder(radius, width)
    shapes = [
        _visual(_cylinder(0.92 * radius, width), at, "dark", SIDEWAYS),
        _visual(_cylinder(0.25 * radius, 1.15 * width), at, "grey", SIDEWAYS),
    ]
    for n in range(6):  # bars across the tread, so that it shows how a wheel turns
        angle = 3.141592653589793 * n / 6
        shapes.append(_visual(_box(2.0 * radius, width, 0.1 * radius), at, "grey", f"0 {angle:.6g} 0"))
    shapes.append(_visual(tyre, at, "", SIDEWAYS, "collision"))
    inertia = (WHEEL["across"], 0.5 * WHEEL["mass"] * radius**2, WHEEL["across"])
    return _link(name, WHEEL["mass"], at, inertia, shapes)


def main() -> None:
    for size in SIZES:
        (MODELS / f"{size.file}.urdf").write_text(text(size), encoding="utf-8")
        print(f"wrote models/{size.file}.urdf")


if __name__ == "__main__":
    main()
