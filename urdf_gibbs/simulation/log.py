"""The history of a run, copied from the driver's record batch by batch, and the Trajectory made from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.contact.surfaces import MOVES
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.friction_layout import FREE, SLIDES, STICKS
from urdf_gibbs.simulation.impact_values import Impact, ImpactTable, LazyImpacts
from urdf_gibbs.simulation.layout import Record
from urdf_gibbs.simulation.trajectory import Phase, PlainSettings, Trajectory, unchecked_trajectory

Array = NDArray[np.float64]

MODES = {STICKS: "stick", SLIDES: "slip"}  # of phases, "" where there is no friction


@dataclass(frozen=True, eq=False)
class Facts:
    """What all runs of a simulator share. ``points``, ``walls``, ``names`` of the contacts; ``moving``: whether the wall moves.

    The last of them, for each entry of ``rubbing``, are the dry friction of joints: entries of v.
    """

    description: Description
    robot: Robot
    gravity: Array
    points: tuple[str, ...]
    walls: tuple[str, ...]
    names: tuple[str, ...]
    moving: NDArray[np.bool_]
    rubbing: NDArray[np.int64]
    settings: dict[str, Any]
    dense: bool
    memory: float

    @classmethod
    def of(cls, description: Description, candidates: Candidates) -> Facts:
        surfaces, contacts = candidates.surfaces, candidates.contacts
        moving = [kind == 0 and bool(surfaces.integers[i, MOVES]) for kind, i in zip(contacts.kind, contacts.surface, strict=True)]
        return cls(
            description=description,
            robot=description.robot,
            gravity=description.gravity,
            points=candidates.points,
            walls=candidates.walls,
            names=candidates.names,
            moving=np.array(moving, dtype=bool),
            rubbing=contacts.index[candidates.touching :, 1],
            settings=description.settings(description.longest_step(candidates)),
            dense=description.dense,
            memory=description.memory,
        )


class Log:
    """The history so far; ``drain`` moves what the record holds into it."""

    def __init__(self, facts: Facts, record: Record) -> None:
        self._facts, self._record = facts, record
        self._rows: list[tuple[Array, ...]] = []  # t, q, v, interpolant, forces, tangential forces, work of friction
        self._dense, self._size, self.thinned = facts.dense, 0, 0  # keeps interpolants; bytes of all rows; times thinned
        interpolant = record.F.shape[1] * record.F.shape[2] if self._dense else 0
        self._row_bytes = 8 * (2 + record.y.shape[1] + record.force.shape[1] + record.friction.shape[1] + interpolant)
        self._impacts = ImpactTable(facts.points, facts.walls, facts.moving, facts.robot.nq)
        self._open: dict[int, tuple[float, float, int]] = {}
        self._phases: list[Phase] = []

    def drain(self) -> None:
        """Copy and empty the record."""
        r, nq, rows = self._record, self._facts.robot.nq, self._record.rows
        F = r.F[:rows].copy() if self._dense else r.F[:0]
        forces = r.force[:rows].copy(), r.friction[:rows].copy(), r.work[:rows].copy()
        self._rows.append((r.t[:rows].copy(), r.y[:rows, :nq].copy(), r.y[:rows, nq:].copy(), F, *forces))
        self._size += rows * self._row_bytes
        if self._size > self._facts.memory:
            self._thin()
        if r.impacts:
            self._impacts.add(r)
        if r.phase_changes:
            self._drain_phase_changes()
        r.rows = r.impacts = r.impact_contacts = r.phase_changes = 0

    def _drain_phase_changes(self) -> None:
        r, turns = self._record, self._record.phase_changes
        columns = (r.change_contact, r.change_mode, r.change_time, r.change_accumulation)
        for c, mode, t, accumulation in zip(*(column[:turns].tolist() for column in columns), strict=True):
            if c in self._open:
                self._phases.append(self._phase(c, *self._open.pop(c), t))
            if mode != FREE:
                self._open[c] = (t, accumulation, mode)

    def _thin(self) -> None:
        """Drop the interpolants; the next time every other row, except the first, the last and those at impacts."""
        t, q, v, F, force, friction, work = map(np.concatenate, zip(*self._rows, strict=True))
        keep = np.ones(len(t), dtype=bool)
        if not self._dense:
            keep[1:-1:2] = False
            twice = np.flatnonzero(np.diff(t) == 0.0)  # before and after an impact
            keep[twice] = keep[twice + 1] = True
        self._dense, self.thinned = False, self.thinned + 1
        self._rows = [(t[keep], q[keep], v[keep], F[:0], force[keep], friction[keep], work[keep])]
        self._row_bytes -= F.nbytes // max(1, len(F))
        self._size = int(keep.sum()) * self._row_bytes

    @property
    def count(self) -> int:
        """Number of impacts."""
        return len(self._impacts)

    def impact(self, i: int) -> Impact:
        """The i-th impact."""
        return self._impacts.impact(i)

    def _phase(self, c: int, start: float, accumulation: float, mode: int, end: float = np.inf) -> Phase:
        return Phase(self._facts.points[c], self._facts.walls[c], start, end, accumulation, MODES.get(mode, ""))

    def recently_struck(self, last: int) -> list[tuple[int, int]]:
        """Contacts with an impulse in the ``last`` impacts and how often each was struck, the most frequent first."""
        struck = Counter(c for i in range(max(0, self.count - last), self.count) for c in self._impacts.struck(i))
        return struck.most_common()

    def trajectory(self, status: str, statistics: dict[str, Any], duration: float) -> Trajectory:
        facts = self._facts
        rows: Iterable[Array] = self._rows[0] if len(self._rows) == 1 else map(np.concatenate, zip(*self._rows, strict=True))
        t, q, v, F, force, friction, work = rows
        nc, dry = len(facts.names) - len(facts.rubbing), np.zeros_like(v)
        dry[:, facts.rubbing] = force[:, nc:]
        phases = [*self._phases, *(self._phase(c, *held) for c, held in self._open.items())]
        statistics["bytes"], statistics["thinned"] = self._size, self.thinned
        return unchecked_trajectory(
            robot=facts.robot,
            gravity=facts.gravity.copy(),
            t=t,
            q=q,
            v=v,
            contact_names=facts.names[:nc],
            contact_forces=np.ascontiguousarray(force[:, :nc]),
            friction_forces=friction.reshape(len(t), -1, 3)[:, :nc].copy() if friction.shape[1] else np.zeros((len(t), nc, 3)),
            joint_friction=dry,
            friction_work=work,
            impacts=LazyImpacts(len(self._impacts), self._impacts.impact),
            phases=tuple(sorted(phases, key=lambda phase: phase.start)),
            status=status,
            settings=PlainSettings(facts.settings, duration=duration),
            statistics=statistics,
            dense=F[1:] if self._dense and len(F) else None,
            description=facts.description,
        )
