"""Wang & Ju (WJ): what elements on their own are good for. In parallel, and joint types and topology changed on the fly."""

from __future__ import annotations

import numpy as np

import urdf_gibbs as ug
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine.graph import Graph
from urdf_gibbs.engine.kernel import GRAVITY, REFERENCES
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.reproduce.claims import Claim, Grid, Progress, Section
from urdf_gibbs.reproduce.elements import BY_ELEMENTS, BY_STATES, ONE, Row, measure
from urdf_gibbs.reproduce.measure import ROUND_OFF, bounded
from urdf_gibbs.timing import interleaved

EXPLICIT = ("explicit", "generalised_momentum", "pseudo_inertia")
PRISMATIC = "prismatic"


def section(progress: Progress) -> Section:
    """Sect. 6: independent elements, and parameters that are substituted."""
    rows = measure(progress)
    progress("joint types changed on the fly")
    claims = [_alone(), *_parallel(rows), _change(), _topology(), _modelling()]
    return Section("WJ: elements on their own", claims, grids=[_grid(rows)])


def _alone() -> Claim:
    """Each element of the rocker arm by itself, against the whole matrix of Pinocchio's."""
    path = ug.model_path("rocker_arm")
    robot = ug.load(path)
    q, zero = robot.random(3), np.zeros(5)
    reference = Oracle(path, "fixed", True, GRAVITY).answers(q, zero, zero, zero, {}).mass_matrix
    pairs = [(i, j) for i in range(5) for j in range(5)]
    found = np.array([ug.mass_matrix_elements(robot, q, [pair], method="explicit")[0] for pair in pairs]).reshape(5, 5)
    worst = float(np.abs(found - reference).max() / np.abs(reference).max())
    return Claim(
        "wj.alone",
        "Sect. 6",
        "Elements are independent of each other: any of them can be evaluated by itself.",
        "independent",
        f"25 elements of the rocker arm one by one, {bounded(worst)} from Pinocchio's",
        bounded(worst),
        worst < ROUND_OFF,
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
            "less time",
            "; ".join(f"{row.robot}: {row.ratios[BY_ELEMENTS]:.2g}×" for row in single),
            "speed of two threads over one",
            all(row.ratios[BY_ELEMENTS] > 1.0 for row in single),
            note=f"Here {_dealt(single)}: for one state threads do not pay. {_cores()}",
            timed=True,
        ),
        Claim(
            "wj.parallel.many",
            "Sect. 6",
            "Computing elements at the same time reduces the computation time: many states.",
            "less time",
            "; ".join(
                f"{row.robot}, {row.states}: {row.ratios[BY_ELEMENTS]:.2g}× (states dealt {row.ratios[BY_STATES]:.2g}×)" for row in large
            ),
            "speed of two threads over one",
            sum(row.ratios[BY_ELEMENTS] > 1.0 for row in large) * 2 > len(large),
            note="Dealing states to threads shares no work twice; dealing elements computes the kinematics in each thread.",
            timed=True,
        ),
    ]


def _dealt(single: list[Row]) -> str:
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
            "change": lambda: robot.with_joint_type(joint, PRISMATIC),
            "M": lambda: ug.mass_matrix(robot, q, method="explicit"),
            "load": lambda: ug.load(path),
        }
    )
    ms = {name: f"{1e3 * seconds:.2g} ms" for name, seconds in times.items()}
    return Claim(
        "wj.change",
        "Sect. 6",
        "Joint types can be changed in real time: the modelling is a substitution of parameters.",
        "in real time",
        f"a joint changed in {ms['change']}; M by its elements in plain Python takes {ms['M']}, loading the file {ms['load']}",
        f"{times['change'] / times['M']:.2g} times M",
        times["change"] < times["M"],
        note="Nothing is read, derived or compiled; 32 robots changed so agree with Pinocchio (wj.cases).",
        timed=True,
    )


def _topology() -> Claim:
    """A branch of the rocker arm taken off and hung on again."""
    robot = ug.load(ug.model_path("rocker_arm"))
    joint = robot.joints[3]
    rest, branch = robot.detach(joint.name)
    again = rest.attach(robot.joints[robot.parent[3]].child, branch, robot.placement[3], joint=joint.type, axis=joint.axis, name=joint.name)
    q = robot.random(4)
    worst = float(np.abs(ug.mass_matrix(again, q, method="explicit") - ug.mass_matrix(robot, q, method="gibbs_appell")).max())
    return Claim(
        "wj.topology",
        "Sect. 6",
        "Topologies can be changed in real time.",
        "in real time",
        f"a branch detached ({rest.nv} and {branch.nv - 6} joints left) and attached again: M {bounded(worst)} kg m² from before",
        bounded(worst),
        worst < ROUND_OFF and rest.nv == 3,
    )


def _modelling() -> Claim:
    """Table 2 lists steps; what they cost is the time from parameters to the expressions of M, traced without folding."""
    robot = ug.load(ug.model_path("rocker_arm"))
    model = model_of(robot)

    def derive(method: str) -> None:
        graph = Graph()
        REFERENCES[method].mass_matrix(model, [graph.input("q", i) for i in range(robot.nq)])

    times = interleaved({method: lambda method=method: derive(method) for method in EXPLICIT})  # type: ignore[misc]
    ours = ", ".join(f"{method} {1e3 * seconds:.2g} ms" for method, seconds in times.items())
    return Claim(
        "wj.table2",
        "Table 2",
        "With fewer modelling steps than generalised momentum and pseudo-inertia matrices, modelling is more efficient.",
        "parameters alone; no Jacobians, no pseudo-inertia, no recursion",
        f"from parameters to the expressions of M of the rocker arm: {ours}",
        ", ".join(f"{times[method] / times['explicit']:.1f}×" for method in EXPLICIT[1:]),
        all(times["explicit"] < times[method] for method in EXPLICIT[1:]),
        note="Fewer steps to write down, and more products: each element repeats the sum over its subtree that Jacobians share. "
        "What efficiency of modelling is the paper does not say; taken here is the time to derive M.",
        timed=True,
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
