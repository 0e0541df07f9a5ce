"""Robots of the package robot_descriptions whose files are on this machine.

The package's modules download theirs when they are imported. So that nothing is, what a module assigns is read from its text: its
repository, how paths are joined below it, and the arguments of its xacro.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from urdf_gibbs.bundled import example_names, example_robots
from urdf_gibbs.errors import UnknownNameError

PATHS = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")
ARGUMENTS = "XACRO_ARGS"
EXAMPLES = "example-robot-data"


class NotHereError(UnknownNameError):
    """A robot that has a name and whose files are not on this machine; the message says how to get them."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__("robot here", name, ())
        self.message = message


class Described(NamedTuple):
    """The file of a description, and the arguments that its xacro is expanded with."""

    path: Path
    xacro_args: dict[str, str]


@cache
def described_names() -> tuple[str, ...]:
    """Names of the package; none where it is not installed."""
    folder = _folder()
    return () if folder is None else tuple(sorted(path.stem for path in folder.glob("*_description.py") if path.stem[0] != "_"))


def described(name: str) -> Described:
    """The file of a description; NotHereError where it has to be fetched first."""
    values, paths = _values(name), paths_of(name)
    arguments = values.get(ARGUMENTS)
    for path in paths:
        if path.is_file():
            return Described(path, arguments if isinstance(arguments, dict) else {})
    get = f"its files, which are not here: python -m robot_descriptions pull {name} gets them"
    short = name.removesuffix("_description")
    if len(example_names().get(short, ())) == 1:
        get = f"{get}; or load {short!r} of example-robot-data"
    made = f"a file that the package makes: from robot_descriptions import {name}, then load {name}.URDF_PATH"
    raise NotHereError(name, get if paths else made)


def paths_of(name: str) -> list[Path]:
    """Where the file of a description may be: in the package's cache, or the same file in an installed package."""
    values = _values(name)
    paths = [values[key] for key in PATHS if isinstance(values.get(key), Path)]
    return paths + [path for path in map(_installed, paths) if path is not None]


def _values(name: str) -> dict[str, Any]:
    """What the description's module assigns."""
    folder = _folder()
    assert folder is not None  # it has names
    return _assigned(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")), folder)


def _assigned(module: ast.Module, folder: Path) -> dict[str, Any]:
    """Paths and literals that a module of the package assigns, by name."""
    home = Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")).expanduser()
    values: dict[str, Any] = {}
    for statement in module.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Name):
            values[target.id] = _value(statement.value, values, home, folder)
    return values


def _value(node: ast.expr, values: dict[str, Any], home: Path, folder: Path) -> Any:
    """Of a call that clones a repository or joins paths, and of literals; None for all else."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Dict):  # arguments, perhaps with paths in them
        keys = [None if key is None else _value(key, values, home, folder) for key in node.keys]
        given = [_value(value, values, home, folder) for value in node.values]
        return {str(key): str(value) for key, value in zip(keys, given, strict=True) if key is not None and value is not None}
    if isinstance(node, ast.Call) and called.endswith("clone_to_cache"):
        return home / _cache_path(folder, ast.literal_eval(node.args[0]))
    if isinstance(node, ast.Call) and called.endswith("path.join"):
        parts = [_value(one, values, home, folder) for one in node.args]
        return None if None in parts else Path(*parts)
    return node.value if isinstance(node, ast.Constant) else None


def _cache_path(folder: Path, repository: str) -> str:
    """Where the package keeps a repository, below its cache."""
    for node in ast.walk(ast.parse((folder / "_repositories.py").read_text(encoding="utf-8"))):
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and key.value == repository and isinstance(value, ast.Call):
                for one in value.keywords:
                    if one.arg == "cache_path":
                        return str(ast.literal_eval(one.value))
    return repository


def _installed(path: Path) -> Path | None:
    """The same file in the package example-robot-data, where its repository is the one that is named."""
    parts = path.parts
    for k, part in enumerate(parts[:-1]):
        if part == EXAMPLES and parts[k + 1] == "robots":
            return example_robots().get("/".join(parts[k + 2 :]))
    return None


def _folder() -> Path | None:
    spec = importlib.util.find_spec("robot_descriptions")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent
