"""One state, or several side by side in SIMD lanes: the same bits, whatever the others are; and steps of several runs at once."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.engine.emit import LANES
from urdf_gibbs.engine.kernel import Compiled, kernel_of
from urdf_gibbs.engine.quantity import Options
from urdf_gibbs.simulation import many
from urdf_gibbs.simulation.lane_step import lane_step, widths
from urdf_gibbs.simulation.own_step import TABLE, own_step

Array = NDArray[np.float64]

QUANTITIES = {"mass_matrix": 1, "bias": 2, "forward_dynamics": 3}
CASES = [
    ("quadruped", "planar"),
    ("gripper", "floating"),
    *((seed, base) for seed, base in zip(range(4), ("fixed", "floating") * 2, strict=True)),
]


def robot_of(case: Any) -> ug.Robot:
    name, base = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ug.UrdfWarning)
        return ug.load(ug.model_path(name) if isinstance(name, str) else random_tree(name, 7, mimic=0.3), base=base)


def states(robot: ug.Robot, count: int, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    q = np.array([robot.random(seed + i) for i in range(count)])
    return [q, rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))]


def alone(robot: ug.Robot, name: str, given: list[Array]) -> Array:
    kernel = robot.kernel(name)
    return np.array([kernel(*row) for row in zip(*given, strict=True)])


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_batch_is_its_states_one_by_one_bit_by_bit(case: Any, name: str) -> None:
    robot = robot_of(case)
    given = states(robot, 301)[: QUANTITIES[name]]  # more than from which code for batches is used, and no multiple of LANES
    np.testing.assert_array_equal(robot.kernel(name)(*given), alone(robot, name, given))


def test_the_cases_have_mimic_joints_and_all_kinds_of_joints() -> None:
    joints = [joint for case in CASES for joint in robot_of(case).joints]
    assert any(joint.is_mimic for joint in joints)
    assert {"revolute", "prismatic", "floating", "planar"} <= {joint.type for joint in joints}


def test_an_angle_after_many_turns_does_not_change_the_states_beside_it() -> None:
    """Beyond a million rad sine and cosine are those of the C library, of this state alone."""
    robot = robot_of(("planar3r", "fixed"))
    given = states(robot, 300)
    before, far = robot.kernel("bias")(*given[:2]), np.arange(1, 300, LANES)
    given[0][far, 1] += 2e6 * np.pi * np.arange(1, len(far) + 1)
    given[0][9, 1] = np.inf
    after, others = robot.kernel("bias")(*given[:2]), np.delete(np.arange(300), far)
    np.testing.assert_array_equal(after[others], before[others])
    np.testing.assert_array_equal(after[5], robot.kernel("bias")(given[0][5], given[1][5]))
    assert np.isnan(after[9]).any() and np.isfinite(np.delete(after, 9, axis=0)).all()


class Step:
    """A run's table, trial, and the arrays that the table names."""

    def __init__(self, robot: ug.Robot, forward: int, i: int) -> None:
        rng, n = np.random.default_rng(i), robot.nq + robot.nv
        self.y, self.tau = np.concatenate([robot.random(i), rng.normal(size=robot.nv)]), rng.normal(size=robot.nv)
        self.K, self.new, self.constants, self.tolerance = np.zeros((16, n)), np.zeros(n), np.array([0.0, 1.0, -9.81]), np.full(2, 1e-9)
        self.K[0], self.work, self.F = rng.normal(size=n), np.zeros(n), np.zeros((7, n))
        self.table = np.array([forward if name == "forward" else getattr(self, name).ctypes.data for name in TABLE])
        self.trial = np.array([1e-3 * (i + 1), -1.0, 0.0, 0.0])


@pytest.mark.parametrize("case", [*CASES, ("panda", "fixed")], ids=str)
def test_a_step_in_lanes_is_the_robots_own_step_bit_by_bit(case: Any) -> None:
    """tests/test_own_code.py compares that with SciPy's coefficients and Pinocchio's dynamics."""
    robot = ug.load(example_robots()["panda_description/urdf/panda.urdf"]) if case[0] == "panda" else robot_of(case)
    kernel = kernel_of(robot, "forward_dynamics", Options(free_gravity=True))
    assert isinstance(kernel, Compiled)
    one, together = own_step(robot), lane_step(robot, 3)
    step = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(one.address("step"))
    lanes = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(together.address("lanes"))
    expected, runs = ([Step(robot, kernel.single_address, i) for i in range(LANES)] for _ in range(2))
    for run in expected:
        assert step(run.table.ctypes.data, run.trial.ctypes.data) == 0
    for run in runs:
        run.trial[2] = run.trial[0]
    tables, trials = (np.array([getattr(run, name).ctypes.data for run in runs]) for name in ("table", "trial"))
    rows = np.zeros(LANES * sum(widths(robot, 3).values()))
    assert lanes(tables.ctypes.data, trials.ctypes.data, rows.ctypes.data, kernel.batch_address()) == 0
    for run, other in zip(runs, expected, strict=True):
        np.testing.assert_array_equal(run.K[:13], other.K[:13])
        np.testing.assert_array_equal(run.new, other.new)
        assert run.trial[3] == other.trial[1] > 0.0
        # The step has been computed: asked for, it is taken as it is, once.
        run.K[1:] = 0.0
        assert step(run.table.ctypes.data, run.trial.ctypes.data) == 0
        assert run.trial[1] == other.trial[1] and not run.K[1:].any()
        assert step(run.table.ctypes.data, run.trial.ctypes.data) == 0
        np.testing.assert_array_equal(run.K[:13], other.K[:13])


def outcomes(monkeypatch: pytest.MonkeyPatch, simulator: ug.Simulator, runs: ug.Runs, lanes: bool) -> tuple[ug.Outcomes, bool]:
    """Of the runs, in lanes or not, and whether there is code for lanes."""
    monkeypatch.setattr(many, "IN_LANES_FROM", 1 if lanes else len(runs.q) + 1)
    made = ug.Many(simulator)
    return made.run(runs), made._lane_code is not None


@pytest.mark.parametrize("contacts", [True, False])
def test_runs_in_lanes_are_runs_alone(monkeypatch: pytest.MonkeyPatch, contacts: bool) -> None:
    """Some strike and rest while others fly, and each has its own duration; the peer's steps are the general ones of a single run."""
    robot = robot_of(("gripper", "floating"))
    rng = np.random.default_rng(3)
    q = np.array([robot.random(i) for i in range(13)])
    q[:, 2] = 0.5 + rng.random(13)
    simulator = ug.Simulator(robot, walls=ug.walls.Plane() if contacts else [], restitution=0.4)
    runs = ug.Runs(q, rng.normal(size=(13, robot.nv)), duration=rng.uniform(0.2, 1.0, 13))
    (together, code), (single, no_code) = (outcomes(monkeypatch, simulator, runs, lanes) for lanes in (True, False))
    assert code and not no_code and together.complete.all()
    assert (together.impacts.max() > 5) == contacts
    for name in ("q", "v", "impacts", "steps", "rejected", "evaluations", "kinetic", "largest_impulse", "last_impact"):
        np.testing.assert_array_equal(getattr(together, name), getattr(single, name))


def test_a_mass_that_only_slides_has_no_code_for_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    ball = ug.Simulator(ug.load(ug.model_path("ball")), walls=ug.walls.Plane(), points=[("ball", (0, 0, 0), 0.05)])
    assert outcomes(monkeypatch, ball, ug.Runs(np.ones((8, 1)), duration=0.1), True)[1] is False
