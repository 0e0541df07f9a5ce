"""The tables of keys in docs/pages/scenarios.md, from the schema: python docs/scenario_tables.py writes them anew between their marks."""

from __future__ import annotations

import re
from pathlib import Path

from urdf_gibbs.simulation.scenario.explained import Section, sections

PAGE = Path(__file__).parent / "pages" / "scenarios.md"
# What stands between a mark, <!-- keys: [robot] -->, and the next empty line.
MARKED = re.compile(r"^<!-- keys: (.*?) -->\n(?:\|.*\n)*", re.M)


def table(section: Section) -> str:
    """A row for each key: its type, unit, default and meaning."""
    rows = ["| key | type | unit | default | meaning |", "|---|---|---|---|---|"]
    for entry in section.entries:
        default = "required" if entry.required else entry.without if entry.default is None else f"`{entry.usual}`"
        shown = [f"`{entry.key}`", entry.type, entry.unit.replace("^2", "²").replace("^(", "^("), default, entry.meaning]
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|').replace('<', '&lt;') for cell in shown)} |")
    return "\n".join(rows) + "\n"


def updated(text: str) -> str:
    """The page with the tables as the schema has them now."""
    found = {section.header or "top": section for section in sections()}
    return MARKED.sub(lambda mark: f"<!-- keys: {mark[1]} -->\n{table(found.pop(mark[1]))}", text)


def missing(text: str) -> set[str]:
    """Tables that the page does not have."""
    return {section.header or "top" for section in sections()} - set(MARKED.findall(text))


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
