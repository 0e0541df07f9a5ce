"""Functions of any scalar, and of vectors and matrices of them that are plain nested lists.

What a scalar is, and vectors and matrices with operators, are in matrices.py. The functions on nested lists are for code that has no such
vectors; what they return are such.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np

from urdf_gibbs.dynamics import matrices
from urdf_gibbs.dynamics.matrices import Scalar as Scalar

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


def sub(a: Scalar, b: Scalar) -> Scalar:
    return a if type(b) is float and b == 0.0 else a - b


def mul(a: Scalar, b: Scalar) -> Scalar:
    if (type(a) is float and a == 0.0) or (type(b) is float and b == 0.0):
        return 0.0
    return a * b


def reciprocal(a: Scalar) -> Scalar:
    """1 / a; infinite for a constant zero, so that a robot without inertia can still be traced."""
    return math.inf if is_zero(a) else 1.0 / a


# Nested lists, by the operations of matrices.py ---------------------------------------------------------


def dot(a: Vector, b: Vector) -> Scalar:
    return matrices.Vector.__matmul__(a, b)  # type: ignore[operator]


def vadd(a: Vector, b: Vector) -> Vector:
    return matrices.Vector.__add__(a, b)  # type: ignore[operator]


def vsub(a: Vector, b: Vector) -> Vector:
    return matrices.Vector.__sub__(a, b)  # type: ignore[operator]


def scale(k: Scalar, a: Vector) -> Vector:
    return matrices.Vector.__mul__(a, k)  # type: ignore[operator]


def cross(a: Vector, b: Vector) -> Vector:
    return matrices.Vector.cross(a, b)  # type: ignore[arg-type]


def skew(a: Vector) -> Matrix:
    """The matrix of a x (.)."""
    return matrices.Vector(a).tilde


def matvec(A: Matrix, x: Vector) -> Vector:
    return matrices.Matrix.by_vector(A, x)  # type: ignore[arg-type]


def transposed(A: Matrix) -> Matrix:
    return A.T if isinstance(A, matrices.Matrix) else matrices.Matrix(A).T


def matmul(A: Matrix, B: Matrix) -> Matrix:
    return matrices.Matrix.by_matrix(A, B)  # type: ignore[arg-type]


def madd(A: Matrix, B: Matrix) -> Matrix:
    return matrices.Matrix.__add__(A, B)  # type: ignore[operator]


def mscale(k: Scalar, A: Matrix) -> Matrix:
    return matrices.Matrix.__mul__(A, k)  # type: ignore[operator]


def zeros(rows: int, columns: int) -> Matrix:
    return matrices.Matrix.zeros(rows, columns)


def identity(n: int) -> Matrix:
    return matrices.Matrix.identity(n)
