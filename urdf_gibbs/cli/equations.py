"""``urdf-gibbs equations``: a robot's equations of motion, to be read or to be compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from urdf_gibbs.cli.console import File, PackageDirs, XacroArgs, checked_base, checked_output, err, load_or_exit, resolve
from urdf_gibbs.dynamics.registry import COMPILED
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

FORMATS = ("text", "latex", "html", "sympy", "python", "c")
SUFFIXES = {".txt": "text", ".tex": "latex", ".html": "html", ".py": "python", ".c": "c"}


def equations(
    file: File,
    base: Annotated[str, typer.Option(help="fixed, floating or planar.")] = "fixed",
    method: Annotated[
        str | None, typer.Option(help="A formulation of the papers: explicit, gibbs_appell, ... Default: explicit to read, ours as code.")
    ] = None,
    what: Annotated[
        str,
        typer.Option(
            help="Separated by commas: mass-matrix, bias, gravity-force, inverse-dynamics, forward-dynamics, kinetic-energy, "
            "potential-energy, jacobian, placement."
        ),
    ] = "mass-matrix,bias",
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="|".join(FORMATS), help="Default: by the name of --out, else text or, for large robots, python."),
    ] = None,
    parameters: Annotated[
        bool | None,
        typer.Option("--parameters/--numbers", help="Constants by name, or as numbers. Default: names to read, numbers as code."),
    ] = None,
    frame: Annotated[str, typer.Option(metavar="LINK", help="The link of the Jacobian or placement.")] = "",
    gravity: Annotated[str, typer.Option(metavar="X,Y,Z", help="In world axes, in m/s².")] = ",".join(map(str, EARTH_GRAVITY)),
    out: Annotated[str | None, typer.Option(metavar="PATH", help="Write to a file instead of standard output.")] = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Write a robot's equations of motion: as text, LaTeX or a page to read, or as code in Python, C or SymPy that stands alone.

    Python and C code tests itself: run the module, or compile the C file with -DNAME_SELFTEST. Exit code 0; 2: the file or an option
    cannot be used.
    """
    checked_output(out, "--out")
    if form is None and out is not None:
        form = SUFFIXES.get(Path(out).suffix)
    if form not in (None, *FORMATS):
        raise typer.BadParameter(f"{form!r} is none of {', '.join(FORMATS)}", param_hint="--format")
    robot = load_or_exit(resolve(file), checked_base(base))
    with err.status("writing equations"):
        try:
            text = _written(robot, what.split(","), form, method and method.replace("-", "_"), parameters, frame, _triple(gravity))
        except UrdfGibbsError as problem:
            err.print(str(problem), style="red", markup=False)
            raise typer.Exit(2) from None
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
    else:
        try:
            Path(out).write_text(text, encoding="utf-8")
        except OSError as problem:
            err.print(f"{out} was not written: {problem.strerror}", style="red", markup=False)
            raise typer.Exit(2) from None


def _written(
    robot: Robot,
    what: list[str],
    form: str | None,
    method: str | None,
    named: bool | None,
    frame: str,
    gravity: tuple[float, float, float],
) -> str:
    from urdf_gibbs.equations import graph_sympy
    from urdf_gibbs.equations.code import generate, quantities, source

    names = quantities(what)
    if form not in ("python", "c"):
        from urdf_gibbs.equations import readable  # slow: imports SymPy

        small = set(names) <= readable.QUANTITIES.keys() and readable.is_small(robot)
        if small or not robot.nv:  # a robot that does not move is refused there
            shown = readable.equations(
                robot, what=names, method=method or "explicit", named=named is not False, gravity=gravity, frame=frame or None
            )
            return {"latex": shown.latex, "html": shown.html, "sympy": shown.python_source}.get(form or "text", shown.text)()
        if form == "text":
            raise typer.BadParameter(
                f"nothing short enough to read, or no formula; expected {', '.join(FORMATS[1:])}",
                param_hint="--format",
            )
    if form in ("latex", "html"):
        code = source(robot, names, gravity=gravity, named=bool(named), method=method or COMPILED, frame=frame, symbols=True)
        return graph_sympy.latex(code) if form == "latex" else graph_sympy.page(code)
    return generate(robot, names, form or "python", gravity=gravity, named=bool(named), method=method or COMPILED, frame=frame)


def _triple(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}, expected three numbers with commas, such as 0,0,-9.81", param_hint="--gravity") from None
    return x, y, z
