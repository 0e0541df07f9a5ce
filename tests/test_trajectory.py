"""Trajectories: the interpolant is scipy's own, impacts have two sides, and a file gives back every bit or says what is wrong."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import urchin
from numpy.typing import ArrayLike, NDArray
from urdf_text import inertial, joint, link, pinocchio_model, random_tree, robot

from urdf_gibbs import ArgumentError, Robot, UrdfWarning, bias, forward_dynamics, load, mass_matrix, model_path
from urdf_gibbs.robot import manifold
from urdf_gibbs.robot.load import read_text
from urdf_gibbs.robot.spatial import rotation_from_rpy
from urdf_gibbs.robot.write import rpy_from_rotation, urdf_text
from urdf_gibbs.simulation import impact_values as module
from urdf_gibbs.simulation.trajectory import Energies, Impact, Phase, Trajectory, coordinate_names

scipy_integrate = pytest.importorskip("scipy.integrate")

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)
ROUND_OFF = 1e-12  # a few hundred operations on numbers of order one, eps = 2e-16
BOX = robot(link("box", inertial(2.0, (0.01, -0.02, 0.03), (0.3, 0.2, 0.1), (0.02, 0.03, 0.04))))
SHAPED = (
    '<visual name="v"><origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry>'
    '<material name="red"><color rgba="1 0 0 1"/></material></visual>'
    '<collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>'
    '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
)
# Joints whose depth-first order is not that of their names, oblique placements, a tie, a fixed frame with a shape.
TREE = random_tree(
    [
        ("fix", "fixed", "l0", "l1"),
        ("z", "revolute", "l1", "l2", '<dynamics damping="0.5" friction="0.25"/>'),
        ("b", "continuous", "l0", "l3"),
        ("c", "prismatic", "l3", "l4"),
        ("d", "revolute", "l4", "l5", '<mimic joint="z" multiplier="-0.7" offset="0.1"/>'),
        ("tool", "fixed", "l5", "l6"),
    ],
    seed=3,
).replace("</robot>", f"{link('mark', inertial() + SHAPED)}{joint('m', 'fixed', 'l6', 'mark', rpy=(0.4, np.pi / 2, -0.2))}</robot>")


def quiet(source: Any, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load(source, **options)


def integrated(
    robot_: Robot, q: ArrayLike, v: ArrayLike, until: float, rtol: float = 1e-11
) -> tuple[Trajectory, Callable[[Array], Array], Array]:
    """A free motion by scipy's DOP853, scipy's own interpolant, and scipy's coefficients."""
    nq = robot_.nq

    def rate(_: float, y: Array) -> Array:
        q, v = y[:nq].copy(), y[nq:]
        manifold.normalise(robot_.joints, q)  # trial states leave the unit sphere
        return np.concatenate([manifold.rates(robot_.joints, q, v), forward_dynamics(robot_, q, v, np.zeros(robot_.nv), gravity=GRAVITY)])

    solver = scipy_integrate.DOP853(rate, 0.0, np.concatenate([q, v]), until, rtol=rtol, atol=1e-12)
    t, y, pieces = [0.0], [solver.y], []
    while solver.status == "running":
        solver.step()
        t.append(solver.t)
        y.append(solver.y)
        pieces.append(solver.dense_output())
    states = np.array(y)
    dense = np.array([piece.F for piece in pieces])
    trajectory = Trajectory(robot_, np.array(GRAVITY), np.array(t), states[:, :nq], states[:, nq:], dense=dense)
    return trajectory, scipy_integrate.OdeSolution(t, pieces), dense


def impact_of(robot_: Robot, k: int = 2, time: float = 0.5, seed: int = 0, **changes: Any) -> Impact:
    rng = np.random.default_rng(seed)
    fields: dict[str, Any] = {
        "time": time,
        "points": tuple(f"point{i}" for i in range(k)),
        "walls": tuple(["floor", "", "lower"][i % 3] for i in range(k)),
        **{name: rng.normal(size=(k, 3)) for name in ("positions", "normals", "velocities_before", "velocities_after")},
        **{name: rng.normal(size=k) for name in module.SCALARS},
        "energy_before": 3.0,
        "energy_after": 2.5,
        "q": robot_.random(rng),
        "v_before": rng.normal(size=robot_.nv),
        "v_after": rng.normal(size=robot_.nv),
        "law": "newton",
        "rounds": 4,
        "certificate": 1e-13,
        "energy_gain": True,
    }
    fields["positions"][-1] = np.nan
    return Impact(**(fields | changes))


def made_up(robot_: Robot, n: int = 12) -> Trajectory:
    """Every field filled, with an impact between rows 5 and 6."""
    rng = np.random.default_rng(7)
    t = np.linspace(0.0, 1.0, n)
    t[6] = t[5]
    return Trajectory(
        robot_,
        np.array([0.1, 0.0, -1.62]),
        t,
        robot_.random(rng, n),
        rng.normal(size=(n, robot_.nv)),
        contact_names=("foot|floor", "tip|Wand ä"),
        contact_forces=rng.normal(size=(n, 2)),
        impacts=(impact_of(robot_, 2, t[5]), impact_of(robot_, 1, 0.9, 1), impact_of(robot_, 3, 0.95, 2)),
        phases=(Phase("foot", "floor", 0.1, 0.2, 0.1), Phase("tip", "Wand ä", 0.3)),
        status="failed: at 1 s",
        settings={"rtol": 1e-9, "laws": ("newton",), "n": np.int64(3), "e": np.float64(0.1), "none": None, "grid": np.arange(3.0)},
        statistics={"steps": 11, "worst": float("inf")},
        dense=rng.normal(size=(n - 1, 7, robot_.nq + robot_.nv)),
    )


# Between rows ------------------------------------------------------------------------------------------


def test_pendulum_is_interpolated_as_scipy_does() -> None:
    trajectory, scipys, _ = integrated(load(model_path("pendulum")), [2.0], [0.5], 3.0, rtol=1e-9)
    times = np.random.default_rng(0).uniform(0.0, 3.0, 500)
    q, v = trajectory.at(times)
    assert (q.shape, v.shape) == ((500, 1), (500, 1))
    np.testing.assert_allclose(np.hstack([q, v]), scipys(times).T, rtol=0, atol=1e-14)  # the same sum in the same order


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_box_is_interpolated_as_scipy_does_with_unit_quaternions(base: str) -> None:
    robot_ = quiet(BOX, base=base)
    q0, v0 = robot_.random(1), np.random.default_rng(2).normal(size=robot_.nv)
    trajectory, scipys, _ = integrated(robot_, q0, v0, 2.0)
    times = np.random.default_rng(0).uniform(0.0, 2.0, 300)
    q, v = trajectory(times)
    expected = scipys(times).T
    if base == "floating":
        np.testing.assert_allclose(np.linalg.norm(q[:, 3:], axis=1), 1.0, atol=4e-16)
        expected[:, 3:7] /= np.linalg.norm(expected[:, 3:7], axis=1, keepdims=True)
    np.testing.assert_allclose(np.hstack([q, v]), expected, rtol=0, atol=1e-13)


def test_rates_are_the_derivative_of_integrate() -> None:
    text = random_tree([("f", "floating", "a", "b"), ("p", "planar", "b", "c"), ("r", "revolute", "c", "d")])
    robot_ = quiet(text, base="floating")
    rng = np.random.default_rng(0)
    q, v, h = robot_.random(rng, 5), rng.normal(size=(5, robot_.nv)), 1e-6
    difference = (robot_.integrate(q, h * v) - robot_.integrate(q, -h * v)) / (2.0 * h)
    np.testing.assert_allclose(manifold.rates(robot_.joints, q, v), difference, atol=1e-8)  # round-off over h
    np.testing.assert_allclose(manifold.velocities(robot_.joints, robot_.nv, q, manifold.rates(robot_.joints, q, v)), v, atol=ROUND_OFF)


@pytest.mark.parametrize("base", ["fixed", "floating", "planar"])
def test_without_coefficients_the_error_is_of_the_stated_order(base: str) -> None:
    robot_ = load(model_path("pendulum")) if base == "fixed" else quiet(BOX, base=base)
    q0, v0 = robot_.random(1), 3.0 + np.arange(robot_.nv)
    exact, _, _ = integrated(robot_, q0, v0, 2.0)
    times = np.random.default_rng(0).uniform(0.0, 2.0, 400)
    errors = []
    for n in (41, 81):
        t = np.linspace(0.0, 2.0, n)
        q, v = Trajectory(robot_, np.array(GRAVITY), t, *exact.at(t)).at(times)
        errors.append([np.abs(mine - its).max() for mine, its in zip((q, v), exact.at(times), strict=True)])
    orders = np.log2(np.array(errors[0]) / errors[1])
    assert orders[0] > 3.6 and orders[1] > 2.6, (orders, errors)


def test_both_sides_of_an_impact() -> None:
    robot_ = load(model_path("pendulum"))
    before, _, first = integrated(robot_, [1.0], [0.0], 0.3)
    after, scipys, second = integrated(robot_, before.q[-1], -0.5 * before.v[-1], 0.4)
    t = np.concatenate([before.t, after.t + 0.3])
    q, v = np.concatenate([before.q, after.q]), np.concatenate([before.v, after.v])
    trajectory = Trajectory(robot_, np.array(GRAVITY), t, q, v, dense=np.concatenate([first, np.zeros((1, 7, 2)), second]))
    np.testing.assert_array_equal(trajectory.at(0.3)[1], -0.5 * before.v[-1])
    np.testing.assert_array_equal(trajectory.at(0.3, side="left")[1], before.v[-1])
    np.testing.assert_allclose(trajectory.at(np.nextafter(0.3, 1.0))[1], -0.5 * before.v[-1], atol=1e-14)
    np.testing.assert_allclose(trajectory.at(np.nextafter(0.3, 0.0), side="right")[1], before.v[-1], atol=1e-14)
    np.testing.assert_allclose(np.hstack(trajectory.at(0.3 + 0.123)), scipys(0.123), atol=1e-14)
    for side in ("left", "right"):  # away from the impact rows have one value
        np.testing.assert_array_equal(trajectory.at(before.t[1:-1], side)[0], before.q[1:-1])
    cut = dataclasses.replace(trajectory, t=t[: before.t.size + 1], q=q[: before.t.size + 1], v=v[: before.t.size + 1], dense=None)
    cut = dataclasses.replace(cut, contact_forces=np.zeros((len(cut), 0)))
    np.testing.assert_array_equal(cut.at(0.3)[1], -0.5 * before.v[-1])  # an impact that ends the motion
    np.testing.assert_array_equal(cut.at(0.3, "left")[1], before.v[-1])


def test_times_of_any_shape() -> None:
    trajectory, _, _ = integrated(quiet(BOX, base="floating"), [0, 0, 1, 0, 0, 0, 1], np.ones(6), 0.5)
    grid = np.linspace(0.0, 0.5, 6).reshape(2, 3)
    q, v = trajectory.at(grid)
    assert (q.shape, v.shape) == ((2, 3, 7), (2, 3, 6))
    np.testing.assert_array_equal(trajectory.at(grid[1, 1])[0], q[1, 1])
    assert trajectory.at([])[0].shape == (0, 7)
    np.testing.assert_array_equal(trajectory.at(trajectory.t)[1], trajectory.v)
    q[0] = 0.0  # a result is the caller's


@pytest.mark.parametrize("time", [-1e-9, 1.0000001, np.nan, np.inf])
def test_a_time_outside_names_the_range(time: float) -> None:
    with pytest.raises(ArgumentError, match=r"expected 0 to 1 s"):
        made_up(load(model_path("pendulum"))).at([0.5, time])


def test_a_wrong_side_is_named() -> None:
    with pytest.raises(ArgumentError, match=r"side='middle'"):
        made_up(load(model_path("pendulum"))).at(0.5, "middle")


def test_one_row_is_a_trajectory() -> None:
    trajectory = Trajectory(load(model_path("pendulum")), np.array(GRAVITY), np.array([2.0]), np.array([[1.0]]), np.array([[3.0]]))
    assert trajectory.at(2.0)[0] == 1.0 and len(trajectory) == 1
    assert trajectory.contact_forces.shape == (1, 0)


# Energies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "base"), [(BOX, "floating"), (model_path("gripper").read_text(), "planar")])
def test_energies_are_pinocchios(text: str, base: str) -> None:
    pin = pytest.importorskip("pinocchio")
    robot_ = quiet(text, base=base, mimic=False)
    trajectory = made_up(robot_)
    model = pinocchio_model(text, base)
    model.gravity.linear = trajectory.gravity
    data = model.createData()
    for row, (q, v) in enumerate(zip(robot_.q_to_pinocchio(trajectory.q), trajectory.v, strict=True)):
        kinetic, potential = pin.computeKineticEnergy(model, data, q, v), pin.computePotentialEnergy(model, data, q)
        found = [energy[row] for energy in trajectory.energies]
        np.testing.assert_allclose(found, [kinetic, potential, kinetic + potential], rtol=1e-12, atol=ROUND_OFF)


def test_a_free_motion_keeps_its_energy() -> None:
    trajectory, _, _ = integrated(load(model_path("gripper")), [0.1, 0.2, 0.01], [1.0, 0.0, -0.1], 1.0)
    energies = trajectory.energies
    assert isinstance(energies, Energies) and trajectory.energies is energies
    np.testing.assert_allclose(energies.total, energies.total[0], rtol=1e-9)  # the integrator's tolerance over its steps
    assert np.ptp(energies.kinetic) > 0.1


# Records -----------------------------------------------------------------------------------------------


def test_everything_is_read_only() -> None:
    trajectory = made_up(quiet(BOX, base="floating"))
    records: list[Any] = [trajectory, *trajectory.impacts, trajectory.robot]
    arrays = [value for record in records for value in vars(record).values() if isinstance(value, np.ndarray)]
    assert len(arrays) > 40
    for array in [*arrays, *trajectory.energies]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        trajectory.status = "complete"  # type: ignore[misc]


def test_an_impact_reports_its_contacts() -> None:
    impact = impact_of(load(model_path("pendulum")), 3)
    assert (impact.k, impact.energy_loss) == (3, 0.5)
    assert repr(impact) == "<Impact at 0.5 s: point0 on floor, point1, point2 on lower, energy loss 0.5 J>"


def test_short_repr() -> None:
    assert repr(made_up(load(model_path("pendulum")))) == (
        "<Trajectory of 'pendulum': 0 to 1 s in 12 rows, 3 impacts, 2 contact phases, failed: at 1 s>"
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"q": np.zeros((12, 2))}, r"trajectory\.q has shape \(12, 2\), expected \(12, 1\)"),
        ({"v": np.zeros(12)}, r"trajectory\.v has shape"),
        ({"dense": np.zeros((12, 7, 2))}, r"trajectory\.dense has shape \(12, 7, 2\), expected \(11, 7, 2\)"),
        ({"contact_forces": np.zeros((12, 1))}, r"contact_forces has shape \(12, 1\), expected \(12, 2\)"),
        ({"gravity": np.zeros(2)}, r"gravity has shape"),
        ({"t": np.linspace(1.0, 0.0, 12)}, "none before the last"),
        ({"t": np.full(12, np.nan)}, "all finite"),
        ({"impacts": (impact_of(load(model_path("planar3r"))),)}, "expected nq=1, nv=1"),
    ],
)
def test_wrong_shapes_are_named(changes: dict[str, Any], says: str) -> None:
    trajectory = made_up(load(model_path("pendulum")))
    with pytest.raises(ArgumentError, match=says):
        dataclasses.replace(trajectory, **changes)


def test_wrong_impacts_are_named() -> None:
    robot_ = load(model_path("pendulum"))
    with pytest.raises(ArgumentError, match=r"1 walls for 2 points"):
        impact_of(robot_, 2, walls=("floor",))
    with pytest.raises(ArgumentError, match=r"impact\.normals has shape \(3,\), expected \(2, 3\)"):
        impact_of(robot_, 2, normals=np.zeros(3))


# Tables ------------------------------------------------------------------------------------------------


def test_dataframe_has_a_named_column_for_everything() -> None:
    text = random_tree([("p", "planar", "a", "b"), ("r", "revolute", "b", "c"), ("s", "revolute", "c", "d", '<mimic joint="r"/>')])
    trajectory = made_up(quiet(text, base="floating"))
    table = trajectory.to_dataframe()
    root = [f"q.root_joint.{suffix}" for suffix in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    assert list(table.columns[:13]) == ["t", *root, "q.p.x", "q.p.y", "q.p.angle", "q.r", "v.root_joint.vx"]
    assert list(table.columns[-5:]) == ["energy.kinetic", "energy.potential", "energy.total", "force.foot|floor", "force.tip|Wand ä"]
    assert table.shape == (12, 1 + 11 + 10 + 3 + 2)
    np.testing.assert_array_equal(table["q.r"], trajectory.q[:, coordinate_names(trajectory.robot).index("r")])
    np.testing.assert_array_equal(table["energy.total"], trajectory.energies.total)


# Files -------------------------------------------------------------------------------------------------


def assert_same(one: Any, other: Any) -> None:
    """Every field of two records, bit by bit."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, Robot):
            assert_same_robot(mine, its)
        elif isinstance(mine, np.ndarray):
            assert mine.dtype == its.dtype and mine.shape == its.shape and mine.tobytes() == its.tobytes(), field.name
        elif isinstance(mine, tuple) and mine and dataclasses.is_dataclass(mine[0]):
            assert len(mine) == len(its)
            for a, b in zip(mine, its, strict=True):
                assert_same(a, b)
        else:
            assert type(mine) is type(its) and repr(mine) == repr(its), field.name


def assert_same_robot(one: Robot, other: Robot) -> None:
    """All but shapes and line numbers, which a loaded object does not have."""
    assert one.fingerprint == other.fingerprint
    for name in ("name", "file", "base", "joints", "parent", "base_inertia", "root_link", "findings", "nq", "nv", "_frames"):
        assert getattr(one, name) == getattr(other, name), name
    assert (one.package_dirs, one.source, one.mimic) == (other.package_dirs, other.source, other.mimic)
    assert list(one._frames) == list(other._frames)
    assert [(link_.name, link_.inertial) for link_ in one.links] == [(link_.name, link_.inertial) for link_ in other.links]
    for name in ("placement", "mass", "centre_of_mass", "inertia"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert not getattr(other, name).flags.writeable


def from_urchin(tmp_path: Path, **options: Any) -> Robot:
    path = tmp_path / "robot.urdf"
    path.write_text(TREE)
    return quiet(urchin.URDF.load(str(path)), **options)


ROBOTS: dict[str, Callable[[Path], Robot]] = {
    "fixed": lambda _: load(model_path("pendulum")),
    "text": lambda _: quiet(TREE),
    "bytes in another encoding": lambda _: quiet(TREE.replace('"1.0"?', '"1.0" encoding="UTF-16"?').encode("utf-16")),
    "floating": lambda _: quiet(BOX, base="floating"),
    "planar with packages": lambda _: quiet(TREE, base="planar", package_dirs=["here", "there"]),
    "mimic freed": lambda _: quiet(TREE, mimic=False),
    "gripper": lambda _: load(model_path("gripper")),
    "other inertia": lambda _: load(model_path("gripper")).with_inertia("palm", mass=0.3, centre_of_mass=(0.01, 0.02, 0.03)),
    "other base inertia": lambda _: load(model_path("gripper")).with_inertia("pedestal", mass=7.0),
    "urchin": from_urchin,
    "urchin, floating, mimic freed": lambda folder: from_urchin(folder, base="floating", mimic=False),
    "urchin, other inertia": lambda folder: from_urchin(folder).with_inertia("mark", mass=0.3),
    "other damping": lambda _: _damped(load(model_path("gripper"))),
}


def _damped(robot_: Robot) -> Robot:
    return dataclasses.replace(robot_, joints=tuple(dataclasses.replace(one, damping=3.0) for one in robot_.joints))


@pytest.mark.parametrize("which", ROBOTS)
def test_a_file_gives_back_every_bit(which: str, tmp_path: Path) -> None:
    trajectory = made_up(ROBOTS[which](tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored = Trajectory.load(trajectory.save(tmp_path / "run.npz"))
    assert_same(trajectory, restored)
    robot_, again = trajectory.robot, restored.robot
    q, v = trajectory.q, trajectory.v
    np.testing.assert_array_equal(bias(robot_, q, v), bias(again, q, v))
    # a change after loading starts from the links as they were
    name = robot_.joints[-1].child
    changed = [one.with_inertia(name, mass=2.0) for one in (robot_, again)]
    assert changed[0].fingerprint == changed[1].fingerprint


def test_a_bare_trajectory_is_kept_too(tmp_path: Path) -> None:
    trajectory = Trajectory(load(model_path("pendulum")), np.array(GRAVITY), np.array([0.0]), np.zeros((1, 1)), np.zeros((1, 1)))
    assert_same(trajectory, Trajectory.load(trajectory.save(tmp_path / "run")))


def test_a_robot_that_does_not_move_is_kept_too(tmp_path: Path) -> None:
    trajectory = made_up(quiet(BOX))
    assert_same(trajectory, Trajectory.load(trajectory.save(tmp_path / "run")))


def test_the_suffix_is_added_and_the_path_returned(tmp_path: Path) -> None:
    trajectory = made_up(load(model_path("pendulum")))
    assert trajectory.save(str(tmp_path / "run.1")) == tmp_path / "run.1.npz"
    assert trajectory.save(tmp_path / "run.1.npz") == tmp_path / "run.1.npz"
    assert os.listdir(tmp_path) == ["run.1.npz"]
    assert_same(trajectory, Trajectory.load(tmp_path / "run.1"))


def test_the_robot_is_restored_without_its_urdf(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(TREE)
    trajectory = made_up(quiet(path))
    trajectory.save(tmp_path / "run")
    path.unlink()
    assert_same(trajectory, Trajectory.load(tmp_path / "run"))


def test_nothing_in_the_file_needs_pickle(tmp_path: Path) -> None:
    path = made_up(load(model_path("gripper"))).save(tmp_path / "run")
    with np.load(path, allow_pickle=False) as stored:
        assert all(stored[name].dtype in (np.float64, np.uint8) for name in stored)
        header = json.loads(stored["header"].tobytes())
    assert (header["format"], header["version"]) == ("urdf_gibbs trajectory", 2)


def test_an_interrupted_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trajectory = made_up(load(model_path("pendulum")))
    path = trajectory.save(tmp_path / "run")
    old = path.read_bytes()

    def interrupted(file: Any, **_: Any) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trajectory.save(path)
    assert path.read_bytes() == old and os.listdir(tmp_path) == ["run.npz"]


def test_a_robot_that_cannot_be_restored_is_refused_when_saving(tmp_path: Path) -> None:
    robot_ = load(model_path("pendulum"))
    renamed = dataclasses.replace(robot_, joints=(dataclasses.replace(robot_.joints[0], name="other"),))
    with pytest.raises(ArgumentError, match="changed after load"):
        made_up(renamed).save(tmp_path / "run")
    with pytest.raises(ArgumentError, match="no source text"):
        made_up(dataclasses.replace(robot_, _source="")).save(tmp_path / "run")
    assert os.listdir(tmp_path) == []


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any], **arrays: Any) -> Path:
    """The file with a changed header and other arrays."""
    with np.load(path) as stored:
        content = {name: stored[name] for name in stored}
    header = json.loads(content["header"].tobytes())
    change(header)
    content |= arrays
    content["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **{name: value for name, value in content.items() if value is not None})
    return path


@pytest.mark.parametrize(
    ("change", "arrays", "says"),
    [
        (lambda header: header.update(version=3), {}, "format 3 is newer than 2"),
        (lambda header: header.update(format="something"), {}, "holds no trajectory"),
        (lambda header: header.pop("status"), {}, "status"),
        (lambda header: None, {"q": None}, "q is not a file in the archive"),
        (lambda header: None, {"q": np.zeros((3, 3))}, r"q has shape \(3, 3\), expected \(12, 1\)"),
        (lambda header: None, {"impacts.normals": np.zeros((1, 3))}, r"normals has shape"),
        (lambda header: None, {"robot.mass": np.array([5.0])}, "differs from the one saved"),
        (lambda header: header["robot"].update(fingerprint="0"), {}, "differs from the one saved"),
        (lambda header: None, {"robot.source": np.frombuffer(b"<robot/>", dtype=np.uint8)}, "source cannot be read"),
    ],
)
def test_a_wrong_content_names_the_file(change: Callable[[dict[str, Any]], Any], arrays: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = rewritten(made_up(load(model_path("pendulum"))).save(tmp_path / "run"), change, **arrays)
    with pytest.raises(ArgumentError, match=says) as problem:
        Trajectory.load(path)
    assert str(path) in str(problem.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    whole = made_up(load(model_path("pendulum"))).save(path).read_bytes()

    def save_array() -> None:
        with open(path, "wb") as file:
            np.save(file, np.zeros(3))

    def save_zip() -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")

    for write in (
        lambda: path.write_bytes(b""),
        lambda: path.write_bytes(b"<robot/>"),
        lambda: path.write_bytes(pickle.dumps({"t": 1})),
        lambda: path.write_bytes(whole[: len(whole) // 2]),
        lambda: np.savez(path, t=np.zeros(3)),
        lambda: np.savez(path, header=np.array([{"format": "urdf_gibbs trajectory"}], dtype=object)),
        save_array,
        save_zip,
    ):
        write()
        with pytest.raises(ArgumentError, match=r"run\.npz: .*expected .*Trajectory\.save"):
            Trajectory.load(path)
    with pytest.raises(FileNotFoundError):
        Trajectory.load(tmp_path / "missing")


def test_no_flipped_bit_goes_unnoticed(tmp_path: Path) -> None:
    trajectory = made_up(load(model_path("pendulum")))
    path = trajectory.save(tmp_path / "run")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    messages = []
    places = np.concatenate([rng.integers(0, len(whole), 150), len(whole) - rng.integers(1, 1500, 100)])  # the end holds the directory
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            restored = Trajectory.load(path)
        except ArgumentError as problem:
            messages.append(str(problem))
        else:
            assert_same(trajectory, restored)  # a date or an attribute of the archive
    assert len(messages) > 150 and all(str(path) in message for message in messages)


# Robots ------------------------------------------------------------------------------------------------


def test_a_robot_keeps_its_source(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(TREE)
    assert quiet(path).source == TREE.encode()
    assert quiet(TREE, mimic=False).source == TREE
    assert (quiet(TREE).mimic, quiet(TREE, mimic=False).mimic) == (True, False)
    assert TREE[:30] not in repr(quiet(TREE))


def test_robots_are_pickled_and_copied() -> None:
    robot_ = quiet(TREE)
    for again in (pickle.loads(pickle.dumps(robot_)), copy.deepcopy(robot_), copy.copy(robot_)):
        assert again.fingerprint == robot_.fingerprint and again.source == robot_.source


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_written_text_is_the_same_robot(base: str, tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    text = urdf_text(read_text(TREE, "tree.urdf"))
    mine, its = quiet(text, base=base), quiet(TREE, base=base)
    assert (mine.joint_names, mine.link_names, mine.parent) == (its.joint_names, its.link_names, its.parent)
    for one, other in zip(mine.joints, its.joints, strict=True):
        np.testing.assert_allclose(one.axis, other.axis, atol=ROUND_OFF)
        assert dataclasses.replace(one, axis=other.axis) == other
    for a, b in zip(mine.links, its.links, strict=True):
        for one, other in zip(a.visuals + a.collisions, b.visuals + b.collisions, strict=True):
            assert (one.geometry, one.name, one.material, one.rgba) == (other.geometry, other.name, other.material, other.rgba)
            np.testing.assert_allclose(np.hstack(one.pose), np.hstack(other.pose), atol=ROUND_OFF)
    q = its.random(0)
    np.testing.assert_allclose(mass_matrix(mine, q), mass_matrix(its, q), atol=ROUND_OFF)
    assert pin.buildModelFromXML(text).nv == quiet(TREE, mimic=False).nv  # another parser reads it


def test_names_are_escaped_in_written_text() -> None:
    strange = "a \"<&>' b"
    text = robot(link("a &quot;&lt;&amp;&gt;' b"), link("c"), joint("j&amp;", "revolute", "a &quot;&lt;&amp;&gt;' b", "c"))
    again = quiet(urdf_text(read_text(text, "text")))
    assert again.link_names == (strange, "c") and again.joint_names == ("j&",)


@pytest.mark.parametrize("pitch", [0.0, 1.0, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1e-9 - np.pi / 2, 2.5])
def test_roll_pitch_yaw_give_the_rotation_back(pitch: float) -> None:
    rng = np.random.default_rng(0)
    for roll, yaw in [*rng.uniform(-np.pi, np.pi, (20, 2)), (0.0, 0.0), (np.pi, np.pi / 2)]:
        R = rotation_from_rpy(roll, pitch, yaw)
        np.testing.assert_allclose(rotation_from_rpy(*rpy_from_rotation(R)), R, atol=2e-15)  # a few units of the last place


def test_import_is_light() -> None:
    code = "import sys, urdf_gibbs.simulation.trajectory; print([n for n in ('numba', 'scipy', 'pandas', 'pinocchio') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


# Files of somebody else ------------------------------------------------------------------------------------


def refusal(path: Path) -> str:
    with pytest.raises(ArgumentError) as problem:
        Trajectory.load(path)
    said = str(problem.value)
    assert said.startswith(f"{path}: ") and "expected" in said
    return said


def with_entry(path: Path, name: str, data: bytes, **options: Any) -> Path:
    """The file with the bytes of one entry replaced, its checksum right."""
    with zipfile.ZipFile(path) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w", **options) as archive:
        for entry, content in (entries | {f"{name}.npy": data}).items():
            archive.writestr(entry, content)
    return path


def claimed(descr: str, shape: str, data: bytes = b"") -> bytes:
    """A .npy whose header claims a type and a shape."""
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return made_up(load(model_path("pendulum"))).save(tmp_path / "run.npz")


@pytest.mark.parametrize(
    ("descr", "shape", "data", "says"),
    [
        ("'<f8'", "(1000000000000,)", b"", r"t is of shape \(1000000000000,\), 8000000000000 bytes, in an entry of 0"),
        ("'<f8'", "(4611686018427387904, 4)", b"", "bytes, in an entry of 0"),
        ("'<f8'", "(-12,)", bytes(96), "lengths of zero or more"),
        ("'<f8'", "(12,)", bytes(95), "as many bytes as the shape needs"),
        ("'<f4'", "(12,)", bytes(48), "t is of type float32, expected float64"),
        ("'<i8'", "(12,)", bytes(96), "int64"),
        ("'|O'", "(12,)", bytes(96), "object"),
        ("'<c16'", "(12,)", bytes(192), "complex128"),
        ("'<U4'", "(12,)", bytes(192), "<U4"),
        ("[('a', '<f8')]", "(12,)", bytes(96), "t is of type"),
        ("'<f8'", "(12, 1)", bytes(96), r"t has shape \(12, 1\), expected \(any,\)"),
        ("'<f8'", "()", bytes(8), r"t has shape \(\)"),
        ("'<f8'", "(11,)", bytes(88), r"q has shape \(12, 1\), expected \(11, 1\)"),
        ("'<f8'", "(0,)", b"", "q has shape"),
        ("'nonsense'", "(12,)", bytes(96), "t is not an array"),
        ("'<f8'", "'x'", bytes(96), "t is not an array"),
    ],
)
def test_an_impossible_shape_or_type_is_refused_before_memory_is_allocated(
    kept: Path, descr: str, shape: str, data: bytes, says: str
) -> None:
    """The first ones asked for terabytes and ended in a MemoryError."""
    assert re.search(says, refusal(with_entry(kept, "t", claimed(descr, shape, data))))


def test_times_that_are_none_are_refused(kept: Path) -> None:
    t = np.linspace(0.0, 1.0, 12)
    t[6] = t[5]
    whole = kept.read_bytes()
    cases: list[tuple[str, Any, str]] = [
        ("t", [*t[:3], np.nan, *t[4:]], r"t\[3\] is nan, expected a number that is finite"),
        ("t", [*t[:11], np.inf], r"t\[11\] is inf"),
        ("t", [*t[:4], 0.9, *t[5:]], r"t\[5\] is 0\.45.* s after 0\.9 s, expected times that do not go back"),
        ("impacts.time", [np.nan, 0.9, 0.95], r"impacts\.time\[0\] is nan"),
        ("impacts.time", [0.5, 0.4, 0.95], r"impacts\.time\[1\] is 0\.4 s after 0\.5 s"),
        ("impacts.time", [0.5, 0.9, 7.0], r"impacts\.time\[2\] is 7\.0 s, expected a time of the run, 0\.0 to 1\.0 s"),
        ("impacts.time", [0.5, 0.9], r"impacts\.time has shape \(2,\), expected \(3,\)"),
        ("impacts.rounds", [1.0, np.nan, 1.0], r"impacts\.rounds\[1\] is nan"),
        ("impacts.impulses", [1.0], r"impacts\.impulses has shape \(1,\), expected \(6,\)"),
        ("impacts.q", [[0.0]], r"impacts\.q has shape \(1, 1\), expected \(3, 1\)"),
        ("phases.times", [[np.nan, 1.0, 1.0], [0.3, 1.0, 1.0]], r"phases\.times\[0\] is nan"),
        ("gravity", [0.0, 0.0, np.nan], r"gravity\[2\] is nan"),
        ("gravity", [0.0, 0.0], r"gravity has shape \(2,\), expected \(3,\)"),
        ("dense", np.zeros((12, 7, 2)), r"dense has shape \(12, 7, 2\), expected \(11, 7, 2\)"),
        ("robot.mass", [np.nan], r"robot\.mass\[0\] is nan"),
        ("robot.placement", np.zeros((9, 4, 4)), r"robot\.placement has shape \(9, 4, 4\), expected \(1, 4, 4\)"),
    ]
    for name, values, says in cases:
        kept.write_bytes(whole)
        assert re.search(says, refusal(rewritten(kept, lambda header: None, **{name: np.array(values, dtype=float)}))), name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda header: header.update(status=7), "header status is 7, expected a text"),
        (lambda header: header.update(status="fine"), "header status is 'fine', expected one of complete, interrupted, failed"),
        (lambda header: header.update(settings=[1]), r"header settings is \[1\], expected a table"),
        (lambda header: header.update(statistics=None), "header statistics is None, expected a table"),
        (lambda header: header.update(version="1"), "header version is '1', expected a whole number"),
        (lambda header: header.update(version=True), "header version is True"),
        (lambda header: header.update(contact_names="abc"), "header contact_names is 'abc', expected a list"),
        (lambda header: header.update(contact_names=["a", 3]), r"header contact_names\[1\] is 3, expected a text"),
        (lambda header: header.update(impacts=7), "header impacts is 7, expected a list"),
        (lambda header: header.update(impacts=[["a", "b"]]), r"header impacts\[0\] is .*expected points, walls and law"),
        (lambda header: header.update(impacts=[["ab", "cd", "newton"]]), r"impacts\[0\] points is 'ab', expected a list of names"),
        (lambda header: header.update(impacts=[[["a"], [], "newton"]]), r"impacts\[0\] is 1 points and 0 walls"),
        (lambda header: header.update(phases=[["a"]]), r"header phases\[0\] is"),
        (lambda header: header.update(robot=[]), r"header robot is \[\], expected a table"),
        (lambda header: header["robot"].update(package_dirs=[3]), r"header robot package_dirs\[0\] is 3"),
        (lambda header: header["robot"].update(mimic="yes"), "header robot mimic is 'yes', expected true or false"),
        (lambda header: header["robot"].update(joints=[["a"]]), r"header robot joints\[0\] is"),
        (lambda header: header["robot"].update(joints=[]), r"robot\.joints has shape \(1, 11\), expected \(0, any\)"),
        (lambda header: header["robot"].update(base="flying"), "header robot base is 'flying', expected one of fixed"),
        (lambda header: header["settings"].update(points=7), "settings points is 7, expected a list"),
        (lambda header: header["settings"].update(points=[{"name": "a", "body": 1}]), r"settings points\[0\] body is 1, expected a body"),
        (
            lambda header: header["settings"].update(points=[{"name": "a", "body": 0, "position": [0, 0, None], "radius": 0.0}]),
            r"settings points\[0\] position is \[0, 0, None\], expected three numbers",
        ),
        (lambda header: header["robot"].update(file=None), "header robot file is None, expected a text"),
    ],
)
def test_a_wrong_type_in_the_header_is_named(kept: Path, change: Callable[[dict[str, Any]], Any], says: str) -> None:
    assert re.search(says, refusal(rewritten(kept, change)))


def test_archives_that_grow_are_refused(kept: Path) -> None:
    whole = kept.read_bytes()
    bomb = claimed("'<f8'", "(4000000,)", bytes(32_000_000))
    said = refusal(with_entry(kept, "t", bomb, compression=zipfile.ZIP_DEFLATED))
    assert "compressed" in said and "without compression" in said and len(kept.read_bytes()) < 200_000
    kept.write_bytes(whole)
    with zipfile.ZipFile(kept, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("t.npy", b"again")
    assert "t is there twice" in refusal(kept)
    # The directory says more than the file has.
    kept.write_bytes(whole)
    with zipfile.ZipFile(kept) as archive:
        info = archive.getinfo("q.npy")
    found = re.search(rb"PK\x01\x02.{42}q\.npy", whole, re.DOTALL)  # of the directory: sizes at 20 and 24
    assert found is not None
    entry = found.start()
    for size in (info.file_size * 10**6, 2**31):
        damaged = bytearray(whole)
        damaged[entry + 20 : entry + 28] = 2 * int(size % 2**32).to_bytes(4, "little")
        kept.write_bytes(damaged)
        assert "claim" in refusal(kept)
    for end in (len(whole) - 1, len(whole) // 3, 100, 3):
        kept.write_bytes(whole[:end])
        refusal(kept)
    kept.write_bytes(whole)
    nested = b'{"format": "urdf_gibbs trajectory", "settings": ' + 200_000 * b"[" + b"}"
    assert "header is no JSON" in refusal(with_entry(kept, "header", claimed("'|u1'", f"({len(nested)},)", nested)))
