"""Many runs of one simulation in compiled code, on any number of threads: the machine code is shared, each thread has its own memory.

Where there are enough of them, each thread goes on with LANES runs at a time, whose steps in flight share SIMD instructions.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import listed, whole
from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.engine.emit import LANES
from urdf_gibbs.engine.kernel import Compiled, kernel_of
from urdf_gibbs.engine.objects import Code
from urdf_gibbs.engine.quantity import Options
from urdf_gibbs.engine.threads import run_on_threads
from urdf_gibbs.errors import ArgumentError, SimulationError
from urdf_gibbs.simulation import batch
from urdf_gibbs.simulation.batch import TOO_DEEP, Batch, go_on
from urdf_gibbs.simulation.batch_lanes import Lanes, Place, go_on_in_lanes
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.failure import cause_of, reason_of
from urdf_gibbs.simulation.friction_layout import STATIC
from urdf_gibbs.simulation.lane_step import lane_step, widths
from urdf_gibbs.simulation.layout import CHATTER, FINISHED, PARAMETERS, PAUSED
from urdf_gibbs.simulation.program import Machine, Program
from urdf_gibbs.simulation.runs import Outcomes, Runs
from urdf_gibbs.simulation.simulator import Simulator, simulator_of, too_deep
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.simulation.varied import Rows, Varied, check_variable

Array = NDArray[np.float64]

PIECE = 256  # runs that one thread takes at a time, at most
PIECES_PER_THREAD = 8
IN_LANES_FROM = 64  # runs: fewer are done before code for lanes is compiled
WORTH_LANES = 5  # operations of the forward dynamics: a mass that only slides has nothing to share
POLL_INTERVAL = 0.05  # s between two looks for Ctrl-C
FIRST_STEPS, FEWEST_STEPS, MOST_STEPS = 512, 16, 1_000_000  # of a call of compiled code


class Many:
    """Many runs of one simulation: made ready once, then run as often as wanted, from several threads at once if wanted.

    A run is bit for bit the run of a Simulator(..., dense=False) with the same values, for any order, number of threads and division
    into calls, whether it shares SIMD lanes with others or not. Where inertial parameters or walls vary it is so up to rounding, as
    their numbers are no part of the machine code then.

    Args:
        simulation: What is run; its ``dense`` and ``memory`` do not matter, as no motion is kept.
        vary: What may differ from run to run besides start and duration: "restitution", "friction", "gravity", "torque", "parameters"
            and "walls". Ask for what is needed: dynamics with inertial parameters as an input, and walls whose numbers can change, are
            a little slower.

    Attributes:
        description: What is run.
        robot: The robot.
        vary: What may differ.
        contact_names: "point|wall" of all contacts, in the order of ``Outcomes.first_contacts``.
        wall_names: The names of the walls.

    Raises:
        ArgumentError: An argument has a wrong type or value.
        UnknownNameError: Nothing of that name can vary.
        NotVariableError: Compiled runs cannot do that: controllers, soil, walls that are functions, parameters of elastic links.
    """

    def __init__(self, simulation: Simulator | Description, vary: Iterable[str] = ()) -> None:
        given = simulation.description if isinstance(simulation, Simulator) else simulation
        if not isinstance(given, Description):
            raise ArgumentError(f"simulation is a {type(simulation).__name__}, expected a Simulator")
        self.description = replace(given, dense=False)
        self.robot, self.vary = given.robot, tuple(listed(vary, "a list of names", "vary"))
        self._candidates = self.description.candidates()
        check_variable(self.description, self._candidates, self.vary)
        self._varied = Varied(self.description, self._candidates, self.vary)
        self.contact_names, self.wall_names = self._candidates.names, tuple(self._varied.wall_names)
        self._machine = Machine(
            self.description, self._candidates, "parameters" in self.vary, "friction" in self.vary, "walls" not in self.vary
        )
        self._idle: list[_Workspace] = []
        self._lane_code: tuple[Code, int] | None = None

    def run(self, runs: Runs, *, threads: int = 1, first_impacts: int = 0, progress: Callable[[int], None] | None = None) -> Outcomes:
        """Run them all.

        Args:
            runs: Where they start, and what they have of their own.
            threads: How many threads run them; besides the calling one at most as many as ``set_threads`` allows.
            first_impacts: Of how many impacts, the first of each run, time, impulse and contact are kept.
            progress: progress(count), called with the number of runs that have ended since the last call; by any of the threads.

        Returns:
            One row for each run, in their order. A run that fails or cannot start is a row with its reason.

        Raises:
            ArgumentError: An array has a wrong type or shape, or something is given that does not vary.
            UnknownNameError: There is no such wall or contact.
            NotVariableError: A wall is given that has no numbers to vary.
            KeyboardInterrupt: After Ctrl-C; what was run by this call is lost.
        """
        rows = self._varied.rows(runs)
        if len(rows) >= IN_LANES_FROM:
            self._prepare_lanes()
        task = _Task(self, rows, whole(first_impacts, 0, "first_impacts"), progress)
        threads, count = whole(threads, 1, "threads"), len(task.runs)
        size = max(1, min(PIECE, -(-count // (PIECES_PER_THREAD * threads)) if threads > 1 else PIECE))
        pieces = [(start, min(start + size, count)) for start in range(0, count, size)]
        try:
            run_on_threads(pieces, task.do, min(threads, max(1, len(pieces))))
        except BaseException:
            task.stopped.set()
            raise
        return task.outcomes()

    def trajectory(self, runs: Runs, run: int, *, dense: bool = False) -> Trajectory:
        """One of the runs again, bit by bit, with its motion.

        Args:
            runs: As given to ``run``.
            run: Which of them, from 0 on.
            dense: Whether the interpolant of each step is kept; where contacts with friction hold, the motion is then the same up to
                rounding only.

        Returns:
            The motion.

        Raises:
            ArgumentError: As ``run`` raises, or there is no such run, or it cannot start with its values.
            PenetrationError: The start is inside a wall.
            SimulationError: The motion cannot go on; the trajectory so far is with it.
        """
        rows = self._varied.rows(runs)
        if whole(run, 0, "run") >= len(rows):
            raise ArgumentError(f"run={run}, expected 0 to {len(rows) - 1}")
        if run in rows.refused:
            raise ArgumentError(rows.refused[run])
        return self._trajectory(rows, run, dense)

    def _trajectory(self, rows: Rows, run: int, dense: bool) -> Trajectory:
        simulator = simulator_of(replace(self._varied.description_of(rows, run), dense=dense), self._machine)
        system = simulator._program.system
        given = self._varied.inputs(rows, np.array([run]), system.constants)
        for name, target in (
            ("restitution", system.contacts.restitution),
            ("friction", system.contacts.friction),
            ("constants", system.constants),
            ("walls", system.surfaces.values),
        ):
            if len(given[name]):
                target[...] = given[name].reshape(target.shape)
        friction = system.friction
        friction.rough = bool((system.contacts.friction[:, STATIC] > 0.0).any())
        friction.acts = bool(friction.rough or friction.joints < len(simulator._candidates.points))
        return simulator.run(rows.q[run], rows.v[run], float(rows.duration[run]))

    def _prepare_lanes(self) -> None:
        """Compile what steps of LANES runs need, where this robot flies by code of its own."""
        if self._lane_code is not None or self._machine.step is None:
            return
        inner = kernel_of(self.robot, "forward_dynamics", Options(parametric=self._machine.parameters, free_gravity=True))
        if isinstance(inner, Compiled) and inner.lanes and inner.work >= WORTH_LANES:
            constants = PARAMETERS + (self.robot.parameters.size if self._machine.parameters else 0)
            self._lane_code = lane_step(self.robot, constants), inner.batch_address()

    def _take(self) -> _Workspace:
        try:
            return self._idle.pop()
        except IndexError:
            return _Workspace(self)


class _Workspace:
    """The memory of one thread: a program of the shared machine code, with contacts and walls of its own."""

    def __init__(self, many: Many) -> None:
        shared = many._candidates
        contacts = shared.contacts.replaced(restitution=shared.contacts.restitution.copy(), friction=shared.contacts.friction.copy())
        surfaces = shared.surfaces.replaced(values=shared.surfaces.values.copy(), scratch=np.zeros_like(shared.surfaces.scratch))
        self.candidates: Candidates = replace(shared, contacts=contacts, surfaces=surfaces)
        self.program = Program(many.description, self.candidates, many._machine)
        self.constants = self.program.system.constants.copy()
        parts = {name: getattr(self.program, name)._integers for name in ("system", "state", "record")}
        before = {f"{name}_before": words.copy() for name, words in parts.items()}
        self.fields = {**parts, **before, "since": np.zeros(len(self.candidates.points)), "in_time": int(many.description.steps_in_time)}


def _place(space: _Workspace, work: Batch) -> Place:
    program = space.program
    return Place(system=program.system, state=program.state, record=program.record, batch=work)


class _Moments:
    """Calls of compiled code, each of about POLL_INTERVAL, so that Ctrl-C is heard."""

    def __init__(self) -> None:
        self.steps = FIRST_STEPS

    def call(self, function: Callable[..., Any], *structs: Any) -> int:
        """Go on for a moment: the status."""
        begun = clock.perf_counter()
        status = int(function(*structs, self.steps))
        if status == PAUSED:
            took = clock.perf_counter() - begun
            self.steps = int(min(MOST_STEPS, max(FEWEST_STEPS, min(4.0 * self.steps, self.steps * POLL_INTERVAL / max(took, 1e-9)))))
        return status


class _Task:
    """One call of ``Many.run``: ``do`` runs some of its runs; ``runs`` are those that can start."""

    def __init__(self, many: Many, rows: Rows, first_impacts: int, progress: Callable[[int], None] | None) -> None:
        self._many, self._rows, self._progress, self.stopped = many, rows, progress, Event()
        self.runs = np.setdiff1d(np.arange(len(rows)), list(rows.refused))
        self._reasons = {i: f"refused: {reason}" for i, reason in rows.refused.items()}
        count, n = len(self.runs), many.robot.nq + many.robot.nv
        self._results: dict[str, NDArray[Any]] = {
            "counted": np.zeros((count, batch.COUNTED), np.int64),
            "measured": np.zeros((count, batch.MEASURED)),
            "end": np.zeros((count, n)),
            "first_times": np.zeros((count, first_impacts)),
            "first_impulses": np.zeros((count, first_impacts)),
            "first_contacts": np.zeros((count, first_impacts), np.int64),
        }

    def do(self, first: int, last: int) -> None:
        """Run ``runs[first:last]``."""
        if self.stopped.is_set() or last <= first:
            return
        lanes = self._many._lane_code is not None and last - first >= LANES
        bounds = np.linspace(first, last, (LANES if lanes else 1) + 1).astype(int)
        spaces = [self._many._take() for _ in bounds[1:]]
        works = [self._work(space, a, b) for space, a, b in zip(spaces, bounds[:-1], bounds[1:], strict=True)]
        shared = self._lanes(spaces[0]) if lanes else None
        places = [_place(space, work) for space, work in zip(spaces, works, strict=True)]
        first_place = places[0]
        alone = first_place.system, first_place.state, first_place.record, first_place.batch
        moments, status = _Moments(), PAUSED
        while status != FINISHED and not self.stopped.is_set():
            status = moments.call(go_on, *alone) if shared is None else moments.call(go_on_in_lanes, *places, shared)
            if status not in (FINISHED, PAUSED):
                place = 0 if shared is None else shared.failed
                run = int(self.runs[bounds[place] + works[place].at - 1])
                self._reasons[run] = self._reason(spaces[place], status, run)
        self._many._idle += spaces
        if self._progress is not None and status == FINISHED:
            self._progress(last - first)

    def _work(self, space: _Workspace, first: int, last: int) -> Batch:
        """Some of the runs, for this memory."""
        which, rows = self.runs[first:last], self._rows
        return Batch(
            start=np.hstack([rows.q[which], rows.v[which]]),
            duration=rows.duration[which],
            **self._many._varied.inputs(rows, which, space.constants),
            **space.fields,
            **{name: array[first:last] for name, array in self._results.items()},
        )

    def _lanes(self, space: _Workspace) -> Lanes:
        code, forward = self._many._lane_code  # type: ignore[misc]
        numbers = LANES * sum(widths(self._many.robot, len(space.constants)).values())
        return Lanes(
            step=code.address("lanes"),
            forward=forward,
            tables=np.zeros(LANES, np.int64),
            trials=np.zeros(LANES, np.int64),
            rows=np.zeros(numbers),
        )

    def _reason(self, space: _Workspace, status: int, run: int) -> str:
        """Why the last run in this memory has stopped."""
        many, state = self._many, space.program.state
        if status == TOO_DEEP:
            return f"refused: {too_deep(state, space.candidates)}"
        if status == CHATTER:  # what was struck how often is in its history
            try:
                many._trajectory(self._rows, run, False)
            except SimulationError as error:
                return f"failed: {error.reason}"
        cause = cause_of(status, many.description, space.program, space.candidates.callbacks)
        return f"failed: {reason_of(status, cause, many.robot, state, space.candidates.names, None)}"

    def outcomes(self) -> Outcomes:
        """The results of all runs, those that could not start included."""
        nq, n = self._many.robot.nq, len(self._rows)
        whole_results = self._results
        if len(self.runs) < n:
            empty = {"counted": 0, "measured": np.nan, "first_contacts": -1, "end": np.nan, "first_times": np.nan, "first_impulses": np.nan}
            whole_results = {}
            for name, values in self._results.items():
                whole_results[name] = np.full((n, values.shape[1]), empty[name], dtype=values.dtype)
                whole_results[name][self.runs] = values
        counts, numbers, end = (whole_results[name] for name in ("counted", "measured", "end"))
        counted = ("impacts", "steps", "rejected", "evaluations", "bounces")
        measured = ("time", "last_impact", "largest_impulse", "deepest", "held_from", "rest", "friction_work", "energy_at_rest")
        return Outcomes(
            reasons=dict(sorted(self._reasons.items())),
            **{name: counts[:, 1 + i] for i, name in enumerate(counted)},
            **{name: numbers[:, i] for i, name in enumerate(measured)},
            kinetic=numbers[:, batch.KINETIC : batch.KINETIC + 2],
            potential=numbers[:, batch.POTENTIAL : batch.POTENTIAL + 2],
            q=end[:, :nq],
            v=end[:, nq:],
            **{name: whole_results[name] for name in ("first_times", "first_impulses", "first_contacts")},
        )
