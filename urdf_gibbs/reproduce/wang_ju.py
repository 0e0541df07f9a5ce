"""Wang & Ju (WJ): explicit elements of the inertia matrix and the bias force, the planar 3R and the rocker arm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import log10
from os import PathLike

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.dynamics import explicit
from urdf_gibbs.dynamics.model import Model, model_of, path
from urdf_gibbs.dynamics.scalar import skew
from urdf_gibbs.names import JointType
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.reproduce.claims import Agreement, Claim, Figure, Grid, Progress, Section, agreement, number, numbers
from urdf_gibbs.reproduce.measure import ROUND_OFF, bounded
from urdf_gibbs.reproduce.pictures import of_lines
from urdf_gibbs.reproduce.planar_3r import CORRECTIONS, evaluated, values_of
from urdf_gibbs.reproduce.planar_3r import PRINTED as PRINTED_3R
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]

BRANCHES_APART = ("M24", "M25", "M34", "M35")  # of the rocker arm
REVOLUTE: JointType = "revolute"
PRISMATIC: JointType = "prismatic"


def matrix(progress: Progress) -> Section:
    """Eqs. 10 to 14 and 28 to 37, and Sect. 7."""
    section = Section("WJ: explicit elements of the inertia matrix")
    progress("all joint types of the rocker arm")
    section.claims += [*_cases(), _bias()]
    progress("planar 3R")
    section.claims.append(_planar_3r())
    section.grids.append(_printed_3r())
    progress("rocker arm")
    robot = ug.load(ug.model_path("rocker_arm"))
    t, M21, errors = _motion(robot)
    section.claims += [_zeros(robot), _cut_short(robot), _fig_6(M21, errors)]
    section.pictures.append(
        of_lines(
            "Fig. 6",
            "M21 of the rocker arm over 10 s, and how far it is from M21 by the generalised momentum and by Pinocchio",
            [
                ("M21", "time [s]", "M21 [kg m²]", [("explicit", t, M21)]),
                ("difference", "time [s]", "difference of M21 [kg m²]", [(name, t, errors[name]) for name in reversed(errors)]),
            ],
        )
    )
    return section


def pinocchio_matrices(source: str | PathLike[str], q: Array) -> Array:
    """Pinocchio's M (n, nv, nv) of a robot on a fixed base at q (n, nq)."""
    oracle = Oracle(source, "fixed", True, EARTH_GRAVITY)
    zero = np.zeros(oracle.nv)
    return np.array([oracle.answers(one, zero, zero, zero, {}).mass_matrix for one in q])


# formulas -----------------------------------------------------------------------------------------------


def _rocker_arm(kinds: Sequence[JointType]) -> tuple[Robot, str]:
    """The rocker arm with its joints of these types: by ``with_joint_type``, and as an edited URDF for Pinocchio."""
    file = ug.model_path("rocker_arm")
    robot, text = ug.load(file), file.read_text(encoding="utf-8")
    for joint, kind in zip(robot.joints, kinds, strict=True):
        robot = robot.with_joint_type(joint.name, kind)
        text = re.sub(rf'(<joint name="{joint.name}" type=)"\w+"', rf'\1"{kind}"', text)
    return robot, text


def _cases() -> list[Claim]:
    """The rocker arm with each of its five joints revolute or prismatic: 32 robots, in which all eight cases occur."""
    q = ug.load(ug.model_path("rocker_arm")).random(0)
    matrices, mirrored, formulas = 0.0, 0.0, dict[tuple[str, str, bool], float]()
    for kinds in product((REVOLUTE, PRISMATIC), repeat=5):
        robot, text = _rocker_arm(kinds)
        (reference,) = pinocchio_matrices(text, q[None])
        most = np.abs(reference).max()
        matrices = max(matrices, float(np.abs(ug.mass_matrix(robot, q, method="explicit") - reference).max() / most))
        model = model_of(robot)
        pose = explicit.poses(model, q.tolist())
        for u, k in product(range(5), repeat=2):
            if u != k and (u in model.subtree[k] or k in model.subtree[u]):
                element = _element(model, pose, u, k)
                case = (kinds[u], kinds[k], u in model.subtree[k])
                formulas[case] = max(formulas.get(case, 0.0), abs(element - reference[u, k]) / most)
                mirrored = max(mirrored, abs(element - _element(model, pose, k, u)) / most)
    right = sum(error < ROUND_OFF for error in formulas.values())
    worst = max(matrices, *formulas.values())
    return [
        Claim(
            "wj.cases",
            "Eqs. 30-37",
            "Eight cases, by joint types and by which joint is nearer to the base, give every element of M.",
            (Figure("8", "cases"),),
            f"{len(formulas)} cases in 32 robots, {right} of them right: each formula {bounded(max(formulas.values()))}, "
            f"M {bounded(matrices)} from Pinocchio's",
            numbers(right if matrices < ROUND_OFF else 0),
            bounded(worst),
            note='The label of case 3, "R, P", is misprinted for "R, R": the formula is that of two revolute joints.',
        ),
        Claim(
            "wj.symmetry",
            "Sect. 5",
            "M is symmetric: the formulas of (u, k) and of (k, u) differ by nothing.",
            (Figure("0", "difference"),),
            f"in {len(formulas)} cases {bounded(mirrored)} from each other, relative to the largest entry",
            lambda text: agreement(len(formulas) == 8 and abs(number(text) - mirrored) < ROUND_OFF),
            bounded(mirrored),
        ),
    ]


def _element(model: Model, pose: list[explicit.Pose], u: int, k: int, bodies: Iterable[int] = ()) -> float:
    """M[u][k] by its case, in NumPy and apart from our own source, which uses the symmetry; simple joints.

    ``bodies``: those of the sum, where they are not all of the subtree of the deeper joint.
    """
    kinds = model.bodies[u].columns[0].kind + model.bodies[k].columns[0].kind
    total = np.zeros((3, 3))
    for l in bodies or model.subtree[u if u in model.subtree[k] else k]:  # noqa: E741 - the paper's name
        mass, r_u, r_k = model.bodies[l].mass, _lever(pose[l], pose[u]), _lever(pose[l], pose[k])
        terms = {"RR": np.array(pose[l].I) - mass * r_u @ r_k, "RP": mass * r_u, "PR": -mass * r_k, "PP": mass * np.eye(3)}
        total += terms[kinds]
    return float(np.array(pose[u].n[0]) @ total @ np.array(pose[k].n[0]))


def _lever(body: explicit.Pose, joint: explicit.Pose) -> Array:
    """r̃ (3, 3) from the joint's origin to the body's mass centre."""
    return np.array(skew([c - o for c, o in zip(body.centre, joint.origin, strict=True)]))


def _bias() -> Claim:
    """Joint 3 prismatic, so that every term of Eqs. 13 and 14 acts."""
    robot, text = _rocker_arm((REVOLUTE, REVOLUTE, PRISMATIC, REVOLUTE, REVOLUTE))
    model, oracle = model_of(robot), Oracle(text, "fixed", True, EARTH_GRAVITY)
    rng = np.random.default_rng(0)
    states = [(robot.random(rng), rng.normal(size=5)) for _ in range(5)]
    references = [oracle.answers(q, v, v, v, {}).bias for q, v in states]

    def error(coriolis: float, gyroscopic: float, products: bool) -> float:
        """Largest error of h against Pinocchio's, relative to its largest entry."""
        computed = (_h(model, explicit.poses(model, q.tolist()), v, coriolis, gyroscopic, products) for q, v in states)
        return max(float(np.abs(h - theirs).max() / np.abs(theirs).max()) for h, theirs in zip(computed, references, strict=True))

    def judge(coriolis: str, gyroscopic: str) -> Agreement:
        return agreement(*(error(number(coriolis), number(gyroscopic), products) < ROUND_OFF for products in (False, True)))

    printed, complete = (error(2.0, 1.0, products) for products in (False, True))
    return Claim(
        "wj.bias",
        "Eqs. 10-14, 28, 29",
        "h of Eqs. 13 and 14 is the bias force: with the inertia forces of Eqs. 28 and 29 it makes the equations of motion (Eq. 10).",
        (Figure("2", "times the Coriolis term"), Figure("1", "times the gyroscopic term")),
        f"h off by {printed:.2g} as printed, {bounded(complete)} with the velocity products",
        judge,
        f"{printed:.2g}",
        correction="Eqs. 10 to 14 together hold every term. The products ω × (n φ̇) of Eqs. 11 and 12 hold no acceleration: Eqs. 28 and 29, "
        "which put M q̈ in the place of Eqs. 11 and 12, are without them; so h must hold them.",
        note="Measured on the rocker arm with joint 3 made prismatic, relative to the largest entry.",
    )


def _h(model: Model, pose: list[explicit.Pose], v: Array, coriolis: float, gyroscopic: float, products: bool) -> Array:
    """h (nv) by Eqs. 13 and 14 in NumPy with these coefficients; ``products``: and what Eqs. 11 and 12 hold without accelerations."""
    h, g = np.zeros(model.nv), np.array(EARTH_GRAVITY)
    for k, body in enumerate(model.bodies):
        omega, alpha, acceleration, place = np.zeros((4, 3))
        for l in path(model, k):  # noqa: E741 - the paper's name
            column, r = model.bodies[l].columns[0], pose[l].origin - place
            rate = np.array(pose[l].n[0]) * v[column.iv]
            acceleration = acceleration + np.cross(omega, np.cross(omega, r)) + np.cross(alpha, r)
            if column.kind == "P":
                acceleration = acceleration + coriolis * np.cross(omega, rate)
            else:
                alpha = alpha + products * np.cross(omega, rate)
                omega = omega + rate
            place = np.array(pose[l].origin)
        r = pose[k].centre - place
        inertia: Array = np.array(pose[k].I)
        force = body.mass * (acceleration + np.cross(omega, np.cross(omega, r)) + np.cross(alpha, r) - g)
        torque = inertia @ alpha + gyroscopic * np.cross(omega, inertia @ omega)
        for u in path(model, k):
            column, n = model.bodies[u].columns[0], np.array(pose[u].n[0])
            h[column.iv] += n @ (torque + _lever(pose[k], pose[u]) @ force if column.kind == "R" else force)
    return h


# planar 3R ----------------------------------------------------------------------------------------------


class _Planar3R:
    """The planar 3R at some angles: the upper triangle by texts, and by Pinocchio."""

    def __init__(self, q: Array) -> None:
        file = ug.model_path("planar3r")
        robot = ug.load(file)
        self.values = [values_of(robot, one) for one in q]
        self.right = pinocchio_matrices(file, q)

    def entry(self, name: str) -> Array:
        return self.right[:, int(name[1]) - 1, int(name[2]) - 1]

    def by(self, text: str) -> Array:
        return np.array([evaluated(text, values) for values in self.values])

    def agreeing(self, texts: Mapping[str, str]) -> list[str]:
        """The entries whose texts give Pinocchio's."""
        return [name for name, text in texts.items() if (np.abs(self.by(text) - self.entry(name)) < ROUND_OFF).all()]


def _corrected(texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The entries after each correction and those before it."""
    steps, now = {}, dict(texts)
    for what, correct in CORRECTIONS.items():
        now = {name: correct(name, text) for name, text in now.items()}
        steps[what] = now
    return steps


def _planar_3r() -> Claim:
    robot = _Planar3R(np.random.default_rng(0).uniform(-3.0, 3.0, (5, 3)))

    def judge(*texts: str) -> Agreement:
        printed = dict(zip(PRINTED_3R, texts, strict=True))
        *_, corrected = _corrected(printed).values()
        return agreement(*(len(robot.agreeing(entries)) == len(PRINTED_3R) for entries in (printed, corrected)))

    stages = {"as printed": PRINTED_3R, **{f"then {what}": texts for what, texts in _corrected(PRINTED_3R).items()}}
    right = {stage: robot.agreeing(texts) for stage, texts in stages.items()}
    return Claim(
        "wj.3r",
        "Sect. 7.1",
        "Substituting the parameters of the planar 3R gives its inertia matrix in closed form.",
        tuple(Figure(text) for text in PRINTED_3R.values()),
        "equal to Pinocchio's " + "; ".join(f"{stage}: {', '.join(names)}" for stage, names in right.items()),
        judge,
        f"{len(PRINTED_3R) - len(right['as printed'])} of {len(PRINTED_3R)} entries",
        correction="C₁, C₁₂ and C₂ stand for the cosines of the angles between links, φ₂, φ₂ + φ₃ and φ₃; beside m_k the distances between "
        "joints are l₁ and l₂, not l₁I and l₂I; in M11 the product l₁ l₂I beside m₂ stands twice.",
        note="The upper triangle, second lines. The first lines of M12 and M22 name body 2 alone, the second ones have body 3 as well.",
    )


def _printed_3r() -> Grid:
    q = np.array([[0.3, 0.8, -0.5]])
    robot = _Planar3R(q)
    stages = [PRINTED_3R, *_corrected(PRINTED_3R).values()]
    rows = [(name, *(f"{robot.by(texts[name])[0]:.6f}" for texts in stages), f"{robot.entry(name)[0]:.6f}") for name in PRINTED_3R]
    return Grid(
        "Planar 3R at φ = (0.3, 0.8, -0.5): the upper triangle of Sect. 7.1 as printed, after each correction, and as it is [kg m²]",
        ("", "printed", *CORRECTIONS, "Pinocchio"),
        rows,
    )


# rocker arm ---------------------------------------------------------------------------------------------


def _zeros(robot: Robot) -> Claim:
    """Zeros of the branched structure alone: the links get full inertias and mass centres off their axes."""
    inertia = '<inertia ixx="0.05" ixy="0.003" ixz="0.002" iyy="0.06" iyz="0.001" izz="0.04"/>'
    text = ug.model_path("rocker_arm").read_text(encoding="utf-8")
    text = re.sub(r'(<inertial>\s*<origin xyz=)"[^"]*"(/>\s*<mass [^>]*>\s*)<inertia [^>]*>', rf'\1"0.03 0.02 -0.04"\2{inertia}', text)
    q = robot.random(0, 16)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]

    def zeros(M: Array) -> tuple[str, ...]:
        most = np.abs(M).max(axis=0)
        return tuple(f"M{i + 1}{j + 1}" for i, j in pairs if most[i, j] < ROUND_OFF * most.max())

    ours, theirs = zeros(ug.mass_matrix(ug.load(text), q, method="explicit")), zeros(pinocchio_matrices(text, q))
    also = [name for name in zeros(ug.mass_matrix(robot, q, method="explicit")) if name not in ours]
    return Claim(
        "wj.zeros",
        "Sect. 7.2",
        "Elements of the rocker arm's upper triangle that are zero because of the branched structure.",
        tuple(Figure(name) for name in BRANCHES_APART),
        f"{', '.join(ours)}; Pinocchio {', '.join(theirs)}",
        lambda *texts: agreement(texts == ours == theirs),
        "none" if ours == theirs == BRANCHES_APART else "other elements",
        note=f"Measured with other inertias: with those of Table 3 {', '.join(also)} vanish as well, since links 3 and 5 have "
        "no inertia about the axes that they turn about.",
    )


def _cut_short(robot: Robot) -> Claim:
    """M44 with the body that the sum names, as printed, and with the whole subtree from it on, on which Pinocchio decides."""
    q = robot.random(2)
    model = model_of(robot)
    pose = explicit.poses(model, q.tolist())
    reference = float(pinocchio_matrices(ug.model_path("rocker_arm"), q[None])[0, 3, 3])

    def judge(text: str) -> Agreement:
        if number(text) not in range(1, 6):
            return Agreement.NONE
        body = int(text) - 1
        sums = (_element(model, pose, 3, 3, bodies) for bodies in ((body,), model.subtree[body]))
        return agreement(*(abs(one - reference) < ROUND_OFF for one in sums))

    alone, whole = (_element(model, pose, 3, 3, bodies) for bodies in ((3,), model.subtree[3]))
    return Claim(
        "wj.m44",
        "Sect. 7.2",
        "M44 of the rocker arm is n₄ᵀ(I₄ - m₄ r̃²)n₄: the sum has one body.",
        (Figure("4", "is the body"),),
        f"body 4 alone {alone:.6f} kg m², bodies 4 and 5 {whole:.6f}, Pinocchio {reference:.6f}",
        judge,
        f"{alone - reference:+.2g} kg m²",
        correction="By Eq. 32 the sum is over the subtree of joint 4, and body 5 belongs to it.",
    )


def _motion(robot: Robot) -> tuple[Array, Array, dict[str, Array]]:
    """t, M21, and its differences from what it is compared with, with all joint angles 5 sin t."""
    t = np.arange(0.0, 10.0 + 5e-3, 0.01)
    q = np.repeat(5.0 * np.sin(t)[:, None], 5, axis=1)
    ours = ug.mass_matrix(robot, q, method="explicit")[:, 1, 0]
    reference = pinocchio_matrices(ug.model_path("rocker_arm"), q)[:, 1, 0]
    momentum = ug.mass_matrix(robot, q, method="generalised_momentum")[:, 1, 0]
    return t, ours, {"from generalised momentum": ours - momentum, "from Pinocchio": ours - reference}


def _fig_6(M21: Array, errors: dict[str, Array]) -> Claim:
    """The level of the errors: the power of ten nearest to the largest, 1.5e-18, so that another order of sums has a factor of two."""
    largest = {name: float(np.abs(error).max()) for name, error in errors.items()}
    momentum, pinocchio = largest.values()
    unit = float(np.finfo(float).eps * np.abs(M21).max())

    def judge(text: str) -> Agreement:
        level = number(text)
        return agreement(level > 0.0 and round(log10(level)) == round(log10(momentum)) and pinocchio < 100.0 * unit)

    return Claim(
        "wj.fig6",
        "Fig. 6",
        "M21 over 10 s with joint angles 5 sin t: as by RBDL, and from the generalised momentum errors are of the level of 1e-18.",
        (Figure("1e-18", "kg m²"),),
        f"|M21| up to {np.abs(M21).max():.4g} kg m²; largest differences "
        + ", ".join(f"{one:.1e} {name}" for name, one in largest.items()),
        judge,
        f"{momentum:.1e}",
        note=f"The level is read as the power of ten nearest to the largest difference; ε|M21| is {unit:.0e} kg m². "
        "Angles are in radians; Pinocchio stands for RBDL.",
    )
