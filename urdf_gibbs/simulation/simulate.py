"""Hybrid simulation: flight by an integrator of order 8, impacts by a law, rest by constrained flight."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import triple, vector, within
from urdf_gibbs.contact.candidates import Candidates, candidates
from urdf_gibbs.contact.kinematics import Tree, tree_of
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.own_contacts import own_contacts
from urdf_gibbs.contact.points import PointLike, resolve_pairs, resolve_points
from urdf_gibbs.contact.surfaces import FUNCTION, IMPLICIT, MOVES
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.engine.jit import OUT_OF_MEMORY, block_addresses
from urdf_gibbs.engine.kernel import c_function, kernel
from urdf_gibbs.errors import ArgumentError, PenetrationError, SimulationError, UnknownNameError, UrdfGibbsError
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation import driver
from urdf_gibbs.simulation.controlled import Controlled, Controller
from urdf_gibbs.simulation.dop853 import EXTENDED, POWERS
from urdf_gibbs.simulation.flight import (
    ACCEPTED,
    ADVANCE,
    BAD_WALL,
    CHATTER,
    CONTACTS,
    CONTROLLER,
    CRAWLING,
    CYCLES,
    END,
    FORWARD,
    IMPACTS,
    JAMMED,
    NOT_FINITE,
    NOT_LANDED,
    OK,
    REJECTED,
    REPORT,
    SINGULAR,
    TIME,
    UNDERFLOW,
    State,
    System,
)
from urdf_gibbs.simulation.log import Log
from urdf_gibbs.simulation.own_step import TABLE, own_step
from urdf_gibbs.simulation.trajectory import Impact, Trajectory, plain
from urdf_gibbs.walls import Drift, Vibration, Wall, described

Array = NDArray[np.float64]
Progress = Callable[[float, int], None]

DEEP = 1e-9  # m: how far inside a wall a simulation may start, by rounding
QUATERNION = 1e-6
ROWS, BLOWS = 512, 256  # of the record that is handed over at once
LOOK_EVERY = 0.1  # s between two looks at Ctrl-C
SINGULAR_FROM = 1e-12  # an eigenvalue of M, scaled to a unit diagonal: below this accelerations have few right digits
SMALL = 100  # velocities: 512 steps take some hundredths of a second at most
LISTED = 6  # contacts in an error
RADIANS_PER_STEP = 0.5  # of a vibrating wall
PLAIN = frozenset((bool, int, float, str, type(None)))
REASONS = {
    SINGULAR: "the mass matrix is singular here",
    NOT_FINITE: "the acceleration is not finite",
    UNDERFLOW: "the step has become too small: the motion is not smooth here, or the tolerance is below rounding",
    BAD_WALL: "a gap is not finite",
    CONTROLLER: "the controller failed",
    JAMMED: "no motion exists from here: opposing contacts close in on each other",
    CHATTER: f"{driver.COUNTED_BLOWS} impacts in less than as many times zeno, the contacts struck and how often",
    OUT_OF_MEMORY: "there is not enough memory",
    NOT_LANDED: "no step ends on the wall that is about to be met: the gap is not continuous here, or the tolerance is below rounding",
    CRAWLING: "300 steps have hardly moved time: the controller is not continuous here, and is called in each stage of each step. "
    "Call it at a rate (controller_rate=), or declare where it switches (switches=)",
}
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_LOOK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64)


class Simulator:
    """A robot, what it can touch and by which law, made ready once; ``run`` simulates from a start. The arguments are simulate's."""

    def __init__(
        self,
        robot: Robot,
        *,
        walls: Wall | Iterable[Wall] = (),
        law: str = "newton",
        restitution: float = 1.0,
        gravity: ArrayLike = EARTH_GRAVITY,
        points: str | Iterable[PointLike] | None = None,
        pairs: Iterable[Sequence[Any]] = (),
        joint_limits: bool = False,
        damping: bool = False,
        controller: Controller | None = None,
        controller_rate: float | None = None,
        switches: Controller | None = None,
        torque: ArrayLike | None = None,
        rtol: float = 1e-10,
        atol: float = 1e-10,
        max_step: float = np.inf,
        tie: float = 1e-8,
        zeno: float = 1e-6,
        cycle: float = 2e-3,
        resolution: float = 1e-3,
        dense: bool = True,
        memory: float = 2e9,
    ) -> None:
        if law not in LAWS:
            raise UnknownNameError("impact law", law, LAWS)
        if not robot.nv:
            raise ArgumentError(f"{robot.name or 'the robot'} has no joint that moves: there is nothing to simulate")
        self.restitution = within(restitution, 0.0, 1.0, "restitution")
        for name, value in {
            "rtol": rtol,
            "atol": atol,
            "max_step": max_step,
            "zeno": zeno,
            "resolution": resolution,
            "memory": memory,
        }.items():
            if not within(value, 0.0, np.inf, name) > 0.0:
                raise ArgumentError(f"{name}={value!r}, expected more than 0")
        within(tie, 0.0, 1e-3, "tie")
        within(cycle, 0.0, np.inf, "cycle")
        if controller is not None and not callable(controller):
            raise ArgumentError(f"controller={controller!r}, expected a function of (t, q, v) or None")
        if controller is not None and torque is not None:
            raise ArgumentError("torque and controller are both given, expected one: a controller returns all that acts on the joints")
        if controller_rate is not None and not 0.0 < within(controller_rate, 0.0, np.inf, "controller_rate") < np.inf:
            raise ArgumentError(f"controller_rate={controller_rate!r}, expected calls per second, or None: in each stage of each step")
        if switches is not None and (not callable(switches) or controller is None or controller_rate is not None):
            raise ArgumentError(
                f"switches={switches!r}, expected a function of (t, q, v), with a controller(t, q, v, sides) that is called without a rate"
            )
        self.robot, self.gravity, self.law = robot, np.array(triple(gravity, "gravity")), law
        self.walls = (walls,) if isinstance(walls, Wall) else tuple(walls) if isinstance(walls, Iterable) else (walls,)
        self.points = resolve_points(robot, points) if self.walls or points is not None else ()
        if self.walls and not self.points:
            raise ArgumentError(f"{robot.name or 'the robot'} has no moving joint origin and no tip to touch a wall; expected points=")
        self._candidates = candidates(
            robot, self.walls, self.points, resolve_pairs(robot, self.points, pairs), joint_limits, self.restitution, resolution
        )
        self._torque = vector(np.zeros(robot.nv) if torque is None else torque, robot.nv, "torque")
        resistance = _resistance(robot) if damping else np.zeros(robot.nv)
        self._controller = Controlled(controller, robot, switches, self.gravity, resistance) if controller is not None else None
        self._blocks = np.array(block_addresses(), dtype=np.int64)
        self._system = self._made(resistance, controller is not None, controller is not None and controller_rate is None)
        longest = min(max_step, _longest_step(self._candidates, self.walls, resolution))
        self._limits = {"rtol": rtol, "atol": atol, "longest_step": longest, "tie": tie, "zeno": zeno, "duration": 0.0}
        self._limits["controller_rate"] = controller_rate if controller is not None and controller_rate is not None else 0.0
        self._limits["cycle"] = cycle
        self._dense, self._memory = bool(dense), memory
        self._described = self._plain_settings()
        self._state, self._record = self._rooms()
        self._advance = _ADVANCE(int(self._system.blocks[ADVANCE]))
        self._see_contacts = _LOOK(int(self._system.blocks[CONTACTS]))
        self._report = _LOOK(int(self._system.blocks[REPORT]))
        self._lock = threading.Lock()
        self._owner: threading.Thread | None = None
        _made.add(self)
        self._names = self._candidates.names
        self._moving = np.array([self._moves(c) for c in range(len(self._candidates.points))], dtype=bool)

    def _made(self, resistance: Array, controlled: bool, in_stages: bool) -> System:
        robot, found = self.robot, self._candidates
        nb, nq, nv, nc = len(robot.joints), robot.nq, robot.nv, len(found.points)
        gravity = tuple(self.gravity)
        self._code = [
            c_function(robot, "forward_dynamics", gravity),
            c_function(robot, "forward_dynamics", gravity, careful=True),
            c_function(robot, "mass_matrix"),
            c_function(robot, "bias", gravity),
            c_function(robot, "placements"),
            self._controller.function if self._controller else None,
            c_function(robot, "elastic") if robot.is_flexible else None,
            c_function(robot, "potential_energy", gravity) if robot.is_flexible else None,
            self._controller.switch_function if self._controller else None,
            self._controller.side_function if self._controller else None,
        ]
        addresses = [0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0 for function in self._code]
        tree = tree_of(robot)
        alone = not (in_stages or resistance.any() or controlled)  # nothing but a constant torque acts
        step, kernel = own_step(robot) if alone else None, own_contacts(robot, found.contacts, found.surfaces)
        addresses += [step.address("step"), step.address("dense")] if step else [0, 0]
        addresses += [kernel.code.address("contacts") if kernel else 0]
        return System(
            tree=tree,
            contacts=found.contacts,
            surfaces=found.surfaces,
            blocks=self._blocks,
            code=np.array(addresses, dtype=np.int64),
            in_stages=np.array([in_stages], np.int64),
            plain=np.array([alone, _is_plain(tree, nq)], np.int64),
            damping=resistance,
            torque=self._torque.copy(),
            mass=robot.mass.copy(),
            com=robot.com.copy(),
            gravity=self.gravity,
            rest=kernel.rest if kernel else np.zeros((0, 2), np.int64),
            moves=kernel.moves if kernel else np.zeros((0, 9)),
            tau=self._torque.copy(),
            b=np.zeros(nv),
            q=np.zeros(nq),
            v=np.zeros(nv),
            a=np.zeros(nv),
            h=np.zeros(nv),
            M=np.zeros((nv, nv)),
            T=np.zeros((nb, 12)),
            S=np.zeros((len(tree.iv), 6)),
            E=np.zeros(sum(6 * (joint.nv + 1) for joint in robot.joints if joint.beam is not None)),
            V=np.zeros((nb, 6)),
            A=np.zeros((nb, 6)),
            x=np.zeros(24),
            out=np.zeros(7),
            count=np.zeros(1, np.int64),
            least=np.zeros(1),
            time=np.zeros(1),
            switches=np.zeros(self._controller.count if self._controller else 0),
            which=np.zeros(nc, np.int64),
            J=np.zeros((nc, nv)),
            B=np.zeros((nc, nv)),
            **{name: np.zeros(nc) for name in ("gap", "rate", "rise", "u", "e", "lam")},
            K=np.zeros(nc * nc),
            seen=np.zeros((nc, 14)),
            energies=np.zeros(3),
        )

    def _rooms(self) -> tuple[State, driver.Record]:
        """Room for the state and the record of a run."""
        nv, n, nc = self.robot.nv, self.robot.nq + self.robot.nv, len(self._candidates.points)
        joints, places = self.robot.joints, self._candidates.contacts.place.reshape(-1, 2, 3)
        turning = np.zeros((len(joints), 6))
        turning[:, 4] = np.linalg.norm(self.robot.placement[:, :3, 3], axis=1)
        turning[[i > 0 and joint.type == "planar" for i, joint in enumerate(joints)], 4] = np.inf  # it can be anywhere
        turning[:, 5] = [joint.iq if joint.type == "prismatic" else -1 for joint in joints]
        state = State(
            clock=np.zeros(6),
            count=np.zeros(13, np.int64),
            limits=np.array([*self._limits.values()], dtype=float),
            choice=np.array([LAWS.index(self.law), self._dense], np.int64),
            trial=np.zeros(2),
            table=np.zeros(len(TABLE), np.int64),
            **{name: np.zeros(n) for name in ("y", "new", "work")},
            K=np.zeros((EXTENDED, n)),
            F=np.zeros((POWERS, n)),
            **{name: np.zeros((nc, 5)) for name in ("gaps", "after")},
            **{name: np.zeros(nc, np.int64) for name in ("held", "how", "suspects", "closed")},
            **{name: np.zeros(nc) for name in ("force", "spare", "ends", "last")},
            taken=np.zeros(1),
            turning=turning,
            extent=np.array([0.0, 0.0, np.linalg.norm(places, axis=2).max(initial=0.0)]),
            watch=np.zeros(2),
        )
        fields = {name: getattr(state, name).ctypes.data for name in TABLE if name not in ("forward", "tau")}
        addresses = {"forward": self._system.code[FORWARD], "tau": self._system.tau.ctypes.data, **fields}
        state.table[:] = [addresses[name] for name in TABLE]
        parts, turns = max(2 * BLOWS, 4 * nc), max(BLOWS, 4 * nc + 8)
        record = driver.Record(
            filled=np.zeros(4, np.int64),
            t=np.empty(ROWS),
            y=np.empty((ROWS, n)),
            F=np.empty((ROWS if self._dense else 0, POWERS, n)),
            force=np.empty((ROWS, nc)),
            blow_t=np.empty(BLOWS),
            blow_y=np.empty((BLOWS, n)),
            blow_v=np.empty((BLOWS, nv)),
            blow_size=np.empty((BLOWS, 4), np.int64),
            blow_certificate=np.empty(BLOWS),
            part=np.empty(parts, np.int64),
            part_impulse=np.empty(parts),
            part_restitution=np.empty(parts),
            turn=np.empty((turns, 2), np.int64),
            turn_t=np.empty((turns, 2)),
        )
        return state, record

    def _moves(self, contact: int) -> bool:
        """Whether the contact's wall moves and can do work."""
        found = self._candidates
        return found.contacts.kind[contact] == 0 and bool(found.surfaces.whole[found.contacts.surface[contact], MOVES])

    def run(self, q0: ArrayLike, v0: ArrayLike | None, duration: float, progress: Progress | None = None) -> Trajectory:
        """Simulate from q0 (nq,), v0 (nv,) (None: at rest) for ``duration`` [s]; progress(t, impacts) is called now and then.

        A Simulator runs one simulation at a time: threads wait for each other, and a controller cannot call its own simulator.
        """
        with self._alone():
            return self._run(q0, v0, duration, progress)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While others wait."""
        if threading.current_thread() is self._owner:
            raise ArgumentError("this Simulator is running already; expected another Simulator inside of its controller")
        with self._lock:
            self._owner = threading.current_thread()
            try:
                yield
            finally:
                self._owner = None

    def _run(self, q0: ArrayLike, v0: ArrayLike | None, duration: float, progress: Progress | None) -> Trajectory:
        robot, s = self.robot, self._system
        q, v, duration = _checked_start(robot, q0, v0, duration)
        state = self._start(q, v, duration)
        log = Log(self)
        s.count[0], s.torque[:], s.tau[:] = 0, self._torque, self._torque
        self._candidates.callbacks.error = None
        if self._controller:
            self._controller.problem = None
        started, advance = clock.perf_counter(), self._advance
        addresses = s._address, state._address, log.record._address
        asks = self._controller is not None or bool(self._candidates.callbacks.functions)
        status, steps, interrupted = driver.PAUSED, 16 if asks else 512, []
        if not asks and robot.nv <= SMALL:  # a run as short as that ends by an exception where somebody presses Ctrl-C
            status = advance(*addresses, steps)
            log.take()
        if status == driver.PAUSED:
            with Interruptible() as interrupted:
                if self._controller:
                    self._controller.interrupted = interrupted
                while status == driver.PAUSED and not interrupted:
                    before, done = clock.perf_counter(), _tried(state)
                    status = advance(*addresses, steps)
                    log.take()
                    took = clock.perf_counter() - before
                    tried = max(1, _tried(state) - done)  # the record may have been full sooner
                    steps = int(min(1_000_000, max(16, min(4.0 * steps, tried * 0.5 * LOOK_EVERY / max(took, 1e-9)))))
                    if progress is not None:
                        progress(float(state.clock[TIME]), int(state.count[IMPACTS]))
        if progress is not None:
            progress(float(state.clock[TIME]), int(state.count[IMPACTS]))
        count = state.count.tolist()
        statistics = {
            "steps": count[ACCEPTED],
            "rejected": count[REJECTED],
            "evaluations": int(s.count[0]),
            "impacts": count[IMPACTS],
            "cycles": count[CYCLES],
            "energy_at_rest": float(state.taken[0]),
            "seconds": clock.perf_counter() - started,
        }
        if status in (driver.FINISHED, driver.PAUSED):
            return log.trajectory("complete" if status == driver.FINISHED else "interrupted", statistics, duration)
        time = float(state.clock[TIME])
        cause = self._cause(status, state)
        if isinstance(cause, KeyboardInterrupt):
            return log.trajectory("interrupted", statistics, duration)
        reason = self._reason(status, cause, log)
        trajectory = log.trajectory(f"failed: {reason}", statistics, duration)
        raise SimulationError(reason, time, state.y[: robot.nq].copy(), state.y[robot.nq :].copy(), trajectory) from cause

    def _reason(self, status: int, cause: BaseException | None, log: Log) -> str:
        """What is the matter, in a sentence."""
        names = self._candidates.names
        if status == JAMMED:
            return f"{REASONS[status]}: {_listed([names[c] for c in np.flatnonzero(self._state.closed)])}"
        if status == CHATTER:
            struck = log.struck_lately(driver.COUNTED_BLOWS)
            advice = "expected a longer zeno or cycle, a smaller restitution, or walls and limits that leave room between them"
            return f"{REASONS[status]}: {_listed([f'{names[c]} ({n})' for c, n in struck])}; {advice}"
        if status == UNDERFLOW and self._all_but_singular():
            return f"{REASONS[SINGULAR]}, or all but singular: {_listed(self._all_but_singular())}"
        return f"{REASONS[status]}{f' ({type(cause).__name__}: {cause})' if cause is not None else ''}"

    def _all_but_singular(self) -> list[str]:
        """The velocities that hardly meet any inertia in the present state."""
        M = kernel(self.robot, "mass_matrix")(self._state.y[: self.robot.nq].copy())
        scale = np.sqrt(np.diag(M))
        least, vectors = np.linalg.eigh(M / np.outer(scale, scale))
        sizes = np.abs(vectors[:, 0])
        return [self.robot.velocity_names[i] for i in np.flatnonzero(sizes > 0.1 * sizes.max())] if least[0] < SINGULAR_FROM else []

    def _start(self, q: Array, v: Array, duration: float, time: float = 0.0) -> State:
        robot, found = self.robot, self._candidates
        state = self._state
        state.clock[:] = time, 1e-3, 0.0, -1.0, -1.0, -np.inf
        state.count[:] = 0
        state.limits[END] = duration
        state.y[: robot.nq], state.y[robot.nq :] = q, v
        state.K[0] = 0.0
        state.turning[:, :4] = 0.0
        state.extent[0] = 0.0
        state.watch[:] = 0.0
        self._record.filled[:] = 0
        state.taken[:] = 0.0
        if found.points:
            state.held[:] = 0
            state.force[:] = 0.0
            state.last[:] = -np.inf
            self._see_contacts(self._system._address, state._address, time, 0)
            found.callbacks.raise_error()
            if state.gaps[:, 0].min() < 0.0 and (state.gaps[:, 0] < -DEEP * state.gaps[:, 3]).any():
                gap = state.gaps[:, 0] / state.gaps[:, 3]
                deep = np.flatnonzero(gap < -DEEP)
                raise PenetrationError([(found.points[c], found.walls[c], float(-gap[c])) for c in deep[np.argsort(gap[deep])]])
        return state

    def _cause(self, status: int, state: State) -> BaseException | None:
        kept = [self._candidates.callbacks.error, self._controller.problem if self._controller else None, self._code[1].problem]
        self._code[1].problem = None
        found = next((problem for problem in kept if problem is not None), None)
        if status == SINGULAR:
            try:  # which joints?
                q, v = state.y[: self.robot.nq].copy(), state.y[self.robot.nq :].copy()
                kernel(self.robot, "forward_dynamics", gravity=self.gravity)(q, v, np.zeros(self.robot.nv))
            except UrdfGibbsError as problem:
                return problem
        return found

    def impact(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Impact | None:
        """The impact of what touches and approaches in this state, now; None where nothing does."""
        with self._alone():
            return self._impact(vector(q, self.robot.nq, "q"), vector(v, self.robot.nv, "v"), time)

    def _impact(self, q: Array, v: Array, time: float) -> Impact | None:
        state = self._start(q, v, 0.0, time)
        log = Log(self)
        driver.write_row(log.record, state, False)
        status = driver.strike(self._system, state, log.record, -1)
        log.take()
        if status != OK:
            cause = self._cause(status, state)
            reason, nq = self._reason(status, cause, log), self.robot.nq
            raise SimulationError(
                reason, time, state.y[:nq].copy(), state.y[nq:].copy(), log.trajectory(f"failed: {reason}", {}, 0.0)
            ) from cause
        return log.impact(0) if log.impacts else None

    def _plain_settings(self) -> dict[str, Any]:
        """The settings as plain values."""
        points = [{"name": p.name, "link": p.link, "body": p.body, "position": p.position, "radius": p.radius} for p in self.points]
        walls = [described(wall) for wall in self.walls]
        return dict(plain({**self._limits, "law": self.law, "restitution": self.restitution, "walls": walls, "points": points}))


def simulate(
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike | None,
    duration: float,
    walls: Wall | Iterable[Wall] = (),
    law: str = "newton",
    restitution: float = 1.0,
    controller: Controller | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Trajectory:
    """Simulate a robot from q0 (nq,), v0 (nv,) (None: at rest) for ``duration`` [s].

    walls: walls of urdf_gibbs.walls, one or several; law: "newton", "newton-equality" or "poisson"; restitution in [0, 1] where a
    wall has none of its own; gravity (3,). points: what can touch, by default the joint origins and tips (contact/points.py);
    pairs of points that can touch each other; joint_limits, damping: whether those of the URDF's joints act. torque (nv,) is constant;
    controller(t, q, v) -> (nv,) is called ``controller_rate`` times a second and its answer kept in between, or in each stage
    of each step without a rate. Where it is not continuous, switches(t, q, v) -> (k,) are smooth values whose signs say on which side
    it is: then it is called as controller(t, q, v, sides), sides (k,) being 1 or -1, and every step ends where a sign changes. A switch
    to which both sides drive the motion back, such as v of dry friction at rest, is slid along. rtol, atol: of the integrator, for each
    step; max_step [s].

    tie [s]: contacts that would close within this time of each other, at the velocities before or after, are solved together.
    zeno [s]: a bounce shorter than this is the last, then the contact holds. cycle [s]: where contacts of restitution below 1 hand blows
    to each other within this time, a bounce shorter than it is the last, and what rests stays where it would be lifted for less;
    0 for every blow as it is, however many. The energy that this takes is told in ``statistics["energy_at_rest"]`` [J].
    resolution [s]: what happens faster on a wall that is a Python function may be missed. dense: keep the interpolant of each step.
    memory [bytes]: rows that would take more lose their interpolants, then every other row in flight; all impacts are kept, and
    ``statistics`` tells "bytes" and how often the rows were "thinned". progress(t, impacts) is called now and then.

    Ctrl-C ends the run and returns what there is, with status "interrupted". Raises PenetrationError where the start is inside a
    wall, SimulationError with the trajectory so far where the motion cannot go on.
    """
    options = {"walls": walls, "law": law, "restitution": restitution, "controller": controller, **options}
    start = _checked_start(robot, q0, v0, duration)  # before anything is compiled
    return _simulator(robot, options).run(*start, progress)


_made: WeakSet[Simulator] = WeakSet()
SIMULATORS: Shelf[tuple[tuple[str, Any], ...], Simulator] = Shelf(most=8)  # by their options


def _begin_child() -> None:
    """A forked process may inherit a simulator while another thread, which it does not have, runs it."""
    for simulator in _made:
        simulator._lock, simulator._owner = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


def _simulator(robot: Robot, options: dict[str, Any]) -> Simulator:
    """A Simulator for these options; the last few without functions of the user's in them are kept with the robot."""
    try:
        key = tuple((name, _hashable(value)) for name, value in sorted(options.items()))
        hash(key)
    except TypeError:
        return Simulator(robot, **options)
    return SIMULATORS.get(robot, key, lambda: Simulator(robot, **options))


def _hashable(value: Any) -> Any:
    """What a value is, in hashable form; TypeError for functions, which may answer differently the next time."""
    kind: Any = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple or kind is list:
        return tuple([entry if type(entry) in PLAIN else _hashable(entry) for entry in value])
    if callable(value):
        raise TypeError
    if isinstance(value, Wall | Vibration | Drift):
        return kind, tuple([_hashable(getattr(value, name)) for name in _field_names(kind)])
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return tuple([_hashable(entry) for entry in value]) if isinstance(value, list | tuple) else value


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _tried(state: State) -> int:
    """Steps and impacts so far."""
    count: list[int] = state.count.tolist()
    return count[ACCEPTED] + count[REJECTED] + count[IMPACTS]


def _listed(names: list[str]) -> str:
    """The first few."""
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def _checked_start(robot: Robot, q0: ArrayLike, v0: ArrayLike | None, duration: float) -> tuple[Array, Array, float]:
    """The start and the duration of a run as it takes them."""
    q = vector(q0, robot.nq, "q0")
    v = vector(np.zeros(robot.nv) if v0 is None else v0, robot.nv, "v0")
    duration = within(duration, 0.0, np.inf, "duration")
    if duration == np.inf:
        raise ArgumentError("duration=inf, expected a finite number of seconds")
    floating = robot.joints if robot.nq != robot.nv else ()  # they alone have more positions than velocities
    quaternions = [joint.iq + 3 for joint in floating if joint.type == "floating" and not joint.is_mimic]
    if any(abs(math.hypot(*q[k : k + 4].tolist()) - 1.0) > QUATERNION for k in quaternions):
        joint, off = quaternion_error(robot.joints, q)
        raise ArgumentError(f"the quaternion of joint {joint!r} in q0 has a norm off by {off:.3g}, expected 1 (order x y z w)")
    return q, v, duration


def _is_plain(tree: Tree, nq: int) -> bool:
    """Whether every entry of q is the integral of the same entry of v."""
    return bool(
        len(tree.single) == nq
        and np.array_equal(np.sort(tree.single[:, 0]), np.arange(nq))
        and (tree.single[:, 0] == tree.single[:, 1]).all()
    )


class Interruptible:
    """``with``: Ctrl-C fills the list instead of raising; a second one raises. Only where Python's own handler is at work."""

    def __enter__(self) -> list[int]:
        self._caught: list[int] = []
        main = threading.get_ident() == threading.main_thread().ident
        self._mine = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._mine:
            signal.signal(signal.SIGINT, self._note)
        return self._caught

    def __exit__(self, *problem: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: Any) -> None:
        if self._caught:
            raise KeyboardInterrupt
        self._caught.append(number)


def _resistance(robot: Robot) -> Array:
    """Damping (nv,) of the URDF's joints."""
    resistance = np.zeros(robot.nv)
    for joint in robot.joints:
        resistance[joint.iv : joint.iv + joint.nv] += joint.damping * joint.ratio**2
    return resistance


def _longest_step(found: Candidates, walls: Sequence[Wall], resolution: float) -> float:
    """Short enough for what the robot's own motion does not show: walls that vibrate, walls that are Python functions.

    How fast a motion is that is a Python function shows when it is evaluated (Surfaces.pace).
    """
    bounds = [np.inf]
    bounds += [RADIANS_PER_STEP / abs(wall.motion.omega) for wall in walls if isinstance(wall.motion, Vibration) and wall.motion.omega]
    if (found.surfaces.kind == IMPLICIT).any() or (found.surfaces.whole[:, MOVES] == FUNCTION).any():
        bounds.append(10.0 * resolution)
    return min(bounds)
