"""Machine code of the derivatives: straight-line in several functions, and for forward dynamics with the solutions in lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from urdf_gibbs.derivatives.forward_dynamics import front
from urdf_gibbs.dynamics.local import LocalModel
from urdf_gibbs.engine.column_solve import Layout, batch_solve_ir, layout_of, single_solve_ir, working_row
from urdf_gibbs.engine.derivative_quantities import DERIVATIVES, FORWARD, FORWARD_PACKED, INVERSE, entries_of
from urdf_gibbs.engine.emit import Program, batch_ir, single_ir
from urdf_gibbs.engine.parts import is_long, long_batch_ir, long_single_ir
from urdf_gibbs.engine.quantities import trace
from urdf_gibbs.engine.quantity import Options, Traced, pivot_checks
from urdf_gibbs.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Text:
    """IR of ``single``, that of ``batch`` for a distance of the rows of the output in entries, and the number of operations."""

    single: str
    batch: Callable[[int], str]
    work: int


def straight_text(robot: Robot, name: str, options: Options) -> Text:
    """The code of a quantity; raises TooLarge where straight-line code would not pay."""
    if name in (FORWARD, FORWARD_PACKED) and not robot.is_flexible:
        program, layout = forward_program(robot, name, options)
        return Text(single_solve_ir(program, layout), lambda stride: batch_solve_ir(program, layout, stride), program.work)
    program = trace(robot, name, options)
    if name in DERIVATIVES and is_long(program):
        return Text(long_single_ir(program), lambda stride: long_batch_ir(program, stride), program.work)
    return Text(single_ir(program), lambda stride: batch_ir(program, stride), program.work)


def forward_program(robot: Robot, name: str, options: Options) -> tuple[Program, Layout]:
    """The front of the derivatives of forward dynamics, and where its results lie."""
    n = robot.nv
    related = np.zeros((n, n), dtype=bool)
    related[entries_of(robot, INVERSE)] = True
    picked = None
    rows, columns = entries_of(robot, FORWARD)
    if name == FORWARD_PACKED and len(rows) < n * n:
        picked = [int(block * n * n + i * n + j) for block in range(3) for i, j in zip(rows, columns, strict=True)]
    layouts: list[Layout] = []

    def row(robot: Robot, model: LocalModel, options: Options, q: list[Any], v: list[Any], tau: list[Any]) -> Traced:
        before = front(model, q, v, tau, list(options.gravity))
        layouts.append(layout_of(n, before.factors.above, related, picked))
        return working_row(layouts[0], before), pivot_checks(robot, before.factors.pivots)

    program = trace(robot, name, options, instead=row)
    return program, layouts[0]
