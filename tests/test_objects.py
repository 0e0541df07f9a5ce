"""Machine code from IR text: right numbers at every level, and a cache on disk that can only help."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")

from urdf_gibbs.engine import objects
from urdf_gibbs.engine.objects import cache_folder, load_code

# A constant, a table, libm as an intrinsic and by name, sine and cosine of one angle (which LLVM may join), and memset.
IR = """
@table = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
declare double @llvm.sin.f64(double)
declare double @llvm.cos.f64(double)
declare double @cos(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define double @f(double %x, i64 %i) {
  %room = alloca [512 x double]
  call void @llvm.memset.p0.i64(ptr %room, i8 0, i64 4096, i1 false)
  %zero.at = getelementptr double, ptr %room, i64 %i
  %zero = load volatile double, ptr %zero.at
  %s = call double @llvm.sin.f64(double %x)
  %c = call double @llvm.cos.f64(double %x)
  %y = fmul double %x, 2.5
  %d = call double @cos(double %y)
  %t.at = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %t = load double, ptr %t.at
  %1 = fmul double %t, %s
  %2 = fadd double %1, %c
  %3 = fadd double %2, %d
  %4 = fadd double %3, %zero
  ret double %4
}
"""
SMALL = "define i64 @answer() {{\n  ret i64 {}\n}}"


def answer(value: int, opt: int = 2) -> int:
    """Load code that returns the value, and call it."""
    return ctypes.CFUNCTYPE(ctypes.c_int64)(load_code(SMALL.format(value), opt).address("answer"))()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a process that has loaded nothing."""
    monkeypatch.setenv("URDF_GIBBS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(objects, "_codes", {})
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is compiled during the test."""
    texts: list[str] = []
    compile_ = objects._compile

    def count(llvm: object, machine: object, ir: str, *how: bool) -> bytes:
        texts.append(ir)
        return compile_(llvm, machine, ir, *how)

    monkeypatch.setattr(objects, "_compile", count)
    return texts


def forget() -> None:
    """Make the process forget its codes, as a new one would."""
    objects._codes.clear()


@pytest.mark.parametrize("opt", [0, 1, 2, 3])
@pytest.mark.parametrize("compact", [False, True])
def test_code_computes_with_constants_tables_and_libm(folder: Path, monkeypatch: pytest.MonkeyPatch, opt: int, compact: bool) -> None:
    monkeypatch.setattr(objects, "COMPACT", objects.COMPACT and compact)
    for _ in range(2):  # compiled, then from disk
        forget()
        f = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(load_code(IR, opt).address("f"))
        for i, x in enumerate((-3.0, 0.1, 1.0, 50.0)):
            expected = 2.0**i * math.sin(x) + math.cos(x) + math.cos(2.5 * x)
            assert f(x, i) == pytest.approx(expected, rel=1e-13)  # rounding of three terms, perhaps fused


def test_unknown_symbol_is_named(folder: Path) -> None:
    with pytest.raises(KeyError, match="nothing_here"):
        load_code(SMALL.format(1)).address("nothing_here")


def test_bad_ir_raises_and_is_not_stored(folder: Path) -> None:
    with pytest.raises(RuntimeError):
        load_code("define i64 @answer() { this is not IR }")
    with pytest.raises(RuntimeError):
        load_code("define i64 @answer() {\n %a = add i64 %b, 1\n %b = add i64 %a, 1\n ret i64 %b\n}")
    assert not folder.exists()


def test_failed_compilation_is_collected_safely(folder: Path) -> None:
    for _ in range(20):
        with pytest.raises(RuntimeError) as info:
            load_code("define i64 @answer() {\n %a = add i64 %b, 1\n %b = add i64 %a, 1\n ret i64 %b\n}")
        info.value.__notes__ = [info]  # a cycle, so that its frames go in any order
        del info
        gc.collect()
    assert answer(2) == 2


def test_same_text_is_the_same_code(folder: Path, compiled: list[str]) -> None:
    assert load_code(SMALL.format(3)) is load_code(SMALL.format(3))
    assert load_code(SMALL.format(3)) is not load_code(SMALL.format(3), opt=1)
    assert len(compiled) == 2


def test_code_outlives_every_object(folder: Path) -> None:
    f = ctypes.CFUNCTYPE(ctypes.c_int64)(load_code(SMALL.format(41)).address("answer"))
    forget()
    gc.collect()
    for value in range(5):
        answer(value)
    assert f() == 41


def test_second_load_does_not_compile(folder: Path, compiled: list[str]) -> None:
    assert answer(7) == 7
    forget()
    assert answer(7) == 7
    assert len(compiled) == 1


def test_key_depends_on_everything_that_shapes_the_code(folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    answer(1)
    for change in (
        lambda: monkeypatch.setattr("urdf_gibbs.__version__", "other"),
        lambda: monkeypatch.setattr("llvmlite.__version__", "other"),
        lambda: monkeypatch.setattr(objects, "_host", lambda _: ("", "")),
    ):
        forget()
        change()
        answer(1)
    forget()
    answer(1, opt=3)
    assert len(compiled) == 5 == len(list(folder.iterdir()))


def test_nothing_but_whole_object_files_is_written(folder: Path) -> None:
    answer(1)
    answer(2)
    names = sorted(path.name for path in folder.parent.rglob("*") if path.is_file())
    assert len(names) == 2 and all(objects.OWN_FILE.fullmatch(name) and name.endswith(".obj") for name in names)


def damage_cases(data: bytes) -> dict[str, bytes]:
    """A file of the cache, spoilt in several ways."""
    head = len(objects.MAGIC)
    middle = len(data) // 2
    return {
        "empty": b"",
        "truncated in the magic": data[: head - 3],
        "truncated in the digest": data[: head + 5],
        "truncated at the payload": data[: head + 32],
        "truncated": data[:-1],
        "longer": data + b"\0",
        "one bit of the magic": bytes([data[0] ^ 1]) + data[1:],
        "one bit of the digest": data[:head] + bytes([data[head] ^ 1]) + data[head + 1 :],
        "one bit of the payload": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "foreign": b"\x7fELF" + bytes(1000),
        "foreign with a right digest": b"x" * head + data[head:],
    }


@pytest.mark.parametrize("case", damage_cases(bytes(200)))
def test_damaged_file_is_ignored_and_rewritten(folder: Path, compiled: list[str], case: str) -> None:
    answer(9)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage_cases(whole)[case])
    forget()
    assert answer(9) == 9
    assert len(compiled) == 2
    assert path.read_bytes() == whole
    assert list(folder.iterdir()) == [path]


def test_folder_in_place_of_the_file_means_no_cache(folder: Path) -> None:
    answer(9)
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    forget()
    assert answer(9) == 9
    assert list(folder.iterdir()) == [path]  # and no temporary file stays


def test_uncreatable_folder_means_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a file")
    for path in (folder, folder / "below", Path("/proc/nowhere"), Path("/dev/null"), Path("x" * 5000)):
        monkeypatch.setenv("URDF_GIBBS_CACHE", str(path))
        forget()
        assert answer(11) == 11
    assert folder.read_text() == "a file"


def test_read_only_folder_means_no_cache(folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    answer(12)
    folder.chmod(0o500)
    try:
        assert answer(13) == 13  # root may write all the same
    finally:
        folder.chmod(0o700)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(objects.tempfile, "mkstemp", refuse)
    forget()
    assert answer(14) == 14
    assert answer(12) == 12  # what is there is still read
    assert len(compiled) == 3


def test_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(objects.os, "replace", refuse)
    assert answer(15) == 15
    assert list(folder.iterdir()) == []


def test_empty_variable_turns_the_cache_off(folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URDF_GIBBS_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    assert cache_folder() is None
    answer(16)
    forget()
    answer(16)
    assert len(compiled) == 2 and not folder.exists()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"URDF_GIBBS_CACHE": "/a/b"}, "/a/b"),
        ("linux", {"URDF_GIBBS_CACHE": "~/b"}, "/home/me/b"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/urdf_gibbs"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/urdf_gibbs"),
        ("linux", {"XDG_CACHE_HOME": ""}, "/home/me/.cache/urdf_gibbs"),
        ("linux", {}, "/home/me/.cache/urdf_gibbs"),
        ("darwin", {}, "/home/me/Library/Caches/urdf_gibbs"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/urdf_gibbs"),
        ("win32", {}, "/home/me/AppData/Local/urdf_gibbs"),
        ("linux", {"URDF_GIBBS_CACHE": "~nobody_of_this_name/b"}, None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_folder_follows_the_variables(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str | None
) -> None:
    for name in ("URDF_GIBBS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(objects.sys, "platform", platform)
    assert cache_folder() == (None if expected is None else Path(expected))


def test_pruning_drops_the_oldest_of_ours_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    others = [folder / "notes.txt", folder / "model.obj", folder / ("a" * 64)]
    for path in others:
        path.write_bytes(bytes(100_000))
        os.utime(path, (1, 1))
    ours = [folder / f"{hashlib.sha256(bytes([k])).hexdigest()}.obj" for k in range(10)]
    ours.append(folder / f"{'0' * 64}.abandoned.tmp")
    for age, path in enumerate(ours):
        path.write_bytes(bytes(1000))
        os.utime(path, (10_000 - age, 10_000 - age))
    monkeypatch.setattr(objects, "CACHE_BYTES", 6000)
    assert answer(17) == 17
    left = set(folder.iterdir())
    assert left.issuperset(others)
    kept = [path for path in ours if path in left]
    assert kept == ours[: len(kept)] and 3 <= len(kept) < 6  # the newest, and the new file took its share
    assert sum(path.stat().st_size for path in left.difference(others)) <= 6000


CHILD = """
import ctypes, sys
from urdf_gibbs.engine import objects
if sys.argv[1] == "warm":
    def refuse(*_):
        raise AssertionError("compiled")
    objects._compile = refuse
for value in range(5):
    code = objects.load_code(f"define i64 @answer() {{\\n  ret i64 {value}\\n}}")
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("answer"))() == value
"""


def test_processes_share_the_cache(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(objects.__file__).parents[2])}

    def run(mode: str, count: int) -> None:
        children = [subprocess.Popen([sys.executable, "-c", CHILD, mode], env=environment) for _ in range(count)]
        assert [child.wait(60) for child in children] == [0] * count

    run("cold", 4)
    assert len(list(folder.iterdir())) == 5
    assert all(path.suffix == ".obj" for path in folder.iterdir())
    run("warm", 1)


def test_import_does_not_load_llvm() -> None:
    code = "import sys, urdf_gibbs.engine.objects, urdf_gibbs.engine.entry; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(objects.__file__).parents[2], check=False).returncode == 0
