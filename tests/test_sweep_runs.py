"""What the rows of a sweep say: against closed forms, single simulations and Simulators of their own; and runs that fail."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_cases import G, ball, rows

import urdf_gibbs as ug
from urdf_gibbs.sweeps.results import Sweep
from urdf_gibbs.sweeps.sweep import sweep


@pytest.fixture(scope="module")
def bounced(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    lost = {"lost": "energy_start - energy_end", "twice": "2 * lost + q.height - q.height"}
    return ball(tmp_path_factory.mktemp("ball") / "runs", quantities=lost)


def test_a_ball_comes_to_rest_and_loses_what_the_closed_forms_say(bounced: Sweep) -> None:
    """From the free height h it strikes at t = sqrt(2 h / g), with m (1 + e) g t, and rests at t (1 + e)/(1 - e)."""
    table = {name: np.array(values) for name, values in rows(bounced).items()}
    assert set(table["status"]) == {"complete"} and (table["seed"] == 7).all()
    assert list(table["run"]) == list(range(60)) and set(table["restitution"]) == {0.2, 0.4, 0.6}
    h, e = table["start.height"] - 0.05, table["restitution"]
    first = np.sqrt(2 * h / G)
    assert table["rest"] == pytest.approx(first * (1 + e) / (1 - e), abs=1e-8)
    assert table["rest"] == pytest.approx(table["held_from"], abs=0.0)
    assert table["largest_impulse"] == pytest.approx((1 + e) * G * first, rel=1e-9)  # of 1 kg
    assert table["energy_start"] == pytest.approx(G * table["start.height"], rel=1e-12)
    assert table["lost"] == pytest.approx(G * h, abs=1e-9) and table["twice"] == pytest.approx(2 * table["lost"], rel=1e-15)
    assert (table["time"] == 5.0).all() and table["deepest"].max() < 1e-9
    assert ((table["last_impact"] < table["rest"]) & (table["last_impact"] > table["rest"] - 1e-4)).all()


def test_a_row_is_that_of_a_simulation_of_its_own(bounced: Sweep) -> None:
    scenario = ug.read_scenario("bouncing_ball")
    row = bounced.row(17)
    arguments = {**scenario.arguments(), "q0": [row["start.height"]], "restitution": row["restitution"]}
    alone = ug.simulate(**arguments)
    assert (row["impacts"], row["last_impact"]) == (len(alone.impacts), alone.impacts[-1].time)
    assert row["largest_impulse"] == max(impact.impulses.max() for impact in alone.impacts)


def test_a_run_once_more_is_the_same_bit_by_bit(bounced: Sweep) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = ug.open_sweep(bounced.path).run(17)  # from the folder alone
    row = bounced.row(17)
    assert motion.q[0, 0] == row["start.height"] and motion.impacts[-1].time == row["last_impact"]
    with pytest.raises(ug.ArgumentError, match="run=60, expected a number from 0 to 59"):
        bounced.run(60)


def test_a_row_that_another_processor_would_have_made_is_noticed(bounced: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ug.open_sweep(bounced.path)
    true = found.row(3)
    monkeypatch.setattr(Sweep, "row", lambda self, run: {**true, "energy_end": true["energy_end"] * (1 + 1e-15)})
    with pytest.warns(UserWarning, match="run 3 differs from its row in energy_end"):
        found.run(3)


ARM: dict[str, Any] = {
    "start.q3": "uniform(-2.2, -2.0)",
    "links.link1.scale": "0.8, 1.2",
    "gravity[1]": "uniform(-9.9, -9.7)",
    "walls[0].radius": "2.4:2.6:3",
    "torques.q1": "normal(0, 1)",
    "duration": 0.8,
    "tolerances": None,
}


def test_compiled_runs_and_a_simulator_for_each_agree(tmp_path: Path) -> None:
    """Masses, gravity, walls and torques as inputs of machine code, and as constants of simulators made for the purpose: to rounding."""
    over = {key: values for key, values in ARM.items() if values is not None}
    compiled = sweep("branched12", over, runs=12, out=tmp_path / "a", workers=1, chunk=12)
    functions = {"end": lambda motion: float(motion.q[-1, 0])}
    general = sweep("branched12", over, runs=12, out=tmp_path / "b", workers=1, quantities=functions)
    assert compiled._worker.compiled is not None and general._worker.compiled is None
    ours, theirs = rows(compiled), rows(general)
    assert ours["impacts"] == theirs["impacts"] and max(ours["impacts"]) > 1
    assert [ours[key] for key in over] == [theirs[key] for key in over]
    for name in ("largest_impulse", "energy_start", "energy_end", "last_impact"):
        assert ours[name] == pytest.approx(theirs[name], rel=1e-7), name  # rounding, after impacts that make it grow
    assert general.run(5).q[-1, 0] == theirs["end"][5]


def test_controllers_and_laws_take_a_simulator_for_each_run(tmp_path: Path) -> None:
    found = sweep("bouncing_ball", {"law": "newton,poisson", "restitution": "0.5,0.8"}, out=tmp_path / "laws", workers=1, chunk=4)
    table = rows(found)
    assert found._worker.compiled is None and "law" in found._worker.reason
    assert table["law"] == ["newton", "newton", "poisson", "poisson"] and set(table["status"]) == {"complete"}
    first = math.sqrt(2 / G)
    assert table["rest"] == pytest.approx([first * (1 + e) / (1 - e) for e in (0.5, 0.8)] * 2, abs=1e-7)


def test_a_run_that_fails_is_a_row_with_its_reason(tmp_path: Path) -> None:
    found = sweep("bouncing_ball", {"start.height": "0.03, 0.5, -1, 1"}, out=tmp_path / "compiled")

    def whole(motion: ug.Trajectory) -> float:
        if motion.q[0, 0] > 0.7:
            raise RuntimeError("too high")
        return 1.0

    general = sweep("bouncing_ball", {"start.height": "0.03, 0.5, -1, 1"}, out=tmp_path / "general", quantities={"one": whole})
    assert rows(found)["status"] == ["refused", "complete", "refused", "complete"]
    assert rows(general)["status"] == ["refused", "complete", "refused", "failed"]
    for table in (rows(found), rows(general)):
        assert "0.02 m inside ground" in table["error"][0] and table["error"][1] is None and "1.05 m" in table["error"][2]
        assert table["time"][0] is None and table["impacts"][0] == 0 and table["rest"][1] is not None
    assert rows(general)["error"][3] == "a quantity: RuntimeError: too high" and rows(general)["one"] == [None, 1.0, None, None]
    assert found.summary().statuses == {"refused": 2, "complete": 2} and [run for run, _ in found.summary().errors] == [0, 2]
    with pytest.raises(ug.ArgumentError, match=r"run 0 could not begin: .*0.02 m inside"):
        found.run(0)


def test_motions_are_kept_where_they_are_wanted(tmp_path: Path) -> None:
    found = sweep("bouncing_ball", {"restitution": "0.3,0.5"}, out=tmp_path / "rows", trajectories=tmp_path / "motions")
    kept = [ug.Trajectory.load(tmp_path / "motions" / f"run-{run:07d}.npz") for run in range(2)]
    assert [len(motion.impacts) for motion in kept] == rows(found)["impacts"]
    assert np.array_equal(kept[1].q, found.run(1).q)
    assert sorted(path.suffix for path in (tmp_path / "rows").iterdir()) == [".parquet"] * 3


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"restitutoin": "0:1:3"}, 'restitutoin: unknown key.*did you mean "restitution"'),
        ({"restitution": "0:2:3"}, "restitution: 2.0, expected a number from 0 to 1"),
        ({"restitution": "uniform(0.5, 1.05)"}, "restitution: 1.0.*expected a number from 0 to 1"),
        ({"start.heigth": "uniform(0,1)"}, 'start.heigth: unknown joint.*did you mean "height"'),
        ({"law": "newton,poison"}, 'law: "poison".*did you mean "poisson"'),
        ({"gravity": [[0, 0, -1], [0, 0]]}, "gravity: .*3 numbers"),
        ({"gravity": "-9.81,-1.62"}, r"gravity: -9.81, expected a list of 3 numbers; one of its entries is gravity\[0\]"),
        ({"start": 1.0, "start.height": "1,2"}, "start and start.height stand for the same value"),
        ({}, "over={}"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(over: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ug.ArgumentError, match=said):
        sweep("bouncing_ball", over, runs=30 if "(" in str(over) else None, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("quantities", "said"),
    [
        ({"a": "energy_strat"}, 'energy_strat is not known.*did you mean "energy_start"'),
        ({"a": "q.heigth"}, 'did you mean "q.height"'),
        ({"rest": "time"}, "'rest' is the name of a column"),
        ({"a": "1 +"}, "not a formula"),
        ({"a": 3}, "expected a formula or a function"),
    ],
)
def test_quantities_that_cannot_be_used_are_named(quantities: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ug.ArgumentError, match=said):
        sweep("bouncing_ball", {"restitution": 0.5}, out=tmp_path / "runs", quantities=quantities)


def test_a_scenario_is_given_by_its_file() -> None:
    with pytest.raises(ug.ArgumentError, match="expected the path of its file"):
        sweep(ug.read_scenario("bouncing_ball"), {"restitution": 0.5})  # type: ignore[arg-type]


FALLING = """<robot name="r"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
<joint name="z" type="prismatic"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""
SCENE = """duration = 1.0
restitution = 0.5
robot = {file = "description/urdf/r.urdf", package_dirs = ["packages"]}
start = {z = 1.0}
contacts = {points = "collision"}
[[walls]]
kind = "heightfield"
file = "ground.npz"
"""
CORNERS = ((0.0, 0.0, -0.25), (0.3, 0.0, 0.4), (-0.2, 0.2, 0.4), (-0.2, -0.2, 0.4))


@pytest.mark.parametrize("mesh", ["../meshes/tip.stl", "package://tips/tip.stl"])
def test_meshes_and_ground_travel_with_the_text(mesh: str, tmp_path: Path) -> None:
    """The scenario's folder is gone when a run is made once more. From z = 1 the tip at -0.25 falls 0.65 m to ground at 0.1."""
    home = tmp_path / "scene"
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)]
    vertices = [" ".join(f"vertex {x} {y} {z}" for x, y, z in (CORNERS[k] for k in face)) for face in faces]
    stl = "solid tip\n" + "".join(f"facet normal 0 0 0 outer loop {one} endloop endfacet\n" for one in vertices) + "endsolid tip\n"
    files = {"description/urdf/r.urdf": FALLING.format(mesh=mesh), "scene.toml": SCENE}
    place = "packages/tips" if mesh.startswith("package") else "description/meshes"
    files |= {f"{place}/tip.stl": stl, "packages/tips/package.xml": "<package/>", "description/package.xml": "<package/>"}
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    ug.walls.save_terrain(ug.walls.HeightField(np.full((4, 4), 0.1), (-2, 2), (-2, 2)), home / "ground.npz")
    found = sweep(home / "scene.toml", {"gravity[2]": "-9.81, -1.62"}, out=tmp_path / "runs", quantities={"low": "q.z"})
    home.rename(tmp_path / "elsewhere")
    again = ug.open_sweep(tmp_path / "runs")
    assert again.run(0).impacts[0].time == pytest.approx(math.sqrt(2 * 0.65 / 9.81), abs=1e-9)
    assert again.run(1).impacts[0].time == pytest.approx(math.sqrt(2 * 0.65 / 1.62), abs=1e-9)
    assert {name.rpartition("/")[2] for name in again.metadata["files"]} >= {"r.urdf", "tip.stl", "0-ground.npz"}
    (tmp_path / "elsewhere").rename(home)
    (home / place / "tip.stl").write_text(stl.replace("-0.25", "-0.35"))
    with pytest.raises(ug.ArgumentError, match=r"it differs in: the file .*tip.stl"):
        sweep(home / "scene.toml", {"gravity[2]": "-9.81, -1.62"}, out=found.path, quantities={"low": "q.z"})
