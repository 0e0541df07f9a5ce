"""Traced expressions: a formulation run over these nodes becomes a graph with constants, zeros, ones and repetitions folded.

A node is an operation on earlier nodes and floats. Equal operations are one node (common subexpressions); signs are kept
outside products, so that a*b and (-a)*b share their product. What no output needs is never emitted.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from urdf_gibbs.dynamics.scalar import cos, sin

ARITHMETIC = ("add", "sub", "mul", "div")


class TooLarge(Exception):
    """The graph exceeds its limit: straight-line code would not pay."""


class Graph:
    """Operations in order of creation; ``limit`` bounds their number."""

    def __init__(self, limit: int | None = None) -> None:
        self.nodes: list[Node] = []
        self.limit = limit
        self._known: dict[tuple[Any, ...], Node] = {}

    def node(self, op: str, *args: Any) -> Node:
        key = (op, *args)  # nodes are equal only to themselves
        node = self._known.get(key)
        if node is None:
            if self.limit is not None and len(self.nodes) >= self.limit:
                raise TooLarge
            node = self._known[key] = Node(self, len(self.nodes), op, args)
            self.nodes.append(node)
        return node

    def input(self, name: str, index: int) -> Node:
        """Entry ``index`` of an input array."""
        return self.node("input", name, index)


class Node:
    """One value. Behaves as a scalar in the formulations."""

    __slots__ = ("args", "graph", "index", "op")

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Any, ...]) -> None:
        self.graph = graph
        self.index = index
        self.op = op
        self.args = args

    def __repr__(self) -> str:
        return f"#{self.index}"

    def __add__(self, other: Any) -> Any:
        return _add(self, other)

    def __radd__(self, other: Any) -> Any:
        return _add(self, other)

    def __sub__(self, other: Any) -> Any:
        return _add(self, _negated(other))

    def __rsub__(self, other: Any) -> Any:
        return _add(_negated(self), other)

    def __mul__(self, other: Any) -> Any:
        return _mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return _mul(self, other)

    def __truediv__(self, other: Any) -> Any:
        return _div(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _div(other, self)

    def __neg__(self) -> Any:
        return _negated(self)


Value = Node | float


def _negated(a: Any) -> Any:
    if not isinstance(a, Node):
        return -a
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub" and not isinstance(a.args[0], Node):
        return _add(a.args[1], -a.args[0])
    return a.graph.node("neg", a)


def _add(a: Node, b: Any) -> Any:
    graph = a.graph
    if not isinstance(b, Node):
        if b == 0.0:
            return a
        if a.op == "neg":
            return graph.node("sub", float(b), a.args[0])
        if a.op == "add" and not isinstance(a.args[1], Node):  # (x + c) + d
            return _add(a.args[0], a.args[1] + b)
        if a.op == "sub" and not isinstance(a.args[0], Node):  # (c - x) + d
            return _add(_negated(a.args[1]), a.args[0] + b)
        return graph.node("add", a, float(b))
    if b.op == "neg":
        return 0.0 if b.args[0] is a else _sub(a, b.args[0])
    if a.op == "neg":
        return 0.0 if a.args[0] is b else _sub(b, a.args[0])
    if a.index > b.index:
        a, b = b, a
    return graph.node("add", a, b)


def _sub(a: Node, b: Node) -> Any:
    """a - b for nodes that are no negations."""
    if a.op == "add" and (a.args[0] is b or a.args[1] is b):  # (x + b) - b
        return a.args[1] if a.args[0] is b else a.args[0]
    if a.index > b.index:  # a - b and b - a are one node and its negation
        return a.graph.node("neg", a.graph.node("sub", b, a))
    return a.graph.node("sub", a, b)


def _mul(a: Node, b: Any) -> Any:
    graph = a.graph
    if not isinstance(b, Node):
        if isinstance(b, list):  # a vector or matrix, which multiplies its entries
            return NotImplemented
        if b == 0.0:
            return 0.0
        if b == 1.0:
            return a
        if b < 0.0:
            return _negated(_mul(a, -b))
        if a.op == "neg":
            return _negated(_mul(a.args[0], b))
        if a.op == "mul" and not isinstance(a.args[1], Node):
            return _mul(a.args[0], a.args[1] * b)
        return graph.node("mul", a, float(b))
    if a.op == "neg":
        return _negated(_mul(a.args[0], b))
    if b.op == "neg":
        return _negated(_mul(a, b.args[0]))
    if a.op == "div" and a.args[1] is b and a.args[0] == 1.0:  # (1/b) b
        return 1.0
    if b.op == "div" and b.args[1] is a and b.args[0] == 1.0:
        return 1.0
    if a.index > b.index:
        a, b = b, a
    return graph.node("mul", a, b)


def _div(a: Any, b: Any) -> Any:
    if not isinstance(b, Node):  # the graph may have folded one or both to a constant
        return _times(a, math.inf if b == 0.0 else 1.0 / b)
    if a is b:
        return 1.0
    if b.op == "neg":
        return _negated(_div(a, b.args[0]))
    if isinstance(a, Node) and a.op == "neg":
        return _negated(_div(a.args[0], b))
    return b.graph.node("div", a if isinstance(a, Node) else float(a), b)


sin.register(Node, lambda x: -x.args[0].graph.node("sin", x.args[0]) if x.op == "neg" else x.graph.node("sin", x))
cos.register(Node, lambda x: x.args[0].graph.node("cos", x.args[0]) if x.op == "neg" else x.graph.node("cos", x))


def needed(outputs: list[Any]) -> list[Node]:
    """The nodes that the outputs depend on, operands first, each shortly before its use, so that few values are alive at a time."""
    order: list[Node] = []
    seen: set[int] = set()
    for output in outputs:
        if not isinstance(output, Node):
            continue
        stack: list[tuple[Node, bool]] = [(output, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node.index not in seen:
                seen.add(node.index)
                stack.append((node, True))
                for arg in reversed(node.args):
                    if type(arg) is Node and arg.index not in seen:
                        stack.append((arg, False))
    return order


def operations(outputs: list[Any]) -> dict[str, int]:
    """How many additions, subtractions, multiplications and divisions the outputs take, and sines and cosines."""
    counted = Counter(node.op for node in needed(outputs))
    return {op: counted[op] for op in (*ARITHMETIC, "sin", "cos")}


def arithmetic(outputs: list[Any]) -> int:
    """Multiplications + additions + divisions."""
    counts = operations(outputs)
    return sum(counts[op] for op in ARITHMETIC)


# Sums -------------------------------------------------------------------------------------------------


def simplified(outputs: list[Any], graph: Graph) -> list[Any]:
    """The outputs rebuilt in ``graph`` with sums flattened: constants merged, opposite terms cancelled, common factors taken out.

    Only sums and products that nothing else uses are opened, so no work is done twice.
    """
    order = needed(outputs)
    uses = Counter(arg.index for node in order for arg in node.args if type(arg) is Node)
    uses.update(output.index for output in outputs if isinstance(output, Node))
    inner = {
        arg.index
        for node in order
        if node.op in _SUMS
        for arg in node.args
        if isinstance(arg, Node) and arg.op in _SUMS and uses[arg.index] == 1
    }
    rebuilt: dict[int, Any] = {}
    for node in order:
        if node.op in _SUMS:
            if node.index not in inner:
                rebuilt[node.index] = _rebuilt_sum(node, inner, uses, rebuilt, graph)
        elif node.op == "mul":
            rebuilt[node.index] = _times(_rebuilt(node.args[0], rebuilt), _rebuilt(node.args[1], rebuilt))
        elif node.op == "div":
            rebuilt[node.index] = _div(_rebuilt(node.args[0], rebuilt), _rebuilt(node.args[1], rebuilt))
        elif node.op == "input":
            rebuilt[node.index] = graph.node("input", *node.args)
        else:
            rebuilt[node.index] = graph.node(node.op, _rebuilt(node.args[0], rebuilt))
    return [_rebuilt(output, rebuilt) for output in outputs]


_SUMS = ("add", "sub", "neg")


def _rebuilt(value: Any, rebuilt: dict[int, Any]) -> Any:
    return rebuilt[value.index] if isinstance(value, Node) else value


def _times(a: Any, b: Any) -> Any:
    if isinstance(a, Node):
        return _mul(a, b)
    return _mul(b, a) if isinstance(b, Node) else a * b


def _rebuilt_sum(root: Node, inner: set[int], uses: Counter[int], rebuilt: dict[int, Any], graph: Graph) -> Any:
    constant = 0.0
    terms: dict[Any, float] = {}  # node or product (pair of operands) -> multiplicity
    stack: list[tuple[Any, float]] = [(root, 1.0)]
    while stack:
        value, sign = stack.pop()
        if not isinstance(value, Node):
            constant += sign * value
        elif value is root or value.index in inner:
            second = sign if value.op == "add" else -sign
            if value.op == "neg":
                stack.append((value.args[0], -sign))
            else:
                stack.append((value.args[1], second))
                stack.append((value.args[0], sign))
        else:
            new = rebuilt[value.index]
            if isinstance(new, Node) and new.op == "neg":
                new, sign = new.args[0], -sign
            if isinstance(new, Node):
                key: Any = (new.args[0], new.args[1]) if value.op == "mul" and uses[value.index] == 1 and new.op == "mul" else (new,)
                terms[key] = terms.get(key, 0.0) + sign
            else:
                constant += sign * new
    return _summed(_factored([(key, count) for key, count in terms.items() if count != 0.0]), constant)


def _factored(terms: list[tuple[Any, float]]) -> list[tuple[Any, float]]:
    """Terms as (value, sign or multiplicity), after a*b + a*c became a*(b + c) as often as possible."""
    products = [(key, count) for key, count in terms if len(key) == 2]
    rest = [(key[0], count) for key, count in terms if len(key) == 1]
    while len(products) > 1:
        seen: dict[Any, int] = {}  # no set: its order would change from run to run
        for key, _ in products:
            one, other = map(_factor, key)
            seen[one] = seen.get(one, 0) + 1
            if other != one:
                seen[other] = seen.get(other, 0) + 1
        best = max(seen, key=seen.__getitem__)
        if seen[best] < 2:
            break
        shared = [(key, count) for key, count in products if best in (_factor(key[0]), _factor(key[1]))]
        products = [term for term in products if term not in shared]
        others = [((key[1] if _factor(key[0]) == best else key[0],), count) for key, count in shared]
        constant = sum(count * key[0] for key, count in others if not isinstance(key[0], Node))
        inside = _summed([(key[0], count) for key, count in others if isinstance(key[0], Node)], constant)
        factor = shared[0][0][0] if _factor(shared[0][0][0]) == best else shared[0][0][1]
        product = _times(factor, inside)
        if isinstance(product, Node):
            negative = product.op == "neg"
            rest.append((product.args[0] if negative else product, -1.0 if negative else 1.0))
        elif product != 0.0:
            rest.append((product, 1.0))
    return rest + [(_times(*key), count) for key, count in products]


def _factor(arg: Any) -> Any:
    return arg if isinstance(arg, Node) else abs(arg)


def _summed(terms: list[tuple[Any, float]], constant: float) -> Any:
    total: Any = 0.0
    flat: list[tuple[Any, bool]] = []
    for value, count in terms:
        if not isinstance(value, Node):
            constant += count * value
            continue
        if abs(count) != 1.0:
            value = _mul(value, abs(count))
        flat.append((value, count < 0.0))
    flat.sort(key=lambda item: item[1])  # additions first
    flip = bool(flat) and flat[0][1]  # all negative: the negation of their sum
    for value, negative in flat:
        term = _negated(value) if negative and not flip else value
        total = _plus(total, term)
    return _plus(_negated(total) if flip else total, constant)


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, Node):
        return _add(a, b)
    return _add(b, a) if isinstance(b, Node) else a + b
