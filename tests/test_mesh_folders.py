"""Which files of this machine a robot's meshes may be: those of its own folders and of folders that the user gives, in every format."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from mesh_data import TEXTURED, dae, effect, gltf_parts, texture
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.cli import app
from urdf_gibbs.robot.load import read_source
from urdf_gibbs.robot.meshes import MeshFolders, inside, mesh_folders
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.scene import robot_scene
from urdf_gibbs.view.show import View


@pytest.fixture(autouse=True)
def no_ros(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()


def urdf(folder: Path, mesh: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "robot.urdf"
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(f'<robot name="r"><link name="a">{mass}<visual><geometry><mesh filename="{mesh}"/></geometry></visual></link></robot>')
    return path


def secret(path: Path) -> Path:
    """A file that is a buffer of a .gltf and nobody's business."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gltf_parts()[1])
    return path


def gltf(uri: str) -> bytes:
    return json.dumps(gltf_parts(uri)[0]).encode()


def drawn(view: View) -> bool:
    """Whether the vertices of the buffer are in the scene: a tetrahedron of height 3 at z = 10."""
    return bool(view.scene.bounds[1, 2] == 13.0)


# what a mesh refers to ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["absolute", "up", "encoded", "file", "link", "linked folder", "glb"])
def test_a_buffer_outside_of_the_robot_is_refused(tmp_path: Path, how: str) -> None:
    """The bytes of any file were drawn, and saved in the page."""
    private = secret(tmp_path / "home" / "private" / "key.bin")
    robot = urdf(tmp_path / "home" / "robot", "part.gltf" if how != "glb" else "part.glb")
    (robot.parent / "link.bin").symlink_to(private)
    (robot.parent / "linked").symlink_to(private.parent)
    uri = {
        "up": "../private/key.bin",
        "encoded": "%2e%2e/private/key%2Ebin",
        "file": private.as_uri(),
        "link": "link.bin",
        "linked folder": "linked/key.bin",
    }.get(how, str(private))
    if how == "glb":
        text = gltf(uri)
        text += b" " * (-len(text) % 4)
        body = struct.pack("<II", len(text), 0x4E4F534A) + text
        (robot.parent / "part.glb").write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body)
    else:
        (robot.parent / "part.gltf").write_bytes(gltf(uri))
    view = ug.load(robot).view()
    assert not drawn(view)
    assert len(view.missing) == 1
    for said in ("part.gl", str(private), "is not in a folder of the robot", "package_dirs=", "--package-dir", 'link "a"'):
        assert said in view.missing[0], said
    allowed = ug.load(robot).view(package_dirs=[private.parent])
    if how != "glb":  # whose first buffer is inside the file for trimesh
        assert not allowed.missing and not allowed.notes and drawn(allowed)


def test_textures_and_materials_outside_are_left_out_and_listed(tmp_path: Path) -> None:
    private = tmp_path / "home" / "private"
    private.mkdir(parents=True)
    texture(private / "skin.png")
    (private / "a.mtl").write_text("newmtl m\nKd 1 0 0\n")
    folder = urdf(tmp_path / "home" / "robot", "part.obj").parent
    cases = {
        "texture.obj": {"part.obj": TEXTURED, "a.mtl": f"newmtl m\nKd 0 0 1\nmap_Kd {private / 'skin.png'}\n".encode()},
        "material.obj": {"part.obj": TEXTURED.replace(b"a.mtl", b"../private/a.mtl")},
        "image.dae": {
            "part.dae": dae(
                images=f'<image id="i"><init_from>{(private / "skin.png").as_uri()}</init_from></image>',
                effects=effect(
                    "red",
                    '<diffuse><texture texture="s" texcoord="t"/></diffuse>',
                    '<newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>'
                    '<newparam sid="s"><sampler2D><source>f</source></sampler2D></newparam>',
                ),
            )
        },
        "image.ply": {
            "part.ply": "\n".join(
                ["ply", "format ascii 1.0", f"comment TextureFile {private / 'skin.png'}", "element vertex 3"]
                + [f"property float {x}" for x in ("x", "y", "z", "s", "t")]
                + ["element face 1", "property list uchar int vertex_indices", "end_header"]
                + ["0 0 0 0 0", "1 0 0 1 0", "0 1 0 0 1", "3 0 1 2", ""]
            ).encode()
        },
    }
    for case, files in cases.items():
        for name, data in files.items():
            (folder / name).write_bytes(data)
        path = urdf(folder, next(iter(files)))
        view = ug.load(path).view()
        assert not view.missing, case
        assert len(view.notes) == 1, (case, view.notes)
        for said in (next(iter(files)), str(private), "is not in a folder of the robot", "--package-dir"):
            assert said in view.notes[0], (case, said)
        assert view.notes[0] in view.data["notes"]
        assert not ug.load(path).view(package_dirs=[private]).notes, case


def test_an_exporters_path_still_means_the_file_beside(tmp_path: Path) -> None:
    """Of two files of one name, the one in the robot's folder is taken, not the one at the path."""
    other = secret(tmp_path / "elsewhere" / "part.bin")
    other.write_bytes(bytes(72))
    folder = urdf(tmp_path / "robot", "part.gltf").parent
    secret(folder / "part.bin")
    (folder / "part.gltf").write_bytes(gltf(str(other)))
    view = ug.load(folder / "robot.urdf").view()
    assert not view.missing and drawn(view)


# the meshes themselves ------------------------------------------------------------------------------------


def test_a_mesh_outside_is_a_placeholder_and_a_finding(tmp_path: Path) -> None:
    stl = tmp_path / "elsewhere" / "part.stl"
    stl.parent.mkdir()
    stl.write_bytes(bytes(80) + struct.pack("<I", 1) + struct.pack("<12fH", *([0] * 3), 0, 0, 0, 1, 0, 0, 0, 1, 0, 0))
    folder = tmp_path / "robots" / "robot"
    folder.mkdir(parents=True)
    (folder / "link.stl").symlink_to(stl)
    for name in (str(stl), stl.as_uri(), "../../elsewhere/part.stl", "link.stl"):
        path = urdf(folder, name)
        view = ug.load(path).view()
        assert len(view.missing) == 1 and "is not in a folder of the robot" in view.missing[0] and "--package-dir" in view.missing[0]
        assert [finding.code for finding in ug.check(path)] == ["mesh-outside"]
        assert not ug.check(path, [stl.parent])
        assert not ug.load(path).view(package_dirs=[stl.parent]).missing
        assert not ug.load(path, package_dirs=[stl.parent]).view().missing
    page = tmp_path / "page.html"
    refused = CliRunner().invoke(app, ["view", str(path), "--html", str(page)])
    assert refused.exit_code == 0 and "is not in a folder of the robot" in refused.output
    allowed = CliRunner().invoke(app, ["view", str(path), "--html", str(page), "--package-dir", str(stl.parent)])
    assert allowed.exit_code == 0 and "placeholder" not in allowed.output


def allowed(urdf_file: Path, name: str) -> bool:
    folders = MeshFolders(str(urdf_file))
    path = folders.find(name)
    assert path is not None, "the file is there"
    return inside(path, folders.folders(name, path))


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_folders_of_a_robot(tmp_path: Path) -> None:
    home = tmp_path / "home"
    # Without a package.xml: beside the URDF, below it, and folders of meshes one or two up.
    robot = urdf(home / "work" / "arm" / "urdf", "x.stl")
    for place in ("arm/urdf/part.stl", "arm/urdf/deep/er/part.stl", "arm/meshes/part.stl", "meshes/part.stl", "arm/other/part.stl"):
        touch(home / "work" / place)
    assert allowed(robot, "part.stl") and allowed(robot, "deep/er/part.stl")
    assert allowed(robot, "../meshes/part.stl") and allowed(robot, "../../meshes/part.stl")
    assert not allowed(robot, "../other/part.stl")
    assert allowed(robot, "package://arm/other/part.stl")  # the URDF is in a folder of that name
    # With one: all of the package, and the other packages of the workspace.
    touch(home / "work" / "arm" / "package.xml")
    touch(home / "work" / "hand" / "stl" / "part.stl")
    assert allowed(robot, "../other/part.stl")
    assert not allowed(robot, "package://hand/stl/part.stl")
    touch(home / "work" / "hand" / "package.xml")
    assert allowed(robot, "package://hand/stl/part.stl") and allowed(robot, "../../hand/stl/part.stl")
    # Of two that are called alike, the one that may be read.
    touch(home / "work" / "arm" / "hand" / "stl" / "part.stl")
    touch(home / "work" / "arm" / "urdf" / "package.xml")
    (home / "work" / "arm" / "package.xml").unlink()
    assert MeshFolders(str(robot)).find("package://hand/stl/part.stl") == home / "work" / "hand" / "stl" / "part.stl"
    # A package:// name is no way to any folder above the URDF.
    for place in ("private/key.stl", "work/notes/key.stl"):
        touch(home / place)
    for name in ("package://private/key.stl", "package://notes/key.stl", "package://home/private/key.stl", "package://../private/key.stl"):
        folders = MeshFolders(str(robot))
        path = folders.find(name)
        assert path is None or not inside(path, folders.folders(name, path)), name


def test_the_home_folder_is_no_robots_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    robot = urdf(home, "x.stl")
    touch(home / "package.xml")
    for place in (".private/key.stl", "key.stl", "meshes/part.stl"):
        touch(home / place)
    assert not allowed(robot, ".private/key.stl") and not allowed(robot, "key.stl")
    assert allowed(robot, "meshes/part.stl")


def test_installed_packages_of_links_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As colcon build --symlink-install leaves them: every file is a link to the source of the package."""
    source, share = tmp_path / "ws" / "src" / "arm", tmp_path / "ws" / "install" / "arm" / "share" / "arm"
    for name in ("package.xml", "urdf/robot.urdf", "meshes/part.stl"):
        touch(source / name)
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).symlink_to(source / name)
    generated = touch(tmp_path / "generated" / "robot.urdf")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ws" / "install" / "arm"))
    assert allowed(share / "urdf" / "robot.urdf", "package://arm/meshes/part.stl")
    assert allowed(generated, "package://arm/meshes/part.stl")


@pytest.mark.parametrize("file", sorted(example_robots()))
def test_all_meshes_of_example_robots_are_in_their_folders(file: str) -> None:
    """package:// names of the collection and of sibling packages, and relative ones: what is found is read."""
    robot = read_source(example_robots()[file])
    folders = MeshFolders(robot.file)
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            name = shape.geometry.filename
            path = folders.find(name) if shape.geometry.kind == "mesh" else None
            assert path is None or inside(path, folders.folders(name, path)), name


def test_no_texture_of_example_robots_is_refused() -> None:
    for file in ("romeo_description/urdf/romeo.urdf", "talos_data/robots/talos_reduced.urdf", "baxter_description/urdf/baxter.urdf"):
        scene = robot_scene(ug.load(example_robots()[file]))
        assert not scene.notes and not scene.missing


# files that name folders ------------------------------------------------------------------------------------


def test_a_trajectorys_file_gives_no_folder_away(tmp_path: Path) -> None:
    """A stored robot names its file and its package folders: somebody else's word."""
    private = secret(tmp_path / "elsewhere" / "key.bin")
    path = urdf(tmp_path / "robot", "part.gltf")
    (path.parent / "part.gltf").write_bytes(gltf(str(private)))
    robot = ug.load(path, package_dirs=["/"])
    assert not robot.view().missing  # the user gave the whole machine
    rows = {"t": np.zeros(1), "q": np.zeros((1, robot.nq)), "v": np.zeros((1, robot.nv))}
    kept = Trajectory(robot, np.zeros(3), **rows).save(tmp_path / "run.npz")
    back = Trajectory.load(kept)
    assert len(back.animate().missing) == 1 and not drawn(back.animate())
    assert not back.animate(package_dirs=[private.parent]).missing
    # The file is the robot's as long as it is what the robot was read from.
    secret(path.parent / "part.bin")
    (path.parent / "part.gltf").write_bytes(gltf("part.bin"))
    assert not Trajectory.load(kept).animate().missing
    path.write_text(path.read_text() + "\n")
    assert len(Trajectory.load(kept).animate().missing) == 1
    again = Trajectory.load(Trajectory.load(kept).save(tmp_path / "again.npz"))
    assert len(again.animate().missing) == 1 and len(again.robot.with_inertia("a", mass=2.0).view().missing) == 1


def test_a_scenario_opens_its_own_folder_and_packages_only(tmp_path: Path) -> None:
    stl = touch(tmp_path / "elsewhere" / "parts" / "part.stl")
    inner = touch(tmp_path / "scenario" / "packages" / "parts" / "part.stl")
    urdf(tmp_path / "robot", "package://parts/part.stl")
    for folder, expected in (("../elsewhere", False), ("/", False), ("packages", True)):
        text = f'duration = 1.0\n[robot]\nfile = "../robot/robot.urdf"\npackage_dirs = ["{folder}"]\n'
        (tmp_path / "scenario" / "run.toml").write_text(text)
        robot = read_scenario(tmp_path / "scenario" / "run.toml").robot
        folders = mesh_folders(robot)
        path = folders.find("package://parts/part.stl" if folder != "/" else f"package://{str(stl)[1:]}")
        assert path is not None and path.resolve() in (stl, inner)
        assert inside(path, folders.folders("package://parts/part.stl", path)) == expected
    touch(stl.parent / "package.xml")
    (tmp_path / "scenario" / "run.toml").write_text(text.replace('["packages"]', '["../elsewhere"]'))
    folders = mesh_folders(read_scenario(tmp_path / "scenario" / "run.toml").robot)
    path = folders.find("package://parts/part.stl")
    assert path is not None and inside(path, folders.folders("package://parts/part.stl", path))


def test_an_attached_robots_meshes_stay_readable(tmp_path: Path) -> None:
    one, other = urdf(tmp_path / "one", "none.stl"), urdf(tmp_path / "other", "part.gltf")
    secret(other.parent / "part.bin")
    (other.parent / "part.gltf").write_bytes(gltf("part.bin"))
    both = ug.load(one).attach("a", ug.load(other), prefix="b_")
    assert [missing.split(":")[0] for missing in both.view().missing] == ['link "a", line 1']
