"""The command ``urdf-gibbs``: one file for each sub-command."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from urdf_gibbs import __version__
from urdf_gibbs.cli import bench, check, demo, equations, info, operations, reproduce, simulate, sweep, validate, view
from urdf_gibbs.cli.console import forget_given

WHAT = "Check, see, compute and simulate the robot of a URDF."


class Commands(TyperGroup):
    """All commands; ``--json`` without a path, at the end or before another option, is ``--json -``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with the dash that is meant."""
        words: list[str] = []
        for k, word in enumerate(args):
            alone = k + 1 == len(args) or args[k + 1].startswith("--")
            words += [word, "-"] if word == "--json" and alone else [word]
        return super().parse_args(ctx, words)


# Help as plain text: Rich's boxes cut long words at 80 columns, and take what stands in brackets for markup.
app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=WHAT)
# The line of each in the list of commands, which has room for 60 letters at 80 columns.
app.command("info", short_help="Print the tree, the joints and the branches of a robot.")(info.info)
app.command("check", short_help="Say what is wrong or doubtful in a file.")(check.check)
app.command("view", short_help="Show a robot in 3-D, with a slider for each joint.")(view.view)
app.command("validate", short_help="Compare a robot's dynamics with Pinocchio's.")(validate.validate)
app.command("simulate", short_help="Simulate a scene with impacts, or write one to begin with.")(simulate.simulate)
app.add_typer(sweep.app, name="sweep", short_help="Run a scene thousands of times with other values.")
app.command("equations", short_help="Write a robot's equations to read, or as code.")(equations.equations)
app.command("bench", short_help="Time a robot's dynamics beside Pinocchio's.")(bench.bench)
app.command("operations", short_help="Count the operations of a robot's dynamics.")(operations.count_operations)
app.command("reproduce", short_help="Run the papers' tables and figures again, in a clone.")(reproduce.reproduce)
app.command("demo", short_help="See all of it once, on a robot of 12 joints.")(demo.demo)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"urdf-gibbs {__version__}")
        raise typer.Exit


@app.callback(help=WHAT)
def main(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and stop.")) -> None:
    """Forget what the command before it was given, where several run in one process."""
    forget_given()
