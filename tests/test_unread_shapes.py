"""A visual or collision that is given wrongly leaves the dynamics as they are; who asks for its geometry is told. Files at random never stop ``check``."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from examples import ROBOTS, runner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.contact.points import resolve_points

HEAVY = '<inertial><origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>'
WRONG = '<{kind}><geometry>\n<mesh filename="arm.stl" scale="1 1 1 1"/></geometry></{kind}>'
RIGHT = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def arm(shapes: str) -> str:
    return (
        f'<robot name="r"><link name="base"/><link name="arm">{HEAVY}\n{shapes}</link><joint name="j" type="continuous"><parent link="base"/>'
        f'<child link="arm"/><axis xyz="0 1 0"/></joint></robot>'
    )


def test_the_dynamics_are_those_without_the_shape_and_a_warning_names_it() -> None:
    with pytest.warns(
        ug.UrdfWarning, match=r':3: warning: link "arm" <visual> <mesh>: found scale="1 1 1 1", expected three finite numbers'
    ):
        robot = ug.load(arm(WRONG.format(kind="visual")))
    plain = ug.load(arm(""))
    assert np.array_equal(ug.mass_matrix(robot, [0.3]), ug.mass_matrix(plain, [0.3]))
    assert np.array_equal(ug.gravity_force(robot, [0.3]), ug.gravity_force(plain, [0.3]))


def test_pictures_and_contact_say_what_they_leave_out() -> None:
    with pytest.warns(ug.UrdfWarning):
        robot = ug.load(arm(WRONG.format(kind="visual") + WRONG.format(kind="collision") + RIGHT))
    assert [str(one) for one in robot.view().missing] == ['link "arm", line 2: arm.stl: scale="1 1 1 1", expected three finite numbers']
    with pytest.warns(ug.UrdfWarning, match=r'arm \(arm\.stl: scale="1 1 1 1", expected three finite numbers\)'):
        points = resolve_points(robot, "collision")
    assert [point.name for point in points] == ["arm.sphere1"]  # the other shape still touches


VALUES = [
    "nan",
    "inf",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-1",
    "1e6",
    "",
    "x",
    "0 0 0",
    "1e308 0 0",
    "1 1 1 1",
    "0 0 1e-300",
    "9" * 20,
    "l",
    "left",
]
SPOTS = re.compile(r'(?:value|xyz|rpy|i[xyz][xyz]|size|radius|length|lower|upper|effort|velocity|damping|link|name|type)\s*=\s*"([^"]*)"')
FILES = ("double_pendulum_description/urdf/double_pendulum.urdf", "solo_description/robots/solo12.urdf")


@pytest.mark.parametrize("seed", range(4))
def test_files_with_wrong_values_at_random_are_checked_to_the_end(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """25 files, each with one to six values replaced, by the command: an exit code, a summary for each, no traceback."""
    monkeypatch.chdir(tmp_path)
    texts = [ug.model_path(name).read_text(encoding="utf-8") for name in ("quadruped", "gripper", "flexible_link")]
    texts += [ROBOTS[file].read_text(encoding="utf-8") for file in FILES]
    rng = random.Random(seed)
    for number in range(25):
        text = texts[number % len(texts)]
        for start, end in sorted(rng.sample([spot.span(1) for spot in SPOTS.finditer(text)], rng.randint(1, 6)), reverse=True):
            text = text[:start] + rng.choice(VALUES) + text[end:]
        (tmp_path / f"{number}.urdf").write_text(text, encoding="utf-8")
    names = [f"{number}.urdf" for number in range(25)]
    result = runner.invoke(app, ["check", *names, "--sarif", "all.sarif"], env={"COLUMNS": "80"})
    assert result.exit_code in (0, 1) and (result.exception is None or isinstance(result.exception, SystemExit))
    assert [
        name for name in names if not re.search(rf"^{name}: \d+ errors?, \d+ warnings?, \d+ notes?$", result.output, re.MULTILINE)
    ] == []
