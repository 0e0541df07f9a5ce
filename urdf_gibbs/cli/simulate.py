"""``urdf-gibbs simulate``: run a scenario, and show its impacts, contact phases and energy balance."""

from __future__ import annotations

import importlib.util
import math
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.status import Status
from rich.table import Table

from urdf_gibbs.cli.console import Browser, Json, PackageDirs, Port, Theme, checked_output, checked_theme, err, out, write_json
from urdf_gibbs.cli.view import show
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.errors import SimulationError, UrdfGibbsError
from urdf_gibbs.simulation.scenario import ReferenceImpact, Scenario, read_scenario
from urdf_gibbs.simulation.trajectory import Impact, Phase, Trajectory
from urdf_gibbs.walls import Wall

T = TypeVar("T")

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
FIRST, LAST = 15, 5  # rows that are left of a long table
MANY = 20_000  # impacts; of more only those shown are looked at
UNCERTAIN = 1e-8  # a certificate above this is flagged
WIDE = 160  # columns where there is no terminal to ask
LONGEST_LIST = 40  # characters of the points of an impact
COMPILING = "compiling the simulator, once for this machine: about a minute"
PICTURES = (".png", ".svg", ".pdf")  # as view/plots.py has them: it loads Matplotlib
REFERENCE = {"time": "time [s]", "angle": "angle [deg]", "velocity": "velocity change [m/s]", "impulse": "impulse [N s]"}


def simulate(
    file: Annotated[str, typer.Argument(help="A scenario (TOML), or the name of a bundled one (branched12, bouncing_ball, cradle, ...).")],
    output: Annotated[str | None, typer.Option("--out", metavar="PATH", help="Write the trajectory to PATH (.npz).")] = None,
    csv: Annotated[str | None, typer.Option(metavar="PATH", help="Write the rows as CSV to PATH (needs pandas).")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Plot the motion, its impacts and energies to PATH (png, svg, pdf).")
    ] = None,
    html: Annotated[str | None, typer.Option(metavar="PATH", help="Write a page that plays the motion in 3-D to PATH.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Play the motion in 3-D in a browser tab, until Ctrl-C.")] = False,
    trail: Annotated[list[str] | None, typer.Option(help="Contact point or link whose way is drawn in 3-D; may be repeated.")] = None,
    package_dir: PackageDirs = None,
    theme: Theme = None,
    port: Port = 0,
    browser: Browser = True,
    duration: Annotated[float | None, typer.Option(metavar="S", help="Seconds to simulate, instead of the file's.")] = None,
    law: Annotated[str | None, typer.Option(help=f"Impact law, instead of the file's: {', '.join(LAWS)}.")] = None,
    restitution: Annotated[
        float | None, typer.Option(metavar="E", help="From 0 to 1, instead of the file's; walls that have their own keep it.")
    ] = None,
    rtol: Annotated[float | None, typer.Option(metavar="X", help="Relative tolerance of the integrator, instead of the file's.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Do not shorten long tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    json: Json = None,
) -> None:
    """Simulate a robot with impacts as a scenario file describes it.

    Exit code 0; 1: the motion could not go on, or a result could not be written; 2: the scenario, its robot or an option cannot
    be used; 130: Ctrl-C. What was computed until then is printed and saved all the same.
    """
    _check_options(duration, law, restitution, rtol, {"--out": output, "--csv": csv, "--json": json, "--plot": plot, "--html": html})
    checked_theme(theme)
    changes = {name: value for name, value in (("duration", duration), ("law", law), ("restitution", restitution)) if value is not None}
    try:
        with _Phases(quiet) as phases, warnings.catch_warnings():
            warnings.showwarning = phases.note
            phases("reading")
            scenario = replace(read_scenario(file), **changes)  # type: ignore[arg-type]
            if rtol is not None:
                scenario = replace(scenario, tolerances={**scenario.tolerances, "rtol": rtol})
            trajectory, seconds, problem = _run(scenario, phases)
            phases("saving")
            written, failures = _write(trajectory, output, csv)
            if plot is not None:
                phases("plotting")
                failures += _plot(trajectory, plot, theme or "light", written)
            page = None
            if html is not None or view:
                phases("making the page")
                page = trajectory.animate(
                    trails=trail, walls=scenario.walls, package_dirs=package_dir or (), theme=theme, title=scenario.title
                )
            phases("looking at the impacts")
            report = _report(scenario, trajectory, seconds)
        if json:
            failures += _write_report(report | {"impacts": [_impact(impact) for impact in trajectory.impacts]}, json)
        if not quiet and json != "-":
            _print(scenario, trajectory, report, everything, changed=bool(changes.keys() & {"law", "restitution"}))
            for path in written:
                out.print(f"written: {path}", markup=False)
        if page is not None:
            failures += show(page, html, view, port, browser)
    except KeyboardInterrupt:
        err.print("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except UrdfGibbsError as refusal:
        err.print(str(refusal), style="red", markup=False)
        raise typer.Exit(REFUSED) from None
    except MemoryError:
        err.print("out of memory: a shorter --duration needs less", style="red")
        raise typer.Exit(FAILED) from None
    for failure in [*failures, *([str(problem)] if problem is not None else [])]:
        err.print(failure, style="red", markup=False)
    if trajectory.status == "interrupted":
        err.print(f"interrupted at {trajectory.t[-1]:.6g} of {scenario.duration:g} s")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(FAILED if failures or problem is not None else DONE)


def _check_options(
    duration: float | None, law: str | None, restitution: float | None, rtol: float | None, paths: dict[str, str | None]
) -> None:
    """Refuse what cannot work before anything is computed."""
    for hint, value in (("--duration", duration), ("--rtol", rtol)):
        if value is not None and not 0.0 < value < math.inf:
            raise typer.BadParameter(f"{value} is not a positive number", param_hint=hint)
    if restitution is not None and not 0.0 <= restitution <= 1.0:
        raise typer.BadParameter(f"{restitution} is not in the range from 0 to 1", param_hint="--restitution")
    if law is not None and law not in LAWS:
        raise typer.BadParameter(f"{law!r} is none of {', '.join(LAWS)}", param_hint="--law")
    for hint, path in paths.items():
        if not (path == "-" and hint == "--json"):
            checked_output(path, hint)
        if hint == "--plot" and path is not None and Path(path).suffix.lower() not in PICTURES:
            raise typer.BadParameter(f"{path!r} is no picture: expected a suffix {', '.join(PICTURES)}", param_hint=hint)
    if paths["--csv"] is not None and importlib.util.find_spec("pandas") is None:
        raise typer.BadParameter("CSV needs pandas: pip install pandas; --out and --json work without it", param_hint="--csv")


# the run ------------------------------------------------------------------------------------------


class _Phases:
    """Says on standard error what goes on: a spinner on a terminal, where there is none only that the compiler runs."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.told = quiet, False
        self.text = ""
        self.status = Status("", console=err) if err.is_terminal and not quiet else None

    def __enter__(self) -> _Phases:
        if self.status:
            self.status.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self.status:
            self.status.stop()

    def __call__(self, text: str) -> None:
        self.text = text
        if self.status:
            self.status.update(text)

    def compiling(self) -> None:
        if self.text == COMPILING:
            return
        self(COMPILING)
        if not (self.status or self.told or self.quiet):
            err.print(COMPILING)
        self.told = True

    def note(self, message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        """In the place of ``warnings.showwarning``."""
        if not self.quiet:
            err.print(f"note: {message}", style="yellow", markup=False)

    @contextmanager
    def simulated(self, duration: float) -> Iterator[Any]:
        """A callback that moves a bar by simulated time; None where there is no terminal."""
        if self.status is None:
            yield None
            return
        self.status.stop()
        columns = (TextColumn("simulating"), BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task("", total=duration)
            yield lambda t, impacts: bar.update(task, completed=t, description=f"{t:.4g} of {duration:g} s, {impacts} impacts")
        self.status.start()


@contextmanager
def _watched(phases: _Phases) -> Iterator[None]:
    """Tell when Numba really compiles: its passes do not run for what comes from the cache. Ctrl-C ends the compiler between two passes.

    Not within one: LLVM calls back into Python, where an exception would be lost and leave a library half done.
    """
    from numba.core import event

    pressed: list[int] = []

    class Listener(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, started: Any) -> None:
            if pressed:
                raise KeyboardInterrupt
            phases.compiling()

        def on_end(self, ended: Any) -> None:
            pass

    def note(number: int, frame: Any) -> None:
        pressed.append(number)
        phases("interrupted, waiting for the compiler")

    usual = signal.getsignal(signal.SIGINT)
    mine = threading.current_thread() is threading.main_thread() and usual is signal.default_int_handler
    if mine:
        signal.signal(signal.SIGINT, note)
    try:
        with event.install_listener("numba:run_pass", Listener()):
            yield
    finally:
        if mine:
            signal.signal(signal.SIGINT, usual)
    if pressed:
        raise KeyboardInterrupt


def _run(scenario: Scenario, phases: _Phases) -> tuple[Trajectory, float, SimulationError | None]:
    """The trajectory, seconds of CPU time, and why it ended early."""
    phases("loading the simulator")
    with _watched(phases):
        from urdf_gibbs.simulation.simulate import Simulator

        arguments = scenario.arguments()
        q0, v0, duration = (arguments.pop(name) for name in ("q0", "v0", "duration"))
        simulator = Simulator(**arguments)
        simulator.run(q0, v0, 0.0)  # compiles, and refuses a start inside a wall
    problem = None
    with phases.simulated(duration) as progress:
        started = time.thread_time()
        try:
            trajectory = simulator.run(q0, v0, duration, progress)
        except SimulationError as failure:
            problem, trajectory = failure, failure.trajectory
        seconds = time.thread_time() - started
    with _watched(phases):
        trajectory.impacts[:1]  # compiles what describes an impact
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


def _plot(trajectory: Trajectory, path: str, theme: str, written: list[str]) -> list[str]:
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


# what came of it ----------------------------------------------------------------------------------


def _report(scenario: Scenario, trajectory: Trajectory, seconds: float) -> dict[str, Any]:
    """Everything but the impacts and the states, as JSON has it."""
    simulated = float(trajectory.t[-1])
    return {
        "scenario": scenario.file,
        "title": scenario.title,
        "robot": scenario.robot.name,
        "status": trajectory.status,
        "settings": _finite(trajectory.settings),
        "simulated": simulated,
        "rows": len(trajectory),
        "phases": [_phase(phase) for phase in trajectory.phases],
        "flagged": _flagged(trajectory.impacts),
        "energy": _balance(scenario, trajectory),
        "statistics": {
            **trajectory.statistics,
            "cpu_seconds": seconds,
            "times_real_time": simulated / seconds if seconds > 0.0 else None,
        },
        "reference": _compared(scenario, trajectory.impacts),
    }


def _impact(impact: Impact) -> dict[str, Any]:
    return {
        "time": impact.time,
        "points": list(impact.points),
        "walls": list(impact.walls),
        "angles": _finite(np.degrees(impact.angles_of_attack).tolist()),
        "velocity_changes": _changes(impact).tolist(),
        "impulses": impact.impulses.tolist(),
        "energy_before": impact.energy_before,
        "energy_after": impact.energy_after,
        "law": impact.law,
        "rounds": impact.rounds,
        "certificate": _finite(impact.certificate),
        "flags": _flags(impact),
    }


def _phase(phase: Phase) -> dict[str, Any]:
    times = {"start": phase.start, "end": phase.end, "end_of_bouncing": phase.accumulation}
    return {"point": phase.point, "wall": phase.wall, **_finite(times)}


def _changes(impact: Impact) -> Any:
    return impact.normal_velocities_after - impact.normal_velocities_before


def _flags(impact: Impact) -> list[str]:
    flags = ["energy gain"] if impact.energy_gain else []
    if impact.rounds > 1:
        flags.append(f"{impact.rounds} rounds")
    if not impact.certificate <= UNCERTAIN:
        flags.append(f"certificate {impact.certificate:.0e}")
    return flags


def _flagged(impacts: Sequence[Impact]) -> int | None:
    """How many impacts have a flag; None where there are too many to look at."""
    return sum(bool(_flags(impact)) for impact in impacts) if len(impacts) <= MANY else None


def _balance(scenario: Scenario, trajectory: Trajectory) -> dict[str, Any]:
    """Energies [J]: start - lost in impacts + rest = end. ``rest_is`` names what does work beside gravity and impacts; if nothing does,
    the rest is the error of the integrator. ``scale`` is the largest kinetic energy.
    """
    kinetic, _, total = trajectory.energies
    sudden = np.diff(trajectory.t) == 0.0  # an impact holds its time twice
    lost = -float(np.diff(total)[sudden].sum())
    sources = ["work of the torques"] if np.any(scenario.torque) else []
    sources += ["work of moving walls that carry the robot"] if _moving(scenario) and trajectory.phases else []
    sources += ["damping"] if scenario.damping and any(joint.damping for joint in scenario.robot.joints) else []
    start, end = float(total[0]), float(total[-1])
    return {
        "start": start,
        "lost_in_impacts": lost,
        "rest": end - start + lost,
        "end": end,
        "rest_is": sources,
        "walls_move": _moving(scenario),
        "scale": float(kinetic.max()),
    }


def _moving(scenario: Scenario) -> bool:
    return any(wall.motion is not None for wall in scenario.walls)


def _compared(scenario: Scenario, impacts: Sequence[Impact]) -> dict[str, Any] | None:
    """The published impacts and ours: of those with the same points the nearest in time."""
    if scenario.reference is None:
        return None
    rows = []
    for theirs in scenario.reference.impacts:
        same = [_as_reference(impact, theirs.points) for impact in impacts if set(theirs.points) <= set(impact.points)]
        ours = min(same, key=lambda one: abs(one.time - theirs.time)) if same else None
        values = {}
        for name in REFERENCE:
            published = getattr(theirs, name)
            found = None if ours is None else getattr(ours, name)
            percent = 100.0 * (found - published) / published if found is not None and published else None
            if not math.isnan(published):
                values[name] = {"published": published, "ours": found, "difference_percent": percent}
        rows.append({"points": list(theirs.points), **values})
    return {"source": scenario.reference.source, "impacts": rows}


def _as_reference(impact: Impact, points: tuple[str, ...]) -> ReferenceImpact:
    """An impact with one number for each quantity, the mean over these of its points."""
    own = [i for i, point in enumerate(impact.points) if point in points]
    numbers = (np.degrees(impact.angles_of_attack), _changes(impact), impact.impulses)
    return ReferenceImpact(impact.time, points, *(float(values[own].mean()) for values in numbers))


def _finite(value: Any) -> Any:
    """The value with None for what JSON has no word for."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# printing -----------------------------------------------------------------------------------------


def _print(scenario: Scenario, trajectory: Trajectory, report: dict[str, Any], everything: bool, changed: bool) -> None:
    out.print(_head(scenario, trajectory), markup=False)
    own = [f"{_wall(wall)} {wall.restitution:g}" for wall in scenario.walls if wall.restitution is not None]
    if own:
        out.print(f"restitution of their own: {', '.join(own)}", markup=False)
    _show(_impact_table(scenario, trajectory.impacts, everything))
    if report["flagged"] is None:
        out.print(f"more than {MANY} impacts: flags are given for those shown only")
    elif report["flagged"]:
        out.print(f"{report['flagged']} of {len(trajectory.impacts)} impacts have a flag", style="yellow")
    _show(_phase_table(trajectory.phases, everything))
    _show(_energy_table(report["energy"]))
    if report["reference"]:
        _show(_reference_table(report["reference"]))
        if changed:
            out.print("The law or the restitution is not the file's: the two need not agree.")
    statistics = report["statistics"]
    speed = f", {statistics['times_real_time']:.3g} times real time" if statistics["times_real_time"] else ""
    out.print(
        f"{report['simulated']:g} s in {statistics['steps']} steps, {statistics['rejected']} rejected, "
        f"{statistics['evaluations']} evaluations, {_seconds(statistics['cpu_seconds'])} of CPU time{speed}"
    )


def _wall(wall: Wall) -> str:
    return wall.name or type(wall).__name__.lower()


def _head(scenario: Scenario, trajectory: Trajectory) -> str:
    robot = scenario.robot
    walls = ", ".join(_wall(wall) for wall in scenario.walls)
    parts = [
        f"{scenario.title or Path(scenario.file).stem}: {robot.name}, nv {robot.nv}",
        *([_count(len(trajectory.settings["points"]), "contact point")] if trajectory.settings["points"] else []),
        *([f"{_count(len(scenario.walls), 'wall')} ({walls})"] if walls else []),
        *([_count(len(scenario.pairs), "pair")] if scenario.pairs else []),
        *(["joint limits"] if scenario.joint_limits else []),
        *(["damping"] if scenario.damping else []),
        *(["torques"] if np.any(scenario.torque) else []),
        f"law {scenario.law}, restitution {scenario.restitution:g}",
        f"{scenario.duration:g} s, rtol {trajectory.settings['rtol']:g}",
    ]
    return "; ".join(parts)


def _impact_table(scenario: Scenario, impacts: Sequence[Impact], everything: bool) -> Table | str:
    if not impacts:
        return "no impacts"
    shown = _ends(impacts, everything)
    several = len({wall for part in shown for impact in part for wall in impact.walls}) > 1
    heads = ["time\n[s]", "points", *(["walls"] if several else []), "angle of\nattack\n[deg]", "change of\nvelocity\n[m/s]"]
    heads += ["impulse\n[N s]", "energy\nbefore\n[J]", "energy\nafter\n[J]"]
    flags = any(_flags(impact) for part in shown for impact in part)
    limits = scenario.joint_limits and any(joint.type == "revolute" for joint in scenario.robot.joints)
    table = _table(_count(len(impacts), "impact"), *heads, *(["flags"] if flags else []), text=("points", "walls", "flags"))
    if limits:
        table.caption = "limits of revolute joints: rad/s and N m s"
    for k, part in enumerate(shown):
        if k:
            _add(table, "...", f"{len(impacts) - FIRST - LAST} more: --all")
        for impact in part:
            walls = [", ".join(dict.fromkeys(wall for wall in impact.walls if wall))] if several else []
            row = [f"{impact.time:.6f}", _listed(impact.points, everything), *walls]
            numbers = ((np.degrees(impact.angles_of_attack), ".2f"), (_changes(impact), ".4g"), (impact.impulses, ".4g"))
            row += [_each(values, form, everything) for values, form in numbers]
            if np.isnan(impact.positions).all():  # joint limits have no angle
                row[-3] = ""
            row += [f"{impact.energy_before:.6g}", f"{impact.energy_after:.6g}", ", ".join(_flags(impact))]
            _add(table, *row[: len(table.columns)])
    return table


def _phase_table(phases: Sequence[Phase], everything: bool) -> Table | str:
    if not phases:
        return "no lasting contacts"
    table = _table(
        _count(len(phases), "contact phase"), "point", "wall", "start [s]", "end [s]", "end of bouncing [s]", text=("point", "wall")
    )
    for k, part in enumerate(_ends(phases, everything)):
        if k:
            _add(table, "...", f"{len(phases) - FIRST - LAST} more: --all")
        for phase in part:
            end = f"{phase.end:.6f}" if math.isfinite(phase.end) else "still held"
            bouncing = f"{phase.accumulation:.6f}" if math.isfinite(phase.accumulation) else ""
            _add(table, phase.point, phase.wall, f"{phase.start:.6f}", end, bouncing)
    return table


def _energy_table(energy: dict[str, Any]) -> Table:
    table = _table("energy, kinetic and potential", "", "[J]", text=("",))
    _add(table, "at the start", f"{energy['start']:.9g}")
    lost, scale = energy["lost_in_impacts"], energy["scale"]
    name = "lost in impacts, less what moving walls did there" if energy["walls_move"] else "lost in impacts"
    _add(table, name, f"{lost:.6g}" if abs(lost) > 1e-9 * scale else f"{lost:.1e}")
    if energy["rest_is"]:
        _add(table, ", ".join(energy["rest_is"]), f"{energy['rest']:+.6g}")
        table.caption = "the remainder of the balance, errors of the integrator included"
    else:
        relative = f" ({abs(energy['rest']) / scale:.1e} of the largest kinetic energy)" if scale > 0.0 else ""
        _add(table, f"drift of the integrator{relative}", f"{energy['rest']:+.1e}")
    _add(table, "at the end", f"{energy['end']:.9g}")
    return table


def _reference_table(reference: dict[str, Any]) -> Table:
    table = _table("", "impact", "", reference["source"] or "published", "ours", "difference [%]", text=("impact", ""))
    for impact in reference["impacts"]:
        points, table_rows = ", ".join(impact["points"]), [name for name in REFERENCE if name in impact]
        for name in table_rows:
            value = impact[name]
            ours = "no such impact" if value["ours"] is None else f"{value['ours']:.4f}" if name == "time" else f"{value['ours']:.2f}"
            percent = "" if value["difference_percent"] is None else f"{value['difference_percent']:+.2f}"
            _add(table, points, REFERENCE[name], f"{value['published']:g}", ours, percent, end_section=name == table_rows[-1])
            points = ""
    return table


def _table(title: str, *heads: str, text: Sequence[str]) -> Table:
    """Numbers to the right; ``text`` are the columns that are to the left."""
    table = Table(title=escape(title) or None, title_justify="left", caption_justify="left")
    for head in heads:
        left = head in text
        table.add_column(escape(head), justify="left" if left else "right", no_wrap=not left, min_width=8 if left else None)
    return table


def _add(table: Table, *cells: str, end_section: bool = False) -> None:
    table.add_row(*(escape(cell) for cell in cells), end_section=end_section)


def _show(item: Table | str) -> None:
    console = out if out.is_terminal else Console(width=WIDE, highlight=False)
    console.print(item)


def _ends(items: Sequence[T], everything: bool) -> list[Sequence[T]]:
    """All, or the first and the last of many."""
    return [items] if everything or len(items) <= FIRST + LAST + 1 else [items[:FIRST], items[-LAST:]]


def _listed(names: Sequence[str], everything: bool) -> str:
    text = ", ".join(names)
    if everything or len(text) <= LONGEST_LIST or len(names) < 3:
        return text
    return f"{names[0]}, ... ({len(names)})"


def _each(values: Any, form: str, everything: bool) -> str:
    """The values of the points; one number where they all look alike, least and most of many."""
    texts = [f"{value:{form}}" for value in values]
    if len(set(texts)) == 1:
        return texts[0]
    if len(texts) > 3 and not everything:
        return f"{min(values):{form}} to {max(values):{form}}"
    return ", ".join(texts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _seconds(value: float) -> str:
    return f"{1e3 * value:.3g} ms" if value < 1.0 else f"{value:.3g} s"
