"""Mass, centre of mass and inertia of each link against its shape: what no body of that shape can have, and what few have.

The spread of a mass m with the inertia I about its centre is S = (tr(I)/2 - I) / m, the mean of x x^T: n^T S n is the mean square distance
from the centre along n. Within a shape that is L long along n it is L^2 / 4 at most, which two point masses at its ends have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.hulls import Hull
from urdf_gibbs.lint.sizes import MARKER
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.spatial import Inertia, moved
from urdf_gibbs.robot.urdf import Link

Array = NDArray[np.float64]
THIN = 0.1  # of a shape's size: a plate or an axle may be drawn thinner than it is
TELL, WARN = 1.15, 2.0  # how many times the possible spread is noted, and warned of
CONCENTRATED = 0.1  # of the radius of gyration of a solid: a hundredth of its inertia
SMALL = 0.4  # what is noted: less than a sixth of the inertia
LACKING = 0.05  # of the inertia of all that it is fixed to: less hardly matters
OUTSIDE, FAR = 0.05, 0.25  # of the shape's size
AWAY = 20.0  # times the robot's length, of a link without shape
HEAVY, HEAVIEST = 9_000.0, 20_000.0  # kg/m3: solid steel has 7,850; gold 19,300
WITHIN = 0.25  # of the radius of gyration: two bodies with centres nearer than that are in one place
LIGHT = 10.0  # kg/m3, the lightest foam
USUAL = 5  # links that tell what is usual in a robot:
DENSE = 5.0  # times the usual density is noted,
SLIGHT = 0.005  # of the largest mass: a link lighter than that may be a placeholder of one gram
TENFOLD = (3.0, 2_500.0, 0.65)  # a density over the usual one, in kg/m3, and a radius of gyration below the usual one: too large a mass
UNITS = {"g mm2": 1e-9, "g cm2": 1e-7, "kg mm2": 1e-6, "kg cm2": 1e-4, "g m2": 1e-3}  # of what is written as kg m2
Severity = Literal["warning", "note"]


def check_bodies(subject: Subject, skipped: set[str]) -> None:
    """Compare what each link weighs with its shape, but for the ``skipped`` links, whose shapes are doubtful."""
    measured = {}
    for name, link in subject.links.items():
        inertial = subject.inertial(name)
        if inertial.mass > 0.0 and name in subject.poses and name not in skipped:
            hull = subject.hull(name)
            if hull is None or hull.size < MARKER:
                _without_shape(subject, link, inertial)
            else:
                measured[name] = Measured(link, inertial, hull)
    usual = _usual([one for name, one in measured.items() if subject.matters(name)])
    for name, one in measured.items():
        if subject.matters(name):
            _density(subject, one, usual)
            _centre(subject, one)
        _inertia(subject, one)
    _counted_twice(subject)


@dataclass(frozen=True, eq=False)
class Measured:
    """A link with mass and a shape."""

    link: Link
    inertial: Inertia
    hull: Hull

    @property
    def density(self) -> float:
        """Over the hull [kg/m3], which holds more than the link."""
        return self.inertial.mass / self.hull.volume

    @property
    def gyration(self) -> float:
        """The radius of gyration over that of a solid that fills the hull."""
        return math.sqrt(max(0.0, float(np.trace(spread(self.inertial)))) / float(np.trace(self.hull.spread)))


class Usual(NamedTuple):
    """Density [kg/m3] and radius of gyration over that of a solid as most links of a robot have them, and the largest mass [kg]."""

    density: float
    gyration: float
    largest: float


def _usual(measured: list[Measured]) -> Usual | None:
    """None where few links tell."""
    if len(measured) < USUAL:
        return None
    density, gyration = np.median([(one.density, one.gyration) for one in measured], axis=0).tolist()
    return Usual(density, gyration, max(one.inertial.mass for one in measured))


def spread(inertial: Inertia) -> Array:
    """S (3, 3) [m2]."""
    tensor = np.reshape(inertial.inertia, (3, 3))
    tensor = 0.5 * (tensor + tensor.T)
    found: Array = (0.5 * np.trace(tensor) * np.eye(3) - tensor) / inertial.mass
    return found


def _say(subject: Subject, severity: Severity, code: str, link: Link, part: str, value: str, expected: str) -> None:
    if not subject.matters(link.name) or subject.is_foot(link.name):
        severity = "note"
    say = subject.findings.note if severity == "note" else subject.findings.warning
    say(code, link.inertial_line or link.line, f'link "{link.name}" <{part}>', value, expected)


def _inertia(subject: Subject, one: Measured) -> None:
    link, inertial, hull = one.link, one.inertial, one.hull
    values, directions = np.linalg.eigh(spread(inertial))
    reach = np.ptp(hull.points @ directions, axis=0)  # along each principal direction
    most = np.maximum(0.5 * reach, THIN * hull.size)
    rms = np.sqrt(np.maximum(values, 0.0))
    worst = int(np.argmax(rms / most))
    ratio = float(rms[worst] / most[worst])
    if ratio > TELL:
        length = math.sqrt(20.0) * float(rms[worst])
        value = f"{inertial.mass:.3g} kg with the inertia of a solid ellipsoid {length:.3g} m long along {direction(directions[:, worst])}"
        expected = f"that of a body within its shape, {reach[worst]:.3g} m long there{_hint(inertial, hull)}"
        _say(subject, "warning" if ratio > WARN else "note", "inertia-too-large", link, "inertia", value, expected)
    elif one.gyration < SMALL and subject.matters(link.name):
        solid = math.sqrt(float(np.trace(hull.spread)))
        lacks = 2.0 * inertial.mass * solid**2  # the trace of its inertia as a solid
        severity: Severity = "warning" if one.gyration < CONCENTRATED and lacks > LACKING * subject.trace_of_body(link.name) else "note"
        value = f"a radius of gyration of {one.gyration * solid:.3g} m for {inertial.mass:.3g} kg"
        expected = f"about {solid:.2g} m, as of a solid of its shape: the mass would sit in one spot{_hint(inertial, hull)}"
        _say(subject, severity, "inertia-too-small", link, "inertia", value, expected)


def _hint(inertial: Inertia, hull: Hull) -> str:
    """What would explain the inertia: another unit, or another point."""
    solid = float(np.trace(hull.spread))
    S = spread(inertial)
    for unit, factor in UNITS.items():
        if 0.2 < float(np.trace(S)) * factor / solid < 4.0:
            return f"; in {unit} it would fit"
    c = np.array(inertial.centre_of_mass)
    moved = S - np.outer(c, c)
    if c @ c > 0.3 * float(np.trace(S)) and np.linalg.eigvalsh(moved).min() > -0.02 * float(np.trace(S)):
        return "; about the link's origin, instead of the centre of mass, it would fit"
    return ""


def _centre(subject: Subject, one: Measured) -> None:
    c, hull = np.array(one.inertial.centre_of_mass), one.hull
    out = hull.outside(c)
    if out <= OUTSIDE * hull.size:
        return
    hint = "; in mm it would fit" if hull.outside(1e-3 * c) <= OUTSIDE * hull.size and out > 20.0 * hull.size else ""
    value = f"a centre of mass {out:.3g} m outside of the link's shape"
    severity: Severity = "warning" if out > FAR * hull.size else "note"
    _say(subject, severity, "centre-outside", one.link, "inertial", value, f"one within it: the shape is {hull.size:.3g} m long{hint}")


def _density(subject: Subject, one: Measured, usual: Usual | None) -> None:
    density = one.density
    value = f"{one.inertial.mass:.3g} kg in a shape of {volume(one.hull.volume)}, {density:.3g} kg/m3"
    over, least, lean = TENFOLD
    lean_too = usual is not None and CONCENTRATED < one.gyration < lean * usual.gyration and one.inertial.mass > SLIGHT * usual.largest
    if usual is not None and lean_too and density > max(least, over * usual.density):
        expected = f"about {usual.density:.2g} kg/m3, as its other links; its inertia is that of a smaller mass too"
        _say(subject, "warning", "density", one.link, "mass", value, expected)
    elif density > HEAVY:
        hint = "; in grams it would fit" if density > 100.0 * HEAVY and density * 1e-3 < HEAVY else ""
        severity: Severity = "warning" if density > HEAVIEST else "note"
        _say(subject, severity, "density", one.link, "mass", value, f"below {HEAVY:.0f} kg/m3: solid steel has 7850{hint}")
    elif usual is not None and density > max(least, DENSE * usual.density):
        _say(subject, "note", "density", one.link, "mass", value, f"about {usual.density:.2g} kg/m3, as its other links")
    elif density < LIGHT:
        _say(subject, "note", "density", one.link, "mass", value, f"above {LIGHT:g} kg/m3: foam has more")


def _counted_twice(subject: Subject) -> None:
    """The same mass in two links that are fixed to each other, within each other: a link and the frame that holds its inertia.

    A centre of mass at the origins of both, as of a placeholder that an exporter puts in, is noted.
    """
    for members in subject.members.values():
        seen: dict[tuple[float, tuple[float, ...]], list[tuple[str, Array]]] = {}
        for name in members:
            inertial = subject.inertial(name)
            if inertial.mass == 0.0 or not subject.matters(name):
                continue
            place = np.array(moved(subject.poses[name], inertial).centre_of_mass)
            moments = sorted(np.linalg.eigvalsh(np.reshape(inertial.inertia, (3, 3))).tolist())
            same = seen.setdefault((inertial.mass, tuple(float(f"{x:.4g}") for x in moments)), [])
            gyration = math.sqrt(max(0.0, sum(moments)) / (2.0 * inertial.mass))
            for other, there in same:
                empty = not any((*inertial.centre_of_mass, *subject.inertial(other).centre_of_mass))
                near = 1e-6 + max(1e-3 * subject.reach, 0.0 if empty else WITHIN * gyration)
                if float(np.linalg.norm(place - there)) <= near:
                    value = f'{inertial.mass:.3g} kg and an inertia that are those of link "{other}", which it is fixed to'
                    severity: Severity = "note" if empty else "warning"
                    _say(subject, severity, "counted-twice", subject.links[name], "inertial", value, "a mass in one of the two links")
            same.append((name, place))


def _without_shape(subject: Subject, link: Link, inertial: Inertia) -> None:
    """Where there is no shape, the lengths of the robot are what there is to compare with."""
    ends = [float(np.linalg.norm(joint.pose[1])) for joint in subject.below.get(link.name, ())]
    known = max([*ends, subject.reach])
    away = float(np.linalg.norm(inertial.centre_of_mass))
    if away > AWAY * known > 0.0:
        hint = "; in mm it would fit" if away < 1e3 * AWAY * known else ""
        expected = f"one nearer: the whole robot is {known:.3g} m long{hint}"
        _say(subject, "warning", "centre-outside", link, "inertial", f"a centre of mass {away:.3g} m from the link's origin", expected)
        away = 0.0
    length = max(known, away)
    rms = math.sqrt(max(0.0, float(np.linalg.eigvalsh(spread(inertial)).max())))
    if length > 0.0 and rms > WARN * length:
        value = f"{inertial.mass:.3g} kg with the inertia of a solid ellipsoid {math.sqrt(20.0) * rms:.3g} m long"
        hints = [unit for unit, factor in UNITS.items() if 0.01 < rms * math.sqrt(factor) / length < 0.5]
        hint = f"; in {hints[0]} it would fit" if hints else ""
        _say(subject, "warning", "inertia-too-large", link, "inertia", value, f"less: the whole robot is {length:.3g} m long{hint}")


def direction(n: Array) -> str:
    """x, y or z where it is nearly that, else the numbers."""
    largest = int(np.argmax(np.abs(n)))
    if abs(n[largest]) > 0.94:  # 20 degrees
        return "xyz"[largest]
    n = n if n[largest] > 0.0 else -n
    return "(" + " ".join(f"{x:.2g}" for x in n) + ")"


def volume(cubic_metres: float) -> str:
    """A volume in a unit that leaves few zeros."""
    return f"{cubic_metres * 1e3:.3g} l" if cubic_metres >= 1e-4 else f"{cubic_metres * 1e6:.3g} cm3"
