"""``urdf-gibbs sweep``: a scenario run many times with other values of its keys; ``urdf-gibbs sweep show``: what came of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from typer.core import TyperGroup

from urdf_gibbs.cli.console import Browser, Port, Theme, checked_output, checked_theme, err, out
from urdf_gibbs.cli.progress import Lines
from urdf_gibbs.cli.view import serve
from urdf_gibbs.cli.view import show as show_view
from urdf_gibbs.errors import SweepError, UrdfGibbsError

if TYPE_CHECKING:
    from urdf_gibbs.sweeps.results import Sweep
    from urdf_gibbs.view.sweep_page import SweepPage

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
RUN = "run"  # the command that a scenario's name alone means


class RunOrOther(TyperGroup):
    """``sweep SCENE ...`` is ``sweep run SCENE ...``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=RunOrOther,
    no_args_is_help=True,
    add_completion=False,
    help="Run a scenario many times with other values of its keys (sweep SCENE --over ...), and show what came of it (sweep show FOLDER).",
)

Over = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=VALUES",
        help="A key of the scenario and what it takes: a grid 0:1:21, a list 0,0.5,1, or a distribution: uniform(-1,1), normal(0,0.1), "
        "loguniform(1e-3,1), choice(a,b) or one of scipy.stats. May be repeated.",
    ),
]


@app.command(RUN, short_help="Run a scene many times: what sweep SCENE means.")
def run(
    file: Annotated[str, typer.Argument(help="A scenario (TOML), or the name of a bundled one.")],
    over: Over,
    output: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the Parquet files go; a sweep that is there goes on.")],
    runs: Annotated[int | None, typer.Option(min=1, help="How many. Default: the points of the grids and lists.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    sampling: Annotated[str, typer.Option(help="random, latin_hypercube or sobol.")] = "random",
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FORMULA",
            help="One more column, of the others and of the state at the end: lost=energy_start-energy_end, far=max(q.q3,v.q3). "
            "May be repeated.",
        ),
    ] = None,
    trajectories: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Save the motion of every run there (.npz).")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Threads or processes. Default: one for each processor.")] = None,
    processes: Annotated[bool, typer.Option("--processes", help="Compute in processes instead of threads.")] = False,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Compute on a cluster of Dask: the address of its scheduler.")] = None,
    chunk: Annotated[
        int | None, typer.Option(min=1, help="Runs of each file. Default: a 64th of small sweeps, 250, or a 256th of large ones.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume/--no-resume", help="Go on with the sweep in the folder, or refuse to.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Run a scenario many times; one row for each run, in a folder of Parquet files that pandas and Polars read.

    A sweep that is in the folder already and asks the same goes on where it was ended, by Ctrl-C, a crash or a full disk.

    Exit code 0, also where runs failed: the summary counts them; 1: the disk is full or the cluster is gone; 2: the scenario or an option
    cannot be used; 130: Ctrl-C. What is done is kept.
    """
    from urdf_gibbs.sweeps.sweep import sweep

    options: dict[str, Any] = {"runs": runs, "seed": seed, "out": output, "sampling": sampling, "trajectories": trajectories}
    placed: dict[str, Any] = {"workers": workers, "processes": processes, "dask": dask, "chunk": chunk, "resume": resume}
    wanted = _pairs(over, "--over", "KEY=VALUES")
    quantities = _pairs(quantity or [], "--quantity", "NAME=FORMULA")
    try:
        with _bar(quiet) as progress, warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: err.print(f"note: {message}", style="yellow", markup=False)
            found = sweep(file, wanted, quantities=quantities, progress=progress, **options, **placed)
    except KeyboardInterrupt:
        err.print(f"interrupted: what is done is in {output}, and the same command does the rest", markup=False)
        raise typer.Exit(INTERRUPTED) from None
    except UrdfGibbsError as problem:
        err.print(str(problem), style="red", markup=False)
        raise typer.Exit(FAILED if isinstance(problem, SweepError) else REFUSED) from None
    if not quiet:
        print_summary(found)


@app.command("show", short_help="Show what came of a sweep; a click plays a run in 3-D.")
def show(
    folder: Annotated[Path, typer.Argument(help="A folder of results.")],
    number: Annotated[int | None, typer.Option("--run", min=0, metavar="NUMBER", help="Run this one again and play it in 3-D.")] = None,
    html: Annotated[str | None, typer.Option(metavar="PATH", help="Write one offline page to PATH instead of opening a tab.")] = None,
    theme: Theme = None,
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Show a sweep: dots, heat maps, lines and histograms; a click on a dot runs that run again, bit by bit, and plays it in 3-D.

    An offline page (--html) gives the command for that instead.

    Exit code 0; 1: the page cannot be written or served; 2: there is no sweep in the folder, or no such run.
    """
    from urdf_gibbs.sweeps.results import open_sweep
    from urdf_gibbs.view.sweep_page import run_view, sweep_page

    checked_output(html, "--html")
    look = checked_theme(theme)
    failures = []
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: err.print(f"note: {message}", style="yellow", markup=False)
            found = open_sweep(folder)
            if number is not None:
                for name, value in found.row(number).items():
                    out.print(f"{name}: {value}", markup=False)
                failures = show_view(run_view(found, number, look), html, html is None, port, browser)
            else:
                print_summary(found)
                failures = _show_page(sweep_page(found, look), html, port, browser)
    except UrdfGibbsError as problem:
        err.print(str(problem), style="red", markup=False)
        raise typer.Exit(REFUSED) from None
    for failure in failures:
        err.print(failure, style="red", markup=False)
    raise typer.Exit(FAILED if failures else DONE)


def _show_page(page: SweepPage, html: str | None, port: int, browser: bool) -> list[str]:
    """Write or serve the page; what went wrong."""
    try:
        if html is not None:
            out.print(f"written: {page.save(html)}", markup=False)
        else:
            serve(page, port, browser, out)
    except OSError as problem:
        return [f"{html or f'port {port}'}: {problem.strerror or problem}"]
    return []


def _pairs(given: list[str], option: str, expected: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{text!r} is no {expected}", param_hint=option)
        if key.strip() in pairs:
            raise typer.BadParameter(f"{key.strip()!r} is given twice", param_hint=option)
        pairs[key.strip()] = value.strip()
    return pairs


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[int, int, int], None] | None]:
    """A bar of runs with their rate and the time left; where standard error is no terminal, a line now and then."""
    begun = list[tuple[float, int]]()

    def rate(done: int, failed: int, runs: int) -> str:
        begun.append((time.monotonic(), done)) if not begun else None
        return told(time.monotonic() - begun[0][0], done - begun[0][1], runs - done, failed)

    if quiet or not err.is_terminal:
        lines = Lines()
        yield None if quiet else lambda done, failed, runs: lines(f"{done} of {runs} runs, {rate(done, failed, runs)}".rstrip(", "))
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("making ready", total=None)
        yield lambda done, failed, runs: bar.update(task, completed=done, total=runs, description=rate(done, failed, runs))


def told(seconds: float, done: int, left: int, failed: int) -> str:
    """Runs per second and the time left, where ``done`` runs took ``seconds``."""
    parts = []
    if done and seconds > 0.0:
        minutes, rest = divmod(round(left * seconds / done), 60)
        hours, minutes = divmod(minutes, 60)
        parts = [f"{done / seconds:.4g} runs/s", f"{hours}:{minutes:02d}:{rest:02d} left"]
    return ", ".join([*parts, *([f"{failed} failed"] if failed else [])])


def print_summary(found: Sweep) -> None:
    """Statuses, the first errors, and the extremes of all quantities."""
    summary = found.summary()
    counts = ", ".join(f"{count} {status}" for status, count in sorted(summary.statuses.items())) or "none"
    missing = f"; {summary.missing} of {summary.runs} are missing" if summary.missing else ""
    out.print(f"{summary.runs - summary.missing} runs: {counts}{missing}", markup=False)
    for number, error in summary.errors:
        out.print(f"  run {number}: {error}", markup=False)
    table = Table(title="extremes", title_justify="left")
    table.add_column("quantity")
    for name in ("least", "run", "greatest", "run"):
        table.add_column(name, justify="right")
    for name, ends in summary.extremes.items():
        table.add_row(name, *(cell for value, number in ends for cell in (f"{value:.6g}", str(number))))
    out.print(table)
    out.print(f"{found.path}  (urdf-gibbs sweep show {found.path})", markup=False)
