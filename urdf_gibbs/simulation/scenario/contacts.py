"""Contact points and pairs of a scenario, which name links of its robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from urdf_gibbs.contact.joint_friction import RUBBING
from urdf_gibbs.contact.points import AUTO, ContactPoint, resolve_pairs, resolve_points
from urdf_gibbs.contact.soil import SOILS, Soil
from urdf_gibbs.contact.wheels import wheel_points
from urdf_gibbs.errors import ArgumentError, PairError, UnknownNameError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.expression import CONSTANTS
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.scenario.problems import one_of, shown
from urdf_gibbs.simulation.scenario.values import Values
from urdf_gibbs.walls import Wall


def read_points(values: Values, contacts: dict[str, Any], robot: Robot, walls: Sequence[Wall]) -> tuple[ContactPoint, ...] | None:
    """The points of [contacts]; None where the file gives none."""
    given = contacts.get("points")
    if given is None:
        return None
    if given == "collision":
        tyres = read_tyres(values, contacts.get("tyres", 0.0))
        if tyres is None:
            return None
        rolling: Any = contacts.get("cylinders") or "auto"
        try:
            return wheel_points(robot, contacts.get("rims"), contacts.get("crown") or 0.0, walls, rolling, tyres)
        except UnknownNameError as problem:
            values.wrong(
                ("contacts", "tyres", problem.name), shown(problem.name), one_of(problem.name, problem.known, "a link with a wheel: ")
            )
        except ArgumentError as problem:
            values.wrong(("contacts", "tyres" if str(problem).startswith("tyres") else "rims"), str(problem))
        return None
    for key in ("tyres", "rims", "crown"):
        if contacts.get(key):
            values.wrong(("contacts", key), "given for points that are named", 'points = "collision"')
    path, kind = ("contacts", "points"), schema.point(robot.link_names)
    entries = values.items(path, given, schema.Items(schema.Deferred(), schema.POINTS)) or []
    chosen = [_point(values, (*path, k), entry, kind, robot) for k, entry in enumerate(entries)]
    return resolve_points(robot, [point for point in chosen if point is not None])


def read_tyres(values: Values, given: Any) -> Any:
    """The radius of the edges of all wheels, or a table of radii by link; None where it is wrong."""
    path = ("contacts", "tyres")
    if not isinstance(given, dict):
        return values.read(path, given, schema.NOT_NEGATIVE)
    table = values.record(path, given, schema.Record({link: schema.Key(schema.NOT_NEGATIVE) for link in given}))
    return None if table is None or None in table.values() else table


def _point(values: Values, path: Keys, entry: Any, kind: schema.Record, robot: Robot) -> ContactPoint | None:
    before = len(values.problems)
    table = values.record(path, {"link": entry} if isinstance(entry, str) else entry, kind)
    if table is None or len(values.problems) > before:
        return None
    rough = (table["friction"],) if "friction" in table else ()
    (point,) = resolve_points(robot, [(table["link"], table["position"], table["radius"], *rough)])
    return replace(point, name=table.get("name") or table["link"])


def read_friction(values: Values, given: Any) -> Any:
    """The friction of the scene: a number, [static, kinetic], "urdf" or ["urdf", number]; None where it is wrong."""
    if given == "urdf":
        return given
    if isinstance(given, list) and len(given) == 2 and given[0] == "urdf":
        own = values.read(("friction", 1), given[1], schema.FRICTION)
        return None if own is None else ("urdf", own)
    if _is_word(given):
        values.wrong(("friction",), shown(given), 'a number, [static, kinetic], "urdf", or ["urdf", number]')
        return None
    return values.read(("friction",), given, schema.FRICTION)


def _is_word(given: Any) -> bool:
    """Whether it is a name that means nothing, and no formula of a number."""
    return isinstance(given, str) and given.isidentifier() and given not in CONSTANTS


def read_soil(values: Values, top: dict[str, Any], robot: Robot) -> Soil | None:
    """The soil under the wheels; None where the ground is rigid, or where something is wrong."""
    table = top.get("soil")
    if table is None or None in table.values():
        return None
    if not top["walls"]:
        values.wrong(("soil",), "given without [[walls]]", "the ground")
    if not any(point.rim > 0.0 for point in resolve_points(robot, "collision")):
        values.wrong(("soil",), "given for a robot without wheels", "collision cylinders about the axes of their joints")
    return replace(SOILS[table["kind"]], **{name: value for name, value in table.items() if name != "kind"})


def read_joint_friction(values: Values, given: Any, robot: Robot) -> Any:
    """The dry friction of joints: "urdf", a number for all, or a table of numbers by joint; None where it is wrong."""
    path = ("contacts", "joint_friction")
    if given == "urdf":
        return given
    if _is_word(given):
        values.wrong(path, shown(given), '"urdf", a number, or a table of numbers by joint')
        return None
    if not isinstance(given, dict):
        return values.read(path, given, schema.NOT_NEGATIVE)
    names = [joint.name for joint in robot.joints if joint.type in RUBBING]
    table = values.record(path, given, schema.Record({name: schema.Key(schema.NOT_NEGATIVE) for name in names}))
    return None if table is None or None in table.values() else table


def read_pairs(values: Values, given: Any, robot: Robot, points: Sequence[ContactPoint] | None) -> str | tuple[tuple[Any, ...], ...]:
    """The pairs of [contacts] that ``resolve_pairs`` accepts, or "auto"."""
    path = ("contacts", "pairs")
    if given == AUTO:
        return AUTO
    if given == ():
        return ()
    entries = values.items(path, given, schema.Items(schema.Deferred(), f"a list of {schema.PAIR}"))
    if not entries:
        return ()
    resolved = resolve_points(robot, points)
    pairs = [_pair(values, (*path, k), entry, robot, resolved) for k, entry in enumerate(entries)]
    return tuple(pair for pair in pairs if pair is not None)


def _pair(values: Values, path: Keys, entry: Any, robot: Robot, points: Sequence[ContactPoint]) -> tuple[Any, ...] | None:
    if not isinstance(entry, list) or len(entry) not in (2, 3, 4) or not all(isinstance(name, str) for name in entry[:2]):
        values.wrong(path, shown(entry), schema.PAIR)
        return None
    pair = tuple(entry[:2])
    for k, kind in ((2, schema.Number(above=0.0)), (3, schema.FRICTION)):
        if len(entry) > k:
            value = values.read((*path, k), entry[k], kind)
            if value is None:
                return None
            pair = (*pair, value)
    try:
        resolve_pairs(robot, points, [pair])
    except UnknownNameError as problem:
        expected = one_of(problem.name, problem.known, "a point or link: ")
        values.wrong((*path, entry.index(problem.name)), shown(problem.name), expected)
    except PairError as problem:
        values.wrong(path, problem.found, problem.expected)
    else:
        return pair
    return None
