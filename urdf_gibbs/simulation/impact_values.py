"""What a simulation tells of its impacts. Points, normals and velocities are in the world's frame; SI units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.plain import put_array, set_field

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Impact:
    """k contacts struck at one time and solved together. Arrays are read-only.

    ``points`` names each contact: the contact point, "a-b" for a pair of points, the joint for a limit; ``walls`` the wall,
    "" for a pair, "lower" or "upper" for a limit. ``positions`` (k, 3) [m] in the world, NaN for limits; ``normals`` (k, 3)
    point to the free side; ``angles_of_attack`` (k,) [rad] lie between the reversed velocity and the normal, 0 is head-on.
    Velocities (k, 3) [m/s] are those of the points relative to the wall, their normal parts (k,) [m/s, rad/s for a revolute
    limit] negative when approaching. ``impulses`` (k,) [N s, N m s for a revolute limit]; ``restitution`` (k,) is what each
    contact was solved with. Energies [J] are kinetic and potential together. ``rounds`` and ``certificate`` are what the
    solver of ``law`` reports of its work and its accuracy; ``energy_gain`` marks a gain that the law does not allow; ``cycle`` the
    inelastic end of a cycle, in which contacts hand each other blows too weak to matter (see ``zeno`` of ``simulate``).
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

    def __post_init__(self) -> None:
        k = len(self.points)
        if len(self.walls) != k:
            raise ArgumentError(f"{len(self.walls)} walls for {k} points, expected one each")
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
VECTORS = ("positions", "normals", "velocities_before", "velocities_after")
SCALARS = ("angles_of_attack", "normal_velocities_before", "normal_velocities_after", "impulses", "restitution")
NUMBERS = ("time", "energy_before", "energy_after", "rounds", "certificate", "energy_gain", "cycle")
STATES = ("q", "v_before", "v_after")
ARRAYS = (*VECTORS, *SCALARS, *STATES)


def made_impact(**fields: Any) -> Impact:
    """An Impact of fields that are known to be right: nothing is checked or copied."""
    impact = Impact.__new__(Impact)
    for name in ARRAYS:
        fields[name].flags.writeable = False
    impact.__dict__.update(fields)
    return impact


class LazyImpacts(Sequence[Impact]):
    """Impacts that are worked out when they are looked at; behaves like a tuple, and is pickled as one."""

    def __init__(self, count: int, make: Callable[[int], Impact]) -> None:
        self._made: list[Impact | None] = [None] * count
        self._make = make

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> Impact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Impact, ...]: ...
    def __getitem__(self, index: int | slice) -> Impact | tuple[Impact, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        made = self._made[index]
        if made is None:
            made = self._made[index] = self._make(range(len(self))[index])
        return made

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)
