"""Straight-line code in several functions: the same programs as emit.py, for those that are too long for one.

The time to compile a function grows faster than its length. A program is cut into parts of some thousand operations; values that a later
part needs go through a buffer on the stack.

    i64 single(double* in0, ..., double* out)
    i64 batch(double* in0, ..., double* out, i64 rows)       rows >= LANES
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from urdf_gibbs.engine.emit import (
    CLEARING,
    LANES,
    Function,
    Program,
    _failed,
    _gather,
    _key,
    _load,
    _outputs_of,
    _single_trigonometry,
    _slot,
    _slots,
    _store,
    begin_blocks,
    end_blocks,
    literal,
    sincos_ir,
    straight_line,
)
from urdf_gibbs.engine.graph import Node
from urdf_gibbs.engine.scatter import METADATA, tables

WHOLE = 6_000  # nodes up to which one function does
PART = 1_500  # nodes of a part


@dataclass(frozen=True, slots=True)
class Cut:
    """A program in parts. ``where``: by node, its part; ``slot``: by node, its place in the buffer if another part needs it."""

    parts: list[list[Node]]
    where: dict[int, int]
    slot: dict[int, int]

    def fused(self, program: Program) -> dict[int, int]:
        """Products and sums of one part that are fused."""
        by_index = {node.index: node for nodes in self.parts for node in nodes}
        found = {}
        for index, side in program.fused.items():
            product = by_index[index].args[side].index
            if self.where[index] == self.where[product]:
                found[index] = side
        return found

    def fetched(self, part: int) -> list[Node]:
        """The nodes that a part takes from the inputs or from other parts, each once."""
        found: dict[int, Node] = {}
        for node in self.parts[part]:
            for arg in node.args:
                if type(arg) is Node and self.where.get(arg.index, -1) != part:
                    found[arg.index] = arg
        return list(found.values())


def cut(program: Program, apart: tuple[str, ...]) -> Cut:
    """Cut the nodes, but those of the operations ``apart``, in the order of computation. What a check looks at goes to the buffer too."""
    order = [node for node in program.order if node.op not in apart]
    parts = [order[start : start + PART] for start in range(0, len(order), PART)]
    where = {node.index: part for part, nodes in enumerate(parts) for node in nodes}
    slot: dict[int, int] = {}
    for part, nodes in enumerate(parts):
        for node in nodes:
            for arg in node.args:
                if type(arg) is Node and arg.op != "input" and where.get(arg.index, -1) != part:
                    slot.setdefault(arg.index, len(slot))
    for check in program.checks:
        if isinstance(check.value, Node):
            slot.setdefault(check.value.index, len(slot))
    return Cut(parts, where, slot)


def is_long(program: Program) -> bool:
    """Whether one function would take too long to compile."""
    return len(program.order) > WHOLE


def single_in_parts(program: Program, name: str = "single", linkage: str = "") -> str:
    """IR of ``single`` with its parts; the module needs sincos_ir() and CLEARING."""
    pieces = cut(program, ("input", "sin", "cos"))
    fused = pieces.fused(program)
    wanted = _outputs_of(program)
    inputs = [f"%in{i}" for i in range(len(program.inputs))]
    arguments = ", ".join(f"ptr noalias {x}" for x in (*inputs, "%out", "%values"))
    text = []
    for number, nodes in enumerate(pieces.parts):
        f = Function(1)
        names = {
            node.index: _load(f, program, node)
            if node.op == "input"
            else f.value(f"load double, ptr {f.address('%values', pieces.slot[node.index])}, align 8")
            for node in pieces.fetched(number)
        }

        def done(node: Node, value: str, f: Function = f) -> None:
            if node.index in pieces.slot:
                f.do(f"store double {value}, ptr {f.address('%values', pieces.slot[node.index])}, align 8")
            _store(f, wanted.get(node.index, ()), value)

        straight_line(f, nodes, names, None, _only_of(nodes, done), fused)
        text.append(_function(f, f"{name}_part{number}", arguments))
    f = Function(1)
    f.do(f"%values = alloca [{max(1, len(pieces.slot))} x double], align 32")
    _outputs_outside(f, program, pieces, wanted)
    call = ", ".join(f"ptr {x}" for x in (*inputs, "%out", "%values"))
    for number in range(len(pieces.parts)):
        f.do(f"call void @{name}_part{number}({call})")
    status = "0"
    for check in program.checks:
        at = {} if not isinstance(check.value, Node) else {check.value.index: _from_buffer(f, pieces, check.value)}
        failed = f.value(f"zext i1 {_failed(f, check, at)} to i64")
        status = f.value(f"or i64 {status}, {f.value(f'mul i64 {failed}, {check.bit}')}")
    f.do(f"ret i64 {status}")
    own = ", ".join(f"ptr noalias {x}" for x in (*inputs, "%out"))
    body = "\n".join(f.lines)
    return "".join(text) + f"define {linkage} i64 @{name}({own}) {{\n{body}\n}}\n"


def _from_buffer(f: Function, pieces: Cut, node: Node) -> str:
    return f.value(f"load {f.type}, ptr {f.value(f'getelementptr inbounds {f.type}, ptr %values, i64 {pieces.slot[node.index]}')}, align 8")


def _outputs_outside(f: Function, program: Program, pieces: Cut, wanted: dict[int, list[int]]) -> None:
    """Of one state: sines and cosines, which all parts share, and the outputs that are constants or inputs."""
    zeros = sum(1 for output in program.outputs if output == 0.0 and not isinstance(output, Node))
    cleared = 2 * zeros > len(program.outputs)
    if cleared:
        f.do(f"call void @llvm.memset.p0.i64(ptr align 8 %out, i8 0, i64 {8 * len(program.outputs)}, i1 false)")
    trigonometry = [node for node in program.order if node.op in ("sin", "cos")]
    names = _single_trigonometry(f, program, trigonometry)
    for node in trigonometry:
        if node.index in pieces.slot:
            f.do(f"store double {names[node.index]}, ptr {f.address('%values', pieces.slot[node.index])}, align 8")
        _store(f, wanted.get(node.index, ()), names[node.index])
    for i, output in enumerate(program.outputs):
        if isinstance(output, Node):
            if output.op == "input":
                _store(f, [i], _load(f, program, output))
        elif not (cleared and output == 0.0):
            _store(f, [i], literal(float(output)))


def batch_in_parts(program: Program, stride: int | None = None, name: str = "batch", linkage: str = "") -> str:
    """IR of ``batch`` with its parts, four states at a time; the module needs sincos_ir(). See emit.batch_ir."""
    stride = stride or len(program.outputs)
    slots, places = _slots(program)
    pieces = cut(program, ("input",))
    fused = pieces.fused(program)
    inputs = [f"%in{i}" for i in range(len(program.inputs))]
    arguments = ", ".join(f"ptr noalias {x}" for x in (*inputs, "%buffer", "%values"))
    text = []
    for number, nodes in enumerate(pieces.parts):
        f = Function(LANES)
        names = {
            node.index: _gather(f, program, node)
            if node.op == "input"
            else f.value(
                f"load {f.type}, ptr {f.value(f'getelementptr inbounds {f.type}, ptr %values, i64 {pieces.slot[node.index]}')}, align 32"
            )
            for node in pieces.fetched(number)
        }

        def done(node: Node, value: str, f: Function = f) -> None:
            if node.index in pieces.slot:
                at = f.value(f"getelementptr inbounds {f.type}, ptr %values, i64 {pieces.slot[node.index]}")
                f.do(f"store {f.type} {value}, ptr {at}, align 32")
            if _key(node) in slots:
                f.do(f"store {f.type} {value}, ptr {_slot(f, slots[_key(node)])}, align 32")

        straight_line(f, nodes, names, None, _only_of(nodes, done), fused)
        text.append(_function(f, f"{name}_part{number}", arguments))
    table = METADATA + tables(places, program.zero, LANES)
    own = ", ".join([f"ptr noalias %all{i}" for i in range(len(inputs))] + ["ptr noalias %allout", "i64 %rows"])
    body = "\n".join(_batch_loop(program, stride, slots, pieces, name).lines)
    return table + "".join(text) + f"define {linkage} i64 @{name}({own}) {{\n{body}\n}}\n"


def _batch_loop(program: Program, stride: int, slots: dict[Any, int], pieces: Cut, name: str) -> Function:
    f = Function(LANES)
    V = f.type
    begin_blocks(f, program, stride, slots, f"%values = alloca [{max(1, len(pieces.slot))} x {V}], align 32")
    for output in {output.index: output for output in program.outputs if isinstance(output, Node) and output.op == "input"}.values():
        f.do(f"store {V} {_gather(f, program, output)}, ptr {_slot(f, slots[_key(output)])}, align 32")
    call = ", ".join([f"ptr %in{i}" for i in range(len(program.inputs))] + ["ptr %buffer", "ptr %values"])
    for number in range(len(pieces.parts)):
        f.do(f"call void @{name}_part{number}({call})")
    nodes = [check.value for check in program.checks if isinstance(check.value, Node)]
    end_blocks(f, program, stride, {node.index: _from_buffer(f, pieces, node) for node in nodes})
    return f


def _only_of(nodes: list[Node], done: Any) -> Any:
    """``done`` for the nodes of this part, not for those that it fetched."""
    own = {node.index for node in nodes}
    return lambda node, value: done(node, value) if node.index in own else None


def _function(f: Function, name: str, arguments: str) -> str:
    body = "\n".join([*f.lines, "  ret void"])
    return f"define internal void @{name}({arguments}) noinline nounwind {{\n{body}\n}}\n"


def long_single_ir(program: Program) -> str:
    return sincos_ir() + CLEARING + single_in_parts(program)


def long_batch_ir(program: Program, stride: int | None = None) -> str:
    return sincos_ir() + batch_in_parts(program, stride)
