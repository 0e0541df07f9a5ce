"""Wang & Ju (WJ): explicit elements of the inertia matrix, the planar 3R and the rocker arm."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.dynamics import explicit
from urdf_gibbs.dynamics.model import Model, model_of
from urdf_gibbs.dynamics.scalar import skew
from urdf_gibbs.engine.kernel import GRAVITY
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.reproduce.claims import Claim, Grid, Progress, Section
from urdf_gibbs.reproduce.measure import ROUND_OFF, bias_without, bounded
from urdf_gibbs.reproduce.pictures import of_lines
from urdf_gibbs.robot.model import Robot

Array = NDArray[np.float64]

BRANCHES_APART = ("M24", "M25", "M34", "M35")  # of the rocker arm


def matrix(progress: Progress) -> Section:
    """Eqs. 30 to 37 and 13 to 14, and Sect. 7."""
    section = Section("WJ: explicit elements of the inertia matrix")
    progress("all joint types of the rocker arm")
    section.claims += [*_cases(), _bias()]
    progress("planar 3R")
    section.claims.append(_planar_3r())
    progress("rocker arm")
    robot = ug.load(ug.model_path("rocker_arm"))
    t, M21, errors = _motion(robot)
    section.claims += [_zeros(robot), _cut_short(robot), _fig_6(M21, errors), _rover()]
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
    section.grids.append(_printed_3r())
    return section


# formulas -----------------------------------------------------------------------------------------------


def _cases() -> list[Claim]:
    """The rocker arm with each of its five joints revolute or prismatic: 32 robots, in which all eight cases occur."""
    text = ug.model_path("rocker_arm").read_text(encoding="utf-8")
    robot = ug.load(ug.model_path("rocker_arm"))
    q = robot.random(0)
    matrices, formulas, mirrored, seen = 0.0, 0.0, 0.0, set()
    for kinds in product(("revolute", "prismatic"), repeat=5):
        changed, edited = robot, text
        for joint, kind in zip(robot.joints, kinds, strict=True):
            changed = changed.with_joint_type(joint.name, kind)
            edited = re.sub(rf'(<joint name="{joint.name}" type=)"\w+"', rf'\1"{kind}"', edited)
        reference = Oracle(edited, "fixed", True, GRAVITY).answers(q, np.zeros(5), np.zeros(5), np.zeros(5), {}).mass_matrix
        most = np.abs(reference).max()
        matrices = max(matrices, float(np.abs(ug.mass_matrix(changed, q, method="explicit") - reference).max() / most))
        model = model_of(changed)
        pose = explicit.poses(model, q.tolist())
        for u, k in product(range(5), repeat=2):
            if u != k and (u in model.subtree[k] or k in model.subtree[u]):
                found = _element(model, pose, u, k)
                formulas = max(formulas, abs(found - reference[u, k]) / most)
                mirrored = max(mirrored, abs(found - _element(model, pose, k, u)) / most)
                seen.add((kinds[u], kinds[k], u in model.subtree[k]))
    worst = max(matrices, formulas)
    return [
        Claim(
            "wj.cases",
            "Eqs. 30-37",
            "Eight cases, by joint types and by which joint is nearer to the base, give every element of M.",
            "8 cases",
            f"{len(seen)} cases in 32 robots: each formula {bounded(formulas)}, M {bounded(matrices)} from Pinocchio's",
            bounded(worst),
            worst < ROUND_OFF and len(seen) == 8,
            correction='The label of case 3 is misprinted: both joints are revolute there ("R, R").',
        ),
        Claim(
            "wj.symmetry",
            "Sect. 5",
            "M is symmetric: the formulas of (u, k) and of (k, u) give the same.",
            "proved",
            f"in all eight cases {bounded(mirrored)} from each other, relative to the largest entry",
            bounded(mirrored),
            mirrored < ROUND_OFF and len(seen) == 8,
        ),
    ]


def _element(model: Model, pose: list[explicit.Pose], u: int, k: int) -> float:
    """M[u][k] by its case, in NumPy and apart from our own source, which uses the symmetry; simple joints."""
    kinds = model.bodies[u].columns[0].kind + model.bodies[k].columns[0].kind
    total = np.zeros((3, 3))
    for l in model.subtree[u if u in model.subtree[k] else k]:  # noqa: E741 - the paper's name
        mass, r_u, r_k = model.bodies[l].mass, _lever(pose[l], pose[u]), _lever(pose[l], pose[k])
        terms = {"RR": np.array(pose[l].I) - mass * r_u @ r_k, "RP": mass * r_u, "PR": -mass * r_k, "PP": mass * np.eye(3)}
        total += terms[kinds]
    return float(np.array(pose[u].n[0]) @ total @ np.array(pose[k].n[0]))


def _bias() -> Claim:
    printed, complete = bias_without("angular_velocity_product", explicit, "explicit")
    return Claim(
        "wj.bias",
        "Eqs. 13, 14",
        "h holds the centripetal and Coriolis terms, the gyroscopic term and gravity.",
        "Eqs. 13 and 14",
        f"bias off by {printed:.2g} as printed, {bounded(complete)} with the velocity products",
        f"{printed:.2g}",
        complete < ROUND_OFF < printed,
        correction="The products ω × (n φ̇) of Eqs. 11 and 12 belong to h; Eqs. 15 to 19 drop them.",
        note="Measured on the rocker arm, relative to the largest entry.",
    )


def _lever(body: explicit.Pose, joint: explicit.Pose) -> Array:
    """r̃ (3, 3) from the joint's origin to the body's mass centre."""
    return np.array(skew([c - o for c, o in zip(body.centre, joint.origin, strict=True)]))


# planar 3R ----------------------------------------------------------------------------------------------


def _planar_3r() -> Claim:
    from urdf_gibbs.equations.readable import equations

    robot = ug.load(ug.model_path("planar3r"))
    M = equations(robot, ("mass_matrix",)).expressions["mass_matrix"]
    same = [str((M[i, j] - _textbook(M)[i, j]).expand()) == "0" for i in range(3) for j in range(3)]
    defined, between = (
        ", ".join(name for name, found in _entries_3r().items() if abs(found[reading] - found[2]) > 1e-9) for reading in (0, 1)
    )
    return Claim(
        "wj.3r",
        "Sect. 7.1",
        "Substituting the parameters of the planar 3R gives its inertia matrix in closed form.",
        "9 entries",
        f"{sum(same)} of 9 entries equal the textbook's, symbol by symbol",
        f"{9 - sum(same)} entries",
        all(same),
        correction=f"As printed, with C₁ = cos φ₁ and C₁₂ = cos(φ₁ + φ₂), {defined} of the upper triangle differ. With the angles between "
        f"the links instead {between} still do: they have distances to mass centres in place of lengths, and a factor 2 is lost.",
    )


def _textbook(like: Any) -> Any:
    """M of three links in the plane, from any textbook on robot dynamics."""
    import sympy as sp

    m1, m2, m3, l1, l2, lc1, lc2, lc3, I1, I2, I3, q2, q3 = sp.symbols("m1 m2 m3 l1 l2 lc1 lc2 lc3 I1 I2 I3 q2 q3", real=True)
    known = {str(symbol): symbol for symbol in like.free_symbols}
    c2, c3, c23 = sp.cos(q2), sp.cos(q3), sp.cos(q2 + q3)
    M33 = I3 + m3 * lc3**2
    M23 = M33 + m3 * l2 * lc3 * c3
    M13 = M23 + m3 * l1 * lc3 * c23
    M22 = I2 + I3 + m2 * lc2**2 + m3 * (l2**2 + lc3**2 + 2 * l2 * lc3 * c3)
    M12 = M22 + m2 * l1 * lc2 * c2 + m3 * l1 * (l2 * c2 + lc3 * c23)
    M11 = (
        I1 + I2 + I3 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2)
        + m3 * (l1**2 + l2**2 + lc3**2 + 2 * l1 * l2 * c2 + 2 * l1 * lc3 * c23 + 2 * l2 * lc3 * c3)
    )  # fmt: skip
    M = sp.Matrix([[M11, M12, M13], [M12, M22, M23], [M13, M23, M33]])
    return M.subs({symbol: known[str(symbol)] for symbol in M.free_symbols if str(symbol) in known})


def _entries_3r() -> dict[str, tuple[float, float, float]]:
    """Each entry of the upper triangle at one q: as printed with C_k = cos φ_k and C_12 = cos(φ_1 + φ_2), as the paper defines them; as
    printed with the angles between the links, φ_2 for φ_1 and φ_3 for φ_2, as its lower triangle suggests; and as it is."""
    robot = ug.load(ug.model_path("planar3r"))
    q = np.array([0.3, 0.8, -0.5])
    M = ug.mass_matrix(robot, q, method="explicit")
    m1, m2, m3 = robot.mass
    c1, c2, c3 = robot.com[:, 0]
    I1, I2, I3 = robot.inertia[:, 2, 2]
    l1, l2 = robot.placement[1:, 0, 3]

    def printed(first: float, second: float) -> dict[str, float]:
        C1, C2, C12 = np.cos(first), np.cos(second), np.cos(first + second)
        return {
            "M11": I1 + I2 + I3 + m1 * c1**2 + m2 * (c1**2 + l1 * c2 * C1 + c2**2)
            + m3 * (c1**2 + c2**2 + c3**2 + 2 * l1 * c2 * C1 + 2 * l1 * c3 * C12 + 2 * l2 * c3 * C2),
            "M12": I2 + I3 + m2 * (c2**2 + l1 * c2 * C1) + m3 * (c2**2 + c3**2 + l1 * c2 * C1 + l1 * c3 * C12 + 2 * l2 * c3 * C2),
            "M13": I3 + m3 * (c3**2 + l1 * c3 * C12 + l2 * c3 * C2),
            "M22": I2 + I3 + m2 * c2**2 + m3 * (c2**2 + c3**2 + 2 * l2 * c3 * C2),
            "M23": I3 + m3 * (c3**2 + l2 * c3 * C2),
            "M33": I3 + m3 * c3**2,
        }  # fmt: skip

    defined, between = printed(q[0], q[1]), printed(q[1], q[2])
    return {name: (float(defined[name]), float(between[name]), float(M[int(name[1]) - 1, int(name[2]) - 1])) for name in defined}


def _printed_3r() -> Grid:
    rows = [(name, *(f"{value:.6f}" for value in found)) for name, found in _entries_3r().items()]
    return Grid(
        "Planar 3R at φ = (0.3, 0.8, -0.5): the upper triangle of Sect. 7.1 in two readings, and as it is [kg m²]",
        ("", "printed, C₁ = cos φ₁", "printed, C₁ = cos φ₂", "ours"),
        rows,
    )


# rocker arm ---------------------------------------------------------------------------------------------


def _zeros(robot: Robot) -> Claim:
    M = np.abs(ug.mass_matrix(robot, robot.random(0, 16), method="explicit")).max(axis=0)
    zeros = tuple(f"M{i + 1}{j + 1}" for i in range(5) for j in range(i + 1, 5) if M[i, j] == 0.0)
    return Claim(
        "wj.zeros",
        "Sect. 7.2",
        "Elements between the two branches of the rocker arm are zero.",
        ", ".join(BRANCHES_APART),
        ", ".join(zeros),
        "none" if zeros == BRANCHES_APART else "other elements",
        zeros == BRANCHES_APART,
    )


def _cut_short(robot: Robot) -> Claim:
    """M44 with body 4 alone, as printed, and with the whole subtree of joint 4, on which Pinocchio decides."""
    q = robot.random(2)
    model = model_of(robot)
    pose = explicit.poses(model, q.tolist())
    axis, body = np.array(pose[3].n[0]), pose[3]
    lever = _lever(body, body)
    printed = float(axis @ (np.array(body.I) - model.bodies[3].mass * lever @ lever) @ axis)
    ours = float(ug.mass_matrix(robot, q, method="explicit")[3, 3])
    oracle = Oracle(ug.model_path("rocker_arm"), "fixed", True, GRAVITY)
    reference = float(oracle.answers(q, np.zeros(5), np.zeros(5), np.zeros(5), {}).mass_matrix[3, 3])
    return Claim(
        "wj.m44",
        "Sect. 7.2",
        "M44 of the rocker arm is n₄ᵀ(I₄ - m₄ r̃²)n₄.",
        f"which is {printed:.6f} kg m²",
        f"{ours:.6f} kg m², Pinocchio {reference:.6f}",
        f"{printed - ours:+.2g} kg m²",
        abs(ours - reference) < ROUND_OFF < abs(printed - reference),
        correction="The sum over the subtree is cut short: body 5 belongs to it.",
    )


def _motion(robot: Robot) -> tuple[Array, Array, dict[str, Array]]:
    """t, M21, and its differences from what it is compared with, with all joint angles 5 sin t."""
    t = np.arange(0.0, 10.0 + 5e-3, 0.01)
    q = np.repeat(5.0 * np.sin(t)[:, None], 5, axis=1)
    ours = ug.mass_matrix(robot, q, method="explicit")[:, 1, 0]
    oracle = Oracle(ug.model_path("rocker_arm"), "fixed", True, GRAVITY)
    zero = np.zeros(5)
    reference = np.array([oracle.answers(one, zero, zero, zero, {}).mass_matrix[1, 0] for one in q])
    momentum = ug.mass_matrix(robot, q, method="generalised_momentum")[:, 1, 0]
    return t, ours, {"from generalised momentum": ours - momentum, "from Pinocchio": ours - reference}


def _fig_6(M21: Array, errors: dict[str, Array]) -> Claim:
    worst = max(float(np.abs(error).max()) for error in errors.values())
    return Claim(
        "wj.fig6",
        "Fig. 6",
        "M21 over 10 s with joint angles 5 sin t: as by RBDL, and from the generalised momentum errors are of the level of 1e-18.",
        "1e-18 kg m²",
        f"|M21| up to {np.abs(M21).max():.4g} kg m²; "
        + ", ".join(f"{bounded(float(np.abs(error).max()))} {name}" for name, error in errors.items()),
        bounded(worst),
        worst < 4.0 * np.finfo(float).eps * np.abs(M21).max() * 10.0,
        note=f"Round-off of M21 is {np.finfo(float).eps * np.abs(M21).max():.0e} kg m². Angles are in radians; Pinocchio stands for RBDL.",
    )


def _rover() -> Claim:
    return Claim(
        "wj.rover",
        "Figs. 7-9",
        "The matrix of the whole rover serves its traction control on rough ground.",
        "angles and torques of three joints",
        "-",
        missing="Geometry, masses, controller and terrain of the rover are not given.",
    )
