"""Mass, centre of mass and inertia of each link against its shape: what no body of that shape can have, and what few have.

The spread of a mass m with the inertia I about its centre is S = (tr(I)/2 - I) / m, the mean of x x^T: n^T S n is the mean square distance
from the centre along n. Within a shape that is L long along n it is L^2 / 4 at most, which two point masses at its ends have.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.hulls import Hull
from urdf_gibbs.lint.subject import Subject
from urdf_gibbs.robot.spatial import Inertia
from urdf_gibbs.robot.urdf import Link

Array = NDArray[np.float64]
THIN = 0.1  # of a shape's size: a plate or an axle may be drawn thinner than it is
TELL, WARN = 1.15, 2.0  # how many times the possible spread is noted, and warned of
CONCENTRATED = 0.1  # of the radius of gyration of a solid: a hundredth of its inertia
SMALL = 0.4  # what is noted: less than a sixth of the inertia
OUTSIDE, FAR = 0.05, 0.25  # of the shape's size
HEAVY, HEAVIEST = 9_000.0, 20_000.0  # kg/m3: solid steel has 7,850; gold 19,300
LIGHT = 10.0  # kg/m3, the lightest foam
UNLIKE = 8.0  # times the density that is usual in this robot
USUAL = 5  # links that tell what is usual
UNITS = {"g mm2": 1e-9, "g cm2": 1e-7, "kg mm2": 1e-6, "kg cm2": 1e-4, "g m2": 1e-3}  # of what is written as kg m2
Severity = Literal["warning", "note"]


def check_bodies(subject: Subject) -> None:
    """Compare what each link weighs with its shape."""
    measured = {}
    for name, link in subject.links.items():
        inertial = subject.inertial(name)
        if inertial.mass > 0.0 and name in subject.poses:
            hull = subject.hull(name)
            if hull is None:
                _without_shape(subject, link, inertial)
            else:
                measured[name] = hull
    densities = {name: subject.inertial(name).mass / hull.volume for name, hull in measured.items() if subject.matters(name)}
    usual = float(np.median(list(densities.values()))) if len(densities) >= USUAL else None
    for name, hull in measured.items():
        link, inertial = subject.links[name], subject.inertial(name)
        _density(subject, link, inertial, hull, usual)
        _centre(subject, link, inertial, hull)
        _inertia(subject, link, inertial, hull)


def spread(inertial: Inertia) -> Array:
    """S (3, 3) [m2]."""
    tensor = np.reshape(inertial.inertia, (3, 3))
    tensor = 0.5 * (tensor + tensor.T)
    found: Array = (0.5 * np.trace(tensor) * np.eye(3) - tensor) / inertial.mass
    return found


def _say(subject: Subject, severity: Severity, code: str, link: Link, part: str, value: str, expected: str) -> None:
    say = subject.findings.note if severity == "note" or not subject.matters(link.name) else subject.findings.warning
    say(code, link.inertial_line or link.line, f'link "{link.name}" <{part}>', value, expected)


def _inertia(subject: Subject, link: Link, inertial: Inertia, hull: Hull) -> None:
    S = spread(inertial)
    values, directions = np.linalg.eigh(S)
    reach = np.ptp(hull.points @ directions, axis=0)  # along each principal direction
    most = np.maximum(0.5 * reach, THIN * hull.size)
    rms = np.sqrt(np.maximum(values, 0.0))
    worst = int(np.argmax(rms / most))
    ratio = float(rms[worst] / most[worst])
    along = direction(directions[:, worst])
    usual = math.sqrt(max(0.0, float(np.trace(S))) / float(np.trace(hull.spread)))  # over that of a solid that fills the hull
    if ratio > TELL:
        length = math.sqrt(20.0) * float(rms[worst])
        value = f"{inertial.mass:.3g} kg with the inertia of a solid ellipsoid {length:.3g} m long along {along}"
        expected = f"that of a body within its shape, {reach[worst]:.3g} m long there{_hint(inertial, hull)}"
        _say(subject, "warning" if ratio > WARN else "note", "inertia-too-large", link, "inertia", value, expected)
    elif usual < SMALL:
        value = f"a radius of gyration of {math.sqrt(max(0.0, float(np.trace(S)))):.3g} m for {inertial.mass:.3g} kg"
        solid = math.sqrt(float(np.trace(hull.spread)))
        expected = f"about {solid:.2g} m, as of a solid of its shape: the mass would sit in one spot{_hint(inertial, hull)}"
        _say(subject, "warning" if usual < CONCENTRATED else "note", "inertia-too-small", link, "inertia", value, expected)


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


def _centre(subject: Subject, link: Link, inertial: Inertia, hull: Hull) -> None:
    c = np.array(inertial.centre_of_mass)
    out = hull.outside(c)
    if out <= OUTSIDE * hull.size:
        return
    hint = "; in mm it would fit" if hull.outside(1e-3 * c) <= OUTSIDE * hull.size and out > 20.0 * hull.size else ""
    value = f"a centre of mass {out:.3g} m outside of the link's shape"
    severity: Severity = "warning" if out > FAR * hull.size else "note"
    _say(subject, severity, "centre-outside", link, "inertial", value, f"one within it: the shape is {hull.size:.3g} m long{hint}")


def _density(subject: Subject, link: Link, inertial: Inertia, hull: Hull, usual: float | None) -> None:
    density = inertial.mass / hull.volume
    value = f"{inertial.mass:.3g} kg in a shape of {volume(hull.volume)}, {density:.3g} kg/m3"
    if density > HEAVY:
        hint = "; in grams it would fit" if 10.0 < density * 1e-3 < HEAVY else ""
        severity: Severity = "warning" if density > HEAVIEST else "note"
        _say(subject, severity, "density", link, "mass", value, f"below {HEAVY:.0f} kg/m3: solid steel has 7850{hint}")
    elif usual is not None and density > UNLIKE * usual:
        _say(subject, "warning", "density", link, "mass", value, f"about {usual:.2g} kg/m3, as the other links; is the mass too large?")
    elif density < LIGHT:
        _say(subject, "note", "density", link, "mass", value, f"above {LIGHT:g} kg/m3: foam has more")


def _without_shape(subject: Subject, link: Link, inertial: Inertia) -> None:
    """Where there is no shape, the lengths of the robot are what there is to compare with."""
    ends = [np.array(joint.pose[1]) for joint in subject.below.get(link.name, ())]
    lengths = [float(np.linalg.norm(x)) for x in (np.array(inertial.centre_of_mass), *ends)]
    length = max([*lengths, subject.reach])
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
