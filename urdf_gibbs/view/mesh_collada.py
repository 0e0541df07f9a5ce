"""COLLADA files as triangles with the colours of their materials, by pycollada."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.view.mesh_parts import GREY, Beside, Part, Unreadable, optional_module, rgba, sampled

# Rows: where x, y and z of a file go whose up is x or y, so that up becomes z (COLLADA 1.4.1, <up_axis>).
TURNED = {"x": ((0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)), "y": ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))}


def read_collada(data: bytes, beside: Beside) -> tuple[list[Part], str]:
    """The parts, in the file's own axes, and which of these is up: "x", "y" or "z".

    By pycollada itself: trimesh's own reading of it drops the unit and joins vertices at some cost.
    """
    # Entities can expand without bound or read other files, and meshes do not need them. Zero bytes: UTF-16.
    if b"<!ENTITY" in data or b"<!ENTITY" in data[:65536].replace(b"\0", b""):
        raise Unreadable("not a COLLADA file: it declares XML entities, which are refused")
    if data.lstrip()[:2] == b"PK":
        raise Unreadable("a zip archive, not a COLLADA file")
    # pycollada finds nothing in a document without a namespace.
    data = re.sub(
        rb"<COLLADA(?=[\s>])(?![^>]*\bxmlns\s*=)", b'<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"', data, count=1
    )
    if b"COLLADA" not in data.replace(b"\0", b"")[:65536]:
        raise Unreadable("not a COLLADA file")
    collada = optional_module("collada", "pycollada")
    document = _document(data, collada)
    unit = document.assetInfo.unitmeter
    if unit is not None and not (math.isfinite(unit) and unit > 0.0):
        raise Unreadable(f"its unit of length is {unit:g} m")
    paints: dict[int, tuple[NDArray[np.uint8], Any]] = {}
    parts: list[Part] = []
    for matrix, geometry, materials in _instances(document):
        turned = float(np.linalg.det(matrix[:3, :3])) < 0.0
        for given in geometry.primitives:
            primitive = given.triangleset() if hasattr(given, "triangleset") else given
            if not isinstance(primitive, collada.triangleset.TriangleSet) or primitive.vertex is None or not len(primitive.vertex_index):
                continue
            colours = _colours(primitive, materials, paints, beside, collada)
            points = primitive.vertex.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            faces = np.asarray(primitive.vertex_index, dtype=np.int64).reshape(-1, 3)
            if colours is not None and len(colours) > 1:  # one colour for each corner: a corner's own vertex carries it
                points, faces = points[faces.ravel()], np.arange(faces.size).reshape(-1, 3)
            elif colours is not None:
                colours = np.broadcast_to(colours[0], (len(points), 4))
            parts.append(Part(points * (1.0 if unit is None else unit), faces[:, ::-1] if turned else faces, colours))
    if not any(len(part.faces) for part in parts) and document.errors:
        raise Unreadable(f"no triangles in the file that could be read ({' '.join(str(document.errors[0]).split())})")
    return parts, str(document.assetInfo.upaxis or "Y_UP")[0].lower()


def _document(data: bytes, collada: Any) -> Any:
    """The document as pycollada has it, with the geometries that it leaves out because of a material it does not find."""
    ignored = [collada.common.DaeError]
    document = collada.Collada(io.BytesIO(data), ignore=ignored)
    if not document.errors:
        return document
    root = document.xmlnode.getroot()
    known = {f"#{material.id}" for material in document.materials}
    broken = [
        (binding, used)
        for binding in root.iter(document.tag("technique_common"))
        for used in binding.findall(document.tag("instance_material"))
        if used.get("target") not in known
    ]
    for binding, used in broken:
        binding.remove(used)
    return collada.Collada(io.BytesIO(collada.xmlutil.etree.tostring(root)), ignore=ignored) if broken else document


def _instances(document: Any) -> Iterator[tuple[NDArray[np.float64], Any, dict[str, Any]]]:
    """(pose in the scene, geometry, material nodes by symbol) of every geometry as often as the scene shows it."""
    scene = document.scene or (document.scenes[0] if len(document.scenes) else None)
    if scene is None:
        for geometry in document.geometries:
            yield np.eye(4), geometry, {}
        return
    for bound in scene.objects("geometry"):
        yield np.asarray(bound.matrix, dtype=np.float64), bound.original, bound.materialnodebysymbol
    for bound in scene.objects("controller"):  # a skin is drawn unbent; one that cannot be followed has nothing to draw
        geometry = getattr(getattr(bound, "skin", None), "geometry", None)
        if geometry is not None:
            yield np.asarray(bound.matrix, dtype=np.float64), geometry, bound.materialnodebysymbol


def _colours(
    primitive: Any, materials: dict[str, Any], paints: dict[int, tuple[NDArray[np.uint8], Any]], beside: Beside, collada: Any
) -> NDArray[np.uint8] | None:
    """The colours (3 m, 4) of the corners, one colour (1, 4) for all, or None."""
    node = materials.get(primitive.material)
    effect = getattr(getattr(node, "target", None), "effect", None)
    colour, image = None, None
    if effect is not None:
        if id(effect) not in paints:
            paints[id(effect)] = _paint(effect, beside, collada)
        colour, image = paints[id(effect)]
    if image is not None and len(primitive.texcoordset):
        uv = primitive.texcoordset[0][primitive.texcoord_indexset[0].ravel()]
        return sampled(image, uv, np.full(4, 255, dtype=np.uint8))
    sources: list[Any] = list(primitive.sources.get("COLOR") or ())
    if sources:
        offset, source = sources[0][0], sources[0][4]
        return rgba(source.data[primitive.index[:, :, offset].ravel()])
    return None if colour is None else colour[None]


def _paint(effect: Any, beside: Beside, collada: Any) -> tuple[NDArray[np.uint8], Any]:
    """(colour, image or None) of an effect."""
    diffuse = effect.diffuse
    image = None
    if isinstance(diffuse, collada.material.Map):
        image = beside.image(diffuse.sampler.surface.image.path)
        # One that is not there leaves the colour to the parts of the effect that the texture would have covered.
        diffuse = next((c for c in (effect.ambient, effect.emission) if _is_colour(c) and any(c[:3])), None)
    if diffuse is None and image is None and _is_colour(effect.emission) and any(effect.emission[:3]):
        diffuse = effect.emission  # <constant> has no diffuse
    if not _is_colour(diffuse):
        return GREY.copy(), image
    alpha = 1.0
    transparency = effect.transparency if isinstance(effect.transparency, (int, float)) else 1.0
    if _is_colour(effect.transparent):
        if str(effect.opaque_mode).endswith("RGB_ZERO"):
            alpha = 1.0 - float(np.dot(effect.transparent[:3], (0.212671, 0.715160, 0.072169))) * transparency
        else:
            alpha = float(effect.transparent[3]) * transparency if len(effect.transparent) > 3 else transparency
    colour = rgba(diffuse, alpha)
    # A fully transparent part is an error: some exporters write transparency where opacity is meant.
    return (colour if colour[3] else rgba(diffuse[:3])), image


def _is_colour(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) >= 3 and all(isinstance(x, (int, float)) for x in value)
