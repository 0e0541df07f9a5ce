"""Shared by the commands: consoles, options, and resolving arguments to files."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console

from urdf_gibbs import names
from urdf_gibbs.bundled import robot_path
from urdf_gibbs.errors import OracleMissingError, UnknownNameError, UrdfError, UrdfWarning
from urdf_gibbs.names import Base
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

_given: dict[str, Any] = {}  # options of the command that loading needs


def forget_given() -> None:
    """Before another command."""
    _given.clear()


def _kept_folders(value: list[str] | None) -> list[str] | None:
    _given["package_dirs"] = value or []
    return value


def _kept_arguments(value: list[str] | None) -> list[str] | None:
    pairs = [one.partition("=") for one in value or ()]
    for name, sign, _ in pairs:
        if not name or not sign:
            raise typer.BadParameter(f"{name!r}, expected NAME=VALUE", param_hint="--xacro-arg")
    _given["xacro_args"] = {name: text for name, _, text in pairs}
    return value


ROBOT = "A URDF, xacro, MJCF or SDF file, or the name of a robot that is installed"
File = Annotated[str, typer.Argument(help=f"{ROBOT} (branched12, panda, go2, ...).")]
Files = Annotated[list[str], typer.Argument(help="URDF, xacro, MJCF or SDF files, or names of robots that are installed.")]
PackageDirs = Annotated[
    list[str] | None,
    typer.Option(
        "--package-dir",
        callback=_kept_folders,
        help="Folder that holds the packages of package:// names and of find in a xacro, or other meshes: what is in it may be read. "
        "May be repeated.",
    ),
]
XacroArgs = Annotated[
    list[str] | None,
    typer.Option("--xacro-arg", metavar="NAME=VALUE", callback=_kept_arguments, help="An argument of a xacro. May be repeated."),
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="PATH", help="Write everything as JSON to PATH ('-' or nothing: standard output).")
]

Theme = Annotated[str | None, typer.Option(metavar="light|dark", help="Colours. Default: light for pictures, the browser's for pages.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the live page on this machine; 0: any free one.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the tab, or only print its address.")]


def resolve(name: str) -> str:
    """A path as it is, or that of the installed robot of this name; other names are left to ``load``, which knows what to say."""
    if not Path(name).is_file() and "://" not in name:
        try:
            return str(robot_path(name))
        except UnknownNameError:
            pass
    return name


def given() -> dict[str, Any]:
    """What the command was given for loading: folders of packages, and arguments of a xacro."""
    return dict(_given)


def checked_base(base: str) -> Base:
    if base not in get_args(Base):
        raise typer.BadParameter(f"{base!r} is none of {', '.join(get_args(Base))}", param_hint="--base")
    return base  # type: ignore[return-value]


def checked_theme(theme: str | None) -> names.Theme | None:
    if theme not in (None, "light", "dark"):
        raise typer.BadParameter(f"{theme!r} is none of light, dark", param_hint="--theme")
    return theme  # type: ignore[return-value]


def checked_output(path: str | None, hint: str) -> None:
    """Refuse a path that cannot be written before anything is computed."""
    if path is not None and (not path or os.path.isdir(path) or not os.access(Path(path).parent, os.W_OK | os.X_OK)):
        raise typer.BadParameter(f"{path!r} cannot be written: expected a file in a folder that exists", param_hint=hint)


def load_quietly(file: str, base: Base, mimic: bool = True) -> Robot:
    """Load without the Python warning: commands print findings themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load(file, base, mimic, **given())


def load_or_exit(file: str, base: Base, mimic: bool = True) -> Robot:
    """The robot; errors go to standard error and the command stops with exit code 2."""
    try:
        return load_quietly(file, base, mimic)
    except UrdfError as problem:
        err.print(str(problem), style="red", markup=False)
        raise typer.Exit(2) from None


def pinocchio_or_exit() -> None:
    """Stop with exit code 2 where Pinocchio is missing, before anything is computed."""
    from urdf_gibbs.oracle.pinocchio import import_pinocchio

    try:
        import_pinocchio()
    except OracleMissingError as problem:
        err.print(str(problem), style="red", markup=False)
        raise typer.Exit(2) from None


def write_json(path: str, content: Any) -> None:
    text = json.dumps(content, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
