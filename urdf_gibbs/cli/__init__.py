"""The command ``urdf-gibbs``: one file for each sub-command."""

from __future__ import annotations

import typer

from urdf_gibbs import __version__
from urdf_gibbs.cli import bench, check, demo, equations, info, operations, reproduce, simulate, sweep, validate, view
from urdf_gibbs.cli.console import forget_given

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Dynamics of a URDF by Gibbs-Appell formulations, checked against Pinocchio."
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
