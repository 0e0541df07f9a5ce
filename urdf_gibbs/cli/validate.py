"""``urdf-gibbs validate``: our formulations against Pinocchio, file by file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import Files, Json, PackageDirs, checked_base, err, load_quietly, out, resolve, write_json
from urdf_gibbs.dynamics.registry import AS_PRINTED, BASELINES, FLEXIBLE_METHODS, METHODS, all_methods_of, methods_of
from urdf_gibbs.errors import OracleMissingError, UnknownNameError, UrdfError
from urdf_gibbs.lint import check as lint
from urdf_gibbs.oracle import compare
from urdf_gibbs.oracle.pinocchio import import_pinocchio
from urdf_gibbs.robot.load import Base
from urdf_gibbs.robot.model import Robot

if TYPE_CHECKING:
    from urdf_gibbs.view.report import Entry

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
) -> None:
    """Compare formulations with Pinocchio at random states.

    Formulations of robots with elastic links are compared with each other, and with Pinocchio where the links stay straight.

    Exit code 0: all agree within 1e-9; 1: something disagrees; 2: a file cannot be loaded (or Pinocchio is missing).
    """
    methods = tuple(name.replace("-", "_") for name in method or ())
    known = list(dict.fromkeys((*METHODS, *BASELINES, *FLEXIBLE_METHODS, *AS_PRINTED)))
    for name in methods:
        if name not in (*known, ALL):
            raise typer.BadParameter(str(UnknownNameError("method", name, [*known, ALL])), param_hint="--method")
    stages = len((*METHODS, *BASELINES) if ALL in methods else methods or METHODS) + 2
    bases = [checked_base(name) for name in base or ["fixed"]]
    if html and any(os.path.exists(html) and os.path.exists(path) and os.path.samefile(html, path) for path in map(resolve, files)):
        raise typer.BadParameter(f"{html!r} is a file to be compared, which the page would replace", param_hint="--html")
    pages = None if html is None else _Pages(html, len(files) * len(bases), package_dir or [])
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
            task = progress.add_task("", total=len(files) * len(bases) * stages)
            for file in files:
                for one_base in bases:
                    step = _Step(progress, task, f"{file} ({one_base})")
                    detailed = len(files) * len(bases) == 1 and json != "-"
                    outcome, result = _one(file, one_base, mimic, samples, seed, methods, against, step, detailed, pages)
                    code = max(code, outcome)
                    results.append(result)
                    if json != "-":
                        out.print(
                            result.pop("line"), markup=False, style={AGREE: "green", DISAGREE: "bold red", CANNOT_LOAD: "red"}[outcome]
                        )
                        for text in result.pop("details"):
                            out.print(f"     {text}", markup=False)
                    progress.update(task, completed=len(results) * stages)
    except KeyboardInterrupt:
        err.print(f"interrupted after {len(results)} of {len(files) * len(bases)}")
        code = 130
    finally:
        if json:
            write_json(json, results)
        if pages is not None:
            for path in pages.finish():
                (err if json == "-" else out).print(f"written: {path}", markup=False)
            if pages.problem:
                err.print(pages.problem, style="red", markup=False)
    if pages is not None and pages.problem:
        code = max(code, CANNOT_LOAD)
    raise typer.Exit(code)


class _Pages:
    """The pages of one call: that of PATH itself for one file and base, otherwise an index with the pages beside it."""

    def __init__(self, path: str, total: int, package_dirs: list[str]) -> None:
        self.path, self.total, self.package_dirs = Path(path), total, package_dirs
        blocked = self.path.exists() and not os.access(path, os.W_OK)
        if not path or self.path.is_dir() or blocked or not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise typer.BadParameter(f"{path!r} cannot be written: expected a file in a folder that exists", param_hint="--html")
        self.entries: list[Entry] = []
        self.taken = {self.path.name.lower()}  # there are file systems that do not tell A from a
        self.written: list[Path] = []
        self.problem = ""

    def refused(self, file: str, base: str, problem: UrdfError) -> None:
        """A row for a file that cannot be loaded."""
        from urdf_gibbs.view.report import Entry

        self.entries.append(Entry(file, base, "refused", errors=tuple(map(str, problem.findings))))

    def compared(self, file: str, robot: Robot, report: compare.Report) -> None:
        """The page of a comparison, and its row."""
        from urdf_gibbs.view.report import Entry, report_view

        page = report_view(robot, report, lint(resolve(file), self.package_dirs), self.package_dirs)
        path = self.path if self.total == 1 else self.path.with_name(self._name(file, robot.base))
        worst = f"{report.worst.error:.1e} ({report.worst.quantity}, {report.worst.method}) against {report.reference}"
        if self._write(path, page.html()):
            self.entries.append(Entry(file, robot.base, "agrees" if report.agrees else "disagrees", worst, path.name))

    def finish(self) -> list[Path]:
        """Write the index, where one is due; everything that was written."""
        from urdf_gibbs.view.report import index_page

        if self.entries and (self.total > 1 or not self.written):
            self._write(self.path, index_page(self.entries, self.total))
            if self.total > 1 and self.path in self.written:
                return [self.path]
        return self.written

    def _name(self, file: str, base: str) -> str:
        robot = re.sub(r"[^\w.-]+", "_", Path(file).stem)[:80]
        for number in range(self.total + 1):
            name = f"{self.path.stem}-{robot}-{base}{f'-{number + 1}' if number else ''}.html"
            if name.lower() not in self.taken:
                break
        self.taken.add(name.lower())
        return name

    def _write(self, path: Path, text: str) -> bool:
        try:
            path.write_bytes(text.encode("utf-8", "replace"))  # a file's name may hold what is no text
        except OSError as problem:
            self.problem = f"{path} was not written: {problem.strerror}"
            return False
        self.written.append(path)
        return True


class _Step:
    """Moves the bar on as the comparison reports its stages."""

    def __init__(self, progress: Progress, task: Any, name: str) -> None:
        self.progress, self.task, self.name, self.first = progress, task, name, True

    def __call__(self, stage: str) -> None:
        self.progress.update(self.task, description=f"{self.name}: {stage}", advance=0 if self.first else 1)
        self.first = False


def _one(
    file: str,
    base: Base,
    mimic: bool,
    samples: int,
    seed: int,
    methods: tuple[str, ...],
    against: str | None,
    step: _Step,
    detailed: bool,
    pages: _Pages | None,
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
        if pages is not None:
            pages.refused(file, base, problem)
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
    possible = all_methods_of(robot)
    fitting = list(possible) if ALL in methods else [name for name in methods or methods_of(robot) if name in possible]
    unfit = [name for name in methods if name not in (*possible, ALL)]
    if unfit:
        links = "elastic" if robot.is_flexible else "rigid"
        if robot.is_flexible and set(unfit) & set(AS_PRINTED):
            links += " but no chain in the plane"
        misfit = f"{', '.join(unfit)}: not for {file}, whose links are {links}; expected {', '.join(possible)}"
        if not fitting:
            raise typer.BadParameter(misfit, param_hint="--method")
        notes.append(misfit)
    report = compare.validate(robot, against or path, mimic=mimic, samples=samples, seed=seed, methods=fitting, progress=step)
    report.notes[:0] = notes
    if against and report.reference.endswith("Pinocchio"):
        report.notes.insert(0, f"Pinocchio read another file: {against}")
    if pages is not None:
        pages.compared(file, robot, report)
    worst = report.worst
    verdict = "OK  " if report.agrees else "FAIL"
    line = f"{verdict} {file} ({base}): nq {report.nq}, nv {report.nv}, {samples} states, "
    line += f"worst error {worst.error:.1e} ({worst.quantity}, {worst.method}) against {report.reference}"
    details = [f"note: {note}" for note in report.notes]
    details += [f"{c.method} {c.quantity}: {c.error:.2e} {c.remark}" for c in report.comparisons if not c.agrees]
    if detailed:
        out.print(*_tables(report), sep="\n")
    if detailed or not report.agrees:
        details.append(f"seed {seed}; the worst state: {report.worst_call}")
    return (AGREE if report.agrees else DISAGREE), {"loaded": True, **report.as_dict(), "line": line, "details": details}


def _tables(report: compare.Report) -> list[Table]:
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
