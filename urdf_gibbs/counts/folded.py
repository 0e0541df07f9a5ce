"""Folded: the operations that remain after tracing, when constants, zeros, ones, repeated and cancelled terms are gone."""

from __future__ import annotations

from typing import Any

from urdf_gibbs.counts.scalars import Traced, with_total
from urdf_gibbs.engine.graph import Graph, operations, simplified
from urdf_gibbs.robot.model import Robot


def folded(robot: Robot, function: Traced, limit: int | None = None) -> dict[str, int]:
    """What the outputs of ``function`` take; more than ``limit`` nodes raise TooLarge."""
    graph = Graph(limit)
    q, v, tau = ([graph.input(letter, i) for i in range(n)] for letter, n in (("q", robot.nq), ("v", robot.nv), ("tau", robot.nv)))
    return counted(simplified(function(q, v, tau), Graph()))


def counted(outputs: list[Any]) -> dict[str, int]:
    """The operations of a folded graph."""
    counts = operations(outputs)
    named = {"multiplications": counts["mul"], "additions": counts["add"] + counts["sub"], "divisions": counts["div"]}
    return with_total({**named, "sines": counts["sin"], "cosines": counts["cos"]})
