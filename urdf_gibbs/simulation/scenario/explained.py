"""All keys of a scenario in words: what schema.py allows, the defaults of the classes and functions behind it, and meanings.py."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from urdf_gibbs.contact.soil import SOILS
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.meanings import MEANINGS

DEFERRED = {  # types of the values that the schema leaves to those who know the robot
    "start.JOINT": "number, list or table",
    "start_velocity.JOINT": "number or list",
    "torques.JOINT": "number or list",
    "friction": "number, list or text",
    "contacts.points": "text or list",
    "contacts.pairs": "list or text",
    "contacts.joint_friction": "number, table or text",
    "contacts.tyres": "number or table",
    "controller.kp": "number or table",
    "controller.kd": "number or table",
}
HEADS = (  # the keys at the top that are tables
    *("robot", "start", "start_velocity", "torques", "controller", "tolerances", "contacts"),
    *("soil", "flexible", "links", "walls", "reference"),
)
OF_ALL_WALLS = ("restitution", "friction", "motion", "name")


class Entry(NamedTuple):
    """A key: its ``type`` with its limits, ``unit`` and ``meaning`` in words; ``default`` is a value, None where ``without`` says more."""

    path: str  # of the key in meanings.py
    key: str
    type: str
    unit: str
    default: Any
    without: str
    meaning: str
    required: bool
    known: tuple[str, ...] = ()  # names to choose from

    @property
    def usual(self) -> str:
        """What counts if the key is not given, as text; "" where it must be, or where nothing does."""
        return self.without if self.required or self.default is None else toml(self.default)


class Section(NamedTuple):
    """A table of a scenario: its header as a file has it, "" at the top, its name in meanings.py, and its keys."""

    header: str
    name: str
    entries: tuple[Entry, ...]


def sections() -> tuple[Section, ...]:
    """All tables, in the order in which a file would have them."""
    top = {name: key for name, key in (schema.TOP.keys or {}).items() if name not in HEADS}
    walls = schema.Instance(schema.KINDS, "")
    motions = schema.Instance(schema.MOTIONS, "")
    joint = schema.Key(schema.Deferred())
    return (
        _section("", "", top),
        _section("[robot]", "robot", schema.ROBOT.keys),
        _section("[start]", "start", {"JOINT": joint}),
        _section("[start] JOINT = {...}", "start.JOINT", schema.POSE.keys),
        _section("[start_velocity]", "start_velocity", {"JOINT": joint}),
        _section("[contacts]", "contacts", schema.CONTACTS.keys),
        _section("[contacts] points = [{...}, ...]", "contacts.points", schema.point(()).keys),
        _section("[[walls]]", "walls", {"kind": _kinds(schema.KINDS)} | {key: schema.Key(schema.ARGUMENTS[key]) for key in OF_ALL_WALLS}),
        *(_wall(walls, kind) for kind in schema.KINDS),
        _section('[[walls]] kind = "heightfield", from a file', "walls", {"file": schema.FIELD_FILE.keys["file"]}),  # type: ignore[index]
        _section("[[walls]] motion = {...}", "walls.motion", {"kind": _kinds(schema.MOTIONS)} | _arguments(motions, schema.MOTIONS)),
        _section("[torques]", "torques", {"JOINT": joint}),
        _section("[controller]", "controller", schema.controller("pd").keys),
        _section('[controller] kind = "drive"', "controller.drive", schema.DRIVE),
        _section("[soil]", "soil", schema.SOIL.keys, {name: getattr(SOILS["lunar"], name) for name in schema.SOIL_NUMBERS}),
        _section("[links.LINK]", "links.LINK", schema.LINK.keys),
        _section("[[flexible]]", "flexible", schema.FLEXIBLE.keys),
        _section("[tolerances]", "tolerances", schema.TOLERANCES.keys, _of_simulate()),
        _section("[reference]", "reference", {"source": schema.REFERENCE.keys["source"]}),  # type: ignore[index]
        _section("[[reference.impacts]]", "reference.impacts", schema.IMPACT.keys),
    )


def _section(header: str, name: str, keys: Mapping[str, schema.Key] | None, defaults: Mapping[str, Any] | None = None) -> Section:
    assert keys is not None
    return Section(header, name, tuple(_entry(name, key, record, defaults or {}) for key, record in keys.items()))


def _entry(table: str, key: str, record: schema.Key, defaults: Mapping[str, Any]) -> Entry:
    path = f"{table}.{key}" if table else key
    meaning, default = MEANINGS[path], None if record.required else defaults.get(key, record.default)
    kind = DEFERRED.get(path) or type_of(record.kind)
    return Entry(path, key, kind, meaning.unit, default, meaning.without, meaning.text, record.required, _known(record.kind))


def _known(kind: schema.Kind) -> tuple[str, ...]:
    return kind.known if isinstance(kind, schema.Choice) else ()


def _kinds(classes: Iterable[str]) -> schema.Key:
    return schema.Key(schema.Choice(tuple(classes)), required=True)


def _wall(walls: schema.Instance, kind: str) -> Section:
    """The keys that this kind has beside those of all walls."""
    record, parameters = schema.arguments_of(walls, kind), inspect.signature(schema.KINDS[kind]).parameters
    keys = {name: key for name, key in (record.keys or {}).items() if name not in (*OF_ALL_WALLS, "kind")}
    defaults = {name: parameters[name].default for name, key in keys.items() if name in parameters and not key.required}
    return _section(f'[[walls]] kind = "{kind}"', "walls", keys, defaults)


def _arguments(instance: schema.Instance, kinds: Iterable[str]) -> dict[str, schema.Key]:
    found: dict[str, schema.Key] = {}
    for kind in kinds:
        found |= {name: key for name, key in (schema.arguments_of(instance, kind).keys or {}).items() if name != "kind"}
    return found


def _of_simulate() -> dict[str, Any]:
    from urdf_gibbs.simulation.simulate import simulate

    return {name: parameter.default for name, parameter in inspect.signature(simulate).parameters.items()}


# words ------------------------------------------------------------------------------------------------


def type_of(kind: schema.Kind) -> str:
    """The type of a value, and what it is limited to."""
    match kind:
        case schema.Number():
            return _number(kind)
        case schema.Numbers():
            return f"{kind.count} numbers"
        case schema.OneOrMore():
            return f"{_number(kind.one)}, or {kind.more.count} numbers"
        case schema.Grid():
            return "lists of numbers"
        case schema.Choice():
            return " or ".join(f'"{known}"' for known in kind.known) if kind.known else "text"
        case schema.Flag():
            return "true or false"
        case schema.Text():
            return "text"
        case schema.Items():
            return "list"
    return "table"


def _number(kind: schema.Number) -> str:
    if (kind.above, kind.least, kind.most) == (None, None, None):
        return "number"
    return kind.limits.removeprefix("a ").removeprefix("an ")


def toml(value: Any) -> str:
    """A value as a scenario has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name(key)} = {toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml(entry) for entry in value)}]"
    if not math.isfinite(value):
        return "inf"
    text = f"{value:.6g}"
    return text if "." in text or "e" in text or isinstance(value, int) else f"{text}.0"


def name(text: str) -> str:
    """A key, in quotes where it must be."""
    plain = text and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in text)
    return text if plain else json.dumps(text, ensure_ascii=False)
