"""The page of an elastic robot in a real browser: tips and bent links where Python has them, drawn there, and drawn larger when asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bent_links import FLAT, SPACE, bent, independent, robot
from conftest import Opened
from page_actions import STAGE, changed, on_screen, set_slider
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.view.elastic import elastic_joints

OpenPage = Callable[[Path], Opened]
CASES = [(FLAT, ""), (SPACE, ""), (SPACE, 'foreshortening="true"')]
BLUE = np.array([-1, 0, 1])
POSITIONS = "(k) => Array.from(urdfGibbs.stage.skins[k].geometry.attributes.position.array)"


def matrix(tab: Opened, link: str) -> Any:
    return np.reshape(tab.run("(name) => urdfGibbs.stage.linkMatrix(name)", link), (4, 4))


def middle(one: ug.Robot, q: Any, number: int) -> Any:
    """The middle of an elastic link's axis in the world, from its shape functions."""
    i, beam = elastic_joints(one)[number]
    start = one.joints[i].iq
    rho, _ = independent(FLAT, beam.length, np.array([0.5 * beam.length]), q[start : start + 2])
    return (ug.frame_placement(one, q, beam.link) @ np.append(rho[0], 1.0))[:3]


@pytest.mark.parametrize(("modes", "options"), CASES)
def test_the_page_moves_tips_and_what_they_carry_as_python_does(modes: str, options: str, open_page: OpenPage, tmp_path: Path) -> None:
    one = robot(modes, options=options)
    tab = open_page(one.view().save(tmp_path / "bent.html"))
    assert tab.complaints == [] and tab.outside == []
    states = [bent(one, seed) for seed in range(4)]
    states += [one.neutral(), 1e-5 * states[0], 3.0 * states[1]]  # no turn, a tiny one, and a large one
    for q in states:
        tab.run("(q) => urdfGibbs.stage.apply(q)", q.tolist())
        for link in one.link_names:
            np.testing.assert_allclose(matrix(tab, link), ug.frame_placement(one, q, link), rtol=0.0, atol=1e-9, err_msg=link)
        centre = ug.centre_of_mass(one, q)
        np.testing.assert_allclose(tab.run("urdfGibbs.overlays.totalCom.position.toArray()"), centre, atol=1e-9)


@pytest.mark.parametrize("modes", [FLAT, SPACE])
def test_the_drawn_vertices_are_where_the_shape_functions_put_them(modes: str, open_page: OpenPage, tmp_path: Path) -> None:
    one = robot(modes)
    view = one.view(bent(one, 1))
    tab = open_page(view.save(tmp_path / "bent.html"))
    for seed in (1, 2):
        q = bent(one, seed)
        tab.run("(q) => urdfGibbs.stage.apply(q)", q.tolist())
        for k, (i, beam) in enumerate(elastic_joints(one)):
            start = one.joints[i].iq
            rest = view.scene.skins[k].solid.vertices.astype(float)
            eta = np.clip(rest[:, 0], 0.0, beam.length)
            rho, theta = independent(modes, beam.length, eta, q[start : start + beam.m])
            expected = rho + Rotation.from_rotvec(theta).apply(rest - np.outer(eta, [1.0, 0.0, 0.0]))
            np.testing.assert_allclose(np.reshape(tab.run(POSITIONS, k), (-1, 3)), expected, rtol=0.0, atol=1e-6)
    tab.run("() => urdfGibbs.stage.apply(urdfGibbs.stage.robot.neutral.slice())")
    np.testing.assert_allclose(np.reshape(tab.run(POSITIONS, 0), (-1, 3)), view.scene.skins[0].solid.vertices, atol=1e-7)


@pytest.mark.parametrize("visuals", [True, False])
def test_the_middle_of_a_bent_link_is_drawn_where_it_is(visuals: bool, open_page: OpenPage, tmp_path: Path) -> None:
    """With its visuals, and as a stick figure."""
    one = robot(visuals=visuals)
    q = np.array([0.4, 0.25, 0.0, 0.3, -0.2, 0.0])
    tab = open_page(one.view(q, theme="light").save(tmp_path / "bent.html"))
    tab.run("(q) => { for (const l of ['grid', 'points']) urdfGibbs.overlays.show(l, false); urdfGibbs.stage.apply(q); }", q.tolist())
    picture = tab.picture()
    tab.run("(layer) => urdfGibbs.overlays.show(layer, false)", "visuals" if visuals else "branches")
    ink = changed(picture, tab.picture())
    ink[:, STAGE:] = False
    for number in (0, 1):
        x, y = on_screen(tab, middle(one, q, number))
        assert ink[y - 1 : y + 2, x - 1 : x + 2].all(), number
        if not visuals:
            assert picture[y, x] @ BLUE > 40
    _, beam = elastic_joints(one)[0]
    chord = 0.5 * (ug.frame_placement(one, q, "b0")[:3, 3] + ug.frame_placement(one, q, beam.link + ".tip")[:3, 3])
    x, y = on_screen(tab, chord + 0.06 * ug.frame_placement(one, q, "b0")[:3, 1])
    assert not ink[y, x], "beyond the chord there is nothing: the link is below it"


def test_sliders_bend_a_link(open_page: OpenPage, tmp_path: Path) -> None:
    one = robot(SPACE)
    tab = open_page(one.view(theme="light").save(tmp_path / "bent.html"))
    names = tab.run("() => [...document.querySelectorAll('#joints [data-row]')].map((row) => row.dataset.row)")
    assert names == list(one.velocity_names)
    before = tab.picture()
    set_slider(tab, "b0.elastic.y1", 0.2)
    set_slider(tab, "b0.elastic.torsion1", 30.0)
    q = one.neutral()
    start = one.joint("b0.elastic").iq
    q[start], q[start + 4] = 0.2, np.radians(30.0)
    np.testing.assert_allclose(tab.run("urdfGibbs.stage.q"), q, atol=1e-12)
    np.testing.assert_allclose(matrix(tab, "b1.tip"), ug.frame_placement(one, q, "b1.tip"), atol=1e-9)
    assert changed(before, tab.picture())[:, :STAGE].sum() > 1000
    row = tab.page.locator("[data-row='b0.elastic.y1']")
    assert row.locator(".unit").inner_text() == "m" and row.locator("input[type=number]").input_value() == "0.20000"
    assert tab.page.locator("[data-row='b0.elastic.torsion1'] .unit").inner_text() == "°"
    ends = row.locator("input[type=range]")
    assert (float(ends.get_attribute("min") or 0), float(ends.get_attribute("max") or 0)) == pytest.approx((-0.2, 0.2))


def test_deflections_can_be_drawn_larger(open_page: OpenPage, tmp_path: Path) -> None:
    one = robot()
    q = np.array([0.4, 0.01, 0.001, 0.3, -0.01, 0.0])
    tab = open_page(one.view(q, theme="light").save(tmp_path / "bent.html"))
    slider = tab.page.locator("#deflection")
    assert slider.evaluate("(s) => s.value") == "0"
    before = tab.picture()
    tab.run("() => { const s = document.getElementById('deflection'); s.value = 3; s.dispatchEvent(new Event('input')); }")
    assert "10 ×" in tab.page.locator("#elastic").inner_text()
    larger = q * [1, 10, 10, 1, 10, 10]
    for link in one.link_names:
        np.testing.assert_allclose(matrix(tab, link), ug.frame_placement(one, larger, link), atol=1e-9)
    rest = one.view().scene.skins[0]
    joint = one.joints[rest.joint]
    assert joint.beam is not None
    np.testing.assert_allclose(np.reshape(tab.run(POSITIONS, 0), (-1, 3)), rest.bent(joint.beam, larger[1:3]), atol=1e-6)
    np.testing.assert_allclose(tab.run("urdfGibbs.stage.q"), q)
    assert tab.page.locator("[data-row='b0.elastic.y1'] input[type=number]").input_value() == "0.01000"
    assert changed(before, tab.picture())[:, :STAGE].sum() > 500
    rigid = open_page(ug.load(ug.model_path("planar3r")).view().save(tmp_path / "rigid.html"))
    assert rigid.page.locator("#deflection").count() == 0


def test_every_overlay_of_an_elastic_robot(open_page: OpenPage, tmp_path: Path) -> None:
    one = robot(SPACE)
    q = bent(one)
    tab = open_page(one.view(q, theme="light").save(tmp_path / "bent.html"))
    for layer in ("frames", "axes", "com", "ellipsoids", "boxes", "branches", "points", "names", "glass"):
        tab.run("(layer) => urdfGibbs.overlays.show(layer, true)", layer)
        tab.settled()
    assert tab.complaints == []
    balls = tab.run(
        "() => urdfGibbs.overlays.layers.get('com').objects.filter((o) => o.parent.parent).map((o) => { o.updateWorldMatrix(true, false);"
        " return new MeshCat.THREE.Vector3().setFromMatrixPosition(o.matrixWorld).applyQuaternion(urdfGibbs.stage.viewer.scene.quaternion.clone().invert()).toArray(); })"
    )
    masses = [beam.mass for _, beam in elastic_joints(one)]
    np.testing.assert_allclose(np.average(balls[:2], axis=0, weights=masses), ug.centre_of_mass(one, q), atol=1e-6)
    tab.run("() => urdfGibbs.stage.light(['b0'])")
    text = tab.page.locator("#selection").inner_text()
    assert "elastic: 1 m long, y1, y2, z1, x1, torsion1" in text and "mass\t1 kg" in text
    tab.run("() => urdfGibbs.stage.light(['b0.tip'])")
    assert "moved by b0.elastic (elastic)" in tab.page.locator("#selection").inner_text()


def test_a_click_finds_a_link_where_it_is_bent_to(open_page: OpenPage, tmp_path: Path) -> None:
    one = robot()
    tab = open_page(one.view(theme="light").save(tmp_path / "bent.html"))
    q = np.array([0.0, 0.2, 0.0, 0.0, -0.15, 0.0])
    tab.run("(q) => urdfGibbs.stage.apply(q)", q.tolist())
    tab.settled()
    tab.page.mouse.click(*on_screen(tab, middle(one, q, 1)))
    assert tab.run("document.body.dataset.lit") == "b1"


def test_a_motion_bends_the_links_and_shows_strain(open_page: OpenPage, tmp_path: Path) -> None:
    one = robot()
    run = ug.simulate(one, [0.1, 0.1, 0.0, 0.1, 0.0, 0.0], None, 0.2, gravity=(0, -9.81, 0))
    tab = open_page(run.animate(theme="light").save(tmp_path / "run.html"))
    assert tab.complaints == []
    assert "strain" in tab.page.locator("#timeline .legend").inner_text()
    for time in (0.0, 0.1, 0.2):
        tab.run("(t) => { const s = document.getElementById('time'); s.value = t; s.dispatchEvent(new Event('input')); }", time)
        q = np.array(tab.run("urdfGibbs.stage.q"))
        np.testing.assert_allclose(q, run.at(time)[0], atol=2e-3)
        np.testing.assert_allclose(matrix(tab, "b1.tip"), ug.frame_placement(one, q, "b1.tip"), atol=1e-9)
    series = {
        name: np.array(tab.run("(n) => Array.from(urdfGibbs.data.motion.energies[n].data)", name))
        for name in ("kinetic", "gravity", "strain", "total")
    }
    np.testing.assert_allclose(series["kinetic"] + series["gravity"] + series["strain"], series["total"], atol=1e-12)
    assert series["strain"].max() > 0.1
    frame = tab.run(
        "() => { const s = urdfGibbs.stage, q = s.q.slice(); const start = performance.now();"
        " for (let i = 0; i < 50; i++) { q[1] = 0.001 * i; s.apply(q.slice()); } return (performance.now() - start) / 50; }"
    )
    assert frame < 40.0, "a motion of elastic links plays smoothly"
