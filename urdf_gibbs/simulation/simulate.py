"""Hybrid simulation: flight by an integrator of order 8, impacts by a law, rest by constrained flight."""

from __future__ import annotations

import ctypes
import signal
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.contact.candidates import Candidates, candidates
from urdf_gibbs.contact.kinematics import Tree, tree_of
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.points import PointLike, resolve_pairs, resolve_points
from urdf_gibbs.contact.surfaces import FUNCTION, IMPLICIT, MOVES
from urdf_gibbs.engine.jit import block_addresses
from urdf_gibbs.engine.kernel import GRAVITY, c_function, kernel, triple
from urdf_gibbs.errors import ArgumentError, PenetrationError, SimulationError, UnknownNameError, UrdfGibbsError
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation import driver
from urdf_gibbs.simulation.dop853 import EXTENDED, POWERS
from urdf_gibbs.simulation.flight import (
    ACCEPTED,
    ADVANCE,
    BAD_WALL,
    CONTACTS,
    CONTROLLER,
    CRAWLING,
    END,
    IMPACTS,
    NOT_FINITE,
    NOT_LANDED,
    OK,
    REJECTED,
    REPORT,
    SINGULAR,
    TIME,
    UNDERFLOW,
    State,
    System,
)
from urdf_gibbs.simulation.trajectory import Impact, LazyImpacts, Phase, PlainSettings, Trajectory, made_impact, plain
from urdf_gibbs.walls import Drift, Vibration, Wall, described

Array = NDArray[np.float64]
Controller = Callable[[float, Array, Array], ArrayLike]
Progress = Callable[[float, int], None]

DEEP = 1e-9  # m: how far inside a wall a simulation may start, by rounding
GAIN = 1e-9  # of the kinetic energy: a gain beyond rounding
QUATERNION = 1e-6
ROWS, BLOWS = 512, 256  # of the record that is handed over at once
PATIENCE = 0.1  # s between two looks at Ctrl-C
KEPT = 8  # simulators with each robot
RADIANS_PER_STEP = 0.5  # of a vibrating wall
REASONS = {
    SINGULAR: "the mass matrix is singular here",
    NOT_FINITE: "the acceleration is not finite",
    UNDERFLOW: "the step has become too small: the motion is not smooth here, or the tolerance is below rounding",
    BAD_WALL: "a gap is not finite",
    CONTROLLER: "the controller failed",
    NOT_LANDED: "no step ends on the wall that is about to be met: the gap is not continuous here, or the tolerance is below rounding",
    CRAWLING: "300 steps have hardly moved time: the controller is not continuous here, and is called in each stage of each step. "
    "Call it at a rate (controller_rate=), or declare where it switches (switches=)",
}
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_LOOK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64)


class Simulator:
    """A robot, what it can touch and by which law, made ready once; ``run`` simulates from a start. The arguments are simulate's."""

    def __init__(
        self,
        robot: Robot,
        *,
        walls: Wall | Iterable[Wall] = (),
        law: str = "newton",
        restitution: float = 1.0,
        gravity: ArrayLike = GRAVITY,
        points: str | Iterable[PointLike] | None = None,
        pairs: Iterable[Sequence[Any]] = (),
        joint_limits: bool = False,
        damping: bool = False,
        controller: Controller | None = None,
        controller_rate: float | None = None,
        switches: Controller | None = None,
        torque: ArrayLike | None = None,
        rtol: float = 1e-10,
        atol: float = 1e-10,
        max_step: float = np.inf,
        tie: float = 1e-8,
        zeno: float = 1e-6,
        resolution: float = 1e-3,
        dense: bool = True,
    ) -> None:
        if law not in LAWS:
            raise UnknownNameError("impact law", law, LAWS)
        if not robot.nv:
            raise ArgumentError(f"{robot.name or 'the robot'} has no joint that moves: there is nothing to simulate")
        self.restitution = _within("restitution", restitution, 0.0, 1.0)
        for name, value in {"rtol": rtol, "atol": atol, "max_step": max_step, "zeno": zeno, "resolution": resolution}.items():
            if not _within(name, value, 0.0, np.inf) > 0.0:
                raise ArgumentError(f"{name}={value!r}, expected more than 0")
        _within("tie", tie, 0.0, 1e-3)
        if controller is not None and not callable(controller):
            raise ArgumentError(f"controller={controller!r}, expected a function of (t, q, v) or None")
        if controller is not None and torque is not None:
            raise ArgumentError("torque and controller are both given, expected one: a controller returns all that acts on the joints")
        if controller_rate is not None and not 0.0 < _within("controller_rate", controller_rate, 0.0, np.inf) < np.inf:
            raise ArgumentError(f"controller_rate={controller_rate!r}, expected calls per second, or None: in each stage of each step")
        if switches is not None and (not callable(switches) or controller is None or controller_rate is not None):
            raise ArgumentError(
                f"switches={switches!r}, expected a function of (t, q, v), with a controller(t, q, v, sides) that is called without a rate"
            )
        self.robot, self.gravity, self.law = robot, np.array(triple(gravity, "gravity")), law
        self.walls = (walls,) if isinstance(walls, Wall) else tuple(walls) if isinstance(walls, Iterable) else (walls,)
        self.points = resolve_points(robot, points) if self.walls or points is not None else ()
        if self.walls and not self.points:
            raise ArgumentError(f"{robot.name or 'the robot'} has no moving joint origin and no tip to touch a wall; expected points=")
        self._candidates = candidates(
            robot, self.walls, self.points, resolve_pairs(robot, self.points, pairs), joint_limits, self.restitution, resolution
        )
        self._torque = _vector("torque", np.zeros(robot.nv) if torque is None else torque, robot.nv)
        resistance = _resistance(robot) if damping else np.zeros(robot.nv)
        self._controller = _Controlled(controller, robot, switches, self.gravity, resistance) if controller is not None else None
        with _interruptible() as interrupted:  # an exception inside of the compiler would leave it in pieces
            self._blocks = np.array(block_addresses(), dtype=np.int64)
        if interrupted:
            raise KeyboardInterrupt
        self._system = self._made(resistance, controller is not None, controller is not None and controller_rate is None)
        longest = min(max_step, _longest_step(self._candidates, self.walls, resolution))
        self._limits = {"rtol": rtol, "atol": atol, "longest_step": longest, "tie": tie, "zeno": zeno, "duration": 0.0}
        self._limits["controller_rate"] = controller_rate if controller is not None and controller_rate is not None else 0.0
        self._dense = bool(dense)
        self._described = self._plain_settings()
        self._state, self._record = self._rooms()
        # By ctypes: Numba's own way in looks at the types of all arguments again in each call.
        self._advance = _ADVANCE(int(self._system.blocks[ADVANCE]))
        self._see_contacts = _LOOK(int(self._system.blocks[CONTACTS]))
        self._report = _LOOK(int(self._system.blocks[REPORT]))
        self._lock = threading.Lock()
        self._owner: threading.Thread | None = None
        self._moving = np.array([self._moves(c) for c in range(len(self._candidates.points))], dtype=bool)

    def _made(self, resistance: Array, controlled: bool, in_stages: bool) -> System:
        robot, found = self.robot, self._candidates
        nb, nq, nv, nc = len(robot.joints), robot.nq, robot.nv, len(found.points)
        gravity = tuple(self.gravity)
        self._code = [
            c_function(robot, "forward_dynamics", gravity),
            c_function(robot, "forward_dynamics", gravity, careful=True),
            c_function(robot, "mass_matrix"),
            c_function(robot, "bias", gravity),
            c_function(robot, "placements"),
            self._controller.function if self._controller else None,
            c_function(robot, "elastic") if robot.is_flexible else None,
            c_function(robot, "potential_energy", gravity) if robot.is_flexible else None,
            self._controller.switch_function if self._controller else None,
            self._controller.side_function if self._controller else None,
        ]
        addresses = [0 if function is None else ctypes.cast(function, ctypes.c_void_p).value for function in self._code]
        tree = tree_of(robot)
        return System(
            tree=tree,
            contacts=found.contacts,
            surfaces=found.surfaces,
            blocks=self._blocks,
            code=np.array(addresses, dtype=np.int64),
            in_stages=np.array([in_stages], np.int64),
            plain=np.array([not (in_stages or resistance.any() or controlled), _is_plain(tree, nq)], np.int64),
            damping=resistance,
            torque=self._torque.copy(),
            mass=robot.mass.copy(),
            com=robot.com.copy(),
            gravity=self.gravity,
            tau=self._torque.copy(),
            b=np.zeros(nv),
            q=np.zeros(nq),
            v=np.zeros(nv),
            a=np.zeros(nv),
            h=np.zeros(nv),
            M=np.zeros((nv, nv)),
            T=np.zeros((nb, 12)),
            S=np.zeros((len(tree.iv), 6)),
            E=np.zeros(sum(6 * (joint.nv + 1) for joint in robot.joints if joint.beam is not None)),
            V=np.zeros((nb, 6)),
            A=np.zeros((nb, 6)),
            x=np.zeros(24),
            out=np.zeros(7),
            count=np.zeros(1, np.int64),
            least=np.zeros(1),
            time=np.zeros(1),
            switches=np.zeros(self._controller.count if self._controller else 0),
            which=np.zeros(nc, np.int64),
            J=np.zeros((nc, nv)),
            Y=np.zeros((nc, nv)),
            **{name: np.zeros(nc) for name in ("gap", "rate", "rise", "u", "e", "lam")},
            K=np.zeros(nc * nc),
            seen=np.zeros((nc, 14)),
            energies=np.zeros(3),
        )

    def _rooms(self) -> tuple[State, driver.Record]:
        """Room for the state and the record of a run."""
        nv, n, nc = self.robot.nv, self.robot.nq + self.robot.nv, len(self._candidates.points)
        joints, places = self.robot.joints, self._candidates.contacts.place.reshape(-1, 2, 3)
        turning = np.zeros((len(joints), 6))
        turning[:, 4] = np.linalg.norm(self.robot.placement[:, :3, 3], axis=1)
        turning[[i > 0 and joint.type == "planar" for i, joint in enumerate(joints)], 4] = np.inf  # it can be anywhere
        turning[:, 5] = [joint.iq if joint.type == "prismatic" else -1 for joint in joints]
        state = State(
            clock=np.zeros(5),
            count=np.zeros(11, np.int64),
            limits=np.array([*self._limits.values()], dtype=float),
            choice=np.array([LAWS.index(self.law), self._dense], np.int64),
            **{name: np.zeros(n) for name in ("y", "new", "work")},
            K=np.zeros((EXTENDED, n)),
            F=np.zeros((POWERS, n)),
            **{name: np.zeros((nc, 5)) for name in ("gaps", "after")},
            **{name: np.zeros(nc, np.int64) for name in ("held", "how", "suspects", "closed")},
            **{name: np.zeros(nc) for name in ("force", "spare", "ends")},
            turning=turning,
            extent=np.array([0.0, 0.0, np.linalg.norm(places, axis=2).max(initial=0.0)]),
            watch=np.zeros(2),
        )
        parts, turns = max(2 * BLOWS, 4 * nc), max(BLOWS, 4 * nc + 8)
        record = driver.Record(
            filled=np.zeros(4, np.int64),
            t=np.empty(ROWS),
            y=np.empty((ROWS, n)),
            F=np.empty((ROWS if self._dense else 0, POWERS, n)),
            force=np.empty((ROWS, nc)),
            blow_t=np.empty(BLOWS),
            blow_y=np.empty((BLOWS, n)),
            blow_v=np.empty((BLOWS, nv)),
            blow_size=np.empty((BLOWS, 3), np.int64),
            blow_certificate=np.empty(BLOWS),
            part=np.empty(parts, np.int64),
            part_impulse=np.empty(parts),
            part_restitution=np.empty(parts),
            turn=np.empty((turns, 2), np.int64),
            turn_t=np.empty((turns, 2)),
        )
        return state, record

    def _moves(self, contact: int) -> bool:
        """Whether the contact's wall moves and can do work."""
        found = self._candidates
        return found.contacts.kind[contact] == 0 and bool(found.surfaces.whole[found.contacts.surface[contact], MOVES])

    def run(self, q0: ArrayLike, v0: ArrayLike | None, duration: float, progress: Progress | None = None) -> Trajectory:
        """Simulate from q0 (nq,), v0 (nv,) (None: at rest) for ``duration`` [s]; progress(t, impacts) is called now and then.

        A Simulator runs one simulation at a time: threads wait for each other, and a controller cannot call its own simulator.
        """
        with self._alone():
            return self._run(q0, v0, duration, progress)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While others wait."""
        if threading.current_thread() is self._owner:
            raise ArgumentError("this Simulator is running already; expected another Simulator inside of its controller")
        with self._lock:
            self._owner = threading.current_thread()
            try:
                yield
            finally:
                self._owner = None

    def _run(self, q0: ArrayLike, v0: ArrayLike | None, duration: float, progress: Progress | None) -> Trajectory:
        robot, s = self.robot, self._system
        q = _vector("q0", q0, robot.nq)
        v = _vector("v0", np.zeros(robot.nv) if v0 is None else v0, robot.nv)
        duration = _within("duration", duration, 0.0, np.inf)
        if duration == np.inf:
            raise ArgumentError("duration=inf, expected a finite number of seconds")
        joint, off = quaternion_error(robot.joints, q)
        if off > QUATERNION:
            raise ArgumentError(f"the quaternion of joint {joint!r} in q0 has a norm off by {off:.3g}, expected 1 (order x y z w)")
        state = self._start(q, v, duration)
        log = _Log(self)
        s.count[0], s.torque[:], s.tau[:] = 0, self._torque, self._torque
        self._candidates.callbacks.error = None
        if self._controller:
            self._controller.problem = None
        status, steps, started = (
            driver.PAUSED,
            16 if self._controller or self._candidates.callbacks.functions else 512,
            clock.perf_counter(),
        )
        advance = self._advance
        with _interruptible() as interrupted:
            if self._controller:
                self._controller.interrupted = interrupted
            while status == driver.PAUSED and not interrupted:
                before, done = clock.perf_counter(), int(state.count[[ACCEPTED, REJECTED, IMPACTS]].sum())
                status = advance(s._address, state._address, log.record._address, steps)
                log.take()
                took = clock.perf_counter() - before
                tried = max(1, int(state.count[[ACCEPTED, REJECTED, IMPACTS]].sum()) - done)  # the record may have been full sooner
                steps = int(min(1_000_000, max(16, min(4.0 * steps, tried * 0.5 * PATIENCE / max(took, 1e-9)))))
                if progress is not None:
                    progress(float(state.clock[TIME]), int(state.count[IMPACTS]))
        statistics = {
            "steps": int(state.count[ACCEPTED]),
            "rejected": int(state.count[REJECTED]),
            "evaluations": int(s.count[0]),
            "impacts": int(state.count[IMPACTS]),
            "seconds": clock.perf_counter() - started,
        }
        if status in (driver.FINISHED, driver.PAUSED):
            return log.trajectory("complete" if status == driver.FINISHED else "interrupted", statistics, duration)
        time = float(state.clock[TIME])
        cause = self._cause(status, state)
        if isinstance(cause, KeyboardInterrupt):
            return log.trajectory("interrupted", statistics, duration)
        reason = f"{REASONS[status]}{f' ({type(cause).__name__}: {cause})' if cause is not None else ''}"
        trajectory = log.trajectory(f"failed: {reason}", statistics, duration)
        raise SimulationError(reason, time, state.y[: robot.nq].copy(), state.y[robot.nq :].copy(), trajectory) from cause

    def _start(self, q: Array, v: Array, duration: float) -> State:
        robot, found = self.robot, self._candidates
        nc = len(found.points)
        state = self._state
        state.clock[:] = 0.0, 1e-3, 0.0, -1.0, -1.0
        state.count[:] = 0
        state.limits[END] = duration
        state.y[: robot.nq], state.y[robot.nq :] = q, v
        state.K[0] = 0.0
        state.held[:] = 0
        state.force[:] = 0.0
        state.turning[:, :4] = 0.0
        state.extent[0] = 0.0
        state.watch[:] = 0.0
        self._record.filled[:] = 0
        if nc:
            self._see_contacts(self._system._address, state._address, 0.0, 0)
            found.callbacks.raise_error()
            gap = state.gaps[:, 0] / state.gaps[:, 3]
            deep = np.flatnonzero(gap < -DEEP)
            if len(deep):
                raise PenetrationError([(found.points[c], found.walls[c], float(-gap[c])) for c in deep[np.argsort(gap[deep])]])
        return state

    def _cause(self, status: int, state: State) -> BaseException | None:
        kept = [self._candidates.callbacks.error, self._controller.problem if self._controller else None, self._code[1].problem]
        self._code[1].problem = None
        found = next((problem for problem in kept if problem is not None), None)
        if found is None and status == SINGULAR:
            try:  # which joints?
                q, v = state.y[: self.robot.nq].copy(), state.y[self.robot.nq :].copy()
                kernel(self.robot, "forward_dynamics", gravity=self.gravity)(q, v, np.zeros(self.robot.nv))
            except UrdfGibbsError as problem:
                return problem
        return found

    def impact(self, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Impact | None:
        """The impact of what touches and approaches in this state, now; None where nothing does."""
        robot = self.robot
        state = self._start(_vector("q", q, robot.nq), _vector("v", v, robot.nv), 0.0)
        self._see_contacts(self._system._address, state._address, time, 0)
        state.clock[TIME] = time
        log = _Log(self)
        driver.write_row(log.record, state, False)
        status = driver.strike(self._system, state, log.record, -1)
        log.take()
        if status != OK:
            cause = self._cause(status, state)
            reason = f"{REASONS[status]}{f' ({type(cause).__name__}: {cause})' if cause is not None else ''}"
            left = state.y[: robot.nq].copy(), state.y[robot.nq :].copy()
            raise SimulationError(reason, time, *left, log.trajectory(f"failed: {reason}", {}, 0.0)) from cause
        return log.impacts[0] if log.impacts else None

    def _plain_settings(self) -> dict[str, Any]:
        """The settings as plain values."""
        points = [{"name": p.name, "link": p.link, "body": p.body, "position": p.position, "radius": p.radius} for p in self.points]
        walls = [described(wall) for wall in self.walls]
        return dict(plain({**self._limits, "law": self.law, "restitution": self.restitution, "walls": walls, "points": points}))


def simulate(
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike | None,
    duration: float,
    walls: Wall | Iterable[Wall] = (),
    law: str = "newton",
    restitution: float = 1.0,
    controller: Controller | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Trajectory:
    """Simulate a robot from q0 (nq,), v0 (nv,) (None: at rest) for ``duration`` [s].

    walls: walls of urdf_gibbs.walls, one or several; law: "newton", "newton-equality" or "poisson"; restitution in [0, 1] where a
    wall has none of its own; gravity (3,). points: what can touch, by default the joint origins and tips (contact/points.py);
    pairs of points that can touch each other; joint_limits, damping: whether those of the URDF's joints act. torque (nv,) is constant;
    controller(t, q, v) -> (nv,) is called ``controller_rate`` times a second and its answer kept in between, or in each stage
    of each step without a rate. Where it is not continuous, switches(t, q, v) -> (k,) are smooth values whose signs say on which side
    it is: then it is called as controller(t, q, v, sides), sides (k,) being 1 or -1, and every step ends where a sign changes. A switch
    to which both sides drive the motion back, such as v of dry friction at rest, is slid along. rtol, atol: of the integrator, for each
    step; max_step [s].

    tie [s]: contacts that would close within this time of each other, at the velocities before or after, are solved together.
    zeno [s]: a bounce shorter than this is the last, then the contact holds. resolution [s]: what happens faster on a wall that is
    a Python function may be missed. dense: keep the interpolant of each step. progress(t, impacts) is called now and then.

    Ctrl-C ends the run and returns what there is, with status "interrupted". Raises PenetrationError where the start is inside a
    wall, SimulationError with the trajectory so far where the motion cannot go on.
    """
    options = {"walls": walls, "law": law, "restitution": restitution, "controller": controller, **options}
    return _simulator(robot, options).run(q0, v0, duration, progress)


def _simulator(robot: Robot, options: dict[str, Any]) -> Simulator:
    """A Simulator for these options; the last few without functions of the user's in them are kept with the robot."""
    try:
        key = tuple((name, _hashable(value)) for name, value in sorted(options.items()))
        hash(key)
    except TypeError:
        return Simulator(robot, **options)
    kept: dict[Any, Simulator] = robot._cache.setdefault("simulators", {})
    found = kept.pop(key, None) or Simulator(robot, **options)
    kept[key] = found  # the newest last
    while len(kept) > KEPT:
        kept.pop(next(iter(kept)), None)
    return found


def _hashable(value: Any) -> Any:
    """What a value is, in hashable form; TypeError for functions, which may answer differently the next time."""
    if callable(value):
        raise TypeError
    if isinstance(value, Wall | Vibration | Drift):
        return type(value), tuple((field.name, _hashable(getattr(value, field.name))) for field in fields(value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return tuple(_hashable(entry) for entry in value) if isinstance(value, list | tuple) else value


class _Controlled:
    """A Python controller as a C function ``int64_t f(double *t, double *q, double *v, double *tau)``, and its switches.

    ``sides`` (count,) of a step are 1 and -1, the signs of the switches' values. A switch to which both sides drive the motion back is
    not crossed: the motion slides along it, and the torque between those of both sides is taken that keeps it there.
    """

    STRIDE = 1e-5  # s, of differences along the motion: 1e-16 over this, and its square, are 1e-11 and 1e-10
    ON = 1e-9  # a value below this may be one that has been landed on

    def __init__(
        self, controller: Callable[..., ArrayLike], robot: Robot, switches: Controller | None, gravity: Array, resistance: Array
    ) -> None:
        self.problem: BaseException | None = None
        self.interrupted: list[int] = []
        self._controller, self._robot, self._switches, self._resistance = controller, robot, switches, resistance
        self._forward = kernel(robot, "forward_dynamics", gravity=gravity) if switches is not None else None
        self._sliding = -1
        self.count = 0
        if switches is not None:
            probe = np.asarray(switches(0.0, robot.neutral(), np.zeros(robot.nv)), dtype=float)
            if probe.ndim != 1 or not len(probe):
                raise ArgumentError(f"switches returned shape {probe.shape}, expected (k,), one value for each switch")
            self.count = len(probe)
        self.sides = np.ones(self.count)
        self.function = self._guarded(self._torque, robot.nv)
        self.switch_function = self._guarded(self._left, self.count)
        self.side_function = self._guarded(self._choose, self.count)

    def _guarded(self, function: Callable[[float, Array, Array], Array], width: int) -> Any:
        """As a C function; status 1 where it raised, and the first exception in ``problem``."""
        position, velocity, moment = ctypes.c_double * self._robot.nq, ctypes.c_double * self._robot.nv, ctypes.c_double * 1
        answer = ctypes.c_double * width

        def called(t: int, q: int, v: int, out: int) -> int:
            try:
                if self.interrupted:
                    raise KeyboardInterrupt
                state = np.array(position.from_address(q)), np.array(velocity.from_address(v))
                answer.from_address(out)[:] = function(moment.from_address(t)[0], *state).tolist()
            except BaseException as problem:
                self.problem = self.problem or problem
                return 1
            return 0

        return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(called)

    def _asked(self, t: float, q: Array, v: Array, *sides: Array) -> Array:
        robot = self._robot
        answer = np.asarray(self._controller(t, q, v, *sides), dtype=float)
        if answer.shape != (robot.nv,):
            raise ArgumentError(f"the controller returned shape {answer.shape}, expected ({robot.nv},)")
        if not np.isfinite(answer).all():
            named = ", ".join(f"{robot.velocity_names[i]} {answer[i]}" for i in np.flatnonzero(~np.isfinite(answer))[:5])
            raise ArgumentError(f"the controller returned a torque that is not finite: {named}")
        return answer

    def _torque(self, t: float, q: Array, v: Array) -> Array:
        if not self.count:
            return self._asked(t, q, v)
        if self._sliding < 0:
            return self._asked(t, q, v, self.sides.copy())
        return self._slide(self._sliding, t, q, v)[1]

    def _values(self, t: float, q: Array, v: Array) -> Array:
        assert self._switches is not None
        values = np.asarray(self._switches(t, q, v), dtype=float)
        if values.shape != (self.count,) or not np.isfinite(values).all():
            raise ArgumentError(f"switches returned {values.tolist()} at t = {t}, expected {self.count} finite numbers")
        return values

    def _rate(self, k: int, t: float, q: Array, v: Array, torque: Array) -> float:
        """How fast the value of switch k changes under a torque."""
        assert self._forward is not None
        robot, h = self._robot, self.STRIDE
        a = self._forward(q, v, torque - self._resistance * v)
        after, before = (self._values(t + d, robot.integrate(q, d * v), v + d * a)[k] for d in (h, -h))
        return float(after - before) / (2.0 * h)

    def _slide(self, k: int, t: float, q: Array, v: Array) -> tuple[float, Array, float, float]:
        """What is between the sides of switch k (-1 to 1) and keeps its value as it is, the torque there, the rates on both sides."""
        torques, rates = [], []
        for side in (-1.0, 1.0):
            sides = self.sides.copy()
            sides[k] = side
            torques.append(self._asked(t, q, v, sides))
            rates.append(self._rate(k, t, q, v, torques[-1]))
        between = (rates[0] + rates[1]) / (rates[0] - rates[1]) if rates[0] != rates[1] else 0.0
        return between, torques[0] + 0.5 * (1.0 + between) * (torques[1] - torques[0]), rates[0], rates[1]

    def _left(self, t: float, q: Array, v: Array) -> Array:
        """Of each switch what is left until it must be thrown: negative from then on."""
        left = self.sides * self._values(t, q, v)
        if self._sliding >= 0:
            off = abs(float(left[self._sliding]))
            if off > 1e-6:
                raise ArgumentError(
                    f"switch {self._sliding} is slid along, and its value has drifted to {off:.3g}: other forces than the controller's "
                    "and gravity's act on it, such as those of contacts; expected none, or a controller_rate"
                )
            left[self._sliding] = 1.0 - abs(self._slide(self._sliding, t, q, v)[0])
        return left

    def _choose(self, t: float, q: Array, v: Array) -> Array:
        """The sides from here on, from the values and, on a switch, from where both sides drive them."""
        values = self._values(t, q, v)
        far = np.abs(values) > self.ON
        self.sides[far] = np.sign(values[far])
        self._sliding = -1
        for k in np.flatnonzero(~far).tolist():
            between, _, below, above = self._slide(k, t, q, v)
            if above <= 0.0 <= below and abs(between) < 1.0 and above < below:
                if self._sliding >= 0:
                    raise ArgumentError(
                        f"switches {self._sliding} and {k} are slid along at once at t = {t}; expected one at a time, or a controller_rate"
                    )
                self._sliding = k
            else:
                # Both sides drive it one way; or each away, and it goes on to where it was going.
                onwards = -self.sides[k] if above > 0.0 > below else np.sign(above + below)
                self.sides[k] = onwards or self.sides[k]
        return self.sides


class _Log:
    """What has happened, taken over from the driver's record piece by piece."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.record = simulator._record
        self._rows: list[tuple[Array, ...]] = []
        self._blows: list[tuple[Any, ...]] = []
        self._open: dict[int, tuple[float, float]] = {}
        self._phases: list[Phase] = []

    def take(self) -> None:
        """Copy and empty the record."""
        r = self.record
        rows, blows, parts, turns = r.filled.tolist()
        self._rows.append((r.t[:rows].copy(), r.y[:rows].copy(), r.F[:rows].copy(), r.force[:rows].copy()))
        which, impulse, restitution = r.part[:parts].copy(), r.part_impulse[:parts].copy(), r.part_restitution[:parts].copy()
        y, v, times, certificates = (
            r.blow_y[:blows].copy(),
            r.blow_v[:blows].copy(),
            r.blow_t[:blows].tolist(),
            r.blow_certificate[:blows].tolist(),
        )
        first = 0
        for i, (k, rounds, law) in enumerate(r.blow_size[:blows].tolist()):
            own = slice(first, first + k)
            self._blows.append((times[i], which[own], y[i], v[i], impulse[own], restitution[own], rounds, certificates[i], LAWS[law]))
            first += k
        for (c, begins), (t, accumulation) in zip(r.turn[:turns].tolist(), r.turn_t[:turns].tolist(), strict=True):
            if begins:
                self._open[c] = (t, accumulation)
            else:
                self._phases.append(self._phase(c, *self._open.pop(c), t))
        r.filled[:] = 0

    @property
    def impacts(self) -> LazyImpacts:
        return LazyImpacts(len(self._blows), self._impact)

    def _phase(self, c: int, start: float, accumulation: float, end: float = np.inf) -> Phase:
        found = self._simulator._candidates
        return Phase(found.points[c], found.walls[c], start, end, accumulation)

    def _impact(self, i: int) -> Impact:
        simulator = self._simulator
        found, s, nq = simulator._candidates, simulator._system, simulator.robot.nq
        t, which, y, v1, impulse, restitution, rounds, certificate, law = self._blows[i]
        q, v0 = y[:nq], y[nq:]
        k, state = len(which), simulator._state
        with simulator._alone():
            s.which[:k], state.y[:], state.new[:nq], state.new[nq:] = which, y, q, v1
            simulator._report(s._address, state._address, t, k)
            out = s.seen[:k].copy()
            kinetic, left, potential = s.energies.tolist()
        speed = np.sqrt(np.einsum("ij,ij->i", out[:, 6:9], out[:, 6:9]))
        cosine = np.divide(-out[:, 9], speed, out=np.ones(k), where=speed != 0.0)  # NaN at a joint limit
        return made_impact(
            time=t,
            points=tuple(found.points[c] for c in which),
            walls=tuple(found.walls[c] for c in which),
            positions=out[:, :3],
            normals=out[:, 3:6],
            angles_of_attack=np.arccos(np.minimum(np.maximum(cosine, -1.0), 1.0)),
            velocities_before=out[:, 6:9],
            velocities_after=out[:, 10:13],
            normal_velocities_before=out[:, 9],
            normal_velocities_after=out[:, 13],
            impulses=impulse,
            restitution=restitution,
            energy_before=kinetic + potential,
            energy_after=left + potential,
            q=q,
            v_before=v0,
            v_after=v1,
            law=law,
            rounds=rounds,
            certificate=certificate,
            energy_gain=left - kinetic > GAIN * max(kinetic, 1e-300) and not simulator._moving[which].any(),
        )

    def trajectory(self, status: str, statistics: dict[str, Any], duration: float) -> Trajectory:
        simulator = self._simulator
        nq = simulator.robot.nq
        t, y, F, force = (column[0] if len(column) == 1 else np.concatenate(column) for column in zip(*self._rows, strict=True))
        phases = [*self._phases, *(self._phase(c, *held) for c, held in self._open.items())]
        return Trajectory(
            robot=simulator.robot,
            gravity=simulator.gravity.copy(),
            t=t,
            q=np.ascontiguousarray(y[:, :nq]),
            v=np.ascontiguousarray(y[:, nq:]),
            contact_names=simulator._candidates.names,
            contact_forces=force,
            impacts=self.impacts,
            phases=tuple(sorted(phases, key=lambda phase: phase.start)),
            status=status,
            settings=PlainSettings(simulator._described, duration=duration),
            statistics=statistics,
            dense=F[1:] if simulator._dense and len(F) else None,
        )


def _is_plain(tree: Tree, nq: int) -> bool:
    """Whether every entry of q is the integral of the same entry of v."""
    return bool(
        len(tree.single) == nq
        and np.array_equal(np.sort(tree.single[:, 0]), np.arange(nq))
        and (tree.single[:, 0] == tree.single[:, 1]).all()
    )


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Ctrl-C fills the list instead of raising; a second one raises. Only where Python's own handler is at work."""
    caught: list[int] = []
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not mine:
        yield caught
        return

    def note(number: int, frame: Any) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield caught
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _resistance(robot: Robot) -> Array:
    """Damping (nv,) of the URDF's joints."""
    resistance = np.zeros(robot.nv)
    for joint in robot.joints:
        resistance[joint.iv : joint.iv + joint.nv] += joint.damping * joint.ratio**2
    return resistance


def _longest_step(found: Candidates, walls: Sequence[Wall], resolution: float) -> float:
    """Short enough for what the robot's own motion does not show: walls that vibrate, walls that are Python functions.

    How fast a motion is that is a Python function shows when it is evaluated (Surfaces.pace).
    """
    bounds = [np.inf]
    bounds += [RADIANS_PER_STEP / abs(wall.motion.omega) for wall in walls if isinstance(wall.motion, Vibration) and wall.motion.omega]
    if (found.surfaces.kind == IMPLICIT).any() or (found.surfaces.whole[:, MOVES] == FUNCTION).any():
        bounds.append(10.0 * resolution)
    return min(bounds)


def _vector(name: str, values: ArrayLike, width: int) -> Array:
    array = np.array(values, dtype=float)
    if array.shape != (width,):
        raise ArgumentError(f"{name} has shape {array.shape}, expected ({width},)")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name} has entries that are not finite: {np.flatnonzero(~np.isfinite(array)).tolist()}")
    return array


def _within(name: str, value: Any, low: float, high: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not low <= number <= high:
        expected = f"a number from {low:g} to {high:g}" if high < np.inf else f"a number, {low:g} or more"
        raise ArgumentError(f"{name}={value!r}, expected {expected}")
    return number
