"""What many runs of one simulation start from, and what comes out of them: arrays with one row for each run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Coefficients: TypeAlias = ArrayLike | Mapping[str, ArrayLike]

COMPLETE = "complete"


@dataclass(frozen=True, eq=False)
class Runs:
    """n runs of one simulation. What is None is that of the simulation, in all of them.

    Only ``q`` has to have a row for each run; any other array may leave out the leading axis: then it is the same for all. Coefficients
    are those of the scene, or a mapping from what they belong to: "" (the scene), the name of a wall, or of a contact ("point|wall");
    the more specific ones count.

    Attributes:
        q: Coordinates at the start (n, nq).
        v: Velocities at the start (n, nv); None: at rest.
        duration: Of each run (n,), or of all [s].
        restitution: (n,) in [0, 1], of the scene or by name.
        friction: (n,), or (n, 2) static and kinetic coefficients, of the scene or by name.
        gravity: (n, 3) in the world [m/s^2].
        torque: Constant generalised forces (n, nv) [N m, N].
        parameters: Inertial parameters of all bodies (n, nb, 10), in the order of ``Robot.parameters``.
        walls: {name of a wall: {argument of its class: (n, ...)}}: its radius, centre, point, normal, size, ...
    """

    q: ArrayLike
    v: ArrayLike | None = None
    duration: ArrayLike = field(kw_only=True)
    restitution: Coefficients | None = None
    friction: Coefficients | None = None
    gravity: ArrayLike | None = None
    torque: ArrayLike | None = None
    parameters: ArrayLike | None = None
    walls: Mapping[str, Mapping[str, ArrayLike]] | None = None


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What came out of n runs. Where a run has failed, its numbers are those at the time that it reached.

    Attributes:
        reasons: {run: why it did not complete}, of the runs that did not: "failed: ..." with the reason of the SimulationError, or
            "refused: ..." with what is wrong with its start or its values.
        time: The time reached (n,) [s].
        impacts: How many impacts (n,).
        steps: How many steps (n,).
        rejected: How many steps were rejected (n,).
        evaluations: Of the dynamics (n,).
        bounces: Of time stepping, contacts that restitution has thrown back (n,).
        last_impact: Time of the last impact (n,) [s]; NaN: there was none.
        held_from: From when on the contacts that hold at the end hold as they do then (n,) [s]: the end of the last bouncing, sliding
            or release; where bounces accumulate, the time at which they end. NaN: none holds.
        rest: The same where nothing moves at the end (n,) [s]: the time of rest. NaN: it moves, or nothing touches.
        largest_impulse: Of all contacts in all impacts along their normals (n,) [N s; N m s at limits of revolute joints].
        deepest: The largest penetration at the ends of steps (n,) [m].
        friction_work: Energy that friction has taken away, impacts apart (n,) [J].
        energy_at_rest: Energy that contacts coming to rest have removed (n,) [J].
        kinetic: Kinetic energy (n, 2) at the start and at the end [J].
        potential: Potential energy (n, 2) at the start and at the end [J].
        q: Coordinates at the end (n, nq).
        v: Velocities at the end (n, nv).
        first_times: Times of the first K impacts (n, K) [s]; NaN: there was none.
        first_impulses: The largest impulse of each of them (n, K) [N s].
        first_contacts: Which contact had it (n, K), an index of ``Many.contact_names``; -1: none.
    """

    reasons: dict[int, str]
    time: Array
    impacts: Integers
    steps: Integers
    rejected: Integers
    evaluations: Integers
    bounces: Integers
    last_impact: Array
    held_from: Array
    rest: Array
    largest_impulse: Array
    deepest: Array
    friction_work: Array
    energy_at_rest: Array
    kinetic: Array
    potential: Array
    q: Array
    v: Array
    first_times: Array
    first_impulses: Array
    first_contacts: Integers

    def __len__(self) -> int:
        return len(self.time)

    @property
    def status(self) -> list[str]:
        """Of each run: "complete", "failed: ..." or "refused: ..."."""
        return [self.reasons.get(i, COMPLETE) for i in range(len(self))]

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which runs are complete (n,)."""
        done = np.ones(len(self), dtype=bool)
        done[list(self.reasons)] = False
        return done
