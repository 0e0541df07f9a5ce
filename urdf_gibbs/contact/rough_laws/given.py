"""Impulses of given contacts from Python, by any law whose impulses only push: it is applied in rounds until no contact approaches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.contact.coulomb.problem import Problem
from urdf_gibbs.contact.coulomb.scaled import FRICTION, NORMAL
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.rough_laws import RoughImpact, solve
from urdf_gibbs.names import Law

CALM = 1e-10  # of the fastest velocity before: slower contacts do not approach
MOST_ROUNDS = 100  # half of them with restitution


class LawImpulses(NamedTuple):
    """``impulses`` (n,) [N s], the ``law`` that was applied, after how many ``rounds``, and the worst ``certificate`` of these.

    The certificate of a later round is weighted by the size of its velocities relative to those of the first.
    """

    impulses: Array
    law: Law
    rounds: int
    certificate: float


def impulses_by_law(law: Law, K: Array, u: Array, friction: Array, restitution: Array) -> LawImpulses:
    """The impulses of k contacts, each with the rows normal and two tangents (n = 3 k), or all with the normal alone (n = k).

    K (n, n) = J M⁻¹ Jᵀ [1/kg], u (n,) velocities before [m/s], friction and restitution (k,). The certificate is inf where no impulses obey
    the law.
    """
    n, k = len(u), len(friction)
    rows = n // k if k else 1
    problem = Problem(
        count=k,
        K=np.array(K, dtype=np.float64).reshape(-1),
        b=np.zeros(n),
        kind=np.full(k, FRICTION if rows == 3 else NORMAL),
        at=np.arange(0, n + 1, rows),
        mu=np.array(friction, dtype=np.float64),
        reach=np.zeros(k),
        slide=np.zeros((k, 2)),
        p=np.zeros(n),
    )
    record = RoughImpact(problem=problem, u=np.array(u, dtype=np.float64), e=np.array(restitution, dtype=np.float64))
    asked, total, normal = LAWS.index(law), np.zeros(n), problem.at[:k]
    fastest = max(np.abs(u).max(initial=0.0), 1e-300)
    applied, worst, turn = asked, 0.0, 0
    while turn < MOST_ROUNDS and worst < np.inf and (turn == 0 or (record.u[normal] < -CALM * fastest).any()):
        turn += 1
        record.law, share = asked, min(1.0, np.abs(record.u).max(initial=0.0) / fastest)
        certificate = float(solve(record)) * (share if turn > 1 else 1.0)
        worst = max(worst, certificate) if certificate < np.inf else np.inf
        applied = applied if record.law == asked else record.law
        total += problem.p
        record.u += K @ problem.p
        if turn == MOST_ROUNDS // 2:
            record.e[:] = 0.0
    return LawImpulses(total, LAWS[applied], turn, worst)
