"""Shafei 2017 (S17) as its recursion is printed: Eqs. 7-26, 41-57, terms 1-51 and A.1-A.33, over any scalar, for its robots alone.

Its robots: n elastic links in a row in the plane, each a revolute joint and m modes, on a base that slides along X1 and X2. Links are
1 ... n and have the axes of their joint, frame 0 is the reference frame. j+ stands for all links beyond the tip of j, seen in j's axes; the
scanned appendix has lost this mark where the limits of a sum, j + 1 or j + 2, show that it belongs there. The terms and the lists of where
they stand are tables in shafei2017_lists.py. The paper does not print its rotations; in the plane a tip turns by Rz(theta(l)) exactly.

``gibbs_appell_flexible`` has the same equations by another algorithm, for all robots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from urdf_gibbs.dynamics.elastic import mixed, tip_of
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.model import Model, joint_motion
from urdf_gibbs.dynamics.scalar import add, mul
from urdf_gibbs.dynamics.shafei2017_links import Integrals, Links, links_of
from urdf_gibbs.dynamics.shafei2017_lists import C3, M_TOT, TERMS, Cell, expression_cells, listed_cells, through

X3 = Vector([0.0, 0.0, 1.0])  # x_{k,3}
BASE = [Vector([1.0, 0.0, 0.0]), Vector([0.0, 1.0, 0.0])]  # refX_1 and refX_2
REF = 0  # the reference frame


class Frame(NamedTuple):
    """j or k of a quantity of the appendix; ``beyond`` is 1 for j+ and k+, whose links begin one later."""

    link: int
    beyond: int = 0

    @property
    def first(self) -> int:
        return self.link + self.beyond


def marked(link: int, mark: str) -> Frame:
    """The frame of "j", "j+", "k" or "k+"."""
    return Frame(link, int(mark.endswith("+")))


@dataclass(frozen=True, slots=True)
class Shape:
    """A bent link, in its axes: Eqs. 9, 15, 16, 25, 26 and r_{O_{i+1}/O_i}."""

    B3: Matrix
    B9: Matrix
    B9_B10: Matrix
    alpha: list[Vector]
    beta: list[Matrix]
    r: Vector


def shape_of(link: Integrals, delta: Scalars) -> Shape:
    B3, B9, alpha, beta = link.C2, link.C5, [], []
    for j in range(link.m):
        alpha_j, beta_j = link.C7[j], link.C6[j]
        for k in range(link.m):
            alpha_j += delta[k] * link.C4[k][j]  # (25)
            beta_j += delta[k] * link.C8[k][j]  # (26)
        alpha.append(alpha_j)
        beta.append(beta_j)
        B3 += delta[j] * link.C1[j].tilde  # (9)
        B9 += delta[j] * (link.C6[j].T + beta_j)  # (15)
    return Shape(B3, B9, B9 + link.B10, alpha, beta, link.straight + mixed(delta, link.r))


@dataclass(frozen=True, slots=True)
class Chain:
    """The chain at one q: rotations iR_k between frames, bent links, and the quantities of the appendix, each made when first asked for."""

    R: dict[tuple[int, int], Matrix]
    shapes: dict[int, Shape]
    links: Links
    known: dict[tuple[str, Frame, Frame], Matrix] = field(default_factory=dict)
    known_places: dict[tuple[int, int, int], Vector] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.links.n

    def quantity(self, name: str, j: Frame, k: Frame) -> Matrix:
        """A quantity of the appendix (3x3), made once."""
        value = self.known.get((name, j, k))
        if value is None:
            value = self.known[name, j, k] = getattr(self, name)(j, k)
        return value

    def place(self, axes: int, i: int, j: int) -> Vector:
        """r_{O_i/O_j}, i > j, in the axes of a link: from the one that is a link shorter, away from these axes; made once."""
        vector = self.known_places.get((axes, i, j))
        if vector is None:
            added = j if axes == i else i - 1
            vector = self.R[axes, added] @ self.shapes[added].r
            if i > j + 1:
                shorter = self.place(axes, i, j + 1) if axes == i else self.place(axes, i - 1, j)
                vector = shorter + vector
            self.known_places[axes, i, j] = vector
        return vector

    def sigma(self, j: Frame, k: Frame) -> Matrix:
        """A.1-A.4: j and k, with and without +."""
        total = Matrix.zeros(3, 3)
        for i in through(max(k.first, j.first), self.n):
            total += self.R[j.link, i] @ self.shapes[i].B9_B10 @ self.R[i, k.link]
        return total

    def psi(self, j: Frame, k: Frame) -> Matrix:
        """A.5-A.8: j and k, with and without +."""
        total = Matrix.zeros(3, 3)
        for i in through(max(k.first, j.first + 1), self.n):
            total += self.place(j.link, i, j.first).tilde @ (self.R[j.link, i] @ self.shapes[i].B3 @ self.R[i, k.link])
        return total

    def U(self, j: Frame, k: Frame) -> Matrix:
        """A.9-A.12: j and k, with and without +."""
        total = Matrix.zeros(3, 3)
        for t in through(k.first, self.n - 1):
            both = self.quantity("gamma", j, Frame(t)) + self.quantity("xi", j, Frame(t, 1))
            total += both @ self.shapes[t].r.tilde @ self.R[t, k.link]
        return total

    def xi(self, j: Frame, k: Frame) -> Matrix:
        """A.13-A.19: j, j+ and ref, k, k+ and ref."""
        total = Matrix.zeros(3, 3)
        for i in through(max(k.first, j.first), self.n):
            total += self.R[j.link, i] @ self.shapes[i].B3 @ self.R[i, k.link]
        return total

    def gamma(self, j: Frame, k: Frame) -> Matrix:
        """A.20-A.23: j and j+, k and ref."""
        total = Matrix.zeros(3, 3)
        for i in through(max(k.first + 1, j.first + 1), self.n):
            total += self.links.integrals[i].B0 * self.place(j.link, i, j.first).tilde @ self.R[j.link, k.link]
        return total

    def V(self, j: Frame, k: Frame) -> Matrix:
        """A.24-A.27: j and ref, k and k+."""
        total = Matrix.zeros(3, 3)
        for t in through(k.first, self.n - 1):
            total += self.quantity("lambda_", j, Frame(t)) @ self.shapes[t].r.tilde @ self.R[t, k.link]
        return total

    def W(self, j: Frame, k: Frame) -> Matrix:
        """A.28, A.29: k and k+."""
        total = Matrix.zeros(3, 3)
        for t in through(k.first, j.link - 1):
            total += self.R[j.link, t] @ self.shapes[t].r.tilde @ self.R[t, k.link]
        return total

    def lambda_(self, j: Frame, k: Frame) -> Matrix:
        """A.30-A.32: j and ref, k and ref."""
        total = Matrix.zeros(3, 3)
        for i in through(max(k.first + 1, j.first + 1), self.n):
            total += self.links.integrals[i].B0 * self.R[j.link, k.link]
        return total

    def arm(self, j: Frame, k: Frame) -> Matrix:
        """r~_{O_k/O_j} jR_k of term 9, r~_{O_k/O_{j+1}} jR_k of term 35."""
        return self.place(j.link, k.link, j.first).tilde @ self.R[j.link, k.link]

    def vector(self, name: str, link: int, f: int) -> Vector:
        """A vector of a term: of a link and its mode f, or axis f of the reference frame."""
        if name == "x":
            return X3
        if name == "X":
            return BASE[f]
        vectors: list[Vector] = self.shapes[link].alpha if name == "alpha" else getattr(self.links.integrals[link], name)
        return vectors[f]

    def term(self, label: int, j: int, f: int, k: int, t: int) -> Scalar:
        """A term of Exps. (I)-(III), rows j, f and columns k, t: links (REF for the base) and their modes (or axes of the base)."""
        if label == C3:
            return self.links.integrals[j].C3[f][t]
        if label == M_TOT:  # A.33
            return sum(link.B0 for link in self.links.integrals.values())
        term = TERMS[label]
        frames = marked(j, term.j), marked(k, term.k)
        middle = self.R[j, k] if term.middle == "R" else self.quantity(term.middle, *frames)
        value = self.vector(term.left, j, f) @ (middle @ self.vector(term.right, k, t))
        return value if term.sign > 0 else -value

    def entries(self, cell: Cell) -> Iterator[tuple[int, int, Scalar]]:
        """Row, column and value of the entries of a cell."""
        j, k = (REF if kind == "X" else link for kind, link in ((cell.rows, cell.j), (cell.columns, cell.k)))
        rows, columns = list(enumerate(self.links.iv[cell.rows, j])), list(enumerate(self.links.iv[cell.columns, k]))
        if cell.rows == "X":
            rows = rows[cell.j - self.n - 1 :][:1]
        if cell.columns == "X":
            columns = columns[cell.k - self.n - 1 :][:1]
        for f, row in rows:
            for t, column in columns:
                value: Scalar = 0.0
                for label in cell.terms:
                    value = add(value, self.term(label, j, f, k, t))
                yield row, column, value


def chain_at(model: Model, q: Scalars) -> Chain:
    """The chain with its links turned and bent as q says."""
    links = links_of(model)
    R = {(i, i): Matrix.identity(3) for i in through(0, links.n)}
    shapes: dict[int, Shape] = {}
    for i, joint in links.joints.items():
        step = joint_motion(joint, q)[0]
        if i > 1:
            step = tip_of(links.beams[i - 1], [q[p] for p in links.iv["delta", i - 1]]).turn @ step
        for j in range(i):
            R[j, i] = R[j, i - 1] @ step
            R[i, j] = R[j, i].T
        shapes[i] = shape_of(links.integrals[i], [q[p] for p in links.iv["delta", i]])
    return Chain(R, shapes, links)


# the inertia matrix -----------------------------------------------------------------------------------


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), full and symmetric, by the lists of the appendix: the cells with k >= j, and their mirror images (Fig. 8)."""
    chain = chain_at(model, q)
    M = Matrix.zeros(model.nv, model.nv)
    for cell in listed_cells(chain.n):
        for row, column, value in chain.entries(cell):
            M[row][column] = value
            if cell.k > cell.j:
                M[column][row] = value
    return M


def expression_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv x nv), every cell for itself by the sums of Exps. (I)-(III), without the lists and without mirror images."""
    chain = chain_at(model, q)
    M = Matrix.zeros(model.nv, model.nv)
    for cell in expression_cells(chain.n):
        for row, column, value in chain.entries(cell):
            M[row][column] = value
    return M


# the right-hand side ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Motion:
    """Of the links, each in its axes, without generalised accelerations: omega, omega_v' (46), r_v'' of O_i (44); rates are delta'."""

    omega: dict[int, Vector]
    omega_v: dict[int, Vector]
    r_v: dict[int, Vector]
    rates: dict[int, Vector]


def motion_of(chain: Chain, v: Scalars, gravity: Scalars) -> Motion:
    links, R = chain.links, chain.R
    turns = {i: v[links.iv["q", i][0]] * X3 for i in links.joints}  # x_{i,3} q_i'
    rates = {i: Vector(v[p] for p in links.iv["delta", i]) for i in links.joints}
    tips = {i: mixed(rates[i], links.integrals[i].theta) for i in links.joints}  # theta_i'(l_i)
    omega: dict[int, Vector] = {}
    omega_v: dict[int, Vector] = {}
    r_v: dict[int, Vector] = {}
    carried: dict[int, Vector] = {}  # the bracket of (44)
    ground = Vector(-g for g in gravity)
    for i in links.joints:
        omega[i] = R[i, i - 1] @ (omega[i - 1] + tips[i - 1]) + turns[i] if i > 1 else turns[i]
        omega_v[i], r_v[i] = Vector.zeros(3), R[i, REF] @ ground
        for k in range(1, i):
            faster = (R[i, k] @ (omega[k] + tips[k])).cross(R[i, k + 1] @ turns[k + 1])
            omega_v[i] += faster + R[i, k] @ omega[k].cross(tips[k])  # (46)
            r_v[i] += R[i, k] @ carried[k]  # (44)
        r, speed = chain.shapes[i].r, mixed(rates[i], links.integrals[i].r)
        carried[i] = omega[i].cross(2.0 * speed + omega[i].cross(r)) + omega_v[i].cross(r)
    return Motion(omega, omega_v, r_v, rates)


def forces_of(chain: Chain, motion: Motion, i: int) -> tuple[Vector, Vector]:
    """S_i (53) and T_i (54)."""
    link, shape, w = chain.links.integrals[i], chain.shapes[i], motion.omega[i]
    B2, B8 = Matrix.zeros(3, 3), Matrix.zeros(3, 3)
    for j, rate in enumerate(motion.rates[i]):
        B2 += rate * link.C1[j].tilde  # (8)
        B8 += rate * shape.beta[j]  # (14)
    S = link.B0 * motion.r_v[i] - 2.0 * (B2 @ w) - shape.B3 @ motion.omega_v[i] - w.cross(shape.B3 @ w)
    T = shape.B3 @ motion.r_v[i] + 2.0 * (B8 @ w) + shape.B9_B10 @ motion.omega_v[i] + w.cross(shape.B9 @ w)
    return S, T


def Q_of(chain: Chain, motion: Motion, j: int, f: int, delta: Scalars) -> Scalar:
    """Q_jf (56), term 41; delta are those of link j."""
    link, shape, w = chain.links.integrals[j], chain.shapes[j], motion.omega[j]
    value = add(mul(2.0, w @ mixed(motion.rates[j], link.C4[f])), w @ (shape.beta[f] @ w))
    for part in (Vector(delta) @ Vector(link.K[f]), motion.r_v[j] @ link.C1[f], motion.omega_v[j] @ shape.alpha[f]):
        value = add(value, -part)
    return value


def right_hand_side(model: Model, q: Scalars, v: Scalars, gravity: Scalars, strained: bool = True) -> Vector:
    """Re (nv) of Eq. 38: M a = Re without forces on the joints; Eqs. 52, 55 and 57."""
    chain = chain_at(model, q)
    links, R, n = chain.links, chain.R, chain.n
    motion = motion_of(chain, v, gravity)
    forces = {i: forces_of(chain, motion, i) for i in links.joints}
    Re = Vector.zeros(model.nv)
    for j, link in links.integrals.items():
        value: Scalar = 0.0
        for i in through(j, n):
            S, T = forces[i]
            axis = R[i, j] @ X3  # (48)
            value = add(value, -(axis @ T))  # 14
            if i > j:
                value = add(value, -(axis.cross(chain.place(i, i, j)) @ S))  # 13, (47)
        Re[links.iv["q", j][0]] = value
        delta = [q[p] for p in links.iv["delta", j]] if strained else [0.0] * link.m
        for f, row in enumerate(links.iv["delta", j]):
            value = Q_of(chain, motion, j, f, delta)  # 41
            for i in through(j + 1, n):
                S, T = forces[i]
                turn = R[i, j] @ link.theta[f]  # (50)
                shift = R[i, j] @ link.r[f]
                if i > j + 1:
                    shift += turn.cross(chain.place(i, i, j + 1))  # (49)
                value = add(value, -add(shift @ S, turn @ T))  # 42, 43
            Re[row] = value
    for row, axis in zip(links.iv["X", REF], BASE, strict=True):
        for i in links.joints:
            Re[row] = add(Re[row], -((R[i, REF] @ axis) @ forces[i][0]))  # 51, (51)
    return Re


def bias(model: Model, q: Scalars, v: Scalars, gravity: Scalars) -> Vector:
    """h (nv) of M a + h = tau: minus the right-hand side."""
    return Vector(-value for value in right_hand_side(model, q, v, gravity))


def gravity_force(model: Model, q: Scalars, gravity: Scalars) -> Vector:
    """The part of h that gravity makes: without strain."""
    return Vector(-value for value in right_hand_side(model, q, [0.0] * model.nv, gravity, strained=False))
