"""Integrators for a fall with impacts: fixed steps, SciPy's solvers with event functions, and ours, all of one scenario.

Fixed steps and SciPy solve Eq. 47 of Shafei 2018 at every point that is at the wall and moves outwards; flight is by compiled kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import urdf_gibbs as ug
from urdf_gibbs.contact.points import resolve_points
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.trajectory import Impact, Trajectory

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

CHUNK = 1000  # steps between two searches for impacts, which examine all of these steps at once
TOGETHER = 1e-7  # m: points as near to the wall as this when another strikes strike with it; mirrored ones are found some 1e-9 s apart
HALVINGS = 52  # of a step in which an impact is located: to the last bit
LOST = 1.0  # relative change of the energy at which a run counts as lost
ATOL = 1e-3  # of rtol: the ratio of the defaults of ode45 and of solve_ivp, 1e-3 and 1e-6
ON_GRID, LOCATED, OURS = "RK4, impacts on the grid", "RK4, impacts located", "ug.simulate"
NO_SCIPY = "this part integrates with SciPy's solvers too: pip install 'urdf-gibbs[validation]'"


@dataclass(frozen=True, slots=True)
class RunImpact:
    """An impact: ``time`` [s], ``points`` solved together; of the first of them angle of attack [deg], change of the normal velocity
    [m/s] and impulse [N s].
    """

    time: float
    points: tuple[str, ...]
    angle: float
    change: float
    impulse: float

    @property
    def row(self) -> tuple[float, float, float, float]:
        """As Table 3 of Shafei 2018 lists it."""
        return self.time, self.angle, self.change, self.impulse


@dataclass(frozen=True, slots=True)
class Run:
    """What a way to integrate gives of a scenario with one ``setting``: the step [s], or the relative tolerance.

    ``lost`` says what became of a run that does not get to the end, ``until`` [s] is when. ``drift`` and ``worst``: error of the total
    energy at the end and the largest on the way, relative to its first value; ``outside`` [m]: how far a point was behind the wall at
    most; ``evaluations`` of accelerations.
    """

    scenario: str
    method: str
    setting: float
    impacts: tuple[RunImpact, ...]
    until: float
    lost: str
    drift: float
    worst: float
    outside: float
    evaluations: int

    def times(self, within: float) -> list[float]:
        """When something struck [s]; what follows ``within`` [s] counts with it, as points that strike together but are solved apart."""
        times = list[float]()
        for struck in self.impacts:
            if not times or struck.time - times[-1] > within:
                times.append(struck.time)
        return times


class Problem:
    """A scenario with one wall, a plane or the inside of a circle about the origin in the plane of x and y, and coordinates whose rates
    are the velocities, without torques. A state y (2 nv,) is q and v.
    """

    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self.arguments = read_scenario(scenario).arguments()
        robot: Robot = self.arguments["robot"]
        gravity = self.arguments["gravity"]
        self.duration, self.nv = float(self.arguments["duration"]), robot.nv
        self.start = np.concatenate([self.arguments["q0"], self.arguments["v0"]])
        self.wall = self.arguments["walls"][0]
        self.names = tuple(point.name for point in resolve_points(robot, self.arguments["points"]))
        frames = [robot.frame(name) for name in self.names]
        self._bodies = [frame.body for frame in frames]
        self._offsets = np.array([frame.placement[:3, 3] for frame in frames])
        self._jacobians = [robot.kernel("jacobian", frame=name) for name in self.names]
        self.forward = robot.kernel("forward_dynamics", gravity=gravity)
        self._mass, self._placements = robot.kernel("mass_matrix"), robot.kernel("placements")
        self._kinetic, self._potential = robot.kernel("kinetic_energy"), robot.kernel("potential_energy", gravity=gravity)
        self._bounce = 1.0 + float(self.arguments["restitution"])
        self._first_energy = float(self.energy(self.start[None])[0])

    def gaps(self, y: Array) -> tuple[Array, Array]:
        """Distances (..., k) [m] from the wall, negative behind it, and normals (..., k, 3), of the points at states y (..., 2 nv)."""
        T = self._placements(np.ascontiguousarray(y[..., : self.nv]))[..., self._bodies, :]
        T = T.reshape(*T.shape[:-1], 4, 3)  # rows of R, then p
        x = (T[..., :3, :] @ self._offsets[..., None])[..., 0] + T[..., 3, :]
        if isinstance(self.wall, ug.walls.Plane):
            normal = np.array(self.wall.direction)
            return (x - np.array(self.wall.point)) @ normal, np.broadcast_to(normal, x.shape)
        x[..., 2] = 0.0
        radius = np.sqrt((x * x).sum(axis=-1))
        return self.wall.radius - radius, -x / radius[..., None]

    def approaching(self, y: Array, gap: Array, normal: Array, near: float) -> Flags:
        """Which points (n, k) of states y (n, 2 nv), with these gaps, are within ``near`` [m] of the wall, or behind it, and close in."""
        flags: Flags = gap < near
        for i in np.flatnonzero(flags.any(axis=0)):
            rows = np.flatnonzero(flags[:, i])
            J = self._jacobians[i](np.ascontiguousarray(y[rows, : self.nv]))[:, :3]
            flags[rows, i] = np.einsum("ni,nij,nj->n", normal[rows, i], J, y[rows, self.nv :]) < 0.0
        return flags

    def closed(self, y: Array) -> Flags:
        """Which points (k,) strike together at y (2 nv,)."""
        return self.approaching(y[None], *self.gaps(y[None]), TOGETHER).reshape(-1)

    def apply_impact(self, t: float, y: Array, closed: Flags) -> tuple[Array, RunImpact]:
        """The state behind the impact of the closed points (k,), solved together."""
        q, v, normals = y[: self.nv], y[self.nv :], self.gaps(y)[1]
        chosen = np.flatnonzero(closed)
        velocities = [self._jacobians[i](q)[:3] for i in chosen]
        J = np.array([normals[i] @ own for i, own in zip(chosen, velocities, strict=True)])
        response = np.linalg.solve(self._mass(q), J.T)
        change = -self._bounce * J @ v
        impulses = np.linalg.solve(J @ response, change)
        cosine = -(J[0] @ v) / np.linalg.norm(velocities[0] @ v)
        angle = float(np.degrees(np.arccos(min(1.0, cosine))))
        struck = RunImpact(t, tuple(self.names[i] for i in chosen), angle, float(change[0]), float(impulses[0]))
        return np.concatenate([q, v + response @ impulses]), struck

    def energy(self, y: Array) -> Array:
        """Total energies (n,) [J] of states y (n, 2 nv)."""
        q, v = (np.ascontiguousarray(half) for half in (y[:, : self.nv], y[:, self.nv :]))
        return self._kinetic(q, v) + self._potential(q)

    def energy_changes(self, y: Array) -> Array:
        """By how much the total energy of states y (n, 2 nv) differs from that of the start, relative to it."""
        return self.energy(y) / self._first_energy - 1.0


@cache
def problem(scenario: str) -> Problem:
    return Problem(scenario)


class Record:
    """Collects the data of a Run."""

    def __init__(self, own: Problem) -> None:
        self.own = own
        self.impacts: list[RunImpact] = []
        self.evaluations = 0
        self.until = self.drift = self.worst = self.outside = 0.0
        self.lost = ""

    def see(self, t: Array, y: Array, gap: Array) -> bool:
        """Note the states y (n, 2 nv) at t (n,), with their gaps (n, k); False where the run is lost in them."""
        changes = self.own.energy_changes(y)
        errors = np.abs(changes)
        gone = ~(errors < LOST)
        seen = int(gone.argmax()) if gone.any() else len(t)
        if gone.any():
            self.lost = "loses its energy" if changes[seen] < 0.0 else "explodes"
        self.until = float(t[seen] if self.lost else t[-1])
        self.drift = np.inf if self.lost else float(errors[-1])
        self.worst = np.inf if self.lost else max(self.worst, float(errors.max()))
        if seen:
            self.outside = max(self.outside, -float(gap[:seen].min()))
        return not gone.any()

    def run(self, method: str, setting: float) -> Run:
        own, impacts = self.own.scenario, tuple(self.impacts)
        return Run(own, method, setting, impacts, self.until, self.lost, self.drift, self.worst, self.outside, self.evaluations)


# fixed steps --------------------------------------------------------------------------------------------


@cache
def fixed_steps(scenario: str, step: float, located: bool = False) -> Run:
    """The classical Runge-Kutta method of order four with a fixed ``step`` [s].

    An impact happens at the first grid point at which a point is behind the wall and moves outwards; ``located``: where the point crosses
    the wall within that step, and the next steps begin there.
    """
    own = problem(scenario)
    record = Record(own)
    t, y = 0.0, own.start
    while own.duration - t > 1e-6 * step:
        whole = int((own.duration - t) / step + 1e-6)
        h, count = (step, min(CHUNK, whole)) if whole else (own.duration - t, 1)
        rows = runge_kutta(own, y, h, count)
        gap, normal = own.gaps(rows)
        struck = own.approaching(rows[1:], gap[1:], normal[1:], 0.0)
        end = int(struck.any(axis=1).argmax()) + 1 if struck.any() else count
        closed = struck[end - 1]
        beyond = end if closed.any() and located else end + 1  # where an impact is located the motion does not go behind the wall
        record.evaluations += 4 * end
        if not record.see(t + h * np.arange(beyond, dtype=np.float64), rows[:beyond], gap[:beyond]):
            break
        if beyond == end:
            part, y = _crossing(own, rows[end - 1], h, closed)
            t += (end - 1) * h + part
            record.evaluations += 4 * HALVINGS
            closed = own.closed(y)
        else:
            t, y = t + end * h, rows[end]
        if closed.any():
            y, impact = own.apply_impact(t, y, closed)
            record.impacts.append(impact)
            if not record.see(np.array([t]), y[None], own.gaps(y[None])[0]):
                break
    return record.run(LOCATED if located else ON_GRID, step)


def runge_kutta(own: Problem, y: Array, h: float, count: int) -> Array:
    """States (count + 1, 2 nv) of as many steps of length h [s] from y (2 nv,), walls apart; not finite where they explode.

    All that the method adds up are products of a small matrix with q, v and the accelerations of the four stages, one below the other.
    """
    rows, known, tau = np.empty((count + 1, 2, own.nv)), np.zeros((6, own.nv)), np.zeros(own.nv)
    stage = np.empty((2, own.nv))
    q, v, *accelerations = known
    rows[0] = y.reshape(2, own.nv)
    half, square = 0.5 * h, h * h
    second = np.array([[1.0, half, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, half, 0.0, 0.0, 0.0]])
    third = np.array([[1.0, half, square / 4.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, half, 0.0, 0.0]])
    fourth = np.array([[1.0, h, 0.0, square / 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, h, 0.0]])
    change = np.array([[0.0, h, square / 6.0, square / 6.0, square / 6.0, 0.0], [0.0, 0.0, h / 6.0, h / 3.0, h / 3.0, h / 6.0]])
    stages = list(zip((second, third, fourth), accelerations[1:], strict=True))
    forward, dot, state, (stage_q, stage_v) = own.forward, np.dot, known[:2], stage
    with np.errstate(all="ignore"):
        for before, after in pairwise(rows):
            state[:] = before
            forward(q, v, tau, accelerations[0])
            for matrix, acceleration in stages:
                dot(matrix, known, stage)
                forward(stage_q, stage_v, tau, acceleration)
            np.add(state, dot(change, known, stage), after)
    return rows.reshape(count + 1, -1)


def _crossing(own: Problem, y: Array, h: float, closed: Flags) -> tuple[float, Array]:
    """The part [s] of the step h after which the first of the closed points is behind the wall, and the state there, by bisection."""
    low, high, there = 0.0, h, y
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        state = runge_kutta(own, y, middle, 1)[1]
        if (own.gaps(state)[0][closed] < 0.0).any():
            high, there = middle, state
        else:
            low = middle
    return high, there


def run_on_grid(step: float) -> list[tuple[float, float, float, float]]:
    """Table 3 of Shafei 2018 (t [s], angle [deg], change of velocity [m/s], impulse [N s] of each impact) with impacts at grid points."""
    return [struck.row for struck in fixed_steps("branched12", step).impacts]


# solvers that choose their steps ------------------------------------------------------------------------


@cache
def adaptive(scenario: str, method: str, rtol: float, one_by_one: bool = False) -> Run:
    """SciPy's solve_ivp with an event function for each contact point, as one uses ode45 with EVENTS: stop, strike, begin again.

    Points within TOGETHER of the wall are struck with the one that stopped the solver; ``one_by_one``: that one alone.
    """
    try:
        from scipy.integrate import solve_ivp  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError(NO_SCIPY) from None
    own = problem(scenario)
    record = Record(own)
    t, y, tau = 0.0, own.start, np.zeros(own.nv)

    def rates(t: float, y: Array) -> Array:
        record.evaluations += 1
        out = np.empty(2 * own.nv)
        out[: own.nv] = y[own.nv :]
        own.forward(y[: own.nv], y[own.nv :], tau, out[own.nv :])
        return out

    events = list(_events(own))
    while t < own.duration:
        solution = solve_ivp(rates, (t, own.duration), y, method, events=events, rtol=rtol, atol=ATOL * rtol)
        t, y = float(solution.t[-1]), solution.y[:, -1].copy()
        rows = np.ascontiguousarray(solution.y.T)
        if not record.see(solution.t, rows, own.gaps(rows)[0]) or solution.status < 0:
            break
        if solution.status == 1:
            first = np.array([times.size > 0 for times in solution.t_events])
            y, impact = own.apply_impact(t, y, first if one_by_one else first | own.closed(y))
            record.impacts.append(impact)
    return record.run(f"{method}, one point at a time" if one_by_one else method, rtol)


def _events(own: Problem) -> Iterator[Callable[[float, Array], float]]:
    """Gaps of the points as event functions, which stop where a point goes out; all are computed once for a state."""
    last: list[Any] = [b"", np.empty(0)]

    def event(i: int) -> Callable[[float, Array], float]:
        def gap(t: float, y: Array) -> float:
            state = y.tobytes()
            if state != last[0]:
                last[:] = state, own.gaps(y)[0]
            return float(last[1][i])

        gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]
        return gap

    return (event(i) for i in range(len(own.names)))


# ours ---------------------------------------------------------------------------------------------------


@cache
def simulated(scenario: str, rtol: float, atol: float | None = None) -> Run:
    """``ug.simulate``; atol as with the others where it is not given."""
    own = problem(scenario)
    trajectory: Trajectory = ug.simulate(**{**own.arguments, "rtol": rtol, "atol": ATOL * rtol if atol is None else atol})
    record = Record(own)
    record.impacts = [_run_impact(impact) for impact in trajectory.impacts]
    record.evaluations = trajectory.statistics["evaluations"]
    rows = np.concatenate([trajectory.q, trajectory.v], axis=1)
    record.see(trajectory.t, rows, own.gaps(rows)[0])
    return record.run(OURS, rtol)


def _run_impact(impact: Impact) -> RunImpact:
    angle = float(np.degrees(impact.angles_of_attack[0]))
    change = float(impact.normal_velocities_after[0] - impact.normal_velocities_before[0])
    return RunImpact(impact.time, impact.points, angle, change, float(impact.impulses[0]))
