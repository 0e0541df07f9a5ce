"""Public callables called wrongly: whatever is given for an argument, the error names the argument, the value and what was expected."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import urdf_gibbs as ug

NAN3 = (0.0, float("nan"), 0.0)


@cache
def robot() -> ug.Robot:
    return ug.load(ug.model_path("planar3r"))


@cache
def fall() -> ug.Trajectory:
    return ug.simulate(robot(), [0.1, 0.2, 0.3], None, 0.1, gravity=(0, -9.81, 0))


@cache
def bounce() -> ug.Trajectory:
    ball = ug.load(ug.model_path("ball"))
    return ug.simulate(ball, [1.0], None, 0.6, ug.walls.Plane(), restitution=0.8, points=[("ball", (0, 0, 0), 0.05)])


STATE = [0.1, 0.2, 0.3]
CONTACT = ("link3", (0.1, 0.0, 0.0), (0.0, 1.0, 0.0))

# Calls that are right, as keyword arguments.
RIGHT: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "mass_matrix": (ug.mass_matrix, {"q": STATE}),
    "mass_matrix_elements": (ug.mass_matrix_elements, {"q": STATE, "pairs": [(0, 0)]}),
    "bias": (ug.bias, {"q": STATE, "v": STATE}),
    "gravity_force": (ug.gravity_force, {"q": STATE}),
    "inverse_dynamics": (ug.inverse_dynamics, {"q": STATE, "v": STATE, "a": STATE}),
    "forward_dynamics": (ug.forward_dynamics, {"q": STATE, "v": STATE, "tau": STATE}),
    "inverse_dynamics_derivatives": (ug.inverse_dynamics_derivatives, dict.fromkeys(("q", "v", "a"), STATE)),
    "forward_dynamics_derivatives": (ug.forward_dynamics_derivatives, dict.fromkeys(("q", "v", "tau"), STATE)),
    "inertia_force_derivatives": (ug.inertia_force_derivatives, {"q": STATE, "a": STATE}),
    "gravity_force_derivatives": (ug.gravity_force_derivatives, {"q": STATE}),
    "derivative_entries": (ug.derivative_entries, {"quantity": "inverse_dynamics_derivatives"}),
    "inverse_dynamics_jvp": (ug.inverse_dynamics_jvp, dict.fromkeys(("q", "v", "a", "dq", "dv", "da"), STATE)),
    "inverse_dynamics_vjp": (ug.inverse_dynamics_vjp, dict.fromkeys(("q", "v", "a", "w"), STATE)),
    "forward_dynamics_jvp": (ug.forward_dynamics_jvp, dict.fromkeys(("q", "v", "tau", "dq", "dv", "dtau"), STATE)),
    "forward_dynamics_vjp": (ug.forward_dynamics_vjp, dict.fromkeys(("q", "v", "tau", "w"), STATE)),
    "kinetic_energy": (ug.kinetic_energy, {"q": STATE, "v": STATE}),
    "potential_energy": (ug.potential_energy, {"q": STATE}),
    "centre_of_mass": (ug.centre_of_mass, {"q": STATE}),
    "momentum": (ug.momentum, {"q": STATE, "v": STATE}),
    "jacobian": (ug.jacobian, {"q": STATE, "frame": "link3"}),
    "jacobian_rate": (ug.jacobian_rate, {"q": STATE, "v": STATE, "frame": "link3"}),
    "jacobian_derivatives": (ug.jacobian_derivatives, {"q": STATE, "frame": "link3"}),
    "frame_placement": (ug.frame_placement, {"q": STATE, "frame": "link3"}),
    "impact": (ug.impact, {"q": STATE, "v": STATE, "contacts": [CONTACT]}),
    "simulate": (ug.simulate, {"q0": STATE, "v0": STATE, "duration": 0.01}),
    "Simulator": (ug.Simulator, {}),
    "linearise": (ug.linearise, {"q": STATE}),
    "validate": (ug.validate, {"source": ug.model_path("planar3r"), "samples": 1}),
}
# Callables without a robot, and methods.
OTHERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "load": (ug.load, {"source": ug.model_path("planar3r")}),
    "check": (ug.check, {"source": ug.model_path("planar3r")}),
    "model_path": (ug.model_path, {"name": "planar3r"}),
    "scenario_path": (ug.scenario_path, {"name": "branched12"}),
    "read_scenario": (ug.read_scenario, {"path": "branched12"}),
    "set_threads": (ug.set_threads, {"count": ug.get_threads()}),
    "Robot.frame": (lambda **k: robot().frame(**k), {"link": "link1"}),
    "Robot.joint": (lambda **k: robot().joint(**k), {"name": "joint1"}),
    "Robot.random": (lambda **k: robot().random(**k), {}),
    "Robot.integrate": (lambda **k: robot().integrate(**k), {"q": STATE, "v": STATE}),
    "Robot.difference": (lambda **k: robot().difference(**k), {"q0": STATE, "q1": STATE}),
    "Robot.q_to_pinocchio": (lambda **k: robot().q_to_pinocchio(**k), {"q": STATE}),
    "Robot.q_from_pinocchio": (lambda **k: robot().q_from_pinocchio(**k), {"q": STATE}),
    "Robot.v_to_pinocchio": (lambda **k: robot().v_to_pinocchio(**k), {"v": STATE}),
    "Robot.v_from_pinocchio": (lambda **k: robot().v_from_pinocchio(**k), {"v": STATE}),
    "Robot.tau_from_pinocchio": (lambda **k: robot().tau_from_pinocchio(**k), {"tau": STATE}),
    "Robot.kernel": (lambda **k: robot().kernel(**k), {"name": "bias"}),
    "Robot.view": (lambda **k: robot().view(**k), {}),
    "Robot.with_inertia": (lambda **k: robot().with_inertia(**k), {"link": "link1"}),
    "Robot.with_joint_type": (lambda **k: robot().with_joint_type(**k), {"joint": "joint2", "type": "prismatic"}),
    "Robot.attach": (lambda **k: robot().attach(**k), {"link": "link3", "other": robot(), "prefix": "other_"}),
    "Robot.detach": (lambda **k: robot().detach(**k), {"name": "joint3"}),
    "Simulator.run": (lambda **k: ug.Simulator(robot()).run(**k), {"q0": STATE, "v0": None, "duration": 0.01}),
    "Simulator.impact": (lambda **k: ug.Simulator(robot()).impact(**k), {"q": STATE, "v": STATE}),
    "Trajectory.at": (lambda **k: fall().at(**k), {"times": 0.05}),
    "Trajectory.save": (lambda **k: fall().save(**k), {}),
    "Trajectory.load": (ug.Trajectory.load, {}),
    "Trajectory.animate": (lambda **k: fall().animate(**k), {}),
    "Trajectory.plot": (lambda **k: fall().plot(**k), {"kinds": "energies"}),
    "View.save": (lambda **k: robot().view().save(**k), {}),
    "shoot": (ug.shoot, {"run": bounce(), "time": 0.5}),
    "Sensitivity.at": (lambda **k: bounce().sensitivity().at(**k), {"time": 0.1}),
    "Sensitivity.plot": (lambda **k: bounce().sensitivity().plot(**k), {}),
    "Plane": (ug.walls.Plane, {}),
    "Sphere": (ug.walls.Sphere, {"radius": 1.0}),
    "Wall.gap": (lambda **k: ug.walls.Sphere(1.0).gap(**k), {"x": (0, 0, 0)}),
}

ARRAYS = ("1 2 3", ["0.1", "0.2", "0.3"], None, True, [True, False, True], [None, 0.0, 0.0], {"q1": 0.1}, 1j, [[1.0], [1.0, 2.0]], slice(3))
NAMES = (None, 3, True, ["a"], b"bytes")
FLAGS = (None, "yes", 1, [True])
NUMBERS = (None, "1", True, [1.0], float("nan"), 1j)
OUT = ([0.0, 0.0, 0.0], "out", 1.0, np.zeros(7), np.zeros(3, dtype=int))
GRAVITY = (NAN3, np.array(NAN3), (0.0, float("inf"), 0.0), [0.0, 0.0, None], "down", None, True, 9.81, (0.0, 9.81), (True, False, True))
PATHS = (None, 5, True, ["a"], 1.5)
FOLDERS = (None, "folder", 5, [None])

WRONG: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("q", "v", "a", "tau", "q0", "q1", "x", "dq", "dv", "da", "dtau", "w"), ARRAYS),
    **dict.fromkeys(("frame", "method", "law", "theme", "joint", "side", "base", "name"), NAMES),
    **dict.fromkeys(("include_base", "joint_limits", "damping", "dense", "mimic", "parameters"), FLAGS),
    **dict.fromkeys(
        ("restitution", "duration", "rtol", "atol", "max_step", "tie", "zeno", "cycle", "resolution", "memory", "time"), NUMBERS
    ),
    **dict.fromkeys(("radius", "mass"), NUMBERS),
    "out": OUT,
    "gravity": GRAVITY,
    "point": ("here", True, NAN3, (1.0, 2.0), ["1", "2", "3"]),
    "centre_of_mass": ("here", True, NAN3, (1.0, 2.0)),
    "inertia": ("here", True, NAN3, np.zeros((2, 2))),
    "axis": ("z", True, NAN3, (1.0, 2.0)),
    "normal": ("z", True, NAN3, (1.0, 2.0), None),
    "times": ("now", None, True, [None], float("nan")),
    "torque": ("1 2 3", True, [True, True, True], [None, 0.0, 0.0], [1.0]),
    "v0": ("1 2 3", True, [True, True, True], [None, 0.0, 0.0], [1.0]),
    "pairs": (None, 5, "ab", [5], [("q1",)]),
    "points": (5, "corners", [5], [None], True),
    "walls": (None, 5, "plane", [None], True),
    "external": ([], "link3", 5, {"link3": 1.0}, {"link3": ("a", "b")}),
    "contacts": (None, 5, "link3", [5], [("link3", None, (0, 1, 0))]),
    "threads": (0, -1, 1.5, "2", None, True),
    "count": (0, -1, 1.5, "2", None, True),
    "samples": (0, -1, 1.5, "2", None, True),
    "rng": ("seed", -1, 1.5, True, [1]),
    "shape": ("3", -1, 1.5, None, (1, "2")),
    "controller": ("pd", 5, True),
    "controller_rate": ("100", -1.0, True, float("nan")),
    "switches": ("v", 5),
    "progress": ("bar", 5),
    "path": PATHS,
    "package_dirs": FOLDERS,
    "other": ("robot.urdf", None, 5),
    "link": NAMES,
    "kinds": (5, ["energy"], [None]),
    "frames": ("many", 1, -1, True, 2.5),
    "methods": (5, "expl", ["expl"], [None]),
    "type": NAMES,
    "source": (None, 5, True, 1.5, ["a.urdf"]),
    "run": (None, "run.npz", 5, robot()),
    "change": (None, 5, "w", [], ["v.height", "v.height"], [None]),
    "contact": ("floor", 5, True),
    "impact": (-1, 7, 1.5, "0", None, True),
    **dict.fromkeys(("place", "velocity"), ("here", 5, (1.0, 2.0), (0.0, 0.0, "3"), (0.0, 0.0, True), (0.0, 0.0, float("inf")))),
    "tolerance": NUMBERS,
    "iterations": (0, -1, 1.5, "2", None, True),
    "columns": (5, "w", ["w"], [], [None]),
    "actuated": (5, "joint", ["joint"], [], [None], [99]),
}
ROBOTS = ("robot.urdf", Path("robot.urdf"), None, 5, True, ["robot"], b"<robot/>", ug.Robot)
# What the message calls an argument, where it has another word for it.
WORDS = {
    "actuated": "actuated|joint or velocity",
    "columns": "column",
    "frame": "link",
    "kinds": "kind of plot",
    "methods": "method",
    "name": "named|kernel",
    "other": "attach",
    "pairs": "pair",
    "points": "point",
    "times": "time",
    "type": "joint type",
}


def signature(name: str) -> inspect.Signature:
    """Of the public callable itself, not of the function that calls it here."""
    where, _, method = name.rpartition(".")
    owner = getattr(ug, where, None) or getattr(ug.walls, where, None)
    return inspect.signature(getattr(owner, method) if owner is not None else {**RIGHT, **OTHERS}[name][0])


def cases() -> Iterator[tuple[str, str, Any]]:
    """All wrong values of all arguments; None only where it is not the default."""
    for name in (*RIGHT, *OTHERS):
        for given, parameter in signature(name).parameters.items():
            for value in ROBOTS if given == "robot" else WRONG.get(given, ()):
                if value is not None or not (parameter.default is None or "None" in str(parameter.annotation)):
                    yield name, given, value


CASES = list(cases())


def test_every_kind_of_argument_is_tried() -> None:
    assert {given for _, given, _ in CASES} == {"robot", *WRONG} and len(CASES) > 1000


@pytest.mark.parametrize("name", [*RIGHT, *OTHERS])
def test_the_calls_are_right_but_for_the_wrong_argument(name: str, tmp_path: Path) -> None:
    function, arguments = {**RIGHT, **OTHERS}[name]
    own = {"robot": robot()} if name in RIGHT else {"path": tmp_path / "run.npz"} if name.endswith((".save", ".load")) else {}
    if name == "Trajectory.load":
        fall().save(own["path"])
    function(**own, **arguments)


@pytest.mark.parametrize(("name", "given"), dict.fromkeys(case[:2] for case in CASES))
def test_a_wrong_argument_is_named(name: str, given: str) -> None:
    function, arguments = {**RIGHT, **OTHERS}[name]
    own = {"robot": robot()} if name in RIGHT else {}
    word = re.compile(rf"\b({given}|{WORDS.get(given, given)})\b")
    unsaid = {}
    for value in [value for *where, value in CASES if where == [name, given]]:
        try:
            function(**{**own, **arguments, given: value})
        except ug.ArgumentError as told:
            if not word.search(str(told)) or not re.search("expected|known:", str(told)):
                unsaid[repr(value)] = str(told)
        except Exception as other:
            unsaid[repr(value)] = repr(other)
        else:
            unsaid[repr(value)] = "accepted"
    assert unsaid == {}
