"""Robots that come to rest: they end, their contact forces push and balance the weight, cycles and jams are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from urdf_text import inertial, joint, link, robot

from urdf_gibbs import Robot, SimulationError, Simulator, Trajectory, frame_placement, load, mass_matrix, simulate, walls
from urdf_gibbs.bundled import example_robots

optimize = pytest.importorskip("scipy.optimize")

Array = NDArray[np.float64]

G = 9.81
BALL = robot(link("w", ""), link("ball"), joint("z", "prismatic", "w", "ball", axis=(0, 0, 1)))
MOST_IMPACTS = 5000
DEEPEST = 1e-8  # m
GAIN = 1e-8  # of the largest kinetic energy
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
BELLY = ((0.15, 0.0, -0.03), (-0.15, 0.0, -0.03))
LIMIT = '<limit lower="-1.2" upper="1.2" effort="1" velocity="1"/>'
TORSO = robot(
    link("torso", inertial(3.0, moments=(0.1, 0.1, 0.1))),
    link("left", inertial(0.5, com=(0.2, 0, 0), moments=(0.001, 0.01, 0.01))),
    link("right", inertial(0.5, com=(0.2, 0, 0), moments=(0.001, 0.01, 0.01))),
    joint("l", "revolute", "torso", "left", xyz=(0.2, 0, 0), axis=(0, 0, 1), limit=LIMIT),
    joint("r", "revolute", "torso", "right", xyz=(-0.2, 0, 0), rpy=(0, 0, np.pi), axis=(0, 0, 1), limit=LIMIT),
    name="torso",
)


def quadruped() -> tuple[Robot, Array]:
    """Go2 and a pose with bent legs, its feet half a metre above the ground."""
    dog = load(next(path for path in example_robots().values() if path.stem == "go2"), base="floating")
    q = dog.neutral()
    for one in dog.joints:
        q[one.iq] = 0.8 if "thigh" in one.name else -1.5 if "calf" in one.name else q[one.iq]
    q[2] = 0.52 - min(frame_placement(dog, q, foot)[2, 3] for foot in FEET)
    return dog, q


def sound(found: Trajectory) -> None:
    """No gain, and no force that pulls."""
    kinetic, _, total = found.energies
    assert found.status == "complete"
    assert len(found.impacts) < MOST_IMPACTS
    assert (total - np.minimum.accumulate(total)).max() <= GAIN * kinetic.max()
    assert found.contact_forces.min() >= 0.0


@pytest.mark.parametrize("damping", [False, True])
@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("e", [0.0, 0.2, 0.5])
def test_a_quadruped_dropped_with_joint_limits_ends(e: float, limits: bool, damping: bool) -> None:
    dog, q = quadruped()
    spheres = [(foot, (0.0, 0.0, 0.0), 0.02) for foot in FEET] + [("base", place, 0.05) for place in BELLY]
    found = simulate(dog, q, None, 5.0, walls.Plane(), restitution=e, points=spheres, joint_limits=limits, damping=damping)
    sound(found)
    for name, place, radius in spheres:
        T = frame_placement(dog, found.q, name)
        assert (T[:, 2, :3] @ place + T[:, 2, 3] - radius).min() >= -DEEPEST
    for one in dog.joints[1:] if limits else ():
        assert one.lower is not None and one.upper is not None
        assert (one.lower - DEEPEST <= found.q[:, one.iq]).all() and (found.q[:, one.iq] <= one.upper + DEEPEST).all()


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_planar_torso_thrown_on_a_plane_with_limits_ends(e: float) -> None:
    """Its links and their limits press each other shut: from some of these starts two contacts handed each other blows for ever."""
    thrown = load(TORSO, base="planar")
    points = [("torso", (0.2, 0, 0)), ("torso", (-0.2, 0, 0)), ("left", (0.4, 0, 0)), ("right", (0.4, 0, 0))]
    simulator = Simulator(thrown, walls=walls.Plane(normal=(0, 1, 0)), gravity=(0, -G, 0), points=points, joint_limits=True, restitution=e)
    rng = np.random.default_rng(0)
    for _ in range(40):
        q = thrown.neutral()
        q[1], q[2] = 1.0, rng.uniform(-np.pi, np.pi)
        q[-2:] = rng.uniform(-1.1, 1.1, 2)
        sound(simulator.run(q, rng.normal(size=thrown.nv), 3.0))


CORNERS = [(x, y, -0.2) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]


def shortest_push(places: Array, weight: float, com: Array) -> Array:
    """The shortest forces >= 0 along z at places (n, 2) that carry the weight at com (2,)."""
    A = np.vstack([np.ones(len(places)), places.T])
    b = weight * np.array([1.0, *com])
    start, _ = optimize.nnls(A, b)
    return np.asarray(
        optimize.minimize(
            lambda f: f @ f / weight**2,
            start,
            jac=lambda f: 2.0 * f / weight**2,
            bounds=[(0.0, None)] * len(places),
            constraints={"type": "eq", "fun": lambda f: (A @ f - b) / weight, "jac": lambda f: A / weight},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        ).x
    )


@pytest.mark.parametrize("com", [(0.0, 0.0), (0.2, 0.1), (0.3, 0.25), (0.45, 0.0), (0.45, 0.27)])
def test_a_block_on_four_corners_is_pushed_by_the_shortest_forces(com: tuple[float, float]) -> None:
    """With the mass centre off the middle the shortest forces of either sign would pull at a corner."""
    block = load(robot(link("block", inertial(2.0, com=(*com, 0.0), moments=(0.1, 0.2, 0.25)))), base="floating")
    q = block.neutral()
    q[2] = 0.2
    points = [("block", place) for place in CORNERS]
    found = simulate(block, q, None, 1.0, walls.Plane(), restitution=0.0, points=points)
    wanted = shortest_push(np.array(CORNERS)[:, :2], 2.0 * G, np.array(com))
    assert len(found) > 2
    np.testing.assert_allclose(found.contact_forces, np.tile(wanted, (len(found), 1)), atol=1e-5 * 2.0 * G)  # of SLSQP
    places = np.array(CORNERS)[:, :2]
    for row in found.contact_forces:
        assert (row >= 0.0).all()
        assert abs(row.sum() - 2.0 * G) < 1e-9 * 2.0 * G
        np.testing.assert_allclose(row @ places, 2.0 * G * np.array(com), atol=1e-9 * 2.0 * G)


def test_a_joint_with_equal_limits_is_held_by_forces_that_push() -> None:
    text = robot(
        link("w", ""),
        link("b", inertial(1.0, com=(0.3, 0, 0))),
        joint("j", "revolute", "w", "b", axis=(0, 1, 0), limit='<limit lower="0.1" upper="0.1" effort="1" velocity="1"/>'),
    )
    found = simulate(load(text), [0.1], None, 0.5, restitution=0.0, joint_limits=True)
    torque = 1.0 * G * 0.3 * np.cos(0.1)
    np.testing.assert_allclose(found.contact_forces, np.tile([0.0, torque], (len(found), 1)), atol=1e-9 * torque)
    np.testing.assert_allclose(found.q, 0.1, atol=1e-12)


def test_a_quadruped_at_rest_is_carried_with_its_moments() -> None:
    dog, q = quadruped()
    q[2] -= 0.5
    hold = q[7:].copy()

    def controller(t: float, q: Array, v: Array) -> Array:
        return np.concatenate([np.zeros(6), 300.0 * (hold - q[7:]) - 15.0 * v[6:]])

    spheres = [(foot, (0.0, 0.0, 0.0), 0.02) for foot in FEET]
    found = simulate(dog, q, None, 20.0, walls.Plane(), "newton", 0.0, controller, points=spheres)
    assert found.status == "complete"
    assert np.abs(found.v[-1]).max() < 1e-9  # at rest
    forces, at = found.contact_forces[-1], found.q[-1]
    weight, moment = 0.0, np.zeros(2)
    for i, one in enumerate(dog.joints):
        T = frame_placement(dog, at, one.child) @ np.linalg.inv(dog.frame(one.child).placement)
        weight += G * dog.mass[i]
        moment += G * dog.mass[i] * (T[:3, :3] @ dog.centre_of_mass[i] + T[:3, 3])[:2]
    feet = np.array([frame_placement(dog, at, foot)[:2, 3] for foot in FEET])
    assert (forces > 0.0).all()
    assert abs(forces.sum() - weight) < 1e-9 * weight
    np.testing.assert_allclose(forces @ feet, moment, atol=1e-9 * weight)


def test_many_points_of_one_plate_come_to_rest_and_share_its_weight() -> None:
    """400 coplanar points: the forces are the smooth field a + b x + c y of the shortest solution where that is positive."""
    plate = load(robot(link("plate", inertial(2.0, com=(0.05, 0, 0), moments=(0.17, 0.17, 0.33)))), base="floating")
    side = np.linspace(-0.5, 0.5, 20)
    places = np.array([(x, y, 0.0) for x in side for y in side])
    q = plate.neutral()
    q[2], q[3:7] = 0.3, np.array([0.05, 0.03, 0.0, 1.0]) / np.linalg.norm([0.05, 0.03, 0.0, 1.0])
    found = simulate(plate, q, None, 2.0, walls.Plane(), restitution=0.3, points=[("plate", place) for place in places])
    sound(found)
    assert np.abs(found.v[-1, 2:5]).max() < 1e-9
    A = np.column_stack([np.ones(400), places[:, :2]])
    field = A @ np.linalg.solve(A.T @ A, 2.0 * G * np.array([1.0, 0.05, 0.0]))
    np.testing.assert_allclose(found.contact_forces[-1], field, atol=1e-9 * 2.0 * G)


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_ceiling_that_comes_down_on_a_ball_ends_with_an_error(e: float) -> None:
    ball = load(BALL)
    ceiling = walls.Plane(point=(0, 0, 0.8), normal=(0, 0, -1), name="ceiling", motion=walls.Drift((0, 0, -1.0)))
    scene = {"walls": [walls.Plane(name="floor"), ceiling], "points": ["ball"], "restitution": e}
    with pytest.raises(SimulationError, match=r"(?s)(no motion exists|impacts in less).*ball\|(floor|ceiling)") as caught:
        simulate(ball, [0.0], None, 2.0, **scene)
    assert abs(caught.value.time - 0.8) < 1e-2 and caught.value.trajectory.status.startswith("failed")


def test_impacts_without_end_stop_with_their_contacts_and_advice() -> None:
    """Elastic, between walls that close in: the ball is struck ever faster, and ever more often."""
    ball = load(BALL)
    ceiling = walls.Plane(point=(0, 0, 0.8), normal=(0, 0, -1), name="ceiling", motion=walls.Drift((0, 0, -1.0)))
    with pytest.raises(SimulationError, match=r"impacts in less than.*ball\|(floor|ceiling) \(\d+\).*zeno"):
        simulate(ball, [0.4], [3.0], 2.0, [walls.Plane(name="floor"), ceiling], points=["ball"], restitution=1.0, gravity=(0, 0, 0))


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_a_light_ball_between_a_heavy_one_and_a_wall_keeps_the_energy(ratio: float) -> None:
    """As many impacts as the digits of pi tell; the tie merges those in which opposing contacts close within 1e-8 s of each other."""
    heavy = robot(
        link("w", ""),
        link("light", inertial(1.0)),
        link("heavy", inertial(ratio)),
        joint("a", "prismatic", "w", "light", axis=(1, 0, 0)),
        joint("b", "prismatic", "w", "heavy", axis=(1, 0, 0)),
    )
    scene: dict[str, Any] = {"points": [("light", (0, 0, 0), 0.1), ("heavy", (0, 0, 0), 0.1)], "pairs": [("light", "heavy")]}
    found = simulate(
        load(heavy), [0.5, 1.0], [0.0, -100.0], 0.5, walls.Plane(normal=(1, 0, 0)), restitution=1.0, gravity=(0, 0, 0), **scene
    )
    kinetic = 0.5 * (found.v[:, 0] ** 2 + ratio * found.v[:, 1] ** 2)
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-6)
    assert found.v[-1, 1] > 0.0


def test_an_impact_is_evaluated_at_its_own_time() -> None:
    ball = load(BALL)
    rising = walls.Plane(motion=walls.Drift((0, 0, 1.0)))
    simulator = Simulator(ball, walls=rising, points=["ball"], restitution=0.5)
    impact = simulator.impact([1.0], [-2.0], time=1.0)
    assert impact is not None and impact.time == 1.0
    np.testing.assert_allclose(impact.v_after, 1.0 + 0.5 * 3.0)


def test_the_energy_lost_in_coming_to_rest_is_reported() -> None:
    dog, q = quadruped()
    spheres = [(foot, (0.0, 0.0, 0.0), 0.02) for foot in FEET] + [("base", place, 0.05) for place in BELLY]
    found = simulate(dog, q, None, 1.0, walls.Plane(), restitution=0.5, points=spheres, joint_limits=True)
    cycles = [impact for impact in found.impacts if impact.cycle]
    assert len(cycles) == found.statistics["cycles"] > 0
    assert all((impact.restitution == 0.0).all() for impact in cycles)
    # What flight keeps: all that is lost is lost in impacts, or on coming to rest.
    _, _, total = found.energies
    lost = sum(impact.energy_loss for impact in found.impacts)
    at_rest = found.statistics["energy_at_rest"] - sum(impact.energy_loss for impact in cycles)
    assert at_rest >= 0.0
    assert abs(total[0] - total[-1] - lost - at_rest) < 1e-8 * total[0]


def test_kinetic_energy_is_that_of_the_mass_matrix() -> None:
    """The energies that the tests above rely on."""
    dog, q = quadruped()
    v = np.random.default_rng(0).normal(size=dog.nv)
    found = simulate(dog, q, v, 0.01)
    np.testing.assert_allclose(found.energies[0][0], 0.5 * v @ mass_matrix(dog, q) @ v, rtol=1e-12)


def test_the_rows_of_a_long_run_keep_to_their_memory_and_every_impact() -> None:
    ball = load(BALL)
    scene: dict[str, Any] = {"walls": walls.Plane(), "points": ["ball"], "restitution": 1.0, "max_step": 2e-3}
    whole = simulate(ball, [1.0], None, 20.0, **scene)
    thin = simulate(ball, [1.0], None, 20.0, memory=200_000.0, **scene)
    assert whole.statistics["thinned"] == 0 and whole.statistics["bytes"] > 1_000_000 and whole.dense is not None
    assert thin.statistics["thinned"] > 1 and thin.statistics["bytes"] <= 200_000 and thin.dense is None
    times = [impact.time for impact in whole.impacts]
    assert [impact.time for impact in thin.impacts] == times
    assert all(np.count_nonzero(thin.t == time) == 2 for time in times)
    assert thin.t[0] == 0.0 and thin.t[-1] == 20.0
    some = np.linspace(0.0, 20.0, 999)
    np.testing.assert_allclose(thin.at(some)[0], whole.at(some)[0], atol=1e-9)  # free fall: a cubic between rows is exact
