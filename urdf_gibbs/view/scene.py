"""The robot as a meshcat scene: one node for each link at its place in the world, below it the visuals of the URDF.

Paths are /meshcat/robot/<link>/visual <i>. A visual that cannot be drawn is a placeholder in its place and listed in
``Scene.missing``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import vector
from urdf_gibbs.engine.adaptive import entry
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.names import UpAxis
from urdf_gibbs.robot.meshes import MeshFolders, inside, mesh_folders, outside
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import Vec3
from urdf_gibbs.robot.urdf import Link, Shape
from urdf_gibbs.view.elastic import Skin, elastic_joints, skinned
from urdf_gibbs.view.mesh_files import MeshError, load_mesh
from urdf_gibbs.view.mesh_size import mesh_size_hint
from urdf_gibbs.view.palette import COLLISION_RGBA, LINK_RGBA, MISSING_RGBA
from urdf_gibbs.view.solids import Solid, placeholder, primitive
from urdf_gibbs.view.up_axis import up_axis_hint

Array = NDArray[np.float64]
Command = dict[str, Any]

# Names that every JavaScript object has: meshcat would take them for nodes that are there.
TAKEN = {"__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}
TAKEN |= {"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"}

PLACEHOLDER = 0.06  # of the robot's size,
ALONE = 0.2  # m: or of this, where there is nothing else


@dataclass(frozen=True, slots=True)
class Missing:
    """A visual that is drawn as a placeholder: its link, what the URDF names, its line there, and why."""

    link: str
    visual: int
    filename: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f'link "{self.link}", line {self.line}: {self.filename}: {self.reason}'


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn: commands for meshcat's viewer in their order, and where the drawn things are, (2, 3) in the world.

    ``collisions`` are the commands of a layer that is drawn when it is asked for; they may share geometries with the others. ``visible``
    is how many visuals are drawn as the URDF has them. ``skins`` are the shapes that bend: their objects are straight and in the frame of
    their link, the page bends them. ``notes`` tell what a drawn mesh was not given, as a texture, and what else is worth a look.
    """

    commands: tuple[Command, ...]
    collisions: tuple[Command, ...]
    missing: tuple[Missing, ...]
    bounds: Array
    visible: int
    skins: tuple[Skin, ...] = ()
    notes: tuple[str, ...] = ()


def configuration(robot: Robot, q: ArrayLike | None) -> Array:
    """q (nq,), the neutral one for None."""
    return robot.neutral() if q is None else vector(q, robot.nq, "q")


def body_placements(robot: Robot, q: Array) -> Array:
    """Frames of the moving bodies in the world: q (..., nq) -> (..., nb, 4, 4)."""
    if not robot.joints:
        return np.zeros((*q.shape[:-1], 0, 4, 4))
    flat = entry(robot, "placements")(q)
    placements = np.zeros((*flat.shape[:-1], 4, 4))
    placements[..., :3, :3] = flat[..., :9].reshape(*flat.shape[:-1], 3, 3)
    placements[..., :3, 3] = flat[..., 9:]
    placements[..., 3, 3] = 1.0
    return placements


def link_placements(robot: Robot, q: Array) -> dict[str, Array]:
    """Frames (4, 4) of all links in the world at q (nq,)."""
    bodies = body_placements(robot, q)
    placements = {}
    for link in robot.link_names:
        frame = robot.frame(link)
        placements[link] = frame.placement if frame.body < 0 else bodies[frame.body] @ frame.placement
    return placements


def node(link: str) -> str:
    """The path of a link; what a path cannot hold is written as in a URL."""
    written = f"%{ord(link[0]):02X}{link[1:]}" if link in TAKEN else quote(link, safe=" ")
    return f"/meshcat/robot/{written}"


def robot_scene(robot: Robot, q: ArrayLike | None = None, package_dirs: Iterable[str] = (), up_axis: UpAxis = "ignore") -> Scene:
    """The robot at q (nq,), with its visuals and its collision shapes."""
    q = configuration(robot, q)
    placements = link_placements(robot, q)
    meshes = mesh_folders(robot, package_dirs)
    visuals = _shapes(robot, "visual", placements, meshes, up_axis)
    collisions = _shapes(robot, "collision", placements, meshes, up_axis)
    corners = [placement[:3, 3] for placement in placements.values()]
    found = [(one, one.solid) for one in visuals if isinstance(one.solid, Solid)]
    for one, solid in found or [(one, one.solid) for one in collisions if isinstance(one.solid, Solid)]:
        corners += _corners(solid, placements[one.link] @ _matrix(one.shape))
    extent = float(np.ptp(corners, axis=0).max()) if corners else 0.0
    stand_in = placeholder(PLACEHOLDER * (extent if extent > 0.0 else ALONE))
    geometries: dict[int, Any] = {}
    commands = [set_transform(node(name), placement) for name, placement in placements.items()]
    missing: list[Missing] = []
    skins: list[Skin] = []
    for one in visuals:
        if isinstance(one.solid, Missing):
            missing.append(one.solid)
            corners += _corners(stand_in, placements[one.link] @ _matrix(one.shape))
            one = one._replace(solid=stand_in, rgba=MISSING_RGBA)
        drawn, bent = _commands(robot, one, geometries)
        commands += drawn
        for skin, beam in bent:
            skins.append(skin)
            start, placement = robot.joints[skin.joint].iq, placements[one.link]
            places = skin.bent(beam, q[start : start + beam.m]) @ placement[:3, :3].T + placement[:3, 3]
            corners += [places.min(axis=0), places.max(axis=0)] if len(places) else []
    layer: list[Command] = []
    for one in collisions:
        if isinstance(one.solid, Solid):
            drawn, bent = _commands(robot, one._replace(rgba=COLLISION_RGBA), geometries)
            layer += drawn
            skins += [skin for skin, _ in bent]
    notes = {
        f'link "{one.link}", line {one.shape.line}: {refused}': None
        for one in visuals + collisions
        if isinstance(one.solid, Solid)
        for refused in one.solid.notes
    }
    notes |= {f"collision shape: {one.solid}": None for one in collisions if isinstance(one.solid, Missing)}
    hints = [up_axis_hint(robot, [(one.link, solid, _matrix(one.shape), one.scale) for one, solid in found], up_axis)]
    read = [(one.link, solid) for one, solid in found if one.shape.geometry.kind == "mesh"]
    hints.append(mesh_size_hint(read, [placement[:3, 3] for placement in placements.values()]))
    bounds = np.stack([np.min(corners, axis=0), np.max(corners, axis=0)]) if corners else np.zeros((2, 3))
    return Scene(tuple(commands), tuple(layer), tuple(missing), bounds, len(found), tuple(skins), (*filter(None, hints), *notes))


class _Drawn(NamedTuple):
    """A visual or collision of a link, with its triangles or why there are none."""

    link: str
    kind: str
    number: int
    shape: Shape
    solid: Solid | Missing
    rgba: tuple[float, ...]

    @property
    def scale(self) -> Vec3:
        return self.shape.geometry.scale


def _shapes(robot: Robot, kind: str, placements: Iterable[str], meshes: MeshFolders, up_axis: UpAxis) -> list[_Drawn]:
    links = {link.name: link for link in robot.links}
    return [
        _Drawn(name, kind, number, shape, _solid(links[name], number, shape, meshes, up_axis), shape.rgba or LINK_RGBA)
        for name in placements
        for number, shape in enumerate(links[name].visuals if kind == "visual" else links[name].collisions)
    ]


def _commands(robot: Robot, one: _Drawn, geometries: dict[int, Any]) -> tuple[list[Command], list[tuple[Skin, Beam]]]:
    """The object of a visual or collision in the frame of its link, and how it bends with an elastic one."""
    solid, pose = one.solid, _matrix(one.shape)
    assert isinstance(solid, Solid)
    path, name = f"{node(one.link)}/{one.kind} {one.number}", f"{one.kind} {one.number}"
    bent = [
        (skinned(robot, joint, beam, name, solid, pose), beam)
        for joint, beam in elastic_joints(robot)
        if beam.link == one.link and one.rgba != MISSING_RGBA
    ]
    if bent:
        solid, pose = bent[0][0].solid, np.eye(4)
    return [set_object(path, solid, one.rgba, geometries=geometries), set_transform(path, pose)], bent


def set_transform(path: str, matrix: Array) -> Command:
    return {"type": "set_transform", "path": path, "matrix": matrix.T.ravel().tolist()}


def set_object(path: str, solid: Solid, rgba: Iterable[float], geometries: dict[int, Any]) -> Command:
    """The triangles of a solid as a meshcat object; its own colours win over ``rgba``, as in RViz.

    geometries: those of the scene so far, by the identity of their solids. Objects that share one name the same, mirror images too.
    """
    from meshcat.commands import SetObject
    from meshcat.geometry import Mesh, MeshPhongMaterial

    red, green, blue, alpha = (min(max(float(x), 0.0), 1.0) for x in rgba)
    own = solid.colours is not None
    if solid.colours is not None:
        alpha = float(solid.colours[:, 3].min(initial=255)) / 255.0
    colour = 0xFFFFFF if own else (round(255 * red) << 16) + (round(255 * green) << 8) + round(255 * blue)
    material = MeshPhongMaterial(color=colour, opacity=1.0 if own else alpha, transparent=alpha < 1.0, vertexColors=own)
    source = solid.original or solid
    geometry = geometries.setdefault(id(source), _geometry(source))
    command: Command = SetObject(Mesh(geometry, material), path=_Path(path)).lower()
    command["object"]["materials"][0]["side"] = 2
    command["object"]["object"]["matrix"] = np.diag([*solid.signs, 1.0]).ravel().tolist()
    return command


class _Path:
    def __init__(self, path: str) -> None:
        self.path = path

    def lower(self) -> str:
        return self.path


def _geometry(solid: Solid) -> Any:
    """meshcat's buffer geometry with the normals and the colours that its own class for triangles leaves out."""
    from meshcat.geometry import Geometry, pack_numpy_array

    class Triangles(Geometry):  # type: ignore[misc, unused-ignore]
        kept: dict[str, Any] | None = None

        def lower(self, object_data: Any) -> dict[str, Any]:
            self.kept = self.kept or self.lowered()
            return self.kept

        def lowered(self) -> dict[str, Any]:
            attributes = {"position": pack_numpy_array(solid.vertices.T), "normal": pack_numpy_array(solid.normals.T)}
            if solid.colours is not None:
                attributes["color"] = pack_numpy_array(solid.colours.T) | {"normalized": True}
            data = {"attributes": attributes, "index": pack_numpy_array(solid.faces.T)}
            return {"uuid": self.uuid, "type": "BufferGeometry", "data": data}

    return Triangles()


def _solid(link: Link, number: int, shape: Shape, meshes: MeshFolders, up_axis: UpAxis) -> Solid | Missing:
    geometry = shape.geometry
    if geometry.kind == "unread":
        return Missing(link.name, number, geometry.filename, shape.line, geometry.problem)
    if geometry.kind != "mesh":
        return primitive(geometry)
    path = meshes.find(geometry.filename)
    if path is None:
        reason = "no such file (folders of packages: --package-dir or package_dirs=)"
    else:
        folders = meshes.folders(geometry.filename, path)
        try:
            if inside(path, folders):
                return load_mesh(path, geometry.scale, folders, up_axis)
            reason = outside(path)
        except MeshError as problem:
            reason = str(problem)
    return Missing(link.name, number, geometry.filename, shape.line, reason)


def _matrix(shape: Shape) -> Array:
    rotation, translation = shape.pose
    pose = np.eye(4)
    pose[:3, :3] = np.reshape(rotation, (3, 3))
    pose[:3, 3] = translation
    return pose


def _corners(solid: Solid, world: Array) -> list[Array]:
    """The least and the greatest coordinates in the world of the box about a solid that stands at ``world`` (4, 4)."""
    low, high = solid.bounds.astype(float)
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    box = box @ world[:3, :3].T + world[:3, 3]
    return [box.min(axis=0), box.max(axis=0)]
