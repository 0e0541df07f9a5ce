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
