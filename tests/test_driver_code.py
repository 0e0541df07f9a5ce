"""The compiled driver: that the module in the package is that of the sources, runs without Numba, and survives damage and forks."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import lzma
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import pytest
from structs import empty

import urdf_gibbs as ug
from urdf_gibbs.contact.surfaces import Places, nearest, pack
from urdf_gibbs.engine import driver_code, jit, objects
from urdf_gibbs.engine.driver_parts import parts_of, split
from urdf_gibbs.errors import ArgumentError, DriverError
from urdf_gibbs.simulation import layout, rows, simulate
from urdf_gibbs.simulation.program import _parts
from urdf_gibbs.simulation.scenario import read_scenario

ROOT = Path(ug.__file__).parents[1]
SCENARIOS = ("branched12", "cradle", "sliding_block", "vibrating_table")  # impacts, several at once, rest, a wall that moves

DIGEST = """
import hashlib
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.simulate import simulate

def digest(name):
    trajectory = simulate(**read_scenario(name).arguments())
    parts = [trajectory.t, trajectory.q, trajectory.v, trajectory.contact_forces, *(impact.impulses for impact in trajectory.impacts)]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
"""


def digest(name: str) -> str:
    own: dict[str, Any] = {}
    exec(DIGEST, own)
    return str(own["digest"](name))


def run_python(script: str, timeout: float = 300.0, **environment: str) -> str:
    """What a script prints in a process of its own."""
    everything = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout, env=everything)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# the module -----------------------------------------------------------------------------------------


def test_the_module_in_the_package_was_made_from_these_sources() -> None:
    text = driver_code.unpacked(driver_code.SHIPPED.read_bytes(), driver_code.stamp())
    assert text is not None, "the sources of compiled code have changed: make driver"


@pytest.mark.nightly
def test_built_again_it_is_the_same(tmp_path: Path) -> None:
    """Numba compiles everything: half a minute. That the module belongs to the sources is what every run asks, above."""
    path = tmp_path / "driver.ll.xz"
    command = [sys.executable, "-m", "urdf_gibbs.engine.build_driver", str(path)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (stamp, made_by, text), (kept_stamp, kept_by, kept) = (
        lzma.decompress(file.read_bytes()).decode().split("\n", 2) for file in (path, driver_code.SHIPPED)
    )
    assert stamp == kept_stamp
    if made_by == kept_by:
        assert text == kept
    else:  # other versions of Numba, LLVM or Python write other text, which must compute the same
        script = f"{DIGEST}\nfrom pathlib import Path\nfrom urdf_gibbs.engine import driver_code\n"
        script += f"driver_code.SHIPPED = Path({str(path)!r})\nprint(*map(digest, {SCENARIOS}))"
        assert run_python(script).split() == [digest(name) for name in SCENARIOS]


def test_what_compiled_functions_read_is_in_the_stamp() -> None:
    """Constants are compiled in: a change of one must change the stamp."""

    def names(code: CodeType) -> Iterator[str]:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from names(constant)

    homes: dict[str, set[str]] = {}  # of a constant's name, by where it is written down
    for module in [module for name, module in sys.modules.items() if name.startswith("urdf_gibbs")]:
        text = Path(module.__file__ or "").read_text(encoding="utf-8")
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, int | float | tuple | np.ndarray) and f"import {name}" not in text:
                homes.setdefault(name, set()).add(module.__name__)
    stamped = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in driver_code.sources()}
    functions = [noted.function for noted in jit.functions] + [made.function for made in jit.entries.values()]
    assert len(functions) > 80
    for function in functions:
        assert function.__module__ in stamped
        for name in names(function.__code__):
            value = function.__globals__.get(name)
            if isinstance(value, ModuleType) and value.__name__.startswith("urdf_gibbs"):
                assert value.__name__ in stamped, (function.__module__, name)
            elif name.isupper() and isinstance(value, int | float | tuple | np.ndarray):
                assert homes[name] & stamped, (function.__module__, name)


def test_the_module_belongs_to_no_machine() -> None:
    text = driver_code.module().split("\n", 2)[2]  # below the two lines that say where it comes from
    for word in ("target triple", "target datalayout", "target-cpu", "target-features", "attributes #", "numba", "Py_", "NRT_"):
        assert word not in text, word
    assert re.search(r"(?<![a-z])x86", text) is None  # but a name may be index861
    assert {made.name for made in jit.entries.values()} == {name for name in jit.entries if f"@{name}(" in text}


# Every run makes machine code of it for the machine that it runs on, and here for another processor: four seconds each.
@pytest.mark.parametrize(
    "triple",
    [
        "aarch64-unknown-linux-gnu",
        *(
            pytest.param(other, marks=[pytest.mark.nightly])
            for other in ("x86_64-unknown-linux-gnu", "arm64-apple-darwin", "x86_64-pc-windows-msvc")
        ),
    ],
)
def test_every_platform_can_make_machine_code_of_it(triple: str) -> None:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=2)
    made = b""
    for part in parts_of(driver_code.module()):
        with llvm.create_context() as context, llvm.parse_assembly(part.text, context) as module:
            module.verify()
            module.triple, module.data_layout = triple, str(machine.target_data)
            made += machine.emit_object(module)
    assert all(name.encode() in made for name in jit.entries)


# its parts --------------------------------------------------------------------------------------------

SMALL = """
@table = internal constant [2 x i64] [i64 3, i64 4]
declare double @sin(double)
define double @fly(double %x) {
  %y = call fastcc double @both(double %x), !note !1
  ret double %y
}
define internal fastcc double @both(double %x) unnamed_addr nounwind {
  %y = call double @sin(double %x)
  ret double %y
}
define double @rub(double %x) {
  %y = call fastcc double @both(double %x)
  %z = call fastcc double @alone(double %y)
  ret double %z
}
define internal fastcc double @alone(double %x) unnamed_addr {
  %i = load i64, ptr @table
  %y = sitofp i64 %i to double
  %z = fadd double %x, %y
  ret double %z
}
!0 = !{!"unused"}
!1 = !{!2}
!2 = !{!"used"}
"""


def test_a_function_goes_with_what_needs_it_and_nothing_is_there_twice() -> None:
    """Written down by hand: one module for each set of parts."""
    parts = {" ".join(sorted(part.uses)): part for part in parts_of(split(SMALL, {"fly": "flight", "rub": "friction"}))}
    assert parts.keys() == {"flight", "friction", "flight friction"}
    assert (parts["flight"].defines, parts["flight"].needs) == (("fly",), ("both",))
    assert (parts["friction"].defines, parts["friction"].needs) == (("rub",), ("both",))
    assert (parts["flight friction"].defines, parts["flight friction"].needs) == (("both",), ())
    for word, home in {"@table =": "friction", "@sin(double)": "flight friction", "!1 =": "flight", "!2 =": "flight"}.items():
        assert [name for name, part in parts.items() if word in part.text] == [home], word
    assert not any("!0 =" in part.text for part in parts.values())
    driver = driver_code.Driver(split(SMALL, {"fly": "flight", "rub": "friction"}))
    rub = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(driver.address("rub"))
    assert rub(0.5) == math.sin(0.5) + 3.0


def called_by(one: Any) -> list[Any]:
    """Functions and entries of compiled code that a function names."""
    function = one.function if isinstance(one, jit.Entry) else one
    names = function.__code__.co_names
    values = [function.__globals__.get(name) for name in names]
    values += [getattr(value, name, None) for value in values if isinstance(value, ModuleType) for name in names]
    compiled = [noted.function for noted in jit.functions]
    return [value for value in values if isinstance(value, jit.Entry) or (callable(value) and value in compiled)]


def test_every_function_of_the_driver_is_compiled_once_and_finds_what_it_calls() -> None:
    parts = parts_of(driver_code.module())
    names = [name for part in parts for name in re.findall(r"^define .*?@([\w.$]+)\(", part.text, flags=re.MULTILINE)]
    assert len(names) == len(set(names)) > 100
    homes = {name: part for part in parts for name in part.defines}
    assert jit.entries.keys() <= homes.keys()
    for part in parts:
        for name in part.needs:
            assert part.uses < homes[name].uses, name  # so what is needed is needed wherever this part is
    assert all(homes[name].uses >= {entry.part} for name, entry in jit.entries.items())


@pytest.mark.parametrize("kind", ["smooth", "friction", "stepping"])
def test_a_simulation_has_every_block_that_it_can_call(kind: str) -> None:
    """By the names in the sources; blocks for friction are behind ``friction.acts``, that of soil behind its wheels, all others are there without."""
    first = jit.entries["stepping.advance_steps" if kind == "stepping" else "driver.advance"]
    found: set[Any] = set()
    waiting: list[Any] = [first]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += called_by(one)
    called = {one for one in found if isinstance(one, jit.Entry) and one.number is not None}
    there = _parts(kind == "stepping", kind == "friction", False)
    missing = {one.name for one in called if one.part not in there}
    behind = {"soil"} | ({"friction", "held"} if kind == "smooth" else set())
    assert missing == {one.name for one in called if one.part in behind}
    assert set(_parts(kind == "stepping", kind == "friction", True)) == {*there, "soil"}
    assert len(called) > (1 if kind == "stepping" else 15)


def test_a_first_simulation_compiles_only_what_it_needs(tmp_path: Path) -> None:
    """Counted by functions: those of friction and of time stepping are no part of a run without them."""
    script = """
from urdf_gibbs.engine import driver_code
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.simulate import simulate
for name in ("cradle", "rocking_block"):
    simulate(**read_scenario(name).arguments())
    driver = driver_code.driver()
    print(*sorted({use for number in driver._codes for use in driver._parts[number].uses if len(driver._parts[number].uses) == 1}))
"""
    smooth, rough = run_python(script, URDF_GIBBS_CACHE=str(tmp_path)).splitlines()
    assert smooth.split() == ["events", "flight", "rows"]
    assert rough.split() == ["events", "flight", "friction", "held", "rows"]


# without Numba ----------------------------------------------------------------------------------------

WITHOUT_NUMBA = (
    """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numba":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
    + DIGEST
)


def test_simulations_run_without_numba_from_nothing_and_from_damaged_objects(tmp_path: Path) -> None:
    """Each object in one of three ways, the largest, which is the driver, by a single bit."""
    script = WITHOUT_NUMBA + f"print(*map(digest, {SCENARIOS}))"
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    expected = [digest(name) for name in SCENARIOS]
    assert run_python(script, **environment).split() == expected
    files = sorted((tmp_path / "cache" / "urdf_gibbs").iterdir(), key=lambda path: -path.stat().st_size)
    assert len(files) > 3  # the driver and the robots' kernels
    for number, path in enumerate(files):
        whole = path.read_bytes()
        flipped = bytes([*whole[:-50], whole[-50] ^ 1, *whole[-49:]])
        path.write_bytes((flipped, whole[:-10], b"\x80\x04K\x01." * 99)[number % 3])
    assert run_python(script, **environment).split() == expected
    for path in files:
        data = path.read_bytes()
        payload = data[len(objects.MAGIC) + 32 :]
        assert data == objects.MAGIC + hashlib.sha256(payload).digest() + payload


def test_every_part_of_the_package_imports_without_numba() -> None:
    script = """
import importlib, pkgutil, urdf_gibbs
for found in pkgutil.walk_packages(urdf_gibbs.__path__, "urdf_gibbs."):
    if found.name != "urdf_gibbs.engine.numba_types":
        importlib.import_module(found.name)
print("numba" in sys.modules, "llvmlite" in sys.modules)
"""
    assert run_python(WITHOUT_NUMBA + script) == "False False"


# changed sources and damage -----------------------------------------------------------------------------


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sources that are not those of the module in the package, and an empty cache."""
    more = ROOT / "urdf_gibbs" / "errors.py"
    sources = driver_code.sources()
    monkeypatch.setattr(driver_code, "sources", lambda: [*sources, more])
    monkeypatch.setenv("URDF_GIBBS_CACHE", str(tmp_path))
    return tmp_path


def test_changed_sources_without_numba_are_an_error_that_says_what_to_do(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "numba" else find(name))
    with pytest.raises(DriverError, match=r"driver\.ll\.xz is .* other sources .*pip install numba"):
        driver_code.module()


def test_changed_sources_are_built_once_and_kept(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = []

    def build(command: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
        builds.append(command)
        Path(command[-1]).write_bytes(driver_code.packed(driver_code.stamp(), "the test", "text"))
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(driver_code.subprocess, "run", build)
    with pytest.warns(UserWarning, match="about a minute"):
        first = driver_code.module()
    assert first.endswith("text") and driver_code.module() == first
    assert len(builds) == 1
    [kept] = changed.glob("*.obj")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], bytes([*whole[:-20], whole[-20] ^ 1, *whole[-19:]])):
        kept.write_bytes(damaged)
        with pytest.warns(UserWarning, match="about a minute"):
            assert driver_code.module() == first
        assert kept.read_bytes() == whole
    assert len(builds) == 5


def test_sources_that_do_not_compile_are_an_error_with_the_compilers_output(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "TypingError: no such thing")
    monkeypatch.setattr(driver_code.subprocess, "run", lambda *command, **how: failed)
    with pytest.warns(UserWarning, match="about a minute"), pytest.raises(DriverError, match="TypingError: no such thing"):
        driver_code.module()


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing"])
def test_a_damaged_module_in_the_package_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: str) -> None:
    whole = driver_code.SHIPPED.read_bytes()
    path = tmp_path / "driver.ll.xz"
    flipped = bytes([*whole[: len(whole) // 2], whole[len(whole) // 2] ^ 1, *whole[len(whole) // 2 + 1 :]])
    if damage != "missing":
        path.write_bytes({"cut": whole[: len(whole) // 2], "flipped": flipped, "empty": b""}[damage])
    monkeypatch.setattr(driver_code, "SHIPPED", path)
    monkeypatch.setenv("URDF_GIBBS_CACHE", "")
    monkeypatch.setattr(driver_code, "_build", lambda wanted: (b"", f"built for {wanted}"))
    assert driver_code.module() == f"built for {driver_code.stamp()}"


# calls --------------------------------------------------------------------------------------------------


def test_compiled_code_computes_what_its_source_does_in_python() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(-2.0, 2.0, 9)
    walls = [
        ug.walls.Plane((0.1, 0.2, 1.0), (0.0, 0.0, -0.5), motion=ug.walls.Vibration((0.0, 0.0, 0.1), 3.0)),
        ug.walls.Sphere(3.0),
        ug.walls.Ellipsoid((1.0, 2.0, 3.0)),
        ug.walls.Box((1.0, 1.5, 2.0)),
        ug.walls.HeightField(np.sin(x)[:, None] * np.cos(x), (-2.0, 2.0), (-2.0, 2.0)),
    ]
    for wall in walls:
        surfaces, _, _, _ = pack([wall])
        t, where, speed = rng.uniform(0, 1, 20), rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
        places = [Places(t=t, x=where, xd=speed, out=np.zeros((20, 8))) for _ in range(2)]
        nearest(surfaces, places[0])
        with np.errstate(all="ignore"):
            nearest.function(surfaces, places[1])
        # The same operations; a power may be rounded differently.
        np.testing.assert_allclose(places[0].out, places[1].out, rtol=1e-12, atol=1e-12)


def test_an_error_inside_compiled_code_returns_nan() -> None:
    system = empty(layout.System, K=np.eye(2).ravel(), u=np.ones(2), e=np.ones(2), lam=np.ones(2))
    assert rows.solve(system, layout.LCP, 2) < 1e-12
    assert np.isnan(rows.solve(system, layout.LCP, 3))  # K has four entries, not nine


def test_simulate_checks_its_arguments_before_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a simulator is made")

    monkeypatch.setattr(simulate.Simulator, "__init__", made)
    robot = ug.load(ug.model_path("planar3r"))
    q = np.zeros(robot.nq)
    for q0, v0, duration in ((q[:1], None, 1.0), (q, q[:1], 1.0), (q, None, -1.0), (q, None, np.inf), (q * np.nan, None, 1.0)):
        with pytest.raises(ArgumentError, match=r"q0|v0|duration"):
            ug.simulate(robot, q0, v0, duration)


# forks ----------------------------------------------------------------------------------------------------

FORK = """
import os, signal, sys, threading, time
import urdf_gibbs as ug
from urdf_gibbs.engine.objects import load_code

def forked(work, seconds=60):
    '''Whether work() ends well in a child.'''
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)  # a child that hangs is killed
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
"""

COMPILING = (
    FORK
    + """
text = "define i64 @f(i64 %x) {\\n %a0 = mul i64 %x, NUMBER\\n"
text += "".join(f" %a{i + 1} = call i64 @llvm.ctpop.i64(i64 %a{i})\\n %b{i} = mul i64 %a{i + 1}, %a{i}\\n" for i in range(3000))
text += " ret i64 %b2999\\n}\\ndeclare i64 @llvm.ctpop.i64(i64)\\n"
stop = threading.Event()

def compile_on():
    number = 0
    while not stop.is_set():
        load_code(text.replace("NUMBER", str(number)))
        number += 1

def work():
    robot = ug.load(ug.model_path("planar3r"))
    ug.mass_matrix(robot, [0.1, 0.2, 0.3])
    ug.simulate(robot, [0.1, 0.2, 0.3], None, 0.01)

work()
os.environ["URDF_GIBBS_CACHE"] = ""  # the hundreds of modules that follow are of use to nobody
thread = threading.Thread(target=compile_on)
thread.start()
ends = []
for i in range(8):
    time.sleep(0.05)
    ends.append(forked(work))
stop.set()
thread.join()
print(all(ends))
"""
)

RUNNING = (
    FORK
    + """
robot = ug.load(ug.model_path("planar3r"))
parent, inside, go = os.getpid(), threading.Event(), threading.Event()

def controller(t, q, v):
    if os.getpid() == parent:
        inside.set()
        go.wait(60)
    return [0.0, 0.0, 0.0]

simulator = ug.Simulator(robot, controller=controller)
thread = threading.Thread(target=lambda: simulator.run([0.1, 0.2, 0.3], None, 0.01))
thread.start()
inside.wait(60)
print(forked(lambda: simulator.run([0.1, 0.2, 0.3], None, 0.01)))
go.set()
thread.join()
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("script", [COMPILING, RUNNING], ids=["compiling", "running"])
def test_a_fork_while_another_thread_works_does_not_hang_the_child(script: str) -> None:
    assert run_python(script, timeout=600.0) == "True"


def test_scenarios_of_these_tests_have_impacts() -> None:
    for name in SCENARIOS:
        assert len(ug.simulate(**read_scenario(name).arguments()).impacts) > 0
