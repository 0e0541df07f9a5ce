"""Kernels: compiled callables for one robot, made on first use.

``kernel(q)``, ``kernel(q, out)`` and ``kernel(q, out=out)`` take one state or a batch. What is plain float64 memory of one state
goes straight to machine code (entry.py); everything else comes here: lists, other dtypes, strides, batches of any shape.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import Array, flag, one_of, text, triple
from urdf_gibbs.dynamics import explicit
from urdf_gibbs.dynamics.evaluate import CHUNK, evaluate
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.references import ALIGNED, LOCAL, WORLD
from urdf_gibbs.dynamics.registry import COMPILED, REFERENCES, checked_method
from urdf_gibbs.engine.composed_derivatives import INVERSE_MATRICES, fill_inverse
from urdf_gibbs.engine.composed_products import COMPOSED, fill_product
from urdf_gibbs.engine.derivative_code import straight_text
from urdf_gibbs.engine.derivative_quantities import DERIVATIVES
from urdf_gibbs.engine.emit import BAD_QUATERNION, LANES, NO_MEMORY, SINGULAR
from urdf_gibbs.engine.entry import make_entry
from urdf_gibbs.engine.graph import TooLarge
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.engine.loops import LOOPED, loop_ir, memory_functions
from urdf_gibbs.engine.objects import Code, load_code
from urdf_gibbs.engine.product_quantities import PRODUCTS, rows_at_once
from urdf_gibbs.engine.quantities import (
    ELEMENTS,
    QUANTITIES,
    QUATERNION_TOLERANCE,
    STRAIGHT_DEFAULT,
    Options,
    checked_options,
    compute,
    velocity_pairs,
)
from urdf_gibbs.engine.threads import get_threads, run_on_threads
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError
from urdf_gibbs.locks import Lock
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.free import freed
from urdf_gibbs.robot.garbage import garbage_collection_paused
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot

BATCH_FROM = 256  # rows: fewer are computed one by one faster than code for batches compiles
PIECES_PER_THREAD = 8  # of a batch
WORK_PER_THREAD = 3_000_000  # operations: less is finished before another thread has woken up


@dataclass(frozen=True, slots=True)
class KernelKey:
    """What distinguishes the kernels of a robot: the quantity, its options, and the formulation."""

    quantity: str
    options: Options
    method: str


KERNELS: Shelf[KernelKey, Kernel] = Shelf()
_lock = Lock()  # of the code for batches


def kernel(
    robot: Robot,
    name: str,
    *,
    gravity: ArrayLike | None = EARTH_GRAVITY,
    frame: str = "",
    point: ArrayLike = (0.0, 0.0, 0.0),
    parameters: bool = False,
    reference: str = ALIGNED,
    pairs: Iterable[Sequence[int | str]] = (),
    method: str = COMPILED,
) -> Callable[..., Array]:
    """The callable for a quantity, always the same object; compiled unless a reference formulation is named."""
    text(frame, "the name of a link", "frame")
    name, method = one_of(name, tuple(QUANTITIES), "kernel"), checked_method(robot, method)
    baked = (0.0, 0.0, 0.0) if gravity is None else triple(gravity, "gravity")
    if flag(parameters, "parameters") and gravity is None and QUANTITIES[name].gravity:
        raise ArgumentError(f"a {name} kernel with inertial parameters and gravity as inputs, expected one of both; gravity=(x, y, z)")
    reference = one_of(reference, (ALIGNED, WORLD, LOCAL), "reference")
    options = Options(baked, frame, triple(point, "point"), parameters, velocity_pairs(robot, pairs), gravity is None, reference)
    return kernel_of(robot, name, options, method).entry


def kernel_of(robot: Robot, name: str, options: Options, method: str = COMPILED) -> Kernel:
    """The kernel for a quantity, always the same object."""
    key = KernelKey(name, checked_options(robot, name, options), method)
    return KERNELS.get(robot, key, lambda: _make_kernel(robot, key))


def c_function(robot: Robot, name: str, gravity: ArrayLike | None = EARTH_GRAVITY, careful: bool = False, parameters: bool = False) -> Any:
    """The quantity as a C function ``int64_t f(const double *input, ..., double *output)`` for one state; it returns 0 on success.

    Without ``gravity`` its last input is gravity (3,), with ``parameters`` it is the inertial parameters of all bodies, and with both
    one array of these in this order. The result is a ctypes function; ``careful`` goes through Python, which solves ill-conditioned
    states and reports singular ones. The exception behind a nonzero status is kept as ``function.problem``.
    """
    baked = (0.0, 0.0, 0.0) if gravity is None else triple(gravity, "gravity")
    inner = kernel_of(robot, name, Options(baked, parametric=parameters, free_gravity=gravity is None))
    if isinstance(inner, Compiled) and not careful:
        return inner.single
    shapes = [*((width,) for width in inner.widths), inner.shape]

    def call(*pointers: int) -> int:
        arrays = [
            np.ctypeslib.as_array((ctypes.c_double * int(np.prod(shape))).from_address(p)).reshape(shape)
            for p, shape in zip(pointers, shapes, strict=True)
        ]
        try:
            inner.entry(*arrays)
        except BaseException as problem:
            c_callable.problem = problem
            return SINGULAR
        return 0

    c_callable: Any = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(shapes))(call)
    c_callable.problem = None
    return c_callable


def _make_kernel(robot: Robot, key: KernelKey) -> Kernel:
    """Straight-line code if it pays, else code in loops, else Python around other kernels."""
    name, options = key.quantity, key.options
    if key.method != COMPILED:
        return Reference(robot, name, options, key.method)
    if not robot.nv:
        return Plain(robot, name, options)  # nothing moves
    try:
        with garbage_collection_paused():
            code_text = straight_text(robot, name, options)
    except TooLarge:
        code_text = None
    if code_text is not None:
        batch = code_text.batch
        return Compiled(robot, name, options, load_code(code_text.single), lambda stride: load_code(batch(stride)), code_text.work)
    if name in LOOPED and not options.parametric and not robot.is_flexible and not any(joint.is_mimic for joint in robot.joints):
        code = load_code(loop_ir(robot, name, options), symbols=memory_functions())
        work = STRAIGHT_DEFAULT  # a lower bound, or it would be straight-line code
        return Compiled(robot, name, options, code, lambda stride: code, work, lanes=False)
    return Composed(robot, name, options)


class Production(Kernel):
    """Computed by the production formulation."""

    def companion(self, name: str) -> Callable[..., Array]:
        options = Options(self.options.gravity, parametric=self.options.parametric, free_gravity=self.options.free_gravity)
        return kernel_of(self.robot, name, options).entry

    def _solve_carefully(self, flat: list[Array], result: Array, batch: tuple[int, ...], rows: NDArray[np.intp]) -> Exception | None:
        """Some rows of forward dynamics, or of a product with its derivatives, with pivoting."""
        if self.name not in COMPOSED:
            return self._solve_forward(flat, result, batch, rows)

        def kernels(name: str, options: Options) -> Callable[..., Array]:
            return kernel_of(self.robot, name, options).entry

        error = fill_product(self.robot, self.name, self.options, kernels, flat, result, rows)
        return SingularMassMatrixError(error.joints) if error is not None and not batch else error


class Compiled(Production):
    """Machine code behind a fast entry; batches in blocks and threads."""

    def __init__(
        self, robot: Robot, name: str, options: Options, single: Code, batch: Callable[[int], Code], work: int, lanes: bool = True
    ) -> None:
        super().__init__(robot, name, options)
        self.lanes = lanes  # whether states of a batch are computed side by side
        self._pointers = [ctypes.c_void_p] * (len(self.widths) + 1)
        address = self.single_address = single.address("single")
        self.single = ctypes.CFUNCTYPE(ctypes.c_int64, *self._pointers)(address)
        self._batch_code = batch
        self._batches: dict[int, Any] = {}  # by the distance of the rows of the output, in entries
        self._served = 0
        self.work = work
        self.entry = make_entry(name, address, self.widths, self.shape, self.general, doc=self._doc())

    def _doc(self) -> str:
        arguments = ", ".join(f"{letter} (..., {width})" for letter, width in zip(self.letters, self.widths, strict=True))
        return f"{self.name} of {self.robot.name or 'a robot'}: {arguments} -> (..., {', '.join(map(str, self.shape))})"

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        return self.fill(flat, result, batch, get_threads())

    def fill(self, flat: list[Array], result: Array, batch: tuple[int, ...], threads: int) -> Exception | None:
        """``_fill`` on at most so many threads; the result may be some columns of a wider array."""
        rows = len(result)
        strides = [8 * width for width in self.widths] + [result.strides[0]]
        starts = [x.ctypes.data for x in flat] + [result.ctypes.data]
        places = list(zip(starts, strides, strict=True))
        self._served += rows
        if rows < LANES or (self._served < BATCH_FROM and not self._batches):
            status = 0
            for row in range(rows):
                status |= self.single(*(start + row * stride for start, stride in places))
        else:
            status = self._run_batch(places, rows, threads)
        if status & NO_MEMORY:
            raise MemoryError(f"no memory for the working rows of {len(self.robot.joints)} bodies")
        if status & BAD_QUATERNION:
            return self._quaternion_error(flat[0])
        if not status & SINGULAR:
            return None
        # Find the singular states with the code for one state, a microsecond each.
        alone = [self.single(*(start + row * stride for start, stride in places)) for row in range(rows)]
        return self._solve_carefully(flat, result, batch, np.flatnonzero(np.array(alone) & SINGULAR))

    def _run_batch(self, places: list[tuple[int, int]], rows: int, threads: int) -> int:
        function = self._batch_function(places[-1][1] // 8)

        def part(first: int, count: int) -> int:
            status: int = function(*(start + first * stride for start, stride in places), count)
            return status

        parts = min(threads, rows * self.work // WORK_PER_THREAD, rows // LANES)
        if parts <= 1:
            return part(0, rows)
        step = max(LANES, rows // (PIECES_PER_THREAD * parts) // LANES * LANES)
        starts = [*range(0, rows - LANES + 1, step)]
        status = 0
        for one in run_on_threads([(first, last - first) for first, last in pairwise([*starts, rows])], part, parts):
            status |= one
        return status

    def batch_address(self) -> int:
        """Of the code for LANES states or more, whose results follow each other without gaps."""
        return ctypes.cast(self._batch_function(self.size), ctypes.c_void_p).value or 0

    def _batch_function(self, stride: int) -> Any:
        with _lock:
            if stride not in self._batches:
                address = self._batch_code(stride).address("batch")
                self._batches[stride] = ctypes.CFUNCTYPE(ctypes.c_int64, *self._pointers, ctypes.c_int64)(address)
        return self._batches[stride]


class Plain(Production):
    """The quantity in plain Python: milliseconds per state, but no compilation."""

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        if quaternion_error(self.robot.joints, flat[0])[1] > QUATERNION_TOLERANCE:
            return self._quaternion_error(flat[0])
        swept = self.name in PRODUCTS or (self.robot.is_flexible and self.name in DERIVATIVES)
        rows = rows_at_once(self.robot) if swept else CHUNK
        result[...] = evaluate(lambda *states: compute(self.robot, self.name, self.options, *states), flat, (self.size,), rows)
        return None


class Composed(Plain):
    """A quantity without code in loops for a large robot: composed of other kernels, or in plain Python."""

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        robot = self.robot
        if quaternion_error(robot.joints, flat[0])[1] > QUATERNION_TOLERANCE:
            return self._quaternion_error(flat[0])
        if self.name in COMPOSED:
            return self._solve_carefully(flat, result, batch, np.arange(len(result)))
        if robot.is_flexible and self.name != "forward_dynamics":
            return super()._fill(flat, result, batch)
        if self.name in INVERSE_MATRICES:
            fill_inverse(robot, self.name, self.options, flat, result)
            return None
        if any(joint.is_mimic for joint in robot.joints) and self.name in LOOPED and not self.options.parametric:
            if self.name == "forward_dynamics":
                return self._solve_forward(flat, result, batch)
            result[...] = self._with_mimic_joints(flat).reshape(result.shape)
        elif self.name == "forward_dynamics":
            return self._solve_forward(flat, result, batch)
        elif self.name == "mass_matrix_packed" and not self.options.parametric:
            result[...] = kernel(robot, "mass_matrix")(flat[0])[:, *np.tril_indices(robot.nv)]
        elif self.name == ELEMENTS and not self.options.parametric:
            i, j = np.transpose(self.options.pairs)
            for start in range(0, len(result), CHUNK):
                result[start : start + CHUNK] = kernel(robot, "mass_matrix")(flat[0][start : start + CHUNK])[:, i, j]
        elif self.name == "kinetic_energy" and not self.options.parametric:
            force = kernel(robot, "inverse_dynamics", gravity=(0.0, 0.0, 0.0))(flat[0], 0.0 * flat[1], flat[1])
            result[:, 0] = 0.5 * np.einsum("ij,ij->i", flat[1], force)
        else:
            return super()._fill(flat, result, batch)
        return None

    def _with_mimic_joints(self, flat: list[Array]) -> Array:
        """The quantity of the robot with its mimic joints free, projected by v_free = G v."""
        free, G, positions = freed(self.robot)
        count = len(QUANTITIES[self.name].inputs)
        states = [positions(flat[0])] + [x @ G.T for x in flat[1:count]]
        full = kernel_of(free, self.name, self.options).entry(*states, *flat[count:])
        return np.asarray(G.T @ full @ G if self.name == "mass_matrix" else full @ G)


class Reference(Kernel):
    """Computed by one of the papers' formulations in plain Python: M and h, and what follows from them."""

    def __init__(self, robot: Robot, name: str, options: Options, method: str) -> None:
        if options.free_gravity:
            raise ArgumentError(f"gravity=None, which makes it an input, is for method={COMPILED!r}; expected (3,) numbers")
        super().__init__(robot, name, options)
        self.method = method

    def companion(self, name: str) -> Callable[..., Array]:
        return kernel_of(self.robot, name, Options(self.options.gravity), self.method).entry

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        if quaternion_error(self.robot.joints, flat[0])[1] > QUATERNION_TOLERANCE:
            return self._quaternion_error(flat[0])
        if self.name == "forward_dynamics":
            return self._solve_forward(flat, result, batch)
        result[...] = self._evaluate(*flat).reshape(result.shape)
        return None

    def _evaluate(self, q: Array, *rest: Array) -> Array:
        formulation, model, gravity = REFERENCES[self.method], model_of(self.robot), list(self.options.gravity)
        if self.name == "mass_matrix":
            return evaluate(lambda q: formulation.mass_matrix(model, q), [q], self.shape)
        if self.name == "gravity_force" and self.robot.is_flexible:
            return evaluate(lambda q: formulation.gravity_force(model, q, gravity), [q], self.shape)
        if self.name in ("bias", "gravity_force"):
            v = rest[0] if rest else np.zeros((len(q), self.robot.nv))
            return evaluate(lambda q, v: formulation.bias(model, q, v, gravity), [q, v], self.shape)
        if self.name == ELEMENTS and self.method == "explicit":
            return evaluate(lambda q: explicit.elements(model, q, self.options.pairs), [q], self.shape)
        M = self.companion("mass_matrix")(q)
        if self.name == ELEMENTS:
            return np.asarray(M[:, *np.transpose(self.options.pairs)])
        if self.name == "inverse_dynamics":
            return np.asarray(np.einsum("nij,nj->ni", M, rest[1]) + self.companion("bias")(q, rest[0]))
        if self.name == "kinetic_energy":
            return np.asarray(0.5 * np.einsum("ni,nij,nj->n", rest[0], M, rest[0]))
        raise ArgumentError(f"{self.name} does not depend on the formulation; leave method={self.method!r} out")
