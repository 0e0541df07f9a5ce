"""Templates of scenarios: they run as they are, say what the schema says, and each of their comments is a line that works."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from examples import runner

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.cli import app
from urdf_gibbs.contact.points import resolve_points
from urdf_gibbs.simulation.scenario import parse_scenario, schema
from urdf_gibbs.simulation.scenario.explained import HEADS, sections
from urdf_gibbs.simulation.scenario.meanings import MEANINGS
from urdf_gibbs.simulation.scenario.opening import FALL, base_of
from urdf_gibbs.simulation.scenario.template import template

EXAMPLES = {"panda": "panda_description/urdf/panda.urdf", "go2": "go2_description/urdf/go2.urdf"}
LARGE = {"talos": "talos_data/robots/talos_reduced.urdf", "icub": "icub_description/robots/icub.urdf"}
FLOATING = {"panda", "go2", "talos", "icub", "block", "chain", "free_ball", "gripper", "quadruped", "rimless_wheel", "rod", "rover"}
FLOATING |= {"rover_printed", "tall_block"}


def loaded(name: str) -> ug.Robot:
    path = {**EXAMPLES, **LARGE}.get(name)
    file = ug.model_path(name) if path is None else example_robots()[path]
    robot = ug.load(file)
    return robot if base_of(robot) == "fixed" else ug.load(file, base_of(robot))


def lowest(robot: ug.Robot, q: np.ndarray, wall: ug.walls.Wall) -> float:
    """The least distance of what can touch from a wall, by the public functions."""
    found = []
    for point in resolve_points(robot, "collision"):
        link = robot.joints[point.body].child
        T = ug.frame_placement(robot, q, link) @ np.linalg.inv(robot.frame(link).placement)
        centre = T[:3, :3] @ point.position + T[:3, 3]
        axis = T[:3, :3] @ point.axis
        down = np.array([0.0, 0.0, -1.0]) - axis * (axis @ [0.0, 0.0, -1.0])
        rim = point.rim * down / np.linalg.norm(down) if point.rim else np.zeros(3)
        found.append(float(wall.gap(centre + rim)) - point.radius)
    return min(found)


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
@pytest.mark.parametrize("name", [*ug.model_names(), *EXAMPLES, *(pytest.param(one, marks=pytest.mark.nightly) for one in LARGE)])
def test_the_scene_of_a_robot_runs_as_it_is_and_ends_on_the_floor(name: str) -> None:
    robot = loaded(name)
    assert (robot.base == "floating") == (name in FLOATING)
    scenario = parse_scenario(template(robot, robot.file))
    (floor,) = scenario.walls
    assert scenario.joint_limits and scenario.damping and scenario.robot.base == robot.base
    if robot.base == "floating" and scenario.points and scenario.points[0].link:
        assert lowest(robot, scenario.q0, floor) == pytest.approx(FALL, abs=2e-6)  # six digits are written
    for joint in robot.joints:
        if joint.type in ("revolute", "prismatic") and np.isfinite([joint.lower, joint.upper]).all():
            assert joint.lower <= joint.ratio * scenario.q0[joint.iq] + joint.offset <= joint.upper, joint.name
    fall = ug.simulate(**scenario.arguments())
    kinetic, potential, total = fall.energies
    assert fall.status == "complete" and fall.t[-1] == scenario.duration
    assert np.isfinite(fall.q).all() and kinetic.max() > 1e-3 * np.abs(potential).max(), "nothing falls"
    assert total[-1] < total[0] + 1e-3 * kinetic.max()  # steps of the second order gain no more


def uncommented(text: str) -> list[tuple[str, str]]:
    """What there is to take a # from: (what, the text without it): single keys of tables that are there, and whole tables."""
    lines = text.splitlines()
    active = next(i for i, line in enumerate(lines) if line.startswith("# What else"))
    first = next(i for i, line in enumerate(lines) if line.startswith("title"))
    found = [
        (lines[i], "\n".join([*lines[:i], lines[i][2:], *lines[i + 1 :]])) for i in range(first, active) if re.match(r"# .* = ", lines[i])
    ]
    for block in "\n".join(lines[active + 1 :]).strip().split("\n\n"):
        bare = "\n".join(line[2:] for line in block.splitlines())
        found.append((bare.splitlines()[0] + bare.splitlines()[1], "\n".join([*lines[:active], *bare.splitlines()])))
    return found


def test_each_comment_is_a_line_or_a_table_that_works() -> None:
    """Of a robot with wheels, which may use all of them: but the file of a ground, which has to be written first."""
    tried = uncommented(template(loaded("rover"), "rover"))
    assert len(tried) > 30
    for _, changed in tried:
        if "ground.npz" not in changed:
            parse_scenario(changed.replace('modes = "y=clamped-free:2"', 'modes = "y=clamped-free:1"'))


def test_lines_fit_80_columns_but_for_values_that_do_not() -> None:
    text = template(loaded("rover"), "rover")
    assert max(len(line) for line in text.splitlines() if " = " not in line) <= 80
    assert [line for line in text.splitlines() if len(line) > 80 and re.search(r" = .*  # ", line)] == []
    whole = " ".join(re.sub(r"^#?\s*#|\s#\s", " ", text, flags=re.M).split())  # comments that go on below
    assert "exact to the tolerances; time_stepping: steps of one length, for many contacts" in whole


def test_a_robot_that_is_dropped_can_be_held_as_its_comment_says() -> None:
    text = template(loaded("quadruped"), "quadruped")
    table = text[text.index("[robot]") : text.index("[start]")]
    assert 'base = "floating"' in table and "no root_joint below" in " ".join(table.replace("#", " ").split())
    held = "\n".join(one for one in text.replace('base = "floating"', 'base = "fixed"').splitlines() if not one.startswith("root_joint"))
    assert parse_scenario(held).robot.base == "fixed"
    assert "no root_joint" not in template(loaded("pendulum"), "pendulum")


def test_the_template_has_every_key_and_the_meanings_have_no_other() -> None:
    text, known = template(loaded("quadruped"), "quadruped"), set()
    for section in sections():
        for entry in section.entries:
            known.add(entry.path)
            if entry.key != "JOINT":
                assert re.search(rf"(^|# |[{{ ]){entry.key} = ", text, re.M), entry.path
            assert entry.meaning and (entry.required or entry.default is not None or entry.type), entry.path
    assert known == set(MEANINGS)
    assert {path for path in known if "." not in path} | set(HEADS) == set(schema.TOP.keys or {})
    for name, record in (("robot", schema.ROBOT), ("contacts", schema.CONTACTS), ("soil", schema.SOIL), ("tolerances", schema.TOLERANCES)):
        assert {path.split(".")[1] for path in known if path.startswith(f"{name}.") and path.count(".") == 1} == set(record.keys or {}), (
            name
        )
    assert {f"walls.{key}" for key in schema.ARGUMENTS} - {"walls.amplitude", "walls.omega", "walls.phase", "walls.velocity"} <= known


# the command ------------------------------------------------------------------------------------------


def call(*words: str) -> str:
    result = runner.invoke(app, ["simulate", *words])
    assert "Traceback" not in result.output
    return f"{result.exit_code}\n{result.output}"


def test_a_scene_names_its_robot_so_that_it_runs_from_where_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "here" / "meshes").mkdir(parents=True)
    own = tmp_path / "here" / "own.urdf"
    own.write_text(ug.model_path("quadruped").read_text())
    command = [sys.executable, "-m", "urdf_gibbs", "simulate"]
    for name, redirected, file in (("own.urdf", "scene.toml", "own.urdf"), ("own.urdf", "../scene.toml", str(own))):
        with open(tmp_path / "here" / redirected, "wb") as scene:
            subprocess.run([*command, "--template", name], cwd=own.parent, stdout=scene, check=True, timeout=120)
        content = tomllib.loads((tmp_path / "here" / redirected).read_text())
        assert content["robot"]["file"] == file
        assert ug.read_scenario(tmp_path / "here" / redirected).robot.name == "quadruped"
    assert tomllib.loads(call("--template", "rod")[2:])["robot"]["file"] == "rod"


def test_options_of_the_scene_and_what_cannot_be_meant() -> None:
    content = tomllib.loads(call("--template", "quadruped", "--base", "fixed", "--friction", "0.2", "--scheme", "events")[2:])
    assert (content["robot"]["base"], content["friction"], content["scheme"]) == ("fixed", 0.2, "events")
    for words, told in (
        (["--template", "nosuch"], "nosuch"),
        (["--template", "rod", "--base", "none"], "'none' is none of"),
        (["quadruped", "--template", "rod"], "expected a scenario, or --template"),
        ([], "expected a scenario, or --template"),
        (["quadruped", "--base", "fixed"], "table [robot]"),
        (["--template", "rod", "--html", "rod.html"], "--template runs nothing"),
    ):
        answer = " ".join(re.sub(r"[│╭╮╰╯─]", " ", call(*words)).split())
        assert answer.startswith("2 ") and told in answer, answer
