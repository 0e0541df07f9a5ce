"""Saltation matrices: what an impact does to a small change of the motion.

A change dx- = (dq, dv) of the state before shifts the time at which contact c closes, and after the reset v+ = R(q, v, t) the motions are
compared at the same time again. With f = (v, a) before and (v+, a+) after, J and u the row and the rate of the gap that closes,

    dt = -J dq / u,     dx* = dx- + f- dt,     dx+ = dR(dx*, dt) - f+ dt

Contacts that close at the same time without influencing each other pass one after the other, each at its own time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.sensitivity.columns import PARAMETERS, RESTITUTION
from urdf_gibbs.sensitivity.impact import Blow, Lines, is_apart
from urdf_gibbs.sensitivity.machine import Machine, Rows
from urdf_gibbs.sensitivity.refusal import Refusal
from urdf_gibbs.simulation.friction_layout import STATIC
from urdf_gibbs.simulation.impact import REST
from urdf_gibbs.simulation.impact_values import Impact

Array = NDArray[np.float64]

REACH = 1e-9  # m: a motion that would miss a wall that is this much farther away grazes it
SLOWEST = 10.0 * REST  # m/s: of what strikes
SAME = 1e-8  # relative: results that should be equal
MOST_ORDERS = 24  # orders of simultaneous contacts that are tried
MOST_BLOWS = 1000  # of one order


@dataclass(frozen=True, eq=False)
class Saltation:
    """What an impact does to sensitivities: X after = matrix X before + direct.

    Attributes:
        time: Of the impact [s].
        contacts: What was struck, as in ``Trajectory.contact_names``.
        matrix: (2 nv, 2 nv), d(q, v) after by d(q, v) before. With held contacts it is for changes that keep them closed.
        direct: (2 nv, columns), what restitution and inertial parameters change in the impact itself.
    """

    time: float
    contacts: tuple[str, ...]
    matrix: Array
    direct: Array


@dataclass(frozen=True, eq=False)
class Event:
    """An impact with indices: ``contacts`` of it, those ``held`` before and those held ``after``."""

    impact: Impact
    contacts: list[int]
    held: list[int]
    after: list[int]

    @property
    def time(self) -> float:
        return self.impact.time


def saltation(machine: Machine, event: Event) -> Saltation:
    """The saltation of an impact; Refusal where there is none."""
    _check_ends(machine, event)
    impact, names = event.impact, machine.names(event.contacts)
    meeting = _meeting(machine, event)
    closing = meeting.closing
    _check_bystanders(machine, event, meeting)
    _check_ties(machine, event, meeting)
    _check_grazing(machine, event, closing)
    n, m = 2 * machine.nv, machine.columns.count
    results = []
    for order in (closing, closing[::-1]) if len(closing) > 1 else (closing,):
        v, dq, dv = _in_order(machine, event, order)
        results.append(np.concatenate([dq, dv]))
        off = np.abs(v - impact.v_after).max()
        if off > SAME * max(1.0, np.abs(impact.v_after).max()):
            raise Refusal(f"the impact could not be repeated: velocities differ by {off:.3g}", event.time, names)
    both = np.abs(results[0] - results[-1]).max()
    if both > SAME * np.abs(results[0]).max():
        reason = "contacts that close together influence each other as soon as the motion changes: the order in which they close matters"
        raise Refusal(reason, event.time, machine.names(closing), float(both))
    assert results[0].shape == (n, n + m)
    return Saltation(event.time, machine.names(closing), results[0][:, :n].copy(), results[0][:, n:].copy())


class _Meeting(NamedTuple):
    """Contacts of an event with the ``place`` of each in its rows and in the Delassus matrix K; those that close in it."""

    rows: Rows
    K: Array
    place: dict[int, int]
    closing: list[int]


def _meeting(machine: Machine, event: Event) -> _Meeting:
    impact = event.impact
    everything = sorted({*event.contacts, *event.held, *event.after})
    rows = machine.rows(event.time, impact.q, impact.v_before, everything)
    K = rows.J @ np.linalg.solve(machine.mass(impact.q), rows.J.T)
    place = {c: i for i, c in enumerate(everything)}
    closing = [c for c in event.contacts if c not in event.held and rows.rate[place[c]] < -SLOWEST]
    return _Meeting(rows, K, place, closing)


@dataclass(frozen=True, eq=False)
class Closing:
    """A contact that closes: its time changes by ``shift`` @ dx, the state at that time by dx + ``flow`` * (shift @ dx), dx before it."""

    shift: Array
    flow: Array


def closing_of(machine: Machine, event: Event, contact: int) -> Closing:
    """How a contact closes in an event, whatever the impact does then; Refusal where a change of the motion could make it another event."""
    meeting = _meeting(machine, event)
    if contact not in meeting.closing:
        raise Refusal("the contact does not close there: it is held, or struck by what another does", event.time, machine.names([contact]))
    _check_ties(machine, event, meeting)
    _check_grazing(machine, event, meeting.closing)
    q, v, at = event.impact.q, event.impact.v_before, meeting.place[contact]
    shift = np.concatenate([-meeting.rows.J[at] / meeting.rows.rate[at], np.zeros(machine.nv)])
    return Closing(shift, np.concatenate([v, machine.acceleration(event.time, q, v, event.held)[0]]))


def _in_order(machine: Machine, event: Event, order: Sequence[int]) -> tuple[Array, Array, Array]:
    """v (nv,) after, dq and dv (nv, 2 nv + m) where the contacts close in this order, others being held before."""
    nv, m = machine.nv, machine.columns.count
    v, held = event.impact.v_before.copy(), list(event.held)
    dq = np.concatenate([np.eye(nv), np.zeros((nv, nv + m))], axis=1)
    dv = np.concatenate([np.zeros((nv, nv)), np.eye(nv), np.zeros((nv, m))], axis=1)
    for i, c in enumerate(order):
        last = i == len(order) - 1
        v, dq, dv, held = _pass_one(machine, event, c, held, (v, dq, dv), last)
    return v, dq, dv


def _pass_one(
    machine: Machine, event: Event, closing: int, held: list[int], state: tuple[Array, Array, Array], last: bool
) -> tuple[Array, Array, Array, list[int]]:
    """The state and its derivatives after one contact has closed, and which contacts are held then."""
    v, dq, dv = state
    t, q, contacts = event.time, event.impact.q, [closing, *held]
    rows = machine.rows(t, q, v, contacts)
    a = machine.acceleration(t, q, v, held)[0]
    shift = -(rows.J[0] @ dq) / rows.rate[0]
    dq, dv = dq + np.outer(v, shift), dv + np.outer(a, shift)
    blow = Blow(machine, q, v, machine.names(contacts), rows, _lines(machine, contacts, dq, shift))
    e = np.array([machine.candidates.contacts.restitution[c] for c in contacts])
    after, dv = blow.through(v, dv, e, event.impact.law, t)
    speed = blow.rates(after)
    held = event.after if last else [c for c, u in zip(contacts, speed, strict=True) if c in event.after and abs(u) <= SLOWEST]
    lifted = [c for c in held if c in contacts and abs(speed[contacts.index(c)]) > SLOWEST * max(1.0, float(np.abs(after).max()))]
    if lifted:
        raise Refusal("contacts that this impact lifts for a moment are kept closed (cycle)", t, machine.names(lifted))
    a = machine.acceleration(t, q, after, held)[0]
    return after, dq - np.outer(after, shift), dv - np.outer(a, shift), held


def _lines(machine: Machine, contacts: list[int], dq: Array, shift: Array) -> Lines:
    """What changes in the impact: dq (nv, m') and its time (m',) by all columns, restitution and parameters by their own."""
    n, columns = 2 * machine.nv, machine.columns
    e = np.zeros((len(contacts), len(shift)))
    if RESTITUTION in columns.places:
        first = n + columns.places[RESTITUTION].start
        for i, name in enumerate(machine.names(contacts)):
            if name in columns.struck:
                e[i, first + columns.struck.index(name)] = 1.0
    parameters = None
    if PARAMETERS in columns.places:
        own = columns.places[PARAMETERS]
        parameters = np.zeros((own.stop - own.start, len(shift)))
        parameters[:, n + own.start : n + own.stop] = np.eye(own.stop - own.start)
    return Lines(dq, shift, e, parameters)


# what has no derivative ------------------------------------------------------------------------------


def _check_ends(machine: Machine, event: Event) -> None:
    """Refuse friction, ends of bouncing, and impacts without collision."""
    impact, contacts = event.impact, machine.candidates.contacts
    rough = [c for c in event.contacts if contacts.friction[c, STATIC] > 0.0]
    if rough or impact.law == "without-collision":
        raise Refusal("impacts with friction are not covered", event.time, machine.names(rough or event.contacts))
    ended = [c for c, e in zip(event.contacts, impact.restitution, strict=True) if e != contacts.restitution[c]]
    if impact.cycle or ended:
        reason = "bouncing accumulates there (Zeno): infinitely many impacts, of which the simulation leaves out the last"
        raise Refusal(reason, event.time, machine.names(ended or event.contacts))


def _check_bystanders(machine: Machine, event: Event, meeting: _Meeting) -> None:
    """Refuse contacts that touch without a force and without approaching, where the impact changes their rates."""
    _, K, place, closing = meeting
    if not closing:
        raise Refusal("nothing approaches in this impact faster than rounding: it grazes", event.time, machine.names(event.contacts))
    others = [c for c in event.contacts if c not in event.held and c not in closing]
    struck = [place[c] for c in (*closing, *event.held)]
    touching = [c for c in others if not is_apart(K, place[c], struck)]
    if touching:
        reason = "contacts touch without a force, and it depends on how the motion changes whether they take part in the impact"
        raise Refusal(reason, event.time, machine.names([*closing, *touching]))


def _check_ties(machine: Machine, event: Event, meeting: _Meeting) -> None:
    """Refuse contacts that close together and influence each other; the spread is that of the velocities after, over their orders."""
    rows, K, place, closing = meeting
    tied = [c for c in closing if not is_apart(K, place[c], [place[other] for other in closing if other != c])]
    if not tied:
        return
    own = [place[c] for c in tied]
    outcomes = [event.impact.v_after]
    response = np.linalg.solve(machine.mass(event.impact.q), rows.J[own].T)
    e = machine.candidates.contacts.restitution[tied]
    for order in list(permutations(range(len(tied))))[:MOST_ORDERS]:
        outcomes.append(event.impact.v_before + response @ _one_by_one(K[np.ix_(own, own)], rows.rate[own].copy(), e, order))
    spread = float(np.ptp(np.array(outcomes), axis=0).max())
    reason = (
        "contacts that influence each other close at the same time: the motion itself jumps with the order in which they close, its "
        f"velocities by up to {spread:.3g}"
    )
    raise Refusal(reason, event.time, machine.names(tied), spread)


def _one_by_one(K: Array, u: Array, e: Array, order: Sequence[int]) -> Array:
    """Impulses where contacts are struck one after the other, in this order, until none approaches."""
    total = np.zeros(len(u))
    for _ in range(MOST_BLOWS):
        approaching = [i for i in order if u[i] < -REST]
        if not approaching:
            break
        i = approaching[0]
        impulse = -(1.0 + e[i]) * u[i] / K[i, i]
        total[i] += impulse
        u = u + K[:, i] * impulse
    return total


def _check_grazing(machine: Machine, event: Event, closing: list[int]) -> None:
    """Refuse contacts that would miss a wall a little farther away."""
    t, q, v = event.time, event.impact.q, event.impact.v_before
    rows = machine.rows(t, q, v, closing)
    accel = rows.accel + rows.J @ machine.acceleration(t, q, v, event.held)[0]
    for c, u, up in zip(closing, rows.rate, accel, strict=True):
        if up > 0.0 and u * u < 2.0 * REACH * up:
            reason = f"the contact grazes its wall: it closes at {-u:.3g} m/s and would miss a wall {u * u / (2.0 * up):.3g} m farther away"
            raise Refusal(reason, t, machine.names([c]), float(u * u / (2.0 * up)))
