"""``simulate``: one call for a run, with the last few simulators kept for the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.contact.coefficients import SceneFrictionLike
from urdf_gibbs.contact.joint_friction import JointFrictionLike
from urdf_gibbs.contact.points import PairLike, PointLike
from urdf_gibbs.contact.soil import Soil
from urdf_gibbs.contact.wheels import Tyres
from urdf_gibbs.names import Cylinders, Law, Paradox, Scheme
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.controller import Controller, Switches
from urdf_gibbs.simulation.description import checked_start
from urdf_gibbs.simulation.hashed import hashable
from urdf_gibbs.simulation.simulator import Progress, Simulator
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.walls import Wall

__all__ = ["SIMULATORS", "Simulator", "simulate"]


def simulate(
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike | None,
    duration: float,
    walls: Wall | Iterable[Wall] = (),
    law: Law = "newton",
    restitution: float = 1.0,
    controller: Controller | None = None,
    *,
    scheme: Scheme = "events",
    step: float = 1e-3,
    friction: SceneFrictionLike = 0.0,
    paradox: Paradox = "impact",
    gravity: ArrayLike = EARTH_GRAVITY,
    points: str | Iterable[PointLike] | None = None,
    pairs: str | Iterable[PairLike] = (),
    cylinders: Cylinders = "auto",
    tyres: Tyres = 0.0,
    soil: Soil | str | None = None,
    joint_limits: bool = False,
    damping: bool = False,
    joint_friction: JointFrictionLike = 0.0,
    controller_rate: float | None = None,
    switches: Switches | None = None,
    torque: ArrayLike | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-10,
    max_step: float = np.inf,
    tie: float = 1e-8,
    zeno: float = 1e-6,
    cycle: float = 2e-3,
    resolution: float = 1e-3,
    dense: bool = True,
    memory: float = 2e9,
    progress: Progress | None = None,
) -> Trajectory:
    """Simulate a robot: flight by an integrator of order 8, impacts by a law, rest as constrained flight.

    Ctrl-C ends the run and returns what there is, with status "interrupted".

    Args:
        robot: Made by ``load``.
        q0: Coordinates at the start (nq,).
        v0: Velocities at the start (nv,); None: at rest.
        duration: Of the run [s].
        walls: What the robot can touch, one of ``urdf_gibbs.walls`` or several.
        law: How impulses follow from the velocities before: "newton", "poisson", "moreau" or "energetic", which only push, or
            "newton_equality", as the papers print it.
        restitution: In [0, 1], where a wall has none of its own.
        controller: controller(t, q, v) -> (nv,) generalised forces [N m, N], all that acts on the joints. With ``switches`` it is called
            as controller(t, q, v, sides).
        scheme: "events": all that follows here, exact to the tolerances. "time_stepping": steps of one length, each with one contact
            problem by Coulomb's law, for many contacts: of second order in flight and of first order over impacts. Its laws are "newton"
            and "moreau"; it has no list of impacts, its contact forces are impulses divided by ``step``, and a controller without a
            rate is called once in each step. ``statistics`` tells the "worst_certificate" of the contact problems, how many contacts
            were thrown back ("bounces") and the "deepest" penetration [m].
        step: Length of the steps of "time_stepping" [s].
        friction: Coefficient of Coulomb friction, or (static, kinetic), of contacts (joint limits have none) where neither the pair nor
            the point nor the wall, in this order, has its own. "urdf": each link's, where Bullet, Gazebo or Drake look for it in the
            URDF, 0 and a warning for links without; ("urdf", 0.5): 0.5 for these. Of two links that touch each other the lower counts.
        paradox: Where no contact forces obey Coulomb's law (Painlevé): "impact", an impact without collision, or "stop", an error.
        gravity: (3,) in the world [m/s^2].
        points: What can touch: names of links or contact points, (link, place (3,) [m]), (link, place, radius [m]) or (link, place,
            radius, friction), or "collision", the collision shapes of the URDF; None: the joint origins and tips.
        pairs: Points that can touch each other: (point, point), (point, point, distance [m]) or (point, point, distance, friction), where
            the distance may be None: the sum of the radii. "auto": all spheres and capsules of the collision shapes, and spheres of
            ``points``, on bodies that no joint joins; those that overlap at the neutral pose are left out, with a warning.
        cylinders: How cylinders of points="collision" touch: "roll", with their rims, each with the nearest of its points, which moves
            along it; "stand", with the centres of their ends and 8 fixed points on each rim, as is needed to stand on an end; "auto":
            those roll whose axis is the axis of the joint that carries them, wheels.
        tyres: Radius with which the edges of wheels of points="collision" are round [m]: of all, or {link: number}, at most half of a
            wheel's width. A wheel whose width is twice as much is a torus. 0: edges are sharp.
        soil: Soil that yields under the wheels, in the place of rigid ground: a Soil of ``urdf_gibbs.contact.soil`` or its name, "lunar" or
            "fjs1"; None: the ground is rigid. It is on all walls; what else of the robot can touch them touches as it does without soil.
        joint_limits: Whether the URDF's joint limits act.
        damping: Whether the URDF's joint damping acts.
        joint_friction: Dry friction of revolute, continuous and prismatic joints: a force of at most this [N, N m], against the motion of a
            joint that slides, or whatever holds one that sticks. One number for all joints, {joint: number}, (nv,) numbers, or "urdf": what
            ``<dynamics friction=...>`` says. As these forces are bounded they do nothing at an impact.
        controller_rate: Calls of the controller per second [1/s], its answer being kept in between; None: in each stage of each step.
        switches: switches(t, q, v) -> (k,), for a controller that is not continuous: smooth values whose signs, the ``sides`` (k,) of
            1 and -1, say on which side it is. Every step ends where a sign changes. A switch to which both sides drive the motion
            back, such as v of dry friction at rest, is slid along.
        torque: Constant generalised forces (nv,) [N m, N], in the place of a controller.
        rtol: Relative tolerance of the integrator, for each step.
        atol: Absolute tolerance of the integrator, for each step [rad, m, rad/s, m/s].
        max_step: Longest step [s].
        tie: Contacts that would close within this time of each other, at the velocities before or after, are solved together [s].
        zeno: A bounce shorter than this is the last, then the contact holds [s].
        cycle: Where contacts with restitution below 1 pass impacts back and forth within this time [s], a bounce shorter than it is the
            last, and a resting contact stays at rest if it would be lifted for less; 0: every impact is computed, however many there
            are. ``statistics["energy_at_rest"]`` is the energy that this removes [J].
        resolution: What happens faster on a wall that is a Python function may be missed [s].
        dense: Whether the interpolant of each step is kept.
        memory: Rows that would take more [bytes] lose their interpolants, then every other row in flight; all impacts are kept, and
            ``statistics`` tells "bytes" and how often the rows were "thinned".
        progress: progress(t, impacts), called now and then with the time reached [s] and the number of impacts so far.

    Returns:
        The motion, its impacts and contact phases, as values.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value; said before anything is compiled.
        UnknownNameError: There is no such law, link or contact point.
        PenetrationError: The start is inside a wall.
        SimulationError: The motion cannot go on; the trajectory so far is with it.
    """
    touching: dict[str, Any] = {"walls": walls, "points": points, "pairs": pairs, "cylinders": cylinders, "joint_limits": joint_limits}
    wheels: dict[str, Any] = {"tyres": tyres, "soil": soil}
    laws: dict[str, Any] = {"law": law, "restitution": restitution, "friction": friction, "paradox": paradox}
    control = {"controller": controller, "controller_rate": controller_rate, "switches": switches, "torque": torque}
    forces = {"gravity": gravity, "damping": damping, "joint_friction": joint_friction, **control}
    accuracy = {"rtol": rtol, "atol": atol, "max_step": max_step, "tie": tie, "zeno": zeno, "cycle": cycle, "resolution": resolution}
    schemes: dict[str, Any] = {"scheme": scheme, "step": step}
    start = checked_start(robot, q0, v0, duration)  # before anything is compiled
    return _simulator(robot, {**touching, **wheels, **laws, **forces, **accuracy, **schemes, "dense": dense, "memory": memory}).run(
        *start, progress
    )


SIMULATORS: Shelf[tuple[tuple[str, Any], ...], Simulator] = Shelf(most=8)  # by their options


def _simulator(robot: Robot, options: dict[str, Any]) -> Simulator:
    """A Simulator for these options. The last few are kept with the robot, unless their options contain functions of the user's."""
    try:
        key = tuple((name, hashable(value)) for name, value in sorted(options.items()))
        hash(key)
    except TypeError:
        return Simulator(robot, **options)
    return SIMULATORS.get(robot, key, lambda: Simulator(robot, **options))
