"""COLLADA's up axis, ignored or honoured, and the hint where the other way brings links nearer to their joints; a hint for meshes in
another unit; meshes stored once."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from examples import FOLDER
from mesh_data import POINTS, dae
from scene_data import Tree, link_path
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.view.mesh_files import load_mesh
from urdf_gibbs.view.scene import robot_scene

# Where the specification's table puts (x, y, z): for y up, x stays to the right and z comes towards the viewer, who stands at -y of an
# upright file; for x up, y goes to the left.
UPRIGHT = {"X_UP": lambda x, y, z: (-y, -z, x), "Y_UP": lambda x, y, z: (x, -z, y), "Z_UP": lambda x, y, z: (x, y, z)}


@pytest.mark.parametrize("axis", UPRIGHT)
def test_what_the_file_calls_up_is_z_when_asked_and_stays_otherwise(tmp_path: Path, axis: str) -> None:
    (tmp_path / "a.dae").write_bytes(dae(f"<up_axis>{axis}</up_axis>"))
    scale = (2.0, 3.0, -0.5)
    for how, expected in (("ignore", POINTS), ("file", np.array([UPRIGHT[axis](*p) for p in POINTS]))):
        solid = load_mesh(tmp_path / "a.dae", scale, up_axis=how)
        found = {tuple(p) for p in solid.vertices.round(5).tolist()}
        assert found == {tuple(p) for p in (expected * scale).round(5).tolist()}
        corners = solid.vertices[solid.faces].astype(float)
        assert np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() > 0.0, "the faces look outwards"


def arm(folder: Path, axis: str, turned: bool) -> ug.Robot:
    """Two rods along z, each a mesh that reaches from joint to joint in a file whose up axis is ``axis``; ``turned``: as the file means it."""
    rod = np.array([(-0.01, -0.01, 0.0), (0.01, -0.01, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.5)])
    written = rod[:, [0, 2, 1]] * [1, 1, -1] if turned else rod
    text = dae(f"<up_axis>{axis}</up_axis>").decode()
    numbers = " ".join(f"{x:g}" for x in written.ravel())
    text = re.sub(r"(<float_array id=\"p-array\"[^>]*>)[^<]*", rf"\g<1>{numbers}", text)
    (folder / "rod.dae").write_text(text)
    visual = '<visual><geometry><mesh filename="rod.dae"/></geometry></visual>'
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint>'
    links = "".join(f'<link name="{name}">{visual}</link>' for name in "abc")
    (folder / "arm.urdf").write_text(f'<robot name="arm">{links}{joint.format("j", "a", "b")}{joint.format("k", "b", "c")}</robot>')
    return ug.load(folder / "arm.urdf")


@pytest.mark.parametrize(
    ("axis", "turned", "hints"), [("Y_UP", True, ("file", None)), ("Y_UP", False, (None, "ignore")), ("Z_UP", False, (None, None))]
)
def test_the_hint_names_the_setting_with_which_the_links_meet(
    tmp_path: Path, axis: str, turned: bool, hints: tuple[str | None, ...]
) -> None:
    robot = arm(tmp_path, axis, turned)
    for setting, hint in zip(("ignore", "file"), hints, strict=True):
        notes = [note for note in robot.view(up_axis=setting).notes if "--up-axis" in note]
        assert [re.findall(r'up_axis="(\w+)"', note) for note in notes] == ([] if hint is None else [[hint]])
    result = CliRunner().invoke(app, ["view", robot.file, "--up-axis", "file", "--html", str(tmp_path / "arm.html")])
    assert result.exit_code == 0 and ("--up-axis ignore" in " ".join(result.output.split())) == (hints[1] is not None)


@pytest.mark.parametrize(
    ("file", "hints"),
    [
        ("icub_description/robots/icub.urdf", ("file", None)),  # its author's viewer honoured the axis
        ("borinot_description/urdf/borinot_flying_arm_2.urdf", (None, "ignore")),  # and all others' did not
        ("asr_twodof_description/urdf/TwoDofs.urdf", (None, None)),  # either way its motors enclose their axes
        ("hextilt_description/urdf/hextilt_flying_arm_5.urdf", (None, None)),
        ("panda_description/urdf/panda.urdf", (None, None)),  # z is up
    ],
)
def test_of_real_robots_those_are_told_that_fall_apart(file: str, hints: tuple[str | None, ...]) -> None:
    for setting, hint in zip(("ignore", "file"), hints, strict=True):
        notes = [note for note in ug.load(FOLDER / file).view(up_axis=setting).notes if "--up-axis" in note]
        assert [re.findall(r'up_axis="(\w+)"', note) for note in notes] == ([] if hint is None else [[hint]])


def test_another_setting_is_refused(tmp_path: Path) -> None:
    robot = ug.load(ug.model_path("planar3r"))
    with pytest.raises(ug.UnknownNameError, match="ignore, file"):
        robot.view(up_axis="z")  # type: ignore[arg-type]
    result = CliRunner().invoke(app, ["view", "planar3r", "--up-axis", "z", "--html", str(tmp_path / "x.html")])
    assert result.exit_code == 2 and "--up-axis" in re.sub(r"\x1b\[[0-9;]*m", "", result.output)


def test_a_mesh_that_is_used_many_times_is_stored_once(tmp_path: Path) -> None:
    """Twenty links with one mesh as visual and as collision, every other one mirrored, against one such link: numbers without a pattern."""
    points = np.random.default_rng(0).normal(size=(3000, 3)).astype("<f4")
    (tmp_path / "m.obj").write_text(
        "".join(f"v {x:.6g} {y:.6g} {z:.6g}\n" for x, y, z in points) + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, 2998, 3))
    )
    mesh = '<origin xyz="{0} 0 0"/><geometry><mesh filename="m.obj" scale="{1} 1 1"/></geometry>'

    def pages(count: int) -> tuple[int, Tree]:
        shapes = [mesh.format(i, (-1) ** i) for i in range(count)]
        text = "".join(f"<visual>{shape}</visual><collision>{shape}</collision>" for shape in shapes)
        (tmp_path / f"{count}.urdf").write_text(f'<robot name="r"><link name="l">{text}</link></robot>')
        view = ug.load(tmp_path / f"{count}.urdf").view()
        return len(view.html()), Tree(robot_scene(view.robot).commands)

    (one, _), (twenty, tree) = pages(1), pages(20)
    alone = len(ug.load('<robot name="r"><link name="l"/></robot>').view().html())
    assert one - alone > 50_000 and twenty - one < 0.1 * (one - alone)
    mirrored = tree.objects[(*link_path("l"), "visual 1")]["object"]["matrix"]
    np.testing.assert_array_equal(np.reshape(mirrored, (4, 4)), np.diag([-1.0, 1.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("numbers", "scale", "hint"), [(1.0, 1.0, ""), (1e3, 1e-3, ""), (1e3, 1.0, "millimetres"), (1.0, 1e-3, "too small")]
)
def test_a_mesh_in_another_unit_is_told(tmp_path: Path, numbers: float, scale: float, hint: str) -> None:
    corners = numbers * np.array([(0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)])
    faces = ("1 3 2", "1 2 4", "1 4 3", "2 3 4")
    (tmp_path / "m.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces))
    visual = f'<visual><geometry><mesh filename="m.obj" scale="{scale} {scale} {scale}"/></geometry></visual>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>'
    links = "".join(f'<link name="{name}">{visual}</link>' for name in "ab")
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joint}</robot>')
    notes = robot_scene(ug.load(tmp_path / "r.urdf")).notes
    assert len(notes) == bool(hint) and all(hint in note and "0.4 m" in note for note in notes)
