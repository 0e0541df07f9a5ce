"""Robots and scenes for tests of drawings."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import numpy as np


class Tree:
    """What meshcat's viewer makes of the commands: transforms and objects by path."""

    def __init__(self, commands: Any) -> None:
        self.transforms: dict[tuple[str, ...], Any] = {}
        self.objects: dict[tuple[str, ...], Any] = {}
        for command in commands:
            path = tuple(part for part in command["path"].split("/") if part)
            if command["type"] == "set_transform":
                self.transforms[path] = np.reshape(command["matrix"], (4, 4)).T  # three.js: column by column
            else:
                assert command["type"] == "set_object"
                self.objects[path] = command["object"]

    def world(self, *path: str) -> Any:
        matrix = np.eye(4)
        for depth in range(len(path)):
            matrix = matrix @ self.transforms.get(path[: depth + 1], np.eye(4))
        return matrix

    def vertices(self, *path: str) -> Any:
        packed = self.objects[path]["geometries"][0]["data"]["attributes"]["position"]
        assert packed["itemSize"] == 3 and packed["type"] == "Float32Array"
        points = np.frombuffer(packed["array"].data, dtype="<f4").reshape(-1, 3).astype(float)
        matrix = self.world(*path)
        return points @ matrix[:3, :3].T + matrix[:3, 3]


def link_path(link: str) -> tuple[str, str, str]:
    return ("meshcat", "robot", quote(link, safe=" "))


URDF = """<robot name="shapes"><material name="sea"><color rgba="0 0.5 1 0.4"/></material>
<link name="base"><visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="0.2 0.4 0.6"/></geometry><material name="sea"/></visual>
<visual><geometry><mesh filename="{mesh}" scale="{scale}"/></geometry></visual></link>
<link name="arm/1 &amp; %"><visual><geometry><cylinder radius="0.1" length="2"/></geometry></visual></link>
<joint name="j" type="prismatic"><parent link="base"/><child link="arm/1 &amp; %"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
