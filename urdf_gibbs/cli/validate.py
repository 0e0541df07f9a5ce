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
    checked_output,
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
from urdf_gibbs.oracle.file_differences import Difference, differences
from urdf_gibbs.oracle.report import TOLERANCE, Comparison, Report
from urdf_gibbs.robot.model import Robot

AGREE, DISAGREE, CANNOT_LOAD, NOTHING = 0, 1, 2, 3
SEVERITY = (AGREE, NOTHING, DISAGREE, CANNOT_LOAD)  # the exit code of several files is that of the worst
WORDS = {"agrees": ("OK  ", AGREE), "disagrees": ("FAIL", DISAGREE), "nothing to compare": ("NONE", NOTHING)}
TALLY = {AGREE: "agreed", DISAGREE: "disagreed", NOTHING: "had nothing to compare", CANNOT_LOAD: "could not be loaded"}
MOST_DIFFERENCES = 20  # between two files that are printed
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
        str | None,
        typer.Option(
            metavar="FILE",
            help="Let Pinocchio read this file instead: has an edit changed the dynamics? What the files say differently is listed.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="The table of all errors for several files too, and the worst state as a line of Python."),
    ] = False,
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

    Errors are relative to the largest entry. Asked is 1e-9, of accelerations and their derivatives what the condition of M allows where
    that is more, and of the residual M a + h - tau 1e-12.

    Exit code 0: all agree; 1: something disagrees; 2: a file cannot be loaded (or Pinocchio is missing); 3: there is nothing to compare,
    as nothing moves or nothing that moves has mass. Of several files the worst counts: 2, then 1, then 3.
    """
    methods = _checked_methods(method or ())
    cases = [(file, checked_base(name)) for file in files for name in base or ["fixed"]]
    if html and any(os.path.exists(html) and os.path.exists(path) and os.path.samefile(html, path) for path in map(resolve, files)):
        raise typer.BadParameter(f"{html!r} is a file to be compared, which the page would replace", param_hint="--html")
    pages = None if html is None else Pages(html, len(cases), package_dir or [])
    checked_output(None if json == "-" else json, "--json")
    pinocchio_or_exit()
    detailed = (verbose or len(cases) == 1) and json != "-"
    if against is not None and not os.path.isfile(resolve(against)):
        raise typer.BadParameter(f"{against!r} is no file", param_hint="--against")
    request = _Request(mimic, samples, seed, methods, derivatives, against, detailed, verbose, pages)
    raise typer.Exit(_run(cases, request, json))


def _run(cases: Sequence[tuple[str, Base]], request: _Request, json: str | None) -> int:
    """Compare and print, one case after the other; the exit code."""
    results: list[dict[str, Any]] = []
    outcomes: list[int] = []
    interrupted = False
    try:
        for outcome, result in _compared(cases, request):
            outcomes.append(outcome)
            results.append(result)
            _print(outcome, result, json == "-")
    except KeyboardInterrupt:
        err.print(f"interrupted after {len(results)} of {len(cases)}")
        interrupted = True
    finally:
        if len(cases) > 1 and json != "-":
            out.print(_tally(outcomes, len(cases)), markup=False)
        if json:
            write_json(json, results)
        if request.pages is not None:
            _finish(request.pages, err if json == "-" else out)
    if request.pages is not None and request.pages.problem:
        outcomes.append(CANNOT_LOAD)
    return 130 if interrupted else max(outcomes, key=SEVERITY.index, default=AGREE)


def _tally(outcomes: Sequence[int], total: int) -> str:
    counts = [f"{outcomes.count(outcome)} {word}" for outcome, word in TALLY.items() if outcome in outcomes]
    done = f"{total} comparisons" if len(outcomes) == total else f"{len(outcomes)} of {total} comparisons"
    return f"{done}: {', '.join(counts)}" if counts else f"{done} done"


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
    verbose: bool
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


def _print(outcome: int, result: dict[str, Any], silent: bool) -> None:
    """What is said of a result, which is taken out of it."""
    line, details = result.pop("line"), result.pop("details")
    if silent:
        return
    out.print(line, markup=False, style={AGREE: "green", NOTHING: "yellow", DISAGREE: "bold red", CANNOT_LOAD: "red"}[outcome])
    for text in details:
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
        if request.against is not None:
            _loaded(resolve(request.against), base, request.mimic)
    except UrdfError as problem:
        if request.pages is not None:
            request.pages.refused(file, base, problem)
        return CANNOT_LOAD, _refusal(file, base, problem)
    fitting = _fitting(file, robot, request.methods, notes)
    states: dict[str, Any] = {"samples": request.samples, "seed": request.seed}
    asked: dict[str, Any] = {"methods": fitting, "derivatives": request.derivatives}
    reference = path if request.against is None else resolve(request.against)
    report = compare.validate(robot, reference, mimic=mimic, **states, **asked, progress=step)
    report.notes[:0] = notes
    if request.against and report.reference.endswith("Pinocchio"):
        report.notes.insert(0, f"Pinocchio read another file: {request.against}")
    if request.pages is not None:
        request.pages.compared(file, robot, report)
    word, outcome = WORDS[report.verdict]
    line = f"{word} {file} ({base}): nq {report.nq}, nv {report.nv}, {request.samples} states: {report.summary}"
    details = [f"note: {note}" for note in report.notes]
    found = None if request.against is None else differences(path, resolve(request.against))
    if found is not None and request.against is not None:
        details += _difference_lines(found, file, request.against)
    details += [
        f"{c.quantity} ({c.method}): {c.error:.2e}, asked {c.bound:.0e} {c.remark}".rstrip() for c in report.comparisons if not c.agrees
    ]
    if request.detailed and report.comparisons:
        out.print(*_tables(report), sep="\n")
    if (request.verbose or outcome == DISAGREE) and report.worst_call:
        details.append(f"seed {request.seed}; the worst state: {report.worst_call}")
    listed = {} if found is None else {"differences": [one._asdict() for one in found]}
    return outcome, {"loaded": True, **report.as_dict(), **listed, "line": line, "details": details}


def _difference_lines(found: Sequence[Difference], file: str, against: str) -> list[str]:
    names = (os.path.basename(file), os.path.basename(against))
    if names[0] == names[1]:
        names = (file, against)
    if not found:
        return ["the inertias and joints of both files are the same"]
    lines = [f"differs: {one.words(*names)}" for one in found[:MOST_DIFFERENCES]]
    return lines + ([f"... {len(found) - MOST_DIFFERENCES} more differences"] if len(found) > MOST_DIFFERENCES else [])


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
        title = f"largest relative errors against {report.reference}; asked: {TOLERANCE:.0e}, or what is below one"
        table = Table(title=title, title_justify="left")
        table.add_column("quantity")
        for name in methods:
            table.add_column(name, justify="right", overflow="fold", min_width=len("0.0e+00"))
        for quantity in dict.fromkeys(c.quantity for c in report.comparisons if c.method in methods):
            row = [cells.get((quantity, name)) for name in methods]
            table.add_row(quantity, *(_cell(one) for one in row))
        tables.append(table)
    return tables


def _cell(one: Comparison | None) -> str:
    if one is None:
        return ""
    if not one.exists:
        return "-"
    asked = "" if one.bound == TOLERANCE else f"\n{'<' if one.agrees else '>'} {one.bound:.0e}"
    return f"[{'green' if one.agrees else 'red'}]{one.error:.1e}{asked}[/]"
