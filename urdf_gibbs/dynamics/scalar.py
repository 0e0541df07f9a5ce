"""Matrices and vectors of any scalar, as nested lists.

A scalar is whatever adds and multiplies: a float, a NumPy array with one value for each state, a counter,
a SymPy expression, a node of a traced graph. Constants are Python floats, and a float that is zero is left
out of sums, so a formulation written with full matrices does not pay for the zeros that a robot's geometry brings.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np

Scalar = Any
Vector = list[Scalar]
Matrix = list[list[Scalar]]


@singledispatch
def sin(x: Scalar) -> Scalar:
    """Sine of a scalar; other scalar types register theirs, or have a method of that name."""
    return x.sin()


@singledispatch
def cos(x: Scalar) -> Scalar:
    """Cosine of a scalar; other scalar types register theirs, or have a method of that name."""
    return x.cos()


def _float_function(function: Any) -> Any:
    return lambda x: function(x) if math.isfinite(x) else math.nan


sin.register(float, _float_function(math.sin))
cos.register(float, _float_function(math.cos))
sin.register(np.ndarray, np.sin)
cos.register(np.ndarray, np.cos)


def is_zero(x: Scalar) -> bool:
    """A constant zero (not a value that happens to vanish, unless it is a plain float)."""
    return type(x) is float and x == 0.0


def add(a: Scalar, b: Scalar) -> Scalar:
    if type(a) is float and a == 0.0:
        return b
    if type(b) is float and b == 0.0:
        return a
    return a + b


def mul(a: Scalar, b: Scalar) -> Scalar:
    if (type(a) is float and a == 0.0) or (type(b) is float and b == 0.0):
        return 0.0
    return a * b


def dot(a: Vector, b: Vector) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if (type(x) is float and x == 0.0) or (type(y) is float and y == 0.0):
            continue
        total = x * y if type(total) is float and total == 0.0 else total + x * y
    return total


def reciprocal(a: Scalar) -> Scalar:
    """1 / a; infinite for a constant zero, so that a robot without inertia can still be traced."""
    return math.inf if is_zero(a) else 1.0 / a


def vadd(a: Vector, b: Vector) -> Vector:
    return [add(x, y) for x, y in zip(a, b, strict=True)]


def vsub(a: Vector, b: Vector) -> Vector:
    return [x if is_zero(y) else x - y for x, y in zip(a, b, strict=True)]


def scale(k: Scalar, a: Vector) -> Vector:
    return [mul(k, x) for x in a]


def cross(a: Vector, b: Vector) -> Vector:
    def minus(p: Scalar, q: Scalar) -> Scalar:
        return p if is_zero(q) else p - q

    return [
        minus(mul(a[1], b[2]), mul(a[2], b[1])),
        minus(mul(a[2], b[0]), mul(a[0], b[2])),
        minus(mul(a[0], b[1]), mul(a[1], b[0])),
    ]


def skew(a: Vector) -> Matrix:
    """The matrix of a x (.)."""
    x, y, z = a
    return [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]


def matvec(A: Matrix, x: Vector) -> Vector:
    return [dot(row, x) for row in A]


def transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def matmul(A: Matrix, B: Matrix) -> Matrix:
    columns = list(zip(*B, strict=True))
    return [[dot(row, column) for column in columns] for row in A]  # type: ignore[arg-type]


def matmul_transposed(A: Matrix, B: Matrix) -> Matrix:
    """A Bᵀ."""
    return [[dot(row, column) for column in B] for row in A]


def madd(A: Matrix, B: Matrix) -> Matrix:
    return [vadd(a, b) for a, b in zip(A, B, strict=True)]


def mscale(k: Scalar, A: Matrix) -> Matrix:
    return [scale(k, row) for row in A]


def trace_product(A: Matrix, B: Matrix) -> Scalar:
    """Tr(A B)."""
    total: Scalar = 0.0
    for i, row in enumerate(A):
        total = add(total, dot(row, [b[i] for b in B]))
    return total


def zeros(rows: int, columns: int) -> Matrix:
    return [[0.0] * columns for _ in range(rows)]


def identity(n: int) -> Matrix:
    return [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
