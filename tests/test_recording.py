"""A trajectory as frames: impacts exactly, energies on both sides of them, trails, moving walls; small enough to send."""

from __future__ import annotations

import base64
import math
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from bench_view import chain, keyframes, waves
from long_runs import long_run

import urdf_gibbs as ug
from urdf_gibbs.simulation.impact_values import LazyImpacts
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.timing import interleaved
from urdf_gibbs.view.recording import frame_times, recording


def unpacked(packed: dict[str, Any]) -> Any:
    return np.frombuffer(zlib.decompress(base64.b64decode(packed["deflated"])), dtype="<f8").reshape(packed["shape"])


@pytest.fixture(scope="module")
def fall() -> ug.Trajectory:
    return ug.simulate(**read_scenario("branched12").arguments())


@pytest.mark.parametrize("frames", [2, 7, 100, 2000])
def test_fewer_frames_keep_every_impact_exactly(fall: ug.Trajectory, frames: int) -> None:
    view = fall.animate(frames=frames)
    motion = view.data["motion"]
    t, q = unpacked(motion["t"]), unpacked(motion["q"])
    assert frames <= len(t) <= frames + len(fall.impacts)
    assert (np.diff(t) > 0.0).all() and (t[0], t[-1]) == (fall.t[0], fall.t[-1])
    for impact, shown in zip(fall.impacts, motion["impacts"], strict=True):
        row = np.flatnonzero(t == impact.time)  # to the last bit
        assert len(row) == 1 and shown["t"] == impact.time
        np.testing.assert_array_equal(q[row[0]], impact.q)
        assert shown["points"] == list(impact.points)
        np.testing.assert_array_equal(shown["impulses"], impact.impulses)
        np.testing.assert_array_equal(shown["positions"], impact.positions)
        np.testing.assert_array_equal(shown["normals"], impact.normals)


def test_frames_between_are_the_trajectorys_own(fall: ug.Trajectory) -> None:
    motion = fall.animate(frames=300).data["motion"]
    t, q = unpacked(motion["t"]), unpacked(motion["q"])
    np.testing.assert_array_equal(q, fall.at(t)[0])


def test_energies_jump_at_an_impact_and_are_pinocchios(tmp_path: Path) -> None:
    run = ug.simulate(**read_scenario("bouncing_ball").arguments())
    series = run.animate(frames=50).data["motion"]["energies"]
    t, kinetic, potential, total = (unpacked(series[name]) for name in ("t", "kinetic", "potential", "total"))
    np.testing.assert_allclose(total, kinetic + potential, rtol=1e-14)
    first = run.impacts[0]
    before, after = np.flatnonzero(t == first.time)[[0, -1]]
    assert total[before] == pytest.approx(first.energy_before, rel=1e-12)
    assert total[after] == pytest.approx(first.energy_after, rel=1e-12)
    model = pin.buildModelFromUrdf(str(ug.model_path("ball")))
    data = model.createData()
    q, v = run.at(t[3])
    expected = pin.computeKineticEnergy(model, data, q, v) + pin.computePotentialEnergy(model, data, q)
    assert total[3] == pytest.approx(expected, rel=1e-12)


def test_trails_are_the_ways_of_the_points(fall: ug.Trajectory) -> None:
    motion = fall.animate(frames=40).data["motion"]
    assert {trail["name"] for trail in motion["trails"]} == {"O1", "O2", "O3", "O4", "O5", "O8", "O11"}  # those that struck
    one = fall.animate(frames=40, trails=["link3"]).data["motion"]
    q = unpacked(one["q"])
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    data = model.createData()
    for row in (0, 17, 40):
        pin.framesForwardKinematics(model, data, fall.robot.q_to_pinocchio(q[row]))
        place = data.oMf[model.getFrameId("link3", pin.FrameType.BODY)].translation
        np.testing.assert_allclose(unpacked(one["trails"][0]["positions"])[row], place, atol=1e-9)
    with pytest.raises(ug.UnknownNameError, match="elbow"):
        fall.animate(trails=["elbow"])


def test_a_wall_that_moves_is_where_its_motion_says() -> None:
    run = ug.simulate(**(read_scenario("vibrating_table").arguments() | {"duration": 1.0}))
    data = run.animate(frames=100).data
    (wall,) = data["walls"]
    times, d = unpacked(data["motion"]["t"]), unpacked(wall["displacement"])
    amplitude, omega = 1.2 * 9.81 / (20 * math.pi) ** 2, 20 * math.pi
    np.testing.assert_allclose(d[:, 2], amplitude * np.sin(omega * times + math.acos(math.pi / 3.6) - math.pi), atol=1e-15)


def test_a_wall_that_is_a_function_is_requested_and_drawn_when_given() -> None:
    robot = ug.load(ug.model_path("ball"), "fixed")
    bowl = ug.walls.Implicit(lambda x: x[2] - 0.2 * x[0] ** 2, name="bowl")
    run = ug.simulate(robot, [1.0], None, 0.2, walls=bowl)
    page = run.animate()
    assert page.notes == ['wall "bowl" is a Python function that a trajectory does not hold: pass walls= to draw it']
    assert page.data["walls"] == []
    assert [wall["name"] for wall in run.animate(walls=bowl).data["walls"]] == ["bowl"]


@pytest.mark.parametrize("frames", [0, 1, -3])
def test_too_few_frames_are_refused(fall: ug.Trajectory, frames: int) -> None:
    with pytest.raises(ug.ArgumentError, match=f"frames={frames}"):
        fall.animate(frames=frames)


def test_a_single_state_and_a_robot_without_joints_are_pages_too() -> None:
    still = ug.load('<robot name="rock"><link name="rock"/></robot>', "fixed")
    assert "rock" in still.view().html()
    robot = ug.load(ug.model_path("pendulum"), "fixed")
    one = ug.Trajectory(robot, (0.0, 0.0, -9.81), [0.0], [robot.neutral()], [[0.0]])
    assert len(unpacked(one.animate().data["motion"]["t"])) == 1


@pytest.mark.parametrize(
    ("count", "contacts", "rows", "phases"), [(0, 1, 400_000, 0), (60_000, 2, 0, 0), (20_000, 200, 0, 0), (2_001, 1, 0, 30_000)]
)
def test_the_page_of_a_long_run_is_bounded_and_says_what_it_leaves_out(count: int, contacts: int, rows: int, phases: int) -> None:
    """It held every impact and a frame for each: gigabytes of a run that chatters."""
    run = long_run(count, contacts, rows, phases)
    view = run.animate()
    motion = view.data["motion"]
    t, q = unpacked(motion["t"]), unpacked(motion["q"])
    assert len(t) <= 4000 + 2000 + 2 * 500 and len(view.html()) < 12e6
    assert motion["all_impacts"] == count and len(motion["impacts"]) <= min(count, 2000)
    assert isinstance(run.impacts, LazyImpacts) and sum(one is not None for one in run.impacts._impacts) <= 2000 + 1000
    if not count:
        assert view.notes == []
        return
    shown = [impact["t"] for impact in motion["impacts"]]
    assert len(shown) == 2000 and view.notes == [
        f"{len(shown)} of {count} impacts are shown: the first, the last, and others even in order and in time"
    ]
    assert (shown[0], shown[-1]) == (run.impacts[0].time, run.impacts[-1].time) and shown == sorted(set(shown))
    assert np.isin(shown, t).all() and np.isin(shown, run.t).all()  # exactly
    np.testing.assert_array_equal(q, run.at(t)[0])
    # Neither the cluster nor the time around it is left out.
    assert sum(5.0 <= time <= 5.0001 for time in shown) > 300
    assert np.diff(shown).max() < 0.15  # 1,000 random times in 10 s are up to 0.11 s apart
    for impact in motion["impacts"]:
        assert len(impact["points"]) == min(contacts, 20) and impact["left_out"] == max(contacts - 20, 0)
    if contacts > 20:  # the strongest of those that approach are kept
        first = np.abs(run.impacts[0].impulses)[run.impacts[0].normal_velocities_before < 0.0]
        np.testing.assert_array_equal(np.sort(np.abs(motion["impacts"][0]["impulses"])), np.sort(first)[-20:])
    series = unpacked(motion["energies"]["t"])
    assert len(series) <= len(t) + len(shown)


def test_a_robot_of_many_coordinates_has_fewer_frames() -> None:
    links = "".join(f'<link name="l{i}"><inertial><mass value="1"/></inertial></link>' for i in range(1001))
    joints = "".join(
        f'<joint name="j{i}" type="prismatic"><parent link="l{i}"/><child link="l{i + 1}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for i in range(1000)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = ug.load(f'<robot name="r">{links}{joints}</robot>')
    run = long_run(3_000, robot=robot)
    times = frame_times(run)
    assert len(times) * robot.nq <= 4_000_000
    with pytest.raises(ug.ArgumentError, match="frames=4001, expected 2 to 4000"):
        run.animate(frames=4001)


def test_the_page_of_the_12_dof_run_is_below_3_megabytes(fall: ug.Trajectory, tmp_path: Path) -> None:
    assert fall.animate().save(tmp_path / "run.html").stat().st_size < 3e6
    assert fall.animate(frames=2000).save(tmp_path / "fine.html").stat().st_size < 3e6


def test_recording_is_faster_than_meshcats_own_keyframes() -> None:
    """2,000 frames of 30 links: ours sends q, meshcat's animation a place and a quaternion for each link and frame."""
    run, few = waves(chain(30), 2000), waves(chain(30), 100)
    recording(run, frame_times(run, 20))  # compiles the energies
    times = interleaved({"ours": lambda: recording(run, frame_times(run, 2000)), "theirs": lambda: keyframes(few)}, 3, chunks=False)
    assert times["ours"] < 20.0 * times["theirs"]
