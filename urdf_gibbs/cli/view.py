"""``urdf-gibbs view``: the robot in 3-D, in a browser tab or as one HTML file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from urdf_gibbs.cli.console import File, PackageDirs, Theme, checked_base, checked_output, checked_theme, err, load_or_exit, out, resolve
from urdf_gibbs.cli.info import configuration

if TYPE_CHECKING:
    from urdf_gibbs.view.show import View

SHOWN = 20  # missing meshes printed before the rest is only counted


def view(
    file: File,
    base: Annotated[str, typer.Option(help="fixed, floating or planar: what the root link may do.")] = "fixed",
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = True,
    q: Annotated[str | None, typer.Option(help="Configuration to start with, nq numbers separated by blanks. Default: all zero.")] = None,
    html: Annotated[str | None, typer.Option(metavar="PATH", help="Write one offline page to PATH instead of opening a tab.")] = None,
    package_dir: PackageDirs = None,
    theme: Theme = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the live page on this machine; 0: any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the tab, or only print its address.")] = True,
) -> None:
    """Show a robot with its meshes, frames, axes, inertias and branches, and a slider for each joint.

    Exit code 0; 2: the file or an option cannot be used. A mesh that is missing or broken is drawn as a placeholder and listed.
    """
    checked_output(html, "--html")
    robot = load_or_exit(resolve(file), checked_base(base), mimic)
    start = configuration(robot, q)
    with err.status("reading meshes"):
        page = robot.view(start, package_dirs=package_dir or (), theme=checked_theme(theme))
    show(page, html, port, browser)


def show(page: View, html: str | None, port: int = 0, browser: bool = True) -> None:
    """Write the page, or serve it until Ctrl-C."""
    for line in page.missing[:SHOWN]:
        err.print(f"[yellow]placeholder[/yellow] {escape(line)}")
    if len(page.missing) > SHOWN:
        err.print(f"[yellow]... {len(page.missing) - SHOWN} more placeholders[/yellow]")
    for note in page.notes:
        err.print(f"[yellow]note[/yellow] {escape(note)}")
    if html is not None:
        path = page.save(html)
        out.print(f"written: {path} ({_size(path)})", markup=False)
        return
    try:
        live = page.open(browser, port)
    except OSError as problem:
        err.print(f"the page cannot be served at port {port}: {problem}", style="red", markup=False)
        raise typer.Exit(2) from None
    with live:
        out.print(f"{live.url}  (Ctrl-C ends it)", markup=False)
        try:
            while True:
                time.sleep(3600.0)
        except KeyboardInterrupt:
            out.print("closed")


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
