"""Numbers written as formulas: "-(1 + sqrt(3))/2", "pi/6", "30 deg", and formulas with names. Read as a tree and computed node by node,
never executed."""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0}
FUNCTIONS: dict[str, Callable[[float], float]] = {
    name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan")
}
OF_SEVERAL: dict[str, Callable[..., float]] = {"min": min, "max": max}  # of formulas with names, beside abs, exp and log
OF_ONE = FUNCTIONS | {"abs": abs, "exp": math.exp, "log": math.log}
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # real: (-8)**(1/3) is an error, not a complex number
}
ALLOWED = f"+ - * / ** ( ) {' '.join(CONSTANTS)} {' '.join(FUNCTIONS)}"
MAX_LENGTH = 200
DEGREES = re.compile(r"(?<=[\d.)i])\s*deg\b")  # behind a number, a parenthesis or pi


def evaluate(text: str) -> float:
    """The value of a formula, finite; ValueError says what is wrong with it. ``30 deg`` is 30 pi/180."""
    return _finite(_tree(text), None)


@dataclass(frozen=True)
class Formula:
    """A formula with names, which may have dots and, in brackets, any text: ``q.q3 - q["left hip"]``."""

    text: str
    _node: ast.expr
    names: tuple[str, ...]

    def value(self, values: Mapping[str, float]) -> float:
        """The value for these values of the names, finite; ValueError where there is none."""
        return _finite(self._node, values)


def formula(text: str) -> Formula:
    """A formula with names; ValueError says what is wrong with it."""
    node = _tree(text)
    names: dict[str, None] = {}
    _look(node, names)
    return Formula(text, node, tuple(names))


def _tree(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(DEGREES.sub(" * deg", text.strip()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("not a formula") from None


def _finite(node: ast.expr, names: Mapping[str, float] | None) -> float:
    try:
        value = _value(node, names)
    except (ZeroDivisionError, OverflowError):
        raise ValueError("not a finite number") from None
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def _named(node: ast.expr) -> str:
    """``a.b["c"]`` as a.b.c; "" where it is no name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name) | ast.Subscript(value=owner, slice=ast.Constant(value=str() as name)):
            before = _named(owner)
            return f"{before}.{name}" if before else ""
    return ""


def _look(node: ast.expr, names: dict[str, None]) -> None:
    """Collect the names of a formula; ValueError where it is none."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _look(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            _look(left, names)
            _look(right, names)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in OF_ONE or name in OF_SEVERAL:
            if (name in OF_ONE and len(arguments) != 1) or len(arguments) < 1:
                raise ValueError(f"{name} takes {'one number' if name in OF_ONE else 'numbers'}")
            for argument in arguments:
                _look(argument, names)
        case ast.Call(func=ast.Name(id=name)):
            raise ValueError(f"{name} is not known")
        case _:
            name = _named(node)
            if not name:
                raise ValueError("not a formula")
            if name not in CONSTANTS:
                names[name] = None


def _value(node: ast.expr, names: Mapping[str, float] | None) -> float:
    one_of = FUNCTIONS if names is None else OF_ONE
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = _value(left, names), _value(right, names)
            return _real(OPERATORS[type(op)], a, b)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in one_of:
            return _real(one_of[name], _value(argument, names))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if names is not None and name in OF_SEVERAL:
            return OF_SEVERAL[name](*([_value(argument, names) for argument in arguments] * 2))  # of one number: that number
        case _ if names is not None and (whole := _named(node)) in names:
            return names[whole]
        case ast.Call(func=ast.Name(id=name)) if name in one_of:
            raise ValueError(f"{name} takes one number")
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            raise ValueError(f"{name} is not known")
    raise ValueError("not a formula of numbers")


def _real(function: Callable[..., float], *arguments: float) -> float:
    try:
        return function(*arguments)
    except ValueError:
        raise ValueError("not a real number") from None  # sqrt(-1)
