"""The solids of a robot's visuals and collisions; each mesh is read once, and what cannot be read is told."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.lint.hulls import Hull, hull_of
from urdf_gibbs.robot.meshes import ALLOW, MeshFolders, inside
from urdf_gibbs.robot.urdf import Geometry, Link, Shape, Urdf

Array = NDArray[np.float64]
NEEDED = ("scipy", "trimesh", "collada")  # convex hulls, and the formats of meshes
AROUND = 24  # corners of a circle
LARGEST = 64_000_000  # bytes of a mesh file: larger ones take seconds to read


class Shapes:
    """Hulls of the shapes of links, in the frames of the links."""

    def __init__(self, urdf: Urdf, package_dirs: list[str]) -> None:
        self.urdf = urdf
        self.folders = MeshFolders(urdf.file, package_dirs)
        self.missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        self._points: dict[Path, Array | None] = {}
        self._hulls: dict[tuple[object, ...], Hull | None] = {}

    def of(self, link: Link, kinds: tuple[str, ...] = ("visuals", "collisions")) -> Hull | None:
        """The hull of all visuals and collisions of a link together; None where there are none, or one of them cannot be read."""
        shapes = [shape for kind in kinds for shape in getattr(link, kind)]
        if self.missing or not self.are_whole(shapes):
            return None
        key = tuple(dict.fromkeys((shape.geometry, shape.pose) for shape in shapes))
        if key not in self._hulls:
            self._hulls[key] = self._of(key)
        return self._hulls[key]

    def _of(self, key: tuple[tuple[Geometry, tuple[object, ...]], ...]) -> Hull | None:
        hulls = []
        for geometry, pose in key:
            if (geometry,) not in self._hulls:
                points = self._corners(geometry)
                self._hulls[geometry,] = None if points is None else hull_of(points)
            hull = self._hulls[geometry,]
            if hull is not None:
                hulls.append(hull.moved(pose))  # type: ignore[arg-type]
        if len(hulls) < 2:
            return hulls[0] if hulls else None
        return hull_of(np.concatenate([hull.points for hull in hulls]))

    def are_whole(self, shapes: Iterable[Shape]) -> bool:
        """Whether all of them can be read: what is left without one of them may be a small part of the link."""
        return all(
            shape.geometry.kind != "unread" and (shape.geometry.kind != "mesh" or self._mesh(shape.geometry.filename) is not None)
            for shape in shapes
        )

    def _corners(self, geometry: Geometry) -> Array | None:
        """Points whose hull holds the solid, in the frame of the shape [m]."""
        size = geometry.size
        if geometry.kind == "mesh":
            points = self._mesh(geometry.filename)
            if points is None:
                return None
            scaled: Array = points * np.array(geometry.scale)
            return scaled
        if geometry.kind == "box":
            corners: Array = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * np.array(size)
            return corners
        angles = np.arange(AROUND) * (2.0 * math.pi / AROUND)
        radius = size[0] / math.cos(math.pi / AROUND)  # about the circle, not within it
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        if geometry.kind == "cylinder":
            return np.concatenate([np.column_stack([radius * circle, np.full(AROUND, 0.5 * side * size[1])]) for side in (-1, 1)])
        half = 0.0 if geometry.kind == "sphere" else 0.5 * size[1]
        rings = []
        for latitude in np.linspace(-0.5 * math.pi, 0.5 * math.pi, AROUND // 2 + 1):
            height = radius * math.sin(latitude) + math.copysign(half, latitude)
            rings.append(np.column_stack([radius * math.cos(latitude) * circle, np.full(AROUND, height)]))
        return np.concatenate(rings)

    def _mesh(self, filename: str) -> Array | None:
        path = self.folders.find(filename)
        if path is None or not inside(path, self.folders.folders(filename, path)):
            return None
        if path not in self._points:
            self._points[path] = self._read(path, filename)
        return self._points[path]

    def _read(self, path: Path, filename: str) -> Array | None:
        from urdf_gibbs.view.mesh_collada import TURNED
        from urdf_gibbs.view.mesh_files import MeshError, mesh_vertices

        try:
            if path.stat().st_size > LARGEST:
                return None
            points, up = mesh_vertices(path, self.folders.folders(filename, path))
        except (MeshError, OSError) as problem:
            line, what = self._first(filename)
            reason = str(problem).removeprefix(f"{path}: ")
            self.urdf.findings.warning("mesh-unreadable", line, what, f'filename="{filename}"', f"a mesh that can be read: {reason}")
            return None
        hull = hull_of(points)
        corners = points if hull is None else hull.points
        if up in TURNED:  # programs differ in whether they turn it: hold both
            corners = np.concatenate([corners, corners @ np.array(TURNED[up]).T])
        return corners

    def tell_what_was_skipped(self) -> None:
        """A note where a package for shapes is not installed."""
        drawn = any(link.visuals or link.collisions for link in self.urdf.links)
        if self.missing and drawn:
            what = f"{', '.join(self.missing)} not installed"
            self.urdf.findings.note("shapes-skipped", 1, "<robot>", what, "pip install 'urdf-gibbs[check]' for the checks against shapes")

    def _first(self, filename: str) -> tuple[int, str]:
        """Line and name of the first shape with this mesh."""
        for link in self.urdf.links:
            for kind, shape in _all(link):
                if shape.geometry.filename == filename:
                    return shape.line, f'link "{link.name}" <{kind}> <mesh>'
        return 0, "<mesh>"


def _all(link: Link) -> list[tuple[str, Shape]]:
    return [("visual", shape) for shape in link.visuals] + [("collision", shape) for shape in link.collisions]


def check_meshes(urdf: Urdf, folders: MeshFolders) -> None:
    """Meshes that are not there, or not where they may be read from."""
    seen: set[str] = set()
    for link in urdf.links:
        for kind, shape in _all(link):
            name = shape.geometry.filename
            if shape.geometry.kind != "mesh" or name in seen:
                continue
            seen.add(name)
            what, value = f'link "{link.name}" <{kind}> <mesh>', f'filename="{name}"'
            path = folders.find(name)
            if path is None:
                urdf.findings.warning("mesh-missing", shape.line, what, value, "a file that exists (package folders: --package-dir)")
            elif not inside(path, folders.folders(name, path)):
                urdf.findings.warning("mesh-outside", shape.line, what, value, f"a file in a folder of the robot; {ALLOW}")
