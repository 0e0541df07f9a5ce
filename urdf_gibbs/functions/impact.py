"""The impact of chosen contacts in one state, by the papers' equality form (S18, Eqs. 44-47) and any of their formulations."""

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
from urdf_gibbs.names import Method
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of

if TYPE_CHECKING:
    from urdf_gibbs.simulation.impact_values import Impact

Contacts = Sequence[tuple[str, ArrayLike, ArrayLike]]

DEPENDENT = 1e-10  # of contacts that are fully their own, K scaled to a unit diagonal: below it K's round-off decides


def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: float = 1.0,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    method: Method = COMPILED,
) -> Impact:
    """The impact of chosen contacts in one state, without friction, by the papers' equality form (S18, Eqs. 44-47).

    Each contact leaves with -restitution times its normal velocity before, so one that is separating is pulled back by a negative impulse:
    it is the law "newton_equality" of ``simulate``. ``Simulator.impact`` is the impact, by any law, of what touches a wall and approaches.

    Args:
        robot: Made by ``load``.
        q: Coordinates (nq,).
        v: Velocities before (nv,).
        contacts: (link, point in the link's frame (3,) [m], unit normal in the world (3,)) of each of k contacts; all are solved together.
        restitution: In [0, 1], of all contacts.
        gravity: (3,) in the world [m/s^2], for the potential energy in ``energy_before`` and ``energy_after``.
        method: The formulation; those of elastic links have none but "compiled".

    Returns:
        The same record as those of a trajectory: ``v_after`` (nv,), ``impulses`` (k,) [N s] along the normals and the rest. ``points`` are
        the names of the links, ``walls`` are "", ``time`` is 0.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value, the contacts depend on each other, or no joint moves one of them.
        UnknownNameError: There is no such method or link.
        SingularMassMatrixError: Some motion meets no inertia.
    """
    from urdf_gibbs.simulation.impact_values import described_impact

    check_robot(robot)
    method = one_of(method, (*METHODS, *BASELINES), "method")  # type: ignore[assignment]
    restitution = within(restitution, 0.0, 1.0, "restitution")
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
    Jn = np.array([one.normal @ one.J for one in told]).reshape(len(told), robot.nv)
    links = tuple(one.link for one in told)
    _check_independent(M, Jn, links)
    v_after, impulses = (
        np.array(values, dtype=np.float64) for values in solve_impact(M.tolist(), Jn.tolist(), speed.tolist(), restitution)
    )
    height = potential_energy(robot, place, gravity=gravity)
    points = np.array([one.J for one in told]).reshape(len(told), 3, robot.nv)
    return described_impact(
        points=links,
        positions=np.array([one.position for one in told]).reshape(-1, 3),
        normals=np.array([one.normal for one in told]).reshape(-1, 3),
        velocities=(points @ speed, points @ v_after),
        impulses=impulses,
        restitution=np.full(len(told), restitution),
        energies=(float(0.5 * speed @ M @ speed + height), float(0.5 * v_after @ M @ v_after + height)),
        state=(place, speed, v_after),
    )


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
