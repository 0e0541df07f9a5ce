"""Robots in other formats where a robot is read again: as elastic ones in scenarios, and in sweeps, which carry their files along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from ways_in_checks import EXACT, FILES, ours, quiet, relative, states

import urdf_gibbs as ug
from urdf_gibbs.simulation.scenario.reader import scenario_of
from urdf_gibbs.sweeps.bundle import bundle_of
from urdf_gibbs.sweeps.sweep import sweep

ROVER = FILES / "xacro/rover_description/urdf/rover.urdf.xacro"
SCENE = 'duration = 0.02\n[robot]\nfile = "{file}"\n{more}\n'
ELASTIC = '[[flexible]]\nlink = "{link}"\nlength = 1.0\nmass_per_length = 1.0\nEI_y = 50.0\nEI_z = 50.0\nmodes = "clamped-free:1"\n'
ARM = """<robot name="r" xmlns:xacro="x"><xacro:arg name="who" default="arm"/><link name="base"/>

<link name="$(arg who)_link"><inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="$(arg who)_link"/><axis xyz="0 1 0"/></joint></robot>"""
BEAM = """<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0" stiffness="3"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/></body></worldbody></mujoco>"""


@pytest.fixture
def scene(tmp_path: Path) -> Any:
    """Writes a scenario of a file."""

    def write(file: Any, more: str = "") -> Path:
        path = tmp_path / "scene.toml"
        path.write_text(SCENE.format(file=file, more=more))
        return path

    return write


# Elastic links ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_links_of_a_xacro_and_of_an_mjcf_become_elastic(scene: Any, tmp_path: Path) -> None:
    """They are looked for in what the file becomes, and what was found in the file stays with its lines there."""
    (tmp_path / "arm.xacro").write_text(ARM)
    robot = ug.read_scenario(scene("arm.xacro", 'xacro_args = {who = "leg"}\n' + ELASTIC.format(link="leg_link"))).robot
    assert robot.velocity_names == ("j", "leg_link.elastic.y1", "leg_link.elastic.z1")
    assert [(one.line, Path(one.file).name) for one in robot.findings if one.code == "no-limit"] == [(4, "arm.xacro")]
    (tmp_path / "arm.xml").write_text(BEAM)
    robot = ug.read_scenario(scene("arm.xml", ELASTIC.format(link="arm"))).robot
    assert robot.velocity_names == ("j", "arm.elastic.y1", "arm.elastic.z1")
    assert any("a spring of stiffness 3" in one.value for one in robot.findings)
    with pytest.raises(ug.UrdfGibbsError, match='link="amr", expected the name of a link'):
        ug.read_scenario(scene("arm.xml", ELASTIC.format(link="amr")))


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_an_elastic_mjcf_still_says_how_its_bodies_move(scene: Any, tmp_path: Path) -> None:
    text = BEAM.replace('<joint name="j" axis="0 1 0" stiffness="3"/>', "<freejoint/>")
    tail = '<body name="tail" pos="1 0 0"><joint/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/></body></body></worldbody>'
    (tmp_path / "arm.xml").write_text(text.replace("</body></worldbody>", tail))
    with pytest.raises(ug.UrdfGibbsError, match='base="fixed": the file itself'):
        ug.read_scenario(scene("arm.xml", 'base = "floating"\n' + ELASTIC.format(link="tail")))


# Sweeps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "more"),
    [
        (ROVER, "xacro_args = {mast = false}"),
        (FILES / "mjcf/included.xml", ""),  # a part in another file
        (FILES / "mjcf/walker.xml", ""),  # a free joint and rotors
        (FILES / "sdf/two_arms.sdf", ""),
        (FILES / "sdf/rover.sdf", 'base = "floating"'),
    ],
)
@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_a_sweep_carries_what_the_file_becomes(scene: Any, file: Path, more: str, tmp_path: Path) -> None:
    bundle, read = bundle_of(scene(file, more))
    folder = tmp_path / "elsewhere"
    bundle.unpack(folder)
    robot = scenario_of(bundle.content(), {}, str(folder / "scene.toml")).robot
    assert robot.velocity_names == read.robot.velocity_names and Path(robot.file).is_relative_to(folder)
    for q, v in states(robot, 1):
        assert relative(ours(robot, q, v), ours(read.robot, q, v)) < EXACT


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_a_sweep_of_an_mjcf_with_meshes_runs(scene: Any, tmp_path: Path) -> None:
    """Its meshes have full paths, and its URDF other last digits of rotations."""
    (tmp_path / "assets").mkdir()
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "assets/box.stl")
    (tmp_path / "r.xml").write_text(
        "<mujoco><compiler meshdir='assets'/><asset><mesh file='box.stl'/></asset><worldbody>"
        "<body name='box' euler='10 20 30'><joint name='j' axis='0 1 0'/><geom type='mesh' mesh='box' pos='0.3 0.2 0.1' euler='0 40 50'/>"
        "</body></worldbody></mujoco>"
    )
    found = sweep(scene("r.xml", '[contacts]\npoints = "collision"'), {"start.j": "0.1,0.2"}, out=tmp_path / "runs", workers=1)
    table = found.table.to_pydict()
    assert table["start.j"] == [0.1, 0.2]
    motion = found.run(1)
    assert np.isclose(motion.q[0, 0], 0.2) and len(motion.robot.links[-1].collisions) == 1
    assert quiet(tmp_path / "r.xml").nv == 1
