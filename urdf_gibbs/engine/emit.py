"""From a traced graph to LLVM IR: straight-line code for one state, and for a batch in SIMD lanes of four states.

    i64 single(double* in0, ..., double* out)
    i64 batch(double* in0, ..., double* out, i64 rows)       rows >= LANES

Arrays are rows of states, one after the other. The result is a status: 0, or the bits of the checks that failed (of any
state of the batch). Vectors of four doubles are legal on every target: LLVM splits them where the machine is narrower.

Which products are fused with the sum that takes them is decided here and not by LLVM, which may decide differently for one state and for
lanes: so both give the same bits, and a state's result does not depend on how many are computed at once.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from urdf_gibbs.engine.graph import ARITHMETIC, Node, needed
from urdf_gibbs.engine.objects import has_fma
from urdf_gibbs.engine.scatter import METADATA, scatter, streams, tables

LANES = 4
FLAGS = "nsz"  # the sign of a zero does not matter
NOT_FUSED: Mapping[int, int] = MappingProxyType({})
FAR = 1e6  # for larger arguments, NaN and infinity, sine and cosine come from the C library

BAD_QUATERNION, SINGULAR, NO_MEMORY = 1, 2, 4
CLEARING = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"


@dataclass(frozen=True, slots=True)
class Check:
    """Sets ``bit`` in the status where |value| <= bound (``below``) or |value| > bound."""

    value: Any
    bound: float
    below: bool
    bit: int


@dataclass(frozen=True)
class Program:
    """What to compute: outputs (nodes or floats) from named input arrays of given widths."""

    inputs: tuple[tuple[str, int], ...]
    outputs: list[Any]
    checks: list[Check] = field(default_factory=list)
    as_made: bool = False  # outputs are computed in the order of their nodes

    @cached_property
    def order(self) -> list[Node]:
        """The nodes as they are computed."""
        values = [value for value in (*self.outputs, *(check.value for check in self.checks)) if isinstance(value, Node)]
        return needed(sorted(values, key=lambda node: node.index) if self.as_made else values)

    @cached_property
    def fused(self) -> dict[int, int]:
        """By the index of a sum or difference: which of its two arguments is a product that nothing else needs."""
        if not has_fma():
            return {}
        uses = Counter(arg.index for node in self.order for arg in node.args if isinstance(arg, Node))
        uses.update(value.index for value in (*self.outputs, *(check.value for check in self.checks)) if isinstance(value, Node))
        found = {}
        for node in self.order:
            if node.op in ("add", "sub"):
                for side in (1, 0):  # a sum grows by the product that comes last
                    x = node.args[side]
                    if isinstance(x, Node) and x.op == "mul" and uses[x.index] == 1:
                        found[node.index] = side
                        break
        return found

    @cached_property
    def work(self) -> int:
        """Multiplications + additions + divisions."""
        return sum(node.op in ARITHMETIC for node in self.order)

    @cached_property
    def zero(self) -> list[bool]:
        """Which outputs are always zero."""
        return [not isinstance(output, Node) and output == 0.0 for output in self.outputs]


# IEEE 754 minimax coefficients of sine and cosine on [-pi/4, pi/4], and pi/2 in three parts of 33 bits, so that k * part is
# exact for |k| < 2^20 without a fused multiply-add.
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, held in the low bits


def literal(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Function:
    """Lines of one IR function over doubles or vectors of them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.type = "double" if width == 1 else f"<{width} x double>"
        self.bool = "i1" if width == 1 else f"<{width} x i1>"
        self.lines: list[str] = []
        self._count = 0

    def value(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return f"%t{self._count}"

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def constant(self, x: float) -> str:
        return literal(x) if self.width == 1 else f"<{', '.join([f'double {literal(x)}'] * self.width)}>"

    def multiply_add(self, a: str, b: str, c: str, width: int = 0) -> str:
        """a b + c, rounded once where the machine can; ``width``: of these values, if not that of the function."""
        width = width or self.width
        V, kind = ("double", "f64") if width == 1 else (f"<{width} x double>", f"v{width}f64")
        if not has_fma():
            return self.value(f"fadd {FLAGS} {V} {self.value(f'fmul {FLAGS} {V} {a}, {b}')}, {c}")
        return self.value(f"call {FLAGS} {V} @llvm.fma.{kind}({V} {a}, {V} {b}, {V} {c})")

    def negative(self, x: str) -> str:
        return self.value(f"fneg {FLAGS} {self.type} {x}")

    def address(self, base: str, index: int) -> str:
        return self.value(f"getelementptr inbounds double, ptr {base}, i64 {index}")


def sincos_ir(width: int = LANES) -> str:
    """define {V, V} @sincos(V x): sine and cosine, 1e-16 absolute up to FAR, the C library's beyond; what others x has does not matter."""
    f = Function(width)
    V, L, B = f.type, f"<{width} x i64>", f.bool

    def whole(x: int) -> str:
        return f"<{', '.join([f'i64 {x}'] * width)}>"

    def polynomial(x: str, coefficients: tuple[float, ...]) -> str:
        total = f.constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = f.multiply_add(total, x, f.constant(c))
        return total

    absolute = f.value(f"call {V} @llvm.fabs.v{width}f64({V} %x)")
    f.do(f"%is_near = fcmp ole {V} {absolute}, {f.constant(FAR)}")
    bits = f.value(f"bitcast {B} %is_near to i{width}")
    shifted = f.value(f"fadd {V} {f.value(f'fmul {V} %x, {f.constant(2.0 / math.pi)}')}, {f.constant(ROUNDER)}")
    quadrant = f.value(f"bitcast {V} {shifted} to {L}")
    k = f.value(f"fsub {V} {shifted}, {f.constant(ROUNDER)}")
    r = "%x"
    for part in HALF_PI:
        r = f.multiply_add(k, f.constant(-part), r)
    z = f.value(f"fmul {V} {r}, {r}")
    sine = f.multiply_add(polynomial(z, SINE), f.value(f"fmul {V} {r}, {z}"), r)
    cosine = f.multiply_add(polynomial(z, (-0.5, *COSINE)), z, f.constant(1.0))
    swap = f.value(f"icmp ne {L} {f.value(f'and {L} {quadrant}, {whole(1)}')}, {whole(0)}")

    def signed(x: str, turns: str) -> str:
        sign = f.value(f"and {L} {f.value(f'shl {L} {turns}, {whole(62)}')}, {whole(-(2**63))}")
        as_bits = f.value(f"bitcast {V} {x} to {L}")
        flipped = f.value(f"xor {L} {as_bits}, {sign}")
        return f.value(f"bitcast {L} {flipped} to {V}")

    s = signed(f.value(f"select {B} {swap}, {V} {cosine}, {V} {sine}"), quadrant)
    c = signed(f.value(f"select {B} {swap}, {V} {sine}, {V} {cosine}"), f.value(f"add {L} {quadrant}, {whole(1)}"))
    f.do(f"br i1 {f.value(f'icmp eq i{width} {bits}, {2**width - 1}')}, label %near, label %far, !prof !0")
    f.label("near")
    pair = f.value(f"insertvalue {{{V}, {V}}} undef, {V} {s}, 0")
    f.do(f"ret {{{V}, {V}}} {f.value(f'insertvalue {{{V}, {V}}} {pair}, {V} {c}, 1')}")
    f.label("far")
    fast = {"sin": s, "cos": c}
    s, c = "undef", "undef"
    for lane in range(width):
        x = f.value(f"extractelement {V} %x, i32 {lane}")
        s = f.value(f"insertelement {V} {s}, double {f.value(f'call double @sin(double {x})')}, i32 {lane}")
        c = f.value(f"insertelement {V} {c}, double {f.value(f'call double @cos(double {x})')}, i32 {lane}")
    s, c = (f.value(f"select {B} %is_near, {V} {fast[name]}, {V} {value}") for name, value in (("sin", s), ("cos", c)))
    pair = f.value(f"insertvalue {{{V}, {V}}} undef, {V} {s}, 0")
    f.do(f"ret {{{V}, {V}}} {f.value(f'insertvalue {{{V}, {V}}} {pair}, {V} {c}, 1')}")
    head = f"declare {V} @llvm.fabs.v{width}f64({V})\ndeclare double @llvm.fabs.f64(double)\n"
    head += f"declare {V} @llvm.fma.v{width}f64({V}, {V}, {V})\ndeclare double @llvm.fma.f64(double, double, double)\n"
    head += "declare double @sin(double)\ndeclare double @cos(double)"
    body = "\n".join(f.lines)
    return f'{head}\n!0 = !{{!"branch_weights", i32 1000000, i32 1}}\ndefine internal {{{V}, {V}}} @sincos({V} %x) {{\n{body}\n}}\n'


def single_ir(program: Program) -> str:
    """IR of ``single``."""
    return f"{sincos_ir()}{CLEARING}{function_ir(program, 'single')}"


def function_ir(program: Program, name: str, linkage: str = "") -> str:
    """The function alone, under another name: the module needs sincos_ir() and CLEARING."""
    f = Function(1)
    arguments = ", ".join([f"ptr noalias %in{i}" for i in range(len(program.inputs))] + ["ptr noalias %out"])
    order = program.order
    names = _single_trigonometry(f, program, order)
    wanted = _outputs_of(program)
    zeros = sum(1 for output in program.outputs if output == 0.0 and not isinstance(output, Node))
    if 2 * zeros > len(program.outputs):
        f.do(f"call void @llvm.memset.p0.i64(ptr align 8 %out, i8 0, i64 {8 * len(program.outputs)}, i1 false)")
    straight_line(
        f, order, names, lambda node: _load(f, program, node), lambda node, name: _store(f, wanted.get(node.index, ()), name), program.fused
    )
    for i, output in enumerate(program.outputs):
        if not isinstance(output, Node) and not (output == 0.0 and 2 * zeros > len(program.outputs)):
            _store(f, [i], literal(float(output)))
    status = "0"
    for check in program.checks:
        failed = f.value(f"zext i1 {_failed(f, check, names)} to i64")
        status = f.value(f"or i64 {status}, {f.value(f'mul i64 {failed}, {check.bit}')}")
    f.do(f"ret i64 {status}")
    body = "\n".join(f.lines)
    return f"define {linkage} i64 @{name}({arguments}) {{\n{body}\n}}\n"


def batch_ir(program: Program, stride: int | None = None) -> str:
    """IR of ``batch``: four states at a time; the last block overlaps the one before if the number of rows is not a multiple of four.

    stride: entries from one row of outputs to the next; None: as many as there are outputs.
    """
    f = Function(LANES)
    V = f.type
    count = len(program.outputs)
    stride = stride or count
    slots, places = _slots(program)
    arguments = ", ".join([f"ptr noalias %all{i}" for i in range(len(program.inputs))] + ["ptr noalias %allout", "i64 %rows"])
    begin_blocks(f, program, stride, slots)
    order = program.order

    def keep(node: Node, name: str) -> None:
        if _key(node) in slots:
            f.do(f"store {V} {name}, ptr {_slot(f, slots[_key(node)])}, align 32")

    values = straight_line(f, order, {}, lambda node: _gather(f, program, node), keep, program.fused)
    end_blocks(f, program, stride, values)
    body = "\n".join(f.lines)
    return f"{sincos_ir()}{METADATA}{tables(places, program.zero, LANES)}define i64 @batch({arguments}) {{\n{body}\n}}\n"


# Pieces -------------------------------------------------------------------------------------------------


def begin_blocks(f: Function, program: Program, stride: int, slots: dict[Any, int], memory: str = "") -> None:
    """From the entry of ``batch`` to the first instruction for a block of four states, whose outputs go to slots of %buffer first.

    memory: one more line of the entry.
    """
    V = f.type
    f.label("entry")
    f.do(f"%buffer = alloca [{len(slots)} x {V}], align 32")
    if memory:
        f.do(memory)
    for (kind, value), slot in slots.items():
        if kind == "constant":
            f.do(f"store {V} {f.constant(value)}, ptr {_slot(f, slot)}, align 32")
    streams(f, stride)
    f.do(f"%last = sub i64 %rows, {LANES}")
    f.do("br label %block")
    f.label("block")
    f.do("%start = phi i64 [0, %entry], [%next, %done]")
    f.do("%status = phi i64 [0, %entry], [%status_next, %done]")
    f.do("%inside = icmp slt i64 %start, %last")
    f.do("%row = select i1 %inside, i64 %start, i64 %last")
    for i, (_, width) in enumerate(program.inputs):
        f.do(f"%in{i} = getelementptr inbounds double, ptr %all{i}, i64 {f.value(f'mul i64 %row, {width}')}")
    f.do(f"%out = getelementptr inbounds double, ptr %allout, i64 {f.value(f'mul i64 %row, {stride}')}")


def end_blocks(f: Function, program: Program, stride: int, values: dict[int, str]) -> None:
    """From the checks of a block, whose ``values`` have these names, to the end of ``batch``."""
    status = "%status"
    for check in program.checks:
        bits = f.value(f"bitcast {f.bool} {_failed(f, check, values)} to i{LANES}")
        some = f.value(f"zext i1 {f.value(f'icmp ne i{LANES} {bits}, 0')} to i64")
        status = f.value(f"or i64 {status}, {f.value(f'mul i64 {some}, {check.bit}')}")
    f.do(f"%status_next = or i64 {status}, 0")
    scatter(f, program.zero, stride)
    f.do(f"%next = add i64 %start, {LANES}")
    f.do("br i1 " + f.value("icmp slt i64 %next, %rows") + ", label %block, label %end")
    f.label("end")
    f.do("fence seq_cst")  # streaming stores are seen by other threads only after one
    f.do("ret i64 %status_next")


def straight_line(
    f: Function,
    order: list[Node],
    names: dict[int, str],
    load: Any,
    done: Any,
    fused: Mapping[int, int] = NOT_FUSED,
    sincos: str = "sincos",
) -> dict[int, str]:
    """One instruction for each node that has no name yet; ``done`` is called with each value as soon as it exists.

    fused: see Program.fused; these products are computed with their sums, and are part of ``order`` too.
    """
    pairs: dict[int, tuple[str, str]] = {}
    products = {node.args[fused[node.index]].index for node in order if node.index in fused}

    def operand(x: Any) -> str:
        return names[x.index] if isinstance(x, Node) else f.constant(x)

    instruction = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
    for node in order:
        if node.index in products:
            continue
        if node.index in names:
            name = names[node.index]
        elif node.index in fused:
            a, b = map(operand, node.args[fused[node.index]].args)
            c = operand(node.args[1 - fused[node.index]])
            if node.op == "sub" and fused[node.index] == 1:
                a = f.negative(a)
            elif node.op == "sub":
                c = f.negative(c)
            name = f.multiply_add(a, b, c)
        elif node.op == "input":
            name = load(node)
        elif node.op == "neg":
            name = f.negative(operand(node.args[0]))
        elif node.op in ("sin", "cos"):
            angle = node.args[0].index
            if angle not in pairs:
                both = f.value(f"call {{{f.type}, {f.type}}} @{sincos}({f.type} {names[angle]})")
                pairs[angle] = tuple(f.value(f"extractvalue {{{f.type}, {f.type}}} {both}, {i}") for i in (0, 1))  # type: ignore[assignment]
            name = pairs[angle][0 if node.op == "sin" else 1]
        else:
            name = f.value(f"{instruction[node.op]} {FLAGS} {f.type} {operand(node.args[0])}, {operand(node.args[1])}")
        names[node.index] = name
        done(node, name)
    return names


def _single_trigonometry(f: Function, program: Program, order: list[Node]) -> dict[int, str]:
    """All sines and cosines of one state, four angles at a time. Their arguments (inputs, or multiples of them) come first."""
    names: dict[int, str] = {}
    angles = list(dict.fromkeys(node.args[0] for node in order if node.op in ("sin", "cos")))
    straight_line(f, needed(list(angles)), names, lambda node: _load(f, program, node), lambda node, name: None, program.fused)
    V = f"<{LANES} x double>"
    results: dict[int, tuple[str, str]] = {}
    for start in range(0, len(angles), LANES):
        group = angles[start : start + LANES]
        packed = "zeroinitializer"
        for lane, angle in enumerate(group):
            packed = f.value(f"insertelement {V} {packed}, double {names[angle.index]}, i32 {lane}")
        both = f.value(f"call {{{V}, {V}}} @sincos({V} {packed})")
        sides = [f.value(f"extractvalue {{{V}, {V}}} {both}, {i}") for i in (0, 1)]
        for lane, angle in enumerate(group):
            results[angle.index] = tuple(f.value(f"extractelement {V} {side}, i32 {lane}") for side in sides)  # type: ignore[assignment]
    for node in order:
        if node.op in ("sin", "cos"):
            names[node.index] = results[node.args[0].index][0 if node.op == "sin" else 1]
    return names


def _position(program: Program, node: Node) -> tuple[int, int, int]:
    """(number of the input, its width, index within it)."""
    for i, (name, width) in enumerate(program.inputs):
        if name == node.args[0]:
            return i, width, node.args[1]
    raise KeyError(node.args[0])


def _load(f: Function, program: Program, node: Node) -> str:
    i, _, index = _position(program, node)
    return f.value(f"load double, ptr {f.address(f'%in{i}', index)}, align 8")


def _gather(f: Function, program: Program, node: Node) -> str:
    i, width, index = _position(program, node)
    vector = "undef"
    for lane in range(LANES):
        x = f.value(f"load double, ptr {f.address(f'%in{i}', lane * width + index)}, align 8")
        vector = f.value(f"insertelement {f.type} {vector}, double {x}, i32 {lane}")
    return vector


def _outputs_of(program: Program) -> dict[int, list[int]]:
    wanted: dict[int, list[int]] = {}
    for i, output in enumerate(program.outputs):
        if isinstance(output, Node):
            wanted.setdefault(output.index, []).append(i)
    return wanted


def _store(f: Function, places: Any, name: str) -> None:
    for place in places:
        f.do(f"store double {name}, ptr {f.address('%out', place)}, align 8")


def _failed(f: Function, check: Check, names: dict[int, str]) -> str:
    if not isinstance(check.value, Node):
        failed = (abs(check.value) <= check.bound) == check.below
        return ("true" if failed else "false") if f.width == 1 else f"<{', '.join([f'i1 {int(failed)}'] * f.width)}>"
    suffix = "f64" if f.width == 1 else f"v{f.width}f64"
    size = f.value(f"call {f.type} @llvm.fabs.{suffix}({f.type} {names[check.value.index]})")
    return f.value(f"fcmp {'ole' if check.below else 'ogt'} {f.type} {size}, {f.constant(check.bound)}")


def _slots(program: Program) -> tuple[dict[Any, int], list[int]]:
    """Distinct outputs -> place in the buffer; and the place of each output."""
    slots: dict[Any, int] = {}
    places = []
    for output in program.outputs:
        places.append(slots.setdefault(_key(output), len(slots)))
    return slots, places


def _key(output: Any) -> tuple[str, Any]:
    return ("node", output.index) if isinstance(output, Node) else ("constant", float(output))


def _slot(f: Function, slot: int) -> str:
    return f.value(f"getelementptr inbounds {f.type}, ptr %buffer, i64 {slot}")
