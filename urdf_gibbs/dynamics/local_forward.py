"""Forward dynamics in local frames: q'' eliminated joint by joint from the Gibbs function (docs/pages/formulations/production.md, step 3),
or the mass matrix factorised along the branches. Which is cheaper depends on the robot; mimic joints need the second.

The motion is split into that at q'' = 0 (local_force.py) and a part linear in q'': dalpha, da. In it the Gibbs function of a
subtree is the quadratic form of blocks A (3x3), H (3x3), C (3x3): n = A dalpha + H da + n0, f = Hᵀ dalpha + C da + f0.
"""

from __future__ import annotations

from dataclasses import dataclass

from urdf_gibbs.dynamics.branch_factors import factorised
from urdf_gibbs.dynamics.local import Axis, LocalModel, Placed, place, symmetric, turned_general, turned_symmetric
from urdf_gibbs.dynamics.local_force import Motion, bias, child_motion, ground, load
from urdf_gibbs.dynamics.local_inertia import mass_matrix, polar
from urdf_gibbs.dynamics.matrices import Matrix, Scalar, Scalars, Vector
from urdf_gibbs.dynamics.scalar import add, mul, reciprocal, sub

Solution = tuple[list[Scalar], list[Scalar]]  # the unknowns, and the pivots


@dataclass(slots=True)
class Articulated:
    """The articulated inertia of a subtree: blocks A, H, C and the forces n, f at dalpha = da = 0."""

    A: Matrix
    H: Matrix
    C: Matrix
    n: Vector
    f: Vector


@dataclass(frozen=True, slots=True)
class Step:
    """One eliminated velocity: q'' = u - angular . dalpha - linear . da, and the pivot D."""

    axis: Axis
    u: Scalar
    angular: Vector
    linear: Vector
    D: Scalar


def forward_dynamics(model: LocalModel, q: Scalars, v: Scalars, tau: Scalars, gravity: Scalars) -> Solution:
    """(q'' (nv), pivots (nv)) by elimination, O(n). Not for mimic joints."""
    bodies = place(model, q)
    motions: list[Motion] = []
    for placed in bodies:
        parent = placed.body.parent
        motions.append(child_motion(placed, ground(gravity) if parent < 0 else motions[parent], v, [0.0] * model.nv))
    forms = [body_form(placed, motion) for placed, motion in zip(bodies, motions, strict=True)]
    steps: list[list[Step]] = [[] for _ in bodies]
    for i in range(len(bodies) - 1, -1, -1):
        for axis in reversed(bodies[i].body.axes):
            steps[i].insert(0, eliminate(forms[i], axis, tau[axis.iv]))
        parent = bodies[i].body.parent
        if parent >= 0:
            add_to_parent(forms[parent], bodies[i], forms[i])
    acceleration: list[Scalar] = [0.0] * model.nv
    pivots: list[Scalar] = [1.0] * model.nv
    shifts: list[tuple[Vector, Vector]] = []
    for i, placed in enumerate(bodies):
        parent = placed.body.parent
        dalpha, da = (Vector.zeros(3), Vector.zeros(3)) if parent < 0 else motion_from_parent(placed, shifts[parent])
        for step in steps[i]:
            dalpha, da, acceleration[step.axis.iv] = recover_acceleration(step, dalpha, da)
            pivots[step.axis.iv] = step.D
        shifts.append((dalpha, da))
    return acceleration, pivots


def body_form(placed: Placed, motion: Motion) -> Articulated:
    """The body alone: A = tr(Sigma) 1 - Sigma, H = h~, C = m 1."""
    J, k = placed.J, placed.body.k
    S = J.Sigma
    trace = [polar(S, i) for i in range(3)]
    if placed.body.kind == "revolute":  # the moment of inertia about the axis does not turn; a leaf's is a constant
        trace[k] = polar(placed.body.J.Sigma, k)
    A = symmetric(lambda i, j: trace[i] if i == j else mul(-1.0, S[i][j]))
    C = Matrix([[J.m if i == j else 0.0 for j in range(3)] for i in range(3)])
    return Articulated(A, J.h.tilde, C, *load(J, motion))


def eliminate(form: Articulated, axis: Axis, tau: Scalar) -> Step:
    """Solve the axis' own equation for its q'' and eliminate it from the form."""
    a, d = axis.angular, axis.linear
    Ua = form.A @ a + form.H @ d
    Ul = form.H.T @ a + form.C @ d
    D = add(a @ Ua, d @ Ul)
    inverse = reciprocal(D)
    Wa, Wl = inverse * Ua, inverse * Ul
    u = mul(inverse, sub(tau, add(a @ form.n, d @ form.f)))
    form.A = symmetric(lambda i, j: sub(form.A[i][j], mul(Wa[i], Ua[j])))
    form.H = Matrix([[sub(form.H[i][j], mul(Wa[i], Ul[j])) for j in range(3)] for i in range(3)])
    form.C = symmetric(lambda i, j: sub(form.C[i][j], mul(Wl[i], Ul[j])))
    form.n = form.n + u * Ua
    form.f = form.f + u * Ul
    # Along a coordinate axis what remains is known: no inertia, and the force is the joint's own.
    if axis.angular_index >= 0:
        k = axis.angular_index
        Wa[k], form.n[k] = a[k], mul(a[k], tau)
        for i in range(3):
            form.A[i][k] = form.A[k][i] = form.H[k][i] = 0.0
    elif axis.linear_index >= 0:
        k = axis.linear_index
        Wl[k], form.f[k] = d[k], mul(d[k], tau)
        for i in range(3):
            form.C[i][k] = form.C[k][i] = form.H[i][k] = 0.0
    return Step(axis, u, Wa, Wl, D)


def add_to_parent(parent: Articulated, placed: Placed, form: Articulated) -> None:
    """Add a child's form to its parent's: turn, then H + p~ C and A + H p~ᵀ + p~ (H + p~C)ᵀ."""
    A, H, C, n, f = form.A, form.H, form.C, form.n, form.f
    rotations = ([] if placed.joint is None else [placed.joint]) + list(reversed(placed.body.fixed))
    for r in rotations:
        A, H, C = turned_symmetric(r, A), turned_general(r, H), turned_symmetric(r, C)
    n, f = placed.up(n), placed.up(f)
    p = placed.p
    H_p = H + Matrix([p.cross(C.column(j)) for j in range(3)]).T  # H + p~ C
    Hp = [p.cross(Vector(row)) for row in H]  # rows of H p~ᵀ
    pH = [p.cross(Vector(row)) for row in H_p]  # columns of p~ (H + p~ C)ᵀ
    parent.A = symmetric(lambda i, j: add(parent.A[i][j], add(A[i][j], add(Hp[i][j], pH[j][i]))))
    parent.H = parent.H + H_p
    parent.C = symmetric(lambda i, j: add(parent.C[i][j], C[i][j]))
    parent.n = parent.n + (n + p.cross(f))
    parent.f = parent.f + f


def motion_from_parent(placed: Placed, parent: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
    """dalpha and da that the parent's give the body, in its axes."""
    dalpha, da = parent
    return placed.down(dalpha), placed.down(da + dalpha.cross(placed.p))


def recover_acceleration(step: Step, dalpha: Vector, da: Vector) -> tuple[Vector, Vector, Scalar]:
    """The axis' q'', and the body's motion including it."""
    acceleration = sub(step.u, add(step.angular @ dalpha, step.linear @ da))
    return dalpha + acceleration * step.axis.angular, da + acceleration * step.axis.linear, acceleration


def forward_dynamics_factorised(model: LocalModel, q: Scalars, v: Scalars, tau: Scalars, gravity: Scalars) -> Solution:
    """(q'' (nv), pivots (nv)) from the factorised mass matrix."""
    return solved(mass_matrix(model, q), Vector(tau) - bias(model, q, v, gravity))


def solved(M: list[list[Scalar]], b: Scalars) -> Solution:
    """(x with M x = b, pivots) by M = Lᵀ D L."""
    factors = factorised(M)
    return factors.solve(b), factors.pivots
