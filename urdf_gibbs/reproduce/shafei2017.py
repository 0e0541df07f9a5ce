"""Shafei 2017 (S17): elastic links. Case study I with Figs. 13 to 20, and what stands for case study II."""

from __future__ import annotations

from functools import cache
from math import cos, cosh, sin, sinh, sqrt

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.dynamics import gibbs_appell_flexible, transformations_flexible
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine.graph import Graph
from urdf_gibbs.engine.kernel import FLEXIBLE_METHODS, REFERENCES
from urdf_gibbs.flexible.modes import sigma, wave_number
from urdf_gibbs.oracle.pinocchio import Oracle, import_pinocchio
from urdf_gibbs.reproduce.claims import Animation, Claim, Progress, Section, relative, rounding
from urdf_gibbs.reproduce.measure import ROUND_OFF, bounded, error_against_pinocchio, length
from urdf_gibbs.reproduce.pictures import of_lines
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.timing import interleaved

Array = NDArray[np.float64]

HEIGHT, G = 0.5, 9.81
BETA, SIGMA = 4.731, 1.017  # as printed
FALL = sqrt(2.0 * HEIGHT / G)  # s: when the link strikes first, whatever it is made of
TIMES = ("0.3194", "0.9388")  # s: the impacts as printed
CPU = (17.96, 21.13)  # s: to derive the equations of two links with 3×3 and with 4×4 matrices, as printed
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
    progress("equations with straight links against Pinocchio")
    section.claims += [_straight(), _sections(), _tip()]
    progress("the elastic link falls")
    elastic, rigid = run("flexible_link"), run("rigid_link")
    section.claims += [_constants(), *_impacts(elastic), _bursts(elastic), *_quiet(elastic), _rigid(rigid), _elastic(elastic)]
    section.claims.append(_energy(elastic))
    progress("two elastic links in a circle")
    section.claims += [_second_case(run("flexible_two_links")), _same_equations()]
    progress("time to derive the equations")
    section.claims += [_cpu(), _lengthy()]
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


def _straight() -> Claim:
    """Where links are straight and at rest in themselves, the rigid coordinates move as those of rods, which Pinocchio knows."""
    path = ug.model_path("flexible_two_links")
    errors = error_against_pinocchio(ug.load(path, base="floating"), path, FLEXIBLE_METHODS[1])
    worst = max(error for quantity, error in errors.items() if quantity.endswith("(rigid limit)"))
    return Claim(
        "s17.flight",
        "Eqs. 35-57",
        "The recursive equations with 3×3 matrices give the motion of elastic links in flight.",
        "motion equations",
        f"rows of the rigid coordinates, links straight: {bounded(worst)} from Pinocchio's",
        bounded(worst),
        worst < ROUND_OFF,
        note="Bent links are compared with a Lagrangian of point masses and with finite elements (tests/test_flexible_formulations.py, "
        "tests/test_flexible_beams.py).",
    )


def _sections() -> Claim:
    """A straight link turns in space; what its J' adds to the bias is not in Eq. 54. Pinocchio has the same link as a rod."""
    link = ug.load(ug.model_path("flexible_link"), base="floating")
    elastic = next(joint for joint in link.joints if joint.beam is not None)
    assert elastic.beam is not None
    v = np.zeros(link.nv)
    v[3:6] = 3.0, 2.0, 1.0
    missing = np.zeros(link.nv)
    missing[3:6] = np.cross(v[3:6], elastic.beam.rotary @ v[3:6])
    missing[link.velocity_names.index("q1")] = missing[5]  # q1 turns about the same axis
    gravity = (0.0, 0.0, 0.0)
    h = ug.bias(link, link.neutral(), v, gravity=gravity, method=FLEXIBLE_METHODS[1])
    rigid = ug.load(ug.model_path("rigid_link"), base="floating")
    at_rest, own = np.zeros(rigid.nv), [i for i in range(link.nv) if i != elastic.iv]
    oracle = Oracle(ug.model_path("rigid_link"), "floating", True, gravity)
    reference = oracle.answers(rigid.neutral(), v[own], at_rest, at_rest, {}).bias
    most = np.abs(reference).max()
    complete, printed = (float(np.abs(own_h[own] - reference).max() / most) for own_h in (h, h - missing))
    return Claim(
        "s17.gyroscopic",
        "Eqs. 4, 54",
        "The right-hand side holds ω̃ B9 ω, and of B10 the angular acceleration alone.",
        "no term ω̃ B10 ω",
        f"bias off by {printed:.2g} as printed, {bounded(complete)} with the term",
        f"{printed:.2g}",
        complete < ROUND_OFF < printed,
        correction="In space ω̃ B10 ω belongs to Eq. 54; in the plane it is zero.",
        note="Measured on the straight link of case study I, ω = (3, 2, 1) rad/s, relative to the largest entry.",
    )


def _tip() -> Claim:
    """Angular velocity of a tip that is displaced by a tenth of its length in both planes, against differences of Pinocchio's rotations."""
    text = ug.model_path("flexible_two_links").read_text(encoding="utf-8")
    text = text.replace('EI_z="1000"', 'EI_y="1000" EI_z="1000"').replace("y=clamped-free:1", "y=clamped-free:1 z=clamped-free:1")
    robot = ug.load(text)
    joint = next(joint for joint in robot.joints if joint.beam is not None)
    assert joint.beam is not None
    turns, delta, step = joint.beam.tip_rotation, np.full(2, 0.1 * joint.beam.length), 1e-6
    q = robot.neutral()
    own = slice(joint.iv, joint.iv + 2)
    q[own] = delta
    ours = ug.jacobian(robot, q, f"{joint.beam.link}.tip")[3:, own]

    pin = import_pinocchio()
    ends = [[pin.exp3((delta + sign * change) @ turns) for sign in (1, -1)] for change in step * np.eye(2)]
    exact = np.array([pin.log3(ahead @ behind.T) / (2.0 * step) for ahead, behind in ends]).T
    complete, printed = (float(np.abs(found - exact).max() / np.abs(exact).max()) for found in (ours, turns.T))
    return Claim(
        "s17.tip",
        "Eqs. 45, 46, 50",
        "The tip of a link turns with the angular velocity θ̇(l).",
        "θ̇(l)",
        f"off by {printed:.2g} as printed, {bounded(complete)} with the tangent operator of the rotation",
        f"{printed:.2g}",
        complete < 1e-8 < printed,
        correction="In space ½ θ × θ̇ and higher terms are left out; in the plane there are none.",
        note="Measured on a clamped-free link whose tip is displaced by a tenth of its length in both planes.",
    )


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
    """The first time of each burst. How late the printed first one is, which no model can change, is what the paper's steps cost."""
    first, second = elastic.impacts[0].time, elastic.impacts[3].time
    late = float(TIMES[0]) - FALL
    stiff = 3.0 * FALL
    place = "Sect. 4, case study I"
    return [
        Claim(
            "s17.impact1",
            place,
            "The elastic link strikes the ground first at 0.3194 s.",
            f"{TIMES[0]} s",
            f"{first:.6f} s",
            f"{(first - float(TIMES[0])) * 1e3:+.3f} ms",
            abs(first - FALL) < 1e-9,
            correction=f"It falls freely until then: √(2h/g) = {FALL:.6f} s, whatever bends. The printed time is {late * 1e3:.3f} ms late.",
        ),
        Claim(
            "s17.impact2",
            place,
            "The elastic link strikes the ground again at 0.9388 s.",
            f"{TIMES[1]} s",
            f"{second:.6f} s",
            f"{(second - float(TIMES[1])) * 1e3:+.3f} ms",
            abs(second - float(TIMES[1])) < 2.0 * rounding(TIMES[1]),
            note=f"Within a unit of the last digit; a rigid link would strike at {stiff:.6f} s.",
        ),
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
    """O1, which the figure shows, and the mass centre, which rises to where its own energy ends; the rest vibrates."""
    last = elastic.impacts[2]
    robot = elastic.robot
    centre = float(ug.centre_of_mass(robot, last.q)[1])
    mass = sum(joint.beam.mass for joint in robot.joints if joint.beam is not None)
    speed = float(ug.momentum(robot, last.q, last.v_after)[1]) / mass
    rise, end = centre + speed**2 / (2.0 * G), _height(elastic)
    return Claim(
        "s17.elastic",
        "Fig. 19",
        "An elastic link does not come back to its initial height: part of the energy vibrates.",
        "less than 0.5 m",
        f"O1 {end:.4f} m, centre of mass {rise:.6f} m; {100.0 * (1.0 - rise / HEIGHT):.3f} % of the energy vibrates",
        relative(HEIGHT, rise),
        rise < HEIGHT and end < HEIGHT,
        note="The share is that of one clamped-clamped mode: impacts do not converge with the number of modes of any family.",
    )


def _energy(elastic: Trajectory) -> Claim:
    total = elastic.energies.total
    spread = float(np.ptp(total) / total[0])
    return Claim(
        "s17.energy",
        "Sect. 4, e = 1",
        "Energy is conserved: impacts are elastic (e = 1), and nothing dissipates.",
        "conserved",
        f"{total[0]:.3f} J = μlgh, constant within {bounded(spread)}",
        bounded(spread),
        spread < 1e-9 and abs(total[0] - G * HEIGHT) < 1e-9,
    )


def _second_case(pair: Trajectory) -> Claim:
    times = ", ".join(f"{impact.time:.5f}" for impact in pair.impacts)
    return Claim(
        "s17.case2",
        "Sect. 4, case study II",
        "Two elastic links in a circle move as in Figs. 12-20 of [37].",
        "figures of another paper",
        f"a substitute with Table 1's links: impacts at {times} s",
        missing="Parameters and figures are in [37], which is not at hand; a circle of 1.5 m and the links of Table 1 stand for them here.",
    )


def _same_equations() -> Claim:
    """3×3 and 4×4, on the robot of the substitute: two links with one mode each."""
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


def _cpu() -> Claim:
    """From parameters to the expressions of M and of the bias, traced without folding."""
    robot = ug.load(ug.model_path("flexible_two_links"))
    model = model_of(robot)

    def derive(method: str) -> None:
        graph = Graph()
        q, v = ([graph.input(name, i) for i in range(robot.nv)] for name in ("q", "v"))
        REFERENCES[method].mass_matrix(model, q)
        REFERENCES[method].bias(model, q, v, [0.0, -G, 0.0])

    times = interleaved({method: lambda method=method: derive(method) for method in FLEXIBLE_METHODS[1:]})  # type: ignore[misc]
    rotations, transformations = times.values()
    return Claim(
        "s17.cpu",
        "Sect. 4, case study II",
        "Deriving the equations of two elastic links takes less time with 3×3 matrices than with 4×4 ones.",
        f"{CPU[0]} s, {CPU[1]} s (i3-3220): {CPU[1] / CPU[0]:.2f} times less",
        f"{1e3 * rotations:.2g} ms, {1e3 * transformations:.2g} ms: {transformations / rotations:.2g} times less",
        f"{transformations / rotations:.2g} against {CPU[1] / CPU[0]:.2f}",
        rotations < transformations,
        note="Ours is the time from the parameters to the expressions, on the substitute's robot.",
        timed=True,
    )


def _lengthy() -> Claim:
    return Claim(
        "s17.lengthy",
        "Sect. 5",
        "Algorithms with 3×3 matrices take fewer operations, but suffer from lengthy formulations.",
        "no figures for length",
        f"nodes of the syntax trees of our sources: 3×3 {length(gibbs_appell_flexible)}, 4×4 {length(transformations_flexible)}",
        missing="The paper does not say how the length of a formulation is measured; of ours the 3×3 one is the longer.",
    )
