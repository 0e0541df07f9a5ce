"""The scene of meshcat's commands, without a browser: where links and visuals are, and that none is left out."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import FILES, FOLDER, files
from scene_data import OBJ, URDF, Tree, link_path
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.view.scene import robot_scene

EXACT = 1e-9  # m and entries of rotations: round-off of chains of some dozen joints is far below
SINGLE = 1e-6  # relative: vertices are single precision


def visual_path(link: str, number: int) -> tuple[str, ...]:
    return (*link_path(link), f"visual {number}")


def load(file: str, base: str) -> tuple[ug.Robot, bool]:
    try:
        return ug.load(FOLDER / file, base), True
    except ug.UrdfError:  # mimic joints that follow joints which do not exist
        return ug.load(FOLDER / file, base, mimic=False), False


def origin(visual: ET.Element) -> Any:
    element = visual.find("origin")
    matrix = np.eye(4)
    if element is not None:
        matrix[:3, 3] = [float(x) for x in element.get("xyz", "0 0 0").split()]
        matrix[:3, :3] = Rotation.from_euler("xyz", [float(x) for x in element.get("rpy", "0 0 0").split()]).as_matrix()
    return matrix


@pytest.mark.parametrize("file", files("go1_description/urdf/go1.urdf"))
def test_links_stand_where_pinocchio_has_them_and_every_visual_is_there_or_listed(file: str) -> None:
    for base, seed in (
        (("floating", 1), ("fixed", 2))[FILES.index(file) % 2],
    ):  # bases in turn: meshes are the cost, and the same for both
        robot, mimic = load(file, base)
        q = robot.random(seed)
        scene = robot_scene(robot, q)
        tree = Tree(scene.commands)
        oracle = Oracle(FOLDER / file, base, mimic, (0.0, 0.0, -9.81))
        oracle.pin.framesForwardKinematics(oracle.model, oracle.data, oracle.configuration(q))
        elements = ET.parse(FOLDER / file).getroot()
        missing = {(one.link, one.visual) for one in scene.missing}
        for link in elements.iter("link"):
            name = link.get("name", "")
            number = oracle.model.getFrameId(name, oracle.pin.FrameType.BODY)
            assert number < oracle.model.nframes, name
            expected = oracle.data.oMf[number].homogeneous
            np.testing.assert_allclose(tree.world(*link_path(name)), expected, rtol=0.0, atol=EXACT, err_msg=name)
            for i, visual in enumerate(link.findall("visual")):
                path = visual_path(name, i)
                assert path in tree.objects, path
                np.testing.assert_allclose(tree.world(*path), expected @ origin(visual), rtol=0.0, atol=EXACT, err_msg=str(path))
                mesh = visual.find("geometry/mesh")
                listed = (name, i) in missing
                assert not listed or mesh is not None, "only meshes can be missing"
                if listed:
                    assert mesh is not None
                    assert next(one.filename for one in scene.missing if (one.link, one.visual) == (name, i)) == mesh.get("filename")
        drawn = sum(len(link.findall("visual")) for link in elements.iter("link"))
        assert len(tree.objects) == drawn
        assert scene.visible == drawn - len(missing)
        # The package ships the meshes of all robots but one: anything else that is not found would be our own loss.
        assert bool(missing) == (file == "romeo_description/urdf/romeo_laas_small.urdf")


def test_vertices_are_where_the_file_puts_them(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    robot = ug.load(_written(tmp_path, "part.obj", "2 3 4"), "fixed")
    scene = robot_scene(robot, [0.25])
    tree = Tree(scene.commands)
    assert not scene.missing
    box = tree.vertices(*visual_path("base", 0))
    np.testing.assert_allclose([box.min(axis=0), box.max(axis=0)], [[0.8, 1.9, 2.7], [1.2, 2.1, 3.3]], rtol=SINGLE)
    part = tree.vertices(*visual_path("base", 1))
    np.testing.assert_allclose(part.max(axis=0), [2.0, 3.0, 4.0], rtol=SINGLE)
    arm = tree.vertices(*visual_path("arm/1 & %", 0))
    np.testing.assert_allclose([arm.min(axis=0)[1:], arm.max(axis=0)[1:]], [[0.15, -1.0], [0.35, 1.0]], atol=SINGLE)
    np.testing.assert_allclose(scene.bounds, [[-0.1, 0.0, -1.0], [2.0, 3.0, 4.0]], atol=1e-3)


def test_the_colour_of_the_urdf_is_the_objects(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    tree = Tree(robot_scene(ug.load(_written(tmp_path, "part.obj"), "fixed")).commands)
    material = tree.objects[visual_path("base", 0)]["materials"][0]
    assert material["color"] == 0x0080FF
    assert material["opacity"] == 0.4 and material["transparent"] is True
    plain = tree.objects[visual_path("arm/1 & %", 0)]["materials"][0]
    assert plain["opacity"] == 1.0 and plain["transparent"] is False


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("gone.stl", None, "no such file"), ("broken.stl", b"solid nothing", "broken.stl"), ("text.xyz0", b"1 2 3", "xyz0")],
)
def test_a_mesh_that_cannot_be_drawn_is_a_placeholder_and_listed(tmp_path: Path, name: str, content: bytes | None, reason: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    view = ug.load(_written(tmp_path, name), "fixed").view()
    tree = Tree(view.commands)
    assert len(view.missing) == 1
    assert 'link "base"' in view.missing[0] and name in view.missing[0] and reason in view.missing[0] and "line 3" in view.missing[0]
    assert len(tree.vertices(*visual_path("base", 1))) > 0
    assert view.data["robot"]["missing"][0]["link"] == "base"


@pytest.mark.parametrize("how", ["package", "relative", "absolute", "file"])
def test_meshes_are_found_by_every_kind_of_name(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "elsewhere" / "my_robot" / "meshes"
    folder.mkdir(parents=True)
    (folder / "part.obj").write_text(OBJ)
    (tmp_path / "urdf").mkdir()
    names = {
        "package": "package://my_robot/meshes/part.obj",
        "relative": "../elsewhere/my_robot/meshes/part.obj",
        "absolute": str(folder / "part.obj"),
        "file": (folder / "part.obj").as_uri(),
    }
    robot = ug.load(_written(tmp_path / "urdf", names[how]), "fixed")
    assert not robot.view(package_dirs=[tmp_path / "elsewhere"]).missing
    shutil.rmtree(folder)
    assert len(robot.view(package_dirs=[tmp_path / "elsewhere"]).missing) == 1


def _written(folder: Path, mesh: str, scale: str = "1 1 1") -> Path:
    path = folder / "robot.urdf"
    path.write_text(URDF.format(mesh=mesh, scale=scale))
    return path


@pytest.mark.parametrize("size", [1e-3, 0.5, 100.0])
def test_a_placeholder_is_small_beside_the_robot(tmp_path: Path, size: float) -> None:
    """Also of a robot of a millimetre, and of one whose links are large and start at one place."""
    box = f'<visual><geometry><box size="{size} {size} {size}"/></geometry></visual>'
    gone = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
    scene = robot_scene(ug.load(f'<robot name="r"><link name="base">{box}{gone}</link></robot>'))
    vertices = Tree(scene.commands).vertices(*visual_path("base", 1))
    assert np.ptp(vertices, axis=0).max() == pytest.approx(0.06 * size, rel=SINGLE)
    np.testing.assert_allclose(scene.bounds, [[-size / 2] * 3, [size / 2] * 3], rtol=SINGLE)
