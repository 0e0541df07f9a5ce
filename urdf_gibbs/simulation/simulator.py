"""Hybrid simulation: flight by an integrator of order 8, impacts by a law, rest by constrained flight.

A description (description.py) is checked, then compiled to a program (program.py); a run of it ends in plain values (trajectory.py).
"""

from __future__ import annotations

import os
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import vector, within
from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.contact.coefficients import SceneFrictionLike
from urdf_gibbs.contact.joint_friction import JointFrictionLike
from urdf_gibbs.contact.points import PairLike, PointLike
from urdf_gibbs.contact.soil import Soil
from urdf_gibbs.contact.soil_forces import SINKAGE
from urdf_gibbs.contact.wheels import Tyres
from urdf_gibbs.errors import ArgumentError, PenetrationError, SimulationError
from urdf_gibbs.names import Cylinders, Law, Paradox, Scheme
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation import record, resolve, rows
from urdf_gibbs.simulation.batch import ALLOWED_DEPTH
from urdf_gibbs.simulation.controller import Controller, Switches
from urdf_gibbs.simulation.description import Description, Start, checked_start, describe
from urdf_gibbs.simulation.failure import cause_of, reason_of
from urdf_gibbs.simulation.friction_layout import FREE
from urdf_gibbs.simulation.impact_values import Impact
from urdf_gibbs.simulation.interruptible import Interruptible
from urdf_gibbs.simulation.layout import FINISHED, GAP, GRADIENT, HUB, OK, PAUSED, PRESENT, State
from urdf_gibbs.simulation.log import Facts, Log
from urdf_gibbs.simulation.program import Machine, Program
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]
Progress = Callable[[float, int], None]

MOST_SINKAGE = 0.5  # of its radius, by which a wheel may have sunk into soil at the start
POLL_INTERVAL = 0.1  # s between two checks for Ctrl-C
SMALL_ROBOT = 100  # velocities: FIRST_STEPS steps take a few hundredths of a second at most
FIRST_STEPS, FIRST_STEPS_WITH_CALLBACKS = 512, 16  # of the first call of advance, without and with functions of the user's
MAX_STEPS = 1_000_000


class Simulator:
    """A robot, what it can touch and by which law, made ready once; ``run`` simulates from a start.

    It runs one simulation at a time: threads wait for each other, and a controller cannot call its own simulator.

    Args:
        robot: Made by ``load``.
        walls: What the robot can touch; these and all that follow have the meaning that they have for ``simulate``.
        scheme: How the run goes on, "events" or "time_stepping".
        step: Length of the steps of "time_stepping" [s].
        law: How impulses follow from the velocities before.
        restitution: In [0, 1], where a wall has none of its own.
        friction: Coefficient of Coulomb friction, or (static, kinetic), or "urdf".
        paradox: What happens where no contact forces obey Coulomb's law: "impact" or "stop".
        gravity: (3,) in the world [m/s^2].
        points: What can touch; None: the joint origins and tips.
        pairs: Points that can touch each other.
        cylinders: How cylinders of points="collision" touch: "roll", "stand" or "auto".
        tyres: Radius with which the edges of wheels are round [m], of all or by link.
        soil: That yields under the wheels, or its name; None: the ground is rigid.
        joint_limits: Whether the URDF's joint limits act.
        damping: Whether the URDF's joint damping acts.
        joint_friction: Bounds of the dry friction of joints [N, N m], or "urdf".
        controller: controller(t, q, v) -> (nv,) generalised forces [N m, N].
        controller_rate: Calls of the controller per second [1/s]; None: in each stage of each step.
        switches: switches(t, q, v) -> (k,), whose signs say on which side a controller that jumps is.
        torque: Constant generalised forces (nv,) [N m, N].
        rtol: Relative tolerance of the integrator.
        atol: Absolute tolerance of the integrator.
        max_step: Longest step [s].
        tie: Contacts that close within this time are solved together [s].
        zeno: A bounce shorter than this is the last [s].
        cycle: Within it contacts may hand blows to each other [s].
        resolution: Of walls that are Python functions [s].
        dense: Whether the interpolant of each step is kept.
        memory: That the rows of a run may take [bytes].

    Attributes:
        robot: The robot.
        description: What is simulated, checked and never changed.
        law: The impact law's name.
        restitution: Where a wall has none of its own.
        gravity: (3,) [m/s^2].
        walls: The walls.
        points: The contact points.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value; said before anything is compiled.
        UnknownNameError: There is no such law, link or contact point.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        walls: Wall | Iterable[Wall] = (),
        scheme: Scheme = "events",
        step: float = 1e-3,
        law: Law = "newton",
        restitution: float = 1.0,
        friction: SceneFrictionLike = 0.0,
        paradox: Paradox = "impact",
        gravity: ArrayLike = EARTH_GRAVITY,
        points: str | Iterable[PointLike] | None = None,
        pairs: str | Iterable[PairLike] = (),
        cylinders: Cylinders = "auto",
        tyres: Tyres = 0.0,
        soil: Soil | str | None = None,
        joint_limits: bool = False,
        damping: bool = False,
        joint_friction: JointFrictionLike = 0.0,
        controller: Controller | None = None,
        controller_rate: float | None = None,
        switches: Switches | None = None,
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
        touching: dict[str, Any] = {"walls": walls, "points": points, "pairs": pairs, "cylinders": cylinders, "joint_limits": joint_limits}
        wheels: dict[str, Any] = {"tyres": tyres, "soil": soil}
        laws: dict[str, Any] = {"law": law, "restitution": restitution, "friction": friction, "paradox": paradox}
        control: dict[str, Any] = {"controller": controller, "controller_rate": controller_rate, "switches": switches, "torque": torque}
        forces: dict[str, Any] = {"gravity": gravity, "damping": damping, "joint_friction": joint_friction, **control}
        accuracy: dict[str, Any] = {"rtol": rtol, "atol": atol, "max_step": max_step, "tie": tie, "zeno": zeno, "cycle": cycle}
        kept: dict[str, Any] = {"scheme": scheme, "step": step, "resolution": resolution, "dense": dense, "memory": memory}
        self._prepare(describe(robot, **touching, **wheels, **laws, **forces, **accuracy, **kept))

    def _prepare(self, description: Description, machine: Machine | None = None) -> None:
        self.description = description
        self.robot, self.law, self.restitution = description.robot, description.law, description.restitution
        self.gravity, self.walls, self.points = self.description.gravity, self.description.walls, self.description.points
        self._candidates = self.description.candidates()
        self._facts = Facts.of(self.description, self._candidates)
        self._program = Program(self.description, self._candidates, machine)
        self._lock = threading.Lock()
        self._owner: threading.Thread | None = None
        _simulators.add(self)

    def run(self, q0: ArrayLike, v0: ArrayLike | None, duration: float, progress: Progress | None = None) -> Trajectory:
        """Simulate from a start.

        Args:
            q0: Coordinates at the start (nq,).
            v0: Velocities at the start (nv,); None: at rest.
            duration: Of the run [s].
            progress: progress(t, impacts), called now and then with the time reached [s] and the number of impacts so far.

        Returns:
            The motion, its impacts and contact phases, as values; with status "interrupted" after Ctrl-C.

        Raises:
            ArgumentError: The start or the duration is none, or the simulator is running already in this thread.
            PenetrationError: The start is inside a wall.
            SimulationError: The motion cannot go on; the trajectory so far is with it.
        """
        if progress is not None and not callable(progress):
            raise ArgumentError(f"progress={progress!r}, expected a function of (t, impacts) or None")
        start = checked_start(self.robot, q0, v0, duration)
        with self._exclusive():
            return self._run(start, progress)

    def impact(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Impact | None:
        """The impact, by the law of this simulator, of what touches and approaches in a state.

        Args:
            q: Coordinates (nq,).
            v: Velocities before (nv,).
            time: [s], which matters for walls that move.

        Returns:
            The impact; None where nothing touches and approaches.

        Raises:
            ArgumentError: An argument has a wrong type, shape or value.
            PenetrationError: The state is inside a wall.
            SimulationError: The law has no answer.
        """
        time = within(time, -np.inf, np.inf, "time")
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
        if self.description.steps_in_time:
            measured = {"worst_certificate": state.worst_certificate, "deepest": state.deepest, "bounces": state.bounces}
            return {"steps": state.accepted, "impacts": 0, **measured, "seconds": seconds}
        return {
            "steps": state.accepted,
            "rejected": state.rejected,
            "evaluations": self._program.system.evaluations,
            "impacts": state.impacts,
            "cycles": state.cycles,
            "energy_at_rest": state.energy_at_rest,
            "implicit_steps": state.implicit_steps,
            "implicit_time": state.implicit_time,
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
            self._program.record.mode[:] = self._program.system.friction.mode[:] = FREE
            friction = self._program.system.friction
            state.force[:] = friction.force[:] = friction.soft[:] = friction.dual[:] = 0.0
            state.last_struck[:] = -np.inf
            self._program.update_gaps(time, PRESENT)
            candidates.callbacks.raise_error()
            if state.gaps[:, GAP].min() < 0.0 and (state.gaps[:, GAP] < -ALLOWED_DEPTH * state.gaps[:, GRADIENT]).any():
                raise too_deep(state, candidates)
        if self.description.soil is not None:
            self._check_sinkage(start, time)
        return state

    def _check_sinkage(self, start: Start, time: float) -> None:
        """PenetrationError where a wheel starts deeper in the soil than half of its radius, beyond what its law is for."""
        system = self._program.system
        system.q[:], system.v[:] = start.q, start.v
        rows.soil_torques(system, time)
        self._candidates.callbacks.raise_error()
        sinkage = system.soil.out[:, SINKAGE]
        deep = np.flatnonzero(sinkage > MOST_SINKAGE * system.soil.size[:, 0])
        if len(deep):
            raise PenetrationError([(self.description.wheels[k].link, "the soil", float(sinkage[k])) for k in deep])

    def _impact(self, start: Start, time: float) -> Impact | None:
        program, state = self._program, self._start(start, time)
        log = Log(self._facts, program.record)
        record.write_row(program.system, program.record, state, False)
        status = resolve.resolve_contacts(program.system, state, program.record, -1)
        log.drain()
        if status != OK:
            cause = cause_of(status, self.description, program, self._candidates.callbacks)
            raise self._failure(status, cause, log, {}, 0.0) from cause
        return log.impact(0) if log.count else None


def simulator_of(description: Description, machine: Machine | None = None) -> Simulator:
    """The simulator of a description, which is checked already: that of a trajectory, or one with some of it replaced.

    machine: The machine code that it runs, of a description like it; None: its own.
    """
    simulator = Simulator.__new__(Simulator)
    simulator._prepare(description, machine)
    return simulator


def too_deep(state: State, candidates: Candidates) -> PenetrationError:
    """The error for a start in which contacts are inside walls."""
    gap = state.gaps[:, GAP] / state.gaps[:, GRADIENT]
    deep = np.flatnonzero(gap < -ALLOWED_DEPTH)
    return PenetrationError([(candidates.points[c], candidates.walls[c], float(-gap[c])) for c in deep[np.argsort(gap[deep])]])


def _attempts(state: State) -> int:
    """Steps tried and impacts so far."""
    return state.accepted + state.rejected + state.impacts


_simulators: WeakSet[Simulator] = WeakSet()


def _after_fork() -> None:
    """Release the locks in a forked process: the thread that held one does not exist there."""
    for simulator in _simulators:
        simulator._lock, simulator._owner = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
