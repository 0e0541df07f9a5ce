"""The Python blocks of a Markdown page, and a way to run them as a reader would: one after the other, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """(line of its first statement, source) of each block."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)) + 1, found[1]) for found in BLOCK.finditer(text)]


def run_python_blocks(page: Path) -> int:
    """How many were run; an error carries the page and the line."""
    names: dict[str, object] = {}
    blocks = python_blocks(page)
    for line, source in blocks:
        exec(compile("\n" * (line - 1) + source, str(page), "exec"), names)
    return len(blocks)
