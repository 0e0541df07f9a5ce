"""What ``urdf-gibbs check`` prints of a file: findings in groups, each with its code, a count and the places, within the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from urdf_gibbs.arguments import counted
from urdf_gibbs.cli.console import out
from urdf_gibbs.robot.codes import CODES
from urdf_gibbs.robot.findings import Finding

STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
IN_FULL = {"error": 20, "warning": 6, "note": 1}  # of one code; of the others the names
WIDEST = 100


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one file: all, and those that ``--ignore`` and ``--only`` leave. ``file`` as it was named, ``path`` of the URDF."""

    file: str
    path: str
    found: tuple[Finding, ...]
    kept: tuple[Finding, ...]

    @property
    def counts(self) -> dict[str, int]:
        return {severity: sum(one.severity == severity for one in self.kept) for severity in STYLES}

    def fails(self, strict: bool) -> bool:
        counts = self.counts
        return bool(counts["error"] or (strict and counts["warning"]))

    def as_dict(self) -> dict[str, Any]:
        """All findings, also those that were not asked for, which are marked."""
        kept = set(map(id, self.kept))
        return {"file": self.file, **self.counts, "findings": [one.as_dict() | {"ignored": id(one) not in kept} for one in self.found]}


def filtered(findings: Iterable[Finding], ignore: set[str], only: set[str]) -> list[Finding]:
    """Without the codes of ``ignore``, and with those of ``only`` alone where it names any."""
    return [one for one in findings if one.code not in ignore and (not only or one.code in only)]


def print_lines(report: Report, verbose: bool) -> None:
    """One line for each finding."""
    for finding in report.kept:
        out.print(str(finding), style=STYLES[finding.severity], markup=False)
    out.print(summary(report), markup=False)


def print_report(report: Report, verbose: bool) -> None:
    """A group for each code, errors first, and the summary."""
    width = min(out.width, WIDEST)
    if report.kept:
        out.print(Text(report.file, style="bold"))
    for severity in STYLES:
        groups: dict[str, list[Finding]] = {}
        for finding in report.kept:
            if finding.severity == severity:
                groups.setdefault(finding.code, []).append(finding)
        for code, findings in sorted(groups.items(), key=lambda group: -len(group[1])):
            _print_group(severity, code, findings, width, verbose)
    out.print(summary(report), markup=False)


def _print_group(severity: str, code: str, findings: list[Finding], width: int, verbose: bool) -> None:
    rule = CODES.get(code)
    count = f" x{len(findings)}" if len(findings) > 1 else ""
    head = Text(f"{severity} {code}{count}", style=STYLES[severity])
    title = f": {rule.title}" if rule else ""
    for number, line in enumerate(textwrap.wrap(head.plain + title, width, subsequent_indent="    ", break_long_words=False)):
        shown = Text(line)
        if number == 0:
            shown.stylize(STYLES[severity], 0, len(head.plain))
        out.print(shown)
    full = len(findings) if verbose else IN_FULL[severity]
    for finding in findings[:full]:
        where = f"line {finding.line}, " if finding.line else ""
        told = f"{where}{finding.element}: {finding.value}; expected {finding.expected}"
        out.print(_wrapped(told, width, 2), markup=False)
    others = findings[full:]
    if others:
        names = ", ".join(dict.fromkeys(_short(one) for one in others))
        out.print(_wrapped(f"and {len(others)} more: {names}", width, 2), markup=False)
    if verbose and rule:
        out.print(_wrapped(f"repair: {rule.repair}", width, 2), markup=False)


def _short(finding: Finding) -> str:
    """The name in quotes of what a finding is about, and its line."""
    parts = finding.element.split('"')
    name = parts[1] if len(parts) > 2 else finding.element
    return f"{name} ({finding.line})" if finding.line else name


def _wrapped(text: str, width: int, indent: int) -> str:
    first, rest = " " * indent, " " * (indent + 2)
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def summary(report: Report) -> str:
    """``FILE: 2 errors, 1 warning, 0 notes``."""
    told = ", ".join(counted(count, severity) for severity, count in report.counts.items())
    ignored = len(report.found) - len(report.kept)
    return f"{report.file}: {told}{f' ({ignored} not asked for)' if ignored else ''}"


def print_tally(reports: list[Report]) -> None:
    """One line for all files, and one with the codes of their errors and warnings, the most frequent first."""
    totals = {severity: sum(report.counts[severity] for report in reports) for severity in STYLES}
    clean = sum(not report.fails(strict=True) for report in reports)
    told = ", ".join(counted(count, severity) for severity, count in totals.items())
    out.print(f"{len(reports)} files, {clean} without errors and warnings: {told}", markup=False)
    counts: dict[str, int] = {}
    for report in reports:
        for finding in report.kept:
            if finding.severity != "note":
                counts[finding.code] = counts.get(finding.code, 0) + 1
    if counts:
        listed = ", ".join(f"{code} {count}" for code, count in sorted(counts.items(), key=lambda one: -one[1]))
        out.print(_wrapped(listed, min(out.width, WIDEST), 2), markup=False)
