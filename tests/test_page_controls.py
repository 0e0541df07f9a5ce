"""The controls of a robot's page in a real browser: what each of them draws, hides or tells, against the file, Pinocchio and geometry."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from conftest import Opened
from page_actions import STAGE, changed, on_screen, set_slider
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug

OpenPage = Callable[[Path], Opened]
ARMS = 9  # two more than there are colours
TENSOR = np.array([[0.3, 0.05, -0.02], [0.05, 0.25, 0.04], [-0.02, 0.04, 0.2]])
MESH = "v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def arm(i: int) -> str:
    yaw = 2.0 * math.pi * i / ARMS
    mirror = "1 -1 1" if i % 2 else "1 1 1"
    return f"""<link name="arm{i}">
<inertial><origin xyz="0.3 0 0"/><mass value="1.5"/><inertia ixx="0.3" ixy="0.05" ixz="-0.02" iyy="0.25" iyz="0.04" izz="0.2"/></inertial>
<visual><origin xyz="0.4 0 0"/><geometry><box size="0.6 0.08 0.08"/></geometry></visual>
<visual><origin xyz="0.7 0 0.1"/><geometry><mesh filename="fin.obj" scale="{mirror}"/></geometry></visual>
<collision><origin xyz="0.6 0 0.35"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="j{i}" type="revolute"><parent link="hub"/><child link="arm{i}"/><origin xyz="{0.2 * math.cos(yaw):.6f} {0.2 * math.sin(yaw):.6f} 0" rpy="0 0 {yaw:.6f}"/>
<axis xyz="0 1 0"/><limit lower="{-0.2 - 0.1 * i}" upper="0.9" effort="12.5" velocity="2.5"/></joint>
<link name="tip{i}"/><joint name="t{i}" type="fixed"><parent link="arm{i}"/><child link="tip{i}"/><origin xyz="0.7 0 0" rpy="0.1 0.2 0.3"/></joint>"""


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> ug.Robot:
    """Nine arms about a hub; their fins are one mesh, mirrored on every other arm."""
    folder = tmp_path_factory.mktemp("star")
    (folder / "fin.obj").write_text(MESH)
    hub = """<link name="hub"><visual><geometry><cylinder radius="0.15" length="0.1"/></geometry></visual>
<collision><origin xyz="0 0 0.5"/><geometry><mesh filename="fin.obj"/></geometry></collision></link>"""
    (folder / "star.urdf").write_text(f'<robot name="star">{hub}{"".join(map(arm, range(ARMS)))}</robot>')
    return ug.load(folder / "star.urdf")


@pytest.fixture
def page(star: ug.Robot, open_page: OpenPage, tmp_path: Path) -> Opened:
    return open_page(star.view(theme="light").save(tmp_path / "star.html"))


def oracle(star: ug.Robot, q: Any) -> Callable[[str], Any]:
    """Frames (4, 4) of links in the world at q, by Pinocchio from the file."""
    model = pin.buildModelFromUrdf(star.file)
    data = model.createData()
    pin.framesForwardKinematics(model, data, star.q_to_pinocchio(q))
    return lambda link: data.oMf[model.getFrameId(link, pin.FrameType.BODY)].homogeneous


def test_collision_shapes_are_drawn_when_asked_and_where_the_file_has_them(star: ug.Robot, page: Opened) -> None:
    assert page.complaints == [] and page.outside == []
    assert page.run("urdfGibbs.stage.drawn('collision').length") == 0, "they cost nothing before"
    page.run("() => { urdfGibbs.views = 0; urdfGibbs.stage.views.along('top'); urdfGibbs.overlays.show('shadows', false); }")
    before = page.picture()
    page.page.keyboard.press("h")
    page.page.wait_for_function(f"document.body.dataset.collisions === '{ARMS + 1}'")
    ink = changed(before, page.picture())[:, :STAGE]
    frame = oracle(star, star.neutral())
    x, y = on_screen(page, (0.1, 0.06, 0.5 + 0.1 * (1.0 - 0.1 / 0.3 - 0.06 / 0.2)))  # on the slope of the mesh
    assert ink[y - 2 : y + 3, x - 2 : x + 3].all()
    uuids = [page.run(f"urdfGibbs.stage.drawn('{kind}').map((one) => one.mesh.geometry.uuid)") for kind in ("visual", "collision")]
    assert uuids[1][0] in uuids[0], "the same mesh as in the visuals, stored once"
    for i in range(ARMS):
        centre = (frame(f"arm{i}") @ [0.6, 0.0, 0.35, 1.0])[:3]
        x, y = on_screen(page, centre)
        edge = on_screen(page, np.add(centre, (0.0, 0.1, 0.0)))
        assert ink[y, x] and ink[y - 2 : y + 3, x - 2 : x + 3].all()
        assert math.hypot(edge[0] - x, edge[1] - y) > 4.0 and not ink[round(2.4 * edge[1] - 1.4 * y), round(2.4 * edge[0] - 1.4 * x)]
    set_slider(page, "j0", 45.0)  # they move with their links
    q = star.neutral()
    q[star.joint("j0").iq] = math.radians(45.0)
    sphere = page.run(
        "() => { const m = urdfGibbs.stage.drawn('collision')[1].mesh; m.updateWorldMatrix(true, false);"
        " return new MeshCat.THREE.Vector3().setFromMatrixPosition(m.matrixWorld).applyQuaternion(urdfGibbs.stage.viewer.scene.quaternion.clone().invert()).toArray(); }"
    )
    np.testing.assert_allclose(sphere, (oracle(star, q)("arm0") @ [0.6, 0.0, 0.35, 1.0])[:3], atol=1e-6)
    page.page.keyboard.press("h")
    page.page.keyboard.press("0")
    assert not changed(before, page.picture())[:, :STAGE].any()


def test_the_pose_of_a_frame_is_pinocchios_and_follows_the_sliders(star: ug.Robot, page: Opened) -> None:
    page.page.locator("#frame summary").click()
    page.page.locator("#frame-of").select_option(label="tip4")
    q = star.random(3)
    for base in ("the world", "arm7"):
        page.page.locator("#frame-in").select_option(label=base)
        for shift in (0.0, 0.3):
            q[star.joint("j4").iq] += shift
            page.run("(q) => urdfGibbs.stage.apply(q)", q.tolist())
            frame = oracle(star, q)
            expected = frame("tip4") if base == "the world" else np.linalg.inv(frame(base)) @ frame("tip4")
            turn = Rotation.from_matrix(expected[:3, :3])
            found = page.run("urdfGibbs.panel.inspector.found")
            np.testing.assert_allclose(found["position"], expected[:3, 3], atol=1e-9)
            np.testing.assert_allclose(found["rpy"], turn.as_euler("xyz"), atol=1e-9)
            np.testing.assert_allclose(found["quaternion"], turn.as_quat(canonical=True), atol=1e-9)
            text = page.page.locator("#pose").inner_text()
            for written in (
                ", ".join(f"{x + 0.0:.4f}" for x in expected[:3, 3]),
                ", ".join(f"{x:.5f}" for x in turn.as_quat(canonical=True)),
            ):
                assert written in text.replace("-0.0000,", "0.0000,")
    turns = Rotation.random(60, random_state=0)
    frames = np.tile(np.eye(4), (60, 1, 1))
    frames[:, :3, :3] = turns.as_matrix()
    frames[:3, :3, :3] = [np.diag(signs) for signs in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1))]  # half turns: each entry is the largest once
    quaternions = np.array(page.run("(ms) => ms.map(quaternionOf)", frames.reshape(60, 16).tolist()))
    np.testing.assert_allclose(Rotation.from_quat(quaternions).as_matrix(), frames[:, :3, :3], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-15)
    assert quaternions[:, 3].min() >= 0.0
    shown = page.picture()
    page.run("() => { urdfGibbs.panel.inspector.triad.visible = false; urdfGibbs.stage.viewer.set_dirty(); }")
    ink = changed(shown, page.picture())
    x, y = on_screen(page, frame("tip4")[:3, 3])
    assert ink[y - 4 : y + 5, x - 4 : x + 5].any(), "the frame is drawn where it stands"


def test_a_selected_link_tells_its_mass_inertia_and_limits(page: Opened) -> None:
    page.page.locator("#links summary").click()
    page.page.locator("#links button", has_text="arm3").click()
    facts = page.page.locator("#selection").inner_text()
    moments = ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(TENSOR))
    for told in (
        "arm3 (line",
        "moved by j3 (revolute)",
        "mass\t1.5 kg",
        "0.3, 0, 0 m",
        f"{moments} kg m²",
        f"{math.degrees(-0.5):.4g} … {math.degrees(0.9):.4g} °",
        f"{math.degrees(2.5):.4g} °/s",
        "12.5 N m",
    ):
        assert told in facts, told
    assert page.run("document.body.dataset.lit") == "arm3"
    assert page.run("document.getElementById('frame-of').selectedOptions[0].textContent") == "arm3"
    page.page.locator("#links button", has_text="tip3").click()
    assert "no <inertial>" in page.page.locator("#selection").inner_text()


def test_links_are_hidden_one_by_one(star: ug.Robot, page: Opened) -> None:
    page.run("() => { urdfGibbs.stage.views.along('top'); urdfGibbs.overlays.show('shadows', false); }")
    before = page.picture()
    at = {i: on_screen(page, (oracle(star, star.neutral())(f"arm{i}") @ [0.5, 0.0, 0.04, 1.0])[:3]) for i in range(ARMS)}
    page.page.locator("#links summary").click()
    page.page.locator("input[data-link=arm2]").uncheck()
    ink = changed(before, page.picture())[:, :STAGE]
    assert [i for i, (x, y) in at.items() if ink[y, x]] == [2]
    page.run("() => urdfGibbs.overlays.show('visuals', false)")
    page.run("() => urdfGibbs.overlays.show('visuals', true)")
    assert [i for i, (x, y) in at.items() if changed(before, page.picture())[y, x]] == [2], "also when all links come back"
    assert page.run("(p) => urdfGibbs.stage.linkAt({ clientX: p[0], clientY: p[1] })", list(at[2])) == -1, "it is not picked either"
    page.run("() => urdfGibbs.stage.light(['arm5'])")
    page.page.locator("#show-only").click()
    page.run("() => urdfGibbs.stage.light([])")
    ink = changed(before, page.picture())
    assert [i for i, (x, y) in at.items() if not ink[y, x]] == [5]
    page.page.locator("#show-all").click()
    assert not changed(before, page.picture())[:, :STAGE].any()
    page.page.locator("#links input[type=search]").fill("TIP")
    assert page.page.locator("#links li:visible").count() == ARMS
    page.run("() => urdfGibbs.stage.light(['arm1'])")
    page.page.locator("#hide-link").click()
    assert not page.page.locator("input[data-link=arm1]").is_checked()


def test_the_camera_stands_along_the_axes_and_fits_the_robot(star: ug.Robot, page: Opened) -> None:
    home = page.run("urdfGibbs.stage.viewer.camera.position.toArray()")

    def seen() -> Any:
        """Where the world's axes point on the screen, and whether they come towards the camera."""
        o, *ends = (on_screen(page, p) for p in np.vstack([np.zeros(3), 0.3 * np.eye(3)]))
        return [(np.sign(e[0] - o[0]) * (abs(e[0] - o[0]) > 9), np.sign(o[1] - e[1]) * (abs(o[1] - e[1]) > 9)) for e in ends]

    for name, x, y, z in (("front", (0, 0), (1, 0), (0, 1)), ("side", (1, 0), (0, 0), (0, 1)), ("top", (1, 0), (0, 1), (0, 0))):
        page.page.locator(f"#view-{name}").click()
        assert seen() == [x, y, z], name
        page.page.locator(f"#view-{name}").click()  # from behind: one of the two directions turns round
        assert seen() != [x, y, z] and [tuple(map(abs, one)) for one in seen()] == [x, y, z], name
    page.run("() => { urdfGibbs.stage.viewer.camera.position.multiplyScalar(7); urdfGibbs.stage.viewer.controls.update(); }")
    page.page.keyboard.press("4")
    corners = np.array(
        page.run(
            "() => urdfGibbs.stage.corners().map((p) => p.applyQuaternion(urdfGibbs.stage.viewer.scene.quaternion.clone().invert()).toArray())"
        )
    )
    pixels = np.array([on_screen(page, p) for p in corners])
    assert pixels.min() >= 0 and pixels[:, 0].max() <= STAGE and pixels[:, 1].max() <= 800
    assert max(np.ptp(pixels[:, 0]) / STAGE, np.ptp(pixels[:, 1]) / 800) > 0.8
    page.page.locator("#view-reset").click()
    np.testing.assert_allclose(page.run("urdfGibbs.stage.viewer.camera.position.toArray()"), home, atol=1e-9)
    page.page.set_viewport_size({"width": 300, "height": 800})
    page.settled()
    bar, stage = (page.page.locator(one).bounding_box() for one in ("#views", "#stage"))
    assert (
        bar is not None
        and stage is not None
        and bar["x"] >= 0
        and bar["x"] + bar["width"] <= stage["width"]
        and bar["y"] + bar["height"] < 0.3 * stage["height"]
    )
    page.page.locator("#view-reset").click()
    pixels = np.array([on_screen(page, p) for p in corners])
    assert pixels[:, 0].min() >= 0 and pixels[:, 0].max() <= 300, "a narrow window has the whole robot too"


def test_every_key_does_what_its_button_does_and_means_one_thing(star: ug.Robot, page: Opened) -> None:
    place = "urdfGibbs.stage.viewer.camera.position.toArray()"
    seen = []
    for key, name in zip("12345", ("front", "side", "top", "fit", "reset"), strict=True):
        found = []
        for action in (page.page.locator(f"#view-{name}").click, lambda key=key: page.page.keyboard.press(key)):
            page.run(
                "() => { const { camera, controls } = urdfGibbs.stage.viewer; camera.position.set(3, 2, 1); controls.target.set(0, 0, 0); controls.update(); urdfGibbs.stage.views.last = ''; }"
            )
            action()
            found.append(page.run(place))
        np.testing.assert_allclose(found[0], found[1], atol=1e-9, err_msg=name)
        seen.append(found[0])
    assert np.ptp(seen, axis=0).min() > 0.5, "the five differ"
    poses = []
    for key, name in zip("780", ("start", "mid", "zero"), strict=True):
        for action in (page.page.locator(f"#{name}-pose").click, lambda key=key: page.page.keyboard.press(key)):
            page.run("(q) => urdfGibbs.stage.apply(q)", star.random(1).tolist())
            action()
            poses.append(page.run("urdfGibbs.stage.q"))
    assert poses[0] == poses[1] == poses[4] == poses[5] == star.neutral().tolist() != poses[2] == poses[3]
    for key, layer in page.run("[...urdfGibbs.overlays.layers].map(([key, one]) => [one.shortcut, key])"):
        was = page.page.locator(f"#show-{layer}").is_checked()
        for now in (not was, was):
            page.page.keyboard.press(key)
            assert page.page.locator(f"#show-{layer}").is_checked() is now, layer
    source = "".join(file.read_text() for file in sorted((Path(ug.__file__).parent / "view" / "page").glob("*.js")))
    keys = [key for _, key in re.findall(r'(?:layer|perLink)\("(\w+)", "[^"]+", "(\w)"', source)]
    bound = [key.lower() for key in re.findall(r'bind\("(\w+| )"', source)] + list("1234567890")
    assert len(keys) >= 18 and len(set(keys + bound)) == len(keys + bound), "also where a page has all layers"


def test_the_mouse_turns_shifts_and_zooms(page: Opened) -> None:
    state = "() => { const { camera, controls } = urdfGibbs.stage.viewer; return [camera.position.toArray(), controls.target.toArray()]; }"

    def moved(button: str = "", wheel: float = 0.0) -> tuple[Any, Any]:
        page.page.locator("#view-reset").click()
        before = np.array(page.run(state))
        page.page.mouse.move(400, 400)
        if button:
            page.page.mouse.down(button=button)
            page.page.mouse.move(520, 430, steps=4)
            page.page.mouse.up(button=button)
        else:
            page.page.mouse.wheel(0.0, wheel)
        page.settled()
        return before, np.array(page.run(state))

    def away(one: Any) -> float:
        return float(np.linalg.norm(one[0] - one[1]))

    before, after = moved("left")
    assert np.allclose(before[1], after[1]) and away(before) == pytest.approx(away(after)) and np.abs(before[0] - after[0]).max() > 0.1
    before, after = moved("right")
    np.testing.assert_allclose(after[0] - before[0], after[1] - before[1], atol=1e-9)
    assert np.abs(after[1] - before[1]).max() > 0.05
    for wheel, closer in ((-300.0, True), (300.0, False)):
        before, after = moved(wheel=wheel)
        assert np.allclose(before[1], after[1]) and (away(after) < 0.97 * away(before)) is closer and away(after) != away(before)
    assert page.run("document.body.dataset.lit || ''") == "", "a drag selects nothing"


def test_poses_and_a_copy_of_q(star: ug.Robot, page: Opened) -> None:
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    low, high = (np.array([getattr(joint, end) for joint in star.joints]) for end in ("lower", "upper"))
    page.page.locator("#mid-pose").click()
    np.testing.assert_allclose(page.run("urdfGibbs.stage.q"), 0.5 * (low + high), atol=1e-12)
    poses = []
    for _ in range(5):
        page.page.keyboard.press("9")
        poses.append(page.run("urdfGibbs.stage.q"))
    spread = (np.array(poses) - low) / (high - low)
    assert (spread > 0.0).all() and (spread < 1.0).all() and np.ptp(spread) > 0.8
    page.page.locator("#copy-q").click()
    page.page.wait_for_function("document.getElementById('copy-q').textContent === 'copied'")
    assert ast.literal_eval(page.run("navigator.clipboard.readText()")) == poses[-1]
    assert ast.literal_eval(page.page.locator("#q-text").input_value()) == poses[-1]
    page.page.keyboard.press("0")
    assert page.run("urdfGibbs.stage.q") == star.neutral().tolist()


def test_names_cover_neither_the_robot_nor_each_other(star: ug.Robot, page: Opened) -> None:
    page.page.keyboard.press("n")
    page.settled()
    boxes = page.run(
        "() => [...document.querySelectorAll('#labels span')].map((one) => { const r = one.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"
    )
    assert len(boxes) >= 2 * ARMS
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert min(a[2], b[2]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[1], b[1]) + 1.0
    robot = page.run(
        "() => { const s = urdfGibbs.stage, back = s.viewer.scene.quaternion.clone().invert(); return s.corners().map((p) => s.onScreen(p.applyQuaternion(back).toArray())); }"
    )
    left, right = np.min(robot, axis=0)[0], np.max(robot, axis=0)[0]
    assert all(box[2] < left or box[0] > right for box in boxes)
    ends = page.run(
        "() => [...document.querySelectorAll('#labels path')].map((one) => one.getAttribute('d').split(' L ').pop().split(' ').map(Number))"
    )
    frame = oracle(star, star.neutral())
    for link in star.link_names:
        assert np.abs(np.array(ends) - on_screen(page, frame(link)[:3, 3])).max(axis=1).min() < 4.0, link
    page.page.keyboard.press("n")
    x, y = on_screen(page, (frame("arm6") @ [0.5, 0.0, 0.04, 1.0])[:3])
    page.page.mouse.move(x, y)
    page.page.wait_for_function("!document.getElementById('tip').hidden")
    assert page.page.locator("#tip").inner_text() == "arm6"
    page.page.mouse.move(5, 5)
    page.page.wait_for_function("document.getElementById('tip').hidden")


def test_names_have_room_where_all_of_the_robot_is_in_sight(page: Opened) -> None:
    """The camera steps back for them; who looks at a part of the robot keeps that view, and it stays once they go."""
    place = "urdfGibbs.stage.viewer.camera.position.toArray()"
    span = "() => { const s = urdfGibbs.stage; const x = s.corners().map((p) => p.project(s.viewer.camera).x); return [Math.min(...x), Math.max(...x)]; }"
    edges = "() => [...document.querySelectorAll('#labels span')].map((one) => { const r = one.getBoundingClientRect(); return [r.left, r.right]; })"
    page.page.set_viewport_size({"width": 700, "height": 500})
    page.page.locator("#view-fit").click()
    before = page.run(place)
    page.page.keyboard.press("n")
    page.settled()
    stage = page.page.locator("#stage").bounding_box()["width"]
    left, right = (0.5 * stage * (1.0 + x) for x in page.run(span))
    assert page.run(place) != before and len(boxes := page.run(edges)) >= 2 * ARMS
    assert (
        all(box[1] < left or box[0] > right for box in boxes)
        and min(box[0] for box in boxes) >= 0
        and max(box[1] for box in boxes) <= stage
    )
    page.page.keyboard.press("n")
    page.page.locator("#view-fit").click()
    np.testing.assert_allclose(page.run(place), before, atol=1e-9)
    page.run(
        "() => { const { camera, controls } = urdfGibbs.stage.viewer; camera.position.lerp(controls.target, 0.6); controls.update(); }"
    )
    near = page.run(place)
    page.page.keyboard.press("n")
    page.settled()
    np.testing.assert_allclose(page.run(place), near, atol=1e-9)


def lowest(star: ug.Robot, q: Any) -> float:
    """Of the corners of boxes and fins, from the file."""
    frame = oracle(star, q)
    box = [[0.1 + 0.6 * (i & 1), 0.04 - 0.08 * (i >> 1 & 1), 0.04 - 0.08 * (i >> 2)] for i in range(8)]
    heights = [-0.05]
    for i in range(ARMS):
        fin = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]]) * [1, -1 if i % 2 else 1, 1] + [0.7, 0.0, 0.1]
        heights += [float((frame(f"arm{i}") @ [*point, 1.0])[2]) for point in (*box, *fin)]
    return min(heights)


def test_the_grid_stays_below_the_robot_and_shadows_fall_on_it(star: ug.Robot, page: Opened) -> None:
    for degrees in (0.0, 50.0, 0.0):  # down below the hub, and up again
        set_slider(page, "j0", degrees)
        q = star.neutral()
        q[star.joint("j0").iq] = math.radians(degrees)
        low = lowest(star, q)
        level, margin = page.run("[urdfGibbs.stage.ground.level, urdfGibbs.stage.ground.margin]")
        assert level == pytest.approx(low - margin, abs=1e-6)
        assert page.run("urdfGibbs.stage.ground.object.position.z") == pytest.approx(level, abs=1e-9)
        assert 0.0 < margin < 0.01
    with_shadows = page.picture()
    page.page.keyboard.press("d")
    without = page.picture()
    ink = changed(with_shadows, without)[:, :STAGE]
    assert ink.sum() > 3000
    assert (with_shadows - without)[:, :STAGE][ink].mean() < -8.0, "what is in the shadow is darker"
    x, y = on_screen(page, (0.0, 0.0, 0.05))
    assert not ink[y, x], "the top of the hub is in the sun"


def test_nine_branches_are_told_apart_and_looked_at_alone(star: ug.Robot, page: Opened) -> None:
    page.run(
        "() => { urdfGibbs.stage.views.along('top'); for (const layer of ['visuals', 'shadows', 'grid']) urdfGibbs.overlays.show(layer, false); }"
    )
    empty = page.picture()
    page.page.keyboard.press("b")
    picture = page.picture()
    looks = page.run(
        "() => [...document.querySelectorAll('.branches .swatch')].map((one) => getComputedStyle(one).backgroundImage + getComputedStyle(one).backgroundColor)"
    )
    assert len(looks) == ARMS == len(set(looks))
    frame = oracle(star, star.neutral())
    ink = changed(empty, picture)
    along: dict[int, Any] = {}
    for number, branch in enumerate(star.branches):
        i = int(branch.joint_names[-1][1:])
        ends = [np.array(on_screen(page, frame(link)[:3, 3]), dtype=float) for link in (f"arm{i}", f"tip{i}")]
        pixels = np.array([ends[0] + s * (ends[1] - ends[0]) for s in np.linspace(0.15, 0.85, 60)]).round().astype(int)
        assert ink[pixels[:, 1], pixels[:, 0]].mean() > 0.9
        along[number] = pixels
    light = {number: (picture[p[:, 1], p[:, 0]].min(axis=1) > 170).mean() for number, p in along.items()}
    assert max(light[n] for n in range(7)) < 0.05 and min(light[7], light[8]) > 0.15, "white rings on the colours that come again"
    page.page.locator(".branches button").nth(7).click()
    alone = page.picture()
    left = {number: changed(empty, alone)[p[:, 1], p[:, 0]].mean() for number, p in along.items()}
    assert left[7] > 0.9 and np.abs(alone - empty)[along[0][:, 1], along[0][:, 0]].max(axis=1).mean() < 40.0
    page.page.locator(".branches button").nth(7).click()
    assert not changed(picture, page.picture())[:, :STAGE].any()


def test_a_mesh_that_is_used_nine_times_is_one_and_mirrored_where_the_file_says(star: ug.Robot, page: Opened) -> None:
    meshes = page.run("""() => urdfGibbs.stage.meshes.filter(({ node }) => node.name === 'visual 1').map(({ mesh, link }) => {
        mesh.updateWorldMatrix(true, false);
        const p = mesh.geometry.attributes.position, back = urdfGibbs.stage.viewer.scene.quaternion.clone().invert(), all = [];
        for (let i = 0; i < p.count; i++) all.push(new MeshCat.THREE.Vector3().fromBufferAttribute(p, i).applyMatrix4(mesh.matrixWorld).applyQuaternion(back).toArray());
        return { link, uuid: mesh.geometry.uuid, all }; })""")
    assert len(meshes) == ARMS and len({one["uuid"] for one in meshes}) == 1
    frame = oracle(star, star.neutral())
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
    links = page.run("urdfGibbs.stage.robot.links.map((link) => link.name)")
    for one in meshes:
        i = int(links[one["link"]][3:])
        own = corners * [1, -1 if i % 2 else 1, 1] + [0.7, 0.0, 0.1]
        expected = own @ frame(f"arm{i}")[:3, :3].T + frame(f"arm{i}")[:3, 3]
        for point in expected:
            assert np.abs(np.array(one["all"]) - point).max(axis=1).min() < 1e-6
