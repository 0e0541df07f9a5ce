"""The page of a motion in a real browser: scrubbed, played, with impulses, trails, walls and energies where they belong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from bench_view import chain, waves
from conftest import Opened, watched
from page_actions import STAGE, changed, on_screen

import urdf_gibbs as ug
from urdf_gibbs.simulation.scenario import read_scenario

OpenPage = Callable[[Path], Opened]
ORANGE = np.array([2, -1, -1])


@pytest.fixture(scope="module")
def fall() -> ug.Trajectory:
    return ug.simulate(**read_scenario("branched12").arguments())


@pytest.fixture
def fall_page(fall: ug.Trajectory, open_page: OpenPage, tmp_path: Path) -> Opened:
    return open_page(fall.animate(theme="light").save(tmp_path / "fall.html"))


def scrub(tab: Opened, time: float) -> None:
    """As a person does: the range's value and its input event."""
    tab.run("(t) => { const s = document.getElementById('time'); s.value = t; s.dispatchEvent(new Event('input')); }", time)


def test_scrubbing_to_an_impact_shows_its_configuration_and_its_impulses(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    assert tab.complaints == [] and tab.outside == []
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    data = model.createData()
    largest = max(float(impact.impulses.max()) for impact in fall.impacts)
    for number, impact in enumerate(fall.impacts):
        scrub(tab, impact.time)
        pin.framesForwardKinematics(model, data, fall.robot.q_to_pinocchio(impact.q))
        for link in fall.robot.link_names:
            found = np.reshape(tab.run("(name) => urdfGibbs.stage.linkMatrix(name)", link), (4, 4))
            np.testing.assert_allclose(found, data.oMf[model.getFrameId(link, pin.FrameType.BODY)].homogeneous, atol=1e-9, err_msg=link)
        assert tab.run("document.body.dataset.impact") == str(number)
        arrows = tab.run(
            "() => urdfGibbs.motion.holder.children.map((a) => ({at: a.position.toArray(), impulse: a.userData.impulse,"
            " way: new MeshCat.THREE.Vector3(0, 1, 0).applyQuaternion(a.quaternion).toArray(),"
            " length: a.children[1].position.y + a.children[1].scale.y / 2}))"
        )
        assert len(arrows) == impact.k
        with_arrows = tab.picture()
        tab.page.locator("#show-impulses").uncheck()
        without = tab.picture()
        tab.page.locator("#show-impulses").check()
        ink = changed(with_arrows, without)
        for arrow, position, normal, impulse in zip(arrows, impact.positions, impact.normals, impact.impulses, strict=True):
            np.testing.assert_allclose(arrow["at"], position, atol=1e-9)
            np.testing.assert_allclose(arrow["way"], normal, atol=1e-9)
            shortest, longest = tab.run("[urdfGibbs.motion.shortest, urdfGibbs.motion.longest]")
            assert arrow["length"] == pytest.approx(max(shortest, longest * impulse / largest), rel=1e-6)
            x, y = on_screen(tab, position + 0.8 * arrow["length"] * normal)
            assert ink[y, x], "the arrow is drawn where the impulse acts"
            assert with_arrows[y, x] @ ORANGE > 60
            x, y = on_screen(tab, position - 0.3 * normal)
            assert not ink[y, x], "and not on the other side of the wall"
        text = tab.page.locator("#note").inner_text()
        assert f"impact {number + 1} of 5" in text and all(point in text for point in impact.points)
        assert tab.page.locator("#clock").inner_text() == f"t = {impact.time:.4f} s"


def test_between_impacts_there_is_no_arrow_and_the_state_is_the_trajectorys(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    for time in (0.0, 0.2, 0.9, 1.23456, 1.5):
        scrub(tab, time)
        q = fall.at(time)[0]
        np.testing.assert_allclose(
            tab.run("urdfGibbs.stage.q"), q, atol=1e-3
        )  # linear between frames 2.5 ms apart: h²/8 of some hundred rad/s²
        assert tab.run("urdfGibbs.motion.holder.children.length") == 0
        assert tab.page.locator("#note").inner_text() == ""


def test_the_robot_is_inside_the_wall_on_the_screen(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    scrub(tab, 0.0)
    with_wall = tab.picture()
    tab.page.locator("#show-walls").uncheck()
    ring = changed(with_wall, tab.picture())[:, :STAGE]
    for angle in np.linspace(0.0, 2.0 * math.pi, 16, endpoint=False):
        x, y = on_screen(tab, (2.5 * math.cos(angle), 2.5 * math.sin(angle), 0.0))
        assert ring[y - 3 : y + 4, x - 3 : x + 4].any()
    x, y = on_screen(tab, (0.0, 0.0, 0.0))
    assert not ring[y - 20 : y + 20, x - 20 : x + 20].any()
    up = on_screen(tab, (0.0, 1.0, 0.0))
    assert up[1] < y - 40 and abs(up[0] - x) <= 1, "gravity points down"


def test_play_pause_speed_and_the_end(fall_page: Opened) -> None:
    tab = fall_page
    tab.page.locator("#speed").select_option("0.1")
    tab.page.locator("#play").click()
    tab.page.wait_for_function("urdfGibbs.motion.time > 0.02")
    tab.page.locator("#play").click()
    stopped = tab.run("urdfGibbs.motion.time")
    assert 0.02 < stopped < 1.5
    tab.settled()
    assert tab.run("urdfGibbs.motion.time") == stopped
    tab.page.locator("#speed").select_option("5")
    tab.page.keyboard.press("Escape")
    tab.run("() => document.activeElement.blur()")
    tab.page.keyboard.press(" ")
    tab.page.wait_for_function("!urdfGibbs.motion.playing && urdfGibbs.motion.time === 1.5")
    tab.page.locator("#play").click()  # from the end it starts again
    tab.page.wait_for_function("!urdfGibbs.motion.playing && urdfGibbs.motion.time === 1.5")
    assert tab.complaints == []


def test_keys_and_the_list_jump_to_impacts(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    times = [impact.time for impact in fall.impacts]
    for expected in times:
        tab.page.keyboard.press("ArrowDown")
        assert tab.run("urdfGibbs.motion.time") == expected
    tab.page.keyboard.press("ArrowUp")
    assert tab.run("urdfGibbs.motion.time") == times[-2]
    tab.page.locator("#impacts li").nth(0).click()
    assert tab.run("urdfGibbs.motion.time") == times[0]
    assert "chosen" in (tab.page.locator("#impacts li").nth(0).get_attribute("class") or "")


def test_the_strip_shows_the_energies_in_step(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    scrub(tab, 0.0)
    box = tab.page.locator("#strip").bounding_box()
    assert box is not None
    picture = tab.picture()
    kinetic, potential, total = fall.energies
    low = min(x.min() for x in (kinetic, potential, total))
    high = max(x.max() for x in (kinetic, potential, total))

    def pixel(time: float, value: float) -> Any:
        x = box["x"] + time / 1.5 * box["width"]
        y = box["y"] + box["height"] - 6 - (value - low) / (high - low) * (box["height"] - 12)
        window = picture[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2].reshape(-1, 3)
        return window[np.argmax(np.ptp(window, axis=1))]  # the most colourful one

    for time in (0.45, 0.75, 1.25):
        row = int(np.argmin(np.abs(fall.t - time)))
        assert pixel(fall.t[row], kinetic[row]) @ [2, -1, -1] > 100  # orange
        assert pixel(fall.t[row], potential[row]) @ [-2, 1, 1] > 60  # green
        assert pixel(fall.t[row], total[row]) @ [-2, 1, 1] > 60  # blue
    before = tab.picture()
    scrub(tab, 0.75)
    moved = changed(before, tab.picture())
    x = round(box["x"] + 0.5 * box["width"])
    assert moved[round(box["y"]) + 10 : round(box["y"]) + 70, x - 2 : x + 3].any(axis=1).mean() > 0.9  # the cursor
    below = high - 0.06 * (high - low)  # a curve where the name of the upper end stands
    tab.run("(value) => { const { motion } = urdfGibbs; motion.record.energies.total.data.fill(value); motion.drawStrip(); }", below)
    named = tab.picture()[round(box["y"]) + 7 : round(box["y"]) + 18, round(box["x"]) + 3 : round(box["x"]) + 25]
    assert (named[..., 0] < 150).sum() > 20 and not ((named @ [-1, 0, 1]) > 100).any(), "grey figures, no blue line through them"


def test_a_trail_grows_with_time(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    frames = tab.run("urdfGibbs.motion.t.length")
    for time, expected in ((0.0, 1), (1.5, frames)):
        scrub(tab, time)
        assert tab.run("urdfGibbs.motion.lines[0].geometry.drawRange.count") == expected
    with_trails = tab.picture()
    tab.page.locator("#show-trails").uncheck()
    ink = changed(with_trails, tab.picture())[:, :STAGE]
    q = fall.at(0.3)[0]
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    data = model.createData()
    pin.framesForwardKinematics(model, data, fall.robot.q_to_pinocchio(q))
    x, y = on_screen(tab, data.oMf[model.getFrameId("O5", pin.FrameType.BODY)].translation)
    assert ink[y - 2 : y + 3, x - 2 : x + 3].any()


def test_a_moving_wall_moves_in_the_page(open_page: OpenPage, tmp_path: Path) -> None:
    run = ug.simulate(**(read_scenario("vibrating_table").arguments() | {"duration": 0.5}))
    tab = open_page(run.animate(frames=2000).save(tmp_path / "table.html"))
    for time in (0.1, 0.237, 0.4):
        scrub(tab, time)
        height = 1.2 * 9.81 / (20 * math.pi) ** 2 * math.sin(20 * math.pi * time + math.acos(math.pi / 3.6) - math.pi)
        assert tab.run("urdfGibbs.data.walls[0].group.position.z") == pytest.approx(height, abs=1e-6)  # linear between frames


def test_a_struck_limit_is_reported_though_it_has_no_position(open_page: OpenPage, tmp_path: Path) -> None:
    run = ug.simulate(**read_scenario("pendulum_stop").arguments())
    tab = open_page(run.animate().save(tmp_path / "stop.html"))
    scrub(tab, run.impacts[0].time)
    assert "N m s" in tab.page.locator("#note").inner_text()
    assert tab.complaints == []


def test_two_thousand_frames_of_thirty_links_open(open_page: OpenPage, tmp_path: Path) -> None:
    run = waves(chain(30), 2000)
    tab = open_page(run.animate(frames=2000).save(tmp_path / "long.html"))
    assert tab.complaints == []
    scrub(tab, 10.0)
    np.testing.assert_allclose(tab.run("urdfGibbs.stage.q"), run.q[-1], atol=1e-12)


def test_a_tab_follows_python(fall: ug.Trajectory, browser: Any) -> None:
    """The same page served: no complaint, and what Python shows is what it shows."""
    robot = ug.load(ug.model_path("planar3r"), "fixed")
    with robot.view().open(browser=False) as live:
        context = browser.new_context()
        try:
            tab = watched(context.new_page())
            page = tab.page
            page.goto(live.url)
            page.wait_for_function("document.body.dataset.state === 'ready'")
            page.wait_for_function("urdfGibbs.socket && urdfGibbs.socket.readyState === 1")
            live.show([0.1, -0.2, 0.3])
            page.wait_for_function("urdfGibbs.stage.q[2] === 0.3")
            assert page.evaluate("urdfGibbs.stage.q") == [0.1, -0.2, 0.3]
            assert live.tabs == 1 and tab.complaints == []
            with pytest.raises(ug.ArgumentError, match=r"expected \(3,\)"):
                live.show([1.0])
        finally:
            context.close()


def test_a_notebooks_cell_plays(fall: ug.Trajectory, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{fall._repr_html_()}</body>", encoding="utf-8")
    context = browser.new_context(offline=True)
    try:
        tab = watched(context.new_page())
        page = tab.page
        page.goto((tmp_path / "cell.html").as_uri())
        frame = page.frames[1]
        frame.wait_for_function("document.body.dataset.state === 'ready'")
        frame.evaluate("() => urdfGibbs.motion.jump(1)")
        assert frame.evaluate("urdfGibbs.motion.time") == fall.impacts[0].time
        assert tab.complaints == []
    finally:
        context.close()


def test_an_impulse_is_seen_in_front_of_the_body_it_points_into(open_page: OpenPage, tmp_path: Path) -> None:
    run = ug.simulate(**read_scenario("bouncing_ball").arguments())
    tab = open_page(run.animate(theme="light").save(tmp_path / "ball.html"))
    impact = run.impacts[0]
    scrub(tab, impact.time)
    tab.run("() => urdfGibbs.overlays.show('trails', false)")
    shown = tab.picture()
    tab.page.locator("#show-impulses").uncheck()
    ink = changed(shown, tab.picture())
    for share in (0.2, 0.5):
        x, y = on_screen(tab, impact.positions[0] + share * tab.run("urdfGibbs.motion.longest") * impact.normals[0])
        assert ink[y, x]
    across = shown[y, x - 20 : x + 21]
    rod = np.flatnonzero(across @ ORANGE > 150)
    assert len(rod) and (across[[rod[0] - 2, rod[-1] + 2]] > 240).all(), "white on both sides, whatever the robot's colour"


def test_keys_belong_to_what_has_the_focus(fall: ug.Trajectory, fall_page: Opened) -> None:
    tab = fall_page
    tab.page.focus("#show-frames")
    tab.page.keyboard.press(" ")
    assert tab.page.locator("#show-frames").is_checked() and not tab.run("urdfGibbs.motion.playing")
    tab.page.focus("#joints summary")
    tab.page.keyboard.press(" ")
    assert tab.run("document.getElementById('joints').open") and not tab.run("urdfGibbs.motion.playing")
    tab.page.focus("#impacts li:nth-child(4)")
    tab.page.keyboard.press("Enter")
    assert tab.run("urdfGibbs.motion.time") == fall.impacts[3].time


def test_pausing_and_playing_at_once_plays_once(fall_page: Opened) -> None:
    script = (
        "() => { const m = urdfGibbs.motion; let n = 0; const seek = m.seek.bind(m); m.seek = (t) => { n++; seek(t); }; m.speed = 0.01;"
    )
    script += " for (let i = 0; i < 4; i++) { m.play(); m.pause(); } m.play(); let frames = 0;"
    script += " return new Promise((done) => { const step = () => { if (++frames > 8) done(n / frames); else requestAnimationFrame(step); }; requestAnimationFrame(step); }); }"
    assert fall_page.run(script) <= 1.2


@pytest.mark.parametrize(("width", "height"), [(1280, 700), (900, 700), (700, 500), (700, 900), (380, 700)])
def test_the_scene_the_bar_and_the_panel_never_overlap(fall_page: Opened, width: int, height: int) -> None:
    tab = fall_page
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.settled()
    script = "() => ['stage', 'timeline', 'panel'].map((id) => { const r = document.getElementById(id).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"
    boxes = tab.run(script)
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert min(a[2], b[2]) - max(a[0], b[0]) < 1.0 or min(a[3], b[3]) - max(a[1], b[1]) < 1.0
    left, top, right, bottom = boxes[0]
    assert (right - left) * (bottom - top) > 0.35 * width * height, "the robot has room in a small window too"
    canvas = tab.run("() => { const r = urdfGibbs.stage.viewer.renderer.domElement.getBoundingClientRect(); return [r.width, r.height]; }")
    assert canvas == pytest.approx([boxes[0][2] - boxes[0][0], boxes[0][3] - boxes[0][1]], abs=1.0)


def test_a_page_that_is_hidden_while_it_loads_is_drawn_when_it_is_shown(fall: ug.Trajectory, browser: Any, tmp_path: Path) -> None:
    fall.animate().save(tmp_path / "fall.html")
    (tmp_path / "cell.html").write_text('<iframe src="fall.html" style="display: none; width: 900px; height: 560px"></iframe>')
    context = browser.new_context(offline=True)
    try:
        tab = watched(context.new_page())
        page = tab.page
        page.goto((tmp_path / "cell.html").as_uri())
        frame = page.frames[1]
        frame.wait_for_function("window.urdfGibbs || document.body.dataset.state === 'failed'", polling=100)
        page.evaluate("document.querySelector('iframe').style.display = 'block'")
        frame.wait_for_function("document.body.dataset.state === 'ready'")
        frame.wait_for_function("urdfGibbs.motion.still && urdfGibbs.motion.still.width > 300")
        assert frame.evaluate("document.getElementById('stage').offsetHeight") > 200
        assert tab.complaints == []
    finally:
        context.close()


def test_arrows_are_scaled_to_contacts_and_the_list_follows(open_page: OpenPage, tmp_path: Path) -> None:
    run = ug.simulate(**read_scenario("bouncing_ball").arguments())
    view = run.animate()
    impacts = view.data["motion"]["impacts"]
    impacts[3] |= {"impulses": [1e6], "positions": [None], "normals": [None]}  # as of a limit
    tab = open_page(view.save(tmp_path / "ball.html"))
    scrub(tab, run.impacts[0].time)
    length = tab.run(
        "() => { const a = urdfGibbs.motion.holder.children[0]; return a.children[1].position.y + a.children[1].scale.y / 2; }"
    )
    assert length == pytest.approx(tab.run("urdfGibbs.motion.longest"), rel=1e-6)
    scrub(tab, run.impacts[40].time)
    row, box = (tab.page.locator(one).bounding_box() for one in ("#impacts li.chosen", "#impacts ul"))
    assert row is not None and box is not None
    assert row["y"] >= box["y"] - 1 and row["y"] + row["height"] <= box["y"] + box["height"] + 1


def test_the_list_has_the_largest_impacts_first_and_held_contacts_last(open_page: OpenPage, tmp_path: Path) -> None:
    run = ug.simulate(**read_scenario("bouncing_ball").arguments())
    hardest = np.argsort([-impact.impulses[0] for impact in run.impacts], kind="stable")[:12]
    tenth = run.impacts[10]
    run = dataclasses.replace(run, impacts=(*run.impacts[:10], with_held(tenth), *run.impacts[11:]))
    tab = open_page(run.animate().save(tmp_path / "ball.html"))
    rows = tab.page.locator("#impacts li")
    assert rows.count() == 12
    assert [row.split(" s")[0] for row in rows.all_inner_texts()] == [f"{run.impacts[i].time:.4f}" for i in hardest]
    tab.page.locator("#all-impacts").click()
    assert rows.count() == len(run.impacts)
    rows.nth(10).click()
    assert tab.run("urdfGibbs.motion.time") == tenth.time
    told = rows.nth(10).inner_text()
    assert "limit" not in told and told.endswith("(2 held)") and "ground" in told
    assert told.split(": ", 1)[1] == tab.page.locator("#note").inner_text().split(": ", 1)[1]
    tab.page.locator("#contacts summary").click()
    cells = [line.split("\t") for line in tab.page.locator("#contacts table").inner_text().splitlines()[1:]]
    assert [cell[0] for cell in cells] == [tenth.points[0], "strong limit", "weak limit"] and [cell[3] for cell in cells][1:] == [
        "held",
        "held",
    ]
    assert cells[0][3] == f"{-tenth.normal_velocities_before[0]:.4g} m/s" and cells[1][2] == "10000 N s"


def with_held(impact: ug.Impact) -> ug.Impact:
    """The same impact while two joints rest at their limits, one of them with a larger impulse."""
    more = {
        name: np.concatenate([getattr(impact, name), np.full((2, 3), np.nan)])
        for name in ("positions", "normals", "velocities_before", "velocities_after", "tangential_impulses")
    }
    own = {
        "normal_velocities_before": [1e-16, -1e-17],
        "normal_velocities_after": [0.0, 0.0],
        "impulses": [0.1, 1e4],
        "restitution": [0.0, 0.0],
    }
    more |= {name: np.concatenate([getattr(impact, name), values]) for name, values in own.items()}
    more["angles_of_attack"] = np.concatenate([impact.angles_of_attack, [np.nan, np.nan]])
    return dataclasses.replace(
        impact, points=(*impact.points, "weak limit", "strong limit"), walls=(*impact.walls, "lower", "upper"), **more
    )


def test_the_camera_follows_a_robot_that_flies_away(open_page: OpenPage, tmp_path: Path) -> None:
    robot = ug.load(ug.model_path("block"), "floating")
    q = robot.neutral()
    v = np.zeros(robot.nv)
    v[0] = 3.0
    run = ug.simulate(robot, q, v, 2.0)
    tab = open_page(run.animate().save(tmp_path / "away.html"))
    scrub(tab, 0.0)
    tab.page.locator("#show-follow").check()
    start = on_screen(tab, ug.centre_of_mass(robot, run.q[0]))
    scrub(tab, 2.0)
    end = on_screen(tab, ug.centre_of_mass(robot, run.q[-1]))
    assert max(abs(start[0] - end[0]), abs(start[1] - end[1])) <= 1
    assert tab.complaints == []


def test_wheels_leave_tracks_on_ground_in_the_sun(open_page: OpenPage, tmp_path: Path) -> None:
    """The ribbons grow with the time, and hide with their switch; the ground hides what is below it."""
    scenario = read_scenario("rover")
    run = ug.simulate(**{**scenario.arguments(), "duration": 3.0})
    tab = open_page(run.animate(theme="light").save(tmp_path / "rover.html"))
    assert tab.complaints == [] and tab.outside == []
    shown = "() => urdfGibbs.motion.tracks.ribbons.map(({mesh}) => [mesh.name, mesh.geometry.drawRange.count])"
    scrub(tab, 1.0)
    early = dict(tab.run(shown))
    scrub(tab, 3.0)
    late = dict(tab.run(shown))
    assert set(late) == {f"track {side}{place}_wheel" for side in "lr" for place in "fmr"}
    assert all(0 < early[name] < late[name] for name in late)
    with_tracks = tab.picture()
    tab.page.locator("#show-tracks").uncheck()
    assert changed(with_tracks, tab.picture())[:, :STAGE].any()
    assert tab.run("() => urdfGibbs.stage.data.walls[0].group.children[0].material.transparent") is False
