"""Visuals and collisions of the links of an SDF, straight from its XML.

Those that are placed relative to another frame and those of included files are left out, and findings say so.
"""

from __future__ import annotations

from urdf_gibbs.robot.conversion import Shapes
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import IDENTITY, Pose, rotation_from_rpy
from urdf_gibbs.robot.urdf import Geometry, Shape
from urdf_gibbs.robot.xml import Element

KNOWN = "a box, sphere, cylinder, capsule or mesh, placed relative to its link; it is left out of pictures and contacts"


def shapes_of(root: Element, findings: Findings) -> dict[str, Shapes]:
    """(visuals, collisions) of each link, by its name behind those of its models, "arm::left::base"; the elements have their text."""
    result: dict[str, Shapes] = {}
    stack = [(root, "")]
    while stack:
        element, path = stack.pop()
        for child in element.children:
            if child.tag == "include" and element.tag == "model":
                expected = "links of this file; those of the included one move as it says, and their shapes are left out"
                findings.note("not-carried", child.line, f'model "{element.attributes.get("name", "")}"', "an included model", expected)
            if child.tag in ("model", "world"):
                stack.append((child, f"{path}{child.attributes.get('name', '')}::" if child.tag == "model" else path))
        for link in element.all("link"):
            name = link.attributes.get("name", "")
            visuals, collisions = (tuple(_shapes(link.all(tag), f'link "{name}" <{tag}>', findings)) for tag in ("visual", "collision"))
            result[path + name] = visuals, collisions
    return result


def _shapes(elements: list[Element], what: str, findings: Findings) -> list[Shape]:
    result = []
    for element in elements:
        shape = _shape(element)
        if shape is not None:
            result.append(shape)
        else:
            kinds = [child.tag for geometry in element.all("geometry") for child in geometry.children]
            placed = [place.attributes["relative_to"] for place in element.all("pose") if place.attributes.get("relative_to")]
            found = f"<{kinds[0]}>" if kinds else "no geometry"
            findings.note("not-carried", element.line, what, f'{found} relative to "{placed[0]}"' if placed else found, KNOWN)
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
