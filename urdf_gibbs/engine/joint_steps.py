"""The steps of one joint for code in loops: the same formulations (dynamics/local_*.py), traced once for each type of joint.

A joint's constants are inputs here. Every body has a row of constants (CONSTANT) and a row of working memory (WORK); a step
reads those of its body and of its parent, and the entries of q, v, a or tau that belong to its joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from urdf_gibbs.dynamics.local import Axis, Body, Full, Moments, Placed, place_symbolic
from urdf_gibbs.dynamics.local_force import Motion, child_motion, load
from urdf_gibbs.dynamics.local_forward import (
    Articulated,
    Step,
    add_to_parent,
    body_form,
    eliminate,
    motion_from_parent,
    recover_acceleration,
)
from urdf_gibbs.dynamics.local_inertia import axis_wrench, moments_at_parent, wrench_at_parent
from urdf_gibbs.dynamics.matrices import Matrix, Vector
from urdf_gibbs.dynamics.scalar import add, mul
from urdf_gibbs.engine.emit import BAD_QUATERNION, SINGULAR
from urdf_gibbs.engine.graph import Graph, Node
from urdf_gibbs.engine.quantities import QUATERNION_TOLERANCE


def _layout(**sizes: int) -> tuple[dict[str, slice], int]:
    places, start = {}, 0
    for name, size in sizes.items():
        places[name] = slice(start, start + size)
        start += size
    return places, start


CONSTANT, CONSTANTS = _layout(fixed=9, offset=3, b=3, ratio=1, shift=1, m=1, h=3, Sigma=6, floor=6)
WORK, WORKS = _layout(
    R=9, p=3, omega=3, alpha=3, a=3, U=9, n=3, f=3, A=6, H=9, C=6, steps=42, dalpha=3, da=3, m=1, h=3, Sigma=6
)  # fmt: skip
STEP = 7  # u, angular (3), linear (3)
SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True)
class Output:
    """Where a value goes: entry ``index`` of a row, set or added to; or a check that sets bits of the status."""

    row: str
    index: int
    value: Any
    added: bool = False


class Rows:
    """Symbolic rows for tracing a step: constants c, working memory w and that of the parent p, inputs q, v, a, tau."""

    def __init__(self, kind: str) -> None:
        self.graph = Graph()
        self.kind = kind
        self.outputs: list[Output] = []
        self.checks: list[tuple[Any, Any, bool, int]] = []

    def entry(self, row: str, index: int) -> Node:
        return self.graph.input(row, index)

    def vector(self, row: str, layout: dict[str, slice], name: str) -> Vector:
        return Vector([self.entry(row, i) for i in range(layout[name].start, layout[name].stop)])

    def symmetric(self, row: str, layout: dict[str, slice], name: str) -> Matrix:
        entries = dict(zip(SYMMETRIC, self.vector(row, layout, name), strict=True))
        return Matrix([[entries[min(i, j), max(i, j)] for j in range(3)] for i in range(3)])

    def square(self, row: str, layout: dict[str, slice], name: str) -> Matrix:
        flat = self.vector(row, layout, name)
        return Matrix([flat[3 * i : 3 * i + 3] for i in range(3)])

    def put(self, row: str, place: slice, values: list[Any], added: bool = False) -> None:
        for i, value in enumerate(values):
            if not (added and isinstance(value, float) and value == 0.0):
                self.outputs.append(Output(row, place.start + i, value, added))

    def put_symmetric(self, row: str, place: slice, S: list[list[Any]], added: bool = False) -> None:
        self.put(row, place, [S[i][j] for i, j in SYMMETRIC], added)

    @property
    def axes(self) -> list[Axis]:
        """The joint's axes with the sign of the URDF's axis left to the ratio."""
        unit, zero = [Vector(row) for row in Matrix.identity(3)], Vector.zeros(3)
        if self.kind.startswith("revolute"):
            return [Axis(unit[int(self.kind[-1])], zero, 0, 1.0)]
        if self.kind == "prismatic":
            return [Axis(zero, self.vector("c", CONSTANT, "b"), 0, 1.0)]
        if self.kind == "planar":
            return [Axis(zero, unit[0], 0, 1.0), Axis(zero, unit[1], 1, 1.0), Axis(unit[2], zero, 2, 1.0)]
        return [Axis(zero, unit[i], i, 1.0) for i in range(3)] + [Axis(unit[i], zero, 3 + i, 1.0) for i in range(3)]

    def rates(self, row: str) -> list[Any]:
        """Entries of v, a or tau of the joint, along its axes."""
        ratio = self.entry("c", CONSTANT["ratio"].start)
        single = len(self.axes) == 1
        return [self.entry(row, i) * ratio if single else self.entry(row, i) for i in range(len(self.axes))]

    def moments(self, row: str, layout: dict[str, slice]) -> Moments:
        return Moments(self.vector(row, layout, "m")[0], self.vector(row, layout, "h"), self.symmetric(row, layout, "Sigma"))

    def body(self, J: Moments | None = None) -> Placed:
        """The body at its configuration: one full rotation, nothing left to turn."""
        J = J or self.moments("c", CONSTANT)
        R, p = self.square("w", WORK, "R"), self.vector("w", WORK, "p")
        k = int(self.kind[-1]) if self.kind.startswith("revolute") else 2
        kind = "prismatic" if self.kind == "prismatic" else "revolute" if self.kind.startswith("revolute") else self.kind
        body = Body(kind, 0, k, [Full(R)], p, Vector.zeros(3), self.axes, 0, 1.0, 0.0, J, False)
        return Placed(body, None, p, J)

    def motion(self, row: str) -> Motion:
        vectors = [self.vector(row, WORK, name) for name in ("omega", "alpha", "a")]
        return Motion(vectors[0], vectors[1], vectors[2], self.square(row, WORK, "U"))


def place_step(rows: Rows) -> None:
    """R = fixed rotation times the joint's, and p."""
    F, offset = rows.square("c", CONSTANT, "fixed"), rows.vector("c", CONSTANT, "offset")
    ratio, shift = rows.entry("c", CONSTANT["ratio"].start), rows.entry("c", CONSTANT["shift"].start)
    q = [rows.entry("q", i) for i in range(7)]
    R, p = place_symbolic(rows.kind, F, offset, rows.vector("c", CONSTANT, "b"), ratio * q[0] + shift, q)
    rows.put("w", WORK["R"], [entry for row in R for entry in row])
    rows.put("w", WORK["p"], p)
    if rows.kind == "floating":
        norm = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6] - 1.0
        rows.checks.append((norm, 2.0 * QUATERNION_TOLERANCE, False, BAD_QUATERNION))


def motion_step(rows: Rows, with_v: bool, with_a: bool) -> Motion:
    """The body's motion from its parent's."""
    zero = [0.0] * len(rows.axes)
    motion = child_motion(rows.body(), rows.motion("p"), rows.rates("v") if with_v else zero, rows.rates("a") if with_a else zero)
    for name in ("omega", "alpha", "a"):
        rows.put("w", WORK[name], getattr(motion, name))
    rows.put("w", WORK["U"], [entry for row in motion.U for entry in row])
    return motion


def force_step(rows: Rows, with_v: bool, with_a: bool) -> None:
    """Outwards: motion, and the load of the body alone."""
    n, f = load(rows.body().J, motion_step(rows, with_v, with_a))
    rows.put("w", WORK["n"], n)
    rows.put("w", WORK["f"], f)


def gather_step(rows: Rows) -> None:
    """Inwards: the joint's force, and the wrench that it passes to the parent."""
    placed = rows.body()
    n, f = rows.vector("w", WORK, "n"), rows.vector("w", WORK, "f")
    _put_rates(rows, [add(axis.angular @ n, axis.linear @ f) for axis in rows.axes])
    up_n, up_f = wrench_at_parent(placed, (n, f))
    rows.put("p", WORK["n"], up_n, added=True)
    rows.put("p", WORK["f"], up_f, added=True)


def _put_rates(rows: Rows, values: list[Any]) -> None:
    if len(values) == 1:
        values = [values[0] * rows.entry("c", CONSTANT["ratio"].start)]
    rows.put("out", slice(0, len(values)), values)


def form_step(rows: Rows) -> None:
    """Outwards: motion at q'' = 0 and the body's own quadratic form."""
    form = body_form(rows.body(), motion_step(rows, with_v=True, with_a=False))
    rows.put_symmetric("w", WORK["A"], form.A)
    rows.put("w", WORK["H"], [entry for row in form.H for entry in row])
    rows.put_symmetric("w", WORK["C"], form.C)
    rows.put("w", WORK["n"], form.n)
    rows.put("w", WORK["f"], form.f)


def _form(rows: Rows, row: str) -> Articulated:
    blocks = rows.symmetric(row, WORK, "A"), rows.square(row, WORK, "H"), rows.symmetric(row, WORK, "C")
    return Articulated(*blocks, rows.vector(row, WORK, "n"), rows.vector(row, WORK, "f"))


def eliminate_step(rows: Rows) -> None:
    """Inwards: eliminate the joint's q'' and add what remains to the parent's form."""
    form = _form(rows, "w")
    tau = rows.rates("tau")
    floors = rows.vector("c", CONSTANT, "floor")
    for i in range(len(rows.axes) - 1, -1, -1):
        step = eliminate(form, rows.axes[i], tau[i])
        start = WORK["steps"].start + STEP * i
        rows.put("w", slice(start, start + STEP), [step.u, *step.angular, *step.linear])
        rows.checks.append((step.D, floors[i], True, SINGULAR))
    parent = Articulated(Matrix.zeros(3, 3), Matrix.zeros(3, 3), Matrix.zeros(3, 3), Vector.zeros(3), Vector.zeros(3))
    add_to_parent(parent, rows.body(), form)
    rows.put_symmetric("p", WORK["A"], parent.A, added=True)
    rows.put("p", WORK["H"], [entry for row in parent.H for entry in row], added=True)
    rows.put_symmetric("p", WORK["C"], parent.C, added=True)
    rows.put("p", WORK["n"], parent.n, added=True)
    rows.put("p", WORK["f"], parent.f, added=True)


def release_step(rows: Rows) -> None:
    """Outwards: q'', and the motion it gives the body."""
    dalpha, da = motion_from_parent(rows.body(), (rows.vector("p", WORK, "dalpha"), rows.vector("p", WORK, "da")))
    accelerations = []
    for i, axis in enumerate(rows.axes):
        stored = [rows.entry("w", WORK["steps"].start + STEP * i + j) for j in range(STEP)]
        step = Step(axis, stored[0], Vector(stored[1:4]), Vector(stored[4:7]), 1.0)
        if axis.angular_index >= 0:  # known zeros and ones of an eliminated coordinate axis
            step.angular[axis.angular_index] = 1.0
        elif axis.linear_index >= 0:
            step.linear[axis.linear_index] = 1.0
        dalpha, da, acceleration = recover_acceleration(step, dalpha, da)
        accelerations.append(acceleration)
    rows.put("w", WORK["dalpha"], dalpha)
    rows.put("w", WORK["da"], da)
    _put_rates(rows, accelerations)


def copy_step(rows: Rows) -> None:
    """The body's own moments, to be completed by its children's."""
    J = rows.moments("c", CONSTANT)
    rows.put("w", WORK["m"], [J.m])
    rows.put("w", WORK["h"], J.h)
    rows.put_symmetric("w", WORK["Sigma"], J.Sigma)


def lift_step(rows: Rows) -> None:
    """Inwards: the subtree's moments to the parent, and the forces of the joint's own columns ("x": rows of forces, by column)."""
    J = rows.moments("w", WORK)
    placed = rows.body(J)
    up = moments_at_parent(placed, J)
    rows.put("p", WORK["m"], [up.m], added=True)
    rows.put("p", WORK["h"], up.h, added=True)
    rows.put_symmetric("p", WORK["Sigma"], up.Sigma, added=True)
    single = len(rows.axes) == 1
    for c, axis in enumerate(rows.axes):
        n, f = axis_wrench(axis, J)
        if single:
            ratio = rows.entry("c", CONSTANT["ratio"].start)
            n, f = ratio * n, ratio * f
        for i, value in enumerate([*n, *f]):
            rows.outputs.append(Output(f"x{i}", c, value))


def cross_step(rows: Rows) -> None:
    """Entries of M between the joint and a column of its subtree, then that column's force across the joint."""
    n, f = (Vector([rows.entry(f"x{i}", 0) for i in part]) for part in (range(3), range(3, 6)))
    values = [add(axis.angular @ n, axis.linear @ f) for axis in rows.axes]
    if len(values) == 1:
        values = [mul(values[0], rows.entry("c", CONSTANT["ratio"].start))]
    for i, value in enumerate(values):
        rows.outputs.append(Output(f"m{i}", 0, value))
    up_n, up_f = wrench_at_parent(rows.body(), (n, f))
    for i, value in enumerate([*up_n, *up_f]):
        rows.outputs.append(Output(f"x{i}", 0, value))
