"""URDF files with defects, for tests of reports."""

from __future__ import annotations

from pathlib import Path

import urdf_gibbs as ug

EVIL = "</script><img src=x onerror=alert(1)>"
BROKEN = """<robot name="broken">
  <material name="odd"><color rgba="1 2"/></material>
  <link name="base"><visual><geometry><box size="0.4 0.4 0.1"/></geometry><material name="odd"/></visual></link>
  <link name="upper arm">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><origin xyz="0 0 0.4"/><geometry><box size="0.1 0.1 0.6"/></geometry></visual>
  </link>
  <link name='the "wrist"'>
    <inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
    <visual><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.08 0.08"/></geometry></visual>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper arm"/><axis xyz="0 2 0"/><limit lower="1" upper="-1" effort="1" velocity="1"/>
  </joint>
  <joint name='the "elbow"' type="revolute"><parent link="upper arm"/><child link='the "wrist"'/><origin xyz="0 0 0.7"/><axis xyz="0 0 1"/></joint>
  <joint name="weld" type="fixed"><parent link='the "wrist"'/><child link="tool"/><origin xyz="0.3 0 0"/><mimic joint="shoulder"/></joint>
</robot>
"""


def changed_rocker(tmp_path: Path) -> Path:
    file = tmp_path / "changed.urdf"
    file.write_text(ug.model_path("rocker_arm").read_text().replace('ixx="0.0427"', 'ixx="0.0428"', 1))
    return file
