"""A validation as a page: the robot beside what was compared, the mass matrices, their sparsity, and the lint's findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.oracle.difference import random_states
from urdf_gibbs.oracle.report import TOLERANCE, Comparison, Report
from urdf_gibbs.robot.findings import Finding, one_line
from urdf_gibbs.robot.load import read_text
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.templates import rendered
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.palette import PALETTE
from urdf_gibbs.view.show import View, view

Array = NDArray[np.float64]
Pattern = NDArray[np.bool_]

MOST_ENTRIES = 4_000_000  # of all matrices together: 32 MB in the browser
MOST_STATES = 500_000  # numbers in the states that a click on a dot shows
ROUND_OFF = 1e-12  # of sqrt(M_ii M_jj), which bounds |M_ij|: less is what additions leave of a zero


def report_view(
    robot: Robot,
    report: Report,
    findings: Iterable[Finding],
    package_dirs: Iterable[str | os.PathLike[str]] = (),
    theme: str | None = None,
) -> View:
    """The page of a validation; the robot stands where the matrices are from, at the state where M differs most."""
    q = None if report.matrices is None else report.matrices.q
    return view(robot, q, package_dirs=package_dirs, theme=theme, extra={"report": report_data(robot, report, list(findings))})


def report_data(robot: Robot, report: Report, findings: Sequence[Finding]) -> dict[str, Any]:
    """Everything the page shows of a report, as plain values and packed arrays."""
    matrices, notes = _matrices(robot, report)
    samples = max((len(c.errors) for c in report.comparisons), default=0)
    data: dict[str, Any] = {
        "agrees": report.agrees,
        "verdict": report.verdict,
        "summary": report.summary,
        "reference": report.reference,
        "tolerance": TOLERANCE,
        "samples": report.samples,
        "seed": report.seed,
        "file": report.file,
        "base": report.base,
        "worst": {**_outcome(report.worst), "call": report.worst_call},
        "methods": list(dict.fromkeys(c.method for c in report.comparisons)),
        "quantities": list(dict.fromkeys(c.quantity for c in report.comparisons)),
        "outcomes": [{**_outcome(c), "errors": packed(c.errors)} for c in report.comparisons],
        "colours": list(PALETTE),
        "rows": [{"name": name, "link": link} for name, link in zip(robot.velocity_names, _moved_links(robot), strict=True)],
        "notes": [*report.notes, *notes],
        "findings": [
            {
                "severity": finding.severity,
                "code": finding.code,
                "line": finding.line,
                "element": finding.element,
                "value": finding.value,
                "expected": finding.expected,
                "links": links,
            }
            for finding, links in zip(findings, concerned(robot, findings), strict=True)
        ],
    }
    if matrices is not None:
        data["matrices"] = matrices
    if samples == report.samples and 0 < samples * robot.nq <= MOST_STATES:
        data["states"] = packed(random_states(robot, report.samples, report.seed).q)
    return data


def _outcome(comparison: Comparison) -> dict[str, Any]:
    """One cell of the table; the error is None where it is infinite."""
    return {
        "method": comparison.method,
        "quantity": comparison.quantity,
        "error": float(comparison.error) if np.isfinite(comparison.error) else None,
        "bound": float(comparison.bound),
        "state": comparison.state,
        "agrees": bool(comparison.agrees),
        "remark": comparison.remark,
    }


# matrices ---------------------------------------------------------------------------------------------


def _matrices(robot: Robot, report: Report) -> tuple[dict[str, Any] | None, list[str]]:
    """The mass matrices and their sparsity, and what of them is left out."""
    found = report.matrices
    if found is None:
        return None, []
    room = MOST_ENTRIES // max(robot.nv**2, 1)
    if room < 2:
        return None, [f"the mass matrices are not drawn: {robot.nv} x {robot.nv} entries are more than a page can hold"]
    kept = dict(list(found.ours.items())[: room - 1])
    left_out = list(found.ours)[room - 1 :]
    notes = [f"the mass matrices of {', '.join(left_out)} are left out of the page, which would be too large"] if left_out else []
    predicted = predicted_pattern(robot)
    nonzero = nonzero_pattern(found.reference)
    ours = [nonzero_pattern(M) for M in found.ours.values()]
    data = {
        "state": found.state,
        "ours": [{"method": method, "M": packed(M)} for method, M in kept.items()],
        "reference": packed(found.reference),
        "predicted": packed(predicted),
        "nonzero": packed(nonzero),
        "counts": {
            "entries": predicted.size,
            "predicted": int(predicted.sum()),
            "nonzero": int(nonzero.sum()),
            "outside": int((np.any([nonzero, *ours], axis=0) & ~predicted).sum()),
        },
    }
    return data, notes


def predicted_pattern(robot: Robot) -> Pattern:
    """Where M (nv, nv) can be other than zero: both coordinates move some body, which is to say that they share a branch.

    A coordinate that mimic joints follow moves what hangs on each of them.
    """
    moved = np.zeros((robot.nv, len(robot.joints)), dtype=np.float32)  # of bodies by coordinates
    above: list[list[int]] = []  # for each body, the coordinates on its way to the root
    for body, (joint, parent) in enumerate(zip(robot.joints, robot.parent, strict=True)):
        own = range(joint.iv, joint.iv + joint.nv)
        above.append(sorted({*(above[parent] if parent >= 0 else ()), *own}))
        moved[above[body], body] = 1.0
    return np.asarray(moved @ moved.T > 0.0)


def nonzero_pattern(M: Array) -> Pattern:
    """Which entries are more than round-off; one that is not a number is."""
    size = np.sqrt(np.abs(np.diag(M)))
    return np.asarray(~(np.abs(M) <= ROUND_OFF * np.outer(size, size)))


def _moved_links(robot: Robot) -> list[str]:
    """For each velocity the link that its joint moves."""
    return [joint.child for joint in robot.joints if not joint.is_mimic for _ in range(joint.nv)]


# findings ---------------------------------------------------------------------------------------------


def concerned(robot: Robot, findings: Sequence[Finding]) -> list[list[str]]:
    """The links each finding is about: the one it names, or the child of the joint it names."""
    named = [(_prefix("link", link.name), link.line, link.name) for link in robot.links]
    if robot.source:
        joints = [(joint.name, joint.line, joint.child) for joint in read_text(robot.source, robot.file).joints]
    else:
        joints = [(joint.name, 0, joint.child) for joint in robot.joints]
    named += [(_prefix("joint", name), line, child) for name, line, child in joints]
    drawn = set(robot.link_names)
    return [[link for link in _named(finding, named) if link in drawn] for finding in findings]


def _prefix(kind: str, name: str) -> str:
    """How a finding's element starts that is about this link or joint (names may be long; ``one_line`` cuts what is shown)."""
    return one_line(f'{kind} "{name}"', limit=10_000)


def _named(finding: Finding, named: Sequence[tuple[str, int, str]]) -> list[str]:
    """The longest name that the element starts with; of names that look the same, the last one above the finding's line."""
    element = finding.element
    cut = element.endswith("...") and len(element) >= 160
    matches = [(prefix, line, link) for prefix, line, link in named if element == prefix or element.startswith(prefix + " ")]
    if not matches and cut:
        matches = [(element, line, link) for prefix, line, link in named if prefix.startswith(element[:-3])]
    if not matches:
        return []
    longest = max(len(prefix) for prefix, _, _ in matches)
    matches = [match for match in matches if len(match[0]) == longest]
    above = [match for match in matches if match[1] <= finding.line] or matches
    return [max(above, key=lambda match: match[1])[2]]


# index ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the index: a file and base with its verdict, and the page about it ("": none) or the errors it has."""

    file: str
    base: str
    verdict: str
    worst: str = ""
    page: str = ""
    errors: tuple[str, ...] = ()


MARKS = {
    "agrees": "\u2713 agrees",
    "disagrees": "\u2717 disagrees",
    "nothing to compare": "\u2013 nothing to compare",
    "refused": "\u2717 cannot be loaded",
}


def index_page(entries: Sequence[Entry], total: int) -> str:
    """One static page with a row for each entry; ``total`` is how many there would be."""
    words = {"agrees": "agree", "disagrees": "disagree", "nothing to compare": "have nothing to compare", "refused": "cannot be loaded"}
    numbers = {verdict: sum(entry.verdict == verdict for entry in entries) for verdict in words}
    counts = [f"{numbers[verdict]} {word}" for verdict, word in words.items() if numbers[verdict] or verdict != "nothing to compare"]
    summary = f"{len(entries)} of {total} done: " + ", ".join(counts) + "."
    return rendered("view", "index.html", summary=summary, entries=entries, marks=MARKS)
