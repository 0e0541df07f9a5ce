"""Machine code for a step of one robot: DOP853 unrolled for its number of coordinates, calling its forward dynamics.

    int64_t step(void *table[9], double trial[4])
    int64_t dense(void *table[9], double trial[4])

for flight without held contacts, under a constant torque. Both do what ``step`` and ``dense_coefficients`` (flight.py) do in general.
Coefficients are constants here; sums over stages run in lanes of four coordinates and start with the oldest stage, so that little is left
to do when the newest derivative arrives. The table holds what TABLE names: a C function and arrays of System and State. trial[0] is the
length of the step; ``step`` writes its error relative to the tolerance to trial[1]. The status is 1 where the fast forward dynamics fail:
then the general step, which has a fallback, is taken instead. Where a step of the length trial[2] has been computed already (lane_step.py),
``step`` only takes its error from trial[3].

The code depends on the layout of q and v only, and the forward dynamics are an argument: it compiles quickly however large the robot is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from urdf_gibbs.dynamics.scalar import cos, sin
from urdf_gibbs.engine.emit import CLEARING, LANES, Function, Program, function_ir, literal, sincos_ir
from urdf_gibbs.engine.graph import Graph
from urdf_gibbs.engine.objects import Code, load_code
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.dop853 import E3, E5, EXTENDED, STAGES, A, D

TABLE = ("forward", "y", "tau", "constants", "K", "new", "tolerance", "work", "F")
WRITTEN_OUT = 40  # up to this many coordinates the sums are straight-line code, beyond that loops over lanes
INTRINSICS = """declare double @llvm.sqrt.f64(double)
declare <2 x double> @llvm.fabs.v2f64(<2 x double>)
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
"""

Body = Callable[[Any, int], None]  # arguments: an index (a number or the name of one), and the number of lanes


def own_step(robot: Robot) -> Code:
    """Machine code with the functions ``step`` and ``dense``."""
    return load_code(step_ir(robot))


def step_ir(robot: Robot) -> str:
    """The LLVM IR of the module."""
    q_rate_is_v = has_plain_rates(robot)
    return "".join([head_ir(robot), _step_ir(robot, q_rate_is_v), _dense_ir(robot, q_rate_is_v)])


def head_ir(robot: Robot) -> str:
    """What the functions of a module call."""
    parts = [sincos_ir(), CLEARING, INTRINSICS]
    if not has_plain_rates(robot):
        parts += [function_ir(_rates(robot), "rates", "internal"), _prepare_ir(robot)]
    return "".join(parts)


# positions and their rates ---------------------------------------------------------------------------


def has_plain_rates(robot: Robot) -> bool:
    """Whether every entry of q is the integral of the same entry of v."""
    free = [joint for joint in robot.joints if not joint.is_mimic]
    return all(joint.type not in ("planar", "floating") and joint.iq == joint.iv for joint in free)


def _rates(robot: Robot) -> Program:
    """dq/dt (nq) from q (nq) and v (nv)."""
    graph = Graph()
    q = [graph.input("q", i) for i in range(robot.nq)]
    v = [graph.input("v", i) for i in range(robot.nv)]
    rate: list[Any] = [0.0] * robot.nq
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        k, j = joint.iq, joint.iv
        if joint.type == "floating":
            x, y, z, w = q[k + 3 : k + 7]
            vx, vy, vz, wx, wy, wz = v[j : j + 6]
            tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
            rate[k : k + 3] = vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx
            rate[k + 3 : k + 5] = 0.5 * (w * wx + y * wz - z * wy), 0.5 * (w * wy + z * wx - x * wz)
            rate[k + 5 : k + 7] = 0.5 * (w * wz + x * wy - y * wx), -0.5 * (x * wx + y * wy + z * wz)
        elif joint.type == "planar":
            c, s = cos(q[k + 2]), sin(q[k + 2])
            rate[k : k + 3] = c * v[j] - s * v[j + 1], s * v[j] + c * v[j + 1], v[j + 2]
        else:
            rate[k : k + joint.nv] = v[j : j + joint.nv]
    return Program((("q", robot.nq), ("v", robot.nv)), rate)


def _prepare_ir(robot: Robot) -> str:
    """``void prepare(y, rate)``: normalises the quaternions of y, then computes dq/dt."""
    f = Function(1)
    for joint in robot.joints:
        if joint.type != "floating" or joint.is_mimic:
            continue
        places = [f.address("%y", joint.iq + 3 + k) for k in range(4)]
        parts = [f.value(f"load double, ptr {place}, align 8") for place in places]
        square = literal(0.0)
        for part in parts:
            square = f.multiply_add(part, part, square)
        size = f.value(f"call double @llvm.sqrt.f64(double {square})")
        for place, part in zip(places, parts, strict=True):
            f.do(f"store double {f.value(f'fdiv double {part}, {size}')}, ptr {place}, align 8")
    f.do(f"call i64 @rates(ptr %y, ptr {f.address('%y', robot.nq)}, ptr %rate)")
    f.do("ret void")
    return f"define internal void @prepare(ptr %y, ptr %rate) {{\n{_text(f)}\n}}\n"


# the two functions -----------------------------------------------------------------------------------


def _step_ir(robot: Robot, q_rate_is_v: bool) -> str:
    f = _function()
    make_room_for_errors(f)
    _return_computed_step(f)
    for i in range(1, STAGES + 1):
        _stage(f, robot, q_rate_is_v, i, "%new")
    error = errors(f, robot.nq + robot.nv)
    f.do(f"store double {error}, ptr {f.address('%trial', 1)}, align 8")
    return _define(f, "step")


def _return_computed_step(f: Function) -> None:
    """Return where this step has been computed already, which counts once."""
    f.do(f"%computed = load double, ptr {f.address('%trial', 2)}, align 8")
    f.do(f"br i1 {f.value('fcmp oeq double %computed, %h')}, label %take, label %compute")
    f.label("take")
    f.do(f"store double {literal(0.0)}, ptr {f.address('%trial', 2)}, align 8")
    error = f.value(f"load double, ptr {f.address('%trial', 3)}, align 8")
    f.do(f"store double {error}, ptr {f.address('%trial', 1)}, align 8")
    f.do("ret i64 0")
    f.label("compute")


def make_room_for_errors(f: Function) -> None:
    """In the function's first block."""
    for sums in ("%fives", "%threes"):
        f.do(f"{sums} = alloca [{LANES} x double], align 32")


def errors(f: Function, n: int) -> str:
    """The error of the step relative to the tolerance."""
    for sums in ("%fives", "%threes"):
        f.do(f"store {_vector(LANES)} zeroinitializer, ptr {sums}, align 32")
    rtol = f.value("load double, ptr %tolerance, align 8")
    atol = f.value(f"load double, ptr {f.address('%tolerance', 1)}, align 8")

    def add_errors(m: Any, width: int) -> None:
        V = _vector(width)
        sizes = [f.value(f"call {V} @llvm.fabs.{_suffix(width)}({V} {_load(f, base, m, width)})") for base in ("%y", "%new")]
        larger = f.value(f"select {_bool(width)} {f.value(f'fcmp ogt {V} {sizes[0]}, {sizes[1]}')}, {V} {sizes[0]}, {V} {sizes[1]}")
        scale = _add_product(f, _splat(f, atol, width), _splat(f, rtol, width), larger, width)
        inverse = f.value(f"fdiv {V} {_constant(1.0, width)}, {scale}")
        for row, sums in ((E5, "%fives"), (E3, "%threes")):
            total = ""
            for j in np.flatnonzero(row).tolist():
                total = _add_product(f, total, _load(f, "%K", m, width, j * n), _constant(float(row[j]), width), width)
            error = f.value(f"fmul {V} {total}, {inverse}")
            kept = f.value(f"load {V}, ptr {sums}, align {32 if width == LANES else 8}")
            f.do(f"store {V} {_add_product(f, kept, error, error, width)}, ptr {sums}, align {32 if width == LANES else 8}")

    _for_each(f, n, "errors", add_errors)
    totals = []
    for sums in ("%fives", "%threes"):
        parts = [f.value(f"load double, ptr {f.address(sums, lane)}, align 8") for lane in range(LANES)]
        halves = [f.value(f"fadd double {parts[0]}, {parts[1]}"), f.value(f"fadd double {parts[2]}, {parts[3]}")]
        totals.append(f.value(f"fadd double {halves[0]}, {halves[1]}"))
    five, three = totals
    both = f.value(f"fadd double {five}, {f.value(f'fmul double {three}, {literal(0.01)}')}")
    root = f.value(f"call double @llvm.sqrt.f64(double {f.value(f'fmul double {both}, {literal(float(n))}')})")
    error = f.value(f"fdiv double {f.value(f'fmul double %h, {five}')}, {root}")
    nothing = f.value(f"fcmp oeq double {both}, {literal(0.0)}")
    return f.value(f"select i1 {nothing}, double {literal(0.0)}, double {error}")


def _dense_ir(robot: Robot, q_rate_is_v: bool) -> str:
    f, n = _function(), robot.nq + robot.nv
    for i in range(STAGES + 1, EXTENDED):
        _stage(f, robot, q_rate_is_v, i, "%work")
    weights = [_weights(f, row) for row in D]

    def coefficients(m: Any, width: int) -> None:
        V = _vector(width)
        h = _splat(f, "%h", width)
        change = f.value(f"fsub {V} {_load(f, '%new', m, width)}, {_load(f, '%y', m, width)}")
        first, last = _load(f, "%K", m, width), _load(f, "%K", m, width, STAGES * n)
        _store(f, change, "%F", m, width)
        _store(f, f.value(f"fsub {V} {f.value(f'fmul {V} {h}, {first}')}, {change}"), "%F", m, width, n)
        both = f.value(f"fmul {V} {h}, {f.value(f'fadd {V} {last}, {first}')}")
        _store(f, f.value(f"fsub {V} {f.value(f'fadd {V} {change}, {change}')}, {both}"), "%F", m, width, 2 * n)
        for i, own in enumerate(weights):
            total = ""
            for j, weight in own.items():
                total = _add_product(f, total, _load(f, "%K", m, width, j * n), _splat(f, weight, width), width)
            _store(f, total, "%F", m, width, (3 + i) * n)

    _for_each(f, n, "coefficients", coefficients)
    return _define(f, "dense")


def _function() -> Function:
    """A function that begins by loading the entries of the table, and h, under their names."""
    f = Function(1)
    for i, name in enumerate(TABLE):
        f.do(f"%{name} = load ptr, ptr {f.value(f'getelementptr inbounds ptr, ptr %table, i64 {i}')}, align 8")
    f.do("%h = load double, ptr %trial, align 8")
    return f


def _define(f: Function, name: str) -> str:
    f.do("ret i64 0")
    f.label("refused")
    f.do("ret i64 1")
    return f"define i64 @{name}(ptr noalias %table, ptr noalias %trial) {{\n{_text(f)}\n}}\n"


def _stage(f: Function, robot: Robot, q_rate_is_v: bool, i: int, state: str) -> None:
    """Row i of K, from y + h (A K)_i, which is written to ``state``; jumps to the label "refused" where forward dynamics fail."""
    state_of_stage(f, robot, q_rate_is_v, i, state)
    velocity, a = f.address(state, robot.nq), f.address("%K", i * (robot.nq + robot.nv) + robot.nq)
    status = f.value(f"call i64 %forward(ptr {state}, ptr {velocity}, ptr %tau, ptr %constants, ptr {a})")
    f.do(f"br i1 {f.value(f'icmp eq i64 {status}, 0')}, label %done{i}, label %refused")
    f.label(f"done{i}")


def state_of_stage(f: Function, robot: Robot, q_rate_is_v: bool, i: int, state: str) -> None:
    """y + h (A K)_i in ``state``, and dq/dt there in row i of K."""
    nq, n = robot.nq, robot.nq + robot.nv
    weights = _weights(f, A[i])

    def combined(m: Any, width: int) -> None:
        total = _load(f, "%y", m, width)
        for j, weight in weights.items():
            total = _add_product(f, total, _load(f, "%K", m, width, j * n), _splat(f, weight, width), width)
        _store(f, total, state, m, width)

    _for_each(f, n, f"stage{i}", combined)
    rate = f.address("%K", i * n)
    if q_rate_is_v:
        copied(f, f.address(state, nq), rate, nq, f"rate{i}")
    else:
        f.do(f"call void @prepare(ptr {state}, ptr {rate})")


# pieces ----------------------------------------------------------------------------------------------


def _for_each(f: Function, n: int, name: str, body: Body) -> None:
    """Emit ``body`` for all n coordinates: four, then two, then one at a time; in a loop where there are many."""
    in_lanes = n - n % LANES
    if n > WRITTEN_OUT:
        f.do(f"br label %{name}_before")
        f.label(f"{name}_before")
        f.do(f"br label %{name}")
        f.label(name)
        index = f"%{name}_m"
        f.do(f"{index} = phi i64 [0, %{name}_before], [{index}_next, %{name}]")
        body(index, LANES)
        f.do(f"{index}_next = add i64 {index}, {LANES}")
        f.do(f"br i1 {f.value(f'icmp slt i64 {index}_next, {in_lanes}')}, label %{name}, label %{name}_after")
        f.label(f"{name}_after")
    else:
        for m in range(0, in_lanes, LANES):
            body(m, LANES)
    for m, width in ((in_lanes, 2), (in_lanes + (n - in_lanes) // 2 * 2, 1)):
        if (n - in_lanes) & width:
            body(m, width)


def copied(f: Function, source: str, target: str, n: int, name: str) -> None:
    """Copy n numbers."""
    _for_each(f, n, name, lambda m, width: _store(f, _load(f, source, m, width), target, m, width))


def _weights(f: Function, row: Any) -> dict[int, str]:
    """h times the nonzero entries of a row, by column."""
    return {j: f.value(f"fmul double %h, {literal(float(row[j]))}") for j in np.flatnonzero(row).tolist()}


def _add_product(f: Function, total: str, x: str, weight: str, width: int) -> str:
    if not total:
        return f.value(f"fmul {_vector(width)} {x}, {weight}")
    return f.multiply_add(x, weight, total, width)


def _pointer(f: Function, base: str, m: Any, offset: int) -> str:
    if isinstance(m, int):
        return f.address(base, offset + m)
    return f.value(f"getelementptr inbounds double, ptr {f.address(base, offset)}, i64 {m}")


def _load(f: Function, base: str, m: Any, width: int, offset: int = 0) -> str:
    return f.value(f"load {_vector(width)}, ptr {_pointer(f, base, m, offset)}, align 8")


def _store(f: Function, value: str, base: str, m: Any, width: int, offset: int = 0) -> None:
    f.do(f"store {_vector(width)} {value}, ptr {_pointer(f, base, m, offset)}, align 8")


def _splat(f: Function, x: str, width: int) -> str:
    if width == 1:
        return x
    V = _vector(width)
    return f.value(
        f"shufflevector {V} {f.value(f'insertelement {V} undef, double {x}, i32 0')}, {V} undef, <{width} x i32> zeroinitializer"
    )


def _vector(width: int) -> str:
    return "double" if width == 1 else f"<{width} x double>"


def _bool(width: int) -> str:
    return "i1" if width == 1 else f"<{width} x i1>"


def _suffix(width: int) -> str:
    return "f64" if width == 1 else f"v{width}f64"


def _constant(x: float, width: int) -> str:
    return literal(x) if width == 1 else f"<{', '.join([f'double {literal(x)}'] * width)}>"


def _text(f: Function) -> str:
    return "\n".join(f.lines)
