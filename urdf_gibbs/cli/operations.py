"""``urdf-gibbs operations``: how many operations each formulation needs for a robot, after the same folding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import Files, Json, checked_base, err, load_quietly, out, resolve, write_json
from urdf_gibbs.dynamics import crba, explicit, gibbs_appell, gibbs_appell_flexible, rnea, transformations_flexible
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
EQUATIONS = "equations"  # M and bias: what S17 counts
SHAPES = {"3x3": gibbs_appell_flexible, "4x4": transformations_flexible}  # of the matrices, for elastic links
LEGEND = (
    "M: its lower triangle; forward: forward dynamics; ratio: to ours. Mimic joints are free joints here.\n"
    "Every formulation is traced and folded alike: constants, zeros, ones, repeated and cancelled terms; signs are free.\n"
    "S18, WJ: the papers' equations as printed, with the terms that they leave out; LTDL: M = Lᵀ D L with the zeros between branches."
)
FLEXIBLE_LEGEND = (
    "Elastic links: 3x3 and 4x4 are S17's recursion with rotations and that with transformations; ours is 3x3, folded.\n"
    "As written: every operation that is carried out, where only constants, zeros and ones are free.\n"
    "Table 2: what S17 prints for as many links and modes, in the plane on a base that slides two ways."
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
                for quantity, formulation, outputs in flexible_formulations(robot) if robot.is_flexible else formulations(robot):
                    progress.update(task, description=f"{file} ({one_base}): {quantity}, {formulation}")
                    found = outputs()
                    counts.append(
                        {"quantity": quantity, "formulation": formulation, **(_counted(found) if isinstance(found, list) else found)}
                    )
                    progress.advance(task)
                if robot.is_flexible:
                    counts += equations(robot, counts)
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
        if any(EQUATIONS in (row["quantity"] for row in result["operations"]) for result in results):
            out.print(FLEXIBLE_LEGEND, style="dim", markup=False)
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


# elastic links ------------------------------------------------------------------------------------------


class Counter:
    """A scalar that only counts: each operation carried out, but for those with a constant zero or one; signs are free."""

    __slots__ = ("counts",)

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts

    def _after(self, operation: str) -> Counter:
        self.counts[operation] += 1
        return self

    def __add__(self, other: Any) -> Counter:
        return self if type(other) is float and other == 0.0 else self._after("additions")

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if type(other) is float and abs(other) in (0.0, 1.0):
            return self if other else 0.0
        return self._after("multiplications")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counter:
        return self._after("divisions")

    __rtruediv__ = __truediv__

    def __neg__(self) -> Counter:
        return self

    def sin(self) -> Counter:
        return self._after("sines")

    def cos(self) -> Counter:
        return self._after("cosines")


def as_written(robot: Robot, function: Traced) -> dict[str, int]:
    """The operations that a formulation carries out, nothing folded but constants."""
    counts = dict.fromkeys(("multiplications", "additions", "divisions", "total", "sines", "cosines"), 0)
    one = Counter(counts)
    function([one] * robot.nq, [one] * robot.nv, [one] * robot.nv)
    counts["total"] = counts["multiplications"] + counts["additions"] + counts["divisions"]
    return counts


def flexible_formulations(robot: Robot) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """(quantity, formulation, what traces or counts it) for robots with elastic links."""
    model, gravity = model_of(robot), list(GRAVITY)
    for quantity in QUANTITIES:
        question = "mass_matrix_packed" if quantity == "mass_matrix" else quantity
        yield quantity, OURS, lambda question=question: trace(robot, question, Options(GRAVITY)).outputs  # type: ignore[misc]
        for shape, form in SHAPES.items():
            ways: dict[str, Traced] = {
                "mass_matrix": lambda q, v, tau, form=form: _triangle(form.mass_matrix(model, q)),  # type: ignore[misc]
                "bias": lambda q, v, tau, form=form: form.bias(model, q, v, gravity),  # type: ignore[misc]
                "forward_dynamics": lambda q, v, tau, form=form: (  # type: ignore[misc]
                    gibbs_appell_flexible.solved(form.mass_matrix(model, q), vsub(tau, form.bias(model, q, v, gravity)))[0]
                ),
            }
            way, name = ways[quantity], f"{shape}{'+LTDL' if quantity == 'forward_dynamics' else ''}"
            if shape != "3x3":  # folded, that one is ours
                yield quantity, name, lambda way=way: _folded(robot, way)  # type: ignore[misc]
            if quantity != "forward_dynamics":
                yield quantity, f"{name}, as written", lambda way=way: as_written(robot, way)  # type: ignore[misc]


def equations(robot: Robot, counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """M and bias together, and beside them S17's Table 2 where the robot has as many coordinates as its robots."""
    names = [row["formulation"] for row in counts if row["quantity"] == "bias"]
    rows = []
    for name in names:
        row: dict[str, Any] = {"quantity": EQUATIONS, "formulation": name}
        for key in ("multiplications", "additions", "divisions", "total", "sines", "cosines"):
            row[key] = sum(one[key] for one in counts if one["formulation"] == name and one["quantity"] in ("mass_matrix", "bias"))
        rows.append(row)
    modes = [joint.beam.m for joint in robot.joints if joint.beam is not None]
    n, m = len(modes), modes[0]
    if set(modes) == {m} and robot.nv == n * (m + 1) + 2:
        for shape in SHAPES:
            sums, products = table_2(shape, n, m)
            printed = {"multiplications": products, "additions": sums, "divisions": 0, "total": sums + products, "sines": 0, "cosines": 0}
            rows.append({"quantity": EQUATIONS, "formulation": f"Table 2, {shape}", "links": n, "modes": m, **printed})
    return rows


def table_2(shape: str, n: int, m: int) -> tuple[int, int]:
    """Sums and products that S17 prints for n elastic links with m modes each, "3x3" or "4x4"; products rounded up where they are half."""
    mn, mnn, mm, mmn, mmnn, nn = m * n, m * n * n, m * m, m * m * n, m * m * n * n, n * n
    if shape == "3x3":
        sums = -18 + 26 * n - 6 * m + 13 * mnn - 4 * mn + 11 * mmnn - 15 * mmn + 3 * mm + 5 * nn
        twice = -54 + 75 * n - 18 * m + 36 * mnn - 12 * mn + 33 * mmnn - 45 * mmn + 6 * mm + 9 * nn
    else:
        sums = -33 + 48 * n - 10 * m + 25 * mnn - 9 * mn + 20 * mmnn - 28 * mmn + 6 * mm + 4 * nn
        twice = -82 + 125 * n - 26 * m + 54 * mnn - 20 * mn + 55 * mmnn - 75 * mmn + 12 * mm + 15 * nn
    return sums, (twice + 1) // 2


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
        label = "M + bias" if quantity == EQUATIONS else QUANTITIES[quantity]
        table.add_row(label if first else "", row["formulation"], *(str(row[key]) for key in keys), ratio, style=style)
    return table
