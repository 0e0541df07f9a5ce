"""``urdf-gibbs check``: what is wrong or doubtful in URDF files, in groups by code; for programs as lines, JSON or SARIF."""

from __future__ import annotations

from typing import Annotated

import typer

from urdf_gibbs.cli.check_report import Report, filtered, print_lines, print_report, print_tally
from urdf_gibbs.cli.console import Files, Json, PackageDirs, checked_output, resolve, write_json
from urdf_gibbs.lint.check import check as lint
from urdf_gibbs.robot.codes import CODES, similar_code

Codes = list[str] | None


def check(
    files: Files,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors; notes do not.")] = False,
    ignore: Annotated[Codes, typer.Option("--ignore", metavar="CODE", help="Leave these out. May be repeated, or CODE,CODE.")] = None,
    only: Annotated[Codes, typer.Option("--only", metavar="CODE", help="Only these. May be repeated, or CODE,CODE.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Every finding in full, and how to repair it.")] = False,
    lines: Annotated[bool, typer.Option("--lines", help="One line for each finding, as compilers print them.")] = False,
    json: Json = None,
    sarif: Annotated[str | None, typer.Option(metavar="PATH", help="Write SARIF 2.1.0 to PATH, for code scanning.")] = None,
    package_dir: PackageDirs = None,
) -> None:
    """Say what is wrong or doubtful in URDF files. Exit code 0: no errors (with --strict: no warnings), 1 otherwise."""
    left_out, wanted = _codes(ignore, "--ignore"), _codes(only, "--only")
    checked_output(sarif, "--sarif")
    reports = []
    for file in files:
        path = resolve(file)
        found = lint(path, package_dir or ())
        kept = filtered(found, left_out, wanted)
        reports.append(Report(file, path, tuple(found), tuple(kept)))
        if json != "-":
            (print_lines if lines else print_report)(reports[-1], verbose)
    if len(files) > 1 and json != "-":
        print_tally(reports)
    if json:
        write_json(json, [report.as_dict() for report in reports])
    if sarif:
        from urdf_gibbs.cli.sarif import sarif_log

        write_json(sarif, sarif_log(reports))
    raise typer.Exit(1 if any(report.fails(strict) for report in reports) else 0)


def _codes(given: Codes, option: str) -> set[str]:
    """The codes of an option, which may be given several times and hold several."""
    names = [name.strip() for text in given or () for name in text.split(",") if name.strip()]
    for name in names:
        if name not in CODES:
            like = similar_code(name)
            meant = f"; did you mean {like}?" if like else f", such as {', '.join(list(CODES)[:4])}"
            raise typer.BadParameter(f"{name!r} is no code of a finding{meant}", param_hint=option)
    return set(names)
