"""Visuals and collisions of the links of an SDF, straight from its XML; those placed relative to another frame are left out."""

from __future__ import annotations

from urdf_gibbs.robot.conversion import Shapes
from urdf_gibbs.robot.spatial import IDENTITY, Pose, rotation_from_rpy
from urdf_gibbs.robot.urdf import Geometry, Shape
from urdf_gibbs.robot.xml import Element


def shapes_of(root: Element) -> dict[str, Shapes]:
    """(visuals, collisions) of each link of the file's models; ``root``: with the text of its elements."""
    result: dict[str, Shapes] = {}
    stack = [root]
    while stack:
        element = stack.pop()
        stack += [child for child in element.children if child.tag in ("model", "world")]
        for link in element.all("link"):
            visuals, collisions = (tuple(filter(None, map(_shape, link.all(tag)))) for tag in ("visual", "collision"))
            result[link.attributes.get("name", "")] = visuals, collisions
    return result


def _shape(element: Element) -> Shape | None:
    places, geometries = element.all("pose"), element.all("geometry")
    if not geometries or not geometries[0].children or (places and places[0].attributes.get("relative_to")):
        return None
    solid = geometries[0].children[0]
    try:
        geometry = _geometry(solid)
        pose = _pose(places[0]) if places else IDENTITY
        colours = [one for material in element.all("material") for one in material.all("diffuse")]
        rgba = tuple(map(float, colours[0].text.split())) if colours else None
    except ValueError:  # Drake's parser has its own words for bad numbers
        return None
    return None if geometry is None else Shape(geometry, pose, element.attributes.get("name", ""), "", rgba, "", element.line)


def _geometry(solid: Element) -> Geometry | None:
    values = {child.tag: child.text.strip() for child in solid.children}
    if solid.tag == "box" and "size" in values:
        return Geometry("box", tuple(map(float, values["size"].split())))
    if solid.tag == "sphere" and "radius" in values:
        return Geometry("sphere", (float(values["radius"]),))
    if solid.tag in ("cylinder", "capsule") and {"radius", "length"} <= values.keys():
        return Geometry(solid.tag, (float(values["radius"]), float(values["length"])))
    if solid.tag == "mesh" and "uri" in values:
        x, y, z = map(float, values.get("scale", "1 1 1").split())
        return Geometry("mesh", (), values["uri"], (x, y, z))
    return None


def _pose(element: Element) -> Pose:
    x, y, z, roll, pitch, yaw = map(float, element.text.split())
    return rotation_from_rpy(roll, pitch, yaw), (x, y, z)
