"""``urdf-gibbs operations``: how many operations each formulation needs for a robot, after the same folding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import Files, Json, checked_base, err, load_quietly, out, resolve, write_json
from urdf_gibbs.dynamics import crba, explicit, gibbs_appell, rnea
from urdf_gibbs.dynamics.local_forward import solved
from urdf_gibbs.dynamics.local_frames import local_model
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import Vector, vsub
from urdf_gibbs.engine.graph import Graph, TooLarge, operations, simplified
from urdf_gibbs.engine.kernel import GRAVITY
from urdf_gibbs.engine.questions import Options, trace
from urdf_gibbs.errors import UrdfError
from urdf_gibbs.robot.model import Robot

Traced = Callable[[Vector, Vector, Vector], list[Any]]  # q, v, tau -> outputs

OURS = "ours"
QUANTITIES = {"mass_matrix": "M", "bias": "bias", "forward_dynamics": "forward"}  # as JSON and as the table name them
LEGEND = (
    "M: its lower triangle; forward: forward dynamics; ratio: to ours. Mimic joints are free joints here.\n"
    "Every formulation is traced and folded alike: constants, zeros, ones, repeated and cancelled terms; signs are free.\n"
    "S18, WJ: the papers' equations as printed, with the terms that they leave out; LTDL: M = Lᵀ D L with the zeros between branches."
)


def count_operations(
    files: Files,
    base: Annotated[list[str] | None, typer.Option(help="fixed, floating or planar; may be repeated. Default: fixed.")] = None,
    json: Json = None,
) -> None:
    """Count multiplications, additions and divisions of ours, CRBA, RNEA and the papers' formulations.

    Exit code 0, or 2 where a file cannot be loaded or a robot is too large to count.
    """
    bases = [checked_base(name) for name in base or ["fixed"]]
    results: list[dict[str, Any]] = []
    code = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=len(files) * len(bases) * len(QUANTITIES) * 4)
        for file, one_base in ((file, one_base) for file in files for one_base in bases):
            try:
                robot = load_quietly(resolve(file), one_base, mimic=False)
            except UrdfError as problem:
                err.print(str(problem), style="red", markup=False)
                code = 2
                continue
            counts = []
            try:
                for quantity, formulation, outputs in formulations(robot):
                    progress.update(task, description=f"{file} ({one_base}): {quantity}, {formulation}")
                    counts.append({"quantity": quantity, "formulation": formulation, **_counted(outputs())})
                    progress.advance(task)
            except TooLarge:
                err.print(f"{file} ({one_base}): nv {robot.nv}, too large for code without loops, which is what is counted", markup=False)
                code = 2
                continue
            results.append({"file": file, "base": one_base, "nq": robot.nq, "nv": robot.nv, "operations": counts})
            if json != "-":
                out.print(_table(results[-1]))
    if json:
        write_json(json, results)
    if json != "-" and results:
        out.print(LEGEND, style="dim", markup=False)
    raise typer.Exit(code)


def formulations(robot: Robot) -> Iterator[tuple[str, str, Callable[[], list[Any]]]]:
    """(quantity, formulation, what traces it) for all that is compared."""
    model, local, gravity = model_of(robot), local_model(robot), list(GRAVITY)

    def papers(paper: Any) -> dict[str, Traced]:
        return {
            "M": lambda q, v, tau: _triangle(paper.mass_matrix(model, q)),
            "h": lambda q, v, tau: paper.bias(model, q, v, gravity),
            "a": lambda q, v, tau: solved(paper.mass_matrix(model, q), vsub(tau, paper.bias(model, q, v, gravity)))[0],
        }

    S18, WJ = papers(gibbs_appell), papers(explicit)
    peers: dict[str, dict[str, Traced]] = {
        "mass_matrix": {"CRBA": lambda q, v, tau: _triangle(crba.mass_matrix(local, q)), "S18": S18["M"], "WJ": WJ["M"]},
        "bias": {"RNEA": lambda q, v, tau: rnea.bias(local, q, v, gravity), "S18": S18["h"], "WJ": WJ["h"]},
        "forward_dynamics": {
            "CRBA+RNEA+LTDL": lambda q, v, tau: crba.forward_dynamics(local, q, v, tau, gravity),
            "S18+LTDL": S18["a"],
            "WJ+LTDL": WJ["a"],
        },
    }
    for quantity in QUANTITIES:
        question = "mass_matrix_packed" if quantity == "mass_matrix" else quantity
        yield quantity, OURS, lambda question=question: trace(robot, question, Options(GRAVITY)).outputs  # type: ignore[misc]
        for formulation, function in peers[quantity].items():
            yield quantity, formulation, lambda function=function: _folded(robot, function)  # type: ignore[misc]


def _folded(robot: Robot, function: Traced) -> list[Any]:
    graph = Graph()
    q, v, tau = ([graph.input(letter, i) for i in range(n)] for letter, n in (("q", robot.nq), ("v", robot.nv), ("tau", robot.nv)))
    return simplified(function(q, v, tau), Graph())


def _triangle(M: list[Vector]) -> list[Any]:
    return [M[i][j] for i in range(len(M)) for j in range(i + 1)]


def _counted(outputs: list[Any]) -> dict[str, int]:
    counts = operations(outputs)
    additions = counts["add"] + counts["sub"]
    return {
        "multiplications": counts["mul"],
        "additions": additions,
        "divisions": counts["div"],
        "total": counts["mul"] + additions + counts["div"],
        "sines": counts["sin"],
        "cosines": counts["cos"],
    }


def _table(result: dict[str, Any]) -> Table:
    title = f"operations for {escape(result['file'])} ({result['base']}), nq {result['nq']}, nv {result['nv']}"
    table = Table(title=title, title_justify="left")
    numbers = ("mul", "add", "div", "total", "sin", "cos", "ratio")
    for column in ("quantity", "formulation", *numbers):
        table.add_column(column, justify="right" if column in numbers else "left", no_wrap=True)
    quantity, ours = "", 0
    for row in result["operations"]:
        first = row["quantity"] != quantity
        if first:
            quantity, ours = row["quantity"], row["total"]
            table.add_section()
        keys = ("multiplications", "additions", "divisions", "total", "sines", "cosines")
        ratio = f"{row['total'] / ours:.2f}" if ours else ""
        style = "bold" if first else None
        table.add_row(QUANTITIES[quantity] if first else "", row["formulation"], *(str(row[key]) for key in keys), ratio, style=style)
    return table
