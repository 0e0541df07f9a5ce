"""Tables of plain text for a terminal or a pipe: nothing is cut, a column without an entry goes, what is too wide comes in parts."""

from __future__ import annotations

from collections.abc import Sequence

GAP = "  "


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str], width: int) -> list[str]:
    """The lines of a table; in each of its parts the first column stands again. ``right``: headers of numbers."""
    kept = [0, *(k for k in range(1, len(headers)) if any(row[k] for row in rows))]
    sizes = {k: max(len(headers[k]), *(len(row[k]) for row in rows)) for k in kept} if rows else {}
    lines: list[str] = []
    for part in _parts(kept, sizes, width) if rows else []:
        if lines:
            lines.append("")
        for row in (headers, *rows):
            cells = [row[k].rjust(sizes[k]) if headers[k] in right else row[k].ljust(sizes[k]) for k in part]
            lines.append(GAP.join(cells).rstrip())
    return lines


def _parts(kept: list[int], sizes: dict[int, int], width: int) -> list[list[int]]:
    """Columns that fit beside each other, the first with each; one that alone is too wide stands alone."""
    parts = [[kept[0]]]
    for k in kept[1:]:
        used = sum(sizes[one] + len(GAP) for one in parts[-1])
        if used + sizes[k] > width and len(parts[-1]) > 1:
            parts.append([kept[0]])
        parts[-1].append(k)
    return parts


def wrapped(words: Sequence[str], first: str, width: int) -> list[str]:
    """Words in lines of this width behind ``first``, the next lines below its end; a word that is longer stays whole."""
    lines, indent = [first.rstrip()], " " * len(first)
    empty = True
    for word in words:
        if empty:
            lines[-1] = f"{first}{word}"
            empty = False
        elif len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}{word}")
    return lines
