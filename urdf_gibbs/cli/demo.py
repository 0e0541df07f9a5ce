"""``urdf-gibbs demo``: the 12-DOF branched robot from file to confirmed dynamics."""

from __future__ import annotations

import typer

from urdf_gibbs.bundled import model_path
from urdf_gibbs.cli import validate
from urdf_gibbs.cli.console import load_or_exit, out
from urdf_gibbs.cli.info import print_branches

NEXT = """What to try next:
  urdf-gibbs info YOUR.urdf --plot robot.png       its tree, joints and branches, and a drawing
  urdf-gibbs view YOUR.urdf                        the robot in 3-D in your browser, with a slider for each joint
  urdf-gibbs check YOUR.urdf                       what is wrong with it, line by line
  urdf-gibbs validate YOUR.urdf --base floating    whether Pinocchio agrees with our dynamics
  urdf-gibbs simulate branched12 --view            the robot falls inside a round wall: impacts, energy, the paper's table beside ours
  urdf-gibbs simulate YOUR.toml --out run.npz      a scenario of your own; models/*.toml are examples"""


def demo() -> None:
    """Load the 12-DOF branched robot, show its branches, validate it, and say what to try next."""
    path = model_path("branched12")
    robot = load_or_exit(str(path), "fixed")
    out.print(f"[bold]{robot.name}[/bold]: {len(robot.joints)} moving bodies, nq {robot.nq}, nv {robot.nv}")
    print_branches(robot)
    try:
        validate.validate([str(path)], ["fixed"], 10, 0, None, True, None, None)
    except typer.Exit as stop:
        out.print(NEXT, markup=False)
        raise typer.Exit(stop.exit_code) from None
