"""A traced program as an ordered list of assignments, and its expressions as text.

A value used once is written inside the expression that uses it, if that stays short; the others get a name: ``s3`` and ``c3`` the sine
and cosine of entry 3 of q (``sa1``, ``ca1`` of another angle), ``M_2_1`` an entry of the result, ``n_1`` and ``d_1`` the value of a check,
``t1``, ``t2``, ... anything else. Names depend on the program alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.engine.emit import Check, Program
from urdf_gibbs.engine.graph import Node, needed

LENGTH = 90  # approximate characters of an expression
NUMBER = 18  # of a constant


@dataclass(frozen=True, slots=True)
class Function:
    """One function to write: ``letter`` names its result of ``shape``, ``meaning`` describes it."""

    name: str
    letter: str
    meaning: str
    shape: tuple[int, ...]
    program: Program
    lines: list[tuple[str, Node]]  # name = value, in order
    names: dict[int, str]  # by index of the node
    checks: dict[str, Check]  # by the name whose assignment they follow

    @property
    def inputs(self) -> tuple[tuple[str, int], ...]:
        """Name and width of the arrays q, v, ..., without the parameters."""
        return tuple((letter, width) for letter, width in self.program.inputs if letter != "parameters")

    @property
    def read(self) -> set[str]:
        """The inputs that the result depends on."""
        return {node.args[0] for node in needed([node for _, node in self.lines] + self.program.outputs) if node.op == "input"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a language writes sine and cosine, an entry of an input, and a number."""

    sin: str
    cos: str
    entry: Callable[[str, int], str]
    number: Callable[[float], str] = repr


def function(name: str, letter: str, meaning: str, shape: tuple[int, ...], program: Program, first: int = 0) -> Function:
    """The program with its values named; indices in names start at ``first``."""
    lines, names, checks = _Plan(program, letter, shape, first).assignments()
    return Function(name, letter, meaning, shape, program, lines, names, checks)


def places(shape: tuple[int, ...], first: int = 0) -> list[str]:
    """``_1_0`` for entry (1, 0), row by row; an empty one for a scalar."""
    result = [""]
    for width in shape:
        result = [f"{start}_{i + first}" for start in result for i in range(width)]
    return result


class _Plan:
    def __init__(self, program: Program, letter: str, shape: tuple[int, ...], first: int) -> None:
        self.program, self.first = program, first
        before = [check.value for check in program.checks if not check.below]  # of quaternions, checked before anything else is computed
        after = [check.value for check in program.checks if check.below]
        everything = needed([*before, *program.outputs, *after])
        self.waves = sorted((node for node in everything if node.op in ("sin", "cos")), key=_wave_order)
        self.order = needed([*before, *self.waves, *program.outputs, *after])
        self.uses: Counter[int] = Counter()
        for node in self.order:
            self.uses.update(arg.index for arg in node.args if isinstance(arg, Node))
        self.wanted: dict[int, str] = self._wave_names()
        for i, check in enumerate(check for check in program.checks if isinstance(check.value, Node)):
            self.wanted.setdefault(check.value.index, f"{'d' if check.below else 'n'}_{i + first}")
        for place, output in zip(places(shape, first), program.outputs, strict=True):
            if isinstance(output, Node) and output.op != "input":
                self.wanted.setdefault(output.index, f"{letter}{place}" if place else f"{letter}_")
        self.lines: list[tuple[str, Node]] = []
        self.names: dict[int, str] = {}
        self.cost: dict[int, int] = {}
        self.count = 0

    def assignments(self) -> tuple[list[tuple[str, Node]], dict[int, str], dict[str, Check]]:
        for node in self.order:
            if node.op == "input":
                self.cost[node.index] = 5
                if node.index in self.wanted:  # a check needs its name: a pivot may be a single mass
                    self._name(node)
                continue
            self._shorten(node)
            if node.index in self.wanted:
                self._name(node)
            elif self.uses[node.index] > 1:
                if node.op == "neg":  # a sign needs no name of its own
                    self._name(node.args[0])
                    self.cost[node.index] = self._width(node.args[0]) + 1
                else:
                    self._name(node)
        checks = {self.names[check.value.index]: check for check in self.program.checks if isinstance(check.value, Node)}
        return self.lines, self.names, checks

    def _shorten(self, node: Node) -> None:
        """Name the longest operands until the expression is short."""
        inside = sorted((arg for arg in node.args if isinstance(arg, Node)), key=self._width, reverse=True)
        total = 3 + sum(map(self._width, node.args))
        for arg in inside:
            if total > LENGTH:
                total -= self._width(arg)
                self._name(arg)
                total += self._width(arg)
        self.cost[node.index] = total

    def _width(self, value: Any) -> int:
        return self.cost[value.index] if isinstance(value, Node) else NUMBER

    def _name(self, node: Node) -> None:
        name = self.wanted.get(node.index)
        if node.index in self.names or (node.op == "input" and name is None):
            return
        if name is None:
            self.count += 1
            name = f"t{self.count}"
        self.names[node.index] = name
        self.cost[node.index] = len(name)
        self.lines.append((name, node))

    def _wave_names(self) -> dict[int, str]:
        other: dict[int, int] = {}
        names = {}
        for node in self.waves:
            angle = node.args[0]
            if angle.op == "input":
                names[node.index] = f"{node.op[0]}{angle.args[1] + self.first}"
            else:
                number = other.setdefault(angle.index, len(other) + 1)
                names[node.index] = f"{node.op[0]}a{number}"
        return names


def _wave_order(node: Node) -> tuple[int, int, int, bool]:
    """By the entry of q that is turned by, then sine before cosine."""
    angle = node.args[0]
    lowest = min(inner.args[1] for inner in needed([angle]) if inner.op == "input")
    return lowest, angle.op != "input", angle.index, node.op == "cos"


# text -------------------------------------------------------------------------------------------------

SUM, SIGN, PRODUCT, ATOM = range(4)  # operator precedence, ascending


def value_text(value: Any, names: dict[int, str], dialect: Dialect) -> str:
    """A value by its name, or its expression."""
    return _text(value, names, dialect)[0]


def expression(node: Node, names: dict[int, str], dialect: Dialect) -> str:
    """What the name of a node stands for."""
    return _operation(node, names, dialect)[0]


def _text(value: Any, names: dict[int, str], dialect: Dialect) -> tuple[str, int]:
    if not isinstance(value, Node):
        return dialect.number(float(value)), ATOM if value >= 0.0 else SIGN
    if value.index in names:
        return names[value.index], ATOM
    return _operation(value, names, dialect)


def _operation(node: Node, names: dict[int, str], dialect: Dialect) -> tuple[str, int]:
    if node.op == "input":
        return dialect.entry(*node.args), ATOM

    def operand(value: Any, binding: int) -> str:
        text, own = _text(value, names, dialect)
        return text if own >= binding else f"({text})"

    a = node.args[0]
    if node.op in ("sin", "cos"):
        return f"{dialect.sin if node.op == 'sin' else dialect.cos}({operand(a, SUM)})", ATOM
    if node.op == "neg":
        return f"-{operand(a, PRODUCT)}", SIGN
    b = node.args[1]
    if node.op == "mul":
        a, b = (a, b) if isinstance(b, Node) else (b, a)
        divided = isinstance(b, Node) and b.op == "div" and b.index not in names
        return f"{operand(a, PRODUCT)}*{operand(b, ATOM if divided else PRODUCT)}", PRODUCT
    if node.op == "div":
        return f"{operand(a, PRODUCT)}/{operand(b, ATOM)}", PRODUCT
    if node.op == "add" and not isinstance(b, Node) and b < 0.0:
        return f"{operand(a, SUM)} - {operand(-b, ATOM)}", SUM
    # x + (y - z) is written x + y - z: the same but for the order of rounding
    inner = isinstance(b, Node) and b.index not in names and b.op in ("add", "sub") and node.op == "add" and _leads_positive(b, names)
    return f"{operand(a, SUM)} {'+' if node.op == 'add' else '-'} {operand(b, SUM if inner else PRODUCT)}", SUM


def _leads_positive(node: Node, names: dict[int, str]) -> bool:
    """Whether the text of a sum starts without a sign."""
    while node.op in ("add", "sub") and node.index not in names:
        a = node.args[0]
        if not isinstance(a, Node):
            return bool(a >= 0.0)
        node = a
    return node.index in names or node.op != "neg"
