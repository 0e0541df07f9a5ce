"""The order of the package: small files, short functions, rooms that import only what stands before them, and the map of them.

A room is a top-level sub-package or module of urdf_gibbs. The map, docs/pages/rooms.md, lists them in the same order and names the
functions that four everyday calls go through; both are checked here against the sources and against what is called.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import urdf_gibbs as ug

PACKAGE = Path(ug.__file__).parent
MAP = PACKAGE.parent / "docs" / "pages" / "rooms.md"

LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 450, 60, 10

# A room may import those before it. Imports inside of functions and for types alone are free: they cannot make a circle at start.
ORDER = (
    *(
        "errors",
        "names",
        "arguments",
        "frozen",
        "locks",
        "extras",
        "templates",
        "timing",
        "bundled",
        "described",
        "flexible",
        "robot",
        "dynamics",
        "derivatives",
        "engine",
        "functions",
        "identification",
        "control",
        "autodiff",
        "jax",
        "torch",
        "lint",
        "walls",
        "contact",
    ),
    *("simulation", "sensitivity", "shooting", "oracle", "sweeps", "view", "equations", "counts", "reproduce", "cli"),
)
ENTRANCES = {"__init__", "__main__"}  # import what they show, and are imported by nobody

LONG_FILES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()
MANY_PARAMETERS = {
    "cli/equations.py equations",  # the options of a command are its parameters
    "cli/simulate.py simulate",  # the options of a command are its parameters
    "cli/sweep.py run",  # the same
    "cli/validate.py validate",  # the same
    "cli/view.py view",  # the same
    "simulation/simulate.py simulate",  # the arguments of a simulation
    "simulation/simulator.py __init__",  # the same
    "simulation/description.py describe",  # the same
    "sweeps/sweep.py sweep",  # the arguments of a sweep
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> dict[str, ast.Module]:
    """Of all files, by their path. Asked for in tests: parsed at import, they would cost every worker of a parallel run two seconds."""
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(file: str) -> str:
    return file.partition("/")[0].removesuffix(".py")


def functions() -> Iterator[tuple[str, Function]]:
    for file, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{file} {node.name}", node


def imported(tree: ast.AST, at_start: bool = False) -> Iterator[tuple[str, str]]:
    """(module, name) of what is imported from the package; ``at_start``: not inside of functions, nor for types alone."""
    for node in ast.iter_child_nodes(tree):
        if at_start and (isinstance(node, Function) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "urdf_gibbs":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("urdf_gibbs."))
        yield from imported(node, at_start)


def room_imported(module: str, name: str) -> str:
    return module.split(".")[1] if "." in module else name


# sizes ------------------------------------------------------------------------------------------------


def test_files_are_short() -> None:
    lines = {path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {file for file, count in lines.items() if count > LONGEST_FILE} <= LONG_FILES


def test_functions_are_short() -> None:
    """The docstring apart, which tells of every argument."""

    def length(node: Function) -> int:
        told = node.body[0] if ast.get_docstring(node) is not None else None
        return (node.end_lineno or 0) - node.lineno + 1 - (0 if told is None else (told.end_lineno or 0) - told.lineno + 1)

    assert {name for name, node in functions() if length(node) > LONGEST_FUNCTION} <= LONG_FUNCTIONS


def test_parameter_lists_are_short() -> None:
    def count(node: Function) -> int:
        return len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)

    assert {name for name, node in functions() if count(node) > MOST_PARAMETERS} <= MANY_PARAMETERS


def test_a_file_says_in_its_first_line_what_it_is() -> None:
    assert [file for file, tree in sources().items() if not ast.get_docstring(tree)] == []


def test_tests_import_helpers_from_helper_modules() -> None:
    def modules(path: Path) -> Iterator[str]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                yield node.module or ""
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)

    folder = Path(__file__).parent
    assert [(path.name, module) for path in folder.glob("*.py") for module in modules(path) if module.startswith("test_")] == []


# imports ----------------------------------------------------------------------------------------------


def test_imports_are_absolute() -> None:
    """The tests below look for the package's name."""
    assert [
        file for file, tree in sources().items() if any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))
    ] == []


def test_every_room_has_its_place() -> None:
    assert {room_of(file) for file in sources()} - ENTRANCES == set(ORDER)


def test_rooms_import_only_those_before_them() -> None:
    backwards = [
        f"{file} imports {module}.{name}"
        for file, tree in sources().items()
        for module, name in imported(tree, at_start=True)
        if room_of(file) not in ENTRANCES
        and name != "__version__"
        and ORDER.index(room_imported(module, name)) > ORDER.index(room_of(file))
    ]
    assert backwards == []


def test_private_names_stay_in_their_room() -> None:
    def private(words: str) -> bool:
        return any(word.startswith("_") and not word.startswith("__") for word in words.split("."))

    found = [
        f"{file} imports {module}.{name}"
        for file, tree in sources().items()
        for module, name in imported(tree)
        if private(f"{module}.{name}") and room_imported(module, name) != room_of(file)
    ]
    assert found == []


# the map ----------------------------------------------------------------------------------------------


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", MAP.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert found, f"{MAP.name} has no section {title!r}"
    return found[1]


def test_the_map_lists_the_rooms_and_what_they_import() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", section("Rooms"), flags=re.MULTILINE)
    assert [name for name, _ in rows] == list(ORDER)
    for room, told in rows:
        found = {
            room_imported(module, name)
            for file, tree in sources().items()
            if room_of(file) == room
            for module, name in imported(tree, at_start=True)
        } - {room, "__version__"}
        assert {*re.findall(r"\w+", told)} == found, room


def walk(title: str) -> list[tuple[str, str]]:
    """(room, function) in the order of the map: ``1. **room**: `function`, `Class.method`. What they do.``"""
    steps = re.findall(r"^\d+\. \*\*(\w+)\*\*: (.*)$", section(title), flags=re.MULTILINE)
    return [(room, name) for room, told in steps for name in re.findall(r"`([\w.]+)`", told)]


def called(action: Callable[[], Any]) -> list[tuple[str, str]]:
    """(room, function) of the package in the order in which they are first called."""
    found: dict[tuple[str, str], None] = {}
    prefix = str(PACKAGE)

    def look(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(prefix):
            found[room_of(Path(file).relative_to(PACKAGE).as_posix()), frame.f_code.co_qualname] = None

    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(found)


def mass_matrix(folder: Path) -> None:
    robot = ug.load(ug.model_path("branched12"))
    ug.mass_matrix(robot, [0.1] * robot.nq)


def simulation(folder: Path) -> None:
    robot = ug.load(ug.model_path("planar3r"))
    ug.simulate(robot, [0.1, 0.2, 0.3], None, 1.0, walls=[ug.walls.Circle(2.5)])


def page(folder: Path) -> None:
    ug.load(ug.model_path("branched12")).view().save(folder / "page.html")


def validation(folder: Path) -> None:
    import typer

    from urdf_gibbs.cli.validate import validate

    with pytest.raises(typer.Exit):
        validate(["planar3r"], samples=1, seed=0, mimic=True, derivatives=True)


@pytest.mark.parametrize(
    ("title", "action"),
    [
        ("Walk: load, mass_matrix", mass_matrix),
        ("Walk: simulate", simulation),
        ("Walk: view().save", page),
        ("Walk: validate", validation),
    ],
)
def test_a_walk_of_the_map_is_what_is_called(title: str, action: Callable[[Path], None], tmp_path: Path) -> None:
    told, found = walk(title), called(lambda: action(tmp_path))
    assert len(told) > 5
    assert [step for step in told if step not in found] == []
    assert sorted(told, key=found.index) == told


def test_pages_are_made_from_templates() -> None:
    """No module writes tags of HTML; comments and docstrings are no text of a page."""
    tags = re.compile(r"</?(html|body|div|table|tr|td|th|span|h[1-6]|figure|section|iframe|details)\b[^>]*>")
    found = [
        f"{file}:{node.lineno}"
        for file, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and tags.search(node.value)
    ]
    assert found == []
