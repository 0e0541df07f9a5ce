"""Loading keeps up with Pinocchio's own parser, importing with numpy's."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))

from bench_load import import_times, load_times, talos


def test_loading_talos_takes_at_most_three_times_pinocchios_parse() -> None:
    """The best of three rounds: a busy machine can only make the ratio worse for whoever it hits."""
    ratios = [ours / theirs for ours, theirs in (load_times(talos(), rounds=15) for _ in range(3))]
    assert min(ratios) <= 3.0, ratios


def test_importing_costs_little_more_than_numpy() -> None:
    ratios = [ours / numpy for ours, numpy in (import_times(rounds=3) for _ in range(3))]
    assert min(ratios) <= 3.0, ratios  # numpy takes 0.1 to 0.2 s
