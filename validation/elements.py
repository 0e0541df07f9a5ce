"""When parallel elements of the mass matrix pay, as a table: one thread over two, for elements and for states.

    python validation/elements.py [FILE.json]

Ratios are of interleaved medians; above 1 two threads are faster. "At most" is the ratio of the operations of all elements and of the
larger half. Needs an idle machine with two cores for meaningful results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import own_tree  # noqa: F401

from urdf_gibbs.reproduce.elements import measure


def main(out: str | None = None) -> list[dict[str, Any]]:
    """The rows, printed, and written as JSON to ``out``."""
    rows = measure(lambda text: print(text, file=sys.stderr), quick=False)
    for method in ("compiled", "explicit"):
        own = [row for row in rows if row.method == method]
        base, *others = own[0].seconds
        print(
            f"\n{'robot':16} {'elements':>8} {'states':>7} {base + ' [us]':>18}",
            *(f"{name:>20}" for name in others),
            "  pays (elements at most)",
        )
        for row in own:
            verdict = f"{row.pays} ({row.limit:.2f}x)" if row.pays else ""
            ratios = (f"{ratio:19.2f}x" for ratio in row.ratios.values())
            print(f"{row.robot:16} {row.elements:8} {row.states:7} {1e6 * row.seconds[base]:18.2f}", *ratios, f"  {verdict}")
    found = [row.as_dict() for row in rows]
    if out is not None:
        Path(out).write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
