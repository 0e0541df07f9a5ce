"""The impacts of a simulation as values. Points, normals and velocities are in the world frame; SI units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.plain import put_array, set_field

if TYPE_CHECKING:
    from urdf_gibbs.simulation.layout import Record

Array = NDArray[np.float64]

GAIN = 1e-9  # of the kinetic energy: a gain beyond rounding


@dataclass(frozen=True, eq=False)
class Impact:
    """k contacts struck at one time and solved together. Arrays are read-only; points, normals and velocities are in the world.

    Attributes:
        time: [s].
        points: Each contact's name: the contact point, "a-b" for a pair of points, the joint for a limit.
        walls: The wall of each, "" for a pair, "lower" or "upper" for a limit.
        positions: (k, 3) [m], NaN for limits.
        normals: (k, 3), unit vectors that point to the free side.
        angles_of_attack: (k,) [rad] between the reversed velocity and the normal, 0 is head-on.
        velocities_before: (k, 3) [m/s] of the points relative to the wall.
        velocities_after: The same after the impact.
        normal_velocities_before: (k,) [m/s, rad/s for a revolute limit], negative when approaching.
        normal_velocities_after: The same after the impact.
        impulses: (k,) along the normals [N s, N m s for a revolute limit].
        restitution: (k,), what each contact was solved with.
        tangential_impulses: (k, 3) of friction [N s], zero without it.
        energy_before: Kinetic and potential energy together [J].
        energy_after: The same after the impact [J].
        q: Coordinates (nq,).
        v_before: Velocities (nv,).
        v_after: Velocities (nv,) after the impact.
        law: The law that was applied.
        rounds: How often the solver of the law was asked.
        certificate: What the solver of the law says of its accuracy.
        energy_gain: Whether energy was gained, which some laws cannot exclude, and no wall moves that could have given it.
        cycle: Whether it is the inelastic end of a cycle of weak impacts that contacts pass back and forth (see ``cycle`` of ``simulate``).
    """

    time: float
    points: tuple[str, ...]
    walls: tuple[str, ...]
    positions: Array
    normals: Array
    angles_of_attack: Array
    velocities_before: Array
    velocities_after: Array
    normal_velocities_before: Array
    normal_velocities_after: Array
    impulses: Array
    restitution: Array
    energy_before: float
    energy_after: float
    q: Array
    v_before: Array
    v_after: Array
    law: str = ""
    rounds: int = 1
    certificate: float = 0.0
    energy_gain: bool = False
    cycle: bool = False
    tangential_impulses: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def __post_init__(self) -> None:
        k = len(self.points)
        if len(self.walls) != k:
            raise ArgumentError(f"{len(self.walls)} walls for {k} points, expected one each")
        if np.size(self.tangential_impulses) == 0:
            set_field(self, "tangential_impulses", np.zeros((k, 3)))
        for name in VECTORS:
            put_array(self, name, (k, 3))
        for name in SCALARS:
            put_array(self, name, (k,))
        for name in STATES:
            put_array(self, name, (np.size(getattr(self, name)),))
        set_field(self, "points", tuple(self.points))
        set_field(self, "walls", tuple(self.walls))
        for name in ("time", "energy_before", "energy_after", "certificate"):
            set_field(self, name, float(getattr(self, name)))
        set_field(self, "rounds", int(self.rounds))
        set_field(self, "energy_gain", bool(self.energy_gain))
        set_field(self, "cycle", bool(self.cycle))

    @property
    def k(self) -> int:
        """How many contacts were solved together."""
        return len(self.points)

    @property
    def energy_loss(self) -> float:
        """Energy that the impact took away [J]."""
        return self.energy_before - self.energy_after

    def __repr__(self) -> str:
        where = ", ".join(f"{point} on {wall}" if wall else point for point, wall in zip(self.points, self.walls, strict=True))
        return f"<Impact at {self.time:.9g} s: {where}, energy loss {self.energy_loss:.6g} J>"


# Fields of an impact by shape: (k, 3), (k,), one number, (nq,) or (nv,).
VECTORS = ("positions", "normals", "velocities_before", "velocities_after", "tangential_impulses")
SCALARS = ("angles_of_attack", "normal_velocities_before", "normal_velocities_after", "impulses", "restitution")
NUMBERS = ("time", "energy_before", "energy_after", "rounds", "certificate", "energy_gain", "cycle")
STATES = ("q", "v_before", "v_after")
ARRAYS = (*VECTORS, *SCALARS, *STATES)


def unchecked_impact(**fields: Any) -> Impact:
    """An Impact from fields that are known to be valid: nothing is checked or copied."""
    impact = Impact.__new__(Impact)
    for name in ARRAYS:
        fields[name].flags.writeable = False
    impact.__dict__.update(fields)
    return impact


def described_impact(
    *,
    velocities: tuple[Array, Array],
    kinetic: tuple[float, float],
    potential: float,
    state: tuple[Array, Array, Array],
    **fields: Any,
) -> Impact:
    """The Impact of k contacts at time 0, no walls told: velocities (k, 3) and kinetic energies [J] before and after, other ``fields``.

    state: q (nq,), v before and after (nv,).
    """
    before, after = velocities
    approach, leaving = (np.einsum("ij,ij->i", fields["normals"], one) for one in velocities)
    return Impact(
        time=0.0,
        walls=("",) * len(fields["points"]),
        angles_of_attack=angles_of_attack(before, approach),
        velocities_before=before,
        velocities_after=after,
        normal_velocities_before=approach,
        normal_velocities_after=leaving,
        energy_before=kinetic[0] + potential,
        energy_after=kinetic[1] + potential,
        energy_gain=gains(*kinetic),
        q=state[0].copy(),
        v_before=state[1].copy(),
        v_after=state[2],
        **fields,
    )


def gains(before: float, after: float) -> bool:
    """Whether kinetic energy [J] grew, beyond rounding."""
    return after - before > GAIN * max(before, 1e-300)


def angles_of_attack(velocities: Array, approach: Array) -> Array:
    """(k,) [rad] between the reversed velocities (k, 3) and the normals, along which they are ``approach`` (k,); NaN at a joint limit."""
    speed = np.sqrt(np.einsum("ij,ij->i", velocities, velocities))
    cosine = np.divide(-approach, speed, out=np.ones(len(approach)), where=speed != 0.0)
    return np.arccos(np.minimum(np.maximum(cosine, -1.0), 1.0))


class LazyImpacts(Sequence[Impact]):
    """Impacts made on first access. Behaves like a tuple, and is pickled as one."""

    def __init__(self, count: int, make: Callable[[int], Impact]) -> None:
        self._impacts: list[Impact | None] = [None] * count
        self._make = make

    def __len__(self) -> int:
        return len(self._impacts)

    @overload
    def __getitem__(self, index: int) -> Impact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Impact, ...]: ...
    def __getitem__(self, index: int | slice) -> Impact | tuple[Impact, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        impact = self._impacts[index]
        if impact is None:
            impact = self._impacts[index] = self._make(range(len(self))[index])
        return impact

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


class _Batch(NamedTuple):
    """The impacts of one drain of the record, in the columns of Record (layout.py)."""

    y: Array
    v: Array
    counts: NDArray[np.int64]
    numbers: Array
    contact: NDArray[np.int64]
    contact_numbers: Array


class ImpactTable:
    """The impacts of a run, as copies of the record's arrays; ``impact`` makes the Impact of one.

    points, walls: names of all contacts; moving (contacts,): whether the contact's wall moves, and so can do work.
    """

    def __init__(self, points: tuple[str, ...], walls: tuple[str, ...], moving: NDArray[np.bool_], nq: int) -> None:
        self._points, self._walls, self._moving, self._nq = points, walls, moving, nq
        self._rows: list[tuple[_Batch, int, slice]] = []  # batch, impact within it, its contacts

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, r: Record) -> None:
        """Copy the impacts from the driver's record."""
        n, parts = r.impacts, r.impact_contacts
        counts = r.impact_counts[:n].copy()
        own = r.contact[:parts].copy(), r.contact_numbers[:parts].copy()
        batch = _Batch(r.impact_y[:n].copy(), r.impact_v[:n].copy(), counts, r.impact_numbers[:n].copy(), *own)
        first = 0
        for i, k in enumerate(counts[:, 0].tolist()):
            self._rows.append((batch, i, slice(first, first + k)))
            first += k

    def struck(self, i: int) -> list[int]:
        """The contacts of the i-th impact that were given an impulse."""
        batch, _, own = self._rows[i]
        contacts: list[int] = batch.contact[own][batch.contact_numbers[own, 14] > 0.0].tolist()
        return contacts

    def impact(self, i: int) -> Impact:
        """The i-th impact."""
        batch, row, own = self._rows[i]
        which, numbers = batch.contact[own], batch.contact_numbers[own]
        _, rounds, law, cycle = batch.counts[row].tolist()
        time, certificate, kinetic, left, potential = batch.numbers[row].tolist()
        before, approach = numbers[:, 6:9], numbers[:, 9]
        return unchecked_impact(
            time=time,
            points=tuple(self._points[c] for c in which),
            walls=tuple(self._walls[c] for c in which),
            positions=numbers[:, :3],
            normals=numbers[:, 3:6],
            angles_of_attack=angles_of_attack(before, approach),
            velocities_before=before,
            velocities_after=numbers[:, 10:13],
            normal_velocities_before=approach,
            normal_velocities_after=numbers[:, 13],
            impulses=numbers[:, 14],
            tangential_impulses=numbers[:, 16:19],
            restitution=numbers[:, 15],
            energy_before=kinetic + potential,
            energy_after=left + potential,
            q=batch.y[row, : self._nq],
            v_before=batch.y[row, self._nq :],
            v_after=batch.v[row],
            law=LAWS[law] if law < len(LAWS) else "without-collision",
            rounds=rounds,
            certificate=certificate,
            cycle=bool(cycle),
            energy_gain=gains(kinetic, left) and not self._moving[which].any(),
        )
