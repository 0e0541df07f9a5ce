"""Derivatives of forward dynamics as machine code: a straight-line front, then the solutions for all columns in SIMD lanes.

The front (a Program) writes one state's working row: the right-hand sides -dID/dq, -dID/dv of M X = B, the factors of M = Lᵀ D L, and the
reciprocals of D. Columns whose right-hand sides have the same zeros are solved for together, as lanes of vectors, by code that knows where
L is zero. Written out in scalars the solutions would be most of the operations (Talos: 83,000 of 104,000), and all one after the other.

    i64 single(double* q, double* v, double* tau, double* out)
    i64 batch(double* q, double* v, double* tau, double* out, i64 rows)       rows >= LANES
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.derivatives.forward_dynamics import Front
from urdf_gibbs.dynamics.scalar import mul
from urdf_gibbs.engine.emit import CLEARING, LANES, Function, Program, function_ir, sincos_ir
from urdf_gibbs.engine.parts import batch_in_parts, is_long, single_in_parts

WIDTH = 8  # lanes of a vector: two registers of AVX2, or one of AVX-512
ALIGNED = 8  # doubles: rows of the working memory start at multiples of it


@dataclass(frozen=True, slots=True)
class Group:
    """Columns that are solved for together: (block, index) each, block 0 by q, 1 by v, 2 by tau. ``rows``: where their right-hand sides are
    not zero; ``start``: place of the first one in the working row, ``width`` entries for each row."""

    columns: list[tuple[int, int]]
    rows: list[int]
    start: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The working row: groups of columns, then by (k, i) the entries of L and by (k, k) the reciprocals of D.

    ``above``: by row, where L is not zero; ``picked``: the entries of the three matrices that are wanted, None: all.
    """

    n: int
    groups: list[Group]
    factors: dict[tuple[int, int], int]
    above: list[list[int]]
    size: int
    picked: list[int] | None = None


def layout_of(n: int, above: list[list[int]], related: NDArray[np.bool_], picked: list[int] | None) -> Layout:
    """``related`` (n, n): the entries of dID/dq and dID/dv that are not zero."""
    alike: dict[tuple[bool, ...], list[int]] = {}
    for j in range(n):
        alike.setdefault(tuple(related[:, j].tolist()), []).append(j)
    groups: list[Group] = []
    place = 0
    for pattern, indices in alike.items():
        both = [(block, j) for block in (0, 1) for j in indices]
        inverse = [(2, j) for j in indices]
        for columns, rows in ((both, [k for k in range(n) if pattern[k]]), (inverse, indices)):
            width = -(-len(columns) // LANES) * LANES
            groups.append(Group(columns, rows, place, width))
            place += len(rows) * width
    factors = {}
    for k in range(n):
        for i in (*above[k], k):
            factors[k, i] = place
            place += 1
    return Layout(n, groups, factors, above, -(-place // ALIGNED) * ALIGNED, picked)


def working_row(layout: Layout, front: Front) -> list[Any]:
    """What the front has to compute (layout.size,)."""
    row: list[Any] = [0.0] * layout.size
    for group in layout.groups:
        for r, k in enumerate(group.rows):
            for c, (block, j) in enumerate(group.columns):
                value = (1.0 if k == j else 0.0) if block == 2 else mul(-1.0, (front.inverse.q, front.inverse.v)[block][k][j])
                row[group.start + r * group.width + c] = value
    for (k, i), place in layout.factors.items():
        row[place] = front.factors.inverse[k] if k == i else front.factors.L[k][i]
    return row


def single_solve_ir(program: Program, layout: Layout) -> str:
    """``program``: the front, with the working row as its outputs."""
    front = (single_in_parts if is_long(program) else function_ir)(program, "front", "internal")
    inputs = ", ".join(f"ptr noalias %in{i}" for i in range(len(program.inputs)))
    given = ", ".join(f"ptr %in{i}" for i in range(len(program.inputs)))
    return f"""{sincos_ir()}{CLEARING}{front}{solutions_ir(layout)}define i64 @single({inputs}, ptr noalias %out) {{
  %work = alloca [{layout.size} x double], align 64
  %status = call i64 @front({given}, ptr %work)
  call void @solutions(ptr %work, ptr %out)
  ret i64 %status
}}
"""


def batch_solve_ir(program: Program, layout: Layout, stride: int) -> str:
    """Four states at a time in the front, one after the other in the solutions; ``stride``: entries from one row of outputs to the next."""
    fronts = batch_in_parts(program, layout.size, "fronts", "internal")
    count = len(program.inputs)
    inputs = ", ".join(f"ptr noalias %in{i}" for i in range(count))
    rows = "".join(
        f"  %o{i} = mul i64 %row, {width}\n  %p{i} = getelementptr inbounds double, ptr %in{i}, i64 %o{i}\n"
        for i, (_, width) in enumerate(program.inputs)
    )
    given = ", ".join(f"ptr %p{i}" for i in range(count))
    return f"""{sincos_ir()}{CLEARING}{fronts}{solutions_ir(layout)}define i64 @batch({inputs}, ptr noalias %out, i64 %rows) {{
entry:
  %work = alloca [{LANES * layout.size} x double], align 64
  %last = sub i64 %rows, {LANES}
  br label %block
block:
  %start = phi i64 [0, %entry], [%next, %done]
  %all = phi i64 [0, %entry], [%both, %done]
  %inside = icmp slt i64 %start, %last
  %row = select i1 %inside, i64 %start, i64 %last
{rows}  %status = call i64 @fronts({given}, ptr %work, i64 {LANES})
  %both = or i64 %all, %status
  br label %one
one:
  %k = phi i64 [0, %block], [%k.next, %one]
  %from = mul i64 %k, {layout.size}
  %own = getelementptr inbounds double, ptr %work, i64 %from
  %number = add i64 %row, %k
  %to = mul i64 %number, {stride}
  %result = getelementptr inbounds double, ptr %out, i64 %to
  call void @solutions(ptr %own, ptr %result)
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, {LANES}
  br i1 %more, label %one, label %done
done:
  %next = add i64 %start, {LANES}
  %going = icmp slt i64 %next, %rows
  br i1 %going, label %block, label %end
end:
  ret i64 %both
}}
"""


def solutions_ir(layout: Layout) -> str:
    """void solutions(double* work, double* out), one function for each group of columns; the module needs CLEARING."""
    arguments = "ptr noalias %work, ptr noalias %out"
    n = layout.n
    text, calls = [], []
    if any(len(_reached(layout, group)) <= _last(layout, group) for group in layout.groups):  # what no group writes
        calls.append(f"  call void @llvm.memset.p0.i64(ptr align 8 %out, i8 0, i64 {24 * n * n}, i1 false)\n")
    for number, group in enumerate(layout.groups):
        f = Function(1)
        for first in range(0, group.width, WIDTH):
            _solve_columns(f, layout, group, first, min(WIDTH, group.width - first))
        body = "\n".join([*f.lines, "  ret void"])
        text.append(f"define internal void @solve{number}({arguments}) noinline nounwind {{\n{body}\n}}\n")
        calls.append(f"  call void @solve{number}(ptr %work, ptr %out)\n")
    if layout.picked is None:
        return f"{''.join(text)}define internal void @solutions({arguments}) {{\n{''.join(calls)}  ret void\n}}\n"
    text.append(f"define internal void @all({arguments}) {{\n{''.join(calls)}  ret void\n}}\n")
    return "".join(text) + _picked_ir(layout.picked, 3 * n * n)


def _picked_ir(picked: list[int], size: int) -> str:
    """``solutions`` where only some entries are wanted."""
    return f"""@picked = internal constant [{len(picked)} x i64] [{", ".join(f"i64 {place}" for place in picked)}]
define internal void @solutions(ptr noalias %work, ptr noalias %out) {{
entry:
  %whole = alloca [{size} x double], align 64
  call void @all(ptr %work, ptr %whole)
  br label %copy
copy:
  %i = phi i64 [0, %entry], [%next, %copy]
  %at = getelementptr inbounds i64, ptr @picked, i64 %i
  %place = load i64, ptr %at
  %from = getelementptr inbounds double, ptr %whole, i64 %place
  %x = load double, ptr %from
  %to = getelementptr inbounds double, ptr %out, i64 %i
  store double %x, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, {len(picked)}
  br i1 %more, label %copy, label %end
end:
  ret void
}}
"""


def _risen(layout: Layout, group: Group) -> set[int]:
    """Rows that are not zero after Lᵀ y = b: those of b and all above them."""
    found = set(group.rows)
    for k in range(layout.n - 1, -1, -1):
        if k in found:
            found.update(layout.above[k])
    return found


def _reached(layout: Layout, group: Group) -> list[int]:
    """Rows that are not zero in the solution, in order; of M⁻¹ only those up to the last column, the others being its transpose."""
    found = _risen(layout, group)
    for k in range(layout.n):
        if not found.isdisjoint(layout.above[k]):
            found.add(k)
    return sorted(k for k in found if k <= _last(layout, group))


def _last(layout: Layout, group: Group) -> int:
    """The last row that is solved for."""
    return group.columns[-1][1] if group.columns[0][0] == 2 else layout.n - 1


def _solve_columns(f: Function, layout: Layout, group: Group, first: int, lanes: int) -> None:
    """Lanes ``first`` and following of a group: y with Lᵀ y = b from the last row up, x with L x = D⁻¹ y from the first row down."""
    V = f"<{lanes} x double>"

    def factor(k: int, i: int) -> str:
        x = f.value(f"load double, ptr {f.address('%work', layout.factors[k, i])}, align 8")
        one = f.value(f"insertelement {V} undef, double {x}, i32 0")
        return f.value(f"shufflevector {V} {one}, {V} undef, <{lanes} x i32> zeroinitializer")

    def less(x: str | None, k: int, i: int, y: str) -> str:
        product = f.value(f"fmul contract {V} {factor(k, i)}, {y}")
        return f.value(f"fneg {V} {product}") if x is None else f.value(f"fsub contract {V} {x}, {product}")

    y: dict[int, str] = {}
    for i in sorted(_risen(layout, group), reverse=True):
        x = None
        if i in group.rows:
            place = group.start + group.rows.index(i) * group.width + first
            x = f.value(f"load {V}, ptr {f.address('%work', place)}, align 32")
        for k in sorted(y):
            if i in layout.above[k]:
                x = less(x, k, i, y[k])
        if x is not None:
            y[i] = x
    solution: dict[int, str] = {}
    for k in _reached(layout, group):
        x = f.value(f"fmul contract {V} {factor(k, k)}, {y[k]}") if k in y else None
        for i in layout.above[k]:
            if i in solution:
                x = less(x, k, i, solution[i])
        if x is not None:
            solution[k] = x
    columns = group.columns[first : first + lanes]
    for k, x in solution.items():
        (_store_inverse if columns[0][0] == 2 else _store_row)(f, V, layout.n, columns, k, x)


def _store_row(f: Function, V: str, n: int, columns: list[tuple[int, int]], k: int, x: str) -> None:
    """Row k of the columns, whole runs of neighbours at once."""
    lane = 0
    while lane < len(columns):
        block, j = columns[lane]
        count = 1
        while lane + count < len(columns) and columns[lane + count] == (block, j + count):
            count += 1
        part, kind = f.value(f"extractelement {V} {x}, i32 {lane}") if count == 1 else x, "double"
        if count > 1:
            kind = f"<{count} x double>"
            lanes = ", ".join(f"i32 {lane + e}" for e in range(count))
            part = f.value(f"shufflevector {V} {x}, {V} undef, <{count} x i32> <{lanes}>")
        f.do(f"store {kind} {part}, ptr {f.address('%out', block * n * n + k * n + j)}, align 8")
        lane += count


def _store_inverse(f: Function, V: str, n: int, columns: list[tuple[int, int]], k: int, x: str) -> None:
    """Row k of columns of M⁻¹ from the diagonal on, and its mirror image."""
    behind = [column for column in columns if column[1] > k]
    if len(behind) == len(columns):
        _store_row(f, V, n, columns, k, x)
    for lane, (_, j) in enumerate(columns):
        if j < k:
            continue
        value = f.value(f"extractelement {V} {x}, i32 {lane}")
        places = [(j, k)] if len(behind) == len(columns) else [(k, j), (j, k)] if j > k else [(k, j)]
        for row, column in places:
            f.do(f"store double {value}, ptr {f.address('%out', 2 * n * n + row * n + column)}, align 8")
