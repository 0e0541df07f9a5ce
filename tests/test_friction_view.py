"""Friction in tables, plots and pages: tangential forces and impulses, and where a contact sticks and slips."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Opened
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.view.contact_forces import MODES, lasting_forces
from urdf_gibbs.view.recording import recording

G = 9.81


@cache
def run(name: str) -> ug.Trajectory:
    return ug.simulate(**ug.read_scenario(name).arguments())


def unpacked(array: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(array["deflated"]))).reshape(array["shape"])


def test_the_table_of_rows_has_the_tangential_forces_of_rough_contacts_only() -> None:
    motion = run("backspin")
    table = motion.to_dataframe()
    assert [column for column in table.columns if column.startswith("friction")] == [f"friction.ball|floor.{axis}" for axis in "xyz"]
    # The contact slides along +x: friction is mu m g against it
    slips = (motion.t > 0.0) & (motion.t < 0.8)
    assert table["friction.ball|floor.x"][slips].to_numpy() == pytest.approx(np.full(slips.sum(), -0.25 * G), abs=1e-9)
    assert not any(column.startswith("friction") for column in run("sliding_block").to_dataframe().columns)


def test_forces_at_the_frames_act_where_the_ball_touches_and_tell_the_mode() -> None:
    motion = run("backspin")
    times = np.array([0.2, 0.6, 1.0, 1.4])
    (force,) = lasting_forces(motion, times, motion.at(times)[0], {"floor": ug.walls.Plane(name="floor")})
    assert force["name"] == "ball|floor"
    assert [MODES[int(mode)] for mode in unpacked(force["mode"])] == ["slip", "slip", "stick", "stick"]
    expected = np.array([[-0.25 * G, 0.0, G]] * 2 + [[0.0, 0.0, G]] * 2)
    assert unpacked(force["force"]) == pytest.approx(expected, abs=1e-6)
    places = np.column_stack([motion.at(times)[0][:, 0], np.zeros(4), np.zeros(4)])
    assert unpacked(force["place"]) == pytest.approx(places, abs=1e-9)


def test_forces_without_friction_are_held_and_those_of_unknown_walls_are_left_out() -> None:
    motion = run("sliding_block")
    times = np.array([0.05, 0.9])
    walls = {wall.name: wall for wall in ug.read_scenario("sliding_block").walls}
    forces = lasting_forces(motion, times, motion.at(times)[0], walls)
    assert len(forces) == 4
    assert {tuple(MODES[int(mode)] for mode in unpacked(force["mode"])) for force in forces} == {("free", "held")}
    total = sum(unpacked(force["force"]) for force in forces)
    angle = np.radians(20.0)
    assert total == pytest.approx(np.array([[0.0] * 3, 2.0 * G * np.cos(angle) * np.array([np.sin(angle), 0.0, np.cos(angle)])]), abs=1e-9)
    assert lasting_forces(motion, times, motion.at(times)[0], {}) == []


def test_an_impact_of_the_page_has_its_tangential_part() -> None:
    motion = run("painleve_rod")
    (impact,) = recording(motion, motion.t)["impacts"]
    assert impact["tangential"] == [pytest.approx([-0.4375, 0.0, 0.0], abs=1e-7)]
    assert all(impact["tangential"] is None for impact in recording(run("bouncing_ball"), np.linspace(0.0, 1.0, 3))["impacts"])


def test_the_plot_of_forces_has_tangential_parts_and_marks_what_slips() -> None:
    motion = run("backspin")
    figure = motion.plot(kinds="forces")
    (axes,) = figure.axes
    drawn = {line.get_gid(): line for line in axes.get_lines()}
    assert {"forces ball|floor", "friction ball|floor", "slip ball|floor"} <= set(drawn)
    np.testing.assert_allclose(drawn["friction ball|floor"].get_ydata(), np.linalg.norm(motion.friction_forces[:, 0], axis=1))
    slips = np.isfinite(drawn["slip ball|floor"].get_ydata())
    assert slips.any() and motion.t[slips].max() == pytest.approx(0.81549439, abs=1e-7)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ball on floor", "thin: tangential", "thick: slips"]
    smooth = run("sliding_block").plot(kinds="forces").axes[0]
    assert not any(str(line.get_gid()).startswith(("friction", "slip")) for line in smooth.get_lines())


def test_the_page_draws_forces_in_the_colour_of_their_mode(open_page: Callable[[Path], Opened], tmp_path: Path) -> None:
    motion = run("backspin")
    tab = open_page(motion.animate(theme="light").save(tmp_path / "backspin.html"))
    for time, mode, way in ((0.4, "slip", [-0.25, 0.0, 1.0]), (1.2, "stick", [0.0, 0.0, 1.0])):
        tab.run("(t) => { const s = document.getElementById('time'); s.value = t; s.dispatchEvent(new Event('input')); }", time)
        (arrow,) = tab.run(
            "() => urdfGibbs.motion.forceHolder.children.map((a) => ({at: a.position.toArray(), ...a.userData,"
            " way: new MeshCat.THREE.Vector3(0, 1, 0).applyQuaternion(a.quaternion).toArray()}))"
        )
        assert MODES[int(arrow["mode"])] == mode
        assert arrow["way"] == pytest.approx(np.array(way) / np.linalg.norm(way), abs=1e-6)
        assert arrow["force"] == pytest.approx(G * float(np.linalg.norm(way)), abs=1e-6)
        assert arrow["at"][2] == pytest.approx(0.0, abs=1e-9)
    assert tab.complaints == []


def test_the_page_draws_an_impulse_with_its_tangential_part(open_page: Callable[[Path], Opened], tmp_path: Path) -> None:
    tab = open_page(run("painleve_rod").animate(theme="light").save(tmp_path / "rod.html"))
    (way,) = tab.run(
        "() => urdfGibbs.motion.holder.children.map((a) => new MeshCat.THREE.Vector3(0, 1, 0).applyQuaternion(a.quaternion).toArray())"
    )
    impulse = np.array([-0.4375, 0.0, 0.32475953])
    assert way == pytest.approx(impulse / np.linalg.norm(impulse), abs=1e-6)


def test_the_command_takes_another_friction_and_shows_modes() -> None:
    found = CliRunner().invoke(app, ["simulate", "backspin", "--friction", "0.5"])
    assert found.exit_code == 0, found.output
    assert "friction 0.5" in found.output and "mode" in found.output
    assert f"{0.81549439 / 2.0:.6f}" in found.output  # it rolls in half the time
    refused = CliRunner().invoke(app, ["simulate", "backspin", "--friction", "-1"])
    assert refused.exit_code == 2 and "--friction" in refused.output
