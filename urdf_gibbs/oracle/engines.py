"""M and bias by the engine that a description belongs to: MuJoCo for MJCF, Drake for SDF, Pinocchio for a model that it has.

Each engine reads the file itself and has its own coordinates. With x and u its position and velocity, u = T(q) v, so in the robot's
coordinates M = Tᵀ M_x T and bias = Tᵀ (bias_x + M_x dT/dt v): mimic joints, free bases and balls differ by their T alone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.oracle.difference import States
from urdf_gibbs.oracle.pinocchio import OracleRefusal, import_pinocchio
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.rotors import is_rotor
from urdf_gibbs.robot.sdf import bodies_of, is_free, joints_of, names_of

STEP = 1e-30  # of a complex step: the derivative has no error but round-off


class Part(NamedTuple):
    """A joint of an engine: ``kind`` of its coordinates, the robot's joints that it is, where its x and u start, and their order."""

    kind: str  # "scalar", "circle" (cosine, sine), "free", "planar" or "ball"
    joints: tuple[str, ...]
    ix: int
    iu: int
    quaternion: str = "xyzw"
    rotation_first: bool = False  # of a free joint's x and u
    outside: tuple[bool, bool] = (False, False)  # whether linear and angular velocity are in the axes of the parent


class Engine:
    """M and bias at a state of the robot; ``name`` is the engine's, ``gravity`` (3,) its own [m/s^2]."""

    name = ""

    def __init__(self, robot: Robot, parts: Sequence[Part], nx: int, nu: int, gravity: Array) -> None:
        self.robot, self.parts, self.nx, self.nu, self.gravity = robot, list(parts), nx, nu, gravity
        own = {joint.name: joint for joint in robot.joints}
        missing = [name for part in parts for name in part.joints if name not in own]
        if missing:
            raise OracleRefusal(f'{self.name} has a joint "{missing[0]}" that the robot has not')
        self.joints = {part: [own[name] for name in part.joints] for part in self.parts}

    def dynamics(self, x: Array, u: Array) -> tuple[Array, Array]:
        """The engine's own M (nu, nu) and bias (nu,)."""
        raise NotImplementedError

    def answers(self, q: Array, v: Array) -> tuple[Array, Array]:
        """M (nv, nv) and bias (nv,) in the robot's coordinates."""
        x, T, drift = self.coordinates(q, v)
        M, bias = self.dynamics(x, T @ v)
        return T.T @ M @ T, T.T @ (bias + M @ drift)

    def coordinates(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """x (nx,), T (nu, nv) and dT/dt v (nu,)."""
        x, T, drift = np.zeros(self.nx), np.zeros((self.nu, self.robot.nv)), np.zeros(self.nu)
        for part in self.parts:
            _PLACERS[part.kind](part, self.joints[part], q, v, (x, T, drift))
        return x, T, drift

    def compared(self, states: States) -> tuple[list[Array], list[Array]]:
        """M and bias at all states."""
        pairs = [self.answers(q, v) for q, v in zip(states.q, states.v, strict=True)]
        return [M for M, _ in pairs], [bias for _, bias in pairs]


# Coordinates -----------------------------------------------------------------------------------------

Arrays = tuple[Array, Array, Array]


def _scalar(part: Part, joints: list[Joint], q: Array, v: Array, to: Arrays) -> None:
    (joint,), (x, T, _) = joints, to
    value = joint.ratio * q[joint.iq] + joint.offset
    x[part.ix : part.ix + 2] = [np.cos(value), np.sin(value)] if part.kind == "circle" else x[part.ix : part.ix + 2]
    if part.kind == "scalar":
        x[part.ix] = value
    T[part.iu, joint.iv] = joint.ratio


def _free(part: Part, joints: list[Joint], q: Array, v: Array, to: Arrays) -> None:
    (joint,), (x, T, drift) = joints, to
    place, quaternion = q[joint.iq : joint.iq + 3], q[joint.iq + 3 : joint.iq + 7]
    R = _rotation(quaternion)
    if part.quaternion == "wxyz":
        quaternion = np.roll(quaternion, 1)
    x[part.ix : part.ix + 7] = np.concatenate([quaternion, place] if part.rotation_first else [place, quaternion])
    linear, angular = (slice(part.iu + 3 * k, part.iu + 3 * k + 3) for k in ((1, 0) if part.rotation_first else (0, 1)))
    own_linear, own_angular = slice(joint.iv, joint.iv + 3), slice(joint.iv + 3, joint.iv + 6)
    T[linear, own_linear] = R if part.outside[0] else np.eye(3)
    T[angular, own_angular] = R if part.outside[1] else np.eye(3)
    if part.outside[0]:
        drift[linear] = R @ np.cross(v[own_angular], v[own_linear])


def _planar(part: Part, joints: list[Joint], q: Array, v: Array, to: Arrays) -> None:
    (joint,), (x, T, drift) = joints, to
    a, b, angle = q[joint.iq : joint.iq + 3]
    c, s = np.cos(angle), np.sin(angle)
    own = slice(joint.iv, joint.iv + 3)
    here = slice(part.iu, part.iu + 3)
    if not part.outside[0]:
        x[part.ix : part.ix + 4] = [a, b, c, s]
        T[here, own] = np.eye(3)
        return
    x[part.ix : part.ix + 3] = [a, b, angle]
    vx, vy, turn = v[own]
    T[here, own] = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
    drift[here] = [turn * (-s * vx - c * vy), turn * (c * vx - s * vy), 0.0]


def _ball(part: Part, joints: list[Joint], q: Array, v: Array, to: Arrays) -> None:
    """Hinges about x, y and z in the place of a ball."""
    x, T, drift = to
    angles, rates = (np.array([values[getattr(joint, index)] for joint in joints]) for values, index in ((q, "iq"), (v, "iv")))
    about = [_turn(axis, angle) for axis, angle in enumerate(angles)]
    R = about[0] @ about[1] @ about[2]
    if part.quaternion == "rpy":
        x[part.ix : part.ix + 3] = [np.arctan2(R[2, 1], R[2, 2]), np.arcsin(-R[2, 0]), np.arctan2(R[1, 0], R[0, 0])]
    else:
        half = [np.concatenate([np.sin(angle / 2.0) * np.eye(3)[axis], [np.cos(angle / 2.0)]]) for axis, angle in enumerate(angles)]
        quaternion = _product(_product(half[0], half[1]), half[2])
        x[part.ix : part.ix + 4] = np.roll(quaternion, 1) if part.quaternion == "wxyz" else quaternion
    here, own = slice(part.iu, part.iu + 3), [joint.iv for joint in joints]
    T[here, own] = _spin(angles, part.outside[1])
    drift[here] = np.imag(_spin(angles + 1j * STEP * rates, part.outside[1])) / STEP @ rates


def _spin(angles: Any, outside: bool) -> Any:
    """The angular velocity (3, 3) that each hinge's rate gives, in the axes of the parent or of the child."""
    x, y, z = np.eye(3)
    first, second, third = (_turn(axis, angle) for axis, angle in enumerate(angles))
    if outside:
        return np.column_stack([x, first @ y, first @ second @ z])
    return np.column_stack([third.T @ second.T @ x, third.T @ y, z])


def _turn(axis: int, angle: Any) -> Any:
    """About a coordinate axis; angles may be complex."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3, dtype=np.result_type(angle, float))
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def _product(p: Array, q: Array) -> Array:
    """Of quaternions (x y z w)."""
    return np.concatenate([p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3]), [p[3] * q[3] - p[:3] @ q[:3]]])


def _rotation(quaternion: Array) -> Array:
    x, y, z, w = quaternion
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + 2.0 * w * K + 2.0 * K @ K)


Placer = Callable[[Part, list[Joint], Array, Array, Arrays], None]
_PLACERS: dict[str, Placer] = {"scalar": _scalar, "circle": _scalar, "free": _free, "planar": _planar, "ball": _ball}
BALL = (".x", ".y", ".z")


def ball_of(name: str) -> tuple[str, ...]:
    """The hinges that take the place of a ball joint."""
    return tuple(name + suffix for suffix in BALL)


# Engines ---------------------------------------------------------------------------------------------


class PinocchioModel(Engine):
    """A pinocchio.Model as it is. ``in_order``: the robot's joints are its own one after the other, whatever their names.

    M is that of rnea, column by column without gravity: crba takes joints to be in depth-first order, which a model built by hand need not
    have, and with mimic joints below their masters it is right only once for each data (pin 4.1).
    """

    name = "Pinocchio's model"

    def __init__(self, robot: Robot, model: Any, in_order: bool = False) -> None:
        self.pin = import_pinocchio()
        self.model, self.weightless = copy.copy(model), copy.copy(model)
        self.weightless.gravity.linear = np.zeros(3)
        parts: list[Part] = []
        for j in range(1, model.njoints):
            own = model.joints[j]
            if own.shortname() != "JointModelMimic":
                parts += _parts(model.names[j], own.extract(), own.idx_q, own.idx_v)
        if in_order:
            names = iter(robot.joint_names)
            parts = [part._replace(joints=tuple(next(names) for _ in part.joints)) for part in parts]
        super().__init__(robot, parts, model.nq, model.nv, np.array(model.gravity.linear))
        self.data = model.createData()

    def dynamics(self, x: Array, u: Array) -> tuple[Array, Array]:
        pin, rest = self.pin, np.zeros(self.nu)
        columns = [pin.rnea(self.weightless, self.data, x, rest, unit).copy() for unit in np.eye(self.nu)]
        return np.reshape(columns, (self.nu, self.nu)).T, np.array(pin.rnea(self.model, self.data, x, u, rest))


SEVERAL = {"Translation": (".x", ".y", ".z"), "SphericalZYX": (".z", ".y", ".x"), "Universal": (".1", ".2")}


def _parts(name: str, own: Any, ix: int, iu: int) -> list[Part]:
    """Of one of Pinocchio's joints, by its own numbers of coordinates."""
    kind = own.shortname().removeprefix("JointModel")
    if kind == "Composite":
        result: list[Part] = []
        for k, part in enumerate(own.joints):
            result += _parts(f"{name}.{k + 1}", part.extract(), ix, iu)
            ix, iu = ix + part.nq, iu + part.nv
        return result
    if kind in SEVERAL:
        return [Part("scalar", (name + suffix,), ix + k, iu + k) for k, suffix in enumerate(SEVERAL[kind])]
    if kind == "Spherical":
        return [Part("ball", ball_of(name), ix, iu)]
    kinds = {"FreeFlyer": "free", "Planar": "planar"}
    return [Part(kinds.get(kind, "circle" if own.nq == 2 else "scalar"), (name,), ix, iu)]


class MuJoCo(Engine):
    """MuJoCo's compiled model of an MJCF file, without contacts and passive forces."""

    name = "MuJoCo"

    def __init__(self, robot: Robot, model: Any) -> None:
        import mujoco

        self.mujoco, self.model, self.data = mujoco, model, mujoco.MjData(model)
        parts = []
        in_order = iter([joint.name for i, joint in enumerate(robot.joints) if not is_rotor(robot, i)])
        for j in range(model.njnt):
            kind, ix, iu = int(model.jnt_type[j]), int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            is_ball = kind == mujoco.mjtJoint.mjJNT_BALL
            own = tuple(next(in_order, "") for _ in range(3 if is_ball else 1))
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
            if name:  # those without a name come in the same order
                own = ball_of(name) if is_ball else (name,)
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                parts.append(Part("free", own, ix, iu, "wxyz", outside=(True, False)))
            else:
                parts.append(Part("ball" if is_ball else "scalar", own, ix, iu, "wxyz"))
        super().__init__(robot, parts, model.nq, model.nv, np.array(model.opt.gravity))

    def dynamics(self, x: Array, u: Array) -> tuple[Array, Array]:
        mujoco, model, data = self.mujoco, self.model, self.data
        data.qpos[:], data.qvel[:] = x, u
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        if hasattr(mujoco, "mj_makeM"):
            mujoco.mj_fullM(model, data, M)
        else:
            mujoco.mj_fullM(model, M, data.qM)
        return M, np.array(data.qfrc_bias)


class Drake(Engine):
    """Drake's plant of an SDF; its root link is held or free as the robot's is."""

    name = "Drake"

    def __init__(self, robot: Robot, plant: Any) -> None:
        bodies = names_of(bodies_of(plant))
        root = next((body for body in bodies_of(plant)[1:] if bodies[int(body.index())] == robot.root_link), None)
        if root is not None and robot.base == "fixed":
            plant.WeldFrames(plant.world_frame(), root.body_frame())
        if robot.base == "planar":
            raise OracleRefusal("Drake's plant has no planar base; not compared")
        plant.Finalize()
        self.plant, self.context = plant, plant.CreateDefaultContext()
        parts, names = [], names_of(joint for joint in joints_of(plant) if not is_free(joint))
        for joint in joints_of(plant):
            kind, ix, iu = type(joint).__name__.partition("_")[0], joint.position_start(), joint.velocity_start()
            name = names.get(int(joint.index()), "")
            if kind == "QuaternionFloatingJoint":
                parts.append(Part("free", ("root_joint",), ix, iu, "wxyz", True, (True, True)))
            elif kind == "BallRpyJoint":
                parts.append(Part("ball", ball_of(name), ix, iu, "rpy", outside=(False, True)))
            elif kind == "UniversalJoint":
                parts += [Part("scalar", (f"{name}.{k + 1}",), ix + k, iu + k) for k in range(2)]
            elif kind == "PlanarJoint":
                parts.append(Part("planar", (name,), ix, iu, outside=(True, True)))
            elif joint.num_velocities() == 1:
                parts.append(Part("scalar", (name,), ix, iu))
        super().__init__(robot, parts, plant.num_positions(), plant.num_velocities(), np.array(plant.gravity_field().gravity_vector()))

    def dynamics(self, x: Array, u: Array) -> tuple[Array, Array]:
        self.plant.SetPositions(self.context, x)
        self.plant.SetVelocities(self.context, u)
        M = np.asarray(self.plant.CalcMassMatrix(self.context))
        return M, np.asarray(self.plant.CalcBiasTerm(self.context) - self.plant.CalcGravityGeneralizedForces(self.context))
