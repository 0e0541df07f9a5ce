"""Shooting by Newton's method on whole simulations, with derivatives through all impacts before the one that is aimed.

Unknowns x are entries of the start (q in the tangent space, v) or of a constant torque, r(x) is what the impact is less what it should be.
Each step is the least one that solves r + r' dx = 0, or comes nearest, and is halved until the miss falls as it should.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import Array, listed, shown, whole, within
from urdf_gibbs.errors import ArgumentError, PenetrationError, SensitivityError, ShootingError, SimulationError, UnknownNameError
from urdf_gibbs.frozen import frozen
from urdf_gibbs.sensitivity.arrival import Arrival, arrival
from urdf_gibbs.sensitivity.columns import START, TORQUE, Columns, Q, V, columns_of
from urdf_gibbs.sensitivity.run import covered
from urdf_gibbs.shooting.goal import Goal, Hit, goal_of
from urdf_gibbs.shooting.result import Attempt, Shot
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.simulator import Simulator, simulator_of
from urdf_gibbs.simulation.trajectory import Trajectory

GROUPS = (Q, V, TORQUE)
SMALLEST = 1e-10  # relative: singular values of the derivative that count as zero, above the noise of its differences
ENOUGH = 0.1  # of the fall of the miss that the derivative foretells: with less the step is halved
HALVINGS = 14
STUCK = 1e-7  # relative fall of the miss that is none
KEPT = 1e-9  # by how much a start with held contacts may differ from what its columns say


def shoot(
    run: Trajectory,
    place: ArrayLike | Iterable[float | None] | None = None,
    *,
    change: str | Iterable[str] = "v",
    contact: str | None = None,
    impact: int = 0,
    time: float | None = None,
    velocity: ArrayLike | Iterable[float | None] | None = None,
    tolerance: float = 1e-8,
    iterations: int = 30,
) -> Shot:
    """The start or the constant torque with which an impact happens at a given place, also at a given time or with a given velocity.

    Of all ways to get there it takes in each step the least change of the unknowns. Which solution it finds depends on the first guess.

    Args:
        run: A first guess, from ``simulate``, in which the impact happens, though elsewhere. Its walls, law and duration stay.
        place: Where the contact should be at the impact (3,) in the world [m]: what ``Impact.positions`` tells; None or NaN for what may
            be any.
        change: What may be changed: "v", "q", "start" (both), "torque", or names of single entries as ``Sensitivity.columns`` has them,
            "v.<velocity>", "q.<velocity>", "torque.<velocity>".
        contact: What strikes: the name of a contact point, a pair "a-b" or a joint whose limit it is, or one of
            ``run.contact_names``; None: whatever does.
        impact: How many impacts come before it: of the contact where it is named, or of all.
        time: When it should happen [s].
        velocity: Of the contact before the impact relative to what it strikes (3,) in the world [m/s]; None or NaN for what may be any.
        tolerance: By how much each of these may be missed [m, s, m/s].
        iterations: The largest number of steps.

    Returns:
        The start, the torque, the run that they make, and all attempts.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, or the impact does not happen in the run.
        UnknownNameError: There is no such contact or entry.
        SensitivityError: The impact of the run has no derivative, or none that is covered (see ``Trajectory.sensitivity``; friction in
            the impact itself does not matter).
        ShootingError: No such start or torque was found: nothing that may be changed leads there, or not from this guess. It has with it
            what came nearest.
    """
    if not isinstance(run, Trajectory):
        raise ArgumentError(f"run={shown(run)}, expected a Trajectory, as simulate returns it")
    search = _Search(run, covered(run), *goal_of(run, place, time, velocity, contact, impact), _changed(run, change))
    most = within(tolerance, 0.0, np.inf, "tolerance")
    limit = whole(iterations, 1, "iterations")
    for _ in range(limit):
        if search.is_met(most):
            return search.shot(True)
        search.step()
    if search.is_met(most):
        return search.shot(True)
    raise ShootingError(f"these were all the iterations, {limit}; expected more, or a better first guess", search.shot(False))


@dataclass(frozen=True)
class _Changed:
    """Groups of columns of a sensitivity, and which of all of them are unknowns."""

    columns: Columns
    which: NDArray[np.intp]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns.names[i] for i in self.which)


def _changed(run: Trajectory, change: str | Iterable[str]) -> _Changed:
    given = [change] if isinstance(change, str) else listed(change, "names of what may be changed", "change")
    everything = columns_of(run, GROUPS)
    chosen: list[str] = []
    for one in given:
        groups = GROUPS[:2] if one == START else (one,) if one in GROUPS else ()
        if not groups and one not in everything.names:
            raise UnknownNameError("entry to change", str(one), (START, *GROUPS, *everything.names))
        chosen += [name for group in groups for name in everything.names[everything.places[group]]] or [str(one)]
    if not chosen or len(set(chosen)) < len(chosen):
        raise ArgumentError(f"change={shown(change)}, expected each entry at most once, and at least one")
    used = columns_of(run, [group for group in GROUPS if any(name in everything.names[everything.places[group]] for name in chosen)])
    return _Changed(used, np.array([used.names.index(name) for name in chosen], dtype=np.intp))


class _Search:
    """The attempts so far, and the next one."""

    def __init__(self, run: Trajectory, description: Description, goal: Goal, hit: Hit, changed: _Changed) -> None:
        self.description, self.goal, self.changed, self.robot = description, goal, changed, run.robot
        self.duration, self.contact = float(run.settings["duration"]), hit.contact
        self._simulator: Simulator | None = None
        start = (run.q[0].copy(), run.v[0].copy(), description.torque.copy())
        self.attempts = [self._attempt(start, run, hit, 0.0)]

    def is_met(self, tolerance: float) -> bool:
        return bool(np.all(np.abs(self.attempts[-1].miss) <= tolerance))

    def shot(self, converged: bool) -> Shot:
        return Shot(self.contact, self.goal.names, frozen(self.goal.wanted), self.changed.names, tuple(self.attempts), converged)

    def step(self) -> None:
        """Add the next attempt; ShootingError where there is none."""
        now = self.attempts[-1]
        J = self._slopes()
        dx = np.linalg.lstsq(J, -now.miss, rcond=SMALLEST)[0]
        fall = now.distance - float(np.linalg.norm(now.miss + J @ dx))
        if fall <= STUCK * now.distance:
            raise ShootingError(self._stuck(J), self.shot(False))
        problem = ""
        for part in 0.5 ** np.arange(HALVINGS):
            found = self._try(part * dx, float(part))
            if isinstance(found, str):
                problem = f"; nearer by, {found}"
            elif now.distance - found.distance >= ENOUGH * part * fall:
                self.attempts.append(found)
                return
        raise ShootingError(f"no part of Newton's step leads nearer{problem}; expected another first guess", self.shot(False))

    def _slopes(self) -> Array:
        """(goals, unknowns): the derivative at the last attempt."""
        now, which = self.attempts[-1], self.changed.which
        hit = self.goal.find(now.trajectory)
        assert hit is not None
        try:
            found = arrival(now.trajectory, tuple(self.changed.columns.places), hit.number, hit.contact)
        except SensitivityError as error:
            if len(self.attempts) == 1:
                raise
            raise ShootingError(f"from there no step is known, as {error}", self.shot(False)) from error
        self._check_start(found)
        return self.goal.slopes(found)[:, which]

    def _check_start(self, found: Arrival) -> None:
        """ArgumentError where a change of the start would open contacts that are held from there on, or press them."""
        plain = np.zeros_like(found.start)
        for group, first in ((Q, 0), (V, self.robot.nv)):
            if group in self.changed.columns.places:
                own = self.changed.columns.places[group]
                plain[first : first + self.robot.nv, own] = np.eye(self.robot.nv)
        off = np.abs(found.start - plain).max(axis=0)[self.changed.which]
        wrong = [name for name, value in zip(self.changed.names, off, strict=True) if value > KEPT]
        if wrong:
            held = ", ".join(dict.fromkeys(phase.point for phase in self.attempts[-1].trajectory.phases if phase.start <= 0.0))
            raise ArgumentError(
                f"a change of {', '.join(wrong)} would move contacts that are held from the start on ({held}), expected change= with "
                "entries that leave them, or a start in flight"
            )

    def _try(self, dx: Array, part: float) -> Attempt | str:
        """The attempt after this change of the unknowns, or why there is none."""
        nv, now = self.robot.nv, self.attempts[-1]
        moves = {group: np.zeros(nv) for group in GROUPS}
        for group, own in self.changed.columns.places.items():
            whole_change = np.zeros(self.changed.columns.count)
            whole_change[self.changed.which] = dx
            moves[group] = whole_change[own]
        start = self.robot.integrate(now.q, moves[Q]), now.v + moves[V], now.torque + moves[TORQUE]
        try:
            run = self._simulate(*start)
        except (SimulationError, PenetrationError) as error:
            return str(error)
        hit = self.goal.find(run)
        return self._attempt(start, run, hit, part) if hit else f"{self.goal} does not happen within {self.duration:.6g} s"

    def _simulate(self, q: Array, v: Array, torque: Array) -> Trajectory:
        if self._simulator is None or not np.array_equal(torque, self._simulator.description.torque):
            same = np.array_equal(torque, self.description.torque)
            self._simulator = simulator_of(self.description if same else replace(self.description, torque=frozen(torque.copy())))
        return self._simulator.run(q, v, self.duration)

    def _attempt(self, start: tuple[Array, Array, Array], run: Trajectory, hit: Hit, part: float) -> Attempt:
        miss = self.goal.miss(run.impacts[hit.number], hit.entry)
        q, v, torque, miss = (frozen(one) for one in (*start, miss))
        return Attempt(q, v, torque, miss, part, run, hit.number)

    def _stuck(self, J: Array) -> str:
        """Why no small change leads nearer."""
        changed = ", ".join(_few(self.changed.names))
        fixed = np.abs(J).max(axis=1, initial=0.0) <= SMALLEST * max(1.0, float(np.abs(J).max(initial=0.0)))
        idle = [name for name, still, off in zip(self.goal.names, fixed, self.attempts[-1].miss, strict=True) if still and off != 0.0]
        if idle:
            return f"no small change of {changed} moves {', '.join(idle)}"
        return f"no small change of {changed} leads nearer: it is out of reach, at least from here; expected other entries or another guess"


def _few(names: tuple[str, ...], most: int = 6) -> Iterator[str]:
    yield from names[:most]
    if len(names) > most:
        yield f"... ({len(names)})"
