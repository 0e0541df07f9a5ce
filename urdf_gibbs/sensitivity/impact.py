"""How the velocities after an impact change with those before, the configuration, the time, restitution and inertial parameters.

Every law without friction is a sequence of two stages, with u = J v + w the rates of the gaps (w: of walls that move), M x = J^T f for the
change x of velocity:

    meet    u+ = -e u-       on the contacts A that have an impulse; Newton's law, and with e = 0 the ends of Poisson's two phases
    kick    f given          the impulses of restitution of Poisson's law, e times those of compression

Which contacts are in A follows from the law's own solver, as in the simulation. With x and f known the equations are differentiated:

    M dx = -d(M x)/dq dq - d(M x)/dpi dpi + d(J^T f) + J^T df,     J dv+ + du|v+ = -e (J dv- + du|v-) - u- de

du|v = (dJ v + dw) being the change of the rates with q and t at the velocity v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.names import LAWS, NEWTON_EQUALITY, POISSON
from urdf_gibbs.sensitivity.machine import Machine, Rows
from urdf_gibbs.sensitivity.refusal import Refusal
from urdf_gibbs.simulation.impact import REST
from urdf_gibbs.simulation.layout import LCP

Array = NDArray[np.float64]

ZERO = 1e-10  # relative to the largest impulse or velocity, both as roots of energy: smaller ones are zero
APART = 1e-9  # relative to the own terms of the Delassus matrix: contacts with a smaller one do not influence each other
UNSOLVED = 1e-8  # relative velocity that an equation of the law may be off
MOST_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Lines:
    """Columns of derivatives at an impact: of q (nv, m), time (m,), restitution (k, m) of each contact, inertial parameters (p, m)."""

    q: Array
    t: Array
    e: Array
    parameters: Array | None


class Blow:
    """The impact of k contacts with rows ``rows`` at q, with what ``lines`` change; v (nv,) and dv (nv, m) go along with the stages."""

    def __init__(self, machine: Machine, q: Array, v: Array, names: tuple[str, ...], rows: Rows, lines: Lines) -> None:
        self.machine, self.q, self.names, self.rows, self.lines = machine, q, names, rows, lines
        self.M = machine.mass(q)
        self.inverse = np.linalg.inv(self.M)
        self.K = rows.J @ self.inverse @ rows.J.T
        self.w = rows.rate - rows.J @ v
        self.Dw = rows.Dr - np.einsum("cij,i->cj", rows.DJ, v)
        self.wt = rows.rt - rows.Jt @ v

    def rates(self, v: Array) -> Array:
        """u (k,) at the velocity v."""
        return np.asarray(self.rows.J @ v + self.w)

    def rate_lines(self, v: Array) -> Array:
        """du|v (k, m): how the rates change at the velocity v."""
        along_q = np.einsum("cij,i->cj", self.rows.DJ, v) + self.Dw
        return np.asarray(along_q @ self.lines.q + np.outer(self.rows.Jt @ v + self.wt, self.lines.t))

    def _respond(self, f: Array) -> tuple[Array, Array]:
        """x (nv,) and dx (nv, m) for the impulses f (k,), as if these did not change."""
        x = self.inverse @ (self.rows.J.T @ f)
        by_q, by_parameters = self.machine.mass_times(self.q, x, self.M)
        force = (np.einsum("c,cij->ij", f, self.rows.DJ) - by_q) @ self.lines.q + np.outer(self.rows.Jt.T @ f, self.lines.t)
        if by_parameters is not None and self.lines.parameters is not None:
            force = force - by_parameters @ self.lines.parameters
        return x, self.inverse @ force

    def kick(self, v: Array, dv: Array, f: Array, df: Array) -> tuple[Array, Array]:
        """v and dv after impulses f (k,) that change by df (k, m)."""
        x, dx = self._respond(f)
        return v + x, dv + dx + self.inverse @ (self.rows.J.T @ df)

    def meet(self, v: Array, dv: Array, e: Array, f: Array, active: list[int], elastic: bool) -> tuple[Array, Array, Array]:
        """v, dv after, and df (k, m), where the active contacts meet u+ = -e u- with the impulses f (k,); ``elastic``: e may change."""
        x, dx = self._respond(f)
        after = v + x
        J, K = self.rows.J[active], self.K[np.ix_(active, active)]
        wanted = -e[:, None] * (self.rows.J @ dv + self.rate_lines(v))
        if elastic:
            wanted = wanted - self.lines.e * self.rates(v)[:, None]
        missing = wanted[active] - self.rate_lines(after)[active] - J @ (dv + dx)
        df = np.zeros((len(f), dv.shape[1]))
        df[active] = pseudo_inverse(K) @ missing
        return after, dv + dx + self.inverse @ (self.rows.J.T @ df), df

    def active(self, f: Array, slack: Array, time: float) -> list[int]:
        """The contacts with an impulse; a Refusal where one is at the verge of having one, slack (k,) being what its velocity leaves."""
        size = np.sqrt(np.diag(self.K))
        force, speed = f * size, slack / size
        most = max(np.abs(force).max(), np.abs(speed).max())
        active = [i for i in range(len(f)) if force[i] > ZERO * most]
        for i in range(len(f)):
            if i in active or speed[i] > ZERO * most or is_apart(self.K, i, active) or is_redundant(self.K, i, active):
                continue
            raise Refusal(f"{self.names[i]} is at the verge of being struck: its impulse begins there", time, self.names)
        return active

    def through(self, v: Array, dv: Array, e: Array, law: str, time: float) -> tuple[Array, Array]:
        """v and dv after the impact with restitutions e (k,) by the law, applied in rounds as in the simulation."""
        code = LAWS.index(law)
        for _ in range(MOST_ROUNDS):
            if code == POISSON:
                v, dv = self._poisson(v, dv, e, time)
            else:
                u = self.rates(v)
                f = self.machine.impulses(code, self.K, u, e)[0]
                after = u + self.K @ f
                active = list(range(len(f))) if code == NEWTON_EQUALITY else self.active(f, after + e * u, time)
                self._check(after[active] + (e * u)[active], u, time)
                v, dv, _ = self.meet(v, dv, e, f, active, elastic=True)
            if code == NEWTON_EQUALITY or self.rates(v).min() > -REST:
                return v, dv
        raise Refusal(f"an impact takes more than {MOST_ROUNDS} rounds of its law", time, self.names)

    def _poisson(self, v: Array, dv: Array, e: Array, time: float) -> tuple[Array, Array]:
        """v and dv after compression and restitution."""
        k, none = len(e), np.zeros(len(e))
        u = self.rates(v)
        pressed = self.machine.impulses(LCP, self.K, u, none)[0]
        active = self.active(pressed, u + self.K @ pressed, time)
        self._check((u + self.K @ pressed)[active], u, time)
        v, dv, dpressed = self.meet(v, dv, none, pressed, active, elastic=False)
        v, dv = self.kick(v, dv, e * pressed, e[:, None] * dpressed + self.lines.e * pressed[:, None])
        left = self.rates(v)
        if left.min() > ZERO * np.abs(u).max():
            return v, dv
        left[np.abs(left) <= ZERO * np.abs(u).max()] = 0.0
        more = self.machine.impulses(LCP, self.K, left, none)[0]
        leaving = self.rates(v) + self.K @ more
        closed = [i for i in range(k) if e[i] == 0.0 and pressed[i] > 0.0]  # at u+ = 0 whatever changes, so they stay in the equations
        active = sorted({*self.active(more, np.where(np.isin(range(k), closed), np.inf, leaving), time), *closed})
        v, dv, _ = self.meet(v, dv, none, more, active, elastic=False)
        return v, dv

    def _check(self, off: Array, u: Array, time: float) -> None:
        if np.abs(off).max(initial=0.0) > UNSOLVED * np.abs(u).max():
            raise Refusal("the equations of the impact law have no exact solution there", time, self.names)


def pseudo_inverse(K: Array) -> Array:
    """K^+ of a Delassus matrix, whose contacts may depend on each other; scaled, as some may be limits and others points."""
    size = 1.0 / np.sqrt(np.maximum(np.diag(K), 1e-300))
    return np.asarray(size[:, None] * np.linalg.pinv(size[:, None] * K * size, rcond=ZERO, hermitian=True) * size)


def is_apart(K: Array, i: int, others: list[int]) -> bool:
    """Whether impulses of the others do not change the rate of contact i."""
    return all(abs(K[i, j]) <= APART * np.sqrt(K[i, i] * K[j, j]) for j in others if j != i)


def is_redundant(K: Array, i: int, others: list[int]) -> bool:
    """Whether the row of contact i depends on those of the others."""
    if not others:
        return False
    across = K[others, i]
    return bool(K[i, i] - across @ pseudo_inverse(K[np.ix_(others, others)]) @ across <= ZERO * K[i, i])
