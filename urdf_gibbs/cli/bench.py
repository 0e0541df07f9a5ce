"""``urdf-gibbs bench``: our times against Pinocchio's (and MuJoCo's, where it is installed), as interleaved medians."""

from __future__ import annotations

import importlib
import importlib.metadata
import json as json_module
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import sleep
from timeit import Timer
from typing import Annotated, Any
from xml.etree import ElementTree

import numpy as np
import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import urdf_gibbs
from urdf_gibbs.cli.console import Files, Json, checked_base, err, load_quietly, out, resolve, write_json
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.dynamics.registry import COMPILED, FLEXIBLE_METHODS
from urdf_gibbs.errors import OracleMissingError, SingularMassMatrixError, UrdfError
from urdf_gibbs.oracle.pinocchio import Oracle, OracleRefusal, import_pinocchio
from urdf_gibbs.robot.load import Base
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.timing import interleaved

PAUSE = 5e-3  # seconds before a batch is timed
AGREE = 1e-9  # relative; beyond it the two do not compute the same thing and a note says so
STARTS = 3  # fresh processes of which the start is the median
STAGES = 9  # of one robot, on the progress bar
PYTHON_ROUNDS = 5  # at most where formulations in Python take part: milliseconds of theirs are long enough to be measured well
PYTHON = {"gibbs_appell_flexible": "3x3,\nPython", "transformations_flexible": "4x4,\nPython"}
QUANTITIES = {"mass_matrix": "M", "bias": "bias", "inverse_dynamics": "inverse", "forward_dynamics": "forward"}
INPUTS = {"mass_matrix": "q", "bias": "q, v", "inverse_dynamics": "q, v, a", "forward_dynamics": "q, v, tau"}
PINOCCHIO = {"mass_matrix": "crba", "bias": "nonLinearEffects", "inverse_dynamics": "rnea", "forward_dynamics": "aba"}
IN_PARALLEL = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
RATIOS = {  # what the plot shows: Pinocchio's time over ours
    "one call, kernel": ("single", "pinocchio", "kernel"),
    "one call, function": ("single", "pinocchio", "function"),
    "batch, 1 thread, against a Python loop": ("batch", "pinocchio_loop", "ours_1"),
    "batch, 1 thread, against ...InParallel": ("batch", "pinocchio_1", "ours_1"),
    "batch, 2 threads, against ...InParallel": ("batch", "pinocchio_2", "ours_2"),
}
START = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
begin = time.perf_counter()
import urdf_gibbs
robot = urdf_gibbs.load(sys.argv[1], sys.argv[2], mimic=sys.argv[3] == "True")
times = {"import_and_load": time.perf_counter() - begin}
q, v = robot.random(0), [0.1] * robot.nv
for name, arguments in ("mass_matrix", (q,)), ("bias", (q, v)), ("forward_dynamics", (q, v, v)):
    begin = time.perf_counter()
    try:
        getattr(urdf_gibbs, name)(robot, *arguments)
    except urdf_gibbs.SingularMassMatrixError:
        pass
    times[name] = time.perf_counter() - begin
print(json.dumps(times))
"""
LEGEND = """Median µs of one call from Python, and of one state of a batch; a ratio is Pinocchio's time over ours: above 1 we are faster.
kernel: robot.kernel(name)(..., out). function: urdf_gibbs.mass_matrix(robot, q, out=M) and so on. Pinocchio: crba, nonLinearEffects,
rnea and aba; loop: the same in a Python loop over the batch; parallel: rneaInParallel and abaInParallel, which fill an array in C++.
MuJoCo, at a state already set: kinematics with makeM and fullM, with rne, and forward without constraints."""
ELASTIC = """Elastic links are unknown to Pinocchio and MuJoCo. 3x3 and 4x4, Python: method="gibbs_appell_flexible" and
"transformations_flexible", the papers' recursions in plain Python; ratio: of the 3x3 one to the kernel."""
FREED = "Mimic joints are free on both sides (mimic=False): Pinocchio's mimic mode has no forward dynamics."
TIED = "Mimic joints are tied on both sides; forward dynamics of such robots is left out: Pinocchio's mimic mode has none."


def bench(
    files: Files,
    base: Annotated[list[str] | None, typer.Option(help="fixed, floating or planar; may be repeated. Default: fixed.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="States in a batch.")] = 4096,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of which the median is taken.")] = 21,
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = False,
    json: Json = None,
    plot: Annotated[str | None, typer.Option(metavar="PATH", help="Draw the ratios (png, svg, pdf).")] = None,
) -> None:
    """Time mass matrix, bias, inverse and forward dynamics against Pinocchio.

    Exit code 0, or 2 where a file cannot be loaded or Pinocchio is missing.
    """
    bases = [checked_base(name) for name in base or ["fixed"]]
    try:
        import_pinocchio()
    except OracleMissingError as problem:
        err.print(str(problem), style="red", markup=False)
        raise typer.Exit(2) from None
    options = [word for name in bases for word in ("--base", name)] + ["--batch", str(batch), "--rounds", str(rounds)]
    options += ["--mimic" if mimic else "--no-mimic"]
    report: dict[str, Any] = {"command": shlex.join(["urdf-gibbs", "bench", *files, *options]), "machine": machine(), "results": []}
    code = 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=len(files) * len(bases) * STAGES)
        for file, one_base in ((file, one_base) for file in files for one_base in bases):
            try:
                result = {"file": file, "base": one_base}
                for stage in measure(resolve(file), one_base, mimic, batch, rounds, result):
                    progress.update(task, description=f"{file} ({one_base}): {stage}", advance=1)
            except (UrdfError, OracleRefusal) as problem:
                err.print(str(problem), style="red", markup=False)
                code = 2
                continue
            report["results"].append(result)
            if json != "-":
                _print(result)
    if json:
        write_json(json, report)
    if plot and report["results"]:
        draw(report["results"], plot)
    if json != "-":
        out.print(f"{LEGEND}\n{TIED if mimic else FREED}", style="dim", markup=False)
        if any(_is_elastic(result) for result in report["results"]):
            out.print(ELASTIC, style="dim", markup=False)
        out.print(report["command"], markup=False)
        out.print(", ".join(f"{key} {value}" for key, value in report["machine"].items()), markup=False)
    raise typer.Exit(code)


def measure(path: str, base: Base, mimic: bool, batch: int, rounds: int, result: dict[str, Any]) -> Iterator[str]:
    """Fill ``result`` with seconds; yields what comes next."""
    robot = load_quietly(path, base, mimic)
    if robot.is_flexible:
        yield from measure_flexible(path, robot, batch, rounds, result)
        return
    tied = any(joint.is_mimic for joint in robot.joints)
    pin, model, notes = import_pinocchio(), None, []
    if tied:
        model = _tied_model(path, base)
    else:
        oracle = Oracle(path, base, mimic=False, gravity=EARTH_GRAVITY)
        model, notes = oracle.model, list(oracle.notes)
    result |= {"nq": robot.nq, "nv": robot.nv, "states": batch, "rounds": rounds, "difference": {}, "single": {}, "batch": {}}
    rivals = mujoco_timers(path, robot)
    if isinstance(rivals, str):
        notes.append(f"MuJoCo left out: {rivals}")
    for quantity, name in QUANTITIES.items():
        yield name
        if tied and quantity == "forward_dynamics":
            yield name
            continue
        try:
            states = _States(robot, pin, model, quantity, batch)
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
    result["start"] = starts(path, base, mimic, min(STARTS, rounds))
    result["notes"] = notes


def measure_flexible(path: str, robot: Robot, batch: int, rounds: int, result: dict[str, Any]) -> Iterator[str]:
    """The same for elastic links, whose only rivals are the formulations in plain Python."""
    result |= {"nq": robot.nq, "nv": robot.nv, "states": batch, "rounds": rounds, "difference": {}, "single": {}, "batch": {}}
    result["notes"] = []
    rng = np.random.default_rng(0)
    q = robot.random(rng, batch)
    v, a, tau = rng.uniform(-1.0, 1.0, (3, batch, robot.nv))
    references = [method for method in FLEXIBLE_METHODS if method != COMPILED]
    for quantity, name in QUANTITIES.items():
        yield name
        inputs = [{"q": q, "v": v, "a": a, "tau": tau}[letter] for letter in INPUTS[quantity].split(", ")]
        first, function = [x[0].copy() for x in inputs], getattr(urdf_gibbs, quantity)
        try:
            ours = function(robot, *inputs)
        except SingularMassMatrixError as problem:
            result["notes"].append(f"{name} left out: {problem}")
            yield name
            continue
        expected = function(robot, *first, method=references[0])
        difference = float(np.abs(ours[0] - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300))
        result["difference"][quantity] = difference
        if not difference < AGREE:
            result["notes"].append(f"{name}: ours and {references[0]} differ by {difference:.1e}")
        names = {"kernel": robot.kernel(quantity), "function": function, "robot": robot, "x": first, "xs": inputs}
        names |= {"out": np.empty(ours.shape[1:]), "outs": np.empty(ours.shape)}
        names |= dict(zip("abc", first, strict=False))
        words = ", ".join("abc"[: len(first)])
        timers = {"kernel": Timer(f"kernel({words}, out)", globals=names)}
        timers["function"] = Timer(f"function(robot, {words}, out=out)", globals=names)
        for method in references:
            timers[method] = Timer(f"function(robot, {words}, method={method!r})", globals=names)
        result["single"][quantity] = interleaved(timers, min(rounds, PYTHON_ROUNDS))
        yield f"{name}, batch"
        threads, timers = urdf_gibbs.get_threads(), {}
        names["set_threads"] = urdf_gibbs.set_threads
        for count in (1, 2) if (os.cpu_count() or 1) > 1 else (1,):
            timers[f"ours_{count}"] = Timer("function(robot, *xs, out=outs)", f"set_threads({count})", globals=names)
        try:
            result["batch"][quantity] = interleaved(timers, rounds)
        finally:
            urdf_gibbs.set_threads(threads)
    yield "start"
    result["start"] = starts(path, robot.base, mimic=False, count=min(STARTS, rounds))


def _is_elastic(result: dict[str, Any]) -> bool:
    return any(method in row for row in result["single"].values() for method in PYTHON)


# Contenders -----------------------------------------------------------------------------------------


def _tied_model(path: str, base: Base) -> Any:
    """Pinocchio's model with mimic joints as it ties them itself."""
    pin = import_pinocchio()
    roots = {"fixed": [], "floating": [pin.JointModelFreeFlyer()], "planar": [pin.JointModelPlanar()]}[base]
    try:
        return pin.buildModelFromUrdf(path, *roots, mimic=True)
    except (TypeError, ValueError, RuntimeError) as problem:  # TypeError: a Pinocchio without mimic mode
        raise OracleRefusal(f"Pinocchio refuses {path} with mimic joints: {problem}") from problem


class _States:
    """One quantity at random states: the calls of all contenders, after a look at whether they agree."""

    def __init__(self, robot: Robot, pin: Any, model: Any, quantity: str, batch: int) -> None:
        rng = np.random.default_rng(0)
        self.pin, self.model, self.quantity = pin, model, quantity
        q = robot.random(rng, batch)
        v, a, tau = rng.uniform(-1.0, 1.0, (3, batch, robot.nv))
        theirs = {"q": robot.q_to_pinocchio(q), "v": v, "a": a, "tau": tau}
        self.inputs = [{"q": q, "v": v, "a": a, "tau": tau}[letter] for letter in INPUTS[quantity].split(", ")]
        self.their_inputs = [theirs[letter] for letter in INPUTS[quantity].split(", ")]
        self.names: dict[str, Any] = {
            "kernel": robot.kernel(quantity),
            "function": getattr(urdf_gibbs, quantity),
            "theirs": getattr(pin, PINOCCHIO[quantity]),
            "robot": robot,
            "model": model,
            "data": model.createData(),
        }
        ours = self.names["function"](robot, *self.inputs)
        expected = self.names["theirs"](model, self.names["data"], *(x[0] for x in self.their_inputs))
        self.difference = float(np.abs(ours[0] - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300))
        self.shape = ours.shape

    def single(self) -> dict[str, Timer]:
        """Calls at the first state. The statements are compiled, so no wrapper's cost is added to either side."""
        words = INPUTS[self.quantity]
        letters = words.split(", ")
        names = self.names | {letter: x[0].copy() for letter, x in zip(letters, self.inputs, strict=True)}
        names |= {f"{letter}_": x[0].copy() for letter, x in zip(letters, self.their_inputs, strict=True)}
        names["result"] = np.empty(self.shape[1:])
        calls = {
            "kernel": f"kernel({words}, result)",
            "function": f"function(robot, {words}, out=result)",
            "pinocchio": f"theirs(model, data, {', '.join(f'{letter}_' for letter in letters)})",
        }
        return {name: Timer(call, globals=names) for name, call in calls.items()}

    def batches(self) -> dict[str, Timer]:
        """Calls for all states, each with an array to fill; thread pools are awake before the clock starts.

        The pause before that lets the other's idle threads fall asleep: OpenMP's wait for more work by spinning.
        """
        words = INPUTS[self.quantity]
        letters = words.split(", ")
        names = self.names | dict(zip(letters, self.inputs, strict=True))
        names |= {f"{letter}_": x for letter, x in zip(letters, self.their_inputs, strict=True)}
        # Pinocchio wants a state in each column: the transposed views have its memory order already
        names |= {f"{letter}_columns": x.T for letter, x in zip(letters, self.their_inputs, strict=True)}
        names |= {"result": np.empty(self.shape), "set_threads": urdf_gibbs.set_threads, "sleep": sleep}
        rows = [f"{letter}_" for letter in letters]
        states = ", ".join(f"{row}i" for row in rows)
        loop = f"for {states}, target in zip({', '.join(rows)}, result): target[:] = theirs(model, data, {states})"
        ours = f"function(robot, {words}, out=result)"
        calls = {"pinocchio_loop": (loop, "pass")}
        if hasattr(self.pin, IN_PARALLEL.get(self.quantity, "-")):
            names |= {"parallel": getattr(self.pin, IN_PARALLEL[self.quantity]), "pool": self.pin.ModelPool(self.model, 2)}
            names["result_columns"] = np.empty(self.shape).T
        columns = ", ".join(f"{row}columns" for row in rows)
        for threads in (1, 2) if (os.cpu_count() or 1) > 1 else (1,):
            calls[f"ours_{threads}"] = (ours, f"set_threads({threads}); {ours}")
            if "parallel" in names:
                call = f"parallel({threads}, pool, {columns}, result_columns)"
                calls[f"pinocchio_{threads}"] = (call, call)
        return {name: Timer(call, f"sleep({PAUSE})\n{setup}", globals=names) for name, (call, setup) in calls.items()}


def mujoco_timers(path: str, robot: Robot) -> dict[str, Timer] | str:
    """MuJoCo's calls for each quantity, or why there are none. Its M, rne and forward start from the positions, as ours do."""
    if any(joint.is_mimic for joint in robot.joints):
        return "mimic joints are constraints there"
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        return "not installed"
    try:
        model = mujoco.MjModel.from_xml_string(_for_mujoco(path, robot))
    except (ValueError, ElementTree.ParseError) as problem:
        return " ".join(str(problem).split())
    if model.nv != robot.nv:
        return f"it has {model.nv} degrees of freedom, not {robot.nv}"
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1.0, 1.0, model.nv), 1.0)
    data.qvel[:], data.qacc[:], data.qfrc_applied[:] = rng.uniform(-1.0, 1.0, (3, model.nv))
    names = {"mj": mujoco, "m": model, "d": data, "M": np.zeros((model.nv, model.nv)), "h": np.zeros(model.nv)}
    inertia = "mj.mj_makeM(m, d)" if hasattr(mujoco, "mj_makeM") else "mj.mj_crb(m, d)"
    place = "mj.mj_kinematics(m, d); mj.mj_comPos(m, d)"
    full = "mj.mj_fullM(m, d, M)" if hasattr(mujoco, "mj_makeM") else "mj.mj_fullM(m, M, d.qM)"
    calls = {
        "mass_matrix": f"{place}; {inertia}; {full}",
        "bias": f"{place}; mj.mj_comVel(m, d); mj.mj_rne(m, d, 0, h)",
        "inverse_dynamics": f"{place}; mj.mj_comVel(m, d); mj.mj_rne(m, d, 1, h)",
        "forward_dynamics": "mj.mj_forward(m, d)",
    }
    return {quantity: Timer(call, globals=names) for quantity, call in calls.items()}


def _for_mujoco(path: str, robot: Robot) -> str:
    """The URDF without shapes and mimic, with the base's joint in front of the root link, which MuJoCo's reader knows no other way."""
    root = ElementTree.parse(path).getroot()
    for parent, tags in (("link", ("visual", "collision")), ("joint", ("mimic",))):
        for element in root.findall(parent):
            for child in [child for child in element if child.tag in tags]:
                element.remove(child)
    if robot.base != "fixed":
        joint = ElementTree.SubElement(root, "joint", {"name": "bench_base", "type": robot.base})
        ElementTree.SubElement(root, "link", {"name": "bench_world"})
        ElementTree.SubElement(joint, "parent", {"link": "bench_world"})
        ElementTree.SubElement(joint, "child", {"link": robot.joints[0].child})
    return ElementTree.tostring(root, encoding="unicode")


# Clocks ---------------------------------------------------------------------------------------------


def starts(path: str, base: str, mimic: bool, count: int) -> dict[str, dict[str, float]]:
    """Median seconds of the first calls in a fresh process: cold with an empty cache of machine code, warm with that cache."""
    found: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    package = str(Path(urdf_gibbs.__file__).parents[1])
    search = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    for _ in range(count):
        with tempfile.TemporaryDirectory() as cache:
            for times in found.values():
                run = subprocess.run(
                    [sys.executable, "-c", START, path, base, str(mimic)],
                    env=os.environ | {"URDF_GIBBS_CACHE": cache, "PYTHONPATH": search},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                times.append(json_module.loads(run.stdout))
    return {kind: {key: median(run[key] for run in runs) for key in runs[0]} for kind, runs in found.items()}


def machine() -> dict[str, str]:
    """What the times depend on beside the code."""
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
    except OSError:  # not Linux
        pass
    found = {"CPU": cpu, "cores": str(os.cpu_count()), "Python": platform.python_version(), "urdf_gibbs": urdf_gibbs.__version__}
    if hasattr(os, "getloadavg"):  # what else ran: at a load near the number of cores the times mean little
        found["load"] = f"{os.getloadavg()[0]:.1f}"
    found["Pinocchio"] = import_pinocchio().__version__
    for name in ("llvmlite", "numpy", "mujoco"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


# Output ---------------------------------------------------------------------------------------------


def _print(result: dict[str, Any]) -> None:
    name = f"{escape(result['file'])} ({result['base']}), nq {result['nq']}, nv {result['nv']}"
    single = Table(title=f"{name}: µs per call", title_justify="left")
    batch = Table(title=f"batch of {result['states']}: µs per state", title_justify="left")
    if _is_elastic(result):
        _headed(single, ["kernel", "function", *PYTHON.values(), "ratio"])
        for quantity, row in result["single"].items():
            cells = _micro(row, "kernel", "function", *PYTHON)
            single.add_row(QUANTITIES[quantity], *cells, f"{row['gibbs_appell_flexible'] / row['kernel']:.0f}")
        _headed(batch, ["1 thread", "2 threads"])
        for quantity, row in result["batch"].items():
            batch.add_row(QUANTITIES[quantity], *_micro({key: x / result["states"] for key, x in row.items()}, "ours_1", "ours_2"))
        out.print(single)
        out.print(batch)
        _print_start(result)
        return
    rival = any("mujoco" in row for row in result["single"].values())
    _headed(single, ["kernel", "function", "Pinocchio", "ratio,\nkernel", "ratio,\nfunction"] + ["MuJoCo"] * rival)
    for quantity, row in result["single"].items():
        ratios = [row["pinocchio"] / row[ours] for ours in ("kernel", "function")]
        cells = [*_micro(row, "kernel", "function", "pinocchio"), *(f"{ratio:.1f}" for ratio in ratios)]
        single.add_row(QUANTITIES[quantity], *cells, *(_micro(row, "mujoco") if rival else []))
    out.print(single)
    _headed(batch, ["ours\n1 thr.", "Pin.\nloop", "\nratio", "Pin.\nparallel", "\nratio", "ours\n2 thr.", "Pin.\npar. 2", "\nratio"])
    for quantity, row in result["batch"].items():
        each = {key: seconds / result["states"] for key, seconds in row.items()}
        cells = _micro(each, "ours_1", "pinocchio_loop") + _ratio(each, "pinocchio_loop", "ours_1")
        cells += _micro(each, "pinocchio_1") + _ratio(each, "pinocchio_1", "ours_1")
        cells += _micro(each, "ours_2", "pinocchio_2") + _ratio(each, "pinocchio_2", "ours_2")
        batch.add_row(QUANTITIES[quantity], *cells)
    out.print(batch)
    _print_start(result)


def _print_start(result: dict[str, Any]) -> None:
    start = Table(title="start: seconds of the first call in a fresh process", title_justify="left")
    _headed(start, ["import, load", "M", "bias", "forward"])
    for kind, label in (("cold", "compiled"), ("warm", "from the cache")):
        start.add_row(label, *(f"{seconds:.3f}" for seconds in result["start"][kind].values()))
    out.print(start)
    for note in result["notes"]:
        out.print(f"note: {note}", markup=False)


def _headed(table: Table, columns: list[str]) -> None:
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)


def _micro(row: dict[str, float], *names: str) -> list[str]:
    return [f"{1e6 * row[name]:.3g}" if name in row else "" for name in names]


def _ratio(row: dict[str, float], theirs: str, ours: str) -> list[str]:
    return [f"{row[theirs] / row[ours]:.1f}" if theirs in row and ours in row else ""]


def draw(results: list[dict[str, Any]], path: str) -> None:
    """Grouped bars of the ratios, one panel for each robot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from urdf_gibbs.view.palette import PALETTE

    figure, panels = plt.subplots(len(results), 1, figsize=(9, 1.2 + 2.6 * len(results)), squeeze=False, sharey=True, layout="constrained")
    width = 0.8 / len(RATIOS)
    for axes, result in zip(panels[:, 0], results, strict=True):
        for number, (label, (kind, theirs, ours)) in enumerate(RATIOS.items()):
            rows = [result[kind].get(quantity, {}) for quantity in QUANTITIES]
            points = [(i, row[theirs] / row[ours]) for i, row in enumerate(rows) if theirs in row and ours in row]
            where = [i + (number - (len(RATIOS) - 1) / 2) * width for i, _ in points]
            # from 1 up or down: a logarithmic axis has no zero to start from
            bars = axes.bar(where, [ratio - 1.0 for _, ratio in points], 0.92 * width, 1.0, color=PALETTE[number], label=label)
            axes.bar_label(bars, [f"{ratio:.1f}" for _, ratio in points], fontsize=7, padding=1)
        axes.axhline(1.0, color="0.3", lw=1.0)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlim(-0.5, len(QUANTITIES) - 0.5)
        axes.set_xticks(range(len(QUANTITIES)), QUANTITIES.values())
        axes.set(ylabel="Pinocchio's time / ours", title=f"{Path(result['file']).name} ({result['base']}), nv {result['nv']}")
        axes.margins(y=0.15)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, fontsize=8, title=f"above 1 we are faster; batch of {results[0]['states']}"
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)
