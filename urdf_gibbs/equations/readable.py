"""Equations of motion of small robots in the form of the textbooks.

A formulation runs over the sums of trigonometry.py, which stay expanded with all cancellations done; the result is collected: velocity
products and gravity outside, masses and inertias inside them, lengths and angles innermost. What comes out is compared with the
formulation run over floats at random states and random constants before it is returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from urdf_gibbs.arguments import listed, one_of, triple
from urdf_gibbs.dynamics import kinematics, scalar
from urdf_gibbs.dynamics.model import Model
from urdf_gibbs.dynamics.registry import REFERENCES
from urdf_gibbs.dynamics.scalar import Scalar, Vector, dot, matvec, mul, vadd
from urdf_gibbs.equations.collect import collected, number
from urdf_gibbs.equations.parameters import Coordinate, Parameter, exact, named_model, positions, rates
from urdf_gibbs.equations.trigonometry import Algebra, Sum, TooLong
from urdf_gibbs.errors import ArgumentError, UrdfGibbsError
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

QUANTITIES = {  # name -> (letter of its entries, what it is)
    "mass_matrix": ("M", "mass matrix"),
    "bias": ("h", "bias force: Coriolis, centrifugal and gravity forces"),
    "gravity_force": ("G", "gravity force"),
    "inverse_dynamics": ("tau", "inverse dynamics, M a + h"),
    "kinetic_energy": ("T", "kinetic energy"),
    "potential_energy": ("U", "potential energy"),
    "placement": ("p", "place of {frame} in the world"),
    "jacobian": ("J", "Jacobian of {frame}: velocity of its origin, then angular velocity, in world axes"),
}
SECONDS = 20.0  # of work on a robot before its equations are left unsimplified
MOST_TERMS = 20_000  # of a quantity that is collected
LARGEST = 100_000  # operations that are shown unsimplified
SMALL_NV = 6
SMALL_TERMS = 200  # of the mass matrix, both of its triangles
ROTATIONS = 1e-5  # entries of rotations are rounded to 0, 1/2, ... within this: files say 1.5708 for pi/2
TOLERANCE = 1e-10
STATES = 3

scalar.sin.register(sympy.Expr, sympy.sin)
scalar.cos.register(sympy.Expr, sympy.cos)

Entries = list[list[Any]]


@dataclass(frozen=True)
class Equations:
    """The equations of a robot, to be written in several ways.

    ``expressions``: quantity -> SymPy matrix (nv x nv, nv x 1, 1 x 1). ``symbols``: name -> SymPy symbol, of coordinates and constants.
    ``parameters``: the constants that occur, with values. ``apart``: pairs (i, j) of coordinates, from 0, that no branch has both of.
    ``notes``: what the reader should know.
    """

    robot: Robot = field(repr=False)
    method: str
    expressions: dict[str, sympy.Matrix]
    symbols: dict[str, sympy.Symbol] = field(repr=False)
    parameters: list[Parameter] = field(repr=False)
    positions: list[Coordinate] = field(repr=False)
    rates: list[Coordinate] = field(repr=False)
    gravity: tuple[float, float, float]
    apart: frozenset[tuple[int, int]] = field(repr=False)
    frame: str | None
    notes: tuple[str, ...]

    def latex(self, document: bool = False) -> str:
        """LaTeX: one align environment for each quantity and a table of the symbols; with document=True a file to compile."""
        from urdf_gibbs.equations.latex import latex

        return latex(self, document)

    def html(self) -> str:
        """One page without scripts, with formulas in MathML."""
        from urdf_gibbs.equations.page import page

        return page(self)

    def text(self, width: int | None = None) -> str:
        """Lines for a terminal of ``width`` columns (None: of this one)."""
        from urdf_gibbs.equations.text import text

        return text(self, width)

    def python_source(self) -> str:
        """A Python module that defines the symbols and matrices with SymPy alone."""
        from urdf_gibbs.equations.text import python_source

        return python_source(self)

    def values(self, q: ArrayLike, v: ArrayLike = (), a: ArrayLike = ()) -> dict[str, np.ndarray[Any, Any]]:
        """The quantities as numbers at positions q (nq,), velocities v (nv,) and accelerations a (nv,), with the robot's constants."""
        numbers = {parameter.name: parameter.value for parameter in self.parameters}
        for letter, entries in (("q", q), ("v", v), ("a", a)):
            numbers |= {f"{letter}{i + 1}": float(x) for i, x in enumerate(np.ravel(np.asarray(entries, dtype=float)))}
        missing = [name for name in self.symbols if name not in numbers and self._occurs(name)]
        if missing:
            raise ArgumentError(f"no value for {', '.join(missing)}: expected q of {self.robot.nq}, v and a of {self.robot.nv} entries")
        return {what: evaluated(expression, numbers) for what, expression in self.expressions.items()}

    def _occurs(self, name: str) -> bool:
        return any(expression.has(self.symbols[name]) for expression in self.expressions.values())

    def __str__(self) -> str:
        return self.text()


def equations(
    robot: Robot,
    what: Sequence[str] = ("mass_matrix", "bias"),
    method: str = "explicit",
    named: bool = True,
    gravity: Sequence[float] = EARTH_GRAVITY,
    frame: str | None = None,
    seconds: float = SECONDS,
) -> Equations:
    """The robot's equations in symbols.

    Args:
        robot: Made by ``load``.
        what: Of "mass_matrix", "bias", "gravity_force", "inverse_dynamics", "kinetic_energy", "potential_energy", and of a link ``frame``
            "placement" and "jacobian".
        method: The formulation whose source is run; the result is the same.
        named: Whether masses, lengths and inertias have names; False: they are numbers.
        gravity: (3,) in the world [m/s^2].
        frame: The link whose Jacobian or placement is asked for.
        seconds: What takes longer is left unsimplified, and ``notes`` says so.

    Returns:
        Expressions of SymPy by quantity, with the symbols in them.

    Raises:
        ArgumentError: An argument has a wrong type or value, or the robot has no equations of motion.
        UnknownNameError: There is no such quantity, method or link.
        UrdfGibbsError: It takes more than some 100,000 operations.
    """
    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r} has no moving joint, and so no equations of motion")
    wanted = [what] if isinstance(what, str) else listed(what, "a list of quantities", "what")
    quantities = [one_of(name, tuple(QUANTITIES), "quantity") for name in wanted]
    for name in quantities:
        if name in ("placement", "jacobian") and frame is None:
            raise ArgumentError(f"{name} needs a frame: the name of a link")
    method = one_of(method, tuple(REFERENCES), "method")
    task = _Task(robot, method, triple(gravity, "gravity"), frame)
    algebra = Algebra(task.groups(), task.unit_quaternions(), seconds)
    values = {} if named else {parameter.name: parameter.value for parameter in task.parameters()}
    notes: list[str] = []
    matrices: dict[str, sympy.Matrix] = {}
    for name in quantities:
        try:
            entries = task.answer(name, algebra.symbol)
            if _terms(entries) > MOST_TERMS:
                raise TooLong
            matrices[name] = _matrix(entries, lambda entry: collected(entry, values), name == "mass_matrix")
        except TooLong:
            matrices[name] = task.unsimplified(name, named)
            notes.append(f"{name} is not simplified: that would take too long.")
    parameters = [parameter for parameter in task.parameters() if any(parameter.name in _names(matrix) for matrix in matrices.values())]
    for name, matrix in matrices.items():
        task.check(name, matrix, named)
    rounded = task.rounding()
    if rounded:
        notes.append(f"Axes and rotations are rounded to exact numbers; their entries changed by up to {rounded:.1g}.")
    q, v = positions(robot), rates(robot)
    names = [c.name for c in (*q, *v, *(rates(robot, "a") if "inverse_dynamics" in quantities else ()))] + [p.name for p in parameters]
    symbols = {name: sympy.Symbol(name) for name in names}
    return Equations(robot, method, matrices, symbols, parameters, q, v, task.gravity, task.apart(), frame, tuple(notes))


def is_small(robot: Robot) -> bool:
    """Whether its equations are readable: rigid, at most six velocities, a mass matrix of at most some hundred terms."""
    if robot.is_flexible or robot.nv > SMALL_NV or robot.nv == 0:
        return False
    task = _Task(robot, "explicit", (0.0, 0.0, 0.0), None)
    try:
        M = task.answer("mass_matrix", Algebra(task.groups(), task.unit_quaternions(), 2.0).symbol)
    except TooLong:
        return False
    return _terms(M) <= SMALL_TERMS


def _terms(entries: Entries) -> int:
    return sum(len(entry.terms) for row in entries for entry in row if isinstance(entry, Sum))


def evaluated(expression: sympy.Matrix, numbers: dict[str, float]) -> np.ndarray[Any, Any]:
    """The matrix with a number for each of its symbols."""
    names = sorted(_names(expression))
    function = sympy.lambdify([sympy.Symbol(name) for name in names], expression.tolist(), "math")
    return np.array(function(*(numbers[name] for name in names)), dtype=float)


def _names(expression: sympy.Matrix) -> set[str]:
    return {symbol.name for symbol in expression.free_symbols}


# What is asked of the formulation -------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """A robot and the requested quantity, over any scalar."""

    robot: Robot
    method: str
    gravity: tuple[float, float, float]
    frame: str | None

    def answer(self, what: str, symbol: Callable[[str], Scalar]) -> Entries:
        """The quantity as rows of entries, with ``symbol(name)`` for each coordinate and constant."""
        model, point, gravity, _ = self.named(lambda name, value: symbol(name))
        q = [symbol(c.name) for c in positions(self.robot)]
        v = [symbol(c.name) for c in rates(self.robot)]
        formulation = REFERENCES[self.method]
        if what == "mass_matrix":
            return list(formulation.mass_matrix(model, q))
        if what == "bias":
            return [[x] for x in formulation.bias(model, q, v, gravity)]
        if what == "gravity_force":
            return [[x] for x in formulation.bias(model, q, [0.0] * model.nv, gravity)]
        if what == "inverse_dynamics":
            a = [symbol(c.name) for c in rates(self.robot, "a")]
            return [[x] for x in vadd(matvec(formulation.mass_matrix(model, q), a), formulation.bias(model, q, v, gravity))]
        if what == "kinetic_energy":
            return [[mul(0.5, dot(v, matvec(formulation.mass_matrix(model, q), v)))]]
        if what == "potential_energy":
            return [[kinematics.potential_energy(kinematics.first_moment(model, q)[1], gravity)]]
        body = self._frame_body()
        if what == "jacobian":
            return kinematics.jacobian(model, q, body, point)
        R, p = kinematics.placements(model, q)[body] if body >= 0 else (scalar.identity(3), [0.0, 0.0, 0.0])
        return [[x] for x in vadd(p, matvec(R, point))]

    def named(self, name: Callable[[str, float], Scalar]) -> tuple[Model, Vector, Vector, list[Parameter]]:
        """(model, the frame's origin in its body, gravity, constants)."""
        model, listed = named_model(self.robot, name, ROTATIONS)
        size = math.sqrt(sum(x * x for x in self.gravity))
        gravity: Vector = [0.0, 0.0, 0.0]
        if size:
            g = name("g", size)
            listed.append(Parameter("g", size, "gravity", "m/s^2"))
            gravity = [mul(exact(x / size), g) for x in self.gravity]
        point: Vector = [0.0, 0.0, 0.0]
        if self.frame is not None:
            values = self.robot.frame(self.frame).placement[:3, 3].tolist()
            for k, value in enumerate(values):
                if abs(value) > TOLERANCE:
                    point[k] = name(f"e{'xyz'[k]}", value)
                    listed.append(Parameter(f"e{'xyz'[k]}", value, f"origin of {self.frame} in its body, {'xyz'[k]}", "m"))
        return model, point, gravity, listed

    def parameters(self) -> list[Parameter]:
        return self.named(lambda name, value: value)[3]

    def _frame_body(self) -> int:
        assert self.frame is not None
        return self.robot.frame(self.frame).body

    def groups(self) -> dict[str, int]:
        """The number of a group for each angle: joints with parallel axes, each on the next rotating one below it, are together."""
        names = [c.name for c in positions(self.robot)]
        group = {name: i for i, name in enumerate(names)}
        axes: list[tuple[str, np.ndarray[Any, Any]] | None] = []  # the last angle on the way to a body, its axis in the body's frame
        for body in named_model(self.robot, lambda name, value: value, ROTATIONS)[0].bodies:
            above = None if body.parent < 0 else axes[body.parent]
            R = np.array([row[:3] for row in body.E[:3]])
            carried = None if above is None else (above[0], R.T @ above[1])
            if body.type in ("prismatic", "floating"):
                axes.append(carried if body.type == "prismatic" else None)
                continue
            own = names[body.iq + (2 if body.type == "planar" else 0)]
            axis = np.array(body.axis)
            if carried is not None and np.abs(np.cross(axis, carried[1])).max() < ROTATIONS:
                old, new = group[own], group[carried[0]]
                group = {name: new if number == old else number for name, number in group.items()}
            axes.append((own, axis))
        return group

    def unit_quaternions(self) -> list[tuple[str, ...]]:
        names = [c.name for c in positions(self.robot)]
        return [tuple(names[joint.iq + 3 : joint.iq + 7]) for joint in self.robot.joints if joint.type == "floating"]

    def apart(self) -> frozenset[tuple[int, int]]:
        """Pairs of coordinates of v that lie on no common branch."""
        on: list[set[int]] = [set() for _ in range(self.robot.nv)]
        for which, branch in enumerate(self.robot.branches):
            for body in branch.bodies:
                joint = self.robot.joints[body]
                for k in range(joint.nv):
                    on[joint.iv + k].add(which)
        return frozenset((i, j) for i in range(self.robot.nv) for j in range(self.robot.nv) if not on[i] & on[j])

    def rounding(self) -> float:
        """The largest change that rounding made to an entry of a rotation or an axis; 0 where it is round-off."""
        rounded = named_model(self.robot, lambda name, value: value, ROTATIONS)[0]
        change = 0.0
        for body, joint, E in zip(rounded.bodies, self.robot.joints, self.robot.placement, strict=True):
            change = max(change, float(np.abs(np.array(body.E)[:3, :3] - E[:3, :3]).max()))
            change = max(change, float(np.abs(np.array(body.axis) - joint.axis).max()))
        return change if change > 1e-10 else 0.0

    def unsimplified(self, what: str, named: bool) -> sympy.Matrix:
        """The quantity as an unsimplified SymPy matrix."""
        size = int(sum(entry.operations for row in self.answer(what, lambda _: _Size(0.0)) for entry in row if isinstance(entry, _Size)))
        if size > LARGEST:
            message = f"{what} of {self.robot.name!r} takes {size} operations: too long to read; ask for its source code instead"
            raise ArgumentError(message)
        values = {parameter.name: number(parameter.value, False) for parameter in self.parameters()}
        entries = self.answer(what, lambda name: sympy.Symbol(name) if named or name not in values else values[name])
        matrix = sympy.Matrix([[sympy.sympify(entry) for entry in row] for row in entries])
        return matrix.xreplace({value: number(float(value), named) for value in matrix.atoms(sympy.Float)})

    def check(self, what: str, matrix: sympy.Matrix, named: bool) -> None:
        """Compare with the formulation over floats, at random states and, where they are named, random constants."""
        rng = np.random.default_rng(0)
        constants = self.parameters()
        for _ in range(STATES):
            numbers = {p.name: float(rng.uniform(0.3, 1.7)) if named else p.value for p in constants}
            numbers |= {c.name: float(x) for c, x in zip(positions(self.robot), self.robot.random(rng), strict=True)}
            for letter in "va":
                numbers |= {c.name: float(rng.uniform(-2.0, 2.0)) for c in rates(self.robot, letter)}
            expected = np.array(self.answer(what, numbers.__getitem__), dtype=float).reshape(matrix.shape)
            difference = float(np.abs(evaluated(matrix, numbers) - expected).max(initial=0.0))
            far = max((abs(numbers[p.name]) for p in constants if p.unit == "m"), default=0.0)  # differences of such places lose digits
            if not difference <= TOLERANCE * max(1.0, 1e-3 * far, float(np.abs(expected).max(initial=0.0))):
                raise UrdfGibbsError(f"internal error: simplified {what} of {self.robot.name!r} differs by {difference:.3g}")


@dataclass(frozen=True, slots=True)
class _Size:
    """A scalar that counts the operations written down to make it, repetitions included."""

    operations: float

    def __add__(self, other: Any) -> _Size:
        if isinstance(other, list):  # a vector or matrix, which multiplies its entries
            return NotImplemented
        return _Size(self.operations + 1.0 + (other.operations if isinstance(other, _Size) else 0.0))

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __add__

    def __neg__(self) -> _Size:
        return self + 0.0

    sin = cos = __neg__


def _matrix(entries: Entries, written: Callable[[Any], sympy.Expr], symmetric: bool) -> sympy.Matrix:
    rows = [[written(entry) if not symmetric or j <= i else None for j, entry in enumerate(row)] for i, row in enumerate(entries)]
    return sympy.Matrix([[rows[j][i] if entry is None else entry for j, entry in enumerate(row)] for i, row in enumerate(rows)])
