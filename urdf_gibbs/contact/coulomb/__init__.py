"""Contacts with Coulomb's friction, exactly: the contact problem, its solvers and their certificate.

Compiled code calls ``solve.solve`` with arrays, or ``problem.impulses`` with a record, which is compiled apart. From Python:
``contact_impulses``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array
from urdf_gibbs.contact.coulomb.certificate import SOLVED
from urdf_gibbs.contact.coulomb.problem import MANY, Problem, decided, drawn, impulses, shortest_impulses, violation
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, NORMAL, SLIDING
from urdf_gibbs.errors import ArgumentError, UnknownNameError

KINDS = {"friction": FRICTION, "normal": NORMAL, "joint": JOINT, "sliding": SLIDING}
SEARCH = 5_000  # linear programs
ROUGHEST = 1e4  # coefficient of friction
ROWS = {FRICTION: 3, NORMAL: 1, JOINT: 1, SLIDING: 3}


class ContactImpulses(NamedTuple):
    """``impulses`` (n,) [N s] and their ``certificate``: 1e-10 or less is solved, inf where it is proved that there is no solution."""

    impulses: Array
    certificate: float

    @property
    def verdict(self) -> str:
        """Of three: "solved", "none" where it is proved that there is no solution, else "open"."""
        return "solved" if self.certificate <= SOLVED else "none" if self.certificate == np.inf else "open"


def contact_impulses(
    K: ArrayLike,
    b: ArrayLike,
    friction: ArrayLike,
    *,
    kinds: Sequence[str] | None = None,
    reach: ArrayLike = 0.0,
    directions: ArrayLike | None = None,
    start: ArrayLike | None = None,
    shortest: bool = False,
    search: int = SEARCH,
) -> ContactImpulses:
    """Impulses p (n,) of k contacts with Coulomb's friction, where u = K p + b.

    Parameters
    ----------
    K : (n, n) symmetric positive semi-definite, J M⁻¹ Jᵀ [1/kg]; rows may depend on each other.
    b : (n,) velocities that the contacts would have without impulses [m/s].
    friction : coefficients of friction, one for all or (k,), from 0 to 1e4: beyond, μ pₙ is lost in the rounding of pₙ.
    kinds : of each contact; "friction" (three rows: normal and two tangents) for all unless given. "normal": one row without friction.
        "joint": one row with dry friction. "sliding": three rows, with friction against a direction that is given.
    reach : (k,) the largest impulse of the dry friction of "joint" [N s].
    directions : (k, 2) unit vectors of the velocity of "sliding".
    start : (n,) impulses to start at.
    shortest : of all impulses that give the same velocities and obey the law, the shortest; contacts may depend on each other.

    search : how many linear programs may be spent on what fast methods leave open, after some more of a method that finds impulses which
        are not unique: a search through all modes that finds a solution or proves that there is none; 0 for neither. Seconds to minutes;
        not with "joint".

    From 100 contacts on the method is block Gauss-Seidel, which proves nothing.
    """
    problem = made_problem(K, b, friction, kinds, reach, directions, start)
    worst = float(impulses(problem))
    if search > 0 and SOLVED < worst < np.inf and problem.count < MANY:
        worst = float(drawn(problem))
        if worst > SOLVED:
            worst = float(decided(problem, search))
    if shortest and worst <= SOLVED:
        worst = float(shortest_impulses(problem))
    return ContactImpulses(problem.p, worst)


def contact_certificate(
    K: ArrayLike,
    b: ArrayLike,
    friction: ArrayLike,
    p: ArrayLike,
    *,
    kinds: Sequence[str] | None = None,
    reach: ArrayLike = 0.0,
    directions: ArrayLike | None = None,
) -> float:
    """The certificate of given impulses p (n,), see ``contact_impulses``: the worst violation of all that is asked for, without unit."""
    return float(violation(made_problem(K, b, friction, kinds, reach, directions, p)))


def made_problem(
    K: ArrayLike,
    b: ArrayLike,
    friction: ArrayLike,
    kinds: Sequence[str] | None = None,
    reach: ArrayLike = 0.0,
    directions: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> Problem:
    """The record of a problem for compiled code, everything checked; arguments as for ``contact_impulses``."""
    velocity = np.array(b, dtype=np.float64)
    n = velocity.size
    matrix = np.array(K, dtype=np.float64)
    if velocity.ndim != 1 or matrix.shape != (n, n):
        raise ArgumentError(f"K has shape {matrix.shape} and b {velocity.shape}, expected (n, n) and (n,)")
    if kinds is None:
        if n % 3:
            raise ArgumentError(f"b has {n} rows, expected three for each contact")
        kinds = ["friction"] * (n // 3)
    for name in kinds:
        if name not in KINDS:
            raise UnknownNameError("kind of contact", name, tuple(KINDS))
    kind = np.array([KINDS[name] for name in kinds], dtype=np.int64)
    k = len(kind)
    at = np.zeros(k + 1, dtype=np.int64)
    at[1:] = np.cumsum([ROWS[int(one)] for one in kind])
    if at[-1] != n:
        raise ArgumentError(f"b has {n} rows, expected {at[-1]} for these contacts")
    slide = np.zeros((k, 2)) if directions is None else np.array(directions, dtype=np.float64)
    if slide.shape != (k, 2):
        raise ArgumentError(f"directions have shape {slide.shape}, expected ({k}, 2)")
    first = np.zeros(n) if start is None else np.array(start, dtype=np.float64)
    if first.shape != (n,):
        raise ArgumentError(f"impulses have shape {first.shape}, expected ({n},)")
    mu, most = _each(friction, k, "friction"), _each(reach, k, "reach")
    if (mu > ROUGHEST).any():
        raise ArgumentError(f"friction is {mu.max():g}, expected at most {ROUGHEST:g}: beyond, a normal impulse is lost in rounding")
    for what, values in (("K", matrix), ("b", velocity), ("directions", slide), ("impulses", first)):
        if not np.isfinite(values).all():
            raise ArgumentError(f"{what} is not finite")
    return Problem(count=k, K=matrix.reshape(-1), b=velocity, kind=kind, at=at, mu=mu, reach=most, slide=slide, p=first)


def _each(value: ArrayLike, k: int, what: str) -> Array:
    """(k,) numbers, not negative."""
    given = np.asarray(value, dtype=np.float64)
    if given.shape not in ((), (k,)):
        raise ArgumentError(f"{what} has shape {given.shape}, expected one number or ({k},)")
    if not (np.isfinite(given).all() and (given >= 0.0).all()):
        raise ArgumentError(f"{what} is {given}, expected numbers >= 0")
    return np.array(np.broadcast_to(given, (k,)))
