"""The calls that ``urdf-gibbs bench`` times: ours, Pinocchio's and MuJoCo's for one quantity, at the same states."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from time import get_clock_info, perf_counter, sleep, thread_time
from timeit import Timer
from typing import Any
from xml.etree import ElementTree

import numpy as np

import urdf_gibbs
from urdf_gibbs.names import Base, KernelName
from urdf_gibbs.oracle.pinocchio import OracleRefusal, import_pinocchio
from urdf_gibbs.robot.model import Robot

# What one thread does is timed by its own clock, which other work on the machine does not move, if that is fine enough.
CLOCK = thread_time if get_clock_info("thread_time").resolution <= 1e-6 else perf_counter
PAUSE = 5e-3  # seconds before timing a batch
VALUES: dict[KernelName, str] = {"mass_matrix": "M", "bias": "bias", "inverse_dynamics": "inverse", "forward_dynamics": "forward"}
MATRICES: dict[KernelName, str] = {"inverse_dynamics_derivatives": "d inverse", "forward_dynamics_derivatives": "d forward"}
DERIVED: dict[KernelName, str] = {**MATRICES, "torque_regressor": "regressor"}
QUANTITIES = VALUES | DERIVED
INPUTS = {
    "mass_matrix": "q",
    "bias": "q, v",
    "inverse_dynamics": "q, v, a",
    "forward_dynamics": "q, v, tau",
    "inverse_dynamics_derivatives": "q, v, a",
    "forward_dynamics_derivatives": "q, v, tau",
    "torque_regressor": "q, v, a",
}
PINOCCHIO = {
    "mass_matrix": "crba",
    "bias": "nonLinearEffects",
    "inverse_dynamics": "rnea",
    "forward_dynamics": "aba",
    "inverse_dynamics_derivatives": "computeRNEADerivatives",
    "forward_dynamics_derivatives": "computeABADerivatives",
    "torque_regressor": "computeJointTorqueRegressor",
}
IN_PARALLEL = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}


def _packed(quantity: KernelName) -> KernelName:
    packed: dict[KernelName, KernelName] = {
        "inverse_dynamics_derivatives": "inverse_dynamics_derivatives_packed",
        "forward_dynamics_derivatives": "forward_dynamics_derivatives_packed",
        "torque_regressor": "torque_regressor_packed",
    }
    return packed[quantity]


def _whole(found: Any) -> Any:
    """Pinocchio's result as one array; of its M and M⁻¹ it fills the upper triangle."""
    if not isinstance(found, tuple):
        return found
    by_q, by_v, by_last = found
    return np.array([by_q, by_v, np.triu(by_last) + np.triu(by_last, 1).T])


def tied_model(path: str, base: Base) -> Any:
    """Pinocchio's model with mimic joints as it ties them itself."""
    pin = import_pinocchio()
    roots = {"fixed": [], "floating": [pin.JointModelFreeFlyer()], "planar": [pin.JointModelPlanar()]}[base]
    try:
        return pin.buildModelFromUrdf(path, *roots, mimic=True)
    except (TypeError, ValueError, RuntimeError) as problem:  # TypeError: a Pinocchio without mimic mode
        raise OracleRefusal(f"Pinocchio refuses {path} with mimic joints: {problem}") from problem


class States:
    """One quantity at random states: the calls of all contenders, after checking that they agree."""

    def __init__(self, robot: Robot, pin: Any, model: Any, quantity: KernelName, batch: int) -> None:
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
        if quantity in DERIVED:
            self.names["function"](robot, *self.inputs)  # some are compiled after many states only
            self.names["packed"] = packed = robot.kernel(_packed(quantity))
            self.names["blocks"] = packed(*self.inputs)
        ours = self.names["kernel"](*self.inputs)
        expected = _whole(self.names["theirs"](model, self.names["data"], *(x[0] for x in self.their_inputs)))
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
        if self.quantity in DERIVED:
            names["block"] = self.names["blocks"][0].copy()
            calls["packed"] = f"packed({words}, block)"
        return {name: Timer(call, timer=CLOCK, globals=names) for name, call in calls.items()}

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
        target = "target[0], target[1], target[2]" if self.quantity in MATRICES else "target[:]"  # Pinocchio returns a tuple of three
        loop = f"for {states}, target in zip({', '.join(rows)}, result): {target} = theirs(model, data, {states})"
        ours = f"function(robot, {words}, out=result)"
        calls = {"pinocchio_loop": (loop, "pass")}
        if self.quantity in DERIVED:
            dropped = f"for {states} in zip({', '.join(rows)}): theirs(model, data, {states})"
            packed = f"packed({words}, blocks)"
            calls |= {"pinocchio_dropped": (dropped, "pass"), "packed_1": (packed, f"set_threads(1); {packed}")}
            calls["zeros"] = ("result.fill(0.0)", "pass")
        if hasattr(self.pin, IN_PARALLEL.get(self.quantity, "-")):
            names |= {"parallel": getattr(self.pin, IN_PARALLEL[self.quantity]), "pool": self.pin.ModelPool(self.model, 2)}
            names["result_columns"] = np.empty(self.shape).T
        columns = ", ".join(f"{row}columns" for row in rows)
        for threads in (1, 2) if (os.cpu_count() or 1) > 1 else (1,):
            calls[f"ours_{threads}"] = (ours, f"set_threads({threads}); {ours}")
            if "parallel" in names:
                call = f"parallel({threads}, pool, {columns}, result_columns)"
                calls[f"pinocchio_{threads}"] = (call, call)
        clocks = {name: perf_counter if name.endswith("_2") else CLOCK for name in calls}
        return {name: Timer(call, f"sleep({PAUSE})\n{setup}", clocks[name], globals=names) for name, (call, setup) in calls.items()}


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
    return {quantity: Timer(call, timer=CLOCK, globals=names) for quantity, call in calls.items()}


def _for_mujoco(path: str, robot: Robot) -> str:
    """The URDF without shapes and mimic, with the base's joint in front of the root link, the only form that MuJoCo's reader accepts."""
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
