"""Shafei & Shafei 2017 (S17): elastic links. Case study I with Figs. 13 to 20, and what stands for case study II."""

from __future__ import annotations

from functools import cache
from math import cos, cosh, sin, sinh, sqrt

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.engine.kernel import FLEXIBLE_METHODS
from urdf_gibbs.flexible.modes import sigma, wave_number
from urdf_gibbs.reproduce.claims import Animation, Claim, Progress, Section, relative
from urdf_gibbs.reproduce.measure import ROUND_OFF, bounded
from urdf_gibbs.reproduce.pictures import of_lines
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

HEIGHT, G = 0.5, 9.81
BETA, SIGMA = 4.731, 1.017  # as printed
STEP = 1.3e-4  # s: the first impact is that of a free fall, and what is printed for it is 1.2e-4 s late
# X1, X2, q1, delta of the link, as their figures name them
COORDINATES = (
    ("Figs. 13, 14", 2, "angular position [rad]", "angular velocity [rad/s]"),
    ("Figs. 15, 16", 3, "modal coordinate [m]", "its velocity [m/s]"),
    ("Figs. 17, 18", 0, "X1 of O1 [m]", "its velocity [m/s]"),
    ("Figs. 19, 20", 1, "X2 of O1 [m]", "its velocity [m/s]"),
)


@cache
def run(name: str) -> Trajectory:
    return ug.simulate(**read_scenario(name).arguments())


def case_studies(progress: Progress) -> Section:
    section = Section("S17: links that bend")
    progress("the elastic link falls")
    elastic, rigid = run("flexible_link"), run("rigid_link")
    section.claims += [_constants(), *_impacts(elastic), _bursts(elastic), *_quiet(elastic), _rigid(rigid), _elastic(elastic)]
    section.claims.append(_energy(elastic))
    progress("two elastic links in a circle")
    section.claims += [_second_case(run("flexible_two_links")), _same_equations()]
    t = np.linspace(0.0, 1.0, 8001)
    states = {name: trajectory.at(t) for name, trajectory in (("elastic", elastic), ("rigid", rigid))}
    for place, i, position, velocity in COORDINATES:
        named = [(name, pair) for name, pair in states.items() if i < pair[0].shape[1]]
        panels = [
            (label, "time [s]", label, [(name, t, pair[k][:, i]) for name, pair in named]) for k, label in ((0, position), (1, velocity))
        ]
        section.pictures.append(of_lines(place, f"{position} and {velocity} of the falling link", panels))
    section.animations += [
        Animation("flexible_link", "the elastic link on the ground", lambda: elastic.animate().html()),
        Animation("flexible_two_links", "two elastic links in a circle", lambda: run("flexible_two_links").animate().html()),
    ]
    return section


def _constants() -> Claim:
    exact, ratio = wave_number("clamped-clamped", 1), sigma("clamped-clamped", 1)

    def end(b: float, s: float) -> float:
        return sin(b) - s * cos(b) - sinh(b) + s * cosh(b)

    return Claim(
        "s17.constants",
        "Eq. 63",
        "The first clamped-clamped shape has β = 4.731 and σ = 1.017.",
        f"4.731, 1.017 (shape at the end {end(BETA, SIGMA):.3g})",
        f"{exact:.12g}, {ratio:.12g} (shape at the end {bounded(abs(end(exact, ratio)))})",
        f"{relative(BETA, exact)}, {relative(SIGMA, ratio)}",
        abs(end(exact, ratio)) < 1e-10 and abs(exact - BETA) < 1.1e-3 and abs(ratio - SIGMA) < 1.1e-3,
        correction="With the printed constants the shape is not zero at the clamped end; β and σ are computed to double precision.",
    )


def _impacts(elastic: Trajectory) -> list[Claim]:
    first, second = elastic.impacts[0].time, elastic.impacts[3].time
    fall = sqrt(2.0 * HEIGHT / G)
    note = f"The first impact is that of a free fall, √(2h/g) = {fall:.6f} s, whatever bends."
    return [
        Claim(
            f"s17.impact{number}",
            "Sect. 4, case study I",
            f"Impact {number} of the elastic link.",
            f"{printed} s",
            f"{ours:.6f} s",
            f"{(ours - printed) * 1e3:+.3f} ms",
            abs(ours - printed) < STEP,
            note=why,
        )
        for number, printed, ours, why in ((1, 0.3194, first, note), (2, 0.9388, second, ""))
    ]


def _bursts(elastic: Trajectory) -> Claim:
    times = [impact.time for impact in elastic.impacts]
    return Claim(
        "s17.bursts",
        "Sect. 4, case study I",
        "The link strikes the ground at two different times.",
        "2 impacts",
        f"{len(times)} impacts: " + ", ".join(f"{time:.6f}" for time in times) + " s",
        "two bursts of three",
        len(times) == 2,
        note="After the first impact of each burst the centre still moves down, and the ends come back to the ground twice.",
    )


def _quiet(elastic: Trajectory) -> list[Claim]:
    turn, drift = (float(np.abs(elastic.q[:, i]).max()) for i in (2, 0))
    return [
        Claim(
            key,
            place,
            statement,
            "almost none",
            f"{bounded(value)} {unit}",
            bounded(value),
            value < 1e-8,
            note="By symmetry there is none.",
        )
        for key, place, statement, value, unit in (
            ("s17.rotation", "Figs. 13, 14", "The link has almost no rotational motion.", turn, "rad"),
            ("s17.drift", "Figs. 17, 18", "The horizontal motion is negligible.", drift, "m"),
        )
    ]


def _height(trajectory: Trajectory) -> float:
    """The highest that O1 comes after it has left the ground and before it strikes again."""
    times = [impact.time for impact in trajectory.impacts]
    gaps = [(b - a, a, b) for a, b in zip(times, [*times[1:], float(trajectory.t[-1])], strict=True)]
    _, start, end = max(gaps)
    return float(trajectory.at(np.linspace(start, end, 20001))[0][:, 1].max())


def _rigid(rigid: Trajectory) -> Claim:
    height = _height(rigid)
    return Claim(
        "s17.rigid",
        "Fig. 19",
        "A rigid link comes back to its initial height.",
        "0.5 m",
        f"{height:.6f} m",
        relative(HEIGHT, height),
        abs(height - HEIGHT) < 1e-6,
    )


def _elastic(elastic: Trajectory) -> Claim:
    """The mass centre rises to where its own energy ends; the rest vibrates."""
    last = elastic.impacts[2]
    robot = elastic.robot
    centre = float(ug.centre_of_mass(robot, last.q)[1])
    speed = float(ug.momentum(robot, last.q, last.v_after)[1]) / 1.0  # of 1 kg
    rise = centre + speed**2 / (2.0 * G)
    return Claim(
        "s17.elastic",
        "Fig. 19",
        "An elastic link does not come back to its initial height: part of the energy vibrates.",
        "less than 0.5 m",
        f"centre of mass {rise:.6f} m; {100.0 * (1.0 - rise / HEIGHT):.3f} % of the energy vibrates",
        relative(HEIGHT, rise),
        rise < HEIGHT,
        note="Clamped-clamped modes do not converge: more of them give another share. Clamped-free modes do.",
    )


def _energy(elastic: Trajectory) -> Claim:
    total = elastic.energies.total
    spread = float(np.ptp(total) / total[0])
    return Claim(
        "s17.energy",
        "Sect. 4, e = 1",
        "Impacts are elastic and nothing dissipates.",
        f"{G * HEIGHT:.3f} J",
        f"{total[0]:.3f} J, constant within {bounded(spread)}",
        bounded(spread),
        spread < 1e-9,
    )


def _second_case(pair: Trajectory) -> Claim:
    times = ", ".join(f"{impact.time:.5f}" for impact in pair.impacts)
    return Claim(
        "s17.case2",
        "Sect. 4, case study II",
        "Two elastic links in a circle move as in Figs. 12-20 of [37].",
        "figures of another paper",
        f"a substitute with Table 1's links: impacts at {times} s",
        missing="Parameters and figures are in [37], which prints them; here a circle of 1.5 m and the links of Table 1 stand for them.",
    )


def _same_equations() -> Claim:
    """3×3 and 4×4, on two links with two modes in both planes each: the substitute's robot."""
    robot = ug.load(ug.model_path("flexible_two_links"))
    rng = np.random.default_rng(0)
    q, v = 0.1 * rng.normal(size=(8, robot.nq)), rng.normal(size=(8, robot.nv))
    worst = 0.0
    rotations, transformations = (
        (ug.mass_matrix(robot, q, method=method), ug.bias(robot, q, v, method=method)) for method in FLEXIBLE_METHODS[1:]
    )
    for one, other in zip(rotations, transformations, strict=True):
        worst = max(worst, float(np.abs(one - other).max() / np.abs(other).max()))
    return Claim(
        "s17.same",
        "Sect. 4, case study II",
        "The algorithms with 3×3 and with 4×4 matrices give the same results.",
        "the same results",
        f"M and right-hand side {bounded(worst)} from each other",
        bounded(worst),
        worst < ROUND_OFF,
    )
