"""A description compiled into a program: the robot's machine code, the driver's, and the memory they work in."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.kinematics import Tree, tree_of
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.own_contacts import own_contacts
from urdf_gibbs.engine.jit import block_addresses
from urdf_gibbs.engine.kernel import c_function
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation import stepping as stepping  # imported to register its blocks, and those of the driver
from urdf_gibbs.simulation.controller import ControllerCallbacks
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.dop853 import EXTENDED, POWERS
from urdf_gibbs.simulation.friction_layout import STATIC, Friction
from urdf_gibbs.simulation.layout import (
    ADVANCE,
    ADVANCE_STEPS,
    CONTACT_WIDTH,
    DISTANCE,
    GAP,
    GRADIENT,
    IMPACT_WIDTH,
    SLIDE,
    UPDATE_GAPS,
    Code,
    Record,
    State,
    System,
)
from urdf_gibbs.simulation.on_soil import soil_memory
from urdf_gibbs.simulation.own_step import TABLE, own_step
from urdf_gibbs.simulation.stepping_layout import stepping_memory

Array = NDArray[np.float64]

ROWS, IMPACTS = 512, 256  # rows and impacts that the record holds
FIRST_STEP = 1e-3  # s
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_UPDATE_GAPS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64)


class Machine:
    """The machine code of a description, which any number of programs share.

    ``parameters``: the dynamics read the inertial parameters from System.constants. ``friction``: contacts may have friction even where
    those of the description have none. ``walls``: the numbers of simple walls are part of the code.
    """

    def __init__(
        self, description: Description, candidates: Candidates, parameters: bool = False, friction: bool = False, walls: bool = True
    ) -> None:
        robot = description.robot
        self.parameters = parameters
        self.functions = _c_functions(description, parameters)
        self.step = own_step(robot) if _has_constant_torque(description) and not description.steps_in_time else None
        self.tree = tree_of(robot)
        self.contacts = own_contacts(robot, candidates.contacts, candidates.surfaces, walls)
        self.friction = friction or _acts(candidates)
        parts = _parts(description.steps_in_time, self.friction, description.soil is not None)
        self.blocks = np.array(block_addresses(*parts), dtype=np.int64)

    def code(self, functions: dict[str, Any]) -> Code:
        """The addresses of all functions, with these besides those that programs share."""
        addresses = {name: ctypes.cast(one, ctypes.c_void_p).value or 0 for name, one in {**self.functions, **functions}.items()}
        if self.step is not None:
            addresses |= {name: self.step.address(name) for name in ("step", "dense")}
        return Code(**addresses, contacts=self.contacts.code.address("contacts") if self.contacts else 0)


class Program:
    """``advance`` continues from ``state`` and writes to ``record``; one run at a time."""

    def __init__(self, description: Description, candidates: Candidates, machine: Machine | None = None) -> None:
        self.callbacks = _make_callbacks(description)  # first: it checks what the user's functions return
        machine = machine or Machine(description, candidates)
        self._functions = _own_functions(description, machine.parameters, self.callbacks)
        self.machine = machine  # its functions stay alive
        self.system = _make_system(description, candidates, machine, machine.code(self._functions), self.callbacks)
        self.state = _make_state(description, candidates, self.system)
        self.record = _make_record(description.robot, len(candidates.points), description.dense, len(self.system.friction.mode))
        self._initial = [(struct, struct.numbers()) for struct in (self.system, self.state, self.record)]
        where = self.system._address, self.state._address
        advance = ADVANCE_STEPS if description.steps_in_time else ADVANCE
        # advance(steps) takes at most so many steps and returns a status of layout.py.
        self.advance: Callable[[int], int] = partial(_ADVANCE(int(self.system.blocks[advance])), *where, self.record._address)
        # update_gaps(t, PRESENT) computes state.gaps from state.y, (t, NEXT) state.new_gaps from state.new; returns a status.
        self.update_gaps: Callable[[float, int], int] = partial(_UPDATE_GAPS(int(self.system.blocks[UPDATE_GAPS])), *where)

    def reset(self) -> None:
        """Restore times, counts and limits to their values at the beginning of a run."""
        for struct, numbers in self._initial:
            struct.restore(numbers)

    def take_problem(self) -> BaseException | None:
        """The exception raised since the last call by the controller, or else by dynamics that run as Python; None: none."""
        careful = self._functions["careful"]
        problem, careful.problem = careful.problem, None
        return (self.callbacks.problem if self.callbacks else None) or problem


def _make_callbacks(description: Description) -> ControllerCallbacks | None:
    if description.controller is None:
        return None
    return ControllerCallbacks(description.controller, description.robot, description.switches, description.gravity, description.resistance)


def _c_functions(description: Description, parameters: bool) -> dict[str, Any]:
    """The robot's C functions by their names in Code. Gravity is an input of them: another one compiles nothing."""
    robot = description.robot
    functions = {
        "forward": c_function(robot, "forward_dynamics", None, parameters=parameters),
        "mass": c_function(robot, "mass_matrix", parameters=parameters),
        "bias": c_function(robot, "bias", None, parameters=parameters),
        "placements": c_function(robot, "placements"),
    }
    if robot.is_flexible:
        functions |= {"elastic": c_function(robot, "elastic"), "potential": c_function(robot, "potential_energy", None)}
    return functions


def _own_functions(description: Description, parameters: bool, callbacks: ControllerCallbacks | None) -> dict[str, Any]:
    """The functions of one program alone, as they keep the exceptions that are raised in them."""
    functions = {"careful": c_function(description.robot, "forward_dynamics", None, careful=True, parameters=parameters)}
    if callbacks is not None:
        functions |= {"control": callbacks.function, "switches": callbacks.switch_function, "sides": callbacks.side_function}
    return functions


def _has_constant_torque(description: Description) -> bool:
    """Whether nothing but a constant torque acts on the joints."""
    return not (description.is_controlled or description.resistance.any() or description.joint_friction or description.soil)


def _make_system(
    description: Description, candidates: Candidates, machine: Machine, code: Code, callbacks: ControllerCallbacks | None
) -> System:
    robot, tree, kernel = description.robot, machine.tree, machine.contacts
    nb, nq, nv, nc = len(robot.joints), robot.nq, robot.nv, len(candidates.points)
    parameters = robot.parameters.ravel() if machine.parameters else np.zeros(0)
    return System(
        tree=tree,
        contacts=candidates.contacts,
        surfaces=candidates.surfaces,
        blocks=machine.blocks,
        code=code,
        in_stages=description.in_stages,
        constant_torque=_has_constant_torque(description),
        q_rate_is_v=_q_rate_is_v(tree, nq),
        damping=description.resistance.copy(),
        torque=description.torque.copy(),
        mass=robot.mass.copy(),
        com=robot.centre_of_mass.copy(),
        constants=np.concatenate([description.gravity, parameters]),
        has_parameters=machine.parameters,
        remaining=kernel.remaining if kernel else np.zeros((0, 2), np.int64),
        moves=kernel.moves.copy() if kernel else np.zeros((0, 9)),
        tau=description.torque.copy(),
        **{name: np.zeros(nv) for name in ("b", "v", "a", "h")},
        q=np.zeros(nq),
        M=np.zeros((nv, nv)),
        T=np.zeros((nb, 12)),
        S=np.zeros((len(tree.iv), 6)),
        E=np.zeros(sum(6 * (joint.nv + 1) for joint in robot.joints if joint.beam is not None)),
        **{name: np.zeros((nb, 6)) for name in ("V", "A")},
        x=np.zeros(26),
        out=np.zeros(7),
        time=np.zeros(1),
        switches=np.zeros(callbacks.count if callbacks else 0),
        selected=np.zeros(nc, np.int64),
        **{name: np.zeros((nc, nv)) for name in ("J", "B")},
        **{name: np.zeros(nc) for name in ("gap", "rate", "accel", "u", "e", "lam")},
        K=np.zeros(nc * nc),
        friction=_friction(candidates, nv, description.steps_in_time or machine.friction),
        stepping=stepping_memory(tree, candidates.contacts, candidates.surfaces, description.steps_in_time),
        soil=soil_memory(description.wheels, description.soil, candidates.surfaces, nv),
    )


def _parts(steps_in_time: bool, friction: bool, soil: bool) -> tuple[str, ...]:
    """The parts of the driver that are needed."""
    under = ("soil",) if soil else ()
    if steps_in_time:
        return "rows", "stepping", *under
    return "rows", "flight", "events", *(("friction", "held") if friction else ()), *under


def _is_rough(candidates: Candidates) -> bool:
    """Whether a contact has friction."""
    return bool((candidates.contacts.friction[:, STATIC] > 0.0).any())


def _acts(candidates: Candidates) -> bool:
    """Whether a contact or a joint has friction."""
    return _is_rough(candidates) or candidates.touching < len(candidates.points)


def _friction(candidates: Candidates, nv: int, wanted: bool) -> Friction:
    """Working memory for contacts with friction; empty where it is not ``wanted``."""
    nc = len(candidates.points) if wanted else 0
    rows = 3 * nc
    problem = Problem(
        **{name: np.zeros(rows) for name in ("b", "p")},
        **{name: np.zeros(nc) for name in ("mu", "reach")},
        kind=np.zeros(nc, np.int64),
        at=np.zeros(nc + 1, np.int64),
        K=np.zeros(rows * rows),
        slide=np.zeros((nc, 2)),
    )
    return Friction(
        acts=_acts(candidates),
        rough=_is_rough(candidates),
        joints=candidates.touching,
        span=1.0,
        problem=problem,
        own=np.zeros(rows, np.int64),
        **{name: np.zeros(nc, np.int64) for name in ("mode", "member", "trial")},
        **{name: np.zeros((rows, nv)) for name in ("R", "B")},
        **{name: np.zeros(rows) for name in ("U", "W", "p", "b")},
        at=np.zeros(nc + 1, np.int64),
        D=np.zeros((rows, 3)),
        K=np.zeros(rows * rows),
        way=np.zeros((nc, 3)),
        slow=np.zeros(nc),
        lag=np.zeros(nc),
        ahead=np.zeros((nc, 2)),
        **{name: np.zeros((nc, 3)) for name in ("soft", "dual")},
        stop=np.zeros(nc),
        force=np.zeros((nc, 3)),
    )


def _q_rate_is_v(tree: Tree, nq: int) -> bool:
    """Whether every entry of q is the integral of the same entry of v."""
    return bool(
        len(tree.single) == nq
        and np.array_equal(np.sort(tree.single[:, 0]), np.arange(nq))
        and (tree.single[:, 0] == tree.single[:, 1]).all()
    )


def _make_state(description: Description, candidates: Candidates, system: System) -> State:
    robot, nc = description.robot, len(candidates.points)
    n, joints, places = robot.nq + robot.nv, robot.joints, candidates.contacts.place.reshape(-1, 2, 3)
    longest = np.linalg.norm(candidates.contacts.half.reshape(-1, 2, 3), axis=2).max(axis=1)
    turning = np.zeros((len(joints), 6))
    turning[:, DISTANCE] = np.linalg.norm(robot.placement[:, :3, 3], axis=1)
    turning[[i > 0 and joint.type == "planar" for i, joint in enumerate(joints)], DISTANCE] = (
        np.inf
    )  # a planar joint can carry its body anywhere
    turning[:, SLIDE] = [joint.iq if joint.type == "prismatic" else -1 for joint in joints]
    state = State(
        step_length=description.step if description.steps_in_time else FIRST_STEP,
        settled_at=-1.0,
        last_impact=-1.0,
        last_implicit=-1.0,
        counted_at=-np.inf,
        max_step=description.longest_step(candidates),
        tie=description.tie,
        zeno=description.zeno,
        cycle=description.cycle,
        controller_rate=description.rate,
        law=LAWS.index(description.law),
        impact_in_paradox=description.paradox == "impact",
        dense=description.dense,
        tolerance=np.array([description.rtol, description.atol]),
        trial=np.zeros(4),
        power=np.zeros(EXTENDED),
        table=np.zeros(len(TABLE), np.int64),
        **{name: np.zeros(n) for name in ("y", "new", "work")},
        K=np.zeros((EXTENDED, n)),
        F=np.zeros((POWERS, n)),
        **{name: np.zeros((nc, 5)) for name in ("gaps", "new_gaps")},
        **{name: np.zeros(nc, np.int64) for name in ("held", "mode", "suspects", "closed")},
        **{name: np.zeros(nc) for name in ("force", "bounce_ends", "last_struck")},
        turning=turning,
        farthest_point=(np.linalg.norm(places, axis=2).max(axis=1) + candidates.contacts.rim[:, 3] + longest).max(initial=0.0),
    )
    state.gaps[candidates.touching :, [GAP, GRADIENT]] = state.new_gaps[candidates.touching :, [GAP, GRADIENT]] = 1.0
    inputs = {name: getattr(system, name).ctypes.data for name in ("tau", "constants")}
    arrays = {name: getattr(state, name).ctypes.data for name in TABLE if name != "forward" and name not in inputs}
    addresses = {"forward": system.code.forward, **inputs, **arrays}
    state.table[:] = [addresses[name] for name in TABLE]
    return state


def _make_record(robot: Robot, contacts: int, dense: bool, rough: int) -> Record:
    n, struck, changes = robot.nq + robot.nv, max(2 * IMPACTS, 20 * contacts), max(IMPACTS, 4 * contacts + 8)
    return Record(
        t=np.empty(ROWS),
        y=np.empty((ROWS, n)),
        F=np.empty((ROWS if dense else 0, POWERS, n)),
        force=np.empty((ROWS, contacts)),
        work=np.empty(ROWS),
        friction=np.empty((ROWS, 3 * rough)),
        impact_y=np.empty((IMPACTS, n)),
        impact_v=np.empty((IMPACTS, robot.nv)),
        impact_counts=np.empty((IMPACTS, 4), np.int64),
        impact_numbers=np.empty((IMPACTS, IMPACT_WIDTH)),
        contact=np.empty(struck, np.int64),
        contact_numbers=np.empty((struck, CONTACT_WIDTH)),
        change_contact=np.empty(changes, np.int64),
        mode=np.zeros(contacts, np.int64),
        change_mode=np.empty(changes, np.int64),
        change_time=np.empty(changes),
        change_accumulation=np.empty(changes),
    )
