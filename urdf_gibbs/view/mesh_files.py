"""Reading a mesh file into triangles with the colours, units and scale that a URDF's ``<mesh>`` means."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import logging
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.names import UpAxis
from urdf_gibbs.robot.spatial import Vec3
from urdf_gibbs.view.mesh_collada import TURNED, read_collada
from urdf_gibbs.view.mesh_parts import GREY, Beside, Part, Unreadable, optional_module, rgba, sampled
from urdf_gibbs.view.solids import Solid, mirrored, with_normals

SUFFIXES = (".stl", ".dae", ".obj", ".ply", ".glb", ".gltf", ".off")
CACHED = 256  # meshes kept


class MeshError(UrdfGibbsError):
    """A mesh file that cannot be drawn; the message names the file and says why."""


def load_mesh(path: Path, scale: Vec3 = (1.0, 1.0, 1.0), folders: Iterable[Path] = (), up_axis: UpAxis = "ignore") -> Solid:
    """The triangles of a mesh file [m], scaled per axis; a negative scale mirrors and the faces still look outwards.

    Vertices are taken as RViz takes them: a COLLADA file's ``<unit>`` is applied (Pinocchio's collision meshes are without it)
    and its ``<up_axis>`` is not, unless up_axis is "file", and a glTF file (y up by its standard) is not turned. The colours are those of
    the file: of faces or vertices, of a texture at the vertices, or of materials; None where it has none. The same Solid comes back while
    the file stays as it is. Nothing is fetched from a network. MeshError says why a file cannot be read.

    folders: where the files that the mesh names (buffers, materials, textures) may be, beside the mesh's own folder. A texture or a
    material elsewhere is left out and stands in the Solid's ``notes``; a buffer elsewhere is a MeshError.
    """
    path = Path(path)
    factors = tuple(float(factor) for factor in scale)
    if len(factors) != 3 or not all(math.isfinite(factor) and factor != 0.0 for factor in factors):
        raise MeshError(f"{path}: the scale {' '.join(f'{factor:g}' for factor in factors)} is not three finite numbers other than zero")
    state = _checked(path)
    return _cached(str(path.absolute()), state.st_mtime_ns, state.st_size, factors, _readable(path, folders), up_axis)


def mesh_vertices(path: Path, folders: Iterable[Path] = ()) -> tuple[NDArray[np.float64], str]:
    """The corners (n, 3) of the triangles of a mesh file, as ``load_mesh`` places them before the scale, without normals and colours; and
    the ``<up_axis>`` that a COLLADA file declares ("Z_UP" for all others). MeshError as there."""
    _checked(path)
    try:
        with _quiet():
            parts, _ = _read(path, Beside(path, _readable(path, folders)))
            vertices = np.concatenate([part.vertices[np.unique(part.faces)] for part in parts if len(part.faces)] or [np.zeros((0, 3))])
        up_axis = re.search(rb"<up_axis>\s*(\w+)", path.read_bytes()[:65536]) if path.suffix.lower() == ".dae" else None
    except MemoryError:
        raise
    except Exception as problem:
        raise MeshError(f"{path}: {_reason(problem)}") from problem
    if not len(vertices) or not np.isfinite(vertices).all():
        raise MeshError(f"{path}: no triangles in the file, or one with a corner that is not finite")
    return vertices, up_axis[1].decode() if up_axis else "Z_UP"


def _readable(path: Path, folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((path.resolve().parent, *(Path(folder).resolve() for folder in folders))))


def _checked(path: Path) -> os.stat_result:
    """The state of a mesh file; MeshError where nothing could be read from it."""
    if path.suffix.lower() not in SUFFIXES:
        raise MeshError(f"{path}: {path.suffix or 'no suffix'} is not a mesh format that can be read; these can: {', '.join(SUFFIXES)}")
    try:
        if not path.is_file():  # reading a pipe or a device would block
            raise MeshError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
        state = path.stat()
    except (OSError, ValueError) as problem:
        raise MeshError(f"{path}: {_reason(problem)}") from problem
    if state.st_size == 0:
        raise MeshError(f"{path}: the file is empty")
    return state


@functools.lru_cache(maxsize=CACHED)
def _cached(path: str, modified: int, size: int, scale: Vec3, folders: tuple[Path, ...], up_axis: UpAxis) -> Solid:
    """``modified`` [ns] and ``size`` [bytes] are here to read a file again once it has changed."""
    if min(scale) < 0.0:
        upright: Vec3 = (abs(scale[0]), abs(scale[1]), abs(scale[2]))
        return mirrored(_cached(path, modified, size, upright, folders, up_axis), tuple(math.copysign(1.0, factor) for factor in scale))
    beside = Beside(Path(path), folders)
    try:
        with _quiet():
            parts, up = _read(Path(path), beside)
            solid = replace(_solid(parts, scale, TURNED.get(up) if up_axis == "file" else None), up=up)
            return replace(solid, notes=tuple(f"{path}: {sentence}" for sentence in beside.refused)) if beside.refused else solid
    except MemoryError:
        raise
    except Exception as problem:  # on damaged files the readers raise all kinds of exceptions
        raise MeshError(f"{path}: {_reason(problem)}") from problem


def _reason(problem: Exception) -> str:
    if isinstance(problem, Unreadable):
        return str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    said = " ".join(str(problem).split())
    if len(said) > 200:
        said = said[:200] + " ..."
    return f"not a mesh that can be read ({type(problem).__name__}{': ' if said else ''}{said})"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the readers' log messages and warnings off the terminal; numbers that stop in the middle are an error."""
    logger = logging.getLogger("trimesh")  # the parent of those that its modules write to
    silent = logging.NullHandler()  # without a handler on the way, logging prints by itself
    before = logger.propagate
    logger.addHandler(silent)
    logger.propagate = False
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message="string or file could not be read to its end")
            yield
    finally:
        logger.propagate = before
        logger.removeHandler(silent)


def _read(path: Path, beside: Beside) -> tuple[list[Part], str]:
    """The parts, and the axis that the file calls up, "" where it names none."""
    data = path.read_bytes()
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("the file holds nothing but blanks")
    kind = path.suffix.lower()
    if kind == ".stl":
        return _stl(data), ""
    return read_collada(data, beside) if kind == ".dae" else (_by_trimesh(data, kind, beside), "")


def _solid(parts: list[Part], scale: Vec3, turn: tuple[Vec3, ...] | None) -> Solid:
    """turn: rows of a rotation, before the scale."""
    parts = [part for part in parts if len(part.faces)]
    if not parts:
        raise Unreadable("no triangles in the file")
    vertices = np.concatenate([part.vertices for part in parts])
    counts = [len(part.vertices) for part in parts]
    starts = [0, *itertools.accumulate(counts)]
    for part, count in zip(parts, counts, strict=True):
        if part.faces.min() < 0 or part.faces.max() >= count:
            raise Unreadable("a face names a vertex that the file does not have")
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)])
    vertices = ((vertices if turn is None else vertices @ np.array(turn).T) * np.array(scale)).astype(np.float32)
    if not np.isfinite(vertices[faces.ravel()]).all():
        raise Unreadable("a vertex is not finite")
    colours = None
    if any(part.colours is not None for part in parts):
        colours = np.concatenate(
            [np.broadcast_to(GREY, (count, 4)) if part.colours is None else part.colours for part, count in zip(parts, counts, strict=True)]
        )
    solid = with_normals(vertices, faces, colours)
    if not len(solid.faces):
        raise Unreadable("no triangle in the file has an area")
    return solid


_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_NUMBER = rb"\s+([-+.0-9a-zA-Z]+)"
_VERTEX = re.compile(rb"vertex" + 3 * _NUMBER, re.IGNORECASE)


def _stl(data: bytes) -> list[Part]:
    """Binary where the count of triangles fits the length of the file, whatever its header begins with; else the text form.

    No colours: headers and attribute bytes say "COLOR=" and then blanks more often than they hold a colour.
    """
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    room = (len(data) - 84) // _FACET.itemsize
    text = data[:512].lstrip().lower().startswith(b"solid") and b"facet" in data[:4096].lower()
    if count >= 0 and (84 + count * _FACET.itemsize == len(data) or (not text and count <= room)):
        facets = np.frombuffer(data, _FACET, count, 84)
        corners = facets["corners"].reshape(-1, 3).astype(np.float64)
        return [Part(corners, np.arange(len(corners)).reshape(-1, 3))]
    if not text:
        if data[:512].lstrip().lower().startswith(b"solid"):
            raise Unreadable("no triangles in the file")
        if count < 0:
            raise Unreadable("not an STL file: neither text beginning with 'solid' nor long enough for a binary header")
        raise Unreadable(f"not an STL file or one cut short: its header promises {count} triangles, there is room for {room}")
    vertices = _VERTEX.findall(data)
    if len(vertices) != len(re.findall(rb"\bvertex\b", data, re.IGNORECASE)) or len(vertices) % 3:
        raise Unreadable("not an STL file or one cut short: a triangle without three corners of three numbers")
    corners = np.array(vertices, dtype="S").astype(np.float64).reshape(-1, 3)
    return [Part(corners, np.arange(len(corners)).reshape(-1, 3))]


def _by_trimesh(data: bytes, kind: str, beside: Beside) -> list[Part]:
    trimesh = optional_module("trimesh", "trimesh")
    # trimesh imports networkx and scipy where it can; loading needs neither.
    scene = trimesh.load_scene(io.BytesIO(data), file_type=kind[1:], resolver=beside, process=False, allow_remote=False)
    parts: list[Part] = []
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not hasattr(mesh, "faces") or not len(mesh.faces):
            continue  # points or lines
        matrix = np.asarray(matrix, dtype=np.float64)
        points = np.asarray(mesh.vertices, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        faces = np.asarray(mesh.faces, dtype=np.int64)
        if float(np.linalg.det(matrix[:3, :3])) < 0.0:
            faces = faces[:, ::-1]
        kind = mesh.visual.kind
        colours: NDArray[np.uint8] | None = None
        if kind == "face":
            points, colours = points[faces.ravel()], np.repeat(np.asarray(mesh.visual.face_colors, dtype=np.uint8), 3, axis=0)
            faces = np.arange(faces.size).reshape(-1, 3)
        elif kind == "vertex":
            colours = np.asarray(mesh.visual.vertex_colors, dtype=np.uint8)
        elif kind == "texture":
            colours = _material_colours(mesh.visual, len(points))
        parts.append(Part(points, faces, colours))
    return parts


def _material_colours(visual: Any, count: int) -> NDArray[np.uint8] | None:
    """Colours (count, 4) of a material, from its texture where it has one."""
    material = visual.material
    uv = visual.uv
    if hasattr(material, "baseColorFactor"):
        image = material.baseColorTexture
        base = material.baseColorFactor
        colour = np.array([255, 255, 255, 255] if base is None else base, dtype=np.uint8)
    else:
        # For texture coordinates without a material trimesh invents one, with an image that comes from no file.
        image = material.image if getattr(material.image, "format", None) else None
        if image is None and not any(key in material.kwargs for key in ("kd", "d", "tr")):
            return None
        colour = np.array(material.diffuse if "kd" in material.kwargs else (255, 255, 255, 255), dtype=np.uint8)
        with contextlib.suppress(ValueError, IndexError, KeyError):
            colour[3] = rgba(
                (0, 0, 0, float(material.kwargs["d"][0]) if "d" in material.kwargs else 1.0 - float(material.kwargs["tr"][0]))
            )[3]
        # Exporters write Kd 0 beside a texture and mean the texture.
        if image is not None and not colour[:3].any():
            colour[:3] = 255
        colour = colour if colour[3] else np.array([*colour[:3], 255], dtype=np.uint8)
    if image is not None and uv is not None and np.shape(uv) == (count, 2):
        with contextlib.suppress(OSError, SyntaxError, ValueError):  # an image cut short
            return sampled(image, uv, colour)
    return np.broadcast_to(colour, (count, 4))
