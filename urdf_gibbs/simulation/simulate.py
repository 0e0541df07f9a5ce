"""Hybrid simulation: flight by an integrator of order 8, impacts by a law, rest by constrained flight.

A description (description.py) is checked, then compiled to a program (program.py); a run of it ends in plain values (trajectory.py).
"""

from __future__ import annotations

import os
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

from urdf_gibbs.arguments import vector
from urdf_gibbs.contact.points import PointLike
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.errors import ArgumentError, PenetrationError, SimulationError
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation import record, resolve
from urdf_gibbs.simulation.controller import Controller
from urdf_gibbs.simulation.description import Start, checked_start, describe
from urdf_gibbs.simulation.failure import cause_of, reason_of
from urdf_gibbs.simulation.impact_values import Impact
from urdf_gibbs.simulation.interruptible import Interruptible
from urdf_gibbs.simulation.layout import FINISHED, GAP, GRADIENT, HUB, OK, PAUSED, PRESENT, State
from urdf_gibbs.simulation.log import Facts, Log
from urdf_gibbs.simulation.program import Program
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.walls import Drift, Vibration, Wall

Array = NDArray[np.float64]
Progress = Callable[[float, int], None]

ALLOWED_DEPTH = 1e-9  # m: penetration at the start that counts as rounding
POLL_INTERVAL = 0.1  # s between two checks for Ctrl-C
SMALL_ROBOT = 100  # velocities: FIRST_STEPS steps take a few hundredths of a second at most
FIRST_STEPS, FIRST_STEPS_WITH_CALLBACKS = 512, 16  # of the first call of advance, without and with functions of the user's
MAX_STEPS = 1_000_000
PLAIN = frozenset((bool, int, float, str, type(None)))


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
        self.description = describe(
            robot,
            walls=walls,
            law=law,
            restitution=restitution,
            gravity=gravity,
            points=points,
            pairs=pairs,
            joint_limits=joint_limits,
            damping=damping,
            controller=controller,
            controller_rate=controller_rate,
            switches=switches,
            torque=torque,
            rtol=rtol,
            atol=atol,
            max_step=max_step,
            tie=tie,
            zeno=zeno,
            cycle=cycle,
            resolution=resolution,
            dense=dense,
            memory=memory,
        )
        self.robot, self.law, self.restitution = robot, law, self.description.restitution
        self.gravity, self.walls, self.points = self.description.gravity, self.description.walls, self.description.points
        self._candidates = self.description.candidates()
        self._facts = Facts.of(self.description, self._candidates)
        self._program = Program(self.description, self._candidates)
        self._lock = threading.Lock()
        self._owner: threading.Thread | None = None
        _simulators.add(self)

    def run(self, q0: ArrayLike, v0: ArrayLike | None, duration: float, progress: Progress | None = None) -> Trajectory:
        """Simulate from q0 (nq,), v0 (nv,) (None: at rest) for ``duration`` [s]; progress(t, impacts) is called now and then.

        A Simulator runs one simulation at a time: threads wait for each other, and a controller cannot call its own simulator.
        """
        start = checked_start(self.robot, q0, v0, duration)
        with self._exclusive():
            return self._run(start, progress)

    def impact(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Impact | None:
        """The impact of what touches and approaches in this state, now; None where nothing does."""
        start = Start(vector(q, self.robot.nq, "q"), vector(v, self.robot.nv, "v"), 0.0)
        with self._exclusive():
            return self._impact(start, time)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the lock; other threads wait."""
        if threading.current_thread() is self._owner:
            raise ArgumentError("this Simulator is running already; expected another Simulator inside of its controller")
        with self._lock:
            self._owner = threading.current_thread()
            try:
                yield
            finally:
                self._owner = None

    def _run(self, start: Start, progress: Progress | None) -> Trajectory:
        program, state = self._program, self._start(start)
        log = Log(self._facts, program.record)
        program.system.torque[:] = program.system.tau[:] = self.description.torque
        self._candidates.callbacks.error = None
        if program.callbacks:
            program.callbacks.problem = None
        started = clock.perf_counter()
        status = self._advance(log, progress)
        if progress is not None:
            progress(state.time, state.impacts)
        statistics = self._statistics(clock.perf_counter() - started)
        if status in (FINISHED, PAUSED):
            return log.trajectory("complete" if status == FINISHED else "interrupted", statistics, start.duration)
        cause = cause_of(status, self.description, program, self._candidates.callbacks)
        if isinstance(cause, KeyboardInterrupt):
            return log.trajectory("interrupted", statistics, start.duration)
        raise self._failure(status, cause, log, statistics, start.duration) from cause

    def _advance(self, log: Log, progress: Progress | None) -> int:
        """Run to the end; returns the final status, PAUSED where Ctrl-C interrupted the run."""
        program, state = self._program, self._program.state
        has_callbacks = program.callbacks is not None or bool(self._candidates.callbacks.functions)
        status, steps = PAUSED, FIRST_STEPS_WITH_CALLBACKS if has_callbacks else FIRST_STEPS
        if not has_callbacks and self.robot.nv <= SMALL_ROBOT:  # so short that Python's own KeyboardInterrupt will do
            status = program.advance(steps)
            log.drain()
        if status != PAUSED:
            return status
        with Interruptible() as interrupted:
            if program.callbacks:
                program.callbacks.interrupted = interrupted
            while status == PAUSED and not interrupted:
                before, done = clock.perf_counter(), _attempts(state)
                status = program.advance(steps)
                log.drain()
                took = clock.perf_counter() - before
                tried = max(1, _attempts(state) - done)  # fewer than ``steps`` where the record filled up
                steps = int(
                    min(MAX_STEPS, max(FIRST_STEPS_WITH_CALLBACKS, min(4.0 * steps, tried * 0.5 * POLL_INTERVAL / max(took, 1e-9))))
                )
                if progress is not None:
                    progress(state.time, state.impacts)
        return status

    def _statistics(self, seconds: float) -> dict[str, Any]:
        state = self._program.state
        return {
            "steps": state.accepted,
            "rejected": state.rejected,
            "evaluations": self._program.system.evaluations,
            "impacts": state.impacts,
            "cycles": state.cycles,
            "energy_at_rest": state.energy_at_rest,
            "seconds": seconds,
        }

    def _failure(self, status: int, cause: BaseException | None, log: Log, statistics: dict[str, Any], duration: float) -> SimulationError:
        """The error for a run, or a single impact, that cannot go on."""
        state, nq = self._program.state, self.robot.nq
        reason = reason_of(status, cause, self.robot, state, self._facts.names, log)
        trajectory = log.trajectory(f"failed: {reason}", statistics, duration)
        return SimulationError(reason, state.time, state.y[:nq].copy(), state.y[nq:].copy(), trajectory)

    def _start(self, start: Start, time: float = 0.0) -> State:
        """The state at the start of a run; PenetrationError where it is inside a wall."""
        state, nq, candidates = self._program.state, self.robot.nq, self._candidates
        self._program.reset()
        state.time, state.end = time, start.duration
        state.y[:nq], state.y[nq:] = start.q, start.v
        state.K[0] = 0.0
        state.turning[:, : HUB + 1] = 0.0
        if candidates.points:
            state.held[:] = 0
            state.force[:] = 0.0
            state.last_struck[:] = -np.inf
            self._program.update_gaps(time, PRESENT)
            candidates.callbacks.raise_error()
            if state.gaps[:, GAP].min() < 0.0 and (state.gaps[:, GAP] < -ALLOWED_DEPTH * state.gaps[:, GRADIENT]).any():
                gap = state.gaps[:, GAP] / state.gaps[:, GRADIENT]
                deep = np.flatnonzero(gap < -ALLOWED_DEPTH)
                raise PenetrationError([(candidates.points[c], candidates.walls[c], float(-gap[c])) for c in deep[np.argsort(gap[deep])]])
        return state

    def _impact(self, start: Start, time: float) -> Impact | None:
        program, state = self._program, self._start(start, time)
        log = Log(self._facts, program.record)
        record.write_row(program.record, state, False)
        status = resolve.resolve_contacts(program.system, state, program.record, -1)
        log.drain()
        if status != OK:
            cause = cause_of(status, self.description, program, self._candidates.callbacks)
            raise self._failure(status, cause, log, {}, 0.0) from cause
        return log.impact(0) if log.count else None


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
    start = checked_start(robot, q0, v0, duration)  # before anything is compiled
    return _simulator(robot, options).run(*start, progress)


_simulators: WeakSet[Simulator] = WeakSet()
SIMULATORS: Shelf[tuple[tuple[str, Any], ...], Simulator] = Shelf(most=8)  # by their options


def _after_fork() -> None:
    """Release the locks in a forked process: the thread that held one does not exist there."""
    for simulator in _simulators:
        simulator._lock, simulator._owner = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _simulator(robot: Robot, options: dict[str, Any]) -> Simulator:
    """A Simulator for these options. The last few are kept with the robot, unless their options contain functions of the user's."""
    try:
        key = tuple((name, _hashable(value)) for name, value in sorted(options.items()))
        hash(key)
    except TypeError:
        return Simulator(robot, **options)
    return SIMULATORS.get(robot, key, lambda: Simulator(robot, **options))


def _hashable(value: Any) -> Any:
    """The value in hashable form; TypeError for functions, whose results may change."""
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


def _attempts(state: State) -> int:
    """Steps tried and impacts so far."""
    return state.accepted + state.rejected + state.impacts
