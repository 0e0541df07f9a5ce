"""Vectors and matrices of any scalar with the operators of the papers: A @ B, A.T, a @ b, a.cross(b), a.tilde, 2.0 * A, A + B.

A scalar is whatever adds and multiplies: a float, a NumPy array with one value for each state, a counter, a SymPy expression, a node
of a traced graph. Constants are Python floats, and a float that is zero is left out of sums and products, so a formulation written with
full matrices does not pay for the zeros that a robot's geometry brings. A scalar's own operators must return NotImplemented for lists, or
``scalar * A`` never gets here.

Both are lists (a matrix of its rows), so that entries are read and written as in any nested list: M[i][j] += x. Unlike a list's, their sums
are sums: A + B, A += B.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

Scalar = Any
Scalars = Sequence[Scalar]  # q, v, ... as they come from outside


class Vector(list[Scalar]):
    """A column of scalars."""

    __slots__ = ()
    __array_priority__ = 1000.0  # a NumPy array is a scalar here: array * vector is left to the vector

    @staticmethod
    def zeros(n: int) -> Vector:
        return Vector([0.0] * n)

    def __add__(self, other: Iterable[Scalar]) -> Vector:
        return Vector(_sum(self, other))

    __radd__ = __iadd__ = __add__

    def __sub__(self, other: Iterable[Scalar]) -> Vector:
        return Vector(_difference(self, other))

    def __mul__(self, k: Scalar) -> Vector:
        return Vector(_multiple(k, self))

    __rmul__ = __imul__ = __mul__

    def __neg__(self) -> Vector:
        return Vector([x if type(x) is float and x == 0.0 else -x for x in self])

    def __matmul__(self, other: Vector) -> Scalar:
        """The scalar product."""
        if isinstance(other, Matrix):
            return NotImplemented
        return _product(other, len(self), _terms(self))

    def cross(self, other: Vector) -> Vector:
        """The vector product (of three entries each)."""
        a, b, c = self
        x, y, z = other
        return Vector([_minor(b, z, c, y), _minor(c, x, a, z), _minor(a, y, b, x)])

    def outer(self, other: Vector) -> Matrix:
        """The matrix a bᵀ."""
        return Matrix([_multiple(x, other) for x in self])

    @property
    def tilde(self) -> Matrix:
        """The skew matrix (3x3) of a x (.)."""
        x, y, z = self
        return Matrix([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


class Matrix(list[list[Scalar]]):
    """Rows of scalars."""

    __slots__ = ()
    __array_priority__ = 1000.0

    @staticmethod
    def zeros(rows: int, columns: int) -> Matrix:
        return Matrix([[0.0] * columns for _ in range(rows)])

    @staticmethod
    def identity(n: int) -> Matrix:
        return Matrix([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    @staticmethod
    def bordered(block: Matrix, column: Vector, last: Scalar) -> Matrix:
        """The matrix [block, column; 0, last]: a transformation with last = 1, the rate of one with last = 0."""
        rows = [[*row, x] for row, x in zip(block, column, strict=True)]
        return Matrix([*rows, [0.0] * len(rows) + [last]])

    def __add__(self, other: Iterable[list[Scalar]]) -> Matrix:  # type: ignore[override]
        return Matrix([_sum(a, b) for a, b in zip(self, other, strict=True)])

    __radd__ = __iadd__ = __add__

    def __sub__(self, other: Iterable[list[Scalar]]) -> Matrix:
        return Matrix([_difference(a, b) for a, b in zip(self, other, strict=True)])

    def __mul__(self, k: Scalar) -> Matrix:
        return Matrix([_multiple(k, row) for row in self])

    __rmul__ = __imul__ = __mul__

    @overload
    def __matmul__(self, other: Vector) -> Vector: ...
    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...
    def __matmul__(self, other: Vector | Matrix) -> Vector | Matrix:
        if isinstance(other, Matrix):
            return self.by_matrix(other)
        return self.by_vector(other) if isinstance(other, Vector) else NotImplemented

    def by_vector(self, x: list[Scalar]) -> Vector:
        """A x."""
        width, terms = len(x), _terms(x)
        return Vector([_product(row, width, terms) for row in self])

    def by_matrix(self, other: Iterable[list[Scalar]]) -> Matrix:
        """A B."""
        columns = list(zip(*other, strict=True))
        result = []
        for row in self:
            width, terms = len(row), _terms(row)
            result.append([_product(column, width, terms) for column in columns])
        return Matrix(result)

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Matrix([list(column) for column in zip(*self, strict=True)])

    def trace(self) -> Scalar:
        return _total(row[i] for i, row in enumerate(self))

    def trace_with(self, other: Matrix) -> Scalar:
        """Tr(A B), see ``Tr``."""
        return _total(_product(column, len(row), _terms(row)) for row, column in zip(self, zip(*other, strict=True), strict=True))

    def column(self, j: int) -> Vector:
        return Vector([row[j] for row in self])

    @property
    def rotation(self) -> Matrix:
        """R (3x3) of a transformation [R, p; 0, 1]."""
        return Matrix([row[:3] for row in self[:3]])

    @property
    def translation(self) -> Vector:
        """p (3) of a transformation [R, p; 0, 1]."""
        return Vector([row[3] for row in self[:3]])


def Tr(A: Matrix, B: Matrix) -> Scalar:
    """The trace of the product A B, of which only the diagonal is made."""
    return A.trace_with(B)


# Entries ------------------------------------------------------------------------------------------------


def _sum(a: Iterable[Scalar], b: Iterable[Scalar]) -> list[Scalar]:
    return [
        y if type(x) is float and x == 0.0 else x if type(y) is float and y == 0.0 else x + y  # a constant zero leaves the other as it is
        for x, y in zip(a, b, strict=True)
    ]


def _difference(a: Iterable[Scalar], b: Iterable[Scalar]) -> list[Scalar]:
    return [x if type(y) is float and y == 0.0 else x - y for x, y in zip(a, b, strict=True)]


def _multiple(k: Scalar, a: list[Scalar]) -> list[Scalar]:
    if type(k) is float and k == 0.0:
        return [0.0] * len(a)
    return [0.0 if type(x) is float and x == 0.0 else k * x for x in a]


def _terms(a: Iterable[Scalar]) -> list[tuple[int, Scalar]]:
    """The entries that are no constant zeros, with their places."""
    return [(k, x) for k, x in enumerate(a) if type(x) is not float or x != 0.0]


def _product(b: Sequence[Scalar], width: int, terms: list[tuple[int, Scalar]]) -> Scalar:
    """The scalar product of b with a vector of ``width`` entries, of which only ``terms`` count."""
    if len(b) != width:
        raise ValueError(f"{width} entries by {len(b)}")
    total: Scalar = 0.0
    for k, x in terms:
        y = b[k]
        if type(y) is not float or y != 0.0:
            total = x * y if type(total) is float and total == 0.0 else total + x * y
    return total


def _total(terms: Iterable[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x in terms:
        if type(total) is float and total == 0.0:
            total = x
        elif type(x) is not float or x != 0.0:
            total = total + x
    return total


def _minor(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:
    """a b - c d."""
    first = 0.0 if (type(a) is float and a == 0.0) or (type(b) is float and b == 0.0) else a * b
    if (type(c) is float and c == 0.0) or (type(d) is float and d == 0.0):
        return first
    second = c * d
    return first if type(second) is float and second == 0.0 else first - second
