"""Sweeps over traced expressions, against complex steps of the expressions themselves, for every operation that a graph knows."""

from __future__ import annotations

from typing import Any

import complex_steps
import numpy as np

from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.engine.differentiate import Tape
from urdf_gibbs.engine.graph import Graph, Node, operations

AGREEMENT = 1e-14  # a dozen roundings of numbers about 1


def outputs(x: list[Any], y: list[Any]) -> list[Any]:
    """All operations; a square, a common part, a constant, an input as it is, and one output twice."""
    product = x[0] * y[0]
    quotient = sin(product) / (y[1] - 2.0)
    turned = 3.0 - cos(x[1] + quotient)
    return [product * product + quotient, -turned, -turned, 1.0 / (x[0] + y[1]), 5.0, y[0], 2.0 * x[2] - y[1]]


X, Y = np.array([0.7, -0.4, 0.3]), np.array([1.3, 0.2])
DX, DY = np.array([0.5, -1.1, 0.9]), np.array([0.3, 0.8])
W = np.array([0.3, -0.5, 0.7, 1.1, 4.0, 0.2, 0.9])
TAPE = Tape(outputs, x=3, y=2)


def along(dx: Any, dy: Any) -> Any:
    step = complex_steps.STEP
    return np.imag(np.array(outputs([*(X + 1j * step * np.asarray(dx))], [*(Y + 1j * step * np.asarray(dy))]), dtype=complex)) / step


def test_the_tape_knows_every_operation() -> None:
    counts = operations(TAPE.outputs)
    assert all(counts.values()) and any(node.op == "neg" for node in TAPE.order)
    np.testing.assert_allclose(TAPE.played({"x": X.tolist(), "y": Y.tolist()}).outputs, outputs(X.tolist(), Y.tolist()), rtol=AGREEMENT)


def test_a_forward_sweep_is_a_complex_step() -> None:
    played = TAPE.played({"x": X.tolist(), "y": Y.tolist()})
    np.testing.assert_allclose(played.tangents({"x": DX.tolist(), "y": DY.tolist()}), along(DX, DY), rtol=AGREEMENT, atol=AGREEMENT)
    np.testing.assert_allclose(played.tangents({"y": DY.tolist()}), along(0.0 * DX, DY), rtol=AGREEMENT, atol=AGREEMENT)


def test_a_reverse_sweep_is_the_transpose() -> None:
    by_x, by_y = TAPE.played({"x": X.tolist(), "y": Y.tolist()}).adjoints(W.tolist(), x=3, y=2)
    np.testing.assert_allclose(by_x, [W @ along(unit, 0.0 * Y) for unit in np.eye(3)], rtol=AGREEMENT, atol=AGREEMENT)
    np.testing.assert_allclose(by_y, [W @ along(0.0 * X, unit) for unit in np.eye(2)], rtol=AGREEMENT, atol=AGREEMENT)


def test_sweeps_over_arrays_and_over_nodes_are_those_over_floats() -> None:
    one = TAPE.played({"x": X.tolist(), "y": Y.tolist()}).tangents({"x": DX.tolist(), "y": DY.tolist()})
    many = TAPE.played({"x": [np.full(4, x) for x in X], "y": [np.full(4, y) for y in Y]})
    for found, expected in zip(many.tangents({"x": DX.tolist(), "y": DY.tolist()}), one, strict=True):
        np.testing.assert_allclose(np.broadcast_to(found, 4), expected, rtol=AGREEMENT)
    graph = Graph()
    x, y = [graph.input("x", i) for i in range(3)], [graph.input("y", i) for i in range(2)]
    nodes = TAPE.played({"x": x, "y": y}).tangents({"x": DX.tolist(), "y": DY.tolist()})
    assert isinstance(nodes[0], Node)
    second = Tape(lambda x, y: TAPE.played({"x": x, "y": y}).tangents({"x": DX.tolist(), "y": DY.tolist()}), x=3, y=2)
    np.testing.assert_allclose(second.played({"x": X.tolist(), "y": Y.tolist()}).outputs, one, rtol=AGREEMENT, atol=AGREEMENT)
