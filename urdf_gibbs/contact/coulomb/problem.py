"""A contact problem as a record for compiled code, with the entries that solve it and that judge a solution."""

from __future__ import annotations

from urdf_gibbs.contact.coulomb import certificate as judged
from urdf_gibbs.contact.coulomb import large
from urdf_gibbs.contact.coulomb import shortest as shorter
from urdf_gibbs.contact.coulomb import solve as solver
from urdf_gibbs.engine.jit import entry
from urdf_gibbs.engine.struct import Float1, Float2, Int, Int1, Struct, struct

MANY = 100  # contacts
CURVES = 500  # some 5 ms each with 30 contacts


@struct
class Problem(Struct):
    """``count`` contacts in the first rows of arrays that may be longer; n = at[count] rows of K."""

    count: Int
    K: Float1  # (>= n²,) J M⁻¹ Jᵀ, row by row [1/kg]
    b: Float1  # (>= n,) velocities without impulses [m/s]
    kind: Int1  # (>= count,) FRICTION, NORMAL, JOINT or SLIDING, see scaled.py
    at: Int1  # (>= count + 1,) the first row of each contact, then n
    mu: Float1  # (>= count,) coefficients of friction
    reach: Float1  # (>= count,) largest impulses of dry friction in joints [N s]
    slide: Float2  # (>= count, 2) unit directions of contacts that slide
    p: Float1  # (>= n,) impulses: where to start, then the solution [N s]
    nearby: Int  # 1: look for a solution by Newton's method from this start, and nowhere else


@entry(Problem, part="contact_problem", returns=float)
def impulses(s: Problem) -> float:
    """Fill p, by ``solve``, or by ``solve_large`` from MANY contacts on; gives the certificate."""
    k = s.count
    n = s.at[k]
    K = s.K[: n * n].reshape((n, n))
    if k >= MANY:
        return large.solve_large(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n])
    return solver.solve(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n], s.nearby)


@entry(Problem, part="contact_search", returns=float)
def drawn(s: Problem) -> float:
    """For what ``impulses`` has left open: better p by ``draw``, if it finds any; gives the certificate."""
    k = s.count
    n = s.at[k]
    K = s.K[: n * n].reshape((n, n))
    return solver.draw(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n], CURVES)


@entry(Problem, int, part="contact_search", returns=float)
def decided(s: Problem, limit: int) -> float:
    """For what ``impulses`` has left open: fill p by ``decide``, of up to ``limit`` linear programs; gives the certificate."""
    k = s.count
    n = s.at[k]
    K = s.K[: n * n].reshape((n, n))
    return solver.decide(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n], limit)


@entry(Problem, part="contact_problem", returns=float)
def shortest_impulses(s: Problem) -> float:
    """Of all solutions with the motion of p the shortest, see ``shortest``; gives its certificate."""
    k = s.count
    n = s.at[k]
    K = s.K[: n * n].reshape((n, n))
    shorter.shortest(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n])
    return judged.certificate(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n])


@entry(Problem, part="contact_problem", returns=float)
def violation(s: Problem) -> float:
    """The certificate of p as it is."""
    k = s.count
    n = s.at[k]
    K = s.K[: n * n].reshape((n, n))
    return judged.certificate(K, s.b[:n], s.kind[:k], s.at[: k + 1], s.mu[:k], s.reach[:k], s.slide[:k], s.p[:n])
