"""An arm with an elastic link, for tests of its points."""

from __future__ import annotations

INERTIAL = '<inertial><origin xyz="0.1 0.05 0"/><mass value="1"/><inertia ixx=".1" iyy=".12" izz=".13" ixy="0" ixz="0" iyz="0"/></inertial>'
BEAM = 'EI_z="10" EI_y="12" GJ="5" modes="clamped-free:1 torsion=clamped-free:1" J="0.01 0 0" elastic_rotary="true"'


def arm(hand: str = "hand", joint: str = "k", first: str = "j", beam: str = BEAM) -> str:
    return f"""<robot name="arm"><link name="w">{INERTIAL}</link><link name="arm"/><link name="{hand}">{INERTIAL}</link>
<joint name="{first}" type="continuous"><parent link="w"/><child link="arm"/><origin rpy="0.3 0 0.2"/><axis xyz="0 0 1"/></joint>
<joint name="{joint}" type="fixed"><parent link="arm"/><child link="{hand}"/><origin xyz="1 0 0"/></joint>
<urdf_gibbs><flexible link="arm" mass_per_length="1" {beam}/></urdf_gibbs></robot>"""
