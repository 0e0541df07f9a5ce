"""``urdf-gibbs view``: the robot in 3-D, in a browser tab or as one HTML file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer
from rich.console import Console
from rich.markup import escape

from urdf_gibbs.cli.console import (
    Browser,
    File,
    PackageDirs,
    Port,
    Theme,
    XacroArgs,
    checked_base,
    checked_output,
    checked_theme,
    err,
    load_or_exit,
    out,
    resolve,
)
from urdf_gibbs.cli.info import configuration
from urdf_gibbs.names import UpAxis

if TYPE_CHECKING:
    from urdf_gibbs.view.show import View
    from urdf_gibbs.view.sweep_page import SweepPage

SHOWN = 20  # missing meshes printed before the rest is only counted


def view(
    file: File,
    base: Annotated[str, typer.Option(help="fixed, floating or planar: what the root link may do.")] = "fixed",
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = True,
    q: Annotated[str | None, typer.Option(help="Configuration to start with, nq numbers separated by blanks. Default: all zero.")] = None,
    html: Annotated[str | None, typer.Option(metavar="PATH", help="Write one offline page to PATH instead of opening a tab.")] = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
    theme: Theme = None,
    up_axis: Annotated[str, typer.Option(metavar="ignore|file", help="COLLADA meshes: as in RViz, or turned as the file says.")] = "ignore",
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Show a robot with its meshes, frames, axes, inertias and branches, and a slider for each joint.

    Exit code 0; 2: the file or an option cannot be used. A mesh that is missing or broken is drawn as a placeholder and listed.
    """
    checked_output(html, "--html")
    robot = load_or_exit(resolve(file), checked_base(base), mimic)
    start = configuration(robot, q)
    with err.status("reading meshes"):
        page = robot.view(start, package_dirs=package_dir or (), theme=checked_theme(theme), up_axis=checked_up_axis(up_axis))
    failures = show(page, html, html is None, port, browser)
    for failure in failures:
        err.print(failure, style="red", markup=False)
    raise typer.Exit(2 if failures else 0)


def checked_up_axis(up_axis: str) -> UpAxis:
    if up_axis not in get_args(UpAxis):
        raise typer.BadParameter(f"{up_axis!r}, expected ignore or file", param_hint="--up-axis")
    return cast(UpAxis, up_axis)


def show(
    page: View, html: str | None, live: bool, port: int = 0, browser: bool = True, quiet: bool = False, console: Console = out
) -> list[str]:
    """Write the page, and serve it until Ctrl-C; what went wrong. ``quiet``: nothing is printed but where the page is served."""
    if not quiet:
        for line in page.missing[:SHOWN]:
            err.print(f"[yellow]placeholder[/yellow] {escape(line)}")
        if len(page.missing) > SHOWN:
            err.print(f"[yellow]... {len(page.missing) - SHOWN} more placeholders[/yellow]")
        for note in page.notes:
            err.print(f"[yellow]note[/yellow] {escape(note)}")
    failures = []
    if html is not None:
        try:
            path = page.save(html)
            if not quiet:
                console.print(f"written: {path} ({path.stat().st_size / 1e6:.1f} MB)", markup=False)
        except OSError as problem:
            failures.append(f"{html} could not be written: {problem}")
    if live:
        try:
            serve(page, port, browser, console)
        except OSError as problem:
            failures.append(f"the page cannot be served at port {port}: {problem}")
    return failures


def serve(page: View | SweepPage, port: int, browser: bool, console: Console) -> None:
    """Serve a page until Ctrl-C."""
    with page.open(browser, port) as live:
        console.print(f"{live.url}  (Ctrl-C ends it)", markup=False)
        try:
            while True:
                time.sleep(3600.0)
        except KeyboardInterrupt:
            console.print("closed")
