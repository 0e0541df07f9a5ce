"""The compiled variational equation of one simulation: its program, its memory, and the calls of its entries."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.candidates import Candidates
from urdf_gibbs.engine.kernel import c_function
from urdf_gibbs.locks import Lock
from urdf_gibbs.sensitivity.columns import PARAMETERS, TORQUE, Columns
from urdf_gibbs.sensitivity.differences import differentiate_rows
from urdf_gibbs.sensitivity.layout import Variation
from urdf_gibbs.sensitivity.refusal import Refusal
from urdf_gibbs.sensitivity.variation import accelerate, cross
from urdf_gibbs.simulation import rows
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.layout import ACCEL, GAP, GRADIENT, OK, POSITION, PRESENT, RATE, TIME, VELOCITY_BEFORE, System
from urdf_gibbs.simulation.program import Program
from urdf_gibbs.simulation.report import report_impact

Array = NDArray[np.float64]

SPACINGS = (1e-3, 1e-4, 1e-5, 1e-6)  # of differences, the next where one is too coarse [rad, m]
COARSE = 1e-5  # relative disagreement of differences with one and two spacings; the error of the result is about its square
KINK = 1e-3  # with the smallest spacing: there is no derivative
TIMES = 1e-2  # spacing of differences in time, relative to the longest step that resolves the motion of the walls
LONGEST_STEP = 1.0  # s: of walls that do not vibrate
ROWS = ("J", "rate", "accel", "DJ", "Dr", "Da", "Dv", "Jt", "rt")
FINEST, COARSEST = 1e-12, 1e-8  # relative tolerance of the sensitivities in a step


@dataclass(frozen=True, eq=False)
class Rows:
    """k contacts at a state: rows J (k, nv), rate and accel (k,) of their gaps, and derivatives along q, v and time (layout.py)."""

    J: Array
    rate: Array
    accel: Array
    DJ: Array
    Dr: Array
    Da: Array
    Dv: Array
    Jt: Array
    rt: Array

    def of(self, which: list[int]) -> Rows:
        """Some of the contacts."""
        return Rows(*(getattr(self, name)[which] for name in ROWS))


class Workshop(NamedTuple):
    """A program of a simulation and its contacts, used by one Machine at a time."""

    candidates: Candidates
    program: Program


_idle: WeakKeyDictionary[Description, list[Workshop]] = WeakKeyDictionary()  # a program takes longer to make than most sensitivities


class Machine:
    """Integrates z = (q, v, X) of a description, and differentiates rows of contacts: ``with machine:``, in one thread at a time."""

    candidates: Candidates
    program: Program
    system: System

    def __init__(self, description: Description, columns: Columns, most: int) -> None:
        self.robot, self.columns, self.description = description.robot, columns, description
        self.nq, self.nv = self.robot.nq, self.robot.nv
        x, y, z = description.gravity.tolist()
        names = ["forward_dynamics_derivatives", *(["torque_regressor"] if PARAMETERS in columns.places else [])]
        self._functions = [c_function(self.robot, name, (x, y, z)) for name in names]
        self.variation = _variation(description, columns, most, [_address(function) for function in self._functions])
        self._mass = self.robot.kernel("mass_matrix")
        self._n, self._lock = self.nq + self.nv, Lock()

    def __enter__(self) -> None:
        self._lock.__enter__()
        idle = _idle.setdefault(self.description, [])
        try:
            self._workshop = idle.pop()
        except IndexError:
            found = self.description.candidates()
            self._workshop = Workshop(found, Program(self.description, found))
        self.candidates, self.program = self._workshop
        self.system, self.touching = self.program.system, self.candidates.touching
        self.variation.time_spacing = TIMES * min(self.description.longest_step(self.candidates), LONGEST_STEP)

    def __exit__(self, *problem: object) -> None:
        _idle[self.description].append(self._workshop)
        self._lock.__exit__()

    # flight -------------------------------------------------------------------------------------------

    def cross(self, t: float, h: float, y: Array, X: Array, held: list[int]) -> tuple[Array, Array]:
        """State (nq + nv,) and X (2 nv, m) from time t to t + h with these contacts held."""
        w, n = self.variation, self._n
        self._select(held)
        for spacing in SPACINGS if held else SPACINGS[:1]:
            w.z[:n], w.z[n:] = y, X.ravel()
            w.spacing, w.mismatch, length = spacing, 0.0, w.length
            self._check(cross(self.system, w, t, h, len(held)), t)
            if w.mismatch <= COARSE:
                break
            w.length = length
        self._refuse_kink(t, held)
        return w.z[:n].copy(), w.z[n:].reshape(2 * self.nv, -1).copy()

    def acceleration(self, t: float, q: Array, v: Array, held: list[int]) -> tuple[Array, Array]:
        """Acceleration (nv,) and forces of the held contacts."""
        w = self.variation
        self._select(held)
        w.q[:], w.v[:] = q, v
        self._check(accelerate(self.system, w, t, len(held)), t)
        return w.a.copy(), w.lam[: len(held)].copy()

    # contacts -----------------------------------------------------------------------------------------

    def rows(self, t: float, q: Array, v: Array, contacts: list[int]) -> Rows:
        """Rows of these contacts and their derivatives."""
        w, k = self.variation, len(contacts)
        self._select(contacts)
        for spacing in SPACINGS:
            w.q[:], w.v[:], w.spacing = q, v, spacing
            self._check(differentiate_rows(self.system, w, t, k), t)
            if w.mismatch <= COARSE:
                break
        self._refuse_kink(t, contacts)
        return Rows(*(getattr(w, name)[:k].copy() for name in ROWS))

    def gaps(self, t: float, q: Array, v: Array, held: list[int]) -> Array:
        """(contacts, 3) gap [m], its rate and its acceleration of all contacts, where these are held."""
        state = self.program.state
        state.y[: self.nq], state.y[self.nq :] = q, v
        state.K[0, self.nq :] = self.acceleration(t, q, v, held)[0]
        self._check(self.program.update_gaps(t, PRESENT), t)
        return np.asarray(state.gaps[: self.touching, [GAP, RATE, ACCEL]] / state.gaps[: self.touching, [GRADIENT]])

    def touch(self, t: float, q: Array, v: Array, contact: int) -> Array:
        """(6,): where a contact is [m] and its velocity relative to what it touches [m/s], in the world, as an Impact tells them."""
        record = self.program.record
        record.impact_y[0, : self.nq], record.impact_y[0, self.nq :], record.impact_v[0] = q, v, v
        record.impact_numbers[0, TIME], record.contact[0] = t, contact
        self._check(report_impact(self.system, record, 0, 0, 1), t)
        told = record.contact_numbers[0]
        return np.concatenate([told[POSITION : POSITION + 3], told[VELOCITY_BEFORE : VELOCITY_BEFORE + 3]])

    def impulses(self, law: int, K: Array, u: Array, e: Array) -> tuple[Array, float]:
        """Impulses (k,) by a law or problem of the simulation (``solve`` of simulation/rows.py), and its certificate."""
        s, k = self.system, len(u)
        s.K[: k * k], s.u[:k], s.e[:k] = K.ravel(), u, e
        certificate = rows.solve(s, law, k)
        return s.lam[:k].copy(), certificate

    # the robot ----------------------------------------------------------------------------------------

    def mass(self, q: Array) -> Array:
        """M (nv, nv)."""
        return self._mass(q)

    def mass_times(self, q: Array, x: Array, M: Array) -> tuple[Array, Array | None]:
        """d(M x)/dq (nv, nv), and d(M x)/d(parameters) (nv, 10 nb) where there are such columns.

        The kernels of flight contain gravity: M x is a difference of two inverse dynamics, at rest with the acceleration x and without.
        """
        still, D = np.zeros(self.nv), np.empty((2, 3, self.nv, self.nv))
        for out, tau in zip(D, (M @ x, still), strict=True):
            self._call(self._functions[0], q, still, np.ascontiguousarray(tau), out)
        by_q = -M @ (D[0, 0] - D[1, 0])
        if PARAMETERS not in self.columns.places:
            return by_q, None
        Y = np.empty((2, *self.variation.Y.shape))
        for out, a in zip(Y, (x, still), strict=True):
            self._call(self._functions[1], q, still, np.ascontiguousarray(a), out)
        return by_q, Y[0] - Y[1]

    def _call(self, function: Any, *arrays: Array) -> None:
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        self._check(int(ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(arrays))(_address(function))(*pointers)), np.nan)

    # checks -------------------------------------------------------------------------------------------

    def _select(self, contacts: list[int]) -> None:
        self.system.selected[: len(contacts)] = contacts

    def _check(self, status: int, t: float) -> None:
        self.candidates.callbacks.raise_error()
        if status != OK:
            raise Refusal(f"the derivatives of the motion could not be computed (status {status})", t)

    def _refuse_kink(self, t: float, contacts: list[int]) -> None:
        if contacts and self.variation.mismatch > KINK:
            raise Refusal("a wall has a kink there: its normal has no derivative", t, self.names(contacts))

    def names(self, contacts: list[int]) -> tuple[str, ...]:
        return tuple(self.candidates.names[c] for c in contacts)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _variation(description: Description, columns: Columns, most: int, addresses: list[int]) -> Variation:
    robot, m, k = description.robot, columns.count, max(1, most)
    nq, nv = robot.nq, robot.nv
    size = nq + nv + 2 * nv * m
    by_parameters = PARAMETERS in columns.places
    return Variation(
        derivatives=addresses[0],
        regressor=addresses[1] if by_parameters else 0,
        columns=m,
        torque_column=columns.first(TORQUE),
        parameter_column=columns.first(PARAMETERS),
        tolerance=min(max(description.rtol, FINEST), COARSEST),
        rtol=description.rtol,
        atol=description.atol,
        length=1e-2,
        spacing=SPACINGS[0],
        **{name: np.zeros(size) for name in ("z", "new")},
        K=np.zeros((STAGES + 1, size)),
        scale=np.zeros(m),
        D=np.zeros((3, nv, nv)),
        Y=np.zeros((nv, 10 * len(robot.joints) if by_parameters else 0)),
        **{name: np.zeros(nv) for name in ("tau", "a", "v", "move")},
        **{name: np.zeros(k) for name in ("lam", "rate", "accel", "rt")},
        **{name: np.zeros((k, nv)) for name in ("J", "Dr", "Da", "Dv", "Jt")},
        DJ=np.zeros((k, nv, nv)),
        far=np.zeros((k, nv + 2)),
        **{name: np.zeros(nq) for name in ("q", "turn")},
        G=np.zeros((nv, nv)),
        W=np.zeros((nv, k)),
        P=np.zeros((k, k)),
    )
