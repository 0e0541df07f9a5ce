"""Reads values of a TOML file as schema.py describes them and collects all problems with their lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.findings import one_line
from urdf_gibbs.robot.spatial import rotation_from_rpy
from urdf_gibbs.simulation.scenario import schema
from urdf_gibbs.simulation.scenario.expression import evaluate
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.scenario.lines import line_of
from urdf_gibbs.simulation.scenario.problems import Problem, ScenarioError, dotted, one_of, shown
from urdf_gibbs.walls import HeightField, load_terrain

LONGEST_EXPECTATION = 400  # characters


class Values:
    """Reads values and collects ``problems``. Methods take the path of a value (for its line) and return None where it is wrong."""

    def __init__(self, file: str, lines: dict[Keys, int]) -> None:
        self.file, self.lines = file, lines
        self.problems: list[Problem] = []

    def wrong(self, path: Keys, value: str, expected: str = "") -> None:
        """Note a problem."""
        line, limit = line_of(self.lines, path), LONGEST_EXPECTATION
        self.problems.append(Problem(self.file, line, dotted(path), one_line(value), one_line(expected, limit)))

    def error(self) -> ScenarioError:
        return ScenarioError(sorted(self.problems, key=lambda problem: problem.line))

    def read(self, path: Keys, value: Any, kind: schema.Kind) -> Any:
        """The value as its kind has it; None where it is wrong."""
        match kind:
            case schema.Number():
                return self.number(path, value, kind)
            case schema.Numbers():
                return self.numbers(path, value, kind)
            case schema.OneOrMore():
                return self.numbers(path, value, kind.more) if isinstance(value, list) else self.number(path, value, kind.one)
            case schema.Grid():
                return self.grid(path, value, kind)
            case schema.Items():
                items = self.items(path, value, kind)
                return None if items is None or None in items else items
            case schema.Record():
                return self.record(path, value, kind)
            case schema.Instance():
                return self.instance(path, value, kind)
            case schema.Deferred():
                return value
            case schema.Choice():
                if isinstance(value, str) and value not in kind.known and value.replace("-", "_") in kind.known:
                    return value.replace("-", "_")
                valid, expected = isinstance(value, str) and value in kind.known, one_of(value, kind.known)
            case schema.Text():
                valid, expected = isinstance(value, str), kind.expected
            case schema.Flag():
                valid, expected = isinstance(value, bool), kind.expected
        if valid:
            return value
        self.wrong(path, shown(value), expected)
        return None

    # numbers ------------------------------------------------------------------------------------

    def number(self, path: Keys, value: Any, kind: schema.Number = schema.ANY) -> float | None:
        number = None
        try:
            if isinstance(value, str):
                number = evaluate(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                number = float(value)
        except ValueError as problem:
            self.wrong(path, f"{shown(value)} ({problem})", kind.expected)
            return None
        except OverflowError:
            number = math.inf
        if number is None:
            self.wrong(path, shown(value), kind.expected)
        elif not math.isfinite(number):
            self.wrong(path, shown(value), "a finite number")
        elif not kind.fits(number):
            self.wrong(path, shown(value), kind.limits)
        else:
            return number
        return None

    def numbers(self, path: Keys, value: Any, kind: schema.Numbers) -> list[float] | None:
        if not isinstance(value, list) or len(value) != kind.count:
            self.wrong(path, shown(value), kind.expected or f"a list of {kind.count} numbers")
            return None
        read = [self.number((*path, k), entry, kind.each) for k, entry in enumerate(value)]
        entries = [entry for entry in read if entry is not None]
        if len(entries) < len(read):
            return None
        return entries if self._passes(path, value, kind, entries) else None

    def grid(self, path: Keys, value: Any, kind: schema.Grid) -> list[list[float]] | None:
        valid = isinstance(value, list) and len(value) > 0 and all(isinstance(row, list) and len(row) == len(value[0]) for row in value)
        if not valid or kind.rows not in (None, len(value)) or kind.columns not in (None, len(value[0])):
            self.wrong(path, shown(value), kind.expected)
            return None
        read = [self.numbers((*path, k), row, schema.Numbers(len(row))) for k, row in enumerate(value)]
        rows = [row for row in read if row is not None]
        if len(rows) < len(read):
            return None
        return rows if self._passes(path, value, kind, rows) else None

    def _passes(self, path: Keys, value: Any, kind: schema.Numbers | schema.Grid, entries: list[Any]) -> bool:
        valid = kind.check is None or kind.check(entries)
        if not valid:
            self.wrong(path, shown(value), kind.meaning)
        return valid

    # lists and tables ---------------------------------------------------------------------------

    def items(self, path: Keys, value: Any, kind: schema.Items) -> list[Any] | None:
        """The entries of a list, None for those that are wrong; None where it is no list."""
        if not isinstance(value, list):
            self.wrong(path, shown(value), kind.expected)
            return None
        return [self.read((*path, k), entry, kind.of) for k, entry in enumerate(value)]

    def record(self, path: Keys, value: Any, kind: schema.Record) -> dict[str, Any] | None:
        """The values of a table by key, with defaults, None for those that are wrong; None where it is no table."""
        if not isinstance(value, dict):
            self.wrong(path, shown(value), kind.expected or f"a table: [{dotted(path)}]")
            return None
        if kind.keys is None:
            return value
        self._check_keys(path, value, kind.keys)
        record: dict[str, Any] = {}
        for name, key in kind.keys.items():
            if name in value:
                record[name] = self.read((*path, name), value[name], key.kind)
            elif key.required or key.default is not None:
                record[name] = key.default
        if kind.exclude is not None and all(name in value for name in kind.exclude):
            first, second = kind.exclude
            self.wrong((*path, second), f"given beside {first}", "one of the two")
        return record

    def _check_keys(self, path: Keys, table: Mapping[str, Any], known: Mapping[str, schema.Key]) -> None:
        """Report unknown keys and missing required keys of a table."""
        for name in table:
            if name not in known:
                self.wrong((*path, name), "unknown key", one_of(name, known))
        for name, key in known.items():
            if key.required and name not in table:
                self.wrong((*path, name), "missing", f"it in {dotted(path)}" if path else "it at the top of the file")

    def instance(self, path: Keys, value: Any, kind: schema.Instance) -> Any:
        """An object of one of the kind's classes, from the arguments in a table."""
        if not isinstance(value, dict):
            self.wrong(path, shown(value), kind.expected)
            return None
        before = len(self.problems)
        choice = schema.Key(schema.Choice(tuple(kind.classes)), required=True)
        if "kind" not in value:
            self._check_keys(path, {}, {"kind": choice})
        name = self.read((*path, "kind"), value["kind"], choice.kind) if "kind" in value else None
        if name is None:
            return None
        from_file = kind.classes[name] is HeightField and "file" in value
        arguments = self.record(path, value, schema.FIELD_FILE if from_file else schema.arguments_of(kind, name))
        if arguments is None or len(self.problems) > before:
            return None
        del arguments["kind"]
        if "rpy" in arguments:
            arguments["rotation"] = np.reshape(rotation_from_rpy(*arguments.pop("rpy")), (3, 3)).tolist()
        try:
            if from_file:
                return replace(load_terrain(Path(self.file).parent / arguments.pop("file")), **arguments)
            return kind.classes[name](**arguments)
        except ArgumentError as problem:  # the schema checks single arguments: this is about several of them
            self.wrong(path, str(problem))
            return None
