"""Literally as the papers count: every product of matrices that a formulation names counts in full, whatever zeros it has.

The formulation's own source runs, nothing is copied: its functions are bound to globals in which the operations of dynamics/scalar.py on
vectors and matrices count the dense operation of their shapes and return scalars that only count. What is counted:

- Products: r x k by k x c takes r k c multiplications and r (k - 1) c additions (4x4 by 4x4: 64 and 48), a matrix by a vector likewise with
  c = 1, a scalar product k and k - 1, a sum of matrices or vectors one addition for each entry, a multiple one multiplication.
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
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.counts.scalars import OPERATIONS, Counter, with_total
from urdf_gibbs.dynamics import scalar
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.dynamics.model import Body, Column, Model, model_of
from urdf_gibbs.dynamics.scalar import Matrix, Scalar, Vector
from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.branches import Branch
from urdf_gibbs.robot.model import Robot

PACKAGE = "urdf_gibbs.dynamics."
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


def literal(
    robot: Robot, formulation: types.ModuleType, quantity: str, rule: Rule = S18, gravity: Sequence[float] = EARTH_GRAVITY
) -> Literal:
    """The literal count of ``mass_matrix`` or ``bias`` of a formulation (a module of dynamics/)."""
    if quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    model, ledger = model_of(robot), _Ledger(rule)
    function = _Bound(ledger, model.nv).module(formulation)[quantity]
    q, v = [ledger.one] * robot.nq, [ledger.one] * robot.nv
    if quantity == "mass_matrix":
        function(model, q)
    else:
        function(model, q, v, list(gravity))
    return ledger.literal()


def _merged(items: Iterable[Item], key: Callable[[Item], str]) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for item in items:
        name = key(item)
        old = found.get(name, Item((), name, 0, 0, 0))
        sums = (old.times + item.times, old.multiplications + item.multiplications, old.additions + item.additions)
        found[name] = Item((), name, *sums)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1].multiplications, -pair[1].additions)))


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


class _Skew(list[Any]):
    """A matrix that is known to be skew."""


class _Unit(list[Any]):
    """The identity that a recursion begins with."""


class _LowerRow(list[Any]):
    """Row i of M, whose entries right of the diagonal always read as zero: sums there are mirror images and free."""

    def __init__(self, i: int, n: int) -> None:
        super().__init__([0.0] * n)
        self.i = i

    def __getitem__(self, j: Any) -> Any:
        return 0.0 if isinstance(j, int) and j > self.i else super().__getitem__(j)


class _Dense:
    """The operations of dynamics/scalar.py on vectors and matrices, counted in full; ``nv`` tells M from other null matrices."""

    def __init__(self, ledger: _Ledger, nv: int) -> None:
        self.ledger, self.rule, self.one, self.nv = ledger, ledger.rule, ledger.one, nv

    def dot(self, a: Vector, b: Vector) -> Scalar:
        if _null(a) or _null(b):
            return 0.0
        self.ledger.note(f"scalar product {len(a)}", len(a), len(a) - 1)
        return self.one

    def vadd(self, a: Vector, b: Vector) -> Vector:
        if _null(a) or _null(b):
            return list(b) if _null(a) else list(a)
        self.ledger.note(f"sum {len(a)}", 0, len(a))
        return [self.one] * len(a)

    def vsub(self, a: Vector, b: Vector) -> Vector:
        return self.vadd(a, b)

    def scale(self, k: Scalar, a: Vector) -> Vector:
        if _null([k]) or _null(a):
            return [0.0] * len(a)
        self.ledger.note(f"scalar by {len(a)}", len(a), 0)
        return [self.one] * len(a)

    def cross(self, a: Vector, b: Vector) -> Vector:
        if _null(a) or _null(b):
            return [0.0] * 3
        self.ledger.note("skew by vector", *self.rule.skew_vector)
        return [self.one] * 3

    def skew(self, a: Vector) -> Matrix:
        return _Skew(scalar.skew(a))

    def matvec(self, A: Matrix, x: Vector) -> Vector:
        if isinstance(A, _Unit):
            return x
        if isinstance(A, _Skew):
            return self.cross([row[i - 1] for i, row in enumerate(A)], x)
        if _null(x) or _null_matrix(A):
            return [0.0] * len(A)
        r, k = len(A), len(x)
        self.ledger.note(f"{r}x{k} by vector", r * k, r * (k - 1))
        return [self.one] * r

    def matmul(self, A: Matrix, B: Matrix) -> Matrix:
        return self._product(A, B, len(B), len(B[0]))

    def matmul_transposed(self, A: Matrix, B: Matrix) -> Matrix:
        return self._product(A, B, len(B[0]), len(B))

    def _product(self, A: Matrix, B: Matrix, k: int, c: int) -> Matrix:
        r = len(A)
        if _null_matrix(A) or _null_matrix(B):
            return scalar.zeros(r, c)
        if isinstance(A, _Unit) or isinstance(B, _Unit):
            return B if isinstance(A, _Unit) else A
        if isinstance(A, _Skew) and isinstance(B, _Skew):
            self.ledger.note("skew by skew", *self.rule.skew_skew)
        else:
            self.ledger.note(f"{r}x{k} by {k}x{c}", r * k * c, r * (k - 1) * c)
        return [[self.one] * c for _ in range(r)]

    def madd(self, A: Matrix, B: Matrix) -> Matrix:
        if _null_matrix(A) or _null_matrix(B):
            return B if _null_matrix(A) else A
        r, c = len(A), len(A[0])
        self.ledger.note(f"sum {r}x{c}", 0, r * c)
        return [[self.one] * c for _ in range(r)]

    def mscale(self, k: Scalar, A: Matrix) -> Matrix:
        r, c = len(A), len(A[0])
        if _null([k]) or _null_matrix(A):
            return scalar.zeros(r, c)
        self.ledger.note(f"scalar by {r}x{c}", r * c, 0)
        result = [[self.one] * c for _ in range(r)]
        return _Skew(result) if isinstance(A, _Skew) else result

    def trace_product(self, A: Matrix, B: Matrix) -> Scalar:
        if _null_matrix(A) or _null_matrix(B):
            return 0.0
        r, k = len(A), len(B)
        self.ledger.note(f"Tr({r}x{k} by {k}x{r})", r * k, r * k - 1)
        return self.one

    def transposed(self, A: Matrix) -> Matrix:
        result = scalar.transposed(A)
        return type(A)(result) if isinstance(A, _Skew | _Unit) else result

    def identity(self, n: int) -> Matrix:
        return _Unit(scalar.identity(n))

    def zeros(self, rows: int, columns: int) -> Matrix:
        if rows == columns == self.nv and self.ledger.path == ("mass_matrix",):
            return [_LowerRow(i, columns) for i in range(rows)]
        return scalar.zeros(rows, columns)


def _null(a: Vector) -> bool:
    return all(type(x) is float and x == 0.0 for x in a)


def _null_matrix(A: Matrix) -> bool:
    return all(_null(row) for row in A)


# binding ------------------------------------------------------------------------------------------------


class _Bound:
    """The modules of dynamics/ bound to the counting operations."""

    def __init__(self, ledger: _Ledger, nv: int) -> None:
        self.ledger = ledger
        dense = _Dense(ledger, nv)
        names = (name for name in vars(_Dense) if not name.startswith("_"))
        self.dense = {getattr(scalar, name): self._unless_silent(getattr(dense, name), getattr(scalar, name)) for name in names}
        self.modules: dict[str, dict[str, Any]] = {}
        self.known: dict[Any, Any] = {}

    def module(self, module: types.ModuleType) -> dict[str, Any]:
        """The globals of a module, with its functions, classes and imports bound."""
        found = self.modules.get(module.__name__)
        if found is None:
            found = self.modules[module.__name__] = dict(vars(module))
            for name, value in vars(module).items():
                found[name] = self._bound(value)
        return found

    def _bound(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return types.SimpleNamespace(**self.module(value)) if self._ours(value.__name__) else value
        if not isinstance(value, types.FunctionType | type):
            return value
        if value in self.dense:
            return self.dense[value]
        if not self._ours(value.__module__) or value in CONSTANTS:
            return value
        if value not in self.known:
            self.known[value] = self._class(value) if isinstance(value, type) else self._function(value)
        return self.known[value]

    def _ours(self, name: str) -> bool:
        return name.startswith(PACKAGE) and name != scalar.__name__

    def _function(self, function: types.FunctionType) -> Callable[..., Any]:
        places = self.module(sys.modules[function.__module__])
        same = types.FunctionType(function.__code__, places, function.__name__, function.__defaults__, function.__closure__)
        same.__kwdefaults__ = function.__kwdefaults__
        ledger = self.ledger

        def followed(*args: Any, **named: Any) -> Any:
            before, constant = ledger.path, not (_counts(args) or _counts(tuple(named.values())))
            ledger.path = (*before, function.__name__)
            ledger.silent += constant
            try:
                return same(*args, **named)
            finally:
                ledger.path = before
                ledger.silent -= constant

        return followed

    def _class(self, kind: type) -> type:
        """The class with the methods that its author wrote bound; those that dataclass made stay."""
        made = {"__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__", "__replace__"}
        methods = {name: value for name, value in vars(kind).items() if isinstance(value, types.FunctionType) and name not in made}
        if not methods or issubclass(kind, tuple):
            return kind
        return type(kind.__name__, (kind,), {"__slots__": (), **{name: self._function(value) for name, value in methods.items()}})

    def _unless_silent(self, counting: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
        ledger = self.ledger
        return lambda *args: plain(*args) if ledger.silent else counting(*args)


def _counts(value: Any) -> bool:
    """Whether anything in it depends on the state."""
    if isinstance(value, Counter):
        return True
    if isinstance(value, (float, int, str, *CONSTANTS)) or value is None:
        return False
    if isinstance(value, list | tuple):
        return any(_counts(one) for one in reversed(value))  # the last arguments and entries are the shortest way
    if isinstance(value, dict):
        return any(_counts(one) for one in value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_counts(getattr(value, field.name)) for field in dataclasses.fields(value))
    return False
