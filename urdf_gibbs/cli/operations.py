"""``urdf-gibbs operations``: how many operations each formulation needs for a robot, after the same folding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import Files, Json, PackageDirs, XacroArgs, checked_base, err, load_quietly, out, resolve, write_json
from urdf_gibbs.counts.derivatives import swept_inverse_dynamics
from urdf_gibbs.counts.folded import counted, folded
from urdf_gibbs.counts.formulations import FLEXIBLE_LABELS, LABELS, RULES, answers, flexible_labels
from urdf_gibbs.counts.literal import literal
from urdf_gibbs.counts.printed import table_2
from urdf_gibbs.counts.scalars import Traced, as_written, triangle
from urdf_gibbs.dynamics import crba, rnea
from urdf_gibbs.dynamics.local_frames import local_model
from urdf_gibbs.dynamics.registry import REFERENCES
from urdf_gibbs.engine.derivative_quantities import STRAIGHT_INVERSE
from urdf_gibbs.engine.graph import TooLarge
from urdf_gibbs.engine.quantities import Options, trace
from urdf_gibbs.errors import UrdfError
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

Counts = Callable[[], dict[str, int]]

OURS = "ours"
VALUES = {"mass_matrix": "M", "bias": "bias", "forward_dynamics": "forward"}  # as JSON and as the table name them
DERIVATIVES = "inverse_dynamics_derivatives"
QUANTITIES = {**VALUES, DERIVATIVES: "d inverse"}
EQUATIONS = "equations"  # M and bias: what S17 counts
KEYS = ("multiplications", "additions", "divisions", "total", "sines", "cosines")
NODES = 1_000_000  # of a traced formulation: more take too long to fold, and it is not counted
LEGEND = (
    "M: its lower triangle; forward: forward dynamics; ratio: to ours. Mimic joints are free joints here.\n"
    "d inverse: the derivatives of inverse dynamics by q, v and a, all entries; graph: by differentiating the graph of inverse dynamics,\n"
    "in nv sweeps from the inputs for each of q, v and a, or in nv sweeps from the forces.\n"
    "Every formulation is traced and folded alike: constants, zeros, ones, repeated and cancelled terms; signs are free.\n"
    "S18, WJ: the papers' equations as printed, with the terms that they leave out; LTDL: M = Lᵀ D L with the zeros between branches.\n"
    "Lagrangian 4x4 and GA 3x3 are what S18 compares its equations with, momentum and pseudo-inertia what WJ does."
)
LITERAL_LEGEND = "Literal: every product of matrices that a formulation names counts in full, whatever zeros it has, by its paper's rule."
FLEXIBLE_LEGEND = (
    "Elastic links: 3x3 and 4x4 are S17's equations with rotations and those with transformations, collected inwards; ours: 3x3, folded.\n"
    "3x3 as printed: S17's own steps, each sum of its appendix taken in full.\n"
    "As written: every operation that is carried out, where only constants, zeros and ones are free.\n"
    "Table 2: what S17 prints for as many links and modes, in the plane on a base that slides two ways."
)


def count_operations(
    files: Files,
    base: Annotated[list[str] | None, typer.Option(help="fixed, floating or planar; may be repeated. Default: fixed.")] = None,
    literally: Annotated[bool, typer.Option("--literal", help="Count M and bias also as the papers count: all products in full.")] = False,
    json: Json = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Count multiplications, additions and divisions of ours, CRBA, RNEA and the papers' formulations, and of derivatives.

    Exit code 0, or 2 where a file cannot be loaded or a robot is too large to count.
    """
    bases = [checked_base(name) for name in base or ["fixed"]]
    results: list[dict[str, Any]] = []
    code = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=None)
        for file, one_base in ((file, one_base) for file in files for one_base in bases):
            try:
                robot = load_quietly(resolve(file), one_base, mimic=False)
            except UrdfError as problem:
                err.print(str(problem), style="red", markup=False)
                code = 2
                continue
            named = list(flexible_formulations(robot) if robot.is_flexible else formulations(robot))
            named += literal_counts(robot) if literally else []
            named.sort(key=lambda entry: list(QUANTITIES).index(entry[0]))
            progress.reset(task, total=len(named))
            counts: list[dict[str, Any]] = []
            try:
                for quantity, formulation, count in named:
                    progress.update(task, description=f"{file} ({one_base}): {quantity}, {formulation}")
                    counts.append({"quantity": quantity, "formulation": formulation, **_counted_or_not(quantity, formulation, count)})
                    progress.advance(task)
            except TooLarge:
                err.print(f"{file} ({one_base}): nv {robot.nv}, too large for code without loops, which is what is counted", markup=False)
                code = 2
                continue
            if robot.is_flexible:
                counts += equations(robot, counts)
            results.append({"file": file, "base": one_base, "nq": robot.nq, "nv": robot.nv, "operations": counts})
            if json != "-":
                out.print(_table(results[-1]))
    if json:
        write_json(json, results)
    if json != "-" and results:
        out.print(LEGEND, style="dim", markup=False)
        if literally:
            out.print(LITERAL_LEGEND, style="dim", markup=False)
        if any(EQUATIONS in (row["quantity"] for row in result["operations"]) for result in results):
            out.print(FLEXIBLE_LEGEND, style="dim", markup=False)
    raise typer.Exit(code)


def _counted_or_not(quantity: str, formulation: str, count: Counts) -> dict[str, Any]:
    """The counts, or where a formulation grows too large nothing and the reason; our values must be counted."""
    try:
        return dict(count())
    except TooLarge:
        if formulation == OURS and quantity in VALUES:
            raise
        most = f"{STRAIGHT_INVERSE} operations" if formulation == OURS else f"{NODES} operations before folding"
        return {**dict.fromkeys(KEYS), "not_counted": f"more than {most}"}


def formulations(robot: Robot) -> Iterator[tuple[str, str, Counts]]:
    """(quantity, formulation, what counts it) for all that is compared, ours first."""
    local, gravity = local_model(robot), list(EARTH_GRAVITY)
    peers: dict[str, dict[str, Traced]] = {
        "mass_matrix": {"CRBA": lambda q, v, tau: triangle(crba.mass_matrix(local, q))},
        "bias": {"RNEA": lambda q, v, tau: rnea.bias(local, q, v, gravity)},
        "forward_dynamics": {"CRBA+RNEA+LTDL": lambda q, v, tau: crba.forward_dynamics(local, q, v, tau, gravity)},
    }
    for name, label in LABELS.items():
        for quantity, function in answers(REFERENCES[name], robot).items():
            if quantity in VALUES:
                peers[quantity][_named(label, quantity)] = function
    for quantity in VALUES:
        yield quantity, OURS, _ours(robot, quantity)
        for label, function in peers[quantity].items():
            yield quantity, label, lambda function=function: folded(robot, function, NODES)  # type: ignore[misc]
    yield DERIVATIVES, OURS, _ours(robot, DERIVATIVES)
    swept = cache(lambda: swept_inverse_dynamics(robot, limit=NODES))
    yield DERIVATIVES, "graph, from the inputs", lambda: swept().forward
    yield DERIVATIVES, "graph, from the forces", lambda: swept().reverse


def flexible_formulations(robot: Robot) -> Iterator[tuple[str, str, Counts]]:
    """The same for robots with elastic links, folded and as written."""
    for quantity in VALUES:
        yield quantity, OURS, _ours(robot, quantity)
        for name, label in flexible_labels(robot).items():
            function = answers(REFERENCES[name], robot)[quantity]
            if label != "3x3":  # folded, that one is ours
                yield quantity, _named(label, quantity), lambda function=function: folded(robot, function, NODES)  # type: ignore[misc]
            if quantity != "forward_dynamics":
                yield quantity, f"{label}, as written", lambda function=function: as_written(robot, function)  # type: ignore[misc]


def literal_counts(robot: Robot) -> Iterator[tuple[str, str, Counts]]:
    """M and bias of the papers' formulations, counted literally."""
    for name, label in (flexible_labels(robot) if robot.is_flexible else LABELS).items():
        for quantity in ("mass_matrix", "bias"):
            yield (
                quantity,
                f"{label}, literal",
                lambda name=name, quantity=quantity: literal(robot, REFERENCES[name], quantity, RULES[name]).counts(),  # type: ignore[misc]
            )


def _ours(robot: Robot, quantity: str) -> Counts:
    question = "mass_matrix_packed" if quantity == "mass_matrix" else quantity
    return lambda: counted(trace(robot, question, Options(EARTH_GRAVITY)).outputs)


def _named(label: str, quantity: str) -> str:
    return f"{label}+LTDL" if quantity == "forward_dynamics" else label


def equations(robot: Robot, counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """M and bias together, and beside them S17's Table 2 where the robot has as many coordinates as its robots."""
    names = [row["formulation"] for row in counts if row["quantity"] == "bias"]
    rows = []
    for name in names:
        both = [one for one in counts if one["formulation"] == name and one["quantity"] in ("mass_matrix", "bias")]
        if all("not_counted" not in one for one in both):
            rows.append({"quantity": EQUATIONS, "formulation": name, **{key: sum(one[key] for one in both) for key in KEYS}})
    modes = [joint.beam.m for joint in robot.joints if joint.beam is not None]
    n, m = len(modes), modes[0]
    if set(modes) == {m} and robot.nv == n * (m + 1) + 2:
        for shape in FLEXIBLE_LABELS.values():
            sums, products = table_2(shape, n, m)
            printed = {"multiplications": products, "additions": sums, "divisions": 0, "total": sums + products, "sines": 0, "cosines": 0}
            rows.append({"quantity": EQUATIONS, "formulation": f"Table 2, {shape}", "links": n, "modes": m, **printed})
    return rows


def _table(result: dict[str, Any]) -> Table:
    title = f"operations for {escape(result['file'])} ({result['base']}), nq {result['nq']}, nv {result['nv']}"
    table = Table(title=title, title_justify="left")
    numbers = ("mul", "add", "div", "total", "sin", "cos", "ratio")
    for column in ("quantity", "formulation", *numbers):
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column(column, justify=justify, no_wrap=column != "formulation", overflow="fold")
    quantity, ours = "", 0
    for row in result["operations"]:
        first = row["quantity"] != quantity
        if first:
            quantity, ours = row["quantity"], row["total"]
            table.add_section()
        ratio = f"{row['total'] / ours:.2f}" if ours and row["total"] is not None else ""
        style = "bold" if first else None
        label = "M + bias" if quantity == EQUATIONS else QUANTITIES[quantity]
        table.add_row(label if first else "", row["formulation"], *_numbers(row), ratio, style=style)
    return table


def _numbers(row: dict[str, Any]) -> list[str]:
    return ["", "", "", "not counted", "", ""] if "not_counted" in row else [str(row[key]) for key in KEYS]
