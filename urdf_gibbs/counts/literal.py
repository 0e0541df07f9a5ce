"""Literally as the papers count: every product of matrices that a formulation names counts in full, whatever zeros it has.

The formulation's own source runs: meanwhile, in this thread, the operators of ``Vector`` and ``Matrix`` (dynamics/matrices.py) count the
dense operation of their shapes and return scalars that only count. What is counted:

- Products: r x k by k x c takes r k c multiplications and r (k - 1) c additions (4x4 by 4x4: 64 and 48), a matrix by a vector likewise with
  c = 1, a scalar product k and k - 1, a sum of matrices or vectors one addition for each entry, a multiple one multiplication; in a
  difference of matrices a row that is null is free.
- Cross products and skew matrices by the ``Rule``: S18's tensor notation (3x3 by vector, 9 and 6), or WJ's classes (skew by skew 12 and 3,
  skew by vector 6 and 3). Tr(A B) takes the diagonal of the product only, unless the source forms the product first.
- Operations between scalars as ``scalars.Counter`` counts them: constant zeros and ones are free.
- Free: what depends on the URDF only, where a function is called with nothing but constants (B1, U, pseudo-inertia); the null or identity
  matrix that a recursion begins with, and anything null; signs, transposition, copying. Sines and cosines are listed apart.
- M: its lower triangle; what the source adds to the upper one is the mirror image, and is not counted.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from urdf_gibbs.counts.scalars import OPERATIONS, Counter, with_total
from urdf_gibbs.dynamics import matrices, scalar
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Vector
from urdf_gibbs.dynamics.model import Body, Column, Model, model_of
from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.branches import Branch
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

PACKAGE = "urdf_gibbs.dynamics."
ARITHMETIC = (matrices.__name__, scalar.__name__)  # its modules whose functions are operations, not steps of a formulation
CONSTANTS = (Model, Body, Column, Branch, Beam)  # hold numbers of the URDF only
QUANTITIES = ("mass_matrix", "bias")


@dataclass(frozen=True)
class Rule:
    """(multiplications, additions) of the products with skew matrices; cross products are skew by vector."""

    skew_skew: tuple[int, int]
    skew_vector: tuple[int, int]


S18 = Rule((27, 18), (9, 6))
WJ = Rule((12, 3), (6, 3))


@dataclass(frozen=True)
class Item:
    """One kind of operation at one place: ``path`` are the functions from ``mass_matrix`` or ``bias`` down to the one that names it."""

    path: tuple[str, ...]
    kind: str
    times: int
    multiplications: int
    additions: int


@dataclass(frozen=True)
class Literal:
    """A literal count, itemised."""

    items: tuple[Item, ...]
    divisions: int
    sines: int
    cosines: int

    @property
    def multiplications(self) -> int:
        return sum(item.multiplications for item in self.items)

    @property
    def additions(self) -> int:
        return sum(item.additions for item in self.items)

    def __add__(self, other: Literal) -> Literal:
        sums = (getattr(self, name) + getattr(other, name) for name in ("divisions", "sines", "cosines"))
        return Literal(self.items + other.items, *sums)

    def without(self, *functions: str) -> Literal:
        """The count less all that happens inside these functions (sines and cosines stay)."""
        kept = tuple(item for item in self.items if not set(item.path) & set(functions))
        return dataclasses.replace(self, items=kept)

    def inside(self, *functions: str) -> Literal:
        """The count of what happens inside these functions alone."""
        kept = tuple(item for item in self.items if set(item.path) & set(functions))
        return dataclasses.replace(self, items=kept)

    def by_kind(self) -> dict[str, Item]:
        """The items of one kind together, the most multiplications first."""
        return _merged(self.items, lambda item: item.kind)

    def by_function(self) -> dict[str, Item]:
        """The items of one function together, the most multiplications first."""
        return _merged(self.items, lambda item: item.path[-1])

    def counts(self) -> dict[str, int]:
        """As ``scalars.as_written`` reports them."""
        return with_total({name: getattr(self, name) for name in OPERATIONS})


def literal(robot: Robot, formulation: ModuleType, quantity: str, rule: Rule = S18, gravity: Sequence[float] = EARTH_GRAVITY) -> Literal:
    """The literal count of ``mass_matrix`` or ``bias`` of a formulation (a module of dynamics/)."""
    if quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    model, ledger = model_of(robot), _Ledger(rule)
    q, v = [ledger.one] * robot.nq, [ledger.one] * robot.nv
    arguments = (model, q) if quantity == "mass_matrix" else (model, q, v, list(gravity))
    with _followed(ledger), _counted(_Dense(ledger, model.nv)):
        getattr(formulation, quantity)(*arguments)
    return ledger.literal()


def _merged(items: Iterable[Item], key: Callable[[Item], str]) -> dict[str, Item]:
    merged: dict[str, Item] = {}
    for item in items:
        name = key(item)
        old = merged.get(name, Item((), name, 0, 0, 0))
        sums = (old.times + item.times, old.multiplications + item.multiplications, old.additions + item.additions)
        merged[name] = Item((), name, *sums)
    return dict(sorted(merged.items(), key=lambda pair: (-pair[1].multiplications, -pair[1].additions)))


# counting -----------------------------------------------------------------------------------------------


class _Ledger:
    """What has been counted, and the functions that are running; ``silent`` while one of them sees constants only."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.path: tuple[str, ...] = ()
        self.silent = 0
        self.one = Counter(self.carried_out)
        self._items: dict[tuple[tuple[str, ...], str], list[int]] = {}
        self._others = {"divisions": 0, "sines": 0, "cosines": 0}

    def carried_out(self, operation: str) -> None:
        """Called by scalars."""
        if operation in self._others:
            self._others[operation] += 1
        else:
            self.note("scalars", int(operation == "multiplications"), int(operation == "additions"))

    def note(self, kind: str, multiplications: int, additions: int) -> None:
        entry = self._items.setdefault((self.path, kind), [0, 0, 0])
        for i, number in enumerate((1, multiplications, additions)):
            entry[i] += number

    def literal(self) -> Literal:
        return Literal(tuple(Item(path, kind, *entry) for (path, kind), entry in self._items.items()), **self._others)


class _Skew(Matrix):
    """A matrix that is known to be skew."""

    __slots__ = ()


class _Unit(Matrix):
    """The identity that a recursion begins with."""

    __slots__ = ()


class _LowerRow(list[Any]):
    """Row i of M, whose entries right of the diagonal always read as zero: sums there are mirror images and free."""

    def __init__(self, i: int, n: int) -> None:
        super().__init__([0.0] * n)
        self.i = i

    def __getitem__(self, j: Any) -> Any:
        return 0.0 if isinstance(j, int) and j > self.i else super().__getitem__(j)


class _Dense:
    """The operations of ``Vector`` and ``Matrix`` counted in full; ``nv`` tells M from other null matrices."""

    def __init__(self, ledger: _Ledger, nv: int) -> None:
        self.ledger, self.rule, self.one, self.nv = ledger, ledger.rule, ledger.one, nv
        self.operations: dict[type, dict[str, Callable[..., Any]]] = {
            Vector: {
                "__add__": self.vector_sum,
                "__sub__": self.vector_sum,
                "__mul__": self.vector_multiple,
                "__matmul__": self.scalar_product,
                "cross": self.cross,
                "tilde": self.skew,
            },
            Matrix: {
                "__add__": self.matrix_sum,
                "__sub__": self.matrix_difference,
                "__mul__": self.matrix_multiple,
                "by_vector": self.matrix_by_vector,
                "by_matrix": self.matrix_by_matrix,
                "trace_with": self.trace_of_product,
                "T": self.transposed,
                "identity": self.identity,
                "zeros": self.zeros,
            },
        }

    def scalar_product(self, a: Vector, b: Vector) -> Scalar:
        if _null(a) or _null(b):
            return 0.0
        self.ledger.note(f"scalar product {len(a)}", len(a), len(a) - 1)
        return self.one

    def vector_sum(self, a: Vector, b: Vector) -> Vector:
        if _null(a) or _null(b):
            return Vector(b if _null(a) else a)
        self.ledger.note(f"sum {len(a)}", 0, len(a))
        return Vector([self.one] * len(a))

    def vector_multiple(self, a: Vector, k: Scalar) -> Vector:
        if _null([k]) or _null(a):
            return Vector([0.0] * len(a))
        self.ledger.note(f"scalar by {len(a)}", len(a), 0)
        return Vector([self.one] * len(a))

    def cross(self, a: Vector, b: Vector) -> Vector:
        if _null(a) or _null(b):
            return Vector([0.0] * 3)
        self.ledger.note("skew by vector", *self.rule.skew_vector)
        return Vector([self.one] * 3)

    def skew(self, a: Vector) -> Matrix:
        x, y, z = a
        return _Skew([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

    def matrix_by_vector(self, A: Matrix, x: Vector) -> Vector:
        if isinstance(A, _Unit):
            return x
        if isinstance(A, _Skew):
            return self.cross(Vector([row[i - 1] for i, row in enumerate(A)]), x)
        if _null(x) or _null_matrix(A):
            return Vector([0.0] * len(A))
        r, k = len(A), len(x)
        self.ledger.note(f"{r}x{k} by vector", r * k, r * (k - 1))
        return Vector([self.one] * r)

    def matrix_by_matrix(self, A: Matrix, B: Matrix) -> Matrix:
        r, k, c = len(A), len(B), len(B[0])
        if _null_matrix(A) or _null_matrix(B):
            return _filled(0.0, r, c)
        if isinstance(A, _Unit) or isinstance(B, _Unit):
            return B if isinstance(A, _Unit) else A
        if isinstance(A, _Skew) and isinstance(B, _Skew):
            self.ledger.note("skew by skew", *self.rule.skew_skew)
        else:
            self.ledger.note(f"{r}x{k} by {k}x{c}", r * k * c, r * (k - 1) * c)
        return _filled(self.one, r, c)

    def matrix_sum(self, A: Matrix, B: Matrix) -> Matrix:
        if _null_matrix(A) or _null_matrix(B):
            rest = B if _null_matrix(A) else A
            return rest if isinstance(rest, Matrix) else Matrix(rest)  # what is skew stays so
        r, c = len(A), len(A[0])
        self.ledger.note(f"sum {r}x{c}", 0, r * c)
        return _filled(self.one, r, c)

    def matrix_difference(self, A: Matrix, B: Matrix) -> Matrix:
        if any(_null(row) for row in (*A, *B)):
            return Matrix([self.vector_sum(Vector(a), Vector(b)) for a, b in zip(A, B, strict=True)])
        return self.matrix_sum(A, B)

    def matrix_multiple(self, A: Matrix, k: Scalar) -> Matrix:
        r, c = len(A), len(A[0])
        if _null([k]) or _null_matrix(A):
            return _filled(0.0, r, c)
        self.ledger.note(f"scalar by {r}x{c}", r * c, 0)
        result = _filled(self.one, r, c)
        return _Skew(result) if isinstance(A, _Skew) else result

    def trace_of_product(self, A: Matrix, B: Matrix) -> Scalar:
        if _null_matrix(A) or _null_matrix(B):
            return 0.0
        r, k = len(A), len(B)
        self.ledger.note(f"Tr({r}x{k} by {k}x{r})", r * k, r * k - 1)
        return self.one

    def transposed(self, A: Matrix) -> Matrix:
        kind = type(A) if isinstance(A, _Skew | _Unit) else Matrix
        return kind([list(column) for column in zip(*A, strict=True)])

    def identity(self, n: int) -> Matrix:
        return _Unit([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    def zeros(self, rows: int, columns: int) -> Matrix:
        if rows == columns == self.nv and self.ledger.path == ("mass_matrix",):
            return Matrix([_LowerRow(i, columns) for i in range(rows)])
        return _filled(0.0, rows, columns)


def _filled(entry: Scalar, rows: int, columns: int) -> Matrix:
    return Matrix([[entry] * columns for _ in range(rows)])


def _null(a: Iterable[Scalar]) -> bool:
    return all(type(x) is float and x == 0.0 for x in a)


def _null_matrix(A: Matrix) -> bool:
    return all(_null(row) for row in A)


# where --------------------------------------------------------------------------------------------------

_one_at_a_time = threading.RLock()


@contextmanager
def _counted(dense: _Dense) -> Iterator[None]:
    """The operators of ``Vector`` and ``Matrix`` count in this thread, but where a formulation handles constants only."""
    mine, ledger = threading.get_ident(), dense.ledger

    def either(counting: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: (plain if ledger.silent or threading.get_ident() != mine else counting)(*operands)

    with _one_at_a_time:
        before = {kind: dict(vars(kind)) for kind in dense.operations}
        try:
            for kind, operations in dense.operations.items():
                for name, counting in operations.items():
                    own = before[kind][name]
                    for alias in (alias for alias, value in before[kind].items() if value is own):  # __radd__ is __add__
                        if isinstance(own, property):
                            setattr(kind, alias, property(either(counting, own.fget)))  # type: ignore[arg-type]
                        elif isinstance(own, staticmethod):
                            setattr(kind, alias, staticmethod(either(counting, own.__func__)))
                        else:
                            setattr(kind, alias, either(counting, own))
            yield
        finally:
            for kind, operations in dense.operations.items():
                for name, value in before[kind].items():
                    if any(value is before[kind][counted] for counted in operations):
                        setattr(kind, name, value)


@contextmanager
def _followed(ledger: _Ledger) -> Iterator[None]:
    """The ledger knows which functions of the formulation are running, and is silent while one of them has constant arguments only."""
    running: list[tuple[tuple[str, ...], bool]] = []

    def follow(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or "<" in code.co_qualname or code.co_name.startswith("__"):  # nor into inner functions
            return
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(PACKAGE) or module in ARITHMETIC:
            return
        if event == "call":
            arguments = frame.f_locals
            constant = not any(_counts(arguments[name]) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
            running.append((ledger.path, constant))
            ledger.path = (*ledger.path, code.co_name)
            ledger.silent += constant
        else:
            ledger.path, constant = running.pop()
            ledger.silent -= constant

    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        yield
    finally:
        sys.setprofile(before)


def _counts(value: Any) -> bool:
    """Whether anything in it depends on the state."""
    if isinstance(value, Counter):
        return True
    if isinstance(value, (float, int, str, *CONSTANTS)) or value is None:
        return False
    if isinstance(value, list | tuple):
        return any(_counts(one) for one in reversed(value))  # the last arguments and entries are the fastest to check
    if isinstance(value, dict):
        return any(_counts(one) for one in value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_counts(getattr(value, field.name)) for field in dataclasses.fields(value))
    return False
