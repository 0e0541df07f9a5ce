"""The tables that ``urdf-gibbs simulate`` prints: impacts, contact phases, energies, and the published figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urdf_gibbs.cli.console import out
from urdf_gibbs.cli.simulate_report import MANY, REFERENCE, changes, flags
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.trajectory import Impact, Phase, Trajectory
from urdf_gibbs.walls import Wall

T = TypeVar("T")

FIRST, LAST = 15, 5  # rows that are left of a long table
WIDE = 160  # columns where there is no terminal to ask
LONGEST_LIST = 40  # characters of the points of an impact


def print_run(scenario: Scenario, trajectory: Trajectory, report: dict[str, Any], everything: bool, changed: bool) -> None:
    """The run as a person reads it: its head, impacts, phases, energies, and the published figures beside ours."""
    out.print(_head(scenario, trajectory), markup=False)
    own = [f"{_wall(wall)} {wall.restitution:g}" for wall in scenario.walls if wall.restitution is not None]
    if own:
        out.print(f"restitution of their own: {', '.join(own)}", markup=False)
    rough = [f"{_wall(wall)} {_friction(wall.friction)}" for wall in scenario.walls if wall.friction is not None]
    if rough:
        out.print(f"friction of their own: {', '.join(rough)}", markup=False)
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
            out.print("The law, the restitution or the friction is not the file's: the two need not agree.")
    statistics = report["statistics"]
    speed = f", {statistics['times_real_time']:.3g} times real time" if statistics["times_real_time"] else ""
    if "deepest" in statistics:
        how = (
            f"{statistics['bounces']} bounces, depth up to {statistics['deepest']:.2g} m, certificate {statistics['worst_certificate']:.1e}"
        )
    else:
        how = f"{statistics['rejected']} rejected, {statistics['evaluations']} evaluations"
    cpu = f"{_seconds(statistics['cpu_seconds'])} of CPU time{speed}"
    out.print(f"{report['simulated']:g} s in {statistics['steps']} steps, {how}, {cpu}")


def _friction(friction: Any) -> str:
    """A coefficient, two of them, or where they come from."""
    values = dict.fromkeys(friction) if isinstance(friction, list | tuple) else [friction]
    return ", ".join(f"{value:g}" if isinstance(value, float | int) else str(value) for value in values)


def _wall(wall: Wall) -> str:
    return wall.name or type(wall).__name__.lower()


def _head(scenario: Scenario, trajectory: Trajectory) -> str:
    robot = scenario.robot
    walls = ", ".join(_wall(wall) for wall in scenario.walls)
    parts = [
        f"{scenario.title or Path(scenario.file).stem}: {robot.name}, nv {robot.nv}",
        *([_count(len(trajectory.settings["points"]), "contact point")] if trajectory.settings["points"] else []),
        *([f"{_count(len(scenario.walls), 'wall')} ({walls})"] if walls else []),
        *(["pairs found" if scenario.pairs == "auto" else _count(len(scenario.pairs), "pair")] if scenario.pairs else []),
        *(["joint limits"] if scenario.joint_limits else []),
        *(["damping"] if scenario.damping else []),
        *(["joint friction"] if trajectory.settings["joint_friction"] else []),
        *(["torques"] if np.any(scenario.torque) else []),
        *([f"controller at {scenario.controller.rate:g} Hz"] if scenario.controller is not None else []),
        f"law {scenario.law}, restitution {scenario.restitution:g}",
        *([f"friction {_friction(scenario.friction)}"] if scenario.friction else []),
        f"{scenario.duration:g} s, rtol {trajectory.settings['rtol']:g}",
    ]
    return "; ".join(parts)


def _impact_table(scenario: Scenario, impacts: Sequence[Impact], everything: bool) -> Table | str:
    if not impacts:
        return "no impacts"
    shown = _ends(impacts, everything)
    several = len({wall for part in shown for impact in part for wall in impact.walls}) > 1
    heads = ["time\n[s]", "points", *(["walls"] if several else []), "angle of\nattack\n[deg]", "change of\nvelocity\n[m/s]"]
    rough = any(impact.tangential_impulses.any() for part in shown for impact in part)
    heads += ["impulse\n[N s]", *(["of friction\n[N s]"] if rough else []), "energy\nbefore\n[J]", "energy\nafter\n[J]"]
    flagged = any(flags(impact) for part in shown for impact in part)
    limits = scenario.joint_limits and any(joint.type == "revolute" for joint in scenario.robot.joints)
    table = _table(_count(len(impacts), "impact"), *heads, *(["flags"] if flagged else []), text=("points", "walls", "flags"))
    if limits:
        table.caption = "limits of revolute joints: rad/s and N m s"
    for k, part in enumerate(shown):
        if k:
            _add(table, "...", f"{len(impacts) - FIRST - LAST} more: --all")
        for impact in part:
            walls = [_listed(tuple(dict.fromkeys(wall for wall in impact.walls if wall)), everything)] if several else []
            row = [f"{impact.time:.6f}", _listed(impact.points, everything), *walls]
            angles = "" if np.isnan(impact.positions).all() else _each(np.degrees(impact.angles_of_attack), ".2f", everything)  # limits
            row += [angles, *(_each(values, ".4g", everything) for values in (changes(impact), impact.impulses))]
            row += [_each(np.linalg.norm(impact.tangential_impulses, axis=1), ".4g", everything)] if rough else []
            row += [f"{impact.energy_before:.6g}", f"{impact.energy_after:.6g}", ", ".join(flags(impact))]
            _add(table, *row[: len(table.columns)])
    return table


def _phase_table(phases: Sequence[Phase], everything: bool) -> Table | str:
    if not phases:
        return "no lasting contacts"
    rough = any(phase.mode for phase in phases)
    heads = ["point", "wall", *(["mode"] if rough else []), "start [s]", "end [s]", "end of bouncing [s]"]
    table = _table(_count(len(phases), "contact phase"), *heads, text=("point", "wall", "mode"))
    for k, part in enumerate(_ends(phases, everything)):
        if k:
            _add(table, "...", f"{len(phases) - FIRST - LAST} more: --all")
        for phase in part:
            end = f"{phase.end:.6f}" if math.isfinite(phase.end) else "still held"
            bouncing = f"{phase.accumulation:.6f}" if math.isfinite(phase.accumulation) else ""
            _add(table, phase.point, phase.wall, *([phase.mode] if rough else []), f"{phase.start:.6f}", end, bouncing)
    return table


def _energy_table(energy: dict[str, Any]) -> Table:
    kinds = "kinetic, potential and strain" if energy["strain"] else "kinetic and potential"
    table = _table(f"energy, {kinds}", "", "[J]", text=("",))
    _add(table, "at the start", f"{energy['start']:.9g}")
    lost, scale = energy["lost_in_impacts"], energy["scale"]
    name = "lost in impacts, less what moving walls did there" if energy["walls_move"] else "lost in impacts"
    _add(table, name, f"{lost:.6g}" if abs(lost) > 1e-9 * scale else f"{lost:.1e}")
    if energy["lost_at_rest"] > 1e-9 * scale:
        _add(table, "  of this in ends of cycles and on coming to rest", f"{energy['lost_at_rest']:.6g}")
    if energy["lost_by_friction"]:
        _add(table, "lost by friction", f"{energy['lost_by_friction']:.6g}")
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
