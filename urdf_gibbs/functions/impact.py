"""The impact of chosen contacts in one state, by any law and any of the papers' formulations; S18's Eqs. 44-47 are its equality form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, listed, one_of, triple, vector, wide, within
from urdf_gibbs.dynamics.impact import solve_impact
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import BASELINES, COMPILED, METHODS, REFERENCES
from urdf_gibbs.engine.adaptive import entry
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError
from urdf_gibbs.flexible.sections import body_point
from urdf_gibbs.functions.dynamics import mass_matrix
from urdf_gibbs.functions.kinematics import jacobian, potential_energy
from urdf_gibbs.names import Law, Method
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of

if TYPE_CHECKING:
    from urdf_gibbs.simulation.impact_values import Impact

Contacts = Sequence[tuple[str, ArrayLike, ArrayLike]]

UNSOLVED = 1e-6  # a certificate above this: no impulses obey the law, or none were found
DEPENDENT = 1e-10  # of contacts that are fully their own, K scaled to a unit diagonal: below it K's round-off decides


def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: float = 1.0,
    *,
    friction: float = 0.0,
    law: Law | None = None,
    gravity: ArrayLike = EARTH_GRAVITY,
    method: Method = COMPILED,
) -> Impact:
    """The impact of chosen contacts in one state, by the papers' equality form (S18, Eqs. 44-47) or, with friction, by another law.

    By the equality form each contact leaves with -restitution times its normal velocity before, so one that is separating is pulled back by
    a negative impulse. The other laws only push. ``Simulator.impact`` is the impact of what touches a wall and approaches.

    Args:
        robot: Made by ``load``.
        q: Coordinates (nq,).
        v: Velocities before (nv,).
        contacts: (link, point in the link's frame (3,) [m], unit normal in the world (3,)) of each of k contacts; all are solved together.
        restitution: In [0, 1], of all contacts.
        friction: The coefficient of Coulomb's friction of all contacts, 0 or more.
        law: As in ``simulate``. None: "newton_equality" without friction, "newton" with it.
        gravity: (3,) in the world [m/s^2], for the potential energy in ``energy_before`` and ``energy_after``.
        method: The formulation; those of elastic links have none but "compiled".

    Returns:
        The same record as those of a trajectory: ``v_after`` (nv,), ``impulses`` (k,) [N s] along the normals and the rest. ``points`` are
        the names of the links, ``walls`` are "", ``time`` is 0. ``law`` is the one that was applied: "moreau" where "energetic" is asked
        for and not one contact alone is struck.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, the equality form is asked for with friction or of contacts that depend
            on each other, no joint moves one of them, or no impulses are found that obey the law.
        UnknownNameError: There is no such method, law or link.
        SingularMassMatrixError: Some motion meets no inertia.
    """
    from urdf_gibbs.simulation.impact_values import described_impact

    check_robot(robot)
    method = one_of(method, (*METHODS, *BASELINES), "method")  # type: ignore[assignment]
    restitution, friction = within(restitution, 0.0, 1.0, "restitution"), within(friction, 0.0, 1e308, "friction")
    law = _checked_law(law, friction)
    given = listed(contacts, "a list of (link, point (3,), unit normal (3,))", "contacts")
    place, speed = wide(q, robot.nq, "q"), wide(v, robot.nv, "v")
    M = mass_matrix(robot, place, method=method)
    if M.ndim != 2 or speed.ndim != 1:
        raise ArgumentError(f"q has shape {place.shape} and v {speed.shape}, expected one state: ({robot.nq},) and ({robot.nv},)")
    if not (np.isfinite(M).all() and np.isfinite(speed).all()):
        raise ArgumentError("q or v is not finite")
    idle = idle_velocities(robot, place, M)
    if idle:
        raise SingularMassMatrixError(joints_of(robot, idle))
    told = [_contact(robot, place, i, contact, method) for i, contact in enumerate(given)]
    if law == "newton_equality":
        found = _by_equality(M, told, speed, restitution)
    else:
        found = _by_law(M, told, speed, restitution, friction, law)
    height = potential_energy(robot, place, gravity=gravity)
    points = np.array([one.J for one in told]).reshape(len(told), 3, robot.nv)
    return described_impact(
        points=tuple(one.link for one in told),
        positions=np.array([one.position for one in told]).reshape(-1, 3),
        normals=np.array([one.normal for one in told]).reshape(-1, 3),
        velocities=(points @ speed, points @ found.v_after),
        impulses=found.impulses,
        tangential_impulses=found.tangential,
        restitution=np.full(len(told), restitution),
        kinetic=(float(0.5 * speed @ M @ speed), float(0.5 * found.v_after @ M @ found.v_after)),
        potential=float(height),
        state=(place, speed, found.v_after),
        law=found.law,
        rounds=found.rounds,
        certificate=found.certificate,
    )


def _checked_law(law: Any, friction: float) -> Law:
    """One that there is with or without friction."""
    from urdf_gibbs.contact.names import LAWS

    if law is None:
        return "newton" if friction > 0.0 else "newton_equality"
    found: Law = one_of(law, LAWS, "law")  # type: ignore[assignment]
    if friction > 0.0 and found == "newton_equality":
        raise ArgumentError("law='newton_equality' has no form with friction; expected 'newton', 'moreau', 'poisson' or 'energetic'")
    return found


class _Found(NamedTuple):
    """Velocities after (nv,), impulses along the normals (k,) and of friction (k, 3) in the world [N s], and how they were found."""

    v_after: Array
    impulses: Array
    tangential: Array
    law: Law
    rounds: int
    certificate: float


class _Contact(NamedTuple):
    """A contact of ``link``: ``position`` and ``normal`` (3,) in the world, and J (3, nv) of its point."""

    link: str
    position: Array
    normal: Array
    J: Array


def _contact(robot: Robot, q: Array, i: int, contact: Any, method: str) -> _Contact:
    """By the method's own Jacobian."""
    try:
        link, point, normal = contact
    except (TypeError, ValueError):
        raise ArgumentError(f"contacts[{i}] is {contact!r}, expected (link, point (3,), unit normal (3,))") from None
    n, at = vector(normal, 3, f"normal of contacts[{i}]"), triple(point, f"point of contacts[{i}]")
    if not abs(np.linalg.norm(n) - 1.0) < 1e-9:
        raise ArgumentError(f"the normal of contacts[{i}] is {n.tolist()}, of length {np.linalg.norm(n):.9g}; expected a unit vector")
    robot.frame(link)
    body, place = body_point(robot, link, at)
    if method == COMPILED:
        J = jacobian(robot, q, link, at)[:3]
    else:
        J = np.array(REFERENCES[method].point_jacobian(model_of(robot), q.tolist(), body, place.tolist()), dtype=np.float64)
    row = n @ J
    if not np.max(np.abs(row), initial=0.0) > 1e-12 * np.max(np.abs(J), initial=0.0):
        raise ArgumentError(f"contacts[{i}]: no joint moves this point of {link!r} along the normal {n.tolist()}")
    pose = entry(robot, "placements")(q)[body]
    return _Contact(link, pose[:9].reshape(3, 3) @ place + pose[9:], n, J)


def _by_equality(M: Array, told: Sequence[_Contact], v: Array, restitution: float) -> _Found:
    """Eq. 47."""
    Jn = np.array([one.normal @ one.J for one in told]).reshape(len(told), len(v))
    _check_independent(M, Jn, [one.link for one in told])
    v_after, impulses = (np.array(values, dtype=np.float64) for values in solve_impact(M.tolist(), Jn.tolist(), v.tolist(), restitution))
    return _Found(v_after, impulses, np.zeros((len(told), 3)), "newton_equality", 1, 0.0)


def _by_law(M: Array, told: Sequence[_Contact], v: Array, restitution: float, friction: float, law: Law) -> _Found:
    """By one of the laws of contact/rough_laws, with the rows normal and two tangents of each contact, or the normal where it is smooth."""
    from urdf_gibbs.contact.rough_laws.given import impulses_by_law

    k, rows = len(told), 3 if friction > 0.0 else 1
    directions = np.array([_axes(one.normal)[:rows] for one in told]).reshape(k, rows, 3)
    J = np.array([axes @ one.J for axes, one in zip(directions, told, strict=True)]).reshape(k * rows, len(v))
    response = np.linalg.solve(M, J.T)
    K = J @ response
    found = impulses_by_law(law, 0.5 * (K + K.T), J @ v, np.full(k, friction), np.full(k, restitution))
    if not found.certificate < UNSOLVED:
        names = ", ".join(one.link for one in told)
        raise ArgumentError(f"no impulses of the contacts {names} are found that obey the law {law!r} in this state")
    p = found.impulses.reshape(k, rows)
    tangential = np.einsum("ki,kij->kj", p[:, 1:], directions[:, 1:])
    return _Found(v + response @ found.impulses, p[:, 0].copy(), tangential, found.law, found.rounds, found.certificate)


def _axes(normal: Array) -> Array:
    """(3, 3): the normal and two unit vectors at right angles to it and to each other, in rows."""
    other = np.zeros(3)
    other[np.argmin(np.abs(normal))] = 1.0
    first = np.cross(normal, other)
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


def _check_independent(M: Array, Jn: Array, links: Sequence[str]) -> None:
    """K = J_n M^-1 J_nᵀ must be regular, or Eq. 47 has no single solution."""
    if len(Jn) < 2:
        return
    K = Jn @ np.linalg.solve(M, Jn.T)
    size = np.sqrt(np.abs(np.diag(K)))
    values, motions = np.linalg.eigh(K / np.outer(size, size))
    least = int(np.argmin(np.abs(values)))
    if not abs(values[least]) > DEPENDENT:
        involved = [f"{i} ({links[i]})" for i in np.flatnonzero(np.abs(motions[:, least]) > 1e-3).tolist()]
        raise ArgumentError(
            f"contacts {', '.join(involved)} depend on each other: J M^-1 Jᵀ is singular and the impulses are not determined; "
            "leave out those that the others imply"
        )
