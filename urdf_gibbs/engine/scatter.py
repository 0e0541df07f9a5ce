"""Rows of results from columns of SIMD lanes: the end of the code for batches.

The values of four states lie beside each other in a buffer, each output a vector; they are transposed four by four into four rows of the
result. Runs of outputs that are always zero are stored without a look into the buffer. A result larger than the caches goes past them
("streaming" stores): a line that is written as a whole need not be read first, which halves the traffic to memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urdf_gibbs.engine.emit import Function

STREAMED = 1 << 25  # bytes of a result from which on it is streamed: a large cache holds less
PAIR = 16  # bytes of a streaming store, and its alignment, which every row has if the first and the distance have it
METADATA = "!1 = !{i32 1}\n"  # of streaming stores


def run_lengths(zero: list[bool], lanes: int) -> list[tuple[int, int]]:
    """(blocks with values, blocks of zeros that follow) again and again, for outputs in whole blocks of ``lanes``."""
    runs: list[tuple[int, int]] = []
    for start in range(0, len(zero) - len(zero) % lanes, lanes):
        empty = all(zero[start : start + lanes])
        if not runs or (not empty and runs[-1][1]):
            runs.append((0, 0))
        values, zeros = runs[-1]
        runs[-1] = (values, zeros + 1) if empty else (values + 1, zeros)
    return runs


def tables(places: list[int], zero: list[bool], lanes: int) -> str:
    """The constants of ``scatter``: lengths of runs, and where in the buffer the outputs of blocks with values are, then the rest."""
    runs = run_lengths(zero, lanes)
    kept: list[int] = []
    start = 0
    for values, zeros in runs:
        kept += places[start : start + lanes * values]
        start += lanes * (values + zeros)
    kept += places[start:]
    lengths = [length for run in runs for length in run]
    return "".join(
        f"@{name} = internal constant [{len(numbers)} x i32] [{', '.join(f'i32 {x}' for x in numbers)}]\n"
        for name, numbers in (("places", kept), ("runs", lengths))
    )


def streams(f: Function, stride: int) -> None:
    """Define %stream: whether the rows, ``stride`` entries apart, are many and can be streamed."""
    if stride % (PAIR // 8):
        f.do("%stream = and i1 false, false")
        return
    address = f.value("ptrtoint ptr %allout to i64")
    aligned = f.value(f"icmp eq i64 {f.value(f'and i64 {address}, {PAIR - 1}')}, 0")
    large = f.value(f"icmp sge i64 {f.value(f'mul i64 %rows, {8 * stride}')}, {STREAMED}")
    f.do(f"%stream = and i1 {aligned}, {large}")


def scatter(f: Function, zero: list[bool], stride: int) -> None:
    """From %block, which has filled %buffer, to %done with the rows of %out filled, ``stride`` entries apart."""
    runs = run_lengths(zero, f.width)
    if runs:
        f.do("br i1 %stream, label %streamed, label %cached")
        for kind in ("streamed", "cached"):
            _loops(f, kind, len(runs), stride)
    else:
        f.do("br label %done")
    f.label("done")
    values = sum(run[0] for run in runs)
    whole = len(zero) - len(zero) % f.width
    for i in range(len(zero) - whole):
        column = _column(f, str(f.width * values + i))
        for lane in range(f.width):
            x = f.value(f"extractelement {f.type} {column}, i32 {lane}")
            f.do(f"store double {x}, ptr {f.address('%out', lane * stride + whole + i)}, align 8")


def _loops(f: Function, kind: str, count: int, stride: int) -> None:
    """A loop over runs, in which one over blocks with values and one over blocks of zeros."""
    k = kind
    f.label(k)
    f.do(f"br label %{k}_run")
    f.label(f"{k}_run")
    f.do(f"%{k}_r = phi i64 [0, %{k}], [%{k}_r_next, %{k}_end]")
    f.do(f"%{k}_j0 = phi i64 [0, %{k}], [%{k}_j2, %{k}_end]")  # the next output
    f.do(f"%{k}_n0 = phi i64 [0, %{k}], [%{k}_n1, %{k}_end]")  # the next entry of @places
    lengths = [f.value(f"load i32, ptr {f.value(f'getelementptr inbounds [2 x i32], ptr @runs, i64 %{k}_r, i64 {i}')}") for i in (0, 1)]
    values, zeros = (f.value(f"mul i64 {f.value(f'zext i32 {length} to i64')}, {f.width}") for length in lengths)
    f.do(f"%{k}_j1 = add i64 %{k}_j0, {values}")
    f.do(f"%{k}_n1 = add i64 %{k}_n0, {values}")
    f.do(f"%{k}_j2 = add i64 %{k}_j1, {zeros}")
    f.do("br i1 " + f.value(f"icmp eq i64 {values}, 0") + f", label %{k}_middle, label %{k}_values")
    f.label(f"{k}_values")
    f.do(f"%{k}_j = phi i64 [%{k}_j0, %{k}_run], [%{k}_j_next, %{k}_values]")
    f.do(f"%{k}_n = phi i64 [%{k}_n0, %{k}_run], [%{k}_n_next, %{k}_values]")
    columns = [_column(f, f.value(f"add i64 %{k}_n, {i}")) for i in range(f.width)]
    _store_rows(f, transposed_lanes(f, columns), f"%{k}_j", stride, k == "streamed")
    f.do(f"%{k}_j_next = add i64 %{k}_j, {f.width}")
    f.do(f"%{k}_n_next = add i64 %{k}_n, {f.width}")
    f.do("br i1 " + f.value(f"icmp slt i64 %{k}_j_next, %{k}_j1") + f", label %{k}_values, label %{k}_middle")
    f.label(f"{k}_middle")
    f.do("br i1 " + f.value(f"icmp eq i64 {zeros}, 0") + f", label %{k}_end, label %{k}_zeros0")
    for lane in range(f.width):  # row by row: stores to neighbours
        z, above, below = f"%{k}_z{lane}", f"{k}_zeros{lane - 1}" if lane else f"{k}_middle", f"{k}_zeros{lane + 1}"
        f.label(f"{k}_zeros{lane}")
        f.do(f"{z} = phi i64 [%{k}_j1, %{above}], [{z}_next, %{k}_zeros{lane}]")
        _store_row(f, "zeroinitializer", z, lane * stride, k == "streamed")
        f.do(f"{z}_next = add i64 {z}, {f.width}")
        after = below if lane + 1 < f.width else f"{k}_end"
        f.do("br i1 " + f.value(f"icmp slt i64 {z}_next, %{k}_j2") + f", label %{k}_zeros{lane}, label %{after}")
    f.label(f"{k}_end")
    f.do(f"%{k}_r_next = add i64 %{k}_r, 1")
    f.do("br i1 " + f.value(f"icmp slt i64 %{k}_r_next, {count}") + f", label %{k}_run, label %done")


def _column(f: Function, index: str) -> str:
    """Entry ``index`` of @places, out of the buffer."""
    place = f.value(f"load i32, ptr {f.value(f'getelementptr inbounds i32, ptr @places, i64 {index}')}, align 4")
    wide = f.value(f"zext i32 {place} to i64")
    return f.value(f"load {f.type}, ptr {f.value(f'getelementptr inbounds {f.type}, ptr %buffer, i64 {wide}')}, align 32")


def _store_rows(f: Function, rows: list[str], j: str, stride: int, streamed: bool) -> None:
    """A vector into each row, from column j on."""
    for lane, row in enumerate(rows):
        _store_row(f, row, j, lane * stride, streamed)


def _store_row(f: Function, row: str, j: str, start: int, streamed: bool) -> None:
    """A vector into the row that starts at entry ``start``, from column j on."""
    target = f.value(f"getelementptr inbounds double, ptr %out, i64 {f.value(f'add i64 {j}, {start}')}")
    if not streamed:
        f.do(f"store {f.type} {row}, ptr {target}, align 8")
        return
    for part in range(0, f.width, 2):
        half = "zeroinitializer"
        if row != half:
            half = f.value(f"shufflevector {f.type} {row}, {f.type} {row}, <2 x i32> <i32 {part}, i32 {part + 1}>")
        place = f.value(f"getelementptr inbounds double, ptr {target}, i64 {part}") if part else target
        f.do(f"store <2 x double> {half}, ptr {place}, align {PAIR}, !nontemporal !1")


def transposed_lanes(f: Function, x: list[str]) -> list[str]:
    """Four vectors of four lanes as the columns of four others."""
    V = f.type

    def mixed(a: str, b: str, *lanes: int) -> str:
        return f.value(f"shufflevector {V} {a}, {V} {b}, <4 x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>")

    t0, t1 = mixed(x[0], x[1], 0, 4, 2, 6), mixed(x[0], x[1], 1, 5, 3, 7)
    t2, t3 = mixed(x[2], x[3], 0, 4, 2, 6), mixed(x[2], x[3], 1, 5, 3, 7)
    return [mixed(t0, t2, 0, 1, 4, 5), mixed(t1, t3, 0, 1, 4, 5), mixed(t0, t2, 2, 3, 6, 7), mixed(t1, t3, 2, 3, 6, 7)]
