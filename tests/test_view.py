"""Pages and the view command without a browser: what is in them, what is refused, what is served, what a notebook shows."""

from __future__ import annotations

import base64
import gc
import json
import math
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from scene_data import OBJ, URDF
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.robot.spatial import Inertia
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.view.camera import camera
from urdf_gibbs.view.inertia import equivalent
from urdf_gibbs.view.show import view as page_of

runner = CliRunner()


def flat(matrix: Any) -> Any:
    return tuple(np.ravel(matrix).tolist())


# inertias -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_equivalent_bodies_have_the_mass_and_moments_of_the_link(seed: int) -> None:
    """Moments of a uniform ellipsoid and of a uniform box, turned: textbook formulas."""
    rng = np.random.default_rng(seed)
    mass, a = rng.uniform(0.1, 5.0), rng.uniform(0.05, 1.0, 3)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moments = mass / 5.0 * np.array([a[1] ** 2 + a[2] ** 2, a[0] ** 2 + a[2] ** 2, a[0] ** 2 + a[1] ** 2])
    found = equivalent(Inertia(mass, (0.1, 0.2, 0.3), flat(axes @ np.diag(moments) @ axes.T)))
    assert found is not None and found.problem == ""
    np.testing.assert_allclose(np.sort(found.semi), np.sort(a), rtol=1e-9)
    e = found.edges
    of_box = mass / 12.0 * np.array([e[1] ** 2 + e[2] ** 2, e[0] ** 2 + e[2] ** 2, e[0] ** 2 + e[1] ** 2])
    np.testing.assert_allclose(found.axes @ np.diag(of_box) @ found.axes.T, axes @ np.diag(moments) @ axes.T, atol=1e-12)
    assert np.linalg.det(found.axes) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("mass", "moments", "problem"),
    [
        (1.0, (0.1, 0.1, 0.9), "sum of the other two"),
        (1.0, (-0.1, 0.2, 0.2), "negative"),
        (0.0, (0.1, 0.1, 0.1), "mass 0"),
        (1.0, (0.1, 0.1, 0.2 * (1 + 1e-7)), ""),  # a disc to six digits
        (1.0, (0.0, 0.0, 0.0), ""),  # a point
    ],
)
def test_what_no_body_has_is_reported(mass: float, moments: tuple[float, ...], problem: str) -> None:
    found = equivalent(Inertia(mass, (0.0, 0.0, 0.0), flat(np.diag(moments))))
    assert found is not None
    assert (problem in found.problem) if problem else found.problem == ""
    assert np.isfinite(found.semi).all() and (found.semi > 0.0).all()


def test_nothing_is_drawn_of_nothing() -> None:
    assert equivalent(Inertia(0.0, (0.0, 0.0, 0.0), flat(np.zeros(9)))) is None


# camera -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, -9.81, 0), (-1, 0, 0), (0, 0, 0), (3, 4, -12)])
def test_the_camera_looks_at_the_scene_with_gravity_down(gravity: tuple[float, ...]) -> None:
    box = np.array([[-1.0, -2.0, 0.0], [1.0, 2.0, 3.0]])
    set_up = camera(box, box, gravity)
    np.testing.assert_allclose(set_up["target"], [0.0, 0.0, 1.5])
    if any(gravity):
        np.testing.assert_allclose(np.array(set_up["up"]) * np.linalg.norm(gravity), -np.array(gravity), atol=1e-12)
    away = np.subtract(set_up["position"], set_up["target"])
    # The ball about the box lies inside the cone of the view.
    assert np.linalg.norm(away) * np.sin(np.radians(22.5)) > 0.5 * np.linalg.norm(box[1] - box[0])
    assert 0.0 < np.dot(away, set_up["up"]) < 0.8 * np.linalg.norm(away), "from above, not along the vertical"


@pytest.mark.parametrize(("thin", "gravity", "right", "up"), [(2, (0, -1, 0), 0, 1), (1, (0, 0, -1), 0, 2), (0, (0, 0, -1), 1, 2)])
def test_a_motion_in_a_plane_is_seen_face_on_with_its_axes_right_and_up(thin: int, gravity: Any, right: int, up: int) -> None:
    box = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
    flat_box = box.copy()
    flat_box[:, thin] = 0.0
    set_up = camera(box, box, gravity, flat_box)
    away = np.subtract(set_up["position"], set_up["target"])
    assert np.flatnonzero(away).tolist() == [thin]
    assert np.argmax(set_up["up"]) == up
    assert np.cross(set_up["up"], away)[right] > 0.0  # right = up x towards the viewer


# pages ------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attributes if name in ("src", "href") and tag != "a"]


def test_a_page_names_nothing_outside_itself() -> None:
    text = ug.load(ug.model_path("branched12")).view().html()
    outline = Outline()
    outline.feed(text)
    assert all(source.startswith("data:") for source in outline.sources)
    own = text.split("<script>", 1)[0] + text.rsplit('<script type="application/json"', 1)[1]
    assert not re.findall(r"https?://(?!www\.w3\.org)", own)


def test_the_view_command_writes_a_page_and_lists_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(URDF.format(mesh="gone.stl", scale="1 1 1"))
    result = runner.invoke(app, ["view", str(tmp_path / "robot.urdf"), "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    assert "gone.stl" in result.output and "placeholder" in result.output and "written:" in result.output
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "gone.stl").write_text(OBJ)  # found, and no STL
    (tmp_path / "robot.urdf").write_text(URDF.format(mesh="package://parts/gone.stl", scale="1 1 1"))
    again = runner.invoke(
        app, ["view", str(tmp_path / "robot.urdf"), "--html", str(tmp_path / "page.html"), "--package-dir", str(tmp_path)]
    )
    assert again.exit_code == 0 and "no such file" not in again.output and "placeholder" in again.output


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--html", "no/such/folder/x.html"], "--html"),
        (["--html", "."], "--html"),
        (["--theme", "pink"], "--theme"),
        (["--base", "loose"], "--base"),
        (["--q", "1 2"], "--q"),
    ],
)
def test_options_that_cannot_work_are_refused(options: list[str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["view", "planar3r", *options])
    assert result.exit_code == 2
    assert hint in re.sub(r"\x1b\[[0-9;]*m", "", result.output)


def test_a_file_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.urdf").write_text("<robot name='x'><link/></robot>")
    result = runner.invoke(app, ["view", str(tmp_path / "x.urdf"), "--html", str(tmp_path / "x.html")])
    assert result.exit_code == 2 and "x.urdf:1" in result.output.replace("\n", "")
    assert not (tmp_path / "x.html").exists()


def test_every_base_has_its_page() -> None:
    for base in ("fixed", "floating", "planar"):
        robot = ug.load(ug.model_path("planar3r"), base)
        data = robot.view().data["robot"]
        assert data["base"] == base and len(data["q"]) == robot.nq


def test_a_bad_theme_or_configuration_is_an_argument_error() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    with pytest.raises(ug.ArgumentError, match="light, dark"):
        robot.view(theme="pink")
    for q in ([0.0], [np.nan] * 3, np.zeros((2, 3))):
        with pytest.raises(ug.ArgumentError, match=r"expected \(3,\)"):
            robot.view(q)


def test_walls_can_be_shown_beside_a_robot() -> None:
    page = ug.load(ug.model_path("planar3r")).view(walls=[ug.walls.Plane((0, 0, 1)), ug.walls.Sphere(4.0, name="dome")])
    assert [wall["name"] for wall in page.data["walls"]] == ["plane", "dome"]


def test_scenarios_become_pages_from_the_command_line(tmp_path: Path) -> None:
    result = runner.invoke(app, ["simulate", "bouncing_ball", "--html", str(tmp_path / "ball.html"), "--trail", "ball", "--theme", "dark"])
    assert result.exit_code == 0, result.output
    assert "written:" in result.output
    refused = runner.invoke(app, ["simulate", "bouncing_ball", "--html", str(tmp_path / "ball.html"), "--trail", "moon"])
    assert refused.exit_code == 2 and "moon" in refused.output and "ball" in refused.output
    unwritable = runner.invoke(app, ["simulate", "bouncing_ball", "--html", str(tmp_path / "none" / "ball.html")])
    assert unwritable.exit_code == 2 and "--html" in re.sub(r"\x1b\[[0-9;]*m", "", unwritable.output)


def test_a_page_leaves_standard_output_to_the_json_and_quiet_is_quiet(tmp_path: Path) -> None:
    start = ["simulate", "bouncing_ball", "--html", str(tmp_path / "ball.html")]
    result = runner.invoke(app, [*start, "--json", "-"])
    assert result.exit_code == 0 and len(json.loads(result.stdout)["impacts"]) == 62
    assert "written:" in result.stderr
    result = runner.invoke(app, [*start, "--quiet"])
    assert result.exit_code == 0 and result.output == ""


@pytest.mark.parametrize("size", [1e-5, 0.1, 1e4])
def test_symbols_have_the_size_of_the_robot_and_those_of_a_point_are_seen(size: float) -> None:
    scene = np.array([[0.0, 0.0, 0.0], [size, 0.0, 0.0]])
    placed = camera(scene, 0.3 * scene)
    assert placed["size"] == pytest.approx(size) and placed["robot_size"] == pytest.approx(0.3 * size)
    assert camera(scene, 0.0 * scene)["robot_size"] == pytest.approx(0.1 * size)
    assert camera(0.0 * scene, 0.0 * scene)["size"] > 0.0


# live ---------------------------------------------------------------------------------------------------


def test_a_live_page_is_served_on_this_machine_alone_and_ends() -> None:
    live = ug.load(ug.model_path("planar3r")).view().open(browser=False)
    assert live.url.startswith("http://127.0.0.1:")
    with urlopen(live.url) as answer:
        text = answer.read().decode()
    assert '"live":true' in text
    live.close()
    with pytest.raises(OSError):
        urlopen(live.url, timeout=2)
    live.close()  # twice is once


def _tab(port: int) -> socket.socket:
    """A tab as the server sees it: a raw websocket."""
    tab = socket.create_connection(("127.0.0.1", port), timeout=10)
    lines = ["GET /live HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}", "Upgrade: websocket"]
    lines += ["Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}"]
    tab.sendall("\r\n".join([*lines, "", ""]).encode())
    assert b"101 Switching Protocols" in tab.recv(4096)
    return tab


@pytest.mark.parametrize("how", ["closed", "reset", "said goodbye", "while a message is on its way"])
def test_closing_a_tab_is_no_event_for_the_terminal_nor_for_other_tabs(
    how: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each ``show`` after that printed a traceback, and tabs that came later in the list heard nothing."""
    with ug.load(ug.model_path("planar3r")).view().open(browser=False) as live:
        port = int(live.url.rsplit(":", 1)[1].strip("/"))
        for _ in range(8):  # a set of tabs has no order: some that go away are before those that stay
            gone, stays = _tab(port), _tab(port)
            _ended(lambda: _wait(lambda: live.tabs == 2))
            if how == "said goodbye":
                gone.sendall(b"\x88\x80\0\0\0\0")
            elif how != "closed":
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if how == "while a message is on its way":
                live.show([0.1, 0.2, 0.3])
            gone.close()
            for i in range(50):
                live.show([0.01 * i, 0.0, 0.0])
            live.show([0.5, 0.25, 0.125])
            heard = b""
            while b"[0.5, 0.25, 0.125]" not in heard:
                heard += stays.recv(4096)  # a message that does not come is a timeout
            stays.close()
            _ended(lambda: _wait(lambda: live.tabs == 0))
    gc.collect()  # a failure that nobody asks for is told when it is thrown away
    assert not caplog.records and not capfd.readouterr().err


def _wait(until: Callable[[], bool]) -> None:
    while not until():
        time.sleep(0.01)


def test_a_port_that_is_taken_is_reported() -> None:
    view = ug.load(ug.model_path("planar3r")).view()
    with view.open(browser=False) as live:
        port = int(live.url.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(OSError):
            view.open(browser=False, port=port)
        result = runner.invoke(app, ["view", "planar3r", "--no-browser", "--port", str(port)])
        assert result.exit_code == 2 and str(port) in result.output


def test_a_closed_page_frees_its_port_and_can_be_closed_at_once() -> None:
    view = ug.load(ug.model_path("planar3r")).view()
    live = view.open(browser=False)
    port = int(live.url.rsplit(":", 1)[1].strip("/"))
    live.close()

    def reopened() -> None:
        for _ in range(20):
            view.open(browser=False, port=port).close()

    assert _ended(reopened) is None
    with pytest.raises(ug.ArgumentError, match="closed"):
        live.show([0.0, 0.0, 0.0])


def test_a_page_that_cannot_be_made_is_an_error_and_not_a_wait() -> None:
    view = page_of(ug.load(ug.model_path("planar3r")), extra={"not in JSON": math.nan})
    assert isinstance(_ended(lambda: view.open(browser=False)), ValueError)


def _ended(action: Callable[[], object]) -> Exception | None:
    """What an action raised, which must come to an end."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            action()
        except Exception as problem:
            raised.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20.0)
    assert not thread.is_alive()
    return raised[0] if raised else None


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
@pytest.mark.parametrize("command", [["view", "planar3r"], ["simulate", "bouncing_ball", "--view"]])
def test_ctrl_c_ends_a_live_page_quietly(command: list[str]) -> None:
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a background job may ignore it
    start = [sys.executable, "-c", f"{heed}; from urdf_gibbs.cli import app; app()", *command, "--no-browser"]
    with subprocess.Popen(
        start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    ) as process:
        assert process.stdout is not None
        line = ""
        while "http://127.0.0.1" not in line:
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
        with urlopen(line.split()[0]) as answer:
            assert answer.status == 200
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "closed" in output and "Traceback" not in errors


# notebooks ----------------------------------------------------------------------------------------------


def test_a_notebook_shows_a_robot_with_a_picture() -> None:
    text = ug.load(ug.model_path("branched12"))._repr_html_()
    assert "branched12" in text and "nv 12" in text and "<th>joint</th>" in text
    assert re.search(r'<img alt="branches of branched12"[^>]* src="data:image/png;base64,iVBOR', text)
    evil = ug.load('<robot name="&lt;script&gt;"><link name="a"/></robot>')._repr_html_()
    assert "<script>" not in evil


def test_a_notebook_plays_a_trajectory_inline() -> None:
    text = ug.simulate(**read_scenario("bouncing_ball").arguments())._repr_html_()
    assert text.startswith("<iframe") and "srcdoc=" in text
    assert "<script" not in text  # escaped inside the attribute
    assert ug.load(ug.model_path("planar3r")).view()._repr_html_().startswith("<iframe")


def test_the_line_below_the_title_is_plain_english() -> None:
    """No stand-in for a file's name where there is none; one impact is one."""
    assert ug.load('<robot name="r"><link name="a"/></robot>').view().subtitle == "1 link, 0 degrees of freedom, fixed base, 0 kg"
    assert ug.load(ug.model_path("rod")).view().subtitle.endswith(". rod.urdf")
    arguments = read_scenario("bouncing_ball").arguments()
    run = ug.simulate(**arguments)
    first, second = (impact.time for impact in run.impacts[:2])
    subtitles = [ug.simulate(**{**arguments, "duration": time + 1e-3}).animate().subtitle for time in (first, second)]
    assert ["1 impact;" in one for one in subtitles] == [True, False] and "2 impacts;" in subtitles[1]
