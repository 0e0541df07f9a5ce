"""What an impact should be: which one it is, and where, when and how fast its contact should be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs.arguments import Array, listed, shown, text, whole, within
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.sensitivity.arrival import Arrival
from urdf_gibbs.sensitivity.columns import contact_name
from urdf_gibbs.sensitivity.saltation import SLOWEST
from urdf_gibbs.simulation.impact_values import Impact
from urdf_gibbs.simulation.trajectory import Trajectory

TIME = "time"
ENTRIES = (TIME, *(f"{what}.{axis}" for what in ("place", "velocity") for axis in "xyz"))  # of all that a goal can be about


class Hit(NamedTuple):
    """An impact of a run by its number, and one of its contacts by its place in it and as in ``Trajectory.contact_names``."""

    number: int
    entry: int
    contact: str


@dataclass(frozen=True, eq=False)
class Goal:
    """``impact``: how many impacts (of ``contact``, where it is named) come before it. ``wanted`` (k,) are the entries ``which``."""

    contact: str | None
    impact: int
    which: tuple[int, ...]
    wanted: Array

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(ENTRIES[i] for i in self.which)

    def find(self, run: Trajectory) -> Hit | None:
        """The impact in a run; None where it does not happen, or several contacts strike in it and none is named."""
        before = self.impact
        for number, impact in enumerate(run.impacts):
            names = [contact_name(*both) for both in zip(impact.points, impact.walls, strict=True)]
            own = [i for i, point in enumerate(impact.points) if self.contact in (None, point, names[i])]
            own = [i for i in own if impact.normal_velocities_before[i] < -SLOWEST]  # others are held, or struck from behind
            if own and not before:
                return Hit(number, own[0], names[own[0]]) if len(own) == 1 or self.contact is not None else None
            before -= bool(own)
        return None

    def miss(self, impact: Impact, entry: int) -> Array:
        """(k,): what the impact is less what it should be [s, m, m/s]."""
        told = np.concatenate([[impact.time], impact.positions[entry], impact.velocities_before[entry]])
        return np.asarray(told[list(self.which)] - self.wanted)

    def slopes(self, arrival: Arrival) -> Array:
        """(k, m): its derivatives."""
        return np.concatenate([arrival.time[None], arrival.place, arrival.velocity])[list(self.which)]

    def __str__(self) -> str:
        return f"impact {self.impact}" + (f" of {self.contact}" if self.contact is not None else "")


def goal_of(run: Trajectory, place: Any, time: Any, velocity: Any, contact: Any, impact: Any) -> tuple[Goal, Hit]:
    """The goal and the impact of the run that it is about; ArgumentError where an argument is wrong, or the run has no such impact."""
    end = float(run.t[-1])
    wanted = [math.nan if time is None else within(time, 0.0, end, "time"), *_triple(place, "place"), *_triple(velocity, "velocity")]
    which = tuple(i for i, value in enumerate(wanted) if not math.isnan(value))
    if not which:
        raise ArgumentError("nothing is asked for, expected a place, a time or a velocity of the impact, or several of them")
    if contact is not None:
        points = [name.rpartition("|")[0] or name for name in run.contact_names]
        known = tuple(dict.fromkeys([*points, *run.contact_names]))
        if text(contact, "the name of a contact", "contact") not in known:
            raise UnknownNameError("contact", contact, known)
    goal = Goal(contact, whole(impact, 0, "impact"), which, np.array([wanted[i] for i in which]))
    hit = goal.find(run)
    if hit is None:
        number = sum(1 for one in run.impacts if contact is None or contact in _names(one))
        if contact is None and number > goal.impact:
            struck = ", ".join(run.impacts[goal.impact].points)
            raise ArgumentError(f"several contacts strike in {goal}: {struck}; expected contact=, one of them")
        what = "impacts" if contact is None else f"impacts of {contact}"
        raise ArgumentError(
            f"the run has {number} {what} in {end:.6g} s, expected {goal} to happen in it: a first guess that strikes, though elsewhere, "
            "or a longer one"
        )
    if np.isnan(goal.miss(run.impacts[hit.number], hit.entry)).any():
        raise ArgumentError(f"{hit.contact} is a joint limit, which has no place and no velocity in the world; expected time= alone")
    return goal, hit


def _names(impact: Impact) -> set[str]:
    return {*impact.points, *(contact_name(*both) for both in zip(impact.points, impact.walls, strict=True))}


def _triple(given: Any, name: str) -> list[float]:
    """Three numbers, NaN where there is None."""
    if given is None:
        return [math.nan] * 3
    values = listed(given, "three numbers, None for those that may be any", name)
    wrong = [
        one for one in values if one is not None and (isinstance(one, bool | np.bool_) or not isinstance(one, float | int | np.number))
    ]
    if len(values) != 3 or wrong or any(one is not None and math.isinf(one) for one in values):
        raise ArgumentError(f"{name}={shown(given)}, expected three numbers, None for those that may be any")
    return [math.nan if one is None else float(one) for one in values]
