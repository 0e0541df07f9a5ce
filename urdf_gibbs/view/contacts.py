"""Which points of a run are plotted: its contact points, those that struck something first and of all bodies in turn, or chosen ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from urdf_gibbs.arguments import listed
from urdf_gibbs.contact.points import default_points
from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Impact, Trajectory
from urdf_gibbs.view.motion import Fixed

MANY_POINTS, FEW_POINTS = 12, 4


class Contact(NamedTuple):
    """A contact point of the run, for drawing."""

    name: str
    place: Fixed
    radius: float
    rim: float = 0.0  # of a wheel's edge about ``place`` [m]
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)  # in the body's frame


def contacts_of(robot: Robot, settings: Mapping[str, Any] | None = None) -> list[Contact]:
    """The contact points of a run's settings; joint origins and tips if the settings have none."""
    described = (settings or {}).get("points")
    if described is None:
        return [Contact(point.name, (point.body, point.position), point.radius) for point in default_points(robot)]
    made = []
    for point in described:
        place, rim = (int(point["body"]), tuple(point["position"])), float(point.get("rim", 0.0))
        made.append(Contact(str(point["name"]), place, float(point["radius"]), rim, tuple(point.get("axis", (0.0, 0.0, 1.0)))))
    return made


def chosen_points(
    robot: Robot, contacts: list[Contact], names: Iterable[str] | None, impacts: Sequence[Impact]
) -> tuple[list[Contact], int]:
    """The points to plot, and how many are left out."""
    if names is not None:
        known = {contact.name: contact for contact in contacts}
        given = [names] if isinstance(names, str) else listed(names, "a list of names", "points")
        return [known.get(name) or _on_link(robot, name, known) for name in given], 0
    candidates = contacts or [Contact(point.name, (point.body, point.position), 0.0) for point in default_points(robot)]
    if len(candidates) <= MANY_POINTS:
        return candidates, 0
    struck = _struck(impacts)
    first = [contact.name in struck for contact in candidates]
    return _some(candidates, MANY_POINTS, first), len(candidates) - MANY_POINTS


def impacts_told(trajectory: Trajectory) -> str:
    """How many impacts a run had; one in steps of one length, which keep no list of them, tells of its steps instead."""
    count = len(trajectory.impacts)
    if not count and trajectory.settings.get("scheme") == "time_stepping":
        return f"steps of {trajectory.settings['step']:g} s"
    return "1 impact" if count == 1 else f"{count or 'no'} impacts"


def struck_points(contacts: list[Contact], impacts: Sequence[Impact]) -> list[Contact]:
    """Those that struck something, some of them where they are many; a few of all where nothing was struck."""
    names = _struck(impacts)
    struck = [contact for contact in contacts if contact.name in names]
    return _some(struck, MANY_POINTS) if struck else _some(contacts, FEW_POINTS)


def _some(contacts: Sequence[Contact], count: int, first: Sequence[bool] = ()) -> list[Contact]:
    """So many of them: those that come ``first``, and one of each body before the second of any, as those of a mesh move alike."""
    met: Counter[tuple[bool, int]] = Counter()
    ranks = []
    for contact, wanted in zip(contacts, first or [True] * len(contacts), strict=True):
        kind = wanted, contact.place[0]
        ranks.append((not wanted, met[kind]))
        met[kind] += 1
    order = sorted(range(len(contacts)), key=ranks.__getitem__)[:count]
    return [contacts[i] for i in sorted(order)]


def _struck(impacts: Sequence[Impact]) -> set[str]:
    return {part for impact in impacts for name in impact.points for part in (name, *_pair(name))}


def _pair(name: str) -> list[str]:
    """What the names of the two points of a pair "a-b" may be; they may hold hyphens of their own."""
    cuts = [i for i, letter in enumerate(name) if letter == "-"]
    return [part for i in cuts for part in (name[:i], name[i + 1 :])]


def _on_link(robot: Robot, name: str, known: dict[str, Contact]) -> Contact:
    if name not in robot.link_names:
        raise UnknownNameError("point or link", str(name), tuple(dict.fromkeys([*known, *robot.link_names])))
    frame = robot.frame(name)
    return Contact(name, (frame.body, frame.placement[:3, 3].tolist()), 0.0)
