"""The tables that ``urdf-gibbs simulate`` prints: impacts, contact phases, energies, and the published figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.box import SIMPLE_HEAD
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
COLUMNS = 80  # where there is no terminal to ask
LONGEST_LIST = 40  # characters of the points of an impact
SHORTEST_NAME = 8  # characters that a column of names gets at least, if its names are that long
NOTHING = 1e-12  # of the largest of its kind in the run, and of m/s and rad/s: a number below this is round-off, and shown as 0
SLOW = 1e-9  # m/s: the direction of what is slower is round-off
BALANCED = 1e-9  # of the largest kinetic energy: what is less is the integrator's error


def print_run(scenario: Scenario, trajectory: Trajectory, report: dict[str, Any], everything: bool, changed: bool) -> None:
    """The run as a person reads it: its head, impacts, phases, energies, and the published figures beside ours."""
    _show(_head(scenario, trajectory))
    own = [f"{_wall(wall)} {wall.restitution:g}" for wall in scenario.walls if wall.restitution is not None]
    if own:
        _show(f"restitution of their own: {', '.join(own)}")
    rough = [f"{_wall(wall)} {_friction(wall.friction)}" for wall in scenario.walls if wall.friction is not None]
    if rough:
        _show(f"friction of their own: {', '.join(rough)}")
    _show(_impact_table(scenario, trajectory.impacts, everything))
    if report["flagged"] is None:
        _show(f"more than {MANY} impacts: flags are given for those shown only")
    elif report["flagged"]:
        _show(f"{report['flagged']} of {len(trajectory.impacts)} impacts have a flag", style="yellow")
    _show(_phase_table(trajectory.phases, everything))
    _show(_energy_table(report["energy"]))
    if report["reference"]:
        _show(_reference_table(report["reference"]))
        if changed:
            _show("The law, the restitution or the friction is not the file's: the two need not agree.")
    statistics = report["statistics"]
    ratio = statistics["times_real_time"]
    speed = f", {ratio:{',.0f' if ratio >= 1000.0 else '.3g'}} times real time" if ratio else ""
    if "deepest" in statistics:
        depth, error = float(_plain(statistics["deepest"], 1.0)), max(statistics["worst_certificate"], NOTHING)
        how = f"{statistics['bounces']} bounces, depth up to {depth:.2g} m, contact laws within {error:.2g}"
    else:
        how = f"{statistics['rejected']} rejected, {statistics['evaluations']} evaluations"
    cpu = f"{_seconds(statistics['cpu_seconds'])} of CPU time{speed}"
    _show(f"{report['simulated']:g} s in {statistics['steps']} steps, {how}, {cpu}")


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
        f"{scenario.duration:g} s, "
        + (f"rtol {trajectory.settings['rtol']:g}" if scenario.scheme == "events" else f"steps of {scenario.step:g} s"),
    ]
    return "; ".join(parts)


def _impact_table(scenario: Scenario, impacts: Sequence[Impact], everything: bool) -> Table | str:
    if not impacts:
        return (
            "no impacts"
            if scenario.scheme == "events"
            else "time stepping keeps no list of impacts: contact phases and energies tell of them"
        )
    shown = _ends(impacts, everything)
    several = len({wall for part in shown for impact in part for _, wall in _struck(impact)} - {""}) > 1
    rough = any(impact.tangential_impulses.any() for part in shown for impact in part)
    flagged = any(flags(impact) for part in shown for impact in part)
    limits = scenario.joint_limits and any(joint.type == "revolute" for joint in scenario.robot.joints)
    heads = ["time\n[s]", "points", *(["walls"] if several else []), "angle\n[deg]", "velocity\nchange\n[m/s]", "impulse\n[N s]"]
    heads += [*(["along\nthe wall\n[N s]"] if rough else []), "energy\nlost\n[J]", *(["flags"] if flagged else [])]
    pushed = max(float(impact.impulses.max(initial=0.0)) for part in shown for impact in part)
    moving = max(impact.energy_before - impact.energy_after for part in shown for impact in part)
    rows = []
    for k, part in enumerate(shown):
        if k:
            rows.append(["...", f"{len(impacts) - FIRST - LAST} more: --all"] + [""] * (len(heads) - 2))
        for impact in part:
            points, struck = zip(*_struck(impact), strict=True)
            walls = [_listed(tuple(dict.fromkeys(wall for wall in struck if wall)), everything)] if several else []
            row = [f"{impact.time:.6f}", _listed(points, everything), *walls, _angles(impact, everything)]
            row.append(_each(_plain(changes(impact), SLOW / NOTHING), ".3g", everything))
            row.append(_each(_plain(impact.impulses, pushed), ".3g", everything))
            across = np.linalg.norm(impact.tangential_impulses, axis=1)
            row += [_each(_plain(across, pushed), ".3g", everything)] if rough else []
            size = max(moving, abs(impact.energy_before), abs(impact.energy_after))
            row += [f"{_plain(impact.energy_loss, size):.4g}", *([", ".join(flags(impact))] if flagged else [])]
            rows.append(row)
    caption = "angle of attack, from the wall's normal" + ("; limits of revolute joints: rad/s and N m s" if limits else "")
    return _table(_count(len(impacts), "impact"), heads, rows, ("points", "walls", "flags"), caption)


def _angles(impact: Impact, everything: bool) -> str:
    """Of attack, of the points that approach: the limit of a joint has none, nor has what lies on its wall or leaves it."""
    angles = np.where(impact.normal_velocities_before < -SLOW, np.degrees(impact.angles_of_attack), np.nan)
    return "" if np.isnan(angles).all() else _each(angles, ".1f", everything)


def _struck(impact: Impact) -> list[tuple[str, str]]:
    """(point, wall) of each contact; of the limit of a joint (the joint and which, ""), of a pair of points (both, "")."""
    limits = [bool(np.isnan(place).any()) for place in impact.positions]
    pairs = zip(impact.points, impact.walls, limits, strict=True)
    return [(f"{point} {wall}", "") if limit and wall else (point, wall) for point, wall, limit in pairs]


def _phase_table(phases: Sequence[Phase], everything: bool) -> Table | str:
    if not phases:
        return "no lasting contacts"
    shown = _ends(phases, everything)
    rough = any(phase.mode for phase in phases)
    bounced = any(math.isfinite(phase.accumulation) for part in shown for phase in part)
    heads = ["point", "wall", *(["mode"] if rough else []), "start\n[s]", "end\n[s]", *(["end of\nbouncing\n[s]"] if bounced else [])]
    rows = []
    for k, part in enumerate(shown):
        if k:
            rows.append([f"{len(phases) - FIRST - LAST} more: --all"] + [""] * (len(heads) - 1))
        for phase in part:
            end = f"{phase.end:.6f}" if math.isfinite(phase.end) else "still held"
            row = [phase.point, phase.wall, *([phase.mode] if rough else []), f"{phase.start:.6f}", end]
            rows.append([*row, *([_number(phase.accumulation, ".6f")] if bounced else [])])
    return _table(_count(len(phases), "contact phase"), heads, rows, ("point", "wall", "mode"))


def _energy_table(energy: dict[str, Any]) -> Table:
    """start - lost + gained = end: what is lost is positive under that name, as everywhere in the package."""
    kinds = "kinetic, potential and strain" if energy["strain"] else "kinetic and potential"
    lost, friction, scale = energy["lost_in_impacts"], energy["lost_by_friction"], energy["scale"]
    size = max(scale, abs(energy["start"]), abs(energy["end"]))
    rows = [["at the start", f"{energy['start']:.9g}"]]
    if lost is not None:
        name = "lost in impacts, less what moving walls did there" if energy["walls_move"] else "lost in impacts"
        rows.append([name, f"{lost if abs(lost) > BALANCED * scale else 0.0:.6g}"])
    if energy["lost_at_rest"] > BALANCED * scale:
        rows.append(["  of this in ends of cycles and on coming to rest", f"{energy['lost_at_rest']:.6g}"])
    if abs(friction) > NOTHING * size:
        rows.append(["lost by friction", f"{friction:.6g}"])
    caption = ""
    if energy["rest_is"]:
        rest = float(_plain(energy["rest"], size))
        name, sign = _remainder(energy["rest_is"], energy["losses"], rest)
        rows.append([name, f"{sign * rest + 0.0:.6g}"])
        caption = f'"{name}" is the remainder of the balance, errors of the integrator included'
    else:
        drift = float(_plain(energy["rest"], size))
        relative = f" ({abs(drift) / scale:.1e} of the largest kinetic energy)" if drift and scale > 0.0 else ""
        rows.append([f"drift of the integrator{relative}", f"{drift:+.1e}" if drift else "0"])
    rows.append(["at the end", f"{energy['end']:.9g}"])
    return _table(f"energy, {kinds}", ["", "[J]"], rows, ("",), caption)


def _remainder(sources: Sequence[str], losses: Sequence[str], rest: float) -> tuple[str, float]:
    """What the remainder of the balance is called, and its sign under that name: what works both ways has lost it or gained it."""
    gains = [source for source in sources if source not in losses]
    lost = bool(losses) and (not gains or rest < 0.0)
    verb, by, less = ("lost", losses, gains) if lost else ("gained", gains, losses)
    if rest < 0.0 and not losses:
        verb, lost = "lost", True
    return f"{verb} by {_and(by)}" + (f", less {_and(less)}" if less else ""), -1.0 if lost else 1.0


def _and(names: Sequence[str]) -> str:
    """One; one and another; one, another and a third."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _reference_table(reference: dict[str, Any]) -> Table:
    rows, ends = [], []
    for impact in reference["impacts"]:
        points, found = ", ".join(impact["points"]), [name for name in REFERENCE if name in impact]
        for name in found:
            value = impact[name]
            ours = "none" if value["ours"] is None else _number(value["ours"], ".4f" if name == "time" else ".2f")
            percent = "" if value["difference_percent"] is None else f"{value['difference_percent']:+.2f}"
            rows.append([points, REFERENCE[name], f"{value['published']:g}", ours, percent])
            points = ""
        ends.append(len(rows) - 1)
    heads = ["impact", "", reference["source"] or "published", "ours", "difference\n[%]"]
    return _table("", heads, rows, ("impact", ""), sections=ends)


def _table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], text: Sequence[str], caption: str = "", sections: Sequence[int] = ()
) -> Table:
    """Numbers to the right; ``text`` are the columns that are to the left. Rows in ``sections`` end with a line."""
    around: dict[str, Any] = {"title": escape(title) or None, "caption": escape(caption) or None}
    table = Table(**around, title_justify="left", caption_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    lines = max(head.count("\n") for head in heads)
    widths = _widths([[head, *(row[i] for row in rows)] for i, head in enumerate(heads)], [head in text for head in heads])
    for head, width in zip(heads, widths, strict=True):
        named = "\n" * (lines - head.count("\n")) + escape(head)
        table.add_column(named, justify="left" if head in text else "right", width=width, overflow="fold")
    for k, row in enumerate(rows):
        table.add_row(*(escape(cell) for cell in row), end_section=k in sections)
    return table


def _widths(columns: Sequence[Sequence[str]], names: Sequence[bool]) -> list[int]:
    """Of a table that fits: whole numbers first, then whole names, ranges in two lines ("1.2 to" above "3.4"), at last all in one line."""

    def longest(cells: Sequence[str]) -> int:
        return max((len(word) for cell in cells for word in cell.split()), default=0)

    words = [longest(column) for column in columns]
    ranges = [longest([cell.replace(" to ", "_to ") for cell in column]) for column in columns]
    lines = [max(len(line) for cell in column for line in [*cell.splitlines(), ""]) for column in columns]
    widths = [min(word, SHORTEST_NAME) if name else word for word, name in zip(words, names, strict=True)]
    for wanted, of_names in ((words, True), (ranges, False), (lines, True), (lines, False)):
        room = _columns() - 2 * len(columns) - sum(widths)
        which = sorted((i for i, name in enumerate(names) if name == of_names), key=lambda i: wanted[i] - widths[i])
        for k, i in enumerate(which):  # those that want little first, so that what they leave is for the others
            more = min(wanted[i] - widths[i], max(room // (len(which) - k), 0))
            widths[i], room = widths[i] + more, room - more
    return widths


def _columns() -> int:
    return out.width if out.is_terminal else COLUMNS


def _show(item: Table | str, style: str | None = None) -> None:
    console = Console(width=_columns(), highlight=False)
    console.print(escape(item) if isinstance(item, str) else item, style=style)


def _ends(items: Sequence[T], everything: bool) -> list[Sequence[T]]:
    """All, or the first and the last of many."""
    return [items] if everything or len(items) <= FIRST + LAST + 1 else [items[:FIRST], items[-LAST:]]


def _listed(names: Sequence[str], everything: bool) -> str:
    text = ", ".join(names)
    if everything or len(text) <= LONGEST_LIST or len(names) < 3:
        return text
    return f"{names[0]}, ... ({len(names)})"


def _each(values: Any, form: str, everything: bool) -> str:
    """The values of the points; one number where they all look alike, least and most of many. What is missing is a dash."""
    texts = [_number(value, form) or "-" for value in values]
    if len(set(texts)) == 1:
        return texts[0]
    if len(texts) > 2 and not everything:
        return " to ".join(dict.fromkeys(_number(end, form) for end in (np.nanmin(values), np.nanmax(values))))
    return ", ".join(texts)


def _number(value: float, form: str) -> str:
    """As text, "" where there is none."""
    return f"{value + 0.0:{form}}" if math.isfinite(value) else ""


def _plain(values: Any, size: float) -> Any:
    """The numbers without round-off: those that are nothing beside ``size`` are 0."""
    return np.where(np.abs(values) <= NOTHING * size, 0.0, values)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _seconds(value: float) -> str:
    return f"{1e3 * value:.3g} ms" if value < 1.0 else f"{value:.3g} s"
