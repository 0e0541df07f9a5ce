"""Small robots for tests of contact points, as URDF text."""

from __future__ import annotations

ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "go2": "go2_description/urdf/go2.urdf",
}
BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, xyz: str = "0 0 0", axis: str = "0 0 1") -> str:
    limit = '<limit lower="-3" upper="3" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else ""
    axis = f'<axis xyz="{axis}"/>' if kind not in ("fixed", "floating") else ""
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>{axis}{limit}</joint>'
