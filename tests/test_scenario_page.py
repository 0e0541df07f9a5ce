"""The page on scenarios says of each key what the schema says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))

import scenario_tables  # noqa: E402

from urdf_gibbs.simulation.scenario import schema  # noqa: E402

PAGE = scenario_tables.PAGE.read_text(encoding="utf-8")


def test_tables_are_those_of_the_schema() -> None:
    assert scenario_tables.missing(PAGE) == set()
    assert scenario_tables.updated(PAGE) == PAGE, "python docs/scenario_tables.py writes them anew"


def test_keys_types_and_defaults_stand_in_the_page() -> None:
    """Some, read here from the page by hand: the generator is not asked."""
    for line in (
        r"\| `duration` \| number above 0 \| s \| required \|",
        r"\| `restitution` \| number from 0 to 1 \|  \| `1.0` \|",
        r"\| `rtol` \| number above 0 \|  \| `1e-10` \|",
        r"\| `spacing` \| positive number of metres \| m \| `0.1` \|",
        r"\| `friction_angle` \| number from 0.0872665 to 1.0472 \| rad \| `0.610865` \|",
        r"\| `joint_limits` \| true or false \|  \| `false` \|",
    ):
        assert re.search(f"^{line}", PAGE, re.M), line
    for key in (*(schema.TOP.keys or {}), *schema.KINDS, *schema.CONTROLLERS, *schema.SOIL_NUMBERS, *schema.MOTIONS):
        assert re.search(rf"[`\"\[]{key}[`\".\]]", PAGE), key


def test_every_subject_has_a_picture() -> None:
    pictures = re.findall(r"!\[[^]]{20,}\]\((figures/\w+\.png)\)", PAGE)
    assert len(set(pictures)) >= 8 and all((scenario_tables.PAGE.parent / name).is_file() for name in pictures)
