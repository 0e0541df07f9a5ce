"""The times of ``urdf-gibbs bench``: interleaved medians for one robot, the start of a fresh process, and the machine."""

from __future__ import annotations

import importlib
import importlib.metadata
import json as json_module
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any

import numpy as np

import urdf_gibbs
from urdf_gibbs.cli.bench_contenders import CLOCK, DERIVED, INPUTS, MATRICES, VALUES, States, mujoco_timers, tied_model
from urdf_gibbs.cli.console import load_quietly
from urdf_gibbs.dynamics.registry import COMPILED, FLEXIBLE_METHODS
from urdf_gibbs.errors import SingularMassMatrixError
from urdf_gibbs.names import Base, KernelName
from urdf_gibbs.oracle.pinocchio import Oracle, OracleRefusal, import_pinocchio
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.write import to_urdf
from urdf_gibbs.timing import interleaved

AGREE = 1e-9  # relative: with a larger difference a note says that the two disagree
STARTS = 3  # fresh processes of which the start is the median
STARTED: tuple[KernelName, ...] = ("mass_matrix", "bias", "forward_dynamics")
PYTHON_ROUNDS = 5  # at most, with formulations in Python: their milliseconds are long enough to measure
START = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
begin = time.process_time()
import urdf_gibbs
robot = urdf_gibbs.load(sys.argv[1], sys.argv[2], mimic=sys.argv[3] == "True")
times = {"import_and_load": time.process_time() - begin}
q, v = robot.random(0), [0.1] * robot.nv
for name, count in zip(sys.argv[4::2], sys.argv[5::2]):
    arguments = (q, v, v)[: int(count)]
    begin = time.process_time()
    try:
        getattr(urdf_gibbs, name)(robot, *arguments)
    except urdf_gibbs.SingularMassMatrixError:
        pass
    times[name] = time.process_time() - begin
print(json.dumps(times))
"""


def measure(
    path: str, base: Base, mimic: bool, batch: int, rounds: int, result: dict[str, Any], derivatives: bool = False
) -> Iterator[str]:
    """Fill ``result`` with seconds of values or derivatives; yields what comes next."""
    robot = load_quietly(path, base, mimic)
    if not path.endswith(".urdf"):
        with tempfile.TemporaryDirectory() as folder:
            yield from measure(_as_urdf(robot, path, folder), base, mimic, batch, rounds, result, derivatives)
        return
    if robot.is_flexible:
        yield from measure_flexible(path, robot, batch, rounds, result, derivatives)
        return
    tied = any(joint.is_mimic for joint in robot.joints)
    if tied and derivatives:
        raise OracleRefusal(f"{path}: Pinocchio has no derivatives with mimic joints tied; without --mimic they are free on both sides")
    pin, model, notes = import_pinocchio(), None, []
    if tied:
        model = tied_model(path, base)
    else:
        oracle = Oracle(path, base, mimic=False, gravity=EARTH_GRAVITY)
        model, notes = oracle.model, list(oracle.notes)
    result |= {"nq": robot.nq, "nv": robot.nv, "states": batch, "rounds": rounds, "difference": {}, "single": {}, "batch": {}}
    rivals = mujoco_timers(path, robot) if not derivatives else "it has no such derivatives"
    if isinstance(rivals, str):
        notes.append(f"MuJoCo left out: {rivals}")
    for quantity, name in (DERIVED if derivatives else VALUES).items():
        yield name
        if tied and quantity == "forward_dynamics":
            yield name
            continue
        try:
            states = States(robot, pin, model, quantity, batch)
        except SingularMassMatrixError as problem:
            notes.append(f"{name} left out: {problem}")
            yield name
            continue
        if not states.difference < AGREE:
            notes.append(f"{name}: ours and Pinocchio's differ by {states.difference:.1e}")
        result["difference"][quantity] = states.difference
        timers = states.single()
        if not isinstance(rivals, str):
            timers["mujoco"] = rivals[quantity]
        result["single"][quantity] = interleaved(timers, rounds)
        yield f"{name}, batch"
        threads = urdf_gibbs.get_threads()
        try:
            result["batch"][quantity] = interleaved(states.batches(), rounds)
        finally:
            urdf_gibbs.set_threads(threads)
    yield "start"
    result["start"] = starts(path, base, mimic, min(STARTS, rounds), tuple(DERIVED) if derivatives else STARTED)
    result["notes"] = notes


def _as_urdf(robot: Robot, path: str, folder: str) -> str:
    """A URDF of the robot, which Pinocchio and fresh processes read: joints in its own order, so that both have the same coordinates."""
    if any(joint.mimic is not None and joint.mimic.always for joint in robot._urdf_joints):
        raise OracleRefusal(f"{path}: an armature or a screw, which a URDF for Pinocchio cannot have; 'validate' compares such models")
    file = Path(folder, f"{robot.name or 'robot'}.urdf".replace(os.sep, "_"))
    file.write_text(to_urdf(replace(robot, _as_listed=False)), encoding="utf-8")
    return str(file)


def measure_flexible(path: str, robot: Robot, batch: int, rounds: int, result: dict[str, Any], derivatives: bool) -> Iterator[str]:
    """The same for elastic links, whose only rivals are the formulations in plain Python; their derivatives have none."""
    result |= {"nq": robot.nq, "nv": robot.nv, "states": batch, "rounds": rounds, "difference": {}, "single": {}, "batch": {}}
    result["notes"] = []
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch)
    v, a, tau = rng.uniform(-1.0, 1.0, (3, batch, robot.nv))
    references = [] if derivatives else [method for method in FLEXIBLE_METHODS if method != COMPILED]
    for quantity, name in (MATRICES if derivatives else VALUES).items():
        yield name
        inputs = [{"q": q, "v": v, "a": a, "tau": tau}[letter] for letter in INPUTS[quantity].split(", ")]
        first, function = [x[0].copy() for x in inputs], getattr(urdf_gibbs, quantity)
        try:
            ours = robot.kernel(quantity)(*inputs)
        except SingularMassMatrixError as problem:
            result["notes"].append(f"{name} left out: {problem}")
            yield name
            continue
        for method in references[:1]:
            expected = function(robot, *first, method=method)
            difference = float(np.abs(ours[0] - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300))
            result["difference"][quantity] = difference
            if not difference < AGREE:
                result["notes"].append(f"{name}: ours and {method} differ by {difference:.1e}")
        names = {"kernel": robot.kernel(quantity), "function": function, "robot": robot, "x": first, "xs": inputs}
        names |= {"out": np.empty(ours.shape[1:]), "outs": np.empty(ours.shape)}
        names |= dict(zip("abc", first, strict=False))
        words = ", ".join("abc"[: len(first)])
        timers = {"kernel": Timer(f"kernel({words}, out)", timer=CLOCK, globals=names)}
        timers["function"] = Timer(f"function(robot, {words}, out=out)", timer=CLOCK, globals=names)
        for method in references:
            timers[method] = Timer(f"function(robot, {words}, method={method!r})", timer=CLOCK, globals=names)
        result["single"][quantity] = interleaved(timers, min(rounds, PYTHON_ROUNDS))
        yield f"{name}, batch"
        threads, timers = urdf_gibbs.get_threads(), {}
        names["set_threads"] = urdf_gibbs.set_threads
        for count in (1, 2) if (os.cpu_count() or 1) > 1 else (1,):
            timers[f"ours_{count}"] = Timer(
                "function(robot, *xs, out=outs)", f"set_threads({count})", (CLOCK, perf_counter)[count - 1], globals=names
            )
        try:
            result["batch"][quantity] = interleaved(timers, rounds)
        finally:
            urdf_gibbs.set_threads(threads)
    yield "start"
    result["start"] = starts(path, robot.base, False, min(STARTS, rounds), tuple(MATRICES) if derivatives else STARTED)


def starts(path: str, base: str, mimic: bool, count: int, names: Iterable[KernelName]) -> dict[str, dict[str, float]]:
    """Median seconds of CPU of the first calls of functions, in turn in a fresh process: cold with an empty cache of code, then warm."""
    runs_: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    package = str(Path(urdf_gibbs.__file__).parents[1])
    calls = [word for name in names for word in (name, str(len(INPUTS[name].split(", "))))]
    search = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    for _ in range(count):
        with tempfile.TemporaryDirectory() as cache:
            for times in runs_.values():
                run = subprocess.run(
                    [sys.executable, "-c", START, path, base, str(mimic), *calls],
                    env=os.environ | {"URDF_GIBBS_CACHE": cache, "PYTHONPATH": search},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                times.append(json_module.loads(run.stdout))
    return {kind: {key: median(run[key] for run in runs) for key in runs[0]} for kind, runs in runs_.items()}


def machine() -> dict[str, str]:
    """What the times depend on besides the code."""
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
    except OSError:  # not Linux
        pass
    facts = {"CPU": cpu, "cores": str(os.cpu_count()), "Python": platform.python_version(), "urdf_gibbs": urdf_gibbs.__version__}
    if hasattr(os, "getloadavg"):  # with a load near the number of cores the times mean little
        facts["load"] = f"{os.getloadavg()[0]:.1f}"
    facts["Pinocchio"] = import_pinocchio().__version__
    for name in ("llvmlite", "numpy", "mujoco"):
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return facts
