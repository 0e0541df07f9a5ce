"""Shafei 2017 (S17): elastic links. Case study I with Figs. 13 to 20, and what stands for case study II."""

from __future__ import annotations

from functools import cache
from math import cos, cosh, sin, sinh, sqrt
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.counts.robots import elastic_chain
from urdf_gibbs.dynamics import shafei2017, shafei2017_links, shafei2017_lists, transformations_flexible
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import AS_PRINTED, FLEXIBLE_METHODS, REFERENCES
from urdf_gibbs.dynamics.scalar import Matrix, Scalar
from urdf_gibbs.engine.graph import Graph
from urdf_gibbs.flexible.modes import sigma, wave_number
from urdf_gibbs.names import Method
from urdf_gibbs.oracle.pinocchio import Oracle, import_pinocchio
from urdf_gibbs.reproduce.claims import (
    NONSENSE,
    Agreement,
    Animation,
    Claim,
    Figure,
    Gap,
    Progress,
    Section,
    agreement,
    all_near,
    faster,
    near,
    number,
    numbers,
    relative,
    same,
)
from urdf_gibbs.reproduce.measure import ROUND_OFF, bounded, error_against_pinocchio, length
from urdf_gibbs.reproduce.pictures import of_lines
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.timing import interleaved

Array = NDArray[np.float64]

HEIGHT, G = 0.5, 9.81
CONSTANTS = ("4.731", "1.017")  # β and σ of the mode as printed
SECTIONS = ("5.89e-5", "2.94e-5", "2.94e-5")  # kg m: J' of the link, its diagonal
TIP = 1e-8  # relative error of differences of rotations with steps of 1e-6
FALL = sqrt(2.0 * HEIGHT / G)  # s: when the link strikes first, whatever it is made of
TIMES = ("0.3194", "0.9388")  # s: the impacts as printed
CPU = (17.96, 21.13)  # s: to derive the equations of two links with 3×3 and with 4×4 matrices, as printed
LAST_TERM = 51
LOST_MARKS = {("sigma", 1), ("psi", 0), ("psi", 1), ("U", 0), ("U", 1), ("xi", 1)}  # of j in the appendix, by quantity; 1: with k+
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
    progress("equations as printed, straight links against Pinocchio")
    section.claims += [_recursion(), _sections(), _tip()]
    progress("the elastic link falls")
    elastic, rigid = run("flexible_link"), run("rigid_link")
    section.claims += [_constants(), *_impacts(elastic), _bursts(elastic), _rigid(rigid), _elastic(elastic)]
    progress("two elastic links in a circle")
    section.gaps += [_quiet(elastic), _second_case(run("flexible_two_links"))]
    section.claims.append(_same_equations())
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


def _recursion() -> Claim:
    """M and bias of three bent links with two modes each, beside another algorithm, which a Lagrangian confirms in the tests."""
    robot = elastic_chain(3, 2)
    rng = np.random.default_rng(0)
    q, v = 0.3 * rng.normal(size=(3, robot.nq)), rng.normal(size=(3, robot.nv))
    references, straight = _equations(robot, q, v, FLEXIBLE_METHODS[1]), _straight()
    term, quantity = shafei2017.Chain.term, shafei2017.Chain.quantity

    def unmarked(chain: shafei2017.Chain, name: str, j: shafei2017.Frame, k: shafei2017.Frame) -> Matrix:
        return quantity(chain, name, shafei2017.Frame(j.link) if (name, k.beyond) in LOST_MARKS else j, k)

    def errors(last: float) -> tuple[float, float]:
        """Without the marks that the text at hand has lost, and with them; terms beyond the last one are left out."""

        def kept(chain: shafei2017.Chain, label: int, *place: int) -> Scalar:
            return term(chain, label, *place) if label <= last else 0.0

        differences = []
        for seen in (unmarked, quantity):
            with patch.object(shafei2017.Chain, "term", kept), patch.object(shafei2017.Chain, "quantity", seen):
                ours = _equations(robot, q, v, AS_PRINTED[0])
            differences.append(max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(ours, references, strict=True)))
        return differences[0], differences[1]

    def judge(terms: str) -> Agreement:
        if number(terms) != LAST_TERM:
            return agreement(False, number(terms) < LAST_TERM and max(errors(number(terms))) < ROUND_OFF)
        return agreement(*(max(error, straight) < ROUND_OFF for error in errors(LAST_TERM)))

    printed, complete = errors(LAST_TERM)
    return Claim(
        "s17.flight",
        "Exps. (I)-(III), A.1-A.33",
        "51 terms and the lists of where they stand give the motion of elastic links in flight by 3×3 matrices.",
        (Figure(str(LAST_TERM), "terms"),),
        f"M and right-hand side of three bent links with two modes {bounded(complete)} from those by another algorithm, which is "
        f"{bounded(straight)} from Pinocchio's for straight links; off by {printed:.2g} without marks that are lost in the text at hand",
        judge,
        f"{printed:.2g}",
        correction="In A.4, A.7, A.8, A.11, A.12 and A.15 j stands for j⁺, as the limits of their sums show; the scan may be to blame.",
        note="Both are compared with a Lagrangian of point masses (tests/test_flexible_formulations.py, "
        "tests/test_shafei2017_recursion.py), the other one with finite elements, too (tests/test_flexible_beams.py).",
    )


def _equations(robot: Robot, q: Array, v: Array, method: Method) -> tuple[Array, Array]:
    return ug.mass_matrix(robot, q, method=method), ug.bias(robot, q, v, method=method)


def _straight() -> float:
    """Error of the other algorithm where links are straight: the rigid coordinates move as those of rods, which Pinocchio knows."""
    path = ug.model_path("flexible_two_links")
    errors = error_against_pinocchio(ug.load(path, base="floating"), path, FLEXIBLE_METHODS[1])
    return max(error for quantity, error in errors.items() if quantity.endswith("(rigid limit)"))


def _sections() -> Claim:
    """A straight link turns in space; what its J' adds to the bias is not in Eq. 54. Pinocchio has the same link as a rod."""
    printed_J = 'J="5.89e-5 2.94e-5 2.94e-5"'
    source = ug.model_path("flexible_link").read_text(encoding="utf-8")
    rigid = ug.load(ug.model_path("rigid_link"), base="floating")
    at_rest, gravity = np.zeros(rigid.nv), (0.0, 0.0, 0.0)

    def errors(*J: str) -> tuple[float, float]:
        """Of the bias as printed, and with the term."""
        link = ug.load(source.replace(printed_J, f'J="{" ".join(J)}"'), base="floating")
        elastic = next(joint for joint in link.joints if joint.beam is not None)
        assert elastic.beam is not None
        v = np.zeros(link.nv)
        v[3:6] = 3.0, 2.0, 1.0
        missing = np.zeros(link.nv)
        missing[3:6] = np.cross(v[3:6], elastic.beam.rotary @ v[3:6])
        missing[link.velocity_names.index("q1")] = missing[5]  # q1 turns about the same axis
        h = ug.bias(link, link.neutral(), v, gravity=gravity, method=FLEXIBLE_METHODS[1])
        own = [i for i in range(link.nv) if i != elastic.iv]
        oracle = Oracle(ug.model_path("rigid_link"), "floating", True, gravity)
        reference = oracle.answers(rigid.neutral(), v[own], at_rest, at_rest, {}).bias
        most = np.abs(reference).max()
        printed, complete = (float(np.abs(own_h[own] - reference).max() / most) for own_h in (h - missing, h))
        return printed, complete

    def judge(*J: str) -> Agreement:
        if NONSENSE in J:
            return Agreement.NONE
        printed, complete = errors(*J)
        return agreement(printed < ROUND_OFF, complete < ROUND_OFF)

    printed, complete = errors(*SECTIONS)
    return Claim(
        "s17.gyroscopic",
        "Eqs. 4, 54; Table 1",
        "The right-hand side holds ω̃ B9 ω, and of B10, the integral of the sections' J', the angular acceleration alone.",
        tuple(Figure(J, "kg m") for J in SECTIONS),
        f"bias off by {printed:.2g} as printed, {bounded(complete)} with ω̃ B10 ω",
        judge,
        f"{printed:.2g}",
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

    def errors(factor: str) -> tuple[float, float]:
        """As printed, and with the tangent operator."""
        printed, complete = (float(np.abs(number(factor) * rate - exact).max() / np.abs(exact).max()) for rate in (turns.T, ours))
        return printed, complete

    printed, complete = errors("1")
    return Claim(
        "s17.tip",
        "Eqs. 45, 46, 50",
        "The tip of a link turns with the angular velocity θ̇(l).",
        (Figure("1", "θ̇(l)"),),
        f"off by {printed:.2g} as printed, {bounded(complete)} with the tangent operator of the rotation",
        lambda factor: agreement(*(error < TIP for error in errors(factor))),
        f"{printed:.2g}",
        correction="In space ½ θ × θ̇ and higher terms are left out; in the plane there are none.",
        note="Measured on a clamped-free link whose tip is displaced by a tenth of its length in both planes.",
    )


def _constants() -> Claim:
    exact, ratio = wave_number("clamped-clamped", 1), sigma("clamped-clamped", 1)

    def end(b: float, s: float) -> float:
        return sin(b) - s * cos(b) - sinh(b) + s * cosh(b)

    def judge(beta: str, s: str) -> Agreement:
        """As printed the shape must end in the clamp; corrected, the printed digits must be those of constants with which it does."""
        clamped = abs(end(number(beta), number(s))) < 1e-10
        return agreement(clamped, all_near((beta, s), (exact, ratio)) and abs(end(exact, ratio)) < 1e-10)

    beta, s = map(float, CONSTANTS)
    return Claim(
        "s17.constants",
        "Eq. 63",
        "The first clamped-clamped shape has β = 4.731 and σ = 1.017.",
        tuple(map(Figure, CONSTANTS)),
        f"{exact:.12g}, {ratio:.12g} (shape at the end {bounded(abs(end(exact, ratio)))})",
        judge,
        f"{relative(beta, exact)}, {relative(s, ratio)}; shape at the end {end(beta, s):.3g} as printed",
        correction="With the printed constants the shape is not zero at the clamped end; β and σ are computed to double precision.",
    )


def _impacts(elastic: Trajectory) -> list[Claim]:
    """The first time of each burst."""
    first, second = elastic.impacts[0].time, elastic.impacts[3].time
    place = "Sect. 4, case study I"
    return [
        Claim(
            "s17.impact1",
            place,
            "The elastic link strikes the ground first at 0.3194 s.",
            (Figure(TIMES[0], "s"),),
            f"{first:.6f} s",
            lambda text: agreement(near(text, first) and abs(first - FALL) < 1e-9),
            f"{(first - float(TIMES[0])) * 1e3:+.3f} ms",
            otherwise=(f"{first:.4f}",),
            note=f"It falls freely until then: √(2h/g) = {FALL:.6f} s, whatever bends. What the paper's steps cost is not known.",
        ),
        Claim(
            "s17.impact2",
            place,
            "The elastic link strikes the ground again at 0.9388 s.",
            (Figure(TIMES[1], "s"),),
            f"{second:.6f} s",
            numbers(second),
            f"{(second - float(TIMES[1])) * 1e3:+.3f} ms",
            note=f"A rigid link would strike at {3.0 * FALL:.6f} s.",
        ),
    ]


def _bursts(elastic: Trajectory) -> Claim:
    times = [impact.time for impact in elastic.impacts]
    return Claim(
        "s17.bursts",
        "Sect. 4, case study I",
        "The link strikes the ground at two different times.",
        (Figure("2", "impacts"),),
        f"{len(times)} impacts: " + ", ".join(f"{time:.6f}" for time in times) + " s",
        lambda text: agreement(number(text) == len(times)),
        "two bursts of three",
        otherwise=(str(len(times)),),
        note="After the first impact of each burst the centre still moves down, and the ends come back to the ground twice.",
    )


def _quiet(elastic: Trajectory) -> Gap:
    turn, drift = (float(np.abs(elastic.q[:, i]).max()) for i in (2, 0))
    return Gap(
        "s17.quiet",
        "Figs. 13, 14, 17, 18",
        "The link has almost no rotational motion, and its horizontal motion is negligible.",
        "How small is told by the figures alone, which are not at hand. Model and start are symmetric, so nothing else can come out.",
        f"{bounded(turn)} rad, {bounded(drift)} m",
    )


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
        (Figure("0.5", "m"),),
        f"{height:.6f} m",
        numbers(height),
        relative(HEIGHT, height),
    )


def _elastic(elastic: Trajectory) -> Claim:
    """O1, which the figure shows, and the mass centre, which rises to where its own energy ends; the rest vibrates."""
    last = elastic.impacts[2]
    robot = elastic.robot
    centre = float(ug.centre_of_mass(robot, last.q)[1])
    mass = sum(joint.beam.mass for joint in robot.joints if joint.beam is not None)
    speed = float(ug.momentum(robot, last.q, last.v_after)[1]) / mass
    rise, end = centre + speed**2 / (2.0 * G), _height(elastic)
    ours = "lower" if max(rise, end) < HEIGHT else "not lower"
    return Claim(
        "s17.elastic",
        "Fig. 19",
        "An elastic link does not come back to its initial height: part of the energy vibrates.",
        (Figure("lower", "than 0.5 m"),),
        f"{ours}: O1 {end:.4f} m, centre of mass {rise:.6f} m; {100.0 * (1.0 - rise / HEIGHT):.3f} % of the energy vibrates",
        same(ours),
        relative(HEIGHT, rise),
        note="The share is that of one clamped-clamped mode: impacts do not converge with the number of modes of any family.",
    )


def _second_case(pair: Trajectory) -> Gap:
    times = ", ".join(f"{impact.time:.5f}" for impact in pair.impacts)
    return Gap(
        "s17.case2",
        "Sect. 4, case study II",
        "Two elastic links in a circle move as in Figs. 12-20 of [37].",
        "Parameters and figures are in [37], which is not at hand.",
        f"two links of Table 1 in a circle of 1.5 m: impacts at {times} s",
    )


def _same_equations() -> Claim:
    """3×3 as printed and 4×4, on the robot of the substitute: two links with one mode each."""
    robot = ug.load(ug.model_path("flexible_two_links"))
    rng = np.random.default_rng(0)
    q, v = 0.1 * rng.normal(size=(8, robot.nq)), rng.normal(size=(8, robot.nv))
    rotations, transformations = (_equations(robot, q, v, method) for method in (AS_PRINTED[0], FLEXIBLE_METHODS[2]))
    worst = max(float(np.abs(one - other).max() / np.abs(other).max()) for one, other in zip(rotations, transformations, strict=True))
    ours = "the same" if worst < ROUND_OFF else "others"
    return Claim(
        "s17.same",
        "Sect. 4, case study II",
        "The algorithms with 3×3 and with 4×4 matrices give the same results.",
        (Figure("the same"),),
        f"M and right-hand side {bounded(worst)} from each other",
        same(ours),
        bounded(worst),
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

    methods = (AS_PRINTED[0], FLEXIBLE_METHODS[2])
    times = interleaved({method: lambda method=method: derive(method) for method in methods})  # type: ignore[misc]
    rotations, transformations = times.values()
    ratio = transformations / rotations
    return Claim(
        "s17.cpu",
        "Sect. 4, case study II",
        f"Deriving the equations of two elastic links takes less time with 3×3 matrices ({CPU[0]} s) than with 4×4 ones ({CPU[1]} s).",
        (Figure("3×3", "faster"),),
        f"{1e3 * rotations:.2g} ms, {1e3 * transformations:.2g} ms: {ratio:.2g} times faster",
        faster("3×3", [ratio], "4×4"),
        f"{ratio:.2g} against {CPU[1] / CPU[0]:.2f}",
        otherwise=("4×4",),
        note="Ours is the time from the parameters to the expressions, on the substitute's robot; by how much is the program's and not the "
        "method's.",
        timed=True,
    )


def _lengthy() -> Claim:
    sizes = {"4×4": length(transformations_flexible), "3×3": sum(map(length, (shafei2017, shafei2017_lists, shafei2017_links)))}
    ours = tuple(sorted(sizes, key=sizes.__getitem__))
    return Claim(
        "s17.lengthy",
        "Sect. 5",
        "Algorithms with 3×3 matrices take fewer operations, but suffer from lengthy formulations: those with 4×4 ones are shorter.",
        tuple(map(Figure, ("4×4", "3×3"))),
        "nodes of the syntax trees: " + ", ".join(f"{name} {sizes[name]}" for name in ours),
        same(*ours),
        otherwise=ours,
        missing="The paper does not say how the length of a formulation is measured.",
        note="The recursion with 3×3 matrices as printed, and our own form with 4×4 ones, for which no steps are printed.",
    )
