"""What the readers of mesh files share: triangles with their colours, textures, and the files that a mesh names."""

from __future__ import annotations

import importlib
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.meshes import inside, outside

# A part without a colour in a file whose other parts have one.
GREY = np.array([178, 178, 178, 255], dtype=np.uint8)
LARGEST_TEXTURE = 1 << 28  # bytes of an image file


class Unreadable(Exception):
    """The reason, still without the name of the file."""


class _Elsewhere(Unreadable, FileNotFoundError):
    """A file that a mesh names, outside of the robot's folders; to the readers it is not there."""


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles of one colour source: colours (n, 4) uint8 of the vertices, or None."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    colours: NDArray[np.uint8] | None = None


def optional_module(name: str, package: str) -> Any:
    """An optional reader, imported when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise Unreadable(f"reading this format needs {package}: pip install {package}") from problem


def rgba(values: Any, alpha: float = 1.0) -> NDArray[np.uint8]:
    """Colours (..., 3 or 4) in 0..1 as rgba bytes, made more transparent by ``alpha``."""
    given = np.asarray(values, dtype=np.float64)
    full = np.ones((*given.shape[:-1], 4))
    full[..., : min(4, given.shape[-1])] = given[..., :4]
    full[..., 3] *= alpha
    scaled: NDArray[np.float64] = np.rint(np.clip(np.nan_to_num(full), 0.0, 1.0) * 255.0)
    return scaled.astype(np.uint8)


def sampled(image: Any, uv: NDArray[Any], tint: NDArray[np.uint8]) -> NDArray[np.uint8]:
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


class Beside:
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
            path = path.resolve()  # the check applies to the file that is read
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
        """The image of that name, None where there is none or it cannot be read: a mesh can be drawn without it."""
        try:
            image = importlib.import_module("PIL.Image").open(io.BytesIO(self.get(name)))
            image.load()
            return image
        except MemoryError:
            raise
        except Exception:
            return None
