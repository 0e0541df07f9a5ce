"""The public functions: dynamics of a Robot for one state or a batch, by a formulation chosen by name.

q is (..., nq), v, a and tau are (..., nv); leading axes broadcast. All quantities are in SI units; gravity is
(0, 0, -9.81) in world axes unless given. ``external={link: (force, torque)}`` acts at the link's origin, in world axes:
tau + sum of Jᵀ f = M a + h. Joint damping and friction do not enter.

``method="compiled"`` runs the production formulation as machine code for this robot. The papers' formulations in plain Python are
"gibbs_appell" and "explicit", and those that they compare theirs with: "lagrangian_4x4", "gibbs_appell_3x3", "generalised_momentum" and
"pseudo_inertia"; for elastic links "gibbs_appell_flexible" and "transformations_flexible", and "shafei2017" for chains in the plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, triple, wide, within
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.dynamics.impact import after
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import BASELINES, COMPILED, METHODS, REFERENCES
from urdf_gibbs.engine.adaptive import entry, weighed
from urdf_gibbs.engine.elements import dealt
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.engine.questions import ELEMENTS
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError, UnknownNameError
from urdf_gibbs.flexible.sections import beam_of, body_point, root_moves
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of

External = Mapping[str, tuple[ArrayLike, ArrayLike]]
Contacts = Sequence[tuple[str, ArrayLike, ArrayLike]]

DEPENDENT = 1e-10  # of contacts that are fully their own, K scaled to a unit diagonal: below it K's round-off decides


def mass_matrix(robot: Robot, q: ArrayLike, *, method: str = COMPILED, out: Array | None = None) -> Array:
    """Joint-space inertia matrix M (..., nv, nv), full and symmetric."""
    if method is COMPILED:
        code = robot._derived.entries.get("mass_matrix") or entry(robot, "mass_matrix")
    else:
        code = kernel(robot, "mass_matrix", method=method)
    return code(q) if out is None else code(q, out)


def mass_matrix_elements(
    robot: Robot,
    q: ArrayLike,
    pairs: Iterable[Sequence[int | str]],
    *,
    method: str = COMPILED,
    threads: int = 1,
    out: Array | None = None,
) -> Array:
    """Entries of M alone (..., len(pairs)): pairs of (row, column), indices from 0 or velocity names.

    "compiled" makes machine code for this set of entries, "explicit" evaluates each by its own formula (WJ). threads: the pairs are dealt
    to so many groups, in the order given, each with code of its own, and the groups to as many threads (at most ``get_threads()``). It
    pays for batches of long chains; for one state it does not, and many states of a small robot are better left to ``set_threads``.
    """
    if not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads={threads!r}, expected a whole number of at least 1")
    if threads > 1 and method != COMPILED:
        raise ArgumentError(f"threads={threads} for method={method!r}, which is plain Python; expected 1, or method={COMPILED!r}")
    code = kernel(robot, ELEMENTS, pairs=pairs, method=method) if threads == 1 else dealt(robot, pairs, threads)
    return code(q) if out is None else code(q, out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, method: str = COMPILED, out: Array | None = None
) -> Array:
    """Coriolis, centrifugal and gravity forces h (..., nv): tau = M a + h."""
    if gravity is EARTH_GRAVITY and method is COMPILED:
        code = robot._derived.entries.get("bias") or entry(robot, "bias")
    else:
        code, g = weighed(robot, "bias", gravity, method)
        if g is not None:
            return code(q, v, g) if out is None else code(q, v, g, out)
    return code(q, v) if out is None else code(q, v, out)


def gravity_force(
    robot: Robot, q: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, method: str = COMPILED, out: Array | None = None
) -> Array:
    """The part of h that gravity makes (..., nv): what holds the robot at rest, but for the strain of elastic links."""
    if gravity is EARTH_GRAVITY and method is COMPILED:
        code = robot._derived.entries.get("gravity_force") or entry(robot, "gravity_force")
    else:
        code, g = weighed(robot, "gravity_force", gravity, method)
        if g is not None:
            return code(q, g) if out is None else code(q, g, out)
    return code(q) if out is None else code(q, out)


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    external: External | None = None,
    method: str = COMPILED,
    out: Array | None = None,
) -> Array:
    """tau (..., nv) = M a + h - sum of Jᵀ f."""
    if external is not None:
        own = inverse_dynamics(robot, q, v, a, gravity=gravity, method=method)
        return _put(_sum(tau=own, external=-_external_force(robot, q, external)), out)
    if gravity is EARTH_GRAVITY and method is COMPILED:
        code = robot._derived.entries.get("inverse_dynamics") or entry(robot, "inverse_dynamics")
    else:
        code, g = weighed(robot, "inverse_dynamics", gravity, method)
        if g is not None:
            return code(q, v, a, g) if out is None else code(q, v, a, g, out)
    return code(q, v, a) if out is None else code(q, v, a, out)


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    gravity: ArrayLike = EARTH_GRAVITY,
    external: External | None = None,
    method: str = COMPILED,
    out: Array | None = None,
) -> Array:
    """a (..., nv) with M a + h = tau + sum of Jᵀ f. Raises SingularMassMatrixError where M has no inverse."""
    if external is not None:
        tau = _sum(tau=wide(tau, robot.nv, "tau"), external=_external_force(robot, q, external))
    if gravity is EARTH_GRAVITY and method is COMPILED:
        code = robot._derived.entries.get("forward_dynamics") or entry(robot, "forward_dynamics")
    else:
        code, g = weighed(robot, "forward_dynamics", gravity, method)
        if g is not None:
            return code(q, v, tau, g) if out is None else code(q, v, tau, g, out)
    return code(q, v, tau) if out is None else code(q, v, tau, out)


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike, *, method: str = COMPILED, out: Array | None = None) -> Array:
    """T = vᵀ M v / 2 [J], shape (...)."""
    if method is COMPILED:
        code = robot._derived.entries.get("kinetic_energy") or entry(robot, "kinetic_energy")
    else:
        code = kernel(robot, "kinetic_energy", method=method)
    return code(q, v) if out is None else code(q, v, out)


def potential_energy(
    robot: Robot, q: ArrayLike, *, gravity: ArrayLike = EARTH_GRAVITY, include_base: bool = False, out: Array | None = None
) -> Array:
    """-m g . c [J], shape (...), of the links that move; ``include_base`` adds those fixed to the world."""
    if include_base:
        base = robot.base_inertia
        fixed = base.mass * float(np.dot(triple(gravity, "gravity"), base.com))
        return _put(potential_energy(robot, q, gravity=gravity) - fixed, out)
    if gravity is EARTH_GRAVITY:
        code = robot._derived.entries.get("potential_energy") or entry(robot, "potential_energy")
    else:
        code, g = weighed(robot, "potential_energy", gravity, COMPILED)
        if g is not None:
            return code(q, g) if out is None else code(q, g, out)
    return code(q) if out is None else code(q, out)


def centre_of_mass(robot: Robot, q: ArrayLike, *, include_base: bool = False, out: Array | None = None) -> Array:
    """Centre of mass (..., 3) [m] in the world, of the links that move; ``include_base`` adds those fixed to the world."""
    if not include_base:
        code = robot._derived.entries.get("centre_of_mass") or entry(robot, "centre_of_mass")
        return code(q) if out is None else code(q, out)
    base = robot.base_inertia
    moment = entry(robot, "first_moment")(q) + base.mass * np.array([1.0, *base.com])
    mass = moment[..., :1]
    if moment.size and not np.all(mass):
        raise ArgumentError(f"{robot.name or 'the robot'} has no mass: its centre of mass does not exist")
    return _put(np.asarray(moment[..., 1:] / mass), out)


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """(..., 6): linear momentum, then angular momentum about the centre of mass, in world axes."""
    code = robot._derived.entries.get("momentum") or entry(robot, "momentum")
    return code(q, v) if out is None else code(q, v, out)


def jacobian(robot: Robot, q: ArrayLike, frame: str, point: ArrayLike | None = None, *, out: Array | None = None) -> Array:
    """(..., 6, nv), linear first, world axes: velocity of ``point`` (3,) (given in the frame of the link ``frame``) and of the link.

    A point of an elastic link, given where it is in the straight link, lies in the section at its root or at its tip and moves with it.
    """
    if point is None:
        code = robot._derived.entries.get(("jacobian", frame)) or entry(robot, "jacobian", frame)
    else:
        at = triple(point, "point")
        code = robot._derived.entries.get(("jacobian", frame, at)) or entry(robot, "jacobian", frame, at)
    return code(q) if out is None else code(q, out)


def frame_placement(robot: Robot, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
    """4x4 placement (..., 4, 4) of the link ``frame`` in the world."""
    code = robot._derived.entries.get(("placement", frame)) or entry(robot, "placement", frame)
    return code(q) if out is None else code(q, out)


def impact(
    robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Contacts, restitution: float = 1.0, *, method: str = COMPILED
) -> tuple[Array, Array]:
    """(velocity after (nv,), impulses (k,) [N s] along the normals) of an impact at one state q (nq,), v (nv,), without friction.

    contacts: (link, point in the link's frame (3,) [m], unit normal in the world (3,)) for each. It is the papers' equality form (S18,
    Eqs. 44-47): each contact leaves with -restitution times its normal velocity before, so one that is separating is pulled back by a
    negative impulse. The laws of ``simulate`` ("newton" and "poisson") only push. Raises ArgumentError where contacts depend on each other.
    """
    known = (*METHODS, *BASELINES)
    if method not in known:
        raise UnknownNameError("method", method, known)
    restitution = within(restitution, 0.0, 1.0, "restitution")
    speed = wide(v, robot.nv, "v")
    M = mass_matrix(robot, q, method=method)
    if M.ndim != 2 or speed.ndim != 1:
        raise ArgumentError(f"q has shape {np.shape(q)} and v {speed.shape}, expected one state: ({robot.nq},) and ({robot.nv},)")
    if not (np.isfinite(M).all() and np.isfinite(speed).all()):
        raise ArgumentError("q or v is not finite")
    idle = idle_velocities(robot, np.asarray(q, dtype=np.float64), M)
    if idle:
        raise SingularMassMatrixError(joints_of(robot, idle))
    Jn = np.array([_normal_row(robot, q, i, contact, method) for i, contact in enumerate(contacts)]).reshape(len(contacts), robot.nv)
    _check_independent(M, Jn, [str(contact[0]) for contact in contacts])
    result, impulses = after(M.tolist(), Jn.tolist(), speed.tolist(), restitution)
    return np.array(result, dtype=np.float64), np.array(impulses, dtype=np.float64)


def _normal_row(robot: Robot, q: ArrayLike, i: int, contact: tuple[str, ArrayLike, ArrayLike], method: str) -> Array:
    """nᵀ J (nv,) of a contact, by the method's own Jacobian."""
    try:
        link, point, normal = contact
    except (TypeError, ValueError):
        raise ArgumentError(f"contacts[{i}] is {contact!r}, expected (link, point (3,), unit normal (3,))") from None
    n, at = np.array(triple(normal, f"normal of contacts[{i}]")), triple(point, f"point of contacts[{i}]")
    if not abs(np.linalg.norm(n) - 1.0) < 1e-9:
        raise ArgumentError(f"the normal of contacts[{i}] is {n.tolist()}, of length {np.linalg.norm(n):.9g}; expected a unit vector")
    if method == COMPILED:
        J = jacobian(robot, q, link, at)[:3]
    else:
        body, place = body_point(robot, link, at)
        state = np.asarray(q, dtype=np.float64).tolist()
        J = np.array(REFERENCES[method].point_jacobian(model_of(robot), state, body, place.tolist()), dtype=np.float64)
    row = n @ J
    if not np.max(np.abs(row), initial=0.0) > 1e-12 * np.max(np.abs(J), initial=0.0):
        raise ArgumentError(f"contacts[{i}]: no joint moves this point of {link!r} along the normal {n.tolist()}")
    return np.asarray(row)


def _check_independent(M: Array, Jn: Array, links: list[str]) -> None:
    """K = J_n M^-1 J_nᵀ must be regular, or Eq. 47 has no single solution."""
    if len(Jn) < 2:
        return
    K = Jn @ np.linalg.solve(M, Jn.T)
    size = np.sqrt(np.abs(np.diag(K)))
    values, motions = np.linalg.eigh(K / np.outer(size, size))
    least = int(np.argmin(np.abs(values)))
    if not abs(values[least]) > DEPENDENT:
        involved = [f"{i} ({links[i]})" for i in np.flatnonzero(np.abs(motions[:, least]) > 1e-3)]
        raise ArgumentError(
            f"contacts {', '.join(involved)} depend on each other: J M^-1 Jᵀ is singular and the impulses are not determined; "
            "leave out those that the others imply"
        )


# Arguments --------------------------------------------------------------------------------------------


def _put(values: Array, out: Array | None) -> Array:
    """The values, in ``out`` where there is one."""
    if out is None:
        return values
    if out.shape != values.shape:
        raise ArgumentError(f"out has shape {out.shape}, expected {values.shape}")
    out[...] = values
    return out


def _sum(**forces: Array) -> Array:
    try:
        return np.asarray(sum(forces.values()))
    except ValueError:
        listed = ", ".join(f"{name} {force.shape[:-1]}" for name, force in forces.items())
        raise ArgumentError(f"the leading axes do not broadcast: {listed}") from None


def _external_force(robot: Robot, q: ArrayLike, external: External) -> Array:
    """sum of Jᵀ (force, torque), shape (..., nv)."""
    total = np.zeros(robot.nv)
    for link, pair in external.items():
        try:
            force, torque = pair
        except (TypeError, ValueError):
            raise ArgumentError(f"external[{link!r}] is {pair!r}, expected a pair (force (3,), torque (3,))") from None
        elastic = beam_of(robot, link)
        if elastic is not None and root_moves(elastic[1]):
            raise ArgumentError(
                f"external[{link!r}]: the root of this elastic link moves against the link's frame in these modes, "
                f"expected a force on {link + '.tip'!r}, or modes with a root at rest"
            )
        wrench = np.concatenate(np.broadcast_arrays(wide(force, 3, f"force on {link}"), wide(torque, 3, f"torque on {link}")), axis=-1)
        total = total + np.einsum("...ij,...i->...j", jacobian(robot, q, link), wrench)
    return total
