"""Derivatives of traced expressions: forward sweeps with tangents, reverse sweeps with adjoints.

A tape is the graph of a function of named input arrays. It is played over any scalar (floats, arrays of states, nodes of another graph),
and swept along the values found, so that one sweep serves plain Python and, over nodes, becomes code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from urdf_gibbs.dynamics.scalar import add, cos, is_zero, mul, sin, sub
from urdf_gibbs.engine.graph import Graph, Node, needed, simplified

Inputs = dict[str, Sequence[Any]]


class Tape:
    """The outputs of a function as a simplified graph, its nodes in the order of computation."""

    def __init__(self, function: Callable[..., list[Any]], **widths: int) -> None:
        """``function`` takes one list of scalars for each of the named inputs and returns a flat list."""
        graph = Graph()
        traced = function(*([graph.input(name, i) for i in range(width)] for name, width in widths.items()))
        self.outputs = simplified(list(traced), Graph())
        self.order = needed(self.outputs)

    def played(self, inputs: Inputs) -> Played:
        """All values of the tape for given inputs."""
        values: dict[int, Any] = {}

        def of(x: Any) -> Any:
            return values[x.index] if isinstance(x, Node) else x

        for node in self.order:
            op, args = node.op, node.args
            if op == "input":
                values[node.index] = inputs[args[0]][args[1]]
            elif op == "add":
                values[node.index] = add(of(args[0]), of(args[1]))
            elif op == "sub":
                values[node.index] = sub(of(args[0]), of(args[1]))
            elif op == "mul":
                values[node.index] = mul(of(args[0]), of(args[1]))
            elif op == "div":
                values[node.index] = of(args[0]) / of(args[1])
            elif op == "neg":
                values[node.index] = mul(-1.0, of(args[0]))
            else:
                values[node.index] = {"sin": sin, "cos": cos}[op](of(args[0]))
        return Played(self, values)


class Played:
    """A tape with the value of every node."""

    def __init__(self, tape: Tape, values: dict[int, Any]) -> None:
        self.tape, self._values = tape, values

    @property
    def outputs(self) -> list[Any]:
        return [self._of(output) for output in self.tape.outputs]

    def _of(self, x: Any) -> Any:
        return self._values[x.index] if isinstance(x, Node) else x

    def _slopes(self, node: Node) -> Iterator[tuple[Node, Any]]:
        """The operands that are nodes, and the derivative with respect to each."""
        op, args = node.op, node.args
        if op in ("add", "sub", "neg"):
            signs = {"add": (1.0, 1.0), "sub": (1.0, -1.0), "neg": (-1.0,)}[op]
            pairs = zip(args, signs, strict=True)
        elif op == "mul":
            pairs = zip(args, (self._of(args[1]), self._of(args[0])), strict=True)
        elif op == "div":
            inverse = 1.0 / self._of(args[1])
            pairs = zip(args, (inverse, mul(mul(-1.0, inverse), self._of(node))), strict=True)
        elif op == "sin":
            pairs = zip(args, (cos(self._of(args[0])),), strict=True)
        else:
            assert op == "cos", op
            pairs = zip(args, (mul(-1.0, sin(self._of(args[0]))),), strict=True)
        return ((arg, slope) for arg, slope in pairs if isinstance(arg, Node))

    def tangents(self, inputs: Inputs) -> list[Any]:
        """Derivatives of the outputs along a change of the named inputs; the others stay."""
        tangents: dict[int, Any] = {}
        for node in self.tape.order:
            change: Any = 0.0
            if node.op == "input":
                name, i = node.args
                change = inputs[name][i] if name in inputs else 0.0
            elif any(arg.index in tangents for arg in node.args if isinstance(arg, Node)):
                for arg, slope in self._slopes(node):
                    change = add(change, mul(slope, tangents.get(arg.index, 0.0)))
            if not is_zero(change):
                tangents[node.index] = change
        return [tangents.get(output.index, 0.0) if isinstance(output, Node) else 0.0 for output in self.tape.outputs]

    def adjoints(self, weights: Sequence[Any], **widths: int) -> list[list[Any]]:
        """Partial derivatives of the weighted sum of the outputs with respect to each of the named inputs, which have these widths."""
        adjoints: dict[int, Any] = {}
        for output, weight in zip(self.tape.outputs, weights, strict=True):
            if isinstance(output, Node):
                adjoints[output.index] = add(adjoints.get(output.index, 0.0), weight)
        found: dict[str, list[Any]] = {name: [0.0] * width for name, width in widths.items()}
        for node in reversed(self.tape.order):
            share = adjoints.pop(node.index, 0.0)
            if is_zero(share):
                continue
            if node.op == "input":
                name, i = node.args
                if name in found:
                    found[name][i] = share
                continue
            for arg, slope in self._slopes(node):
                adjoints[arg.index] = add(adjoints.get(arg.index, 0.0), mul(share, slope))
        return list(found.values())
