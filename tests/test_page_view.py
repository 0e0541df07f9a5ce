"""The page of a robot in a real browser: offline, drawn in the right places, moved by its sliders, switched by its boxes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Opened
from examples import FOLDER
from page_actions import STAGE, changed, on_screen, set_slider
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.oracle.pinocchio import Oracle

PANDA = FOLDER / "panda_description/urdf/panda.urdf"
OpenPage = Callable[[Path], Opened]


@pytest.fixture(scope="module")
def panda() -> ug.Robot:
    return ug.load(PANDA, "fixed")


@pytest.fixture
def panda_page(panda: ug.Robot, open_page: OpenPage, tmp_path: Path) -> Opened:
    return open_page(panda.view(theme="light").save(tmp_path / "panda.html"))


def test_the_panda_is_drawn_offline_with_its_meshes_where_they_belong(panda: ug.Robot, open_page: OpenPage, tmp_path: Path) -> None:
    tab = open_page(panda.view(theme="dark").save(tmp_path / "panda.html"))  # no shade of the white arm is that of the background
    assert tab.complaints == []
    assert tab.outside == []
    assert tab.page.title() == "panda"
    tab.run("() => urdfGibbs.overlays.show('shadows', false)")  # they reach further than the robot
    picture = tab.picture()
    tab.run("() => urdfGibbs.overlays.show('visuals', false)")
    ink = changed(picture, tab.picture())  # what the meshes draw
    ink[:, STAGE:] = False  # the panel tells which boxes are on
    assert ink.sum() > 10_000
    # Along the arm, from the shoulder to the hand: the meshes enclose the segments between these joint origins.
    q = panda.neutral()
    for link in ("panda_link2", "panda_link3", "panda_link4", "panda_link6"):
        x, y = on_screen(tab, ug.frame_placement(panda, q, link)[:3, 3])
        assert ink[y - 2 : y + 3, x - 2 : x + 3].mean() > 0.9, link
    # Nothing is drawn outside the silhouette of the scene's box.
    low, high = panda.view().scene.bounds
    corners = np.array([on_screen(tab, (x, y, z)) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    rows, columns = np.nonzero(ink)
    assert columns.min() >= corners[:, 0].min() - 2 and columns.max() <= corners[:, 0].max() + 2
    assert rows.min() >= corners[:, 1].min() - 2 and rows.max() <= corners[:, 1].max() + 2


def test_the_page_computes_the_kinematics_of_pinocchio(open_page: OpenPage, tmp_path: Path) -> None:
    """Free base, revolute, continuous, prismatic, planar and mimic joints: in the page as in the oracle, to round-off."""
    import pinocchio as pin

    for number, text in enumerate(random_tree(seed, 12, mimic=0.3) for seed in (3, 8, 21)):
        robot = ug.load(text, "floating")
        tab = open_page(robot.view().save(tmp_path / f"{number}.html"))
        oracle = Oracle(text, "floating", True, (0.0, 0.0, -9.81))
        for seed in range(3):
            q = robot.random(seed)
            tab.run("(q) => urdfGibbs.stage.apply(q)", q.tolist())
            pin.framesForwardKinematics(oracle.model, oracle.data, oracle.configuration(q))
            for link in robot.link_names:
                found = np.reshape(tab.run("(name) => urdfGibbs.stage.linkMatrix(name)", link), (4, 4))
                expected = oracle.data.oMf[oracle.model.getFrameId(link, pin.FrameType.BODY)].homogeneous
                np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9, err_msg=link)


def test_a_slider_moves_its_link_on_the_screen(panda: ug.Robot, panda_page: Opened) -> None:
    tab = panda_page
    before = tab.picture()
    set_slider(tab, "panda_joint2", 60.0)
    after = tab.picture()
    q = panda.neutral()
    old = on_screen(tab, ug.frame_placement(panda, q, "panda_link6")[:3, 3])
    q[panda.joint("panda_joint2").iq] = np.radians(60.0)
    new = on_screen(tab, ug.frame_placement(panda, q, "panda_link6")[:3, 3])
    assert np.hypot(new[0] - old[0], new[1] - old[1]) > 50
    moved = changed(before, after)
    for x, y in (old, new):  # the arm has left the one place and arrived at the other
        assert moved[y - 4 : y + 5, x - 4 : x + 5].mean() > 0.5
    base = on_screen(tab, (0.0, 0.0, 0.05))
    assert not moved[base[1] - 2 : base[1] + 3, base[0] - 2 : base[0] + 3].any()
    row = tab.page.locator("[data-row='panda_joint2']")
    assert row.locator("input[type=number]").input_value() == "60.0"
    lower, upper = (f"{np.degrees(x):.4g}" for x in (panda.joint("panda_joint2").lower, panda.joint("panda_joint2").upper))
    assert row.locator(".limits").inner_text() == f"{lower} … {upper} °"


def test_values_are_degrees_and_metres_with_their_limits(open_page: OpenPage, tmp_path: Path) -> None:
    tab = open_page(ug.load(ug.model_path("gripper"), "fixed").view().save(tmp_path / "gripper.html"))
    finger = tab.page.locator("[data-row='finger_left']")
    assert finger.locator(".unit").inner_text() == "m"
    assert finger.locator(".limits").inner_text() == "0 … 0.05 m"
    finger.locator("input[type=number]").fill("0.03")
    finger.locator("input[type=number]").press("Enter")
    tab.settled()
    follower = tab.page.locator(".follower")
    assert follower.locator(".value").inner_text().split()[1] == "m"
    robot = ug.load(ug.model_path("gripper"), "fixed")
    mimic = robot.joint("finger_right")
    assert float(follower.locator(".value").inner_text().split()[0]) == pytest.approx(mimic.ratio * 0.03 + mimic.offset, abs=5e-4)
    tab.page.locator("[data-row='shoulder'] input[type=number]").fill("400")
    tab.page.locator("[data-row='shoulder'] input[type=number]").press("Enter")
    assert "outside" in (tab.page.locator("[data-row='shoulder']").get_attribute("class") or "")
    tab.page.locator("#zero-pose").click()
    np.testing.assert_allclose(tab.run("urdfGibbs.stage.q"), robot.neutral())


LAYERS = ("visuals", "glass", "frames", "axes", "com", "ellipsoids", "boxes", "branches", "points", "names", "grid")


def test_every_box_shows_and_hides(panda_page: Opened) -> None:
    tab = panda_page
    tab.page.locator("#show-visuals").set_checked(True)
    first = tab.picture()
    for layer in LAYERS:
        was = tab.page.locator(f"#show-{layer}").is_checked()
        tab.page.locator(f"#show-{layer}").set_checked(not was)
        shown = changed(first, tab.picture())[:, :STAGE].sum()
        assert shown > 60, layer
        tab.page.locator(f"#show-{layer}").set_checked(was)
        left = changed(first, tab.picture())[:, :STAGE].sum()
        # Where faces of two links coincide, either may be in front after they were drawn as glass.
        assert left <= (0.03 * shown if layer == "glass" else 0), layer
        if layer == "glass":
            tab.page.locator("#show-visuals").set_checked(False)  # what is inside the links is hidden by them
            first = tab.picture()
    assert tab.complaints == []


def test_keys_switch_too(panda_page: Opened) -> None:
    tab = panda_page
    tab.page.keyboard.press("f")
    assert tab.page.locator("#show-frames").is_checked()
    tab.page.keyboard.press("f")
    assert not tab.page.locator("#show-frames").is_checked()
    tab.page.keyboard.press("t")
    assert tab.run("document.documentElement.dataset.theme") == "dark"
    dark = tab.picture()
    assert dark[:, 940:].mean() < 80  # the panel
    assert dark[5:40, 5:200].mean() < 80  # the sky


def test_centres_of_mass_and_joint_axes_are_where_the_robot_has_them(panda: ug.Robot, panda_page: Opened) -> None:
    tab = panda_page
    q = panda.random(4)
    tab.run(
        "(q) => { urdfGibbs.stage.apply(q); urdfGibbs.overlays.show('com', true); urdfGibbs.overlays.show('visuals', false); }", q.tolist()
    )
    total = ug.centre_of_mass(panda, q)
    np.testing.assert_allclose(tab.run("urdfGibbs.overlays.totalCom.position.toArray()"), total, atol=1e-9)
    x, y = on_screen(tab, total)
    assert tab.picture()[y, x] @ [-1, 0, 1] > 40  # the blue ball
    axis = tab.run("""() => { const stage = urdfGibbs.stage, i = stage.robot.links.findIndex((l) => l.name === 'panda_link4');
        const o = urdfGibbs.overlays.layers.get('axes').objects.find((o) => o.parent === stage.links[i].object);
        o.updateWorldMatrix(true, false);
        const v = new MeshCat.THREE.Vector3(0, 1, 0).transformDirection(o.matrixWorld);
        return v.applyQuaternion(stage.viewer.scene.quaternion.clone().invert()).toArray(); }""")
    turned = ug.frame_placement(panda, q, "panda_link4")[:3, :3] @ panda.joint("panda_joint4").axis
    np.testing.assert_allclose(axis, turned, atol=1e-9)


BAD = """<robot name="bad"><link name="root"/>
<link name="good"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="impossible"><inertial><origin xyz="0 0 0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="continuous"><parent link="root"/><child link="good"/><axis xyz="0 0 1"/></joint>
<joint name="b" type="continuous"><origin xyz="0 0 1"/><parent link="good"/><child link="impossible"/><axis xyz="0 1 0"/></joint></robot>"""


def test_an_inertia_that_no_body_has_is_red(open_page: OpenPage, tmp_path: Path) -> None:
    robot = ug.load(BAD, "fixed")
    tab = open_page(robot.view(theme="light").save(tmp_path / "bad.html"))
    for layer in ("branches", "points", "grid"):
        tab.run("(layer) => urdfGibbs.overlays.show(layer, false)", layer)
    tab.run("() => urdfGibbs.overlays.show('boxes', true)")
    picture = tab.picture()
    red = on_screen(tab, (0.0, 0.0, 1.5))
    green = on_screen(tab, (0.0, 0.0, 0.0))
    assert picture[red[1], red[0]] @ [2, -1, -1] > 150
    assert picture[green[1], green[0]] @ [-1, 2, -1] > 20
    problem = robot.view().data["robot"]["links"][2]["inertia"]["problem"]
    assert "sum of the other two" in problem


def test_a_robot_without_visuals_is_a_stick_figure_of_its_branches(open_page: OpenPage, tmp_path: Path) -> None:
    tab = open_page(ug.load(BAD, "fixed").view(theme="light").save(tmp_path / "stick.html"))
    assert tab.page.locator("#show-branches").is_checked()
    picture = tab.picture()
    x, y = on_screen(tab, (0.0, 0.0, 0.5))
    assert picture[y, x] @ [-1, 0, 1] > 40  # the first branch is blue


def test_a_robot_with_collision_shapes_alone_shows_them_and_stands_on_the_ground(open_page: OpenPage, tmp_path: Path) -> None:
    box = '<collision><origin xyz="0 0 0.2"/><geometry><box size="2 1 0.6"/></geometry></collision>'
    tab = open_page(
        ug.load(BAD.replace('<link name="root"/>', f'<link name="root">{box}</link>')).view(theme="light").save(tmp_path / "box.html")
    )
    tab.page.wait_for_function("document.body.dataset.collisions === '1'")
    assert tab.page.locator("#show-collisions").is_checked()
    assert tab.run("urdfGibbs.stage.ground.level + urdfGibbs.stage.ground.margin") == pytest.approx(-0.1, abs=1e-6)
    corners = np.array([on_screen(tab, (x, y, z)) for x in (-1.0, 1.0) for y in (-0.5, 0.5) for z in (-0.1, 0.5)])
    assert corners.min() >= 0 and corners[:, 0].max() <= STAGE and np.ptp(corners[:, 0]) > 0.4 * STAGE
    x, y = on_screen(tab, (0.9, 0.0, 0.5))
    assert tab.picture()[y, x] @ [1, 0, -1] > 60  # orange


def test_a_missing_mesh_is_labelled_in_its_place_and_listed(open_page: OpenPage, tmp_path: Path) -> None:
    text = BAD.replace(
        '<link name="root"/>', '<link name="root"><visual><geometry><mesh filename="package://gone/claw.stl"/></geometry></visual></link>'
    )
    view = ug.load(text, "fixed").view(theme="light")
    assert len(view.missing) == 1
    tab = open_page(view.save(tmp_path / "missing.html"))
    assert "package://gone/claw.stl" in tab.page.locator("#missing").inner_text()
    labels = tab.run(
        """() => { const found = []; urdfGibbs.stage.links[0].object.traverse((o) => { if (o.userData.text) found.push(o.userData.text); }); return found; }"""
    )
    assert "claw.stl" in labels
    tab.page.locator("#missing li").click()
    assert tab.run("document.body.dataset.lit") == "root"


def test_a_click_on_a_link_selects_it(panda: ug.Robot, panda_page: Opened) -> None:
    tab = panda_page
    x, y = on_screen(tab, ug.frame_placement(panda, panda.neutral(), "panda_link4")[:3, 3])
    before = tab.picture()
    tab.page.mouse.click(x, y)
    lit = tab.run("document.body.dataset.lit")
    assert lit.startswith("panda_link")
    assert lit in tab.page.locator("#selection").inner_text()
    assert changed(before, tab.picture())[:, :STAGE].sum() > 100


def test_names_from_a_file_are_text_and_never_markup(open_page: OpenPage, tmp_path: Path) -> None:
    evil = "&lt;/script&gt;&lt;img src=x onerror=document.body.dataset.evil=1&gt;@@title@@"
    text = (
        BAD.replace('name="bad"', f'name="{evil}"')
        .replace('name="impossible"', f'name="{evil}"')
        .replace('link="impossible"', f'link="{evil}"')
    )
    tab = open_page(ug.load(text, "fixed").view().save(tmp_path / "evil.html"))
    assert tab.complaints == []
    assert tab.run("document.body.dataset.evil") is None
    assert "onerror" in tab.page.locator("h1").inner_text()


def test_links_may_have_names_that_every_javascript_object_has(open_page: OpenPage, tmp_path: Path) -> None:
    box = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'
    names = ("constructor", "__proto__", "toString", "hasOwnProperty", "a/b", "%2F", "..", "🤖")
    text = f'<robot name="r"><link name="base">{box}</link>' + "".join(
        f'<link name="{name}">{box}</link><joint name="to {name}" type="fixed"><parent link="base"/><child link="{name}"/>'
        f'<origin xyz="{0.2 * (i + 1)} 0 0"/></joint>'
        for i, name in enumerate(names)
    )
    tab = open_page(ug.load(text + "</robot>").view().save(tmp_path / "names.html"))
    assert tab.complaints == []
    for i, name in enumerate(names):
        assert tab.run("(name) => urdfGibbs.stage.linkMatrix(name)", name)[3] == pytest.approx(0.2 * (i + 1))


@pytest.mark.parametrize("layer", ["branches", "points"])
def test_what_is_inside_the_links_is_drawn_over_them(panda: ug.Robot, panda_page: Opened, layer: str) -> None:
    tab = panda_page
    before = tab.picture()
    tab.page.locator(f"#show-{layer}").check()
    ink = changed(before, tab.picture())
    for link in ("panda_link4", "panda_link6"):
        x, y = on_screen(tab, ug.frame_placement(panda, panda.neutral(), link)[:3, 3])
        assert ink[y - 1 : y + 2, x - 1 : x + 2].all(), link


def test_sliders_of_odd_limits(open_page: OpenPage, tmp_path: Path) -> None:
    """Equal limits hold a joint, inverted ones are none, as the simulation has it; limits beyond a turn are the slider's range. The mid
    pose is that of the limits, wherever the slider ends."""
    given = {
        "equal": (0.5, 0.5),
        "inverted": (1.0, -1.0),
        "far": (10.0, 12.0),
        "wide": (-600.0, 600.0),
        "odd": (-300.0, 600.0),
        "long": (-90.0, 100.0),
    }
    text = '<robot name="r"><link name="base"/>' + "".join(
        f'<link name="l{name}"/><joint name="{name}" type="{"prismatic" if name == "long" else "revolute"}"><parent link="base"/><child link="l{name}"/><axis xyz="0 0 1"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/></joint>'
        for name, (lower, upper) in given.items()
    )
    tab = open_page(ug.load(text + "</robot>").view().save(tmp_path / "limits.html"))
    texts, ranges, size = {}, {}, tab.run("urdfGibbs.stage.data.camera.size")
    for name in given:
        row = tab.page.locator(f"[data-row='{name}']")
        texts[name] = row.locator(".limits").inner_text()
        ranges[name] = [float(row.locator("input[type=range]").get_attribute(end)) for end in ("min", "max")]
    assert texts == {
        "equal": "28.65 … 28.65 °",
        "inverted": "no limits [°]",
        "far": "573 … 687.5 °",
        "wide": "-34380 … 34380 °",
        "odd": "-17190 … 34380 °",
        "long": "-90 … 100 m",
    }
    assert ranges == {
        "equal": [-180.0, 180.0],
        "inverted": [-180.0, 180.0],
        "far": pytest.approx([573.0, 687.5], abs=0.1),
        "wide": [-360.0, 360.0],
        "odd": [-360.0, 360.0],
        "long": pytest.approx([-5.0 * size, 5.0 * size]),
    }
    tab.page.keyboard.press("8")
    q = dict(zip(sorted(given), tab.run("urdfGibbs.stage.q"), strict=True))  # siblings stand by their names
    assert q == pytest.approx({"equal": 0.5, "inverted": 0.0, "far": 11.0, "wide": 0.0, "odd": 150.0, "long": 5.0}, abs=1e-9)
    tab.page.keyboard.press("9")
    assert abs(tab.run("urdfGibbs.stage.q")[sorted(given).index("long")]) <= 5.0 * size, "random poses stay in sight"
    tab.page.keyboard.press("0")
    assert "outside" in tab.page.locator("[data-row='equal']").get_attribute("class")


@pytest.mark.parametrize(
    ("size", "written"), [(0.004, "0.001234, 0.000000, 0.000000"), (0.8, "0.2469, 0.0000, 0.0000"), (50.0, "15.4300, 0.0000, 0.0000")]
)
def test_places_are_told_as_finely_as_the_robot_is_large(size: float, written: str, open_page: OpenPage, tmp_path: Path) -> None:
    joint = '<joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
    link = f'<link name="{{}}"><visual><geometry><box size="{size} {size} {size}"/></geometry></visual></link>'
    text = f'<robot name="r">{link.format("a")}{link.format("b")}{joint}<limit lower="{-size}" upper="{size}" effort="1" velocity="1"/></joint></robot>'
    tab = open_page(ug.load(text).view().save(tmp_path / "size.html"))
    tab.run("(q) => urdfGibbs.stage.apply(q)", [0.3086 * size])
    tab.page.locator("#frame summary").click()
    tab.page.locator("#frame-of").select_option(label="b")
    assert tab.page.locator("#pose tr").first.inner_text() == f"position\t{written} m"
    number = float(tab.page.locator("[data-row='j'] input[type=number]").input_value())
    assert number == pytest.approx(0.3086 * size, rel=0.01, abs=0.0)
    assert tab.complaints == []


def test_a_long_name_is_told_within_the_scene(open_page: OpenPage, tmp_path: Path) -> None:
    name = "a_link_with_a_name_that_is_longer_than_most_of_them"
    box = f'<link name="{name}"><visual><geometry><box size="1 1 1"/></geometry></visual></link>'
    tab = open_page(ug.load(f'<robot name="r">{box}</robot>').view(theme="light").save(tmp_path / "long.html"))
    tab.run(
        "() => { urdfGibbs.stage.views.along('front'); const { camera, controls } = urdfGibbs.stage.viewer; camera.position.lerp(controls.target, 0.6); controls.update(); }"
    )
    for x, y in ((STAGE - 5, 400), (STAGE // 2, 795)):
        tab.page.mouse.move(x, y)
        tab.page.wait_for_function("!document.getElementById('tip').hidden")
        tip = tab.page.locator("#tip").bounding_box()
        assert tip["x"] >= 0 and tip["x"] + tip["width"] <= STAGE and tip["y"] + tip["height"] <= 800 and tip["width"] > 200
        assert tab.page.locator("#tip").inner_text() == name
