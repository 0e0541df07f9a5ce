"""``urdf-gibbs demo``: the 12-DOF branched robot from file to confirmed dynamics, and its fall with impacts on a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from urdf_gibbs.bundled import model_path
from urdf_gibbs.cli import simulate, validate
from urdf_gibbs.cli.console import checked_output, load_or_exit, out
from urdf_gibbs.cli.info import print_branches

NEXT = """What to try next:
  urdf-gibbs info YOUR.urdf --plot robot.png       its tree, joints and branches, and a drawing
  urdf-gibbs view YOUR.urdf                        the robot in 3-D in your browser, with a slider for each joint
  urdf-gibbs check YOUR.urdf                       what is wrong with it, line by line
  urdf-gibbs validate YOUR.urdf --base floating    whether Pinocchio agrees with our dynamics
  urdf-gibbs simulate branched12 --view            the robot falls inside a round wall: impacts, energy, the paper's table beside ours
  urdf-gibbs simulate YOUR.toml --out run.npz      a scenario of your own; models/*.toml are examples"""


def demo(
    html: Annotated[str, typer.Option(metavar="PATH", help="Where the page that plays the motion goes.")] = "urdf-gibbs-demo.html",
) -> None:
    """Load the 12-DOF branched robot, show its branches, validate it, simulate its fall, write a page, and say what to try next."""
    checked_output(html, "--html")
    path = model_path("branched12")
    robot = load_or_exit(str(path), "fixed")
    out.print(f"[bold]{robot.name}[/bold]: {len(robot.joints)} moving bodies, nq {robot.nq}, nv {robot.nv}")
    print_branches(robot)
    worst = _exit_code(lambda: validate.validate([str(path)], ["fixed"], samples=10, seed=0, mimic=True, derivatives=True))
    failed = _exit_code(lambda: simulate.simulate("branched12", html=html))
    if not failed:
        out.print(f"To see it move, open {Path(html).absolute().as_uri()} in a browser.", markup=False)
    out.print(NEXT, markup=False)
    raise typer.Exit(worst or failed)


def _exit_code(command: Callable[[], None]) -> int:
    try:
        command()
    except typer.Exit as stop:
        return stop.exit_code
    return 0
