"""What has happened in a run, taken over from the driver's record, and the Trajectory made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.simulation.impact_values import Impact, LazyImpacts, made_impact
from urdf_gibbs.simulation.trajectory import Phase, PlainSettings, Trajectory, made_trajectory

if TYPE_CHECKING:
    from urdf_gibbs.simulation.simulate import Simulator

Array = NDArray[np.float64]

GAIN = 1e-9  # of the kinetic energy: a gain beyond rounding


class Log:
    """What has happened, taken over from the driver's record piece by piece."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.record = simulator._record
        self._rows: list[tuple[Array, ...]] = []  # t, q, v, interpolant, forces
        self._dense, self._size, self.thinned = simulator._dense, 0, 0  # with interpolants; bytes of the rows; how often thinned out
        r = self.record
        self._row = 8 * (1 + r.y.shape[1] + r.force.shape[1] + (r.F.shape[1] * r.F.shape[2] if self._dense else 0))  # bytes
        self._blows: list[tuple[list[Any], int, list[Any], slice]] = []  # columns of impacts, which one; of their contacts, which
        self._open: dict[int, tuple[float, float]] = {}
        self._phases: list[Phase] = []

    def take(self) -> None:
        """Copy and empty the record."""
        r, nq = self.record, self._simulator.robot.nq
        rows, blows, parts, turns = r.filled.tolist()
        F = r.F[:rows].copy() if self._dense else r.F[:0]
        self._rows.append((r.t[:rows].copy(), r.y[:rows, :nq].copy(), r.y[:rows, nq:].copy(), F, r.force[:rows].copy()))
        self._size += rows * self._row
        if self._size > self._simulator._memory:
            self._thin()
        if blows:
            columns = (r.blow_t, r.blow_y, r.blow_v, r.blow_size, r.blow_certificate)
            struck = [column[:blows].copy() for column in columns]
            contacts = [column[:parts].copy() for column in (r.part, r.part_impulse, r.part_restitution)]
            first = 0
            for i, k in enumerate(r.blow_size[:blows, 0].tolist()):
                self._blows.append((struck, i, contacts, slice(first, first + k)))
                first += k
        if turns:
            for (c, begins), (t, accumulation) in zip(r.turn[:turns].tolist(), r.turn_t[:turns].tolist(), strict=True):
                if begins:
                    self._open[c] = (t, accumulation)
                else:
                    self._phases.append(self._phase(c, *self._open.pop(c), t))
        r.filled[:] = 0

    def _thin(self) -> None:
        """Give up the interpolants; next time every other row, but none at the time of an impact, and neither the first nor the last."""
        t, q, v, F, force = map(np.concatenate, zip(*self._rows, strict=True))
        keep = np.ones(len(t), dtype=bool)
        if not self._dense:
            keep[1:-1:2] = False
            twice = np.flatnonzero(np.diff(t) == 0.0)  # before and after an impact
            keep[twice] = keep[twice + 1] = True
        self._dense, self.thinned = False, self.thinned + 1
        self._rows = [(t[keep], q[keep], v[keep], F[:0], force[keep])]
        self._row -= F.nbytes // max(1, len(F))
        self._size = int(keep.sum()) * self._row

    @property
    def impacts(self) -> LazyImpacts:
        return LazyImpacts(len(self._blows), self._impact)

    def _phase(self, c: int, start: float, accumulation: float, end: float = np.inf) -> Phase:
        found = self._simulator._candidates
        return Phase(found.points[c], found.walls[c], start, end, accumulation)

    def struck_lately(self, blows: int) -> list[tuple[int, int]]:
        """Which contacts the last blows gave an impulse, and how many; the most frequent first."""
        struck = Counter(c for _, _, (which, impulse, _), own in self._blows[-blows:] for c in which[own][impulse[own] > 0.0].tolist())
        return struck.most_common()

    def _impact(self, i: int) -> Impact:
        with self._simulator._alone():
            return self.impact(i)

    def impact(self, i: int) -> Impact:
        """The i-th impact; the simulator must not be at work."""
        simulator = self._simulator
        found, s, nq = simulator._candidates, simulator._system, simulator.robot.nq
        struck, row, contacts, own = self._blows[i]
        t, y, v1, (_, rounds, law, cycle), certificate = (column[row] for column in struck)
        which, impulse, restitution = (column[own] for column in contacts)
        q, v0 = y[:nq], y[nq:]
        k, state = len(which), simulator._state
        s.which[:k], state.y[:], state.new[:nq], state.new[nq:] = which, y, q, v1
        simulator._report(s._address, state._address, float(t), k)
        out = s.seen[:k].copy()
        kinetic, left, potential = s.energies.tolist()
        speed = np.sqrt(np.einsum("ij,ij->i", out[:, 6:9], out[:, 6:9]))
        cosine = np.divide(-out[:, 9], speed, out=np.ones(k), where=speed != 0.0)  # NaN at a joint limit
        return made_impact(
            time=float(t),
            points=tuple(found.points[c] for c in which),
            walls=tuple(found.walls[c] for c in which),
            positions=out[:, :3],
            normals=out[:, 3:6],
            angles_of_attack=np.arccos(np.minimum(np.maximum(cosine, -1.0), 1.0)),
            velocities_before=out[:, 6:9],
            velocities_after=out[:, 10:13],
            normal_velocities_before=out[:, 9],
            normal_velocities_after=out[:, 13],
            impulses=impulse,
            restitution=restitution,
            energy_before=kinetic + potential,
            energy_after=left + potential,
            q=q,
            v_before=v0,
            v_after=v1,
            law=LAWS[law],
            rounds=int(rounds),
            certificate=float(certificate),
            cycle=bool(cycle),
            energy_gain=left - kinetic > GAIN * max(kinetic, 1e-300) and not simulator._moving[which].any(),
        )

    def trajectory(self, status: str, statistics: dict[str, Any], duration: float) -> Trajectory:
        simulator = self._simulator
        rows: Iterable[Array] = self._rows[0] if len(self._rows) == 1 else map(np.concatenate, zip(*self._rows, strict=True))
        t, q, v, F, force = rows
        phases = [*self._phases, *(self._phase(c, *held) for c, held in self._open.items())]
        statistics["bytes"], statistics["thinned"] = self._size, self.thinned
        return made_trajectory(
            robot=simulator.robot,
            gravity=simulator.gravity.copy(),
            t=t,
            q=q,
            v=v,
            contact_names=simulator._names,
            contact_forces=force,
            impacts=self.impacts,
            phases=tuple(sorted(phases, key=lambda phase: phase.start)),
            status=status,
            settings=PlainSettings(simulator._described, duration=duration),
            statistics=statistics,
            dense=F[1:] if self._dense and len(F) else None,
        )
