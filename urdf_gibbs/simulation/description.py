"""What is simulated: a robot, what it can touch and the impact law, checked and immutable. Nothing is compiled here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import coefficients, flag, listed, one_of, vector, within
from urdf_gibbs.contact.candidates import Candidates, candidates
from urdf_gibbs.contact.coefficients import SceneFriction, SceneFrictionLike, scene_friction, warn_of_smooth_links
from urdf_gibbs.contact.joint_friction import Bounds, JointFrictionLike
from urdf_gibbs.contact.joint_friction import joint_friction as bounds_of
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.points import AUTO, ContactPoint, Pair, PairLike, PointLike, resolve_pairs, resolve_points
from urdf_gibbs.contact.self_pairs import find_pairs
from urdf_gibbs.contact.soil import Soil, soil_of
from urdf_gibbs.contact.surfaces import FUNCTION, IMPLICIT, MOVES
from urdf_gibbs.contact.wheels import Tyres, check_grids, wheel_points
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.names import Cylinders, Law, Paradox, Scheme
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.joints import joint_damping
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.controller import Controller, Switches
from urdf_gibbs.simulation.on_soil import Wheel, soil_wheels
from urdf_gibbs.simulation.plain import plain, read_only
from urdf_gibbs.walls import Vibration, Wall, described
from urdf_gibbs.walls.arguments import wall_list

Array = NDArray[np.float64]

PARADOXES: tuple[Paradox, ...] = ("impact", "stop")
CYLINDERS: tuple[Cylinders, ...] = ("auto", "roll", "stand")
SCHEMES: tuple[Scheme, ...] = ("events", "time_stepping")
STEPPING_LAWS: tuple[Law, ...] = ("newton", "moreau")
LONGEST_TIE = 1e-3  # s
QUATERNION_TOLERANCE = 1e-6  # how far from 1 the norm of a quaternion may be
RADIANS_PER_STEP = 0.5  # of a vibrating wall


@dataclass(frozen=True, eq=False)
class Description:
    """Made by ``describe``; arrays are read-only. Units and meanings are those of ``simulate``.

    ``resistance`` (nv,) is the joint damping that acts, ``joint_friction`` its dry friction, ``torque`` (nv,) a constant torque, ``wheels``
    those that a ``soil`` carries.
    """

    robot: Robot
    scheme: Scheme
    step: float
    walls: tuple[Wall, ...]
    law: Law
    restitution: float
    friction: SceneFriction
    paradox: Paradox
    gravity: Array
    points: tuple[ContactPoint, ...]
    pairs: tuple[Pair, ...]
    joint_limits: bool
    resistance: Array
    joint_friction: Bounds
    controller: Controller | None
    controller_rate: float | None
    switches: Switches | None
    soil: Soil | None
    wheels: tuple[Wheel, ...]
    torque: Array
    rtol: float
    atol: float
    max_step: float
    tie: float
    zeno: float
    cycle: float
    resolution: float
    dense: bool
    memory: float

    def candidates(self) -> Candidates:
        """All contact candidates; ArgumentError where two walls have the same name or a point does not fit inside a wall."""
        return candidates(
            self.robot,
            self.walls,
            self.points,
            self.pairs,
            self.joint_limits,
            self.restitution,
            self.resolution,
            self.friction,
            self.joint_friction,
        )

    @property
    def is_controlled(self) -> bool:
        return self.controller is not None

    @property
    def steps_in_time(self) -> bool:
        return self.scheme == "time_stepping"

    @property
    def in_stages(self) -> bool:
        """Whether the controller has no rate: it is called in each stage of each step, or with time stepping once in each step."""
        return self.controller is not None and self.controller_rate is None

    @property
    def rate(self) -> float:
        """Calls of the controller per second, 0 where it has no rate."""
        return self.controller_rate or 0.0 if self.is_controlled else 0.0

    def longest_step(self, candidates: Candidates) -> float:
        """A step short enough to resolve walls that vibrate and walls that are Python functions.

        How fast a motion given as a Python function is shows only when it is evaluated (Surfaces.max_step).
        """
        moved = [wall.motion for wall in self.walls if isinstance(wall.motion, Vibration)]
        bounds = [self.max_step, *(RADIANS_PER_STEP / abs(motion.omega) for motion in moved if motion.omega)]
        if (candidates.surfaces.kind == IMPLICIT).any() or (candidates.surfaces.integers[:, MOVES] == FUNCTION).any():
            bounds.append(10.0 * self.resolution)
        return min(bounds)

    def settings(self, longest_step: float) -> dict[str, Any]:
        """The settings as plain values, for a trajectory."""
        points = [
            {name: getattr(p, name) for name in ("name", "link", "body", "position", "radius", "friction", "rim", "axis")}
            for p in self.points
        ]
        values = {
            "scheme": self.scheme,
            "step": self.step,
            "rtol": self.rtol,
            "atol": self.atol,
            "longest_step": longest_step,
            "tie": self.tie,
            "zeno": self.zeno,
            "duration": 0.0,  # each run has its own
            "controller_rate": self.rate,
            "cycle": self.cycle,
            "law": self.law,
            "restitution": self.restitution,
            "friction": tuple(self.friction.default),
            "joint_friction": {name: most for (_, _, name), most in self.joint_friction.items()},
            "link_friction": {link: tuple(own) for link, own in self.friction.links.items()},
            "walls": [described(wall) for wall in self.walls],
            "points": points,
            "soil": None if self.soil is None else asdict(self.soil),
            "wheels": [wheel._asdict() for wheel in self.wheels],
        }
        return dict(plain(values))


def describe(
    robot: Robot,
    *,
    scheme: Scheme,
    walls: Wall | Iterable[Wall],
    law: Law,
    restitution: float,
    friction: SceneFrictionLike,
    paradox: Paradox,
    gravity: ArrayLike,
    points: str | Iterable[PointLike] | None,
    pairs: str | Iterable[PairLike],
    cylinders: Cylinders,
    tyres: Tyres,
    soil: Soil | str | None,
    joint_limits: bool,
    damping: bool,
    joint_friction: JointFrictionLike,
    controller: Controller | None,
    controller_rate: float | None,
    switches: Switches | None,
    torque: ArrayLike | None,
    dense: bool,
    **numbers: Any,
) -> Description:
    """The description of these options, ``numbers`` being tolerances, times and memory; ArgumentError where one is wrong."""
    check_robot(robot)
    law = one_of(law, LAWS, "law")  # type: ignore[assignment]
    if not robot.nv:
        raise ArgumentError(f"{robot.name or 'the robot'} has no joint that moves: there is nothing to simulate")
    scene = scene_friction(robot, friction)
    numbers = _checked_numbers(numbers)
    _check_controller(controller, controller_rate, switches, torque)
    scheme = _check_scheme(scheme, law, switches, numbers["step"])
    given, ground, wheels, resolved, touching = _scene(robot, walls, soil, points, pairs, cylinders, tyres)
    warn_of_smooth_links(scene, friction, resolved if given else (), touching)
    described = Description(
        robot=robot,
        scheme=scheme,
        walls=given,
        law=law,
        restitution=within(restitution, 0.0, 1.0, "restitution"),
        friction=scene,
        paradox=one_of(paradox, PARADOXES, "paradox"),  # type: ignore[arg-type]
        gravity=read_only(vector(gravity, 3, "gravity")),
        points=resolved,
        pairs=touching,
        joint_limits=flag(joint_limits, "joint_limits"),
        resistance=read_only(joint_damping(robot.joints, robot.nv) if flag(damping, "damping") else np.zeros(robot.nv)),
        joint_friction=bounds_of(robot, joint_friction),
        controller=controller,
        controller_rate=None if controller_rate is None else float(controller_rate),
        switches=switches,
        soil=ground,
        wheels=wheels,
        torque=read_only(vector(np.zeros(robot.nv) if torque is None else torque, robot.nv, "torque")),
        dense=flag(dense, "dense") and scheme == "events",
        **numbers,
    )
    return _without_friction_by_equality(described)


Scene = tuple[tuple[Wall, ...], Soil | None, tuple[Wheel, ...], tuple[ContactPoint, ...], tuple[Pair, ...]]


def _scene(robot: Robot, walls: Any, soil: Soil | str | None, points: Any, pairs: Any, cylinders: Cylinders, tyres: Tyres) -> Scene:
    """The walls, the soil on them and the wheels that it carries, the points and the pairs that can touch."""
    given, ground = tuple(wall_list(walls)), soil_of(soil)
    wheels = soil_wheels(robot, cylinders) if ground is not None else ()
    resolved, touching = _touching(robot, given, _tyred(robot, given, points, cylinders, tyres), pairs, cylinders, bool(wheels))
    _check_ground(given, wheels, resolved)
    return given, ground, wheels, resolved, touching


def _check_ground(walls: tuple[Wall, ...], wheels: tuple[Wheel, ...], points: tuple[ContactPoint, ...]) -> None:
    """ArgumentError where a height field is too coarse for a wheel, on soil or rigid."""
    check_grids(walls, [(wheel.link, 2.0 * wheel.radius) for wheel in wheels])
    check_grids(walls, [(point.name, 2.0 * (point.rim + point.radius)) for point in points if point.rim > 0.0])


def _tyred(robot: Robot, walls: tuple[Wall, ...], points: Any, cylinders: Cylinders, tyres: Tyres) -> Any:
    """The points of collision shapes whose wheels have round edges; others as they are."""
    if isinstance(tyres, float | int) and tyres == 0.0:
        return points
    if points != "collision":
        raise ArgumentError(f"tyres={tyres!r} with points={points!r}, expected points='collision', among which the wheels are")
    return wheel_points(robot, walls=walls, cylinders=cylinders, tyres=tyres)


def _touching(
    robot: Robot, walls: tuple[Wall, ...], points: Any, pairs: Any, cylinders: Cylinders, on_soil: bool
) -> tuple[tuple[ContactPoint, ...], tuple[Pair, ...]]:
    """The points and the pairs that can touch; on soil without the rims of wheels, which it carries."""
    cylinders = one_of(cylinders, CYLINDERS, "cylinders")  # type: ignore[assignment]
    if points is not None and not isinstance(points, str):
        points = listed(points, "None, 'collision', or a list of link names and points", "points")
    if pairs != AUTO:
        pairs = listed(pairs, "'auto', or a list of (name, name), (name, name, distance) or (name, name, distance, friction)", "pairs")
    if on_soil and not walls:
        raise ArgumentError("soil without a wall; expected the ground")
    resolved = resolve_points(robot, points, cylinders) if walls or points is not None else ()
    if on_soil:
        resolved = tuple(point for point in resolved if point.rim == 0.0)
    elif walls and not resolved:
        what = (
            "no collision shape that moves and can be read"
            if points == "collision"
            else "no moving joint origin and no tip to touch a wall"
        )
        raise ArgumentError(f"{robot.name or 'the robot'} has {what}; expected points=[(link, (x, y, z)), ...], places on its links")
    return resolved, find_pairs(robot, resolved) if pairs == AUTO else resolve_pairs(robot, resolved, pairs)


def _without_friction_by_equality(described: Description) -> Description:
    """The same; ArgumentError where the papers' law, which knows no friction, is to have some."""
    scene, rough = described.friction, [wall.friction for wall in described.walls]
    rough += [one.friction for one in described.points] + [pair.friction for pair in described.pairs]
    given = [coefficients(one, "friction") for one in rough if one is not None] + [scene.default, *scene.links.values()]
    if described.law == "newton_equality" and any(one.static > 0.0 for one in given):
        raise ArgumentError("law='newton_equality' has no form with friction; expected 'newton', 'moreau', 'poisson' or 'energetic'")
    return described


def _checked_numbers(numbers: dict[str, Any]) -> dict[str, float]:
    checked = {}
    for name, value in numbers.items():
        checked[name] = within(value, 0.0, LONGEST_TIE if name == "tie" else np.inf, name)
        if name not in ("tie", "cycle") and not checked[name] > 0.0:
            raise ArgumentError(f"{name}={value!r}, expected more than 0")
    return checked


def _check_controller(controller: Any, rate: Any, switches: Any, torque: Any) -> None:
    if controller is not None and not callable(controller):
        raise ArgumentError(f"controller={controller!r}, expected a function of (t, q, v) or None")
    if controller is not None and torque is not None:
        raise ArgumentError("torque and controller are both given, expected one: a controller returns all that acts on the joints")
    if rate is not None and not 0.0 < within(rate, 0.0, np.inf, "controller_rate") < np.inf:
        raise ArgumentError(f"controller_rate={rate!r}, expected calls per second, or None: in each stage of each step")
    if switches is not None and (not callable(switches) or controller is None or rate is not None):
        raise ArgumentError(
            f"switches={switches!r}, expected a function of (t, q, v), with a controller(t, q, v, sides) that is called without a rate"
        )


def _check_scheme(scheme: Scheme, law: Law, switches: Any, step: float) -> Scheme:
    """The scheme; ArgumentError for what it cannot do."""
    scheme = one_of(scheme, SCHEMES, "scheme")  # type: ignore[assignment]
    if scheme == "events":
        return scheme
    if law not in STEPPING_LAWS:
        raise ArgumentError(f"law={law!r} with scheme='time_stepping', expected 'newton' or 'moreau'")
    if switches is not None:
        raise ArgumentError("switches with scheme='time_stepping', which has no events; expected a controller without them")
    if step == np.inf:
        raise ArgumentError("step=inf, expected a finite number of seconds")
    return scheme


# the start of a run -----------------------------------------------------------------------------------


class Start(NamedTuple):
    """Where a run starts, q (nq,) and v (nv,), and how long it is [s]."""

    q: Array
    v: Array
    duration: float


def checked_start(robot: Robot, q0: ArrayLike, v0: ArrayLike | None, duration: float) -> Start:
    """Start and duration of a run, checked; v0 None: at rest."""
    check_robot(robot)
    q = vector(q0, robot.nq, "q0")
    v = vector(np.zeros(robot.nv) if v0 is None else v0, robot.nv, "v0")
    duration = within(duration, 0.0, np.inf, "duration")
    if duration == np.inf:
        raise ArgumentError("duration=inf, expected a finite number of seconds")
    floating = robot.joints if robot.nq != robot.nv else ()  # only floating joints have more positions than velocities
    quaternions = [joint.iq + 3 for joint in floating if joint.type == "floating" and not joint.is_mimic]
    if any(abs(math.hypot(*q[k : k + 4].tolist()) - 1.0) > QUATERNION_TOLERANCE for k in quaternions):
        joint, off = quaternion_error(robot.joints, q)
        raise ArgumentError(f"the quaternion of joint {joint!r} in q0 has a norm off by {off:.3g}, expected 1 (order x y z w)")
    return Start(q, v, duration)
