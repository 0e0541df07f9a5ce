"""``urdf-gibbs check``: the lint, one line for each finding."""

from __future__ import annotations

from typing import Annotated

import typer

from urdf_gibbs.cli.console import Files, Json, PackageDirs, XacroArgs, err, given, out, resolve, write_json
from urdf_gibbs.lint import check as lint

STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def check(
    files: Files,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: Json = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Say what is wrong or questionable in URDF files. Exit code 0: no errors (with --strict: no warnings), 1 otherwise."""
    results = []
    failed = False
    for file in files:
        findings = lint(resolve(file), **given())
        counts = {severity: sum(finding.severity == severity for finding in findings) for severity in STYLES}
        failed |= bool(counts["error"] or (strict and counts["warning"]))
        results.append({"file": file, **counts, "findings": [finding.as_dict() for finding in findings]})
        if json != "-":
            for finding in findings:
                out.print(str(finding), style=STYLES[finding.severity], markup=False)
            summary = ", ".join(f"{count} {severity}{'s' if count != 1 else ''}" for severity, count in counts.items())
            (err if findings else out).print(f"{file}: {summary}", markup=False)
    if json:
        write_json(json, results)
    raise typer.Exit(1 if failed else 0)
