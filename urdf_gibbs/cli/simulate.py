"""``urdf-gibbs simulate``: run a scenario, and show its impacts, contact phases and energy balance."""

from __future__ import annotations

import importlib.util
import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.status import Status

from urdf_gibbs import names
from urdf_gibbs.cli.console import Browser, Json, PackageDirs, Port, Theme, XacroArgs, checked_output, checked_theme, err, out, write_json
from urdf_gibbs.cli.progress import Lines
from urdf_gibbs.cli.simulate_report import impact_of, report_of
from urdf_gibbs.cli.simulate_tables import print_run
from urdf_gibbs.cli.simulate_template import write_template
from urdf_gibbs.cli.view import show
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.errors import SimulationError, UrdfGibbsError
from urdf_gibbs.simulation.description import SCHEMES
from urdf_gibbs.simulation.scenario import Scenario, read_scenario
from urdf_gibbs.simulation.trajectory import Trajectory

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
PICTURES = (".png", ".svg", ".pdf")  # as view/plots.py has them: it loads Matplotlib

File = Annotated[
    str | None, typer.Argument(help="A scenario (TOML), or the name of a bundled one (branched12, bouncing_ball, cradle, ...).")
]
Template = Annotated[
    str | None,
    typer.Option("--template", metavar="ROBOT", help="Write a scene of this robot above a floor to standard output, with all keys."),
]
Base = Annotated[str | None, typer.Option(help="Of --template: fixed, floating or planar. Default: floating where nothing ties the robot.")]


def simulate(
    file: File = None,
    robot: Template = None,
    base: Base = None,
    output: Annotated[str | None, typer.Option("--out", metavar="PATH", help="Write the trajectory to PATH (.npz).")] = None,
    csv: Annotated[str | None, typer.Option(metavar="PATH", help="Write the rows as CSV to PATH (needs pandas).")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Plot the motion, its impacts and energies to PATH (png, svg, pdf).")
    ] = None,
    html: Annotated[str | None, typer.Option(metavar="PATH", help="Write a page that plays the motion in 3-D to PATH.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Play the motion in 3-D in a browser tab, until Ctrl-C.")] = False,
    trail: Annotated[list[str] | None, typer.Option(help="Contact point or link whose way is drawn in 3-D; may be repeated.")] = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
    theme: Theme = None,
    port: Port = 0,
    browser: Browser = True,
    duration: Annotated[float | None, typer.Option(metavar="S", help="Seconds to simulate, instead of the file's.")] = None,
    law: Annotated[str | None, typer.Option(help=f"Impact law, instead of the file's: {', '.join(LAWS)}.")] = None,
    restitution: Annotated[
        float | None, typer.Option(metavar="E", help="From 0 to 1, instead of the file's; walls that have their own keep it.")
    ] = None,
    friction: Annotated[
        float | None,
        typer.Option(metavar="MU", help="0 or more, instead of the file's; walls, points and pairs that have their own keep it."),
    ] = None,
    scheme: Annotated[str | None, typer.Option(help=f"Instead of the file's: {', '.join(SCHEMES)}.")] = None,
    step: Annotated[float | None, typer.Option(metavar="S", help="Seconds of a step of time_stepping, instead of the file's.")] = None,
    rtol: Annotated[float | None, typer.Option(metavar="X", help="Relative tolerance of the integrator, instead of the file's.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Do not shorten long tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    json: Json = None,
) -> None:
    """Simulate a robot with impacts as a scenario file describes it; --template writes such a file.

    Exit code 0; 1: the motion could not go on, or a result could not be written; 2: the scenario, its robot or an option cannot
    be used; 130: Ctrl-C. What was computed until then is printed and saved all the same.
    """
    given = {"duration": duration, "law": law, "restitution": restitution, "friction": friction, "scheme": scheme, "step": step}
    paths = {"--out": output, "--csv": csv, "--json": json, "--plot": plot, "--html": html}
    _check_options(given, rtol, paths)
    changes = {name: value.replace("-", "_") if isinstance(value, str) else value for name, value in given.items() if value is not None}
    if (file is None) == (robot is None):
        raise typer.BadParameter("expected a scenario, or --template ROBOT to write one", param_hint="FILE")
    if xacro_arg and robot is None:
        raise typer.BadParameter("expected with --template; a scenario has xacro_args below [robot]", param_hint="--xacro-arg")
    _check_template(robot, base, [hint for hint, path in paths.items() if path is not None] + ["--view"] * view)
    outputs = _Outputs(
        output, csv, plot, html, view, trail, package_dir or [], checked_theme(theme), port, browser, everything, quiet, json
    )
    try:
        if file is None:
            write_template(str(robot), base, package_dir or [], changes)
            raise typer.Exit(DONE)
        code = _perform(file, changes, rtol, outputs)
    except KeyboardInterrupt:
        err.print("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except UrdfGibbsError as refusal:
        err.print(str(refusal), style="red", markup=False)
        raise typer.Exit(REFUSED) from None
    except MemoryError:
        err.print("out of memory: a shorter --duration needs less", style="red")
        raise typer.Exit(FAILED) from None
    raise typer.Exit(code)


def _check_template(robot: str | None, base: str | None, outputs: list[str]) -> None:
    """Refuse options that belong to the other of the two things that the command does."""
    if robot is None and base is not None:
        raise typer.BadParameter("belongs to --template: a scenario has the base in its table [robot]", param_hint="--base")
    if robot is not None and outputs:
        raise typer.BadParameter("--template runs nothing: write the scene to a file, and run that", param_hint=outputs[0])


class _Outputs(NamedTuple):
    """What to write and show: the options of the command that do not change the motion."""

    output: str | None
    csv: str | None
    plot: str | None
    html: str | None
    view: bool
    trails: list[str] | None
    package_dirs: list[str]
    theme: names.Theme | None
    port: int
    browser: bool
    everything: bool
    quiet: bool
    json: str | None


def _check_options(given: dict[str, Any], rtol: float | None, paths: dict[str, str | None]) -> None:
    """Refuse what cannot work before anything is computed; ``given``: changes of the scenario, None where there is none."""
    restitution, friction = given["restitution"], given["friction"]
    for hint, value in (("--duration", given["duration"]), ("--step", given["step"]), ("--rtol", rtol)):
        if value is not None and not 0.0 < value < math.inf:
            raise typer.BadParameter(f"{value} is not a positive number", param_hint=hint)
    if restitution is not None and not 0.0 <= restitution <= 1.0:
        raise typer.BadParameter(f"{restitution} is not in the range from 0 to 1", param_hint="--restitution")
    if friction is not None and not 0.0 <= friction < math.inf:
        raise typer.BadParameter(f"{friction} is not a number of 0 or more", param_hint="--friction")
    for name, known in (("law", LAWS), ("scheme", SCHEMES)):
        value = given[name]
        if value is not None and value.replace("-", "_") not in known:
            raise typer.BadParameter(f"{value!r} is none of {', '.join(known)}", param_hint=f"--{name}")
    for hint, path in paths.items():
        if not (path == "-" and hint == "--json"):
            checked_output(path, hint)
        if hint == "--plot" and path is not None and Path(path).suffix.lower() not in PICTURES:
            raise typer.BadParameter(f"{path!r} is no picture: expected a suffix {', '.join(PICTURES)}", param_hint=hint)
    if paths["--csv"] is not None and importlib.util.find_spec("pandas") is None:
        raise typer.BadParameter("CSV needs pandas: pip install 'urdf-gibbs[table]'; --out and --json work without it", param_hint="--csv")


# the run ------------------------------------------------------------------------------------------


def _perform(file: str, changes: dict[str, Any], rtol: float | None, outputs: _Outputs) -> int:
    """Simulate, write and show; the exit code. ``changes``: of the scenario."""
    with _Phases(outputs.quiet) as phases, warnings.catch_warnings():
        warnings.showwarning = phases.note
        phases("reading")
        scenario = replace(read_scenario(file), **changes)
        if rtol is not None:
            scenario = replace(scenario, tolerances={**scenario.tolerances, "rtol": rtol})
        trajectory, seconds, problem = _run(scenario, phases)
        phases("saving")
        written, failures = _write(trajectory, outputs.output, outputs.csv)
        if outputs.plot is not None:
            phases("plotting")
            failures += _plot(trajectory, outputs.plot, outputs.theme or "light", written)
        page = None
        if outputs.html is not None or outputs.view:
            phases("making the page")
            page = trajectory.animate(
                trails=outputs.trails, walls=scenario.walls, package_dirs=outputs.package_dirs, theme=outputs.theme, title=scenario.title
            )
        phases("looking at the impacts")
        report = report_of(scenario, trajectory, seconds)
    if outputs.json:
        failures += _write_report(report | {"impacts": [impact_of(impact) for impact in trajectory.impacts]}, outputs.json)
    if not outputs.quiet and outputs.json != "-":
        print_run(scenario, trajectory, report, outputs.everything, changed=bool(changes.keys() & {"law", "restitution", "friction"}))
        for path in written:
            out.print(f"written: {path}", markup=False)
    if page is not None:
        # Standard output is reserved for the JSON if that goes there.
        console = err if outputs.json == "-" else out
        failures += show(page, outputs.html, outputs.view, outputs.port, outputs.browser, outputs.quiet, console)
    for failure in [*failures, *([str(problem)] if problem is not None else [])]:
        err.print(failure, style="red", markup=False)
    if trajectory.status == "interrupted":
        err.print(f"interrupted at {trajectory.t[-1]:.6g} of {scenario.duration:g} s")
        return INTERRUPTED
    return FAILED if failures or problem is not None else DONE


class _Phases:
    """Reports progress on standard error: a spinner on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.status = Status("", console=err) if err.is_terminal and not quiet else None

    def __enter__(self) -> _Phases:
        if self.status:
            self.status.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self.status:
            self.status.stop()

    def __call__(self, text: str) -> None:
        if self.status:
            self.status.update(text)

    def note(self, message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        """Replaces ``warnings.showwarning``."""
        if not self.quiet:
            err.print(f"note: {message}", style="yellow", markup=False)

    @contextmanager
    def simulated(self, duration: float) -> Iterator[Any]:
        """A callback that moves a bar by simulated time; without a terminal it writes a line now and then, none of a short run."""
        if self.status is None:
            yield None if self.quiet else _in_lines(duration)
            return
        self.status.stop()
        columns = (TextColumn("simulating"), BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task("", total=duration)
            yield lambda t, impacts: bar.update(task, completed=t, description=f"{t:.4g} of {duration:g} s, {impacts} impacts")
        self.status.start()


def _in_lines(duration: float) -> Callable[[float, int], None]:
    lines = Lines()

    def progress(t: float, impacts: int) -> None:
        if t < duration:
            struck = f", {impacts} impacts" if impacts else ""
            lines(f"simulated {t:.4g} of {duration:g} s ({t / duration:.0%}){struck}")

    return progress


def _run(scenario: Scenario, phases: _Phases) -> tuple[Trajectory, float, SimulationError | None]:
    """The trajectory, seconds of CPU time, and why it ended early."""
    from urdf_gibbs.simulation.simulator import Simulator

    phases("making the simulator ready")
    arguments = scenario.arguments()
    q0, v0, duration = (arguments.pop(name) for name in ("q0", "v0", "duration"))
    simulator = Simulator(**arguments)
    simulator.run(q0, v0, 0.0)  # refuses a start inside a wall
    problem = None
    with phases.simulated(duration) as progress:
        started = time.thread_time()
        try:
            trajectory = simulator.run(q0, v0, duration, progress)
        except SimulationError as failure:
            problem, trajectory = failure, failure.trajectory
        seconds = time.thread_time() - started
    return trajectory, seconds, problem


def _write(trajectory: Trajectory, output: str | None, csv: str | None) -> tuple[list[str], list[str]]:
    """What was written, and what could not be."""
    written, failures = [], []
    if output is not None:
        try:
            written.append(str(trajectory.save(output)))
        except OSError as failure:
            failures.append(_unwritten(output, failure))
    if csv is not None:
        try:
            trajectory.to_dataframe().to_csv(csv, index=False)
            written.append(csv)
        except OSError as failure:
            failures.append(_unwritten(csv, failure))
    return written, failures


def _plot(trajectory: Trajectory, path: str, theme: names.Theme, written: list[str]) -> list[str]:
    try:
        trajectory.plot(path, theme=theme)
    except OSError as failure:
        return [_unwritten(path, failure)]
    written.append(path)
    return []


def _write_report(report: dict[str, Any], path: str) -> list[str]:
    try:
        write_json(path, report)
    except OSError as failure:
        return [_unwritten(path, failure)]
    return []


def _unwritten(path: str, failure: OSError) -> str:
    return f"cannot write {path}: {failure.strerror or failure}"
