"""The README's examples run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_blocks import run_python_blocks

README = Path(__file__).parents[1] / "README.md"


def test_python_blocks_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # they write files
    assert run_python_blocks(README) >= 2


def test_pictures_and_pages_are_there() -> None:
    files = re.findall(r"\[[^]]*\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert any(name.endswith(".png") for name in files)
    assert [name for name in files if not (README.parent / name).is_file()] == []


def test_lines_of_its_tables_are_those_of_the_documentation() -> None:
    """A figure stands in both, and is the same."""

    def lines(path: Path) -> set[str]:
        return {line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")}

    pages = README.parent / "docs" / "pages"
    assert len(lines(README)) > 12
    assert lines(README) <= lines(pages / "verified.md") | lines(pages / "speed.md")


def test_it_is_short() -> None:
    """For a person with a robot, who wants to know what this is: the rest stands on the pages that it names."""
    assert len(README.read_text(encoding="utf-8").splitlines()) < 120
