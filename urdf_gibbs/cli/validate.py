"""``urdf-gibbs validate``: our formulations against Pinocchio, file by file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import (
    Files,
    Json,
    PackageDirs,
    XacroArgs,
    checked_base,
    err,
    load_quietly,
    out,
    pinocchio_or_exit,
    resolve,
    write_json,
)
from urdf_gibbs.cli.validate_pages import Pages
from urdf_gibbs.dynamics.registry import AS_PRINTED, BASELINES, FLEXIBLE_METHODS, METHODS, all_methods_of, methods_of
from urdf_gibbs.errors import UnknownNameError, UrdfError
from urdf_gibbs.names import Base
from urdf_gibbs.oracle import compare
from urdf_gibbs.oracle.report import Report
from urdf_gibbs.robot.model import Robot

AGREE, DISAGREE, CANNOT_LOAD = 0, 1, 2
ALL = "all"
METHODS_ABREAST = 4


def validate(
    files: Files,
    base: Annotated[list[str] | None, typer.Option(help="fixed, floating or planar; may be repeated. Default: fixed.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Random states for each file and base.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the random states.")] = 0,
    method: Annotated[
        list[str] | None, typer.Option(help=f"Formulation to compare; may be repeated, {ALL} for every one. Default: {', '.join(METHODS)}.")
    ] = None,
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = True,
    derivatives: Annotated[
        bool, typer.Option("--derivatives/--no-derivatives", help="Compare derivatives and regressors too: some seconds for a humanoid.")
    ] = True,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Let Pinocchio read this file instead: has an edit changed the dynamics?")
    ] = None,
    json: Json = None,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="PATH",
            help="Write a page to PATH that needs no network: the robot in 3-D, the mass matrices, all errors, the findings of the lint. "
            "Several files or bases: PATH is an index, the pages are beside it, named STEM-FILE-BASE.html after PATH's stem, "
            "with a number where two would be the same.",
        ),
    ] = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Compare formulations, derivatives and regressors with Pinocchio at random states.

    Formulations of robots with elastic links are compared with each other, and with Pinocchio where the links stay straight.

    Exit code 0: all agree within 1e-9; 1: something disagrees; 2: a file cannot be loaded (or Pinocchio is missing).
    """
    methods = _checked_methods(method or ())
    cases = [(file, checked_base(name)) for file in files for name in base or ["fixed"]]
    if html and any(os.path.exists(html) and os.path.exists(path) and os.path.samefile(html, path) for path in map(resolve, files)):
        raise typer.BadParameter(f"{html!r} is a file to be compared, which the page would replace", param_hint="--html")
    pages = None if html is None else Pages(html, len(cases), package_dir or [])
    pinocchio_or_exit()
    request = _Request(mimic, samples, seed, methods, derivatives, against, len(cases) == 1 and json != "-", pages)
    results: list[dict[str, Any]] = []
    code = AGREE
    try:
        for outcome, result in _compared(cases, request):
            code = max(code, outcome)
            results.append(result)
            if json != "-":
                _print(outcome, result)
    except KeyboardInterrupt:
        err.print(f"interrupted after {len(results)} of {len(cases)}")
        code = 130
    finally:
        if json:
            write_json(json, results)
        if pages is not None:
            _finish(pages, err if json == "-" else out)
    if pages is not None and pages.problem:
        code = max(code, CANNOT_LOAD)
    raise typer.Exit(code)


def _finish(pages: Pages, console: Console) -> None:
    for path in pages.finish():
        console.print(f"written: {path}", markup=False)
    if pages.problem:
        err.print(pages.problem, style="red", markup=False)


def _checked_methods(given: Sequence[str]) -> tuple[str, ...]:
    methods = tuple(name.replace("-", "_") for name in given)
    known = list(dict.fromkeys((*METHODS, *BASELINES, *FLEXIBLE_METHODS, *AS_PRINTED)))
    for name in methods:
        if name not in (*known, ALL):
            raise typer.BadParameter(str(UnknownNameError("method", name, [*known, ALL])), param_hint="--method")
    return methods


class _Request(NamedTuple):
    """What is to be compared of each file and base, and where it is shown."""

    mimic: bool
    samples: int
    seed: int
    methods: tuple[str, ...]
    derivatives: bool
    against: str | None
    detailed: bool
    pages: Pages | None


def _compared(cases: Sequence[tuple[str, Base]], request: _Request) -> Iterator[tuple[int, dict[str, Any]]]:
    """The outcome and the result of each file and base, one after the other, with a progress bar."""
    stages = len((*METHODS, *BASELINES) if ALL in request.methods else request.methods or METHODS) + 2
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=len(cases) * stages)
        for number, (file, base) in enumerate(cases, 1):
            yield _one(file, base, request, _Step(progress, task, f"{file} ({base})"))
            progress.update(task, completed=number * stages)


def _print(outcome: int, result: dict[str, Any]) -> None:
    out.print(result.pop("line"), markup=False, style={AGREE: "green", DISAGREE: "bold red", CANNOT_LOAD: "red"}[outcome])
    for text in result.pop("details"):
        out.print(f"     {text}", markup=False)


class _Step:
    """Moves the bar on as the comparison reports its stages."""

    def __init__(self, progress: Progress, task: Any, name: str) -> None:
        self.progress, self.task, self.name, self.first = progress, task, name, True

    def __call__(self, stage: str) -> None:
        self.progress.update(self.task, description=f"{self.name}: {stage}", advance=0 if self.first else 1)
        self.first = False


def _one(file: str, base: Base, request: _Request, step: _Step) -> tuple[int, dict[str, Any]]:
    """One file with one base: the outcome, and the result with what is printed of it."""
    path = resolve(file)
    try:
        robot, mimic, notes = _loaded(path, base, request.mimic)
    except UrdfError as problem:
        if request.pages is not None:
            request.pages.refused(file, base, problem)
        return CANNOT_LOAD, _refusal(file, base, problem)
    fitting = _fitting(file, robot, request.methods, notes)
    states: dict[str, Any] = {"samples": request.samples, "seed": request.seed}
    asked: dict[str, Any] = {"methods": fitting, "derivatives": request.derivatives}
    try:
        report = compare.validate(robot, request.against or path, mimic=mimic, **states, **asked, progress=step)
    except UrdfError as problem:  # of the other file
        return CANNOT_LOAD, _refusal(request.against or file, base, problem)
    report.notes[:0] = notes
    if request.against and report.reference.endswith("Pinocchio"):
        report.notes.insert(0, f"Pinocchio read another file: {request.against}")
    if request.pages is not None:
        request.pages.compared(file, robot, report)
    worst = report.worst
    verdict = "OK  " if report.agrees else "FAIL"
    line = f"{verdict} {file} ({base}): nq {report.nq}, nv {report.nv}, {request.samples} states, "
    line += f"worst error {worst.error:.1e} ({worst.quantity}, {worst.method}) against {report.reference}"
    details = [f"note: {note}" for note in report.notes]
    details += [f"{c.method} {c.quantity}: {c.error:.2e} {c.remark}" for c in report.comparisons if not c.agrees]
    if request.detailed:
        out.print(*_tables(report), sep="\n")
    if request.detailed or not report.agrees:
        details.append(f"seed {request.seed}; the worst state: {report.worst_call}")
    return (AGREE if report.agrees else DISAGREE), {"loaded": True, **report.as_dict(), "line": line, "details": details}


def _loaded(path: str, base: Base, mimic: bool) -> tuple[Robot, bool, list[str]]:
    """The robot, whether its mimic joints follow, and a note where they cannot: their masters do not exist."""
    try:
        return load_quietly(path, base, mimic), mimic, []
    except UrdfError as problem:
        if not mimic or any(finding.code != "mimic-missing" for finding in problem.findings):
            raise
        names = ", ".join(finding.value for finding in problem.findings[:3]) + (", ..." if len(problem.findings) > 3 else "")
    return load_quietly(path, base, False), False, [f"mimic joints are free here: they follow joints that do not exist ({names})"]


def _refusal(file: str, base: Base, problem: UrdfError) -> dict[str, Any]:
    findings = [finding.as_dict() for finding in problem.findings]
    line = f"LOAD {file} ({base}): refused, {len(findings)} error{'s' if len(findings) > 1 else ''}"
    details = str(problem).splitlines()[:20]
    return {"file": file, "base": base, "loaded": False, "errors": findings, "line": line, "details": details}


def _fitting(file: str, robot: Robot, methods: tuple[str, ...], notes: list[str]) -> list[Any]:
    """Those of the methods that are for this robot's links; a note lists the others."""
    possible = all_methods_of(robot)
    fitting: list[Any] = list(possible) if ALL in methods else [name for name in methods or methods_of(robot) if name in possible]
    unfit = [name for name in methods if name not in (*possible, ALL)]
    if unfit:
        links = "elastic" if robot.is_flexible else "rigid"
        if robot.is_flexible and set(unfit) & set(AS_PRINTED):
            links += " but no chain in the plane"
        misfit = f"{', '.join(unfit)}: not for {file}, whose links are {links}; expected {', '.join(possible)}"
        if not fitting:
            raise typer.BadParameter(misfit, param_hint="--method")
        notes.append(misfit)
    return fitting


def _tables(report: Report) -> list[Table]:
    """The errors, a few methods to a table: a terminal of 80 columns holds them."""
    names = list(dict.fromkeys(c.method for c in report.comparisons))
    cells = {(c.quantity, c.method): c for c in report.comparisons}
    tables = []
    for start in range(0, len(names), METHODS_ABREAST):
        methods = names[start : start + METHODS_ABREAST]
        table = Table(title=f"largest relative error against {report.reference}", title_justify="left")
        table.add_column("quantity")
        for name in methods:
            table.add_column(name, justify="right", overflow="fold", min_width=len("0.0e+00"))
        for quantity in dict.fromkeys(c.quantity for c in report.comparisons if c.method in methods):
            row = [cells.get((quantity, name)) for name in methods]
            table.add_row(quantity, *("" if c is None else f"[{'green' if c.agrees else 'red'}]{c.error:.1e}[/]" for c in row))
        tables.append(table)
    return tables
