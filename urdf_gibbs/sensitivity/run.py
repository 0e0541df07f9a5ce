"""The sensitivity of a simulated motion: flight by flight and impact by impact along its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import within
from urdf_gibbs.errors import ArgumentError, SensitivityError
from urdf_gibbs.sensitivity.columns import Columns, Q, V, columns_of, contact_name
from urdf_gibbs.sensitivity.grazing import Grazing
from urdf_gibbs.sensitivity.impact import pseudo_inverse
from urdf_gibbs.sensitivity.machine import Machine
from urdf_gibbs.sensitivity.refusal import Refusal
from urdf_gibbs.sensitivity.saltation import Event, Saltation, saltation
from urdf_gibbs.sensitivity.values import Sensitivity
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.friction_layout import STATIC
from urdf_gibbs.simulation.impact_values import Impact
from urdf_gibbs.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

JUMP = 1e-6  # relative: accelerations before and after a release that count as equal
OFF = 1e-6  # relative: how far sensitivities after an impact may be from those that keep the held contacts closed


class Hold(NamedTuple):
    """A contact that is held, from ``start`` to ``end`` [s]."""

    contact: int
    start: float
    end: float


def sensitivity(trajectory: Trajectory, wrt: str | Iterable[str] = "start", until: float | None = None) -> Sensitivity:
    """Derivatives of all states of a motion; see ``Trajectory.sensitivity``."""
    columns = columns_of(trajectory, wrt)
    description = covered(trajectory)
    end = float(trajectory.t[-1])
    if until is not None:
        end = within(until, float(trajectory.t[0]), end, "until")
    return Run(trajectory, description, columns, end).whole()


def covered(trajectory: Trajectory) -> Description:
    """What was simulated; an error where it is not known, or has no derivatives here."""
    description = trajectory.description
    if description is None:
        raise ArgumentError(
            "a trajectory that was read from a file, unpickled or made by hand does not know its walls and laws; expected one that "
            "simulate or Simulator.run has returned in this process"
        )
    reasons = {
        "time stepping has no impacts to differentiate": description.steps_in_time,
        "controllers are Python functions, whose derivatives are not known": description.is_controlled,
        "soil under wheels is not covered": description.soil is not None,
        "dry friction of joints is not covered": bool(description.joint_friction),
    }
    for reason, found in reasons.items():
        if found:
            raise SensitivityError(reason, float(trajectory.t[0]), (), np.nan, None)
    return description


@dataclass(eq=False)
class Run:
    """One pass along a trajectory to ``end``, or until the impact with the number ``last``, which it does not pass."""

    trajectory: Trajectory
    description: Description
    columns: Columns
    end: float
    last: int = -1

    def __post_init__(self) -> None:
        trajectory = self.trajectory
        index = {name: c for c, name in enumerate(trajectory.contact_names)}
        self.holds = [Hold(index[contact_name(phase.point, phase.wall)], phase.start, phase.end) for phase in trajectory.phases]
        self.index = index
        most = max([len(impact.points) for impact in trajectory.impacts], default=0) + len({hold.contact for hold in self.holds})
        self.machine = Machine(self.description, self.columns, most)
        rows = int(np.searchsorted(trajectory.t, self.end, side="right"))
        self.t = trajectory.t[:rows] if trajectory.t[rows - 1] == self.end else np.append(trajectory.t[:rows], self.end)
        self.values = np.zeros((len(self.t), 2 * self.machine.nv, self.columns.count))
        self.saltations: list[Saltation] = []
        self.rows = 0  # that are known

    def whole(self) -> Sensitivity:
        """The sensitivity of all rows; SensitivityError with those before the time at which there is none."""
        with self.refusing(), self.machine:
            self._fill()
        return self._result()

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """A Refusal becomes a SensitivityError, which has with it what is known."""
        try:
            yield
        except Refusal as refusal:
            before = self._result() if self.rows else None
            raise SensitivityError(refusal.reason, refusal.time, refusal.contacts, refusal.spread, before) from None

    def until_impact(self) -> tuple[Event, Array, Array]:
        """The impact ``last``, and X at the start and before it; within ``machine`` and ``refusing``."""
        self._fill()
        impact, row = self.trajectory.impacts[self.last], self.rows - 1
        self._check_alone(self.last, float(self.t[row]))
        before, after = (self._held(time) for time in (self.t[max(0, row - 1)], impact.time))
        return Event(impact, self.contacts(impact), before, after), self.values[0], self.values[row]

    def _result(self) -> Sensitivity:
        t, values = self.t[: self.rows].copy(), self.values[: self.rows]
        t.flags.writeable = values.flags.writeable = False
        rows = tuple(f"{group}.{name}" for group in (Q, V) for name in self.machine.robot.velocity_names)
        return Sensitivity(t, values, self.columns.names, dict(self.columns.places), tuple(self.saltations), rows, self._onwards)

    def _fill(self) -> None:
        t, held, changed = self.t, self._held(self.t[0]), False
        X = self._start(held)
        self._keep(X)
        grazing = Grazing(self.machine, self.trajectory, held)
        for i in range(len(t) - 1):
            if t[i + 1] == t[i]:
                if len(self.saltations) == self.last:
                    return
                after = self._held(t[i])
                X = self._through_impact(i, X, held, after)
                held, changed = after, True
            else:
                before, held = held, self._held(t[i])
                if held != before:
                    self._change(i, before, held)
                    changed = True
                if i + 1 < len(self.trajectory) and t[i + 1] == self.trajectory.t[i + 1]:
                    grazing.near |= self._busy(i)
                    grazing.check(i, held, changed)
                X, changed = self._fly(i, float(t[i + 1]), X), False
            self._keep(X)

    def _keep(self, X: Array) -> None:
        self.values[self.rows] = X
        self.rows += 1

    def _state(self, i: int) -> tuple[Array, Array]:
        return self.trajectory.q[i], self.trajectory.v[i]

    def _held(self, time: float) -> list[int]:
        """The contacts that are held from this time on."""
        return sorted({hold.contact for hold in self.holds if hold.start <= time < hold.end})

    def _busy(self, i: int) -> set[int]:
        """The contacts that strike, begin to be held or are released at rows i and i + 1."""
        times = self.t[i : i + 2].tolist()
        held = {hold.contact for hold in self.holds if hold.start in times or hold.end in times}
        around = self.trajectory.impacts[max(0, len(self.saltations) - 1) : len(self.saltations) + 1]
        return held | {c for impact in around if impact.time in times for c in self.contacts(impact)}

    def contacts(self, impact: Impact) -> list[int]:
        """Of an impact, as indices."""
        return [self.index[contact_name(*both)] for both in zip(impact.points, impact.walls, strict=True)]

    # pieces -------------------------------------------------------------------------------------------

    def _start(self, held: list[int]) -> Array:
        """X at the start."""
        nv, X = self.machine.nv, np.zeros(self.values.shape[1:])
        for group, rows in ((Q, slice(0, nv)), (V, slice(nv, 2 * nv))):
            if group in self.columns.places:
                X[rows, self.columns.places[group]] = np.eye(nv)
        if held:
            self._check_held(self.t[0], held)
            X = self._projected(0, X, held)[0]
        return X

    def _fly(self, i: int, end: float, X: Array) -> Array:
        """X from row i to a time before the next event."""
        t, held = float(self.t[i]), self._held(self.t[i])
        inside = [hold for hold in self.holds if t < hold.start < end or t < hold.end < end]
        if inside:
            reason = "rows of the trajectory at which a contact begins or ends were dropped (see memory of simulate)"
            raise Refusal(reason, t, self.machine.names([hold.contact for hold in inside]))
        y, X = self.machine.cross(t, end - t, np.concatenate(self._state(i)), X, held)
        if held:
            X = self._projected_at(end, y[: self.machine.nq], y[self.machine.nq :], X, held)[0]
        return X

    def _onwards(self, row: int, time: float) -> Array:
        """X at a time after a row and before the next."""
        with self.machine:
            return self._fly(row, time, self.values[row])

    def _through_impact(self, i: int, X: Array, held: list[int], after: list[int]) -> Array:
        t = float(self.t[i])
        number = len(self.saltations)
        impact = self.trajectory.impacts[number]
        contacts = self.contacts(impact)
        self._check_alone(number, t)
        self._check_held(t, after)
        passed = saltation(self.machine, Event(impact, contacts, held, after))
        size = max(1.0, float(np.abs(X).max())) * max(1.0, float(np.abs(passed.matrix).max()))
        X = passed.matrix @ X + passed.direct
        if after:
            X, off = self._projected(i + 1, X, after)
            if off > OFF * size:
                reason = "a contact that is held after the impact would be opened or pressed by any change of the motion"
                raise Refusal(reason, t, self.machine.names(after), off)
        self.saltations.append(passed)
        return X

    def _check_alone(self, number: int, t: float) -> None:
        """Refuse an impact that is not the only one at its time, that of these rows."""
        impacts = self.trajectory.impacts
        if impacts[number].time != t or (number and impacts[number - 1].time == t):
            reason = "one impact leads to another at the same time: the motion itself jumps with the order of contacts"
            raise Refusal(reason, t, self.machine.names(self.contacts(impacts[number])))

    def _change(self, i: int, held: list[int], now: list[int]) -> None:
        """Refuse contacts that begin to be held without an impact, and releases at which the acceleration jumps."""
        t = float(self.t[i])
        begun = [c for c in now if c not in held]
        if begun:
            reason = "a contact comes to rest without an impact, as at the end of bouncing or where it grazes its wall"
            raise Refusal(reason, t, self.machine.names(begun))
        before, after = (self.machine.acceleration(t, *self._state(i), which)[0] for which in (held, now))
        jump = float(np.abs(after - before).max())
        if jump > JUMP * max(1.0, float(np.abs(before).max())):
            reason = f"accelerations jump by {jump:.3g} where a contact is released"
            raise Refusal(reason, t, self.machine.names([c for c in held if c not in now]), jump)

    def _check_held(self, t: float, held: list[int]) -> None:
        friction = self.machine.candidates.contacts.friction
        rough = [c for c in held if friction[c, STATIC] > 0.0]
        if rough:
            raise Refusal("held contacts with friction are not covered", float(t), self.machine.names(rough))

    def _projected(self, i: int, X: Array, held: list[int]) -> tuple[Array, float]:
        return self._projected_at(float(self.t[i]), *self._state(i), X, held)

    def _projected_at(self, t: float, q: Array, v: Array, X: Array, held: list[int]) -> tuple[Array, float]:
        """X with the held contacts kept closed and at rest, by the least change in the metric of M, and how much that is."""
        nv, rows = self.machine.nv, self.machine.rows(t, q, v, held)
        response = np.linalg.solve(self.machine.mass(q), rows.J.T)
        back = response @ pseudo_inverse(rows.J @ response)
        Xq = X[:nv] - back @ (rows.J @ X[:nv])
        Xv = X[nv:] - back @ (rows.J @ X[nv:] + rows.Dr @ Xq)
        moved = np.concatenate([Xq, Xv])
        return moved, float(np.abs(moved - X).max())
