"""``urdf-gibbs bench``: our times against Pinocchio's (and MuJoCo's, where it is installed), as interleaved medians."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from urdf_gibbs.cli.bench_contenders import DERIVED, VALUES
from urdf_gibbs.cli.bench_measure import machine, measure
from urdf_gibbs.cli.bench_tables import draw, is_elastic, print_result
from urdf_gibbs.cli.console import Files, Json, PackageDirs, XacroArgs, checked_base, err, out, pinocchio_or_exit, resolve, write_json
from urdf_gibbs.errors import UrdfError
from urdf_gibbs.oracle.pinocchio import OracleRefusal

LEGEND = """Median µs of one call from Python, and of one state of a batch; a ratio is Pinocchio's time over ours: above 1 we are faster.
kernel: robot.kernel(name)(..., out). function: urdf_gibbs.mass_matrix(robot, q, out=M) and so on. Pinocchio: crba, nonLinearEffects,
rnea and aba; loop: the same in a Python loop over the batch; parallel: rneaInParallel and abaInParallel, which fill an array in C++.
MuJoCo, at a state already set: kinematics with makeM and fullM, with rne, and forward without constraints."""
CLOCKS = "One thread is timed by the CPU time that it takes, two are timed by the clock."
DERIVATIVES = """Median µs of one call from Python, and of one state of a batch; ratio: Pinocchio's time over ours.
d inverse, d forward: robot.kernel("inverse_dynamics_derivatives") and "forward_dynamics_derivatives"; regressor: "torque_regressor".
packed: the kernels of the same names with _packed, which leave out what the tree makes zero. Pinocchio: computeRNEADerivatives,
computeABADerivatives, computeJointTorqueRegressor; loop: in a Python loop that keeps the results; dropped: one that does not.
zeros: NumPy's time to fill an array of the result's size with zeros."""
ELASTIC = """Elastic links are unknown to Pinocchio and MuJoCo. 3x3 and 4x4, Python: method="gibbs_appell_flexible" and
"transformations_flexible", the papers' recursions in plain Python; ratio: of the 3x3 one to the kernel."""
FREED = "Mimic joints are free on both sides (mimic=False): Pinocchio's mimic mode has no forward dynamics."
TIED = "Mimic joints are tied on both sides; forward dynamics of such robots is left out: Pinocchio's mimic mode has none."


def bench(
    files: Files,
    base: Annotated[list[str] | None, typer.Option(help="fixed, floating or planar; may be repeated. Default: fixed.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="States in a batch.")] = 4096,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of which the median is taken.")] = 21,
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = False,
    derivatives: Annotated[bool, typer.Option("--derivatives", help="Time derivatives and the torque regressor instead.")] = False,
    json: Json = None,
    plot: Annotated[str | None, typer.Option(metavar="PATH", help="Draw the ratios (png, svg, pdf).")] = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Time mass matrix, bias, inverse and forward dynamics, or their derivatives, against Pinocchio.

    Exit code 0, or 2 where a file cannot be loaded or Pinocchio is missing.
    """
    bases = [checked_base(name) for name in base or ["fixed"]]
    pinocchio_or_exit()
    options = [word for name in bases for word in ("--base", name)] + ["--batch", str(batch), "--rounds", str(rounds)]
    options += ["--mimic" if mimic else "--no-mimic"] + ["--derivatives"] * derivatives
    report: dict[str, Any] = {"command": shlex.join(["urdf-gibbs", "bench", *files, *options]), "machine": machine(), "results": []}
    code = 0
    stages = 2 * len(DERIVED if derivatives else VALUES) + 1  # of one robot
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=len(files) * len(bases) * stages)
        for file, one_base in ((file, one_base) for file in files for one_base in bases):
            try:
                result = {"file": file, "base": one_base}
                for stage in measure(resolve(file), one_base, mimic, batch, rounds, result, derivatives):
                    progress.update(task, description=f"{file} ({one_base}): {stage}", advance=1)
            except (UrdfError, OracleRefusal) as problem:
                err.print(str(problem), style="red", markup=False)
                code = 2
                continue
            report["results"].append(result)
            if json != "-":
                print_result(result)
    if json:
        write_json(json, report)
    if plot and report["results"]:
        draw(report["results"], plot)
    if json != "-":
        out.print(f"{DERIVATIVES if derivatives else LEGEND}\n{CLOCKS}\n{TIED if mimic else FREED}", style="dim", markup=False)
        if any(is_elastic(result) for result in report["results"]):
            out.print(ELASTIC, style="dim", markup=False)
        out.print(report["command"], markup=False)
        out.print(", ".join(f"{key} {value}" for key, value in report["machine"].items()), markup=False)
    raise typer.Exit(code)
