"""Findings as SARIF 2.1.0, the format that code scanning of GitHub, Azure DevOps and editors read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from urdf_gibbs import __version__
from urdf_gibbs.cli.check_report import Report
from urdf_gibbs.robot.codes import CODES
from urdf_gibbs.robot.findings import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_log(reports: list[Report]) -> dict[str, Any]:
    """One run with the findings of all files; those that were not asked for are marked as suppressed."""
    codes = list(dict.fromkeys(one.code for report in reports for one in report.found))
    number = {code: i for i, code in enumerate(codes)}
    driver = {"name": "urdf-gibbs check", "semanticVersion": __version__, "rules": [_rule(code) for code in codes]}
    results = []
    for report in reports:
        kept = set(map(id, report.kept))
        for finding in report.found:
            results.append(_result(finding, report.path, number[finding.code], id(finding) in kept))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _rule(code: str) -> dict[str, Any]:
    rule = CODES.get(code)
    if rule is None:
        return {"id": code}
    title = rule.title[0].upper() + rule.title[1:]
    return {
        "id": code,
        "shortDescription": {"text": f"{title}."},
        "help": {"text": rule.repair},
        "defaultConfiguration": {"level": rule.severities[0]},
    }


def _result(finding: Finding, path: str, rule: int, kept: bool) -> dict[str, Any]:
    text = f"{finding.element}: found {finding.value}, expected {finding.expected}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(path), "region": {"startLine": max(1, finding.line)}}}],
    }
    if not kept:
        result["suppressions"] = [{"kind": "external", "justification": "left out on the command line"}]
    return result


def _artifact(path: str) -> dict[str, str]:
    """Relative to the folder of the sources, which is the working folder, where the file is in it."""
    absolute = Path(path).absolute()
    try:
        return {"uri": quote(absolute.relative_to(Path.cwd()).as_posix()), "uriBaseId": "%SRCROOT%"}
    except ValueError:
        return {"uri": absolute.as_uri()}
