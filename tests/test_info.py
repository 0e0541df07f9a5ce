"""``urdf-gibbs info``: every name and number whole at 80 columns and in a pipe, the tree of the file, JSON, and the drawing."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from examples import FOLDER, runner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.view.branches import _leaf_ends, draw, skeleton
from urdf_gibbs.view.motion import positions
from urdf_gibbs.view.telling import telling

PANDA = FOLDER / "panda_description/urdf/panda.urdf"
ROBOTS = {
    "panda": PANDA,
    "go2": FOLDER / "go2_description/urdf/go2.urdf",
    "talos": FOLDER / "talos_data/robots/talos_reduced.urdf",
    "icub": FOLDER / "icub_description/robots/icub.urdf",
    "tiago_dual": FOLDER / "tiago_description/robots/tiago_dual.urdf",
    "pr2": FOLDER / "pr2_description/urdf/pr2.urdf",
}


def printed(*arguments: str) -> str:
    result = runner.invoke(app, ["info", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", ROBOTS)
def test_names_and_limits_of_the_file_are_whole_at_80_columns(name: str) -> None:
    text = printed(str(ROBOTS[name]))
    words = {word.strip("(),:") for word in text.split()}
    root = ET.parse(ROBOTS[name]).getroot()
    links = [link.attrib["name"] for link in root.iter("link")]
    assert {joint.attrib["name"] for joint in root.findall("joint")} <= words or len(links) > 200
    assert set(links) <= words or len(links) > 200
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        kind = joint.attrib["type"]
        keys = ("lower", "upper", "velocity", "effort") if kind in ("revolute", "prismatic") else ("velocity", "effort")
        for key in keys if limit is not None and kind != "fixed" and len(links) <= 200 else ():
            assert f"{float(limit.attrib[key]):.6g}" in words, (joint.attrib, limit.attrib)  # type: ignore[union-attr]
    wide = [line for line in text.splitlines() if len(line) > 80 and str(FOLDER) not in line]
    assert wide == [] and "…" not in text


def test_the_tree_is_that_of_the_file() -> None:
    """Each link two columns to the right of its parent, in the order of the file's joints."""
    lines = printed(str(PANDA)).split("links, as in the file\n")[1].split("\n\n")[0].splitlines()
    bare = [line.lstrip(" │├└") for line in lines]
    depth = {text.split()[0]: len(line) - len(text) for line, text in zip(lines, bare, strict=True)}
    for joint in ET.parse(PANDA).getroot().findall("joint"):
        parent, child = (joint.find(tag).attrib["link"] for tag in ("parent", "child"))  # type: ignore[union-attr]
        assert depth[child] == depth[parent] + 2
    assert "merged into panda_link7: panda_link8, panda_hand, panda_hand_tcp" in printed(str(PANDA))
    assert "merged into the world: panda_link0" in printed(str(PANDA))


def test_a_line_that_is_too_long_goes_on_under_the_marks_of_the_tree() -> None:
    """The facts of a link on a line of their own: the bars to the left go through, as on the line above."""
    lines = printed(str(ROBOTS["tiago_dual"])).split("links, as in the file\n")[1].split("\n\n")[0].splitlines()
    second = [(above, line) for above, line in pairwise(lines) if re.fullmatch(r"[ │]*(\S+ kg, )?\S+ \(\w+\)", line)]
    assert len(second) > 20
    for above, line in second:
        marks = re.match(r"[ │├└]*", above)
        assert marks is not None
        expected = marks[0].replace("├", "│").replace("└", " ").rstrip()
        bars = re.match(r"[ │]*", line)
        assert bars is not None and bars[0][: len(expected)] == expected[: len(bars[0])]


def test_round_off_in_an_axis_is_not_printed() -> None:
    """iCub's axes are as 0 -1 6.12323e-17."""
    text = printed(str(ROBOTS["icub"]))
    assert re.search(r"^l_hip_pitch +revolute +0 +0 -1 0 ", text, re.M) and "e-1" not in text


def test_columns_without_an_entry_go() -> None:
    with_damping, without = printed(str(PANDA)), printed("planar3r")
    assert "damping" in with_damping and "follows" in with_damping and "friction" not in with_damping
    assert "damping" not in without and "follows" not in without


def test_a_thousand_links_are_counted_and_not_all_printed(tmp_path: Path) -> None:
    """A chain: the tree does not walk out of the page, and nothing is quadratic in what is printed."""
    links = "".join(f'<link name="l{i}"/>' for i in range(1001))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/></joint>'
        for i in range(1000)
    )
    file = tmp_path / "chain.urdf"
    file.write_text(f'<robot name="chain">{links}{joints}</robot>')
    text = printed(str(file))
    assert "... 801 more links" in text and "... 800 more joints" in text and "[150] l150" in text
    assert max(len(line) for line in text.splitlines() if str(file) not in line) <= 80
    assert len(json.loads(printed(str(file), "--json", "-"))["links"]) == 1001


def test_json_without_a_path_is_printed() -> None:
    expected = printed("z1", "--json", "-")
    assert printed("z1", "--json") == printed("z1", "--json", "--no-mimic") == expected and json.loads(expected)["nv"] == 7


def test_json_holds_the_file() -> None:
    told = json.loads(printed(str(PANDA), "--json", "-"), parse_constant=lambda word: pytest.fail(word))
    links, joints = ({one["name"]: one for one in told[key]} for key in ("links", "joints"))
    root = ET.parse(PANDA).getroot()
    for link in root.iter("link"):
        mass = link.find("inertial/mass")
        assert links[link.attrib["name"]]["mass"] == (0.0 if mass is None else float(mass.attrib["value"]))
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        if limit is not None and joint.attrib["type"] != "fixed":
            assert joints[joint.attrib["name"]]["effort"] == float(limit.attrib["effort"])
    assert links["panda_hand"]["merged_into"] == "panda_link7" and links["panda_link0"]["merged_into"] == "world"
    assert links["panda_link7"]["merged_into"] is None
    assert joints["panda_finger_joint2"]["mimic"] == {"joint": "panda_finger_joint1", "multiplier": 1.0, "offset": 0.0}


# the drawing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "go2", "talos", "icub", "tiago_dual"])
def test_no_text_of_the_drawing_is_on_another(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the boxes that Matplotlib measures of all texts, and none of them leaves the picture."""
    from matplotlib.figure import Figure

    kept: list[Figure] = []
    saved = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *rest, **more: (kept.append(self), saved(self, *rest, **more))[1])
    robot = ug.load(ROBOTS[name])
    draw(robot, None, BytesIO())
    (figure,) = kept
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) >= len(robot.branches) + 3
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
        for other, text in zip(boxes[:i], texts, strict=False):
            assert not box.overlaps(other), (texts[i].get_text(), text.get_text())


@pytest.mark.parametrize("name", ["panda", "go2", "talos", "icub", "tiago_dual"])
def test_the_view_tells_more_than_most_others(name: str) -> None:
    """Joints and tips that lie upon each other in the picture: no more than in the better quarter of random views; the pose is within limits."""
    robot = ug.load(ROBOTS[name])
    places = skeleton(robot).places
    q, view = telling(robot, places, None)
    lower, upper = robot.position_limits
    assert (q >= lower).all() and (q <= upper).all()
    np.testing.assert_allclose(view @ view.T, np.eye(3), rtol=0, atol=1e-12)
    x = positions(robot, places, q)
    size = np.ptp(x, axis=0).max()
    apart = np.linalg.norm(x[:, None] - x[None], axis=2) > 0.02 * size

    def hidden(picture: np.ndarray) -> int:
        return int((apart & (np.linalg.norm(picture[:, None] - picture[None], axis=2) < 0.02 * size)).sum())

    rng = np.random.default_rng(0)
    others = [hidden(x @ np.linalg.qr(rng.normal(size=(3, 3)))[0][:, :2]) for _ in range(60)]
    assert hidden(x @ view[:2].T) <= np.percentile(others, 25)
    assert np.ptp(x @ view[:2].T, axis=0).min() > 0.35 * size  # and it is no line


def test_a_robot_in_a_plane_is_seen_straight_on() -> None:
    robot = ug.load(ug.model_path("branched12"))
    _, view = telling(robot, skeleton(robot).places, None)
    np.testing.assert_array_equal(view, np.eye(3))


def test_a_pose_that_is_asked_for_is_drawn() -> None:
    robot = ug.load(PANDA)
    lines = skeleton(robot)
    q = robot.random(1)
    np.testing.assert_array_equal(telling(robot, lines.places, q)[0], q)
    ends = _leaf_ends(robot, lines, positions(robot, lines.places, q))
    np.testing.assert_allclose(ends[0], ug.frame_placement(robot, q, "panda_leftfinger")[:3, 3], rtol=0, atol=0.2)


def test_odd_robots_are_drawn(tmp_path: Path) -> None:
    """Nothing that moves; all joints in one point; a number of branches that no column could name."""
    still = '<robot name="still"><link name="a"/></robot>'
    ball = "".join(
        f'<joint name="$j_{i}^" type="continuous"><parent link="a"/><child link="b{i}"/></joint><link name="b{i}"/>' for i in range(90)
    )
    for k, text in enumerate((still, f'<robot name="$_"><link name="a"/>{ball}</robot>')):
        file, picture = tmp_path / f"{k}.urdf", tmp_path / f"{k}.png"
        file.write_text(text)
        printed(str(file), "--plot", str(picture))
        assert picture.stat().st_size > 1000
    assert re.search(r"90 branches", printed(str(tmp_path / "1.urdf")))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--plot", "robot.bmp"], ".svg"),
        (["--plot", "/no/such/folder/robot.png"], "cannot be written"),
        (["--json", "/no/such/folder/robot.json"], "cannot be written"),
        (["--q", "1 2"], "expected 3"),
        (["--q", "1 2 x"], "x"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(arguments: list[str], said: str) -> None:
    result = runner.invoke(app, ["info", "gripper", "--plot", "robot.png", *arguments])
    assert result.exit_code == 2 and said in result.output and "Traceback" not in result.output
