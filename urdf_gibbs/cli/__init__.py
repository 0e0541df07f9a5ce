"""The command ``urdf-gibbs``: one file for each sub-command."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from urdf_gibbs import __version__
from urdf_gibbs.cli import bench, check, demo, equations, info, operations, reproduce, simulate, sweep, validate, view
from urdf_gibbs.cli.console import forget_given


class Commands(TyperGroup):
    """All commands; ``--json`` without a path, at the end or before another option, is ``--json -``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with the dash that is meant."""
        words: list[str] = []
        for k, word in enumerate(args):
            alone = k + 1 == len(args) or args[k + 1].startswith("--")
            words += [word, "-"] if word == "--json" and alone else [word]
        return super().parse_args(ctx, words)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    help="Dynamics of a URDF by Gibbs-Appell formulations, checked against Pinocchio.",
)
app.command("info")(info.info)
app.command("check")(check.check)
app.command("validate")(validate.validate)
app.command("operations")(operations.count_operations)
app.command("equations")(equations.equations)
app.command("bench")(bench.bench)
app.command("reproduce")(reproduce.reproduce)
app.command("simulate")(simulate.simulate)
app.add_typer(sweep.app, name="sweep")
app.command("view")(view.view)
app.command("demo")(demo.demo)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"urdf-gibbs {__version__}")
        raise typer.Exit


@app.callback()
def main(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and stop.")) -> None:
    """Dynamics of a URDF by Gibbs-Appell formulations, checked against Pinocchio."""
    forget_given()
