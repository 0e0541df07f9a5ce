"""Numbers written as formulas: "-(1 + sqrt(3))/2", "pi/6", "30 deg". Read as a tree and computed node by node, never executed."""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0}
FUNCTIONS: dict[str, Callable[[float], float]] = {
    name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan")
}
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
    if len(text) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(DEGREES.sub(" * deg", text.strip()), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("not a formula") from None
    try:
        value = _value(tree.body)
    except (ZeroDivisionError, OverflowError):
        raise ValueError("not a finite number") from None
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = _value(left), _value(right)
            return _real(OPERATORS[type(op)], a, b)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
            return _real(FUNCTIONS[name], _value(argument))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            raise ValueError(f"{name} takes one number")
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            raise ValueError(f"{name} is not known")
    raise ValueError("not a formula of numbers")


def _real(function: Callable[..., float], *arguments: float) -> float:
    try:
        return function(*arguments)
    except ValueError:
        raise ValueError("not a real number") from None  # sqrt(-1)
