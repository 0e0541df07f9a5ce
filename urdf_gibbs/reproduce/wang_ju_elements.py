"""Wang & Ju (WJ): uses of independent elements. In parallel, and with joint types and topology changed on the fly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.counts.robots import chain
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.reproduce.claims import MARGIN, Agreement, Claim, Figure, Gap, Grid, Progress, Section, agreement, faster
from urdf_gibbs.reproduce.elements import BY_ELEMENTS, BY_STATES, ONE, Row, measure
from urdf_gibbs.reproduce.measure import ROUND_OFF, bounded
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.timing import interleaved

Array = NDArray[np.float64]

INDEPENDENT = "independent"
LESS, MORE = "less time", "more time"
REAL_TIME, TOO_SLOW = "in real time", "not in real time"
JOINTS = 12  # of the chain whose topology is changed
MEASURE = f"Measured against M by its elements in plain Python; a ratio within a factor of {MARGIN} would decide nothing."


def section(progress: Progress) -> Section:
    """Sect. 6: independent elements, and parameters that are substituted."""
    rows = measure(progress)
    progress("joint types and topology changed on the fly")
    claims = [_alone(), *_parallel(rows), _change(), _topology()]
    return Section("WJ: elements on their own", claims, grids=[_grid(rows)], gaps=[_modelling()])


def _matrix(q: Array) -> Array:
    """Pinocchio's M of the rocker arm."""
    zero = np.zeros(5)
    return np.asarray(Oracle(ug.model_path("rocker_arm"), "fixed", True, EARTH_GRAVITY).answers(q, zero, zero, zero, {}).mass_matrix)


def _alone() -> Claim:
    """Each element of the rocker arm by itself, against the whole matrix of Pinocchio's."""
    robot = ug.load(ug.model_path("rocker_arm"))
    q = robot.random(3)
    reference = _matrix(q)
    pairs = [(i, j) for i in range(5) for j in range(5)]
    elements = np.array([ug.mass_matrix_elements(robot, q, [pair], method="explicit")[0] for pair in pairs]).reshape(5, 5)
    worst = float(np.abs(elements - reference).max() / np.abs(reference).max())
    return Claim(
        "wj.alone",
        "Sect. 6",
        "Elements are independent of each other: any of them can be evaluated by itself.",
        (Figure(INDEPENDENT),),
        f"25 elements of the rocker arm one by one, {bounded(worst)} from Pinocchio's",
        lambda text: agreement(text == INDEPENDENT and worst < ROUND_OFF),
        bounded(worst),
    )


def _parallel(rows: list[Row]) -> list[Claim]:
    compiled = [row for row in rows if row.method == "compiled"]
    single = [row for row in compiled if row.states == 1]
    large = [row for row in compiled if row.states == max(other.states for other in compiled if other.robot == row.robot)]
    return [
        Claim(
            "wj.parallel.one",
            "Sect. 6",
            "Computing elements at the same time reduces the computation time: one state.",
            (Figure(LESS),),
            "; ".join(f"{row.robot}: {row.ratios[BY_ELEMENTS]:.2g}×" for row in single),
            faster(LESS, [row.ratios[BY_ELEMENTS] for row in single], MORE),
            "speed of two threads over one",
            otherwise=(MORE,),
            note=f"Here {_single_states(single)}: for one state threads do not pay. {_cores()}",
            timed=True,
        ),
        Claim(
            "wj.parallel.many",
            "Sect. 6",
            "Computing elements at the same time reduces the computation time: many states.",
            (Figure(LESS),),
            "; ".join(
                f"{row.robot}, {row.states}: {row.ratios[BY_ELEMENTS]:.2g}× (by states {row.ratios[BY_STATES]:.2g}×)" for row in large
            ),
            faster(LESS, [row.ratios[BY_ELEMENTS] for row in large], MORE),
            "speed of two threads over one",
            otherwise=(MORE,),
            note=f"Two threads gain a factor of two at most, and one of {MARGIN} on all robots would decide. Dealing states to threads "
            "shares no work twice; dealing elements computes the kinematics in each thread.",
            timed=True,
        ),
    ]


def _single_states(single: list[Row]) -> str:
    one, two = ([1e6 * seconds for row in single if (seconds := row.seconds[name])] for name in (ONE, BY_ELEMENTS))
    return f"one thread takes {min(one):.1f} to {max(one):.0f} µs, dealing elements to two {min(two):.0f} to {max(two):.0f} µs"


def _cores() -> str:
    return f"Measured with {ug.get_threads()} threads at hand."


def _change() -> Claim:
    """One joint changed, beside the matrix that is then computed, and beside loading the file again."""
    path = ug.model_path("rocker_arm")
    robot = ug.load(path)
    q, joint = robot.random(0), robot.joints[2].name
    times = interleaved(
        {
            "change": lambda: robot.with_joint_type(joint, "prismatic"),
            "M": lambda: ug.mass_matrix(robot, q, method="explicit"),
            "load": lambda: ug.load(path),
        }
    )
    ms = {name: f"{1e3 * seconds:.2g} ms" for name, seconds in times.items()}
    return Claim(
        "wj.change",
        "Sect. 6",
        "Joint types can be changed in real time: the modelling is a substitution of parameters.",
        (Figure(REAL_TIME),),
        f"a joint changed in {ms['change']}; M takes {ms['M']}, loading the file {ms['load']}",
        faster(REAL_TIME, [times["M"] / times["change"]], TOO_SLOW),
        f"{times['change'] / times['M']:.2g} times M",
        otherwise=(TOO_SLOW,),
        note=f"{MEASURE} Nothing is read, derived or compiled; 32 robots changed so agree with Pinocchio (wj.cases).",
        timed=True,
    )


def _topology() -> Claim:
    """A branch taken off and hung on again: how long it takes, and that M of the rocker arm then is Pinocchio's of the arm as it was."""
    robot = ug.load(ug.model_path("rocker_arm"))
    q = robot.random(4)
    reference = _matrix(q)
    worst = float(np.abs(ug.mass_matrix(_rehung(robot), q, method="explicit") - reference).max() / np.abs(reference).max())
    longer = chain(JOINTS)
    state = longer.random(0)
    times = interleaved({"change": lambda: _rehung(longer), "M": lambda: ug.mass_matrix(longer, state, method="explicit")})
    in_time = faster(REAL_TIME, [times["M"] / times["change"]], TOO_SLOW)

    def judge(text: str) -> Agreement:
        return in_time(text) if worst < ROUND_OFF else Agreement.NONE

    return Claim(
        "wj.topology",
        "Sect. 6",
        "Topologies can be changed in real time.",
        (Figure(REAL_TIME),),
        f"of a chain of {JOINTS} joints {JOINTS - 3} detached and attached again in {1e3 * times['change']:.2g} ms, M takes "
        f"{1e3 * times['M']:.2g} ms; M of the rocker arm after it {bounded(worst)} from Pinocchio's",
        judge,
        f"{times['change'] / times['M']:.2g} times M",
        otherwise=(TOO_SLOW,),
        note=MEASURE,
        timed=True,
    )


def _rehung(robot: Robot) -> Robot:
    """A robot after its fourth joint and what hangs on it was detached and attached where it was."""
    joint = robot.joints[3]
    rest, branch = robot.detach(joint.name)
    kind: Any = joint.type
    return rest.attach(robot.joints[robot.parent[3]].child, branch, robot.placement[3], joint=kind, axis=joint.axis, name=joint.name)


def _modelling() -> Gap:
    """Table 2: what is written down differs, and an element's formula is the product of two columns of the Jacobians, written out."""
    return Gap(
        "wj.table2",
        "Table 2",
        "With fewer modelling steps than generalised momentum and pseudo-inertia matrices, modelling is more efficient.",
        "What efficiency of modelling is, and how it is measured: Table 2 lists which steps a method has.",
        "Operations: wj.table1 and wj.order1 to wj.order3.",
    )


def _grid(rows: list[Row]) -> Grid:
    cells = []
    for row in rows:
        ratios = ", ".join(f"{name} {ratio:.2g}×" for name, ratio in row.ratios.items())
        first = next(iter(row.seconds.values()))
        what = row.pays if row.method == "compiled" else ""
        cells.append((row.robot, row.method, str(row.elements), str(row.states), f"{1e6 * first:.3g}", ratios, what))
    heads = ("robot", "method", "elements", "states", "one thread [µs]", "speed against it", "what pays in parallel")
    return Grid("Elements of M alone and in parallel (timed)", heads, cells)
