"""``urdf-gibbs reproduce``: what the papers claim, beside what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from urdf_gibbs.cli.console import err, out
from urdf_gibbs.errors import UnknownNameError

if TYPE_CHECKING:
    from urdf_gibbs.reproduce.parts import Done

ELSEWHERE = "the papers' claims are measured in a clone of the sources, which the wheel does without: make validation"


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Parts, or the beginnings of their names. Default: all.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the report goes; made if missing.")] = Path("validation"),
    list_parts: Annotated[bool, typer.Option("--list", help="List the parts and stop.")] = False,
) -> None:
    """Run the papers' tables, figures and case studies again; write report.html, its animations and, of all parts, report.md.

    Exit code 0, 1 where a part failed, 2 for a name that is none. Ctrl-C writes the report of what is done.
    """
    try:
        from urdf_gibbs.reproduce import parts, report
    except ModuleNotFoundError as missing:
        if missing.name != "urdf_gibbs.reproduce":
            raise
        err.print(ELSEWHERE, style="red", markup=False)
        raise typer.Exit(2) from None
    if list_parts:
        for name in parts.PARTS:
            out.print(name, markup=False)
        return
    try:
        wanted = parts.chosen(names or ())
        folder.mkdir(parents=True, exist_ok=True)
    except UnknownNameError as problem:
        raise typer.BadParameter(str(problem), param_hint="NAME") from None
    except OSError as problem:
        raise typer.BadParameter(f"{folder}: {problem.strerror}, expected a folder that can be made", param_hint="--out") from None
    done: list[parts.Done] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    stopped = False
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=len(wanted) + 1)
        try:
            for part in parts.reproduce(wanted, lambda name, step: progress.update(task, description=f"{name}: {step}")):
                done.append(part)
                progress.advance(task)
                if part.problem:
                    err.print(f"{part.name}: {part.problem}", style="red", markup=False)
        except KeyboardInterrupt:
            stopped = True
        done.sort(key=lambda part: list(parts.PARTS).index(part.name))
        progress.update(task, description="report")
        failed = any(part.problem for part in done)
        written = report.write(done, folder, complete=len(done) == len(parts.PARTS) and not failed)
    out.print(_table(done))
    for path in written:
        out.print(f"wrote {path}", markup=False)
    raise typer.Exit(130 if stopped else int(failed))


def _table(done: Sequence[Done]) -> Table:
    from urdf_gibbs.reproduce.claims import VERDICTS
    from urdf_gibbs.reproduce.report import tally

    table = Table(title="claims", title_justify="left")
    table.add_column("part")
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right")
    for part in done:
        counts = tally([part.section]).values() if part.section is not None else ["failed"] * len(VERDICTS)
        table.add_row(part.name, *map(str, counts))
    return table
