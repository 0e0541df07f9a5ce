"""The function around a kernel: plain float64 memory goes to the kernel, everything else to the fallback, nothing leaks."""

from __future__ import annotations

import array
import ctypes
import gc
import inspect
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

from urdf_gibbs.engine.entry import make_entry
from urdf_gibbs.engine.objects import load_code


def kernel(inputs: Sequence[int], size: int) -> int:
    """Address of a kernel: out[k] = k + the sum of all inputs; status 5, with -1 in out, if the first of all numbers is negative."""
    names = [f"%x{j}" for j in range(len(inputs))]
    lines = [f"define i64 @sums({', '.join(f'ptr noalias {name}' for name in (*names, '%out'))}) {{"]
    total, first = "0.0", "0.0"
    for j, width in enumerate(inputs):
        for i in range(width):
            lines += [f"  %p{j}.{i} = getelementptr double, ptr %x{j}, i64 {i}", f"  %v{j}.{i} = load double, ptr %p{j}.{i}"]
            lines.append(f"  %s{j}.{i} = fadd double {total}, %v{j}.{i}")
            total = f"%s{j}.{i}"
            first = f"%v{j}.{i}" if first == "0.0" else first
    lines.append(f"  %bad = fcmp olt double {first}, 0.0")
    for k in range(size):
        lines += [f"  %o{k} = getelementptr double, ptr %out, i64 {k}", f"  %r{k} = fadd double {total}, {float(k)}"]
        lines += [f"  %t{k} = select i1 %bad, double -1.0, double %r{k}", f"  store double %t{k}, ptr %o{k}"]
    lines += ["  %status = select i1 %bad, i64 5, i64 0", "  ret i64 %status", "}"]
    return load_code("\n".join(lines)).address("sums")


class Recorder:
    """A fallback that keeps the arguments of its last call and returns a value of its own."""

    def __init__(self) -> None:
        self.calls = 0
        self.seen: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self.result = object()

    def __call__(self, *args: Any, **kwargs: Any) -> object:
        self.calls += 1
        self.seen = args, kwargs
        return self.result


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URDF_GIBBS_CACHE", "")
        yield


def build(inputs: Sequence[int], output: tuple[int, ...]) -> tuple[Callable[..., Any], Recorder]:
    """The kernel of this signature as a function, and its fallback."""
    recorder = Recorder()
    return make_entry("sums", kernel(inputs, int(np.prod(output))), inputs, output, recorder), recorder


def plain(inputs: Sequence[int], output: tuple[int, ...]) -> tuple[list[np.ndarray], np.ndarray]:
    """Arguments that the kernel takes."""
    return [np.arange(1.0, width + 1) * (j + 1) for j, width in enumerate(inputs)], np.full(output, np.nan)


def refused(f: Callable[..., Any], recorder: Recorder, *args: Any, **kwargs: Any) -> bool:
    """Whether a call went to the fallback, once, with the same objects and its result."""
    before = recorder.calls
    result = f(*args, **kwargs)
    if recorder.calls == before:
        return False
    assert recorder.calls == before + 1 and recorder.seen is not None
    assert [id(x) for x in recorder.seen[0]] == [id(x) for x in args]
    assert {k: id(x) for k, x in recorder.seen[1].items()} == {k: id(x) for k, x in kwargs.items()}
    recorder.seen = None
    assert result is recorder.result
    return True


SIGNATURES = [
    ([3], (3,)),
    ([2], ()),
    ([4], (2, 3)),
    ([3, 2], (3,)),
    ([3, 2, 2], (2, 2)),
    ([1, 2, 3, 4], (5,)),
    ([2, 1, 3, 1, 2], (3, 1, 2)),
    ([1, 2, 3, 4, 3, 2, 1], (5,)),
    ([0], (2,)),
    ([3], (0,)),
    ([0, 0, 0, 0], (0, 0)),
    ([2, 0], (0, 3)),
    ([2, 0], (3, 0)),
]


@pytest.mark.parametrize(("inputs", "output"), SIGNATURES)
def test_kernel_fills_out_in_both_call_forms(inputs: list[int], output: tuple[int, ...]) -> None:
    f, recorder = build(inputs, output)
    for keyword in (False, True):
        xs, out = plain(inputs, output)
        assert (f(*xs, out=out) if keyword else f(*xs, out)) is out
        expected = np.arange(out.size).reshape(output) + sum(x.sum() for x in xs)
        assert np.array_equal(out, expected)
    assert recorder.calls == 0


@pytest.mark.parametrize(("inputs", "output"), SIGNATURES)
def test_kernel_fills_a_new_array_where_there_is_no_out(inputs: list[int], output: tuple[int, ...]) -> None:
    f, recorder = build(inputs, output)
    xs, _ = plain(inputs, output)
    first, second = f(*xs), f(*xs)
    assert type(first) is np.ndarray and first.dtype == np.float64 and first.shape == output
    assert first is not second and first.flags.owndata and first.flags.writeable and first.flags.c_contiguous
    assert np.array_equal(first, np.arange(first.size).reshape(output) + sum(x.sum() for x in xs))
    assert recorder.calls == 0


@pytest.mark.parametrize(("inputs", "output"), SIGNATURES)
def test_other_shapes_go_to_the_fallback(inputs: list[int], output: tuple[int, ...]) -> None:
    f, recorder = build(inputs, output)
    xs, out = plain(inputs, output)
    shapes = {(), (1,), (*output, 1), (1, *output), (5, 5), (0,), (0, 0), (0, 5), (5, 0), (0, 0, 0), (7,)}
    for shape in shapes - {output}:
        assert refused(f, recorder, *xs, np.zeros(shape))
    for j, width in enumerate(inputs):
        for shape in {(width + 1,), (), (1, width), (width, 1), (0,), (0, 0), (2, width)} - {(width,)}:
            assert refused(f, recorder, *xs[:j], np.zeros(shape), *xs[j + 1 :], out)
            assert refused(f, recorder, *xs[:j], np.zeros(shape), *xs[j + 1 :])
    assert np.isnan(out).all()


def test_other_call_forms_go_to_the_fallback() -> None:
    f, recorder = build([3, 2], (3,))
    (x, y), out = plain([3, 2], (3,))
    assert refused(f, recorder)
    assert refused(f, recorder, x)
    assert refused(f, recorder, x, y, None)
    assert refused(f, recorder, x, y, out=None)
    assert refused(f, recorder, x, y, out, out)
    assert refused(f, recorder, x, y, out, out=out)
    assert refused(f, recorder, x, out=out)
    assert refused(f, recorder, x, y, outs=out)
    assert refused(f, recorder, x, y, y=out)
    assert refused(f, recorder, x, y=y, out=out)
    assert refused(f, recorder, x=x, y=y, out=out)
    assert refused(f, recorder, x, y, out=out, check=True)
    assert refused(f, recorder, *[x] * 100)
    assert np.isnan(out).all()


def test_a_keyword_made_at_run_time_gives_the_same() -> None:
    f, recorder = build([3], (3,))
    (x,), out = plain([3], (3,))
    refused(f, recorder, x, **{"".join(["o", "u", "t"]): out})  # either way will do


class Sub(np.ndarray):
    """A subclass is memory like any other."""


def test_memory_of_other_owners_is_taken() -> None:
    f, recorder = build([3], (3,))
    (x,), out = plain([3], (3,))
    owners = [
        x.view(Sub),
        array.array("d", x),
        memoryview(x),
        memoryview(bytearray(x.tobytes())).cast("d"),
        (ctypes.c_double * 3)(*x),
        np.concatenate([[0.0], x])[1:],
        np.frombuffer(x.tobytes()),  # read-only
    ]
    for owner in owners:
        out[:] = np.nan
        if not refused(f, recorder, owner, out):
            assert np.array_equal(out, [6.0, 7.0, 8.0])
    for owner in (out.view(Sub), array.array("d", bytes(24)), memoryview(out), memoryview(bytearray(24)).cast("d")):
        if not refused(f, recorder, x, owner):
            assert np.array_equal(owner, [6.0, 7.0, 8.0])
    assert not refused(f, recorder, x.view(Sub), out.view(Sub))


def test_other_objects_go_to_the_fallback() -> None:
    f, recorder = build([3], (3,))
    (x,), out = plain([3], (3,))
    shifted = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert not shifted.flags.aligned
    things = [
        [1.0, 2.0, 3.0],
        (1.0, 2.0, 3.0),
        None,
        1.0,
        "abc",
        b"x" * 24,
        bytearray(24),
        range(3),
        object(),
        f,
        np.float64(1.0),
        x.astype(np.float32),
        x.astype(np.int64),
        x.astype(np.uint64),
        x.astype(complex),
        x.astype(object),
        x.astype(">f8"),
        x.astype("M8[s]"),
        x.astype("S8"),
        np.zeros(3, np.dtype([("a", "f8")])),
        np.zeros(3, np.dtype([("a", "f4"), ("b", "f4")])),
        np.zeros(6)[::2],
        x[::-1],
        np.broadcast_to(1.0, (3,)),
        np.zeros((3, 3)).T[1],
        shifted,
        memoryview(x)[::-1],
        memoryview(bytearray(32))[1:25].cast("d"),
        array.array("q", [1, 2, 3]),
        memoryview(bytes(24)),
    ]
    for thing in things:
        assert refused(f, recorder, thing, out), thing
        assert refused(f, recorder, thing), thing
        assert refused(f, recorder, x, thing), thing
        assert refused(f, recorder, x, out=thing), thing
    assert np.isnan(out).all()


def test_read_only_out_goes_to_the_fallback() -> None:
    f, recorder = build([3], (3,))
    (x,), out = plain([3], (3,))
    out.flags.writeable = False
    for target in (out, np.frombuffer(bytes(24)), memoryview(bytes(24)).cast("d")):
        assert refused(f, recorder, x, target)
    assert np.isnan(out).all()


def test_fortran_order_goes_to_the_fallback() -> None:
    f, recorder = build([3], (2, 3))
    (x,), out = plain([3], (2, 3))
    assert refused(f, recorder, x, np.zeros((2, 3), order="F"))
    assert refused(f, recorder, x, np.zeros((2, 6))[:, ::2])
    assert refused(f, recorder, x, np.zeros((2, 6))[:, :3])
    assert not refused(f, recorder, x, np.zeros((4, 3))[1:3])
    assert not refused(f, recorder, x, out)


def test_overlap_goes_to_the_fallback() -> None:
    f, recorder = build([3, 3], (3,))
    room = np.arange(12.0)
    other = np.ones(3)
    for start in range(10):
        x, out = room[4:7], room[start : start + 3]
        apart = start + 3 <= 4 or start >= 7
        before = room.copy()
        assert refused(f, recorder, x, other, out) is not apart
        assert refused(f, recorder, other, x, out) is not apart
        assert apart or np.array_equal(room, before)
    x = np.ones(3)
    assert refused(f, recorder, x, other, x)
    assert not refused(f, recorder, x, x, np.zeros(3))  # inputs are only read


@pytest.mark.parametrize("keyword", [False, True])
def test_failed_kernel_goes_to_the_fallback(keyword: bool) -> None:
    f, recorder = build([3, 2], (3,))
    (x, y), out = plain([3, 2], (3,))
    x[0] = -1.0
    assert refused(f, recorder, x, y, out=out) if keyword else refused(f, recorder, x, y, out)
    assert np.array_equal(out, [-1.0] * 3)  # the kernel did run
    assert refused(f, recorder, x, y)


def test_exception_of_the_fallback_passes() -> None:
    class Special(Exception):
        pass

    def fail(*_: Any, **__: Any) -> None:
        raise Special("told so")

    f = make_entry("sums", kernel([3], 3), [3], (3,), fail)
    x = np.ones(3)
    for args in ((), (-x,), (x, x), (x, [1.0]), ([1.0], x), (-x, np.ones(3)), (x, None)):
        with pytest.raises(Special, match="told so") as info:
            f(*args)
        assert info.value.__context__ is None  # what the buffer protocol said is forgotten
    strict = make_entry("sums", kernel([3], 3), [3], (3,), lambda a, /: a)
    with pytest.raises(TypeError, match="positional"):
        strict(x, x, x)


def test_name_and_docstring() -> None:
    f = make_entry("mass_matrix", kernel([3], 3), [3], (3,), Recorder(), doc="mass_matrix(q, out=None)\n--\n\nM(q), ä.")
    assert f.__name__ == "mass_matrix" and f.__doc__ == "M(q), ä."
    assert inspect.isbuiltin(f) and "mass_matrix" in repr(f)
    assert str(inspect.signature(f)) == "(q, out=None)"


@pytest.mark.parametrize(("inputs", "output"), [([], (1,)), ([1] * 8, (1,)), ([1], (1, 1, 1, 1)), ([-1], (1,)), ([1], (-1,))])
def test_impossible_signature_is_refused(inputs: list[int], output: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="sums"):
        make_entry("sums", 0, inputs, output, Recorder())


def test_references_and_buffers_are_given_back() -> None:
    f, recorder = build([3, 2], (3,))
    (x, y), out = plain([3, 2], (3,))
    failing = -x
    short = np.ones(1)
    readonly = np.frombuffer(bytes(24))
    listed = [1.0]
    resizable = array.array("d", [1.0, 2.0, 3.0])
    watched = (x, y, out, failing, short, readonly, listed, resizable, f, recorder, recorder.result, f.__self__, np.empty, None, "out")
    calls: list[Callable[[], object]] = [
        lambda: f(x, y, out),
        lambda: f(x, y, out=out),
        lambda: f(resizable, y, out),
        lambda: f(x, y, resizable),
        lambda: f(failing, y, out),
        lambda: f(x, short, out),
        lambda: f(listed, y, out=out),
        lambda: f(x, y, short),
        lambda: f(x, y, readonly),
        lambda: f(out, y, out),
        lambda: f(x, out, out),
        lambda: f(x, y, out=None),
        lambda: f(x, y, other=out),
        lambda: f(x),
        lambda: f(x, y),
        lambda: f(failing, y),
        lambda: f(x, listed),
    ]
    for call in calls:
        call()
    recorder.seen = None
    gc.collect()
    before = [sys.getrefcount(thing) for thing in watched]
    for call in calls:
        for _ in range(10_000):
            call()
    recorder.seen = None
    after = [sys.getrefcount(thing) for thing in watched]
    assert [b - a for a, b in zip(before, after, strict=True)] == pytest.approx([0] * len(watched), abs=3)  # None is everybody's
    resizable.append(4.0)  # BufferError if its memory were still held
    own = np.ones(3)
    f(own, y, out)
    own.resize(5)


def test_a_new_array_belongs_to_the_caller_alone() -> None:
    f, _ = build([3, 2], (10, 10))
    (x, y), _ = plain([3, 2], (10, 10))
    made, mine = f(x, y), np.empty(3)
    assert sys.getrefcount(made) == sys.getrefcount(mine)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):  # 800 bytes each: of success, a failed kernel, a wrong input
            f(x, y)
            f(-x, y)
            f(x, [1.0])
        assert tracemalloc.get_traced_memory()[0] - before < 80_000
    finally:
        tracemalloc.stop()


def test_no_memory_for_a_new_array_is_an_exception() -> None:
    f, recorder = build([3], (3,))
    huge = make_entry("sums", kernel([3], 3), [3], (2**40, 2**40), recorder)
    with pytest.raises((MemoryError, ValueError)):  # numpy says ValueError of a size that no address reaches
        huge(np.ones(3))
    assert recorder.calls == 0 and f(np.ones(3)).tolist() == [3.0, 4.0, 5.0]


def test_entry_frees_what_it_held() -> None:
    recorder = Recorder()
    f: Any = make_entry("sums", kernel([3], 3), [3], (3,), recorder)
    recorder.result = f  # a cycle through the fallback
    gone = weakref.ref(recorder)
    del recorder, f
    gc.collect()
    assert gone() is None


def test_entry_may_drop_itself_while_it_runs() -> None:
    holder: dict[str, Any] = {}

    def drop(*_: Any) -> str:
        holder.clear()
        gc.collect()
        return "fine"

    holder["f"] = make_entry("sums", kernel([3], 3), [3], (3,), drop)
    del drop
    assert holder["f"](1) == "fine"


def test_many_entries_share_one_body() -> None:
    entries = [build([1 + k % 3], (1 + k % 2,)) for k in range(50)]
    for k, (f, recorder) in enumerate(entries):
        (x,), out = plain([1 + k % 3], (1 + k % 2,))
        assert f(x, out) is out and out[0] == x.sum() and recorder.calls == 0


def test_threads_call_at_once() -> None:
    f, recorder = build([3, 2], (4,))
    wrong: list[np.ndarray] = []
    shared = np.ones(2)

    def work(seed: int) -> None:
        x, out = np.full(3, float(seed)), np.zeros(4)
        for k in range(5000):
            x[1] = k
            f(x, shared, out=out)
            if out[0] != 2 * seed + k + 2:
                wrong.append(out.copy())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and recorder.calls == 0


def released() -> memoryview:
    """A memoryview that has no memory any more."""
    view = memoryview(bytearray(24)).cast("d")
    view.release()
    return view


# Makers of arguments, by name so that a failing example can be read. ROOM gives memory that arguments may share.
ROOM = np.zeros(16)
THINGS: dict[str, Callable[[], Any]] = {
    "float 2": lambda: np.ones(2),
    "float 3": lambda: np.ones(3),
    "float 0": lambda: np.ones(0),
    "0-d": lambda: np.array(1.0),
    "2 by 2": lambda: np.ones((2, 2)),
    "2 by 3": lambda: np.ones((2, 3)),
    "2 by 3 Fortran": lambda: np.ones((2, 3), order="F"),
    "0 by 3": lambda: np.ones((0, 3)),
    "3-d": lambda: np.ones((1, 2, 3)),
    "negative": lambda: np.full(3, -1.0),
    "strided": lambda: np.ones(6)[::2],
    "reversed": lambda: np.ones(3)[::-1],
    "shared a": lambda: ROOM[0:3],
    "shared b": lambda: ROOM[2:5],
    "shared c": lambda: ROOM[3:5],
    "shared 2-d": lambda: ROOM[3:9].reshape(2, 3),
    "float32": lambda: np.ones(3, np.float32),
    "int64": lambda: np.ones(3, np.int64),
    "big endian": lambda: np.ones(3, ">f8"),
    "read-only": lambda: np.frombuffer(bytes(24)),
    "misaligned": lambda: np.zeros(25, np.uint8)[1:].view(np.float64),
    "subclass": lambda: np.ones(3).view(Sub),
    "array": lambda: array.array("d", [1.0, 2.0, 3.0]),
    "memoryview": lambda: memoryview(bytearray(24)).cast("d"),
    "memoryview misaligned": lambda: memoryview(bytearray(32))[1:25].cast("d"),
    "memoryview 2-d": lambda: memoryview(bytearray(48)).cast("d", (2, 3)),
    "released": released,
    "bytes": lambda: bytes(24),
    "list": lambda: [1.0, 2.0, 3.0],
    "None": lambda: None,
    "number": lambda: 3.5,
    "text": lambda: "out",
}


@pytest.fixture(scope="module")
def fuzzed() -> list[tuple[list[int], tuple[int, ...], Callable[..., Any], Recorder]]:
    signatures: list[tuple[list[int], tuple[int, ...]]] = [
        ([3], (3,)),
        ([3, 2], (2, 3)),
        ([3, 0], ()),
        ([3, 3, 2], (3,)),
        ([3] * 4, (0, 3)),
    ]
    return [(inputs, output, *build(inputs, output)) for inputs, output in signatures]


def takes(thing: Any, shape: tuple[int, ...], writable: bool) -> bool:
    """Whether an argument is memory for the kernel, by what Python's own memoryview says of it."""
    try:
        view = memoryview(thing)
    except (TypeError, ValueError, BufferError):
        return False
    address = np.asarray(view).ctypes.data if view.format == "d" else 1
    return view.format == "d" and view.shape == shape and view.c_contiguous and not (writable and view.readonly) and address % 8 == 0


ANY = st.sampled_from(sorted(THINGS))
FREE = st.tuples(st.lists(ANY, max_size=6), st.dictionaries(st.sampled_from(["out", "q", "Out", "ou", "o\0ut", "é"]), ANY, max_size=2))
NEARLY_RIGHT = st.tuples(st.dictionaries(st.integers(0, 4), ANY, max_size=2), st.sampled_from(["positional", "keyword", "none"]))


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 4), free=st.none() | FREE, nearly=NEARLY_RIGHT)
def test_any_arguments_give_the_kernel_or_the_fallback(
    fuzzed: list[tuple[list[int], tuple[int, ...], Callable[..., Any], Recorder]],
    which: int,
    free: tuple[list[str], dict[str, str]] | None,
    nearly: tuple[dict[int, str], str],
) -> None:
    inputs, output, f, recorder = fuzzed[which]
    args: list[Any] = [*map(np.ones, inputs), np.zeros(output)]
    kwargs: dict[str, Any] = {}
    changes, out_form = nearly
    if free:
        args = [THINGS[name]() for name in free[0]]
        kwargs = {key: THINGS[name]() for key, name in free[1].items()}
    else:
        args = [THINGS[changes[k]]() if k in changes else arg for k, arg in enumerate(args)]
        if out_form != "positional":
            last = args.pop()
            kwargs = {"out": last} if out_form == "keyword" else {}
    everything = [*args, *kwargs.values()]
    new = not kwargs and len(args) == len(inputs)
    form = new or (list(kwargs) in ([], ["out"]) and len(everything) == len(inputs) + 1)
    run = (
        form
        and all(takes(x, (width,), False) for x, width in zip(everything, inputs, strict=False))
        and (new or takes(everything[-1], output, True))
    )
    given = everything if new else everything[:-1]
    if run and not new:
        run = not any(np.may_share_memory(np.asarray(x), np.asarray(everything[-1])) for x in given)
    if run:
        run = not any(x.size and x[0] < 0 for x in map(np.asarray, everything[:1]))
        total = sum(np.asarray(x).sum() for x in given)
    assert refused(f, recorder, *args, **kwargs) is not run
    if run:
        out = f(*args) if new else np.array(everything[-1])
        assert np.array_equal(out, np.arange(out.size).reshape(output) + total)
    for thing in everything:
        if isinstance(thing, array.array):
            thing.append(0.0)  # BufferError if its memory were still held
