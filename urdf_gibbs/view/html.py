"""One offline HTML file: meshcat's viewer, our page around it, and the data, with nothing left to fetch."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from urdf_gibbs.templates import rendered

Commands = Iterable[Mapping[str, Any]]

SCRIPTS = (
    "basics.js",
    "kinematics.js",
    "elastic.js",
    "look.js",
    "ground.js",
    "views.js",
    "stage.js",
    "labels.js",
    "overlays.js",
    "poses.js",
    "inspector.js",
    "panel.js",
    "tracks.js",
    "impacts.js",
    "motion.js",
    "heatmap.js",
    "errors.js",
    "beacons.js",
    "report.js",
    "main.js",
)


def page(title: str, subtitle: str, data: Mapping[str, Any], commands: Commands, later: Commands = ()) -> str:
    """The page. ``data`` is what the scripts read: plain values, arrays packed by ``packed``; ``commands`` are meshcat's.

    later: commands for when they are asked for, which may name geometries of the others.
    """
    known: set[str] = set()
    return rendered(
        "view",
        "page.html",
        title=title,
        subtitle=subtitle,
        style=_asset("style.css"),
        viewer=_viewer(),
        data=_in_script(json.dumps(data, separators=(",", ":"), allow_nan=False)),
        scene=_scene(commands, known),
        later=_scene(later, known),
        scripts="\n".join(_asset(name) for name in SCRIPTS),
    )


def plain_page(template: str, style: str, scripts: Iterable[str], data: Mapping[str, Any], **values: str) -> str:
    """A page without a scene, from a template with ``style``, ``data`` and ``scripts`` in it; assets by their names."""
    return rendered(
        "view",
        template,
        style=_asset(style),
        data=_in_script(json.dumps(data, separators=(",", ":"), allow_nan=False)),
        scripts="\n".join(_asset(name) for name in ("basics.js", *scripts)),
        **values,
    )


def packed(array: Any) -> dict[str, Any]:
    """A numeric array as the page reads it: doubles, deflated, in base 64."""
    values = np.ascontiguousarray(array, dtype="<f8")
    return {"shape": list(values.shape), "deflated": _base64(zlib.compress(values.tobytes(), 6))}


def _scene(commands: Commands, known: set[str]) -> str:
    """The commands in msgpack, each behind its length (4 bytes), deflated, in base 64. A geometry stands with the first object only."""
    import umsgpack

    stream = bytearray()
    for command in commands:
        if command["type"] == "set_object":
            name = command["object"]["object"]["geometry"]
            if name in known:
                command = {**command, "object": {**command["object"], "geometries": []}}
            known.add(name)
        message = umsgpack.packb(command)
        stream += struct.pack("<I", len(message)) + message
    return _base64(zlib.compress(bytes(stream), 6))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _in_script(text: str) -> str:
    """JSON that cannot end the element it stands in."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _asset(name: str) -> str:
    return files("urdf_gibbs.view").joinpath("page", name).read_text(encoding="utf-8")


@cache
def _viewer() -> str:
    """meshcat's viewer with three.js, as the package ships it."""
    script = files("meshcat").joinpath("viewer", "dist", "main.min.js").read_text(encoding="utf-8")
    return script.replace("</script", "<\\/script")
