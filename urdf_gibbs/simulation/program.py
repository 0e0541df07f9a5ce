"""A description made ready to run: the robot's machine code, the driver's, and room for them to work in."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.contact.kinematics import Tree, tree_of
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.own_contacts import own_contacts
from urdf_gibbs.engine.jit import block_addresses
from urdf_gibbs.engine.kernel import c_function
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation import driver as driver  # so that its blocks are known
from urdf_gibbs.simulation.controlled import Controlled
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.dop853 import EXTENDED, POWERS
from urdf_gibbs.simulation.layout import ADVANCE, BLOW_WIDTH, CONTACTS, DISTANCE, PART_WIDTH, SLIDE, Code, Record, State, System
from urdf_gibbs.simulation.own_step import TABLE, own_step

Array = NDArray[np.float64]

ROWS, BLOWS = 512, 256  # of the record that is handed over at once
FIRST_STRIDE = 1e-3  # s
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_LOOK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64)


class Program:
    """``advance`` goes on from ``state`` and writes to ``record``; one run at a time."""

    def __init__(self, description: Description, found: Candidates) -> None:
        self.controlled = _controlled(description)
        self._functions = _functions(description, self.controlled)
        self.system = _system(description, found, _code(description, self._functions), self.controlled)
        self.state = _state(description, found, self.system)
        self.record = _record(description.robot, len(found.points), description.dense)
        self._beginning = [(one, one.numbers()) for one in (self.system, self.state, self.record)]
        where = self.system._address, self.state._address
        # advance(steps) goes on, for so many steps at most; a status of layout.py.
        self.advance: Callable[[int], int] = partial(_ADVANCE(int(self.system.blocks[ADVANCE])), *where, self.record._address)
        # see_contacts(t, PRESENT) finds the gaps of state.y for state.gaps, (t, NEXT) those of state.new for state.after; a status.
        self.see_contacts: Callable[[float, int], int] = partial(_LOOK(int(self.system.blocks[CONTACTS])), *where)

    def reset(self) -> None:
        """Times, counts and limits as they are at the beginning of a run."""
        for one, numbers in self._beginning:
            one.restore(numbers)

    def take_problem(self) -> BaseException | None:
        """What has gone wrong in the controller, or else in dynamics that are Python, since this was last asked."""
        careful = self._functions["careful"]
        problem, careful.problem = careful.problem, None
        return (self.controlled.problem if self.controlled else None) or problem


def _controlled(description: Description) -> Controlled | None:
    if description.controller is None:
        return None
    return Controlled(description.controller, description.robot, description.switches, description.gravity, description.resistance)


def _functions(description: Description, controlled: Controlled | None) -> dict[str, Any]:
    """The robot's C functions by their names in Code, to be kept as long as they are called."""
    robot, (x, y, z) = description.robot, description.gravity.tolist()
    gravity = (x, y, z)
    found = {
        "forward": c_function(robot, "forward_dynamics", gravity),
        "careful": c_function(robot, "forward_dynamics", gravity, careful=True),
        "mass": c_function(robot, "mass_matrix"),
        "bias": c_function(robot, "bias", gravity),
        "placements": c_function(robot, "placements"),
    }
    if robot.is_flexible:
        found |= {"elastic": c_function(robot, "elastic"), "potential": c_function(robot, "potential_energy", gravity)}
    if controlled is not None:
        found |= {"control": controlled.function, "switches": controlled.switch_function, "sides": controlled.side_function}
    return found


def _code(description: Description, functions: dict[str, Any]) -> Code:
    addresses = {name: ctypes.cast(function, ctypes.c_void_p).value or 0 for name, function in functions.items()}
    if _is_alone(description):
        own = own_step(description.robot)
        addresses |= {name: own.address(name) for name in ("step", "dense")}
    return Code(**addresses)


def _is_alone(description: Description) -> bool:
    """Whether nothing but a constant torque acts."""
    return not (description.is_controlled or description.resistance.any())


def _system(description: Description, found: Candidates, code: Code, controlled: Controlled | None) -> System:
    robot, tree, kernel = description.robot, tree_of(description.robot), own_contacts(description.robot, found.contacts, found.surfaces)
    nb, nq, nv, nc = len(robot.joints), robot.nq, robot.nv, len(found.points)
    code.contacts = kernel.code.address("contacts") if kernel else 0
    return System(
        tree=tree,
        contacts=found.contacts,
        surfaces=found.surfaces,
        blocks=np.array(block_addresses(), dtype=np.int64),
        code=code,
        in_stages=description.in_stages,
        alone=_is_alone(description),
        flat=_is_flat(tree, nq),
        damping=description.resistance.copy(),
        torque=description.torque.copy(),
        mass=robot.mass.copy(),
        com=robot.centre_of_mass.copy(),
        gravity=description.gravity.copy(),
        rest=kernel.rest if kernel else np.zeros((0, 2), np.int64),
        moves=kernel.moves if kernel else np.zeros((0, 9)),
        tau=description.torque.copy(),
        **{name: np.zeros(nv) for name in ("b", "v", "a", "h")},
        q=np.zeros(nq),
        M=np.zeros((nv, nv)),
        T=np.zeros((nb, 12)),
        S=np.zeros((len(tree.iv), 6)),
        E=np.zeros(sum(6 * (joint.nv + 1) for joint in robot.joints if joint.beam is not None)),
        **{name: np.zeros((nb, 6)) for name in ("V", "A")},
        x=np.zeros(24),
        out=np.zeros(7),
        time=np.zeros(1),
        switches=np.zeros(controlled.count if controlled else 0),
        which=np.zeros(nc, np.int64),
        **{name: np.zeros((nc, nv)) for name in ("J", "B")},
        **{name: np.zeros(nc) for name in ("gap", "rate", "rise", "u", "e", "lam")},
        K=np.zeros(nc * nc),
    )


def _is_flat(tree: Tree, nq: int) -> bool:
    """Whether every entry of q is the integral of the same entry of v."""
    return bool(
        len(tree.single) == nq
        and np.array_equal(np.sort(tree.single[:, 0]), np.arange(nq))
        and (tree.single[:, 0] == tree.single[:, 1]).all()
    )


def _state(description: Description, found: Candidates, system: System) -> State:
    robot, nc = description.robot, len(found.points)
    n, joints, places = robot.nq + robot.nv, robot.joints, found.contacts.place.reshape(-1, 2, 3)
    turning = np.zeros((len(joints), 6))
    turning[:, DISTANCE] = np.linalg.norm(robot.placement[:, :3, 3], axis=1)
    turning[[i > 0 and joint.type == "planar" for i, joint in enumerate(joints)], DISTANCE] = np.inf  # it can be anywhere
    turning[:, SLIDE] = [joint.iq if joint.type == "prismatic" else -1 for joint in joints]
    state = State(
        stride=FIRST_STRIDE,
        settled=-1.0,
        struck=-1.0,
        counted=-np.inf,
        longest=description.longest_step(found),
        tie=description.tie,
        zeno=description.zeno,
        cycle=description.cycle,
        rate=description.rate,
        law=LAWS.index(description.law),
        dense=description.dense,
        tolerance=np.array([description.rtol, description.atol]),
        trial=np.zeros(2),
        table=np.zeros(len(TABLE), np.int64),
        **{name: np.zeros(n) for name in ("y", "new", "work")},
        K=np.zeros((EXTENDED, n)),
        F=np.zeros((POWERS, n)),
        **{name: np.zeros((nc, 5)) for name in ("gaps", "after")},
        **{name: np.zeros(nc, np.int64) for name in ("held", "how", "suspects", "closed")},
        **{name: np.zeros(nc) for name in ("force", "spare", "ends", "last")},
        turning=turning,
        farthest=np.linalg.norm(places, axis=2).max(initial=0.0),
    )
    arrays = {name: getattr(state, name).ctypes.data for name in TABLE if name not in ("forward", "tau")}
    addresses = {"forward": system.code.forward, "tau": system.tau.ctypes.data, **arrays}
    state.table[:] = [addresses[name] for name in TABLE]
    return state


def _record(robot: Robot, contacts: int, dense: bool) -> Record:
    n, parts, turns = robot.nq + robot.nv, max(2 * BLOWS, 4 * contacts), max(BLOWS, 4 * contacts + 8)
    return Record(
        t=np.empty(ROWS),
        y=np.empty((ROWS, n)),
        F=np.empty((ROWS if dense else 0, POWERS, n)),
        force=np.empty((ROWS, contacts)),
        blow_y=np.empty((BLOWS, n)),
        blow_v=np.empty((BLOWS, robot.nv)),
        blow_counts=np.empty((BLOWS, 4), np.int64),
        blow_numbers=np.empty((BLOWS, BLOW_WIDTH)),
        part=np.empty(parts, np.int64),
        part_numbers=np.empty((parts, PART_WIDTH)),
        turn_contact=np.empty(turns, np.int64),
        turn_begins=np.empty(turns, np.int64),
        turn_t=np.empty(turns),
        turn_ends=np.empty(turns),
    )
