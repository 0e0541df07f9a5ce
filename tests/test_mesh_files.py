"""Mesh files as written by hand and as of example-robot-data: places, colours, units, and what is not a mesh.

Bounding boxes are compared with those that Pinocchio's collision library reads by Assimp.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from mesh_data import DIFFUSE, FACES, POINTS, TEXTURED, dae, effect, gltf_parts, instance, node, source, texture

from urdf_gibbs.bundled import example_robots
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.robot.meshes import find_mesh
from urdf_gibbs.view import mesh_files, mesh_parts
from urdf_gibbs.view.mesh_files import SUFFIXES, MeshError, load_mesh
from urdf_gibbs.view.solids import Solid

RED, BLUE = (255, 0, 0, 255), (0, 0, 255, 255)


def volume(solid: Solid) -> float:
    a, b, c = np.moveaxis(solid.vertices.astype(float)[solid.faces.astype(np.int64)], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def points(solid: Solid) -> set[tuple[float, ...]]:
    return {tuple(p) for p in np.round(solid.vertices.astype(float), 6).tolist()}


def colours(solid: Solid) -> set[tuple[int, ...]]:
    assert solid.colours is not None
    return {tuple(c) for c in solid.colours.tolist()}


def coloured(solid: Solid, colour: tuple[int, ...]) -> np.ndarray:
    """The bounding box of what has that colour."""
    assert solid.colours is not None
    part = solid.vertices[(solid.colours == colour).all(axis=1)]
    return np.array([part.min(axis=0), part.max(axis=0)])


def normals_are_of_faces(solid: Solid) -> bool:
    a, b, c = np.moveaxis(solid.vertices.astype(float)[solid.faces.astype(np.int64)], 1, 0)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    return np.allclose(solid.normals[solid.faces.astype(np.int64)], flat[:, None], atol=1e-5)


# writers --------------------------------------------------------------------------------------------


def stl_binary(header: bytes = b"", extra: bytes = b"") -> bytes:
    facets = b"".join(struct.pack("<12fH", 0, 0, 0, *POINTS[f].ravel(), 0) for f in FACES)
    return header.ljust(80, b" ")[:80] + struct.pack("<I", len(FACES)) + facets + extra


def stl_text() -> bytes:
    lines = ["solid some name"]
    for f in FACES:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x:e} {y:f} {z:g}" for x, y, z in POINTS[f]), "endloop", "endfacet"]
    return "\n".join([*lines, "endsolid some name", ""]).encode()


def obj() -> bytes:
    return "\n".join([*(f"v {x} {y} {z}" for x, y, z in POINTS), *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES), ""]).encode()


def off() -> bytes:
    return "\n".join(["OFF", "4 4 0", *(f"{x} {y} {z}" for x, y, z in POINTS), *(f"3 {a} {b} {c}" for a, b, c in FACES), ""]).encode()


def ply() -> bytes:
    head = [
        "ply",
        "format ascii 1.0",
        "element vertex 4",
        *(f"property float {x}" for x in "xyz"),
        *(f"property uchar {c}" for c in ("red", "green", "blue", "alpha")),
    ]
    head += ["element face 4", "property list uchar int vertex_indices", "end_header"]
    body = [f"{x} {y} {z} 255 0 0 255" for x, y, z in POINTS] + [f"3 {a} {b} {c}" for a, b, c in FACES]
    return "\n".join([*head, *body, ""]).encode()


def ply_binary() -> bytes:
    head = ["ply", "format binary_little_endian 1.0", "element vertex 4", *(f"property float {x}" for x in "xyz")]
    head += ["element face 4", "property list uchar int vertex_indices", "end_header", ""]
    return "\n".join(head).encode() + POINTS.astype("<f4").tobytes() + b"".join(struct.pack("<B3i", 3, *f) for f in FACES.tolist())


def glb() -> bytes:
    tree, blob = gltf_parts()
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob
    return struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body


WRITERS: dict[str, Callable[[], bytes]] = {
    "binary.stl": stl_binary,
    "text.stl": stl_text,
    "a.dae": dae,
    "a.obj": obj,
    "a.off": off,
    "text.ply": ply,
    "binary.ply": ply_binary,
    "a.glb": glb,
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def writer(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return writer


# every format ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("upper", [False, True])
def test_vertices_as_written(write, name: str, upper: bool) -> None:
    solid = load_mesh(write(name.upper() if upper else name, WRITERS[name]()))
    shift = np.array([0, 0, 10.0 * (name == "a.glb")])
    assert points(solid) == {tuple(p) for p in (POINTS + shift).tolist()}
    assert len(solid.faces) == 4 and len(solid.vertices) == 12
    assert volume(solid) == pytest.approx(1.0, rel=1e-5) and normals_are_of_faces(solid)
    if name in ("a.dae", "text.ply"):
        assert colours(solid) == {RED}
    elif name == "a.glb":
        assert colours(solid) == {(255, 0, 0, 102)}
    else:
        assert solid.colours is None


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("scale", [(2.0, 3.0, 0.5), (-1.0, 1.0, 1.0), (-1.0, -2.0, 1.0), (-0.001, -0.001, -0.001)])
def test_scale(write, name: str, scale: tuple[float, float, float]) -> None:
    solid = load_mesh(write(name, WRITERS[name]()), scale)
    shift = np.array([0, 0, 10.0 * (name == "a.glb")])
    expected = (POINTS + shift) * scale
    np.testing.assert_allclose(solid.bounds, [expected.min(axis=0), expected.max(axis=0)], rtol=1e-6)
    assert volume(solid) == pytest.approx(abs(np.prod(scale)), rel=1e-4)  # outwards, mirrored or not
    assert normals_are_of_faces(solid)


def test_gltf_with_its_buffer_beside_it(write) -> None:
    tree, blob = gltf_parts("some%20data.bin")
    write("some data.bin", blob)
    assert volume(load_mesh(write("a.gltf", json.dumps(tree).encode()))) == pytest.approx(1.0, rel=1e-5)


# STL ------------------------------------------------------------------------------------------------


HEADERS = (b"solid exported", b"solid facet normal", b"", b"VCGLIB COLOR=    ")
# Trailing bytes behind a header with "facet" are left out: nothing tells that file from text.
BINARY = [(header, extra) for header in HEADERS for extra in (b"", b"trailing bytes") if not (extra and b"facet" in header)]


@pytest.mark.parametrize(("header", "extra"), BINARY)
def test_binary_stl_whatever_its_header(write, header: bytes, extra: bytes) -> None:
    solid = load_mesh(write("a.stl", stl_binary(header, extra)))
    assert len(solid.faces) == 4 and volume(solid) == pytest.approx(1.0) and solid.colours is None


def test_text_stl_in_other_spellings(write) -> None:
    for text in (
        stl_text().upper(),
        stl_text().replace(b"\n", b"\r\n"),
        b"\n  " + stl_text(),
        stl_text() + stl_text().replace(b"0.000000e+00", b"5.0"),
    ):
        assert len(load_mesh(write(f"{hashlib.md5(text).hexdigest()}.stl", text)).faces) >= 4


# OBJ ------------------------------------------------------------------------------------------------


def test_obj_materials(write) -> None:
    write("paint.mtl", b"newmtl red\nKd 1 0 0\nd 0.5\nnewmtl blue\nKa 0 0 0\nKd 0 0 1\nTr 0.0\n")
    text = obj().decode().splitlines()
    text[4:4] = ["mtllib paint.mtl", "usemtl red"]
    text[7:7] = ["usemtl blue"]
    solid = load_mesh(write("a.obj", "\n".join(text).encode()))
    assert colours(solid) == {(255, 0, 0, 128), BLUE}
    corner = solid.colours[solid.faces[:, 0].astype(int)]
    assert sorted(corner[:, 0].tolist()) == [0, 0, 0, 255]
    assert volume(solid) == pytest.approx(1.0)


def test_obj_without_its_mtl_has_no_colour(write) -> None:
    text = obj().decode().splitlines()
    text[4:4] = ["mtllib absent.mtl", "usemtl red"]
    assert load_mesh(write("a.obj", "\n".join(text).encode())).colours is None
    assert load_mesh(write("b.obj", TEXTURED)).colours is None


def test_obj_quads_and_negative_indices(write) -> None:
    quad = b"v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nf -4 -3 -2 -1\n"
    solid = load_mesh(write("a.obj", quad))
    assert len(solid.faces) == 2 and points(solid) == {(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0)}
    np.testing.assert_allclose(solid.normals, [[0, 0, 1]] * 4, atol=1e-6)


def test_obj_vertex_colours(write) -> None:
    text = b"v 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 0 0 1\nf 1 2 3\n"
    solid = load_mesh(write("a.obj", text))
    assert coloured(solid, BLUE).tolist() == [[0, 1, 0]] * 2 and colours(solid) == {RED, BLUE}


AT_CORNERS = {(0, 0, 0): RED, (1, 0, 0): BLUE, (1, 1, 0): (255, 255, 255, 255), (0, 1, 0): (0, 255, 0, 255)}


def at_corners(solid: Solid) -> dict[tuple[int, ...], tuple[int, ...]]:
    assert solid.colours is not None
    return {tuple(int(x) for x in p): tuple(c) for p, c in zip(solid.vertices.tolist(), solid.colours.tolist(), strict=True)}


@pytest.mark.parametrize("name", ["skin.png", "sub/skin.png", "../skin.png", "C:\\\\work\\\\skin.png", "file:///far/away/skin.png"])
def test_obj_texture_at_the_vertices(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "meshes"
    (folder / "sub").mkdir(parents=True)
    texture({"sub/skin.png": folder / name, "../skin.png": tmp_path / "skin.png"}.get(name, folder / "skin.png"))
    (folder / "a.mtl").write_text(f"newmtl m\nKd 1 1 1\nmap_Kd {name}\n")
    (folder / "a.obj").write_bytes(TEXTURED)
    assert at_corners(load_mesh(folder / "a.obj", folders=[tmp_path])) == AT_CORNERS


@pytest.mark.parametrize("name", ["absent.png", "http://localhost:1/skin.png", "/dev/zero", "/", "broken.png", "..", "a" * 5000])
def test_texture_that_cannot_be_had_leaves_the_material(write, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a network is used"))
    write("broken.png", b"\x89PNG\r\n\x1a\nrubbish")
    write("a.mtl", f"newmtl m\nKd 0 0 1\nmap_Kd {name}\n".encode())
    assert colours(load_mesh(write("a.obj", TEXTURED))) == {BLUE}


def test_texture_cut_short_leaves_the_material(write, tmp_path: Path) -> None:
    texture(tmp_path / "skin.png")
    whole = (tmp_path / "skin.png").read_bytes()
    write("skin.png", whole[: len(whole) - 20])
    write("a.mtl", b"newmtl m\nKd 0 0 1\nmap_Kd skin.png\n")
    assert len(load_mesh(write("a.obj", TEXTURED)).faces) == 2


# COLLADA --------------------------------------------------------------------------------------------

UP = ["", "<up_axis>X_UP</up_axis>", "<up_axis>Y_UP</up_axis>", "<up_axis>Z_UP</up_axis>"]
UNITS = [
    ("", 1.0),
    ('<unit name="meter" meter="1"/>', 1.0),
    ('<unit name="centimeter" meter="0.01"/>', 0.01),
    ('<unit meter="0.001"/>', 0.001),
]


@pytest.mark.parametrize("up", UP)
@pytest.mark.parametrize(("unit", "factor"), UNITS)
def test_dae_unit_is_applied_and_up_axis_is_not(write, up: str, unit: str, factor: float) -> None:
    path = write("a.dae", dae(unit + up, nodes=node("red", "<translate>1 0 0</translate>")))
    solid = load_mesh(path)
    np.testing.assert_allclose(solid.bounds, np.array([[1, 0, 0], [2, 2, 3]]) * factor, rtol=1e-6)
    # coal leaves out what Assimp puts at the root, which is the unit along with the up axis; RViz puts the unit back.
    np.testing.assert_allclose(solid.bounds, assimp_bounds(path) * factor, rtol=1e-5)
    scaled = load_mesh(path, (1.0, 10.0, -1.0))
    np.testing.assert_allclose(scaled.bounds, np.array([[1, 0, -3], [2, 20, 0]]) * factor, rtol=1e-6)


@pytest.mark.parametrize("meter", ["0", "-1", "nan", "inf"])
def test_dae_unit_that_is_no_length(write, meter: str) -> None:
    with pytest.raises(MeshError, match="unit of length"):
        load_mesh(write("a.dae", dae(f'<unit meter="{meter}"/>')))


def test_dae_instances_have_their_poses_and_colours(write) -> None:
    turned = node("blue", "<rotate>0 0 1 90</rotate>")
    path = write("a.dae", dae(nodes=node("red") + f"<node><translate>10 0 0</translate><scale>2 2 2</scale>{turned}</node>"))
    solid = load_mesh(path)
    np.testing.assert_allclose(coloured(solid, RED), [[0, 0, 0], [1, 2, 3]], atol=1e-6)
    np.testing.assert_allclose(coloured(solid, BLUE), [[6, 0, 0], [10, 2, 6]], atol=1e-5)
    assert volume(solid) == pytest.approx(1.0 + 8.0, rel=1e-5)
    np.testing.assert_allclose(solid.bounds, assimp_bounds(path), atol=1e-5)


def test_dae_node_that_mirrors(write) -> None:
    solid = load_mesh(write("a.dae", dae(nodes=node("red", "<matrix>-1 0 0 0 0 1 0 0 0 0 1 5 0 0 0 1</matrix>"))))
    assert solid.bounds.tolist() == [[-1, 0, 5], [0, 2, 8]]
    assert volume(solid) == pytest.approx(1.0, rel=1e-5) and normals_are_of_faces(solid)
    again = load_mesh(write("b.dae", dae(nodes=node("red", "<scale>-1 1 1</scale>"))), (-1.0, 1.0, 1.0))
    assert points(again) == {tuple(p) for p in POINTS.tolist()} and volume(again) == pytest.approx(1.0)


TRANSPARENT = "<transparent{}><color>{}</color></transparent><transparency><float>{}</float></transparency>"


@pytest.mark.parametrize(
    ("inside", "colour"),
    [
        (DIFFUSE.format("0.2 0.4 0.6 1"), (51, 102, 153, 255)),
        (DIFFUSE.format("0.2 0.4 0.6 0.5"), (51, 102, 153, 128)),
        (DIFFUSE.format("0 0 1 1") + TRANSPARENT.format("", "1 1 1 1", 0.2), (0, 0, 255, 51)),
        (DIFFUSE.format("0 0 1 1") + TRANSPARENT.format(' opaque="A_ONE"', "1 1 1 0.2", 1), (0, 0, 255, 51)),
        (DIFFUSE.format("0 0 1 1") + TRANSPARENT.format(' opaque="RGB_ZERO"', "0.8 0.8 0.8 1", 1), (0, 0, 255, 51)),
        # Half of the exporters write 0 for opaque; what cannot be seen is not meant.
        (DIFFUSE.format("0 0 1 1") + TRANSPARENT.format("", "1 1 1 1", 0), BLUE),
        ("<emission><color>1 0 0 1</color></emission>", RED),
    ],
)
def test_dae_diffuse_and_alpha(write, inside: str, colour: tuple[int, ...]) -> None:
    assert colours(load_mesh(write("a.dae", dae(effects=effect("red", inside))))) == {colour}


def test_dae_without_materials_has_no_colour(write) -> None:
    assert load_mesh(write("a.dae", dae(nodes='<node><instance_geometry url="#g"/></node>'))).colours is None


def test_dae_with_a_material_that_is_absent_is_drawn(write) -> None:
    assert load_mesh(write("a.dae", dae(nodes=node("absent")))).colours is None
    solid = load_mesh(write("b.dae", dae(nodes=node("absent") + node("blue", "<translate>5 0 0</translate>"))))
    assert coloured(solid, tuple(mesh_parts.GREY.tolist())).tolist() == [[0, 0, 0], [1, 2, 3]]
    assert coloured(solid, BLUE).tolist() == [[5, 0, 0], [6, 2, 3]]


def test_dae_vertex_colours(write) -> None:
    index = np.column_stack([FACES.ravel(), np.repeat([0, 0, 0, 1], 3)])
    data = dae(
        sources=source("c", np.array([(1, 0, 0), (0, 0, 1)]), "RGB"), inputs='<input semantic="COLOR" source="#c" offset="1"/>', index=index
    )
    solid = load_mesh(write("a.dae", data))
    assert coloured(solid, BLUE).tolist() == [[0, 0, 0], [1, 2, 3]] and (solid.colours[:, 2] == 255).sum() == 3
    assert colours(solid) == {RED, BLUE}


@pytest.mark.parametrize("there", [True, False])
def test_dae_texture(write, tmp_path: Path, there: bool) -> None:
    if there:
        texture(tmp_path / "skin one.png")
    before = (
        '<newparam sid="surf"><surface type="2D"><init_from>img</init_from></surface></newparam>'
        '<newparam sid="samp"><sampler2D><source>surf</source></sampler2D></newparam>'
    )
    index = np.column_stack([FACES.ravel(), FACES.ravel()])
    data = dae(
        effects=effect("red", '<diffuse><texture texture="samp" texcoord="UV"/></diffuse>', before),
        sources=source("t", np.array([(0.1, 0.1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.9)]), "ST"),
        inputs='<input semantic="TEXCOORD" source="#t" offset="1" set="0"/>',
        index=index,
        images='<image id="img"><init_from>file:///other/machine/skin%20one.png</init_from></image>',
    )
    solid = load_mesh(write("a.dae", data))
    if there:
        assert at_corners(solid) == {(0, 0, 0): RED, (1, 0, 0): BLUE, (0, 2, 0): (0, 255, 0, 255), (0, 0, 3): (255, 255, 255, 255)}
    else:
        assert colours(solid) == {tuple(mesh_parts.GREY.tolist())}


def test_dae_polygons(write) -> None:
    """The tetrahedron's base doubled into a square by a <polylist> of mixed polygons."""
    data = dae().decode()
    data = re.sub(r"<triangles(.*?)<p>.*?</p></triangles>", r"<polylist\1<vcount>4 3</vcount><p>0 1 3 2 0 1 2</p></polylist>", data)
    assert len(load_mesh(write("a.dae", data.encode())).faces) == 3


def test_dae_without_namespace_or_scene(write) -> None:
    assert volume(load_mesh(write("a.dae", dae(namespace="")))) == pytest.approx(1.0)
    assert volume(load_mesh(write("b.dae", dae(scene="")))) == pytest.approx(1.0)
    assert volume(load_mesh(write("c.dae", dae().decode().replace("utf-8", "utf-16").encode("utf-16")))) == pytest.approx(1.0)


BOMB = "<!DOCTYPE COLLADA [<!ENTITY a0 'lol'>" + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12)) + "]>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_dae_entities_are_refused(write, encoding: str) -> None:
    text = dae("<title>&a11;</title>", head=BOMB).decode().replace("utf-8", encoding)
    with pytest.raises(MeshError, match="entities"):  # expanded they would fill 3e11 bytes
        load_mesh(write("a.dae", text.encode(encoding)))
    outside = "<!DOCTYPE COLLADA [<!ENTITY a11 SYSTEM 'file:///etc/passwd'>]>"
    with pytest.raises(MeshError, match="entities"):
        load_mesh(write("b.dae", dae("<title>&a11;</title>", head=outside)))


def test_dae_nested_without_end(write) -> None:
    deep = dae(nodes="<node>" * 20000 + instance("red") + "</node>" * 20000)
    with pytest.raises(MeshError):
        load_mesh(write("a.dae", deep))


# what is not a mesh ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_and_blank_and_rubbish(write, suffix: str) -> None:
    for data, reason in ((b"", "empty"), (b" \n\t\n ", "blanks"), (b"\0" * 300, "blanks"), (b"some words", "not|no triangles")):
        with pytest.raises(MeshError, match=reason) as caught:
            load_mesh(write(f"{len(data)}{suffix}", data))
        assert isinstance(caught.value, UrdfGibbsError)
        assert f"{len(data)}{suffix}" in str(caught.value) and "\n" not in str(caught.value)


def test_names_that_lead_nowhere(tmp_path: Path, write) -> None:
    with pytest.raises(MeshError, match="no such file"):
        load_mesh(tmp_path / "absent.stl")
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(MeshError, match="not a file"):
        load_mesh(tmp_path / "folder.stl")
    with pytest.raises(MeshError, match=r"\.step.*\.stl, \.dae, \.obj"):
        load_mesh(write("a.step", b"x"))
    with pytest.raises(MeshError, match="no suffix"):
        load_mesh(write("a", b"x"))
    with pytest.raises(MeshError):
        load_mesh(Path("a\0b.stl"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(MeshError, match="not a file"):
        load_mesh(tmp_path / "pipe.stl")


@pytest.mark.parametrize("scale", [(0.0, 1.0, 1.0), (1.0, float("nan"), 1.0), (1.0, 1.0, float("inf")), (1.0, 1.0)])
def test_an_invalid_scale_is_refused(write, scale) -> None:
    with pytest.raises(MeshError, match="scale"):
        load_mesh(write("a.stl", stl_binary()), scale)


def test_no_triangles(write) -> None:
    for name, data in (
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
        ("a.stl", b"solid x\nendsolid x\n"),
        ("b.stl", b"x" * 80 + struct.pack("<I", 0)),
        ("a.dae", dae(nodes="")),
        ("a.off", b"OFF\n1 0 0\n0 0 0\n"),
    ):
        with pytest.raises(MeshError, match=r"no triangles|not a mesh"):
            load_mesh(write(name, data))
    with pytest.raises(MeshError, match="area"):
        load_mesh(write("flat.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"))


@pytest.mark.parametrize("bad", ["nan", "inf", "1e300"])
def test_vertices_that_are_not_finite(write, bad: str) -> None:
    for name, data in (("a.obj", obj()), ("a.off", off()), ("a.stl", stl_text())):
        spoilt = data.replace(b"1.000000e+00", bad.encode()).replace(b"1.0 ", f"{bad} ".encode())
        with pytest.raises(MeshError):
            load_mesh(write(name, spoilt))
    spoilt_binary = stl_binary().replace(struct.pack("<f", 3.0), struct.pack("<f", float("nan")))
    with pytest.raises(MeshError, match="not finite"):
        load_mesh(write("b.stl", spoilt_binary))


def test_face_of_a_vertex_that_is_not_there(write) -> None:
    for name, data in (("a.obj", obj() + b"f 1 2 9\n"), ("a.off", off().replace(b"3 1 2 3", b"3 1 2 9")), ("a.dae", dae(index=FACES + 2))):
        with pytest.raises(MeshError):
            load_mesh(write(name, data))


@pytest.mark.parametrize("name", WRITERS)
def test_garbled_bytes_raise_nothing_else(write, name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    whole = WRITERS[name]()
    random = np.random.default_rng(5)
    for k in range(120):
        spoilt = bytearray(whole)
        if k % 3 == 0:
            spoilt = spoilt[: random.integers(1, len(whole))]
        elif k % 3 == 1:
            for place in random.integers(0, len(whole), random.integers(1, 12)):
                spoilt[place] = random.integers(0, 256)
        else:
            place, length = random.integers(0, len(whole)), random.integers(1, 60)
            spoilt[place : place + length] = random.bytes(int(random.integers(0, 30)))
        path = write(f"{k}{name}", bytes(spoilt))
        with contextlib.suppress(MeshError):
            solid = load_mesh(path)
            assert len(solid.faces) and np.isfinite(solid.vertices).all() and solid.faces.max() < len(solid.vertices)
    assert capfd.readouterr() == ("", "") and not caplog.records


def test_counts_beyond_all_memory(write) -> None:
    for name, data in (
        ("a.stl", b" " * 80 + b"\xff\xff\xff\x7f" + b"\0" * 100),
        ("a.ply", ply().replace(b"vertex 4", b"vertex 99999999999")),
        ("b.ply", ply_binary().replace(b"vertex 4", b"vertex 99999999999")),
        ("a.off", off().replace(b"4 4 0", b"99999999999 4 0")),
    ):
        with pytest.raises(MeshError):
            load_mesh(write(name, data))


def test_readers_log_nothing_and_logging_is_as_it_was(write, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("trimesh")
    before = (logger.propagate, list(logger.handlers))

    def complaining(data: bytes) -> list[mesh_parts.Part]:
        logging.getLogger("trimesh.util").warning("as its modules do")
        return [mesh_parts.Part(POINTS, FACES)]

    monkeypatch.setattr(mesh_files, "_stl", complaining)
    load_mesh(write("a.stl", stl_binary()))
    assert (logger.propagate, list(logger.handlers)) == before
    assert not caplog.records
    complaining(b"")
    assert len(caplog.records) == 1


def test_interrupt_is_not_swallowed(write, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mesh_files, "_stl", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load_mesh(write("a.stl", stl_binary()))


# cache and dependencies -----------------------------------------------------------------------------


def test_a_mesh_is_read_once_until_it_changes(write) -> None:
    path = write("a.stl", stl_binary())
    first = load_mesh(path)
    assert load_mesh(path) is first and load_mesh(path, (1.0, 1.0, 2.0)) is not first
    path.write_bytes(stl_binary().replace(struct.pack("<f", 3.0), struct.pack("<f", 4.0)))
    os.utime(path, ns=(1, 1))
    assert load_mesh(path).bounds[1, 2] == 4.0


def test_readers_need_nothing_but_trimesh_and_pycollada(write) -> None:
    """networkx, scipy, lxml and the like may be there or not."""
    paths = [str(write(name, make())) for name, make in WRITERS.items()]
    code = (
        "import sys, pathlib\n"
        "for name in ('networkx', 'scipy', 'lxml', 'shapely', 'httpx', 'requests', 'jsonschema', 'rtree'): sys.modules[name] = None\n"
        "from urdf_gibbs.view.mesh_files import load_mesh\n"
        f"for path in {paths!r}: assert len(load_mesh(pathlib.Path(path)).faces) == 4, path\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# example-robot-data ---------------------------------------------------------------------------------


def assimp_bounds(path: Path) -> np.ndarray:
    coal = next((importlib.import_module(name) for name in ("coal", "hppfcl") if importlib.util.find_spec(name)), None)
    assert coal is not None, "Pinocchio brings it"
    model = coal.MeshLoader().load(str(path), np.ones(3))
    vertices = np.asarray(model.vertices() if callable(model.vertices) else model.vertices)
    return np.array([vertices.min(axis=0), vertices.max(axis=0)])


EXAMPLES = sorted({Path(file).parts[0] for file in example_robots()})


def named_meshes(package: str) -> Iterator[Path]:
    """Those that the URDFs of a package name."""
    names = set()
    for file, urdf in example_robots().items():
        if Path(file).parts[0] == package:
            share = urdf.parents[len(Path(file).parts) + 1]
            text = re.sub(r"<!--.*?-->", "", urdf.read_text(errors="replace"), flags=re.DOTALL)
            names |= {(name, urdf.parent, share) for name in re.findall(r'<mesh[^>]*?filename\s*=\s*"([^"]+)"', text)}
    for name, folder, share in sorted(names):
        path = find_mesh(name, str(folder / "robot.urdf"), [str(share)])
        if path is not None:
            yield path


def meshes_of(package: str) -> list[Path]:
    """The same, each content once."""
    found: dict[str, Path] = {}
    for path in named_meshes(package):
        found.setdefault(hashlib.sha1(path.read_bytes()).hexdigest() + path.suffix.lower(), path)
    return list(found.values())


def test_example_robots_have_meshes() -> None:
    """Of some 30 packages all but a few: else the next test would say nothing."""
    assert sum(next(named_meshes(package), None) is not None for package in EXAMPLES) >= 0.8 * len(EXAMPLES) >= 20
    assert {*NIGHTLY, *NIGHTLY.values()} <= {*EXAMPLES} and not {*NIGHTLY} & {*NIGHTLY.values()}


# Beside each of the largest one of the same formats that is in every run.
NIGHTLY = {
    "b1_description": "go2_description",
    "go1_description": "a1_description",
    "anymal_b_simple_description": "anymal_c_simple_description",
    "asr_twodof_description": "kinova_description",
    "g1_description": "go2_description",
    "so_arm_description": "centauro_description",
    "z1_description": "panda_description",
}


@pytest.mark.parametrize(
    "package", [pytest.param(package, marks=[pytest.mark.nightly] if package in NIGHTLY else []) for package in EXAMPLES]
)
def test_meshes_of_example_robots(package: str) -> None:
    for path in meshes_of(package):
        solid = load_mesh(path)
        assert len(solid.faces) and np.isfinite(solid.vertices).all() and np.isfinite(solid.normals).all(), path
        assert np.allclose(np.linalg.norm(solid.normals, axis=1), 1.0, atol=1e-4), path
        expected = assimp_bounds(path)
        np.testing.assert_allclose(solid.bounds, expected, rtol=1e-5, atol=1e-5 * float(np.ptp(expected, axis=0).max()), err_msg=str(path))
