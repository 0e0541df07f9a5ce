"""Mesh files for tests, written out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

# A tetrahedron of volume 1 (edges 1, 2, 3), its faces outwards.
POINTS = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def gltf_parts(uri: str = "") -> tuple[dict, bytes]:
    blob = POINTS.astype("<f4").tobytes() + FACES.astype("<u2").tobytes()
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [0, 0, 10]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 0.4]}, "alphaMode": "BLEND"}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 2, 3]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "buffers": [{"byteLength": len(blob)} | ({"uri": uri} if uri else {})],
    }
    return tree, blob


def source(name: str, values: np.ndarray, params: str) -> str:
    listed = " ".join(f"{x:g}" for x in np.ravel(values))
    named = "".join(f'<param name="{p}" type="float"/>' for p in params)
    return (
        f'<source id="{name}"><float_array id="{name}-array" count="{np.size(values)}">{listed}</float_array><technique_common>'
        f'<accessor source="#{name}-array" count="{len(values)}" stride="{len(params)}">{named}</accessor></technique_common></source>'
    )


def effect(name: str, inside: str, before: str = "") -> str:
    return f'<effect id="{name}-effect"><profile_COMMON>{before}<technique sid="common"><phong>{inside}</phong></technique></profile_COMMON></effect>'


DIFFUSE = "<diffuse><color>{}</color></diffuse>"


def dae(
    asset: str = "",
    nodes: str | None = None,
    effects: str = effect("red", DIFFUSE.format("1 0 0 1")) + effect("blue", DIFFUSE.format("0 0 1 1")),
    sources: str = "",
    inputs: str = "",
    index: np.ndarray = FACES,
    images: str = "",
    head: str = "",
    namespace: str = ' xmlns="http://www.collada.org/2005/11/COLLADASchema"',
    scene: str = '<scene><instance_visual_scene url="#scene"/></scene>',
) -> bytes:
    materials = "".join(
        f'<material id="{m}"><instance_effect url="#{m}-effect"/></material>' for m in re.findall(r'effect id="(\w+)-effect"', effects)
    )
    nodes = node("red") if nodes is None else nodes
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{head}<COLLADA{namespace} version="1.4.1"><asset>{asset}</asset>'
        f"<library_images>{images}</library_images><library_effects>{effects}</library_effects><library_materials>{materials}</library_materials>"
        f'<library_geometries><geometry id="g"><mesh>{source("p", POINTS, "XYZ")}{sources}'
        f'<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        f'<triangles count="4" material="paint"><input semantic="VERTEX" source="#v" offset="0"/>{inputs}'
        f"<p>{' '.join(map(str, np.ravel(index)))}</p></triangles></mesh></geometry></library_geometries>"
        f'<library_visual_scenes><visual_scene id="scene">{nodes}</visual_scene></library_visual_scenes>{scene}</COLLADA>'
    ).encode()


def instance(material: str) -> str:
    bound = f'<instance_material symbol="paint" target="#{material}"/>'
    return f'<instance_geometry url="#g"><bind_material><technique_common>{bound}</technique_common></bind_material></instance_geometry>'


def node(material: str, transform: str = "", children: str = "") -> str:
    return f"<node>{transform}{instance(material)}{children}</node>"


def texture(path: Path) -> None:
    """Two by two: bottom left red, bottom right blue, top left green, top right white."""
    from PIL import Image

    image = Image.new("RGB", (2, 2))
    image.putdata([(0, 255, 0), (255, 255, 255), (255, 0, 0), (0, 0, 255)])
    image.save(path)


TEXTURED = b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0.1 0.1\nvt 0.9 0.1\nvt 0.9 0.9\nvt 0.1 0.9\nusemtl m\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n"
