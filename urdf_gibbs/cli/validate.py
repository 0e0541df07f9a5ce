"""``urdf-gibbs validate``: our formulations against Pinocchio, file by file."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import Files, Json, checked_base, err, load_quietly, out, resolve, write_json
from urdf_gibbs.engine.kernel import METHODS
from urdf_gibbs.errors import OracleMissingError, UnknownNameError, UrdfError
from urdf_gibbs.oracle import compare
from urdf_gibbs.oracle.pinocchio import import_pinocchio
from urdf_gibbs.robot.load import Base

AGREE, DISAGREE, CANNOT_LOAD = 0, 1, 2


def validate(
    files: Files,
    base: Annotated[list[str] | None, typer.Option(help="fixed, floating or planar; may be repeated. Default: fixed.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Random states for each file and base.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the random states.")] = 0,
    method: Annotated[list[str] | None, typer.Option(help="Formulations to compare; default: all.")] = None,
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = True,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Let Pinocchio read this file instead: has an edit changed the dynamics?")
    ] = None,
    json: Json = None,
) -> None:
    """Compare every formulation with Pinocchio at random states.

    Exit code 0: all agree within 1e-9; 1: something disagrees; 2: a file cannot be loaded (or Pinocchio is missing).
    """
    methods = tuple(method or METHODS)
    for name in methods:
        if name not in METHODS:
            raise typer.BadParameter(str(UnknownNameError("method", name, list(METHODS))), param_hint="--method")
    bases = [checked_base(name) for name in base or ["fixed"]]
    try:
        import_pinocchio()
    except OracleMissingError as problem:
        err.print(str(problem), style="red", markup=False)
        raise typer.Exit(CANNOT_LOAD) from None
    results: list[dict[str, Any]] = []
    code = AGREE
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=err, transient=True) as progress:
            task = progress.add_task("", total=len(files) * len(bases) * (len(methods) + 2))
            for file in files:
                for one_base in bases:
                    step = _Step(progress, task, f"{file} ({one_base})")
                    outcome, result = _one(
                        file, one_base, mimic, samples, seed, methods, against, step, detailed=len(files) * len(bases) == 1 and json != "-"
                    )
                    code = max(code, outcome)
                    results.append(result)
                    if json != "-":
                        out.print(
                            result.pop("line"), markup=False, style={AGREE: "green", DISAGREE: "bold red", CANNOT_LOAD: "red"}[outcome]
                        )
                        for text in result.pop("details"):
                            out.print(f"     {text}", markup=False)
                    progress.update(task, completed=len(results) * (len(methods) + 2))
    except KeyboardInterrupt:
        err.print(f"interrupted after {len(results)} of {len(files) * len(bases)}")
        code = 130
    finally:
        if json:
            write_json(json, results)
    raise typer.Exit(code)


class _Step:
    """Moves the bar on as the comparison reports its stages."""

    def __init__(self, progress: Progress, task: Any, name: str) -> None:
        self.progress, self.task, self.name, self.first = progress, task, name, True

    def __call__(self, stage: str) -> None:
        self.progress.update(self.task, description=f"{self.name}: {stage}", advance=0 if self.first else 1)
        self.first = False


def _one(
    file: str, base: Base, mimic: bool, samples: int, seed: int, methods: tuple[str, ...], against: str | None, step: _Step, detailed: bool
) -> tuple[int, dict[str, Any]]:
    path = resolve(file)
    notes = []
    try:
        try:
            robot = load_quietly(path, base, mimic)
        except UrdfError as problem:
            if not mimic or any(finding.code != "mimic-missing" for finding in problem.findings):
                raise
            mimic = False
            names = ", ".join(finding.value for finding in problem.findings[:3])
            notes.append(
                f"mimic joints are free here: they follow joints that do not exist ({names}{', ...' if len(problem.findings) > 3 else ''})"
            )
            robot = load_quietly(path, base, mimic)
    except UrdfError as problem:
        findings = [finding.as_dict() for finding in problem.findings]
        line = f"LOAD {file} ({base}): refused, {len(findings)} error{'s' if len(findings) > 1 else ''}"
        return CANNOT_LOAD, {
            "file": file,
            "base": base,
            "loaded": False,
            "errors": findings,
            "line": line,
            "details": str(problem).splitlines()[:20],
        }
    report = compare.validate(robot, against or path, mimic=mimic, samples=samples, seed=seed, methods=methods, progress=step)
    report.notes[:0] = notes
    worst = report.worst
    verdict = "OK  " if report.agrees else "FAIL"
    line = f"{verdict} {file} ({base}): nq {report.nq}, nv {report.nv}, {samples} states, "
    line += f"worst error {worst.error:.1e} ({worst.quantity}, {worst.method}) against {report.reference}"
    details = [f"note: {note}" for note in report.notes]
    details += [f"{c.method} {c.quantity}: {c.error:.2e} {c.remark}" for c in report.comparisons if not c.agrees]
    if detailed:
        out.print(_table(report))
    if detailed or not report.agrees:
        details.append(f"seed {seed}; the worst state: {report.worst_call}")
    return (AGREE if report.agrees else DISAGREE), {"loaded": True, **report.as_dict(), "line": line, "details": details}


def _table(report: compare.Report) -> Table:
    table = Table(title=f"largest relative error against {report.reference}", title_justify="left")
    methods = list(dict.fromkeys(c.method for c in report.comparisons))
    quantities = list(dict.fromkeys(c.quantity for c in report.comparisons))
    cells = {(c.quantity, c.method): c for c in report.comparisons}
    table.add_column("quantity")
    for name in methods:
        table.add_column(name, justify="right")
    for quantity in quantities:
        row = [cells.get((quantity, name)) for name in methods]
        table.add_row(quantity, *("" if c is None else f"[{'green' if c.agrees else 'red'}]{c.error:.1e}[/]" for c in row))
    return table
