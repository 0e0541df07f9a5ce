"""The operations of the derivatives of inverse dynamics by differentiation of its graph, to stand beside a recursion of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urdf_gibbs.counts.folded import counted
from urdf_gibbs.engine.graph import Graph, simplified
from urdf_gibbs.engine.product_quantities import force_adjoints, force_tangents, played_force
from urdf_gibbs.engine.quantity import Options
from urdf_gibbs.engine.swept_derivatives import swept_columns
from urdf_gibbs.robot.model import Robot


class Swept(NamedTuple):
    """Operations of ID_q, ID_v and ID_a together, and of one product of each kind; keys as in ``folded``."""

    forward: dict[str, int]  # nv forward sweeps for each of the three
    reverse: dict[str, int]  # nv reverse sweeps
    jvp: dict[str, int]
    vjp: dict[str, int]


def swept_inverse_dynamics(robot: Robot, options: Options | None = None, limit: int | None = None) -> Swept:
    """What graph differentiation takes, in tangent space, folded like every other formulation; more than ``limit`` nodes raise TooLarge."""
    graph, n = Graph(limit), robot.nv
    widths = {"q": robot.nq, "v": n, "a": n, "dq": n, "dv": n, "da": n, "w": n}
    q, v, a, dq, dv, da, w = ([graph.input(letter, i) for i in range(width)] for letter, width in widths.items())
    played = played_force(robot, options or Options(), q, v, a)
    forward = [x for name in ("q", "v", "a") for column in swept_columns(robot, played, q, name) for x in column]
    reverse = [x for unit in np.eye(n).tolist() for row in force_adjoints(robot, played, q, unit) for x in row]
    jvp = force_tangents(robot, played, q, dq, dv, da)
    vjp = [x for row in force_adjoints(robot, played, q, w) for x in row]
    return Swept(*(counted(simplified(outputs, Graph())) for outputs in (forward, reverse, jvp, vjp)))
