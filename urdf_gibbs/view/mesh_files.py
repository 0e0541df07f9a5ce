"""Reading a mesh file into triangles with the colours, units and scale that a URDF's ``<mesh>`` means."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import itertools
import logging
import math
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.robot.meshes import inside, outside
from urdf_gibbs.robot.spatial import Vec3
from urdf_gibbs.view.solids import Solid, with_normals

SUFFIXES = (".stl", ".dae", ".obj", ".ply", ".glb", ".gltf", ".off")
CACHED = 256  # meshes kept
# A part without a colour in a file whose other parts have one.
GREY = np.array([178, 178, 178, 255], dtype=np.uint8)
LARGEST_TEXTURE = 1 << 28  # bytes of an image file


class MeshError(UrdfGibbsError):
    """A mesh file that cannot be drawn; the message names the file and says why."""


class _Unreadable(Exception):
    """The reason, still without the name of the file."""


class _Elsewhere(_Unreadable, FileNotFoundError):
    """A file that a mesh names, outside of the robot's folders; to the readers it is not there."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Triangles of one colour source: colours (n, 4) uint8 of the vertices, or None."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    colours: NDArray[np.uint8] | None = None


def load_mesh(path: Path, scale: Vec3 = (1.0, 1.0, 1.0), folders: Iterable[Path] = ()) -> Solid:
    """The triangles of a mesh file [m], scaled per axis; a negative scale mirrors and the faces still look outwards.

    Vertices are taken as RViz takes them: a COLLADA file's ``<unit>`` is applied (Pinocchio's collision meshes are without it)
    and its ``<up_axis>`` is not, and a glTF file (y up by its standard) is not turned. The colours are those of the file: of faces or
    vertices, of a texture at the vertices, or of materials; None where it has none. The same Solid comes back while the file
    stays as it is. Nothing is fetched from a network. MeshError says why a file cannot be read.

    folders: where the files that the mesh names (buffers, materials, textures) may be, beside the mesh's own folder. A texture or a
    material elsewhere is left out and stands in the Solid's ``notes``; a buffer elsewhere is a MeshError.
    """
    path = Path(path)
    factors = tuple(float(factor) for factor in scale)
    if len(factors) != 3 or not all(math.isfinite(factor) and factor != 0.0 for factor in factors):
        raise MeshError(f"{path}: the scale {' '.join(f'{factor:g}' for factor in factors)} is not three finite numbers other than zero")
    if path.suffix.lower() not in SUFFIXES:
        raise MeshError(f"{path}: {path.suffix or 'no suffix'} is not a mesh format that can be read; these can: {', '.join(SUFFIXES)}")
    try:
        if not path.is_file():  # a pipe or a device would be waited for
            raise MeshError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
        state = path.stat()
    except (OSError, ValueError) as problem:
        raise MeshError(f"{path}: {_reason(problem)}") from problem
    if state.st_size == 0:
        raise MeshError(f"{path}: the file is empty")
    readable = tuple(dict.fromkeys((path.resolve().parent, *(Path(folder).resolve() for folder in folders))))
    return _cached(str(path.absolute()), state.st_mtime_ns, state.st_size, factors, readable)


@functools.lru_cache(maxsize=CACHED)
def _cached(path: str, modified: int, size: int, scale: Vec3, folders: tuple[Path, ...]) -> Solid:
    """``modified`` [ns] and ``size`` [bytes] are here to read a file again once it has changed."""
    beside = _Beside(Path(path), folders)
    try:
        with _quiet():
            solid = _solid(_read(Path(path), beside), scale)
            return replace(solid, notes=tuple(f"{path}: {sentence}" for sentence in beside.refused)) if beside.refused else solid
    except MemoryError:
        raise
    except Exception as problem:  # readers raise whatever broken bytes lead them to
        raise MeshError(f"{path}: {_reason(problem)}") from problem


def _reason(problem: Exception) -> str:
    if isinstance(problem, _Unreadable):
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


def _read(path: Path, beside: _Beside) -> list[_Part]:
    data = path.read_bytes()
    if not data.strip(b"\0 \t\r\n"):
        raise _Unreadable("the file holds nothing but blanks")
    kind = path.suffix.lower()
    if kind == ".stl":
        return _stl(data)
    return _dae(data, beside) if kind == ".dae" else _by_trimesh(data, kind, beside)


def _solid(parts: list[_Part], scale: Vec3) -> Solid:
    parts = [part for part in parts if len(part.faces)]
    if not parts:
        raise _Unreadable("no triangles in the file")
    vertices = np.concatenate([part.vertices for part in parts])
    counts = [len(part.vertices) for part in parts]
    starts = [0, *itertools.accumulate(counts)]
    for part, count in zip(parts, counts, strict=True):
        if part.faces.min() < 0 or part.faces.max() >= count:
            raise _Unreadable("a face names a vertex that the file does not have")
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)])
    vertices = (vertices * np.array(scale)).astype(np.float32)
    if not np.isfinite(vertices[faces.ravel()]).all():
        raise _Unreadable("a vertex is not finite")
    if scale[0] * scale[1] * scale[2] < 0.0:  # a mirror turns every face inside out
        faces = faces[:, ::-1]
    colours = None
    if any(part.colours is not None for part in parts):
        colours = np.concatenate(
            [np.broadcast_to(GREY, (count, 4)) if part.colours is None else part.colours for part, count in zip(parts, counts, strict=True)]
        )
    solid = with_normals(vertices, faces, colours)
    if not len(solid.faces):
        raise _Unreadable("no triangle in the file has an area")
    return solid


def _module(name: str, package: str) -> Any:
    """An optional reader, imported when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise _Unreadable(f"reading this format needs {package}: pip install {package}") from problem


# colours and textures -------------------------------------------------------------------------------


def _rgba(values: Any, alpha: float = 1.0) -> NDArray[np.uint8]:
    """Colours (..., 3 or 4) in 0..1 as rgba bytes, made more transparent by ``alpha``."""
    given = np.asarray(values, dtype=np.float64)
    full = np.ones((*given.shape[:-1], 4))
    full[..., : min(4, given.shape[-1])] = given[..., :4]
    full[..., 3] *= alpha
    scaled: NDArray[np.float64] = np.rint(np.clip(np.nan_to_num(full), 0.0, 1.0) * 255.0)
    return scaled.astype(np.uint8)


def _sampled(image: Any, uv: NDArray[Any], tint: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The texture's colours at uv (n, 2), which repeat outside 0..1 and count v from the bottom; times ``tint`` (4,)."""
    pixels = np.asarray(image.convert("RGBA"), dtype=np.uint8)
    height, width = pixels.shape[:2]
    uv = np.nan_to_num(np.asarray(uv, dtype=np.float64), posinf=0.0, neginf=0.0)
    u, v = uv[:, 0] % 1.0, uv[:, 1] % 1.0
    # A whole number but zero is the far edge of the image, not its near one.
    u, v = np.where((u == 0.0) & (uv[:, 0] > 0.0), 1.0, u), np.where((v == 0.0) & (uv[:, 1] > 0.0), 1.0, v)
    column = np.minimum((u * width).astype(np.int64), width - 1)
    row = np.minimum(((1.0 - v) * height).astype(np.int64), height - 1)
    tinted: NDArray[np.float64] = np.rint(pixels[row, column] * (tint / 255.0))
    return tinted.astype(np.uint8)


class _Beside:
    """What trimesh calls a resolver: files that a mesh names, looked for from its folder and read from ``folders`` (resolved) only.

    ``refused`` holds a sentence for each file that is there and elsewhere.
    """

    def __init__(self, mesh: Path, folders: tuple[Path, ...]) -> None:
        self.folder = mesh.parent
        self.file_name = mesh.name
        self.folders = folders
        self.refused: dict[str, None] = {}

    def get(self, name: str) -> bytes:
        # Exporters write their own machine's path, with their own slashes: the file's name is what remains of it here.
        plain = unquote(re.sub(r"^file:(//)?", "", str(name).strip())).replace("\\", "/")
        if re.match(r"[A-Za-z][\w+.-]+://", plain):  # longer than a drive's letter
            raise FileNotFoundError(name)
        refused = ""
        for candidate in (str(name).strip(), plain, plain.rsplit("/", 1)[-1]):
            path = self.folder / candidate
            if not candidate or not path.is_file():
                continue
            path = path.resolve()  # what is judged is what is read
            if not inside(path, self.folders):
                refused = refused or f"it refers to {candidate!r}: {outside(path)}"
            elif path.stat().st_size <= LARGEST_TEXTURE:
                return path.read_bytes()
        if refused:
            self.refused[refused] = None
            raise _Elsewhere(refused)
        raise FileNotFoundError(name)

    __getitem__ = get

    def keys(self) -> list[str]:
        return []

    def image(self, name: str) -> Any:
        """The image of that name, None where there is none or it cannot be read: a mesh is worth drawing without it."""
        try:
            image = importlib.import_module("PIL.Image").open(io.BytesIO(self.get(name)))
            image.load()
            return image
        except MemoryError:
            raise
        except Exception:
            return None


# STL ------------------------------------------------------------------------------------------------

_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_NUMBER = rb"\s+([-+.0-9a-zA-Z]+)"
_VERTEX = re.compile(rb"vertex" + 3 * _NUMBER, re.IGNORECASE)


def _stl(data: bytes) -> list[_Part]:
    """Binary where the count of triangles fits the length of the file, whatever its header begins with; else the text form.

    No colours: headers and attribute bytes say "COLOR=" and then blanks more often than they hold a colour.
    """
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    room = (len(data) - 84) // _FACET.itemsize
    text = data[:512].lstrip().lower().startswith(b"solid") and b"facet" in data[:4096].lower()
    if count >= 0 and (84 + count * _FACET.itemsize == len(data) or (not text and count <= room)):
        facets = np.frombuffer(data, _FACET, count, 84)
        corners = facets["corners"].reshape(-1, 3).astype(np.float64)
        return [_Part(corners, np.arange(len(corners)).reshape(-1, 3))]
    if not text:
        if data[:512].lstrip().lower().startswith(b"solid"):
            raise _Unreadable("no triangles in the file")
        if count < 0:
            raise _Unreadable("not an STL file: neither text beginning with 'solid' nor long enough for a binary header")
        raise _Unreadable(f"not an STL file or one cut short: its header promises {count} triangles, there is room for {room}")
    found = _VERTEX.findall(data)
    if len(found) != len(re.findall(rb"\bvertex\b", data, re.IGNORECASE)) or len(found) % 3:
        raise _Unreadable("not an STL file or one cut short: a triangle without three corners of three numbers")
    corners = np.array(found, dtype="S").astype(np.float64).reshape(-1, 3)
    return [_Part(corners, np.arange(len(corners)).reshape(-1, 3))]


# COLLADA --------------------------------------------------------------------------------------------


def _dae(data: bytes, beside: _Beside) -> list[_Part]:
    """By pycollada itself: trimesh's own reading of it drops the unit and joins vertices at some cost."""
    # Entities can blow up without bound or read other files, and meshes have no use for them. Zeros: UTF-16 spells with them.
    if b"<!ENTITY" in data or b"<!ENTITY" in data[:65536].replace(b"\0", b""):
        raise _Unreadable("not a COLLADA file: it declares XML entities, which are refused")
    if data.lstrip()[:2] == b"PK":
        raise _Unreadable("a zip archive, not a COLLADA file")
    # pycollada finds nothing in a document without a namespace.
    data = re.sub(
        rb"<COLLADA(?=[\s>])(?![^>]*\bxmlns\s*=)", b'<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"', data, count=1
    )
    if b"COLLADA" not in data.replace(b"\0", b"")[:65536]:
        raise _Unreadable("not a COLLADA file")
    collada = _module("collada", "pycollada")
    document = _dae_document(data, collada)
    unit = document.assetInfo.unitmeter
    if unit is not None and not (math.isfinite(unit) and unit > 0.0):
        raise _Unreadable(f"its unit of length is {unit:g} m")
    paints: dict[int, tuple[NDArray[np.uint8], Any]] = {}
    parts: list[_Part] = []
    for matrix, geometry, materials in _dae_instances(document):
        turned = float(np.linalg.det(matrix[:3, :3])) < 0.0
        for given in geometry.primitives:
            primitive = given.triangleset() if hasattr(given, "triangleset") else given
            if not isinstance(primitive, collada.triangleset.TriangleSet) or primitive.vertex is None or not len(primitive.vertex_index):
                continue
            colours = _dae_colours(primitive, materials, paints, beside, collada)
            points = primitive.vertex.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            faces = np.asarray(primitive.vertex_index, dtype=np.int64).reshape(-1, 3)
            if colours is not None and len(colours) > 1:  # one colour for each corner: a corner's own vertex carries it
                points, faces = points[faces.ravel()], np.arange(faces.size).reshape(-1, 3)
            elif colours is not None:
                colours = np.broadcast_to(colours[0], (len(points), 4))
            parts.append(_Part(points * (1.0 if unit is None else unit), faces[:, ::-1] if turned else faces, colours))
    if not any(len(part.faces) for part in parts) and document.errors:
        raise _Unreadable(f"no triangles in the file that could be read ({' '.join(str(document.errors[0]).split())})")
    return parts


def _dae_document(data: bytes, collada: Any) -> Any:
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


def _dae_instances(document: Any) -> Iterator[tuple[NDArray[np.float64], Any, dict[str, Any]]]:
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


def _dae_colours(
    primitive: Any, materials: dict[str, Any], paints: dict[int, tuple[NDArray[np.uint8], Any]], beside: _Beside, collada: Any
) -> NDArray[np.uint8] | None:
    """The colours (3 m, 4) of the corners, one colour (1, 4) for all, or None."""
    node = materials.get(primitive.material)
    effect = getattr(getattr(node, "target", None), "effect", None)
    colour, image = None, None
    if effect is not None:
        if id(effect) not in paints:
            paints[id(effect)] = _dae_paint(effect, beside, collada)
        colour, image = paints[id(effect)]
    if image is not None and len(primitive.texcoordset):
        uv = primitive.texcoordset[0][primitive.texcoord_indexset[0].ravel()]
        return _sampled(image, uv, np.full(4, 255, dtype=np.uint8))
    sources: list[Any] = list(primitive.sources.get("COLOR") or ())
    if sources:
        offset, source = sources[0][0], sources[0][4]
        return _rgba(source.data[primitive.index[:, :, offset].ravel()])
    return None if colour is None else colour[None]


def _dae_paint(effect: Any, beside: _Beside, collada: Any) -> tuple[NDArray[np.uint8], Any]:
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
    colour = _rgba(diffuse, alpha)
    # Nobody draws a part that cannot be seen: some exporters write transparency where opacity is meant.
    return (colour if colour[3] else _rgba(diffuse[:3])), image


def _is_colour(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) >= 3 and all(isinstance(x, (int, float)) for x in value)


# OBJ, PLY, glTF, OFF --------------------------------------------------------------------------------


def _by_trimesh(data: bytes, kind: str, beside: _Beside) -> list[_Part]:
    trimesh = _module("trimesh", "trimesh")
    # trimesh imports networkx and scipy where it can; loading needs neither.
    scene = trimesh.load_scene(io.BytesIO(data), file_type=kind[1:], resolver=beside, process=False, allow_remote=False)
    parts: list[_Part] = []
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
        parts.append(_Part(points, faces, colours))
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
        # For texture coordinates without a material trimesh makes one up, with an image that comes from no file.
        image = material.image if getattr(material.image, "format", None) else None
        if image is None and not any(key in material.kwargs for key in ("kd", "d", "tr")):
            return None
        colour = np.array(material.diffuse if "kd" in material.kwargs else (255, 255, 255, 255), dtype=np.uint8)
        with contextlib.suppress(ValueError, IndexError, KeyError):
            colour[3] = _rgba(
                (0, 0, 0, float(material.kwargs["d"][0]) if "d" in material.kwargs else 1.0 - float(material.kwargs["tr"][0]))
            )[3]
        # Exporters write Kd 0 beside a texture and mean the texture.
        if image is not None and not colour[:3].any():
            colour[:3] = 255
        colour = colour if colour[3] else np.array([*colour[:3], 255], dtype=np.uint8)
    if image is not None and uv is not None and np.shape(uv) == (count, 2):
        with contextlib.suppress(OSError, SyntaxError, ValueError):  # an image cut short
            return _sampled(image, uv, colour)
    return np.broadcast_to(colour, (count, 4))
