"""Reads a trajectory's file. Every entry is checked before memory is allocated, and refused with an explanation.

The file is a zip archive of .npy arrays that ``Trajectory.save`` writes without compression, so that no entry is larger than the file.
Shapes and types are in the first bytes of each entry; they must agree with the entry's size, with each other and with the header, a
JSON text among the entries.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.load import BASES

TEXTS = ("header", "robot.source")  # bytes; all others are numbers
LONGEST_SHOWN = 80  # characters of a value in a sentence
STATUS = ("complete", "interrupted", "failed: ...")
Shape = tuple[int | None, ...]  # None: any


def read_file(file: BinaryIO, shapes: Mapping[str, Shape]) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name. ``shapes``: those of the required entries; () marks an optional entry."""
    with zipfile.ZipFile(file) as archive:
        entries = _entries(archive, file)
        headers = {name: _array_header(archive, entry, name) for name, entry in entries.items()}
        for name, shape in shapes.items():
            if name not in headers and shape:
                refuse(name, "not a file in the archive", "all that Trajectory.save writes")
            if name in headers and shape:
                check_shape(name, headers[name][1], shape)
        bad = archive.testzip()
        if bad is not None:
            raise ArgumentError(f"the checksum of {bad} is wrong, expected a whole file written by Trajectory.save")
        return {name: _read_array(archive, entries[name], *headers[name]) for name in shapes if name in entries}


def refuse(what: str, value: object, expected: str) -> NoReturn:
    text = str(value)
    raise ArgumentError(f"{what} is {text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + ' ...'}, expected {expected}")


def check_shape(name: str, shape: tuple[int, ...], expected: Shape) -> None:
    if len(shape) != len(expected) or any(one is not None and one != own for own, one in zip(shape, expected, strict=True)):
        shown = "(" + ", ".join("any" if one is None else str(one) for one in expected) + ("," if len(expected) == 1 else "") + ")"
        raise ArgumentError(f"{name} has shape {shape}, expected {shown}")


def check_numbers(name: str, values: NDArray[Any], kind: str = "finite") -> None:
    """Refuse the first value that is not "finite"; "not NaN": may be infinite."""
    wrong = np.isnan(values) if kind == "not NaN" else ~np.isfinite(values)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        refuse(f"{name}[{', '.join(map(str, place))}]", values[place], f"a number that is {kind}")


# The archive -----------------------------------------------------------------------------------------------


def _entries(archive: zipfile.ZipFile, file: BinaryIO) -> dict[str, zipfile.ZipInfo]:
    size = file.seek(0, 2)
    entries: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ArgumentError(f"{info.filename} is compressed, expected entries as Trajectory.save writes them: without compression")
        total += info.file_size
        name = info.filename.removesuffix(".npy")
        if name in entries:
            refuse(name, "there twice", "each entry once")
        if info.filename.endswith(".npy"):
            entries[name] = info
    if total > size:
        raise ArgumentError(f"its entries claim {total} bytes and the file has {size}, expected a whole file written by Trajectory.save")
    return entries


def _array_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Type, shape, order (True: Fortran) and offset of the data in an entry."""
    with archive.open(info) as entry:
        try:
            version = np.lib.format.read_magic(entry)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(entry)
        except ValueError as problem:
            refuse(name, f"not an array ({problem})", "an array of Trajectory.save")
        start = entry.tell()
    wanted = np.dtype(np.uint8) if name in TEXTS else np.dtype(np.float64)
    if dtype != wanted:
        refuse(name, f"of type {dtype}", f"{wanted}, as Trajectory.save writes it")
    if any(length < 0 for length in shape):
        refuse(name, f"of shape {shape}", "lengths of zero or more")
    data = math.prod(shape) * wanted.itemsize
    if start + data != info.file_size:
        refuse(name, f"of shape {shape}, {data} bytes, in an entry of {info.file_size - start}", "as many bytes as the shape needs")
    if name in TEXTS and len(shape) != 1:
        refuse(name, f"of shape {shape}", "the bytes of a text")
    return wanted, shape, fortran, start


def _read_array(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool, start: int
) -> NDArray[Any]:
    data = archive.read(info)
    array = np.frombuffer(data, dtype=dtype, offset=start)
    return array.reshape(shape, order="F" if fortran else "C")


# The header ------------------------------------------------------------------------------------------------


def read_header(data: NDArray[Any], format: str, version: int) -> dict[str, Any]:
    """The JSON header with its types checked; numbers and names are not."""
    try:
        header = json.loads(data.tobytes())
    except (ValueError, RecursionError) as problem:
        refuse("header", f"no JSON ({problem})", "the text that Trajectory.save writes")
    if not isinstance(header, dict) or header.get("format") != format:
        raise ArgumentError("the file holds no trajectory, expected one written by Trajectory.save")
    if type(header.get("version")) is not int or header["version"] < 1:
        refuse("header version", repr(header.get("version")), "a whole number from 1")
    if header["version"] > version:
        raise ArgumentError(f"format {header['version']} is newer than {version}, the newest that this version of urdf_gibbs reads")
    for name, own in (("robot", dict), ("contact_names", list), ("status", str), ("settings", dict), ("statistics", dict)):
        _of_type("header", header, name, own)
    status = header["status"]
    if status not in STATUS[:2] and not status.startswith("failed"):
        refuse("header status", repr(status), f"one of {', '.join(STATUS)}")
    _check_strings("header contact_names", header["contact_names"])
    for name, parts in (("impacts", 3), ("phases", 3)):
        for i, entry in enumerate(_of_type("header", header, name, list)):
            what = f"header {name}[{i}]"
            if not isinstance(entry, list) or len(entry) != parts:
                refuse(what, repr(entry), "points, walls and law" if name == "impacts" else "point, wall and mode")
            if name == "phases":
                _check_strings(what, entry)
                continue
            points, walls, law = entry
            for side, names in (("points", points), ("walls", walls)):
                if not isinstance(names, list):
                    refuse(f"{what} {side}", repr(names), "a list of names")
                _check_strings(f"{what} {side}", names)
            if len(points) != len(walls):
                refuse(what, f"{len(points)} points and {len(walls)} walls", "a wall for each point")
            _check_strings(f"{what} law", [law])
    robot = header["robot"]
    kinds: dict[str, type] = {"name": str, "file": str, "base": str, "fingerprint": str, "mimic": bool, "is_text": bool}
    for name, kind in (kinds | {"package_dirs": list, "joints": list, "findings": list}).items():
        _of_type("header robot", robot, name, kind)
    if robot["base"] not in BASES:
        refuse("header robot base", repr(robot["base"]), f"one of {', '.join(BASES)}")
    _check_strings("header robot package_dirs", robot["package_dirs"])
    for i, names in enumerate(robot["joints"]):
        if not isinstance(names, list) or len(names) != 3:
            refuse(f"header robot joints[{i}]", repr(names), "the names of a joint, its link and its master")
        _check_strings(f"header robot joints[{i}]", names)
    return header


def check_points(points: Any, bodies: int) -> None:
    """Refuse contact points in the settings that a robot with so many bodies cannot have; None: there are none."""
    if points is None:
        return
    if not isinstance(points, list):
        refuse("settings points", repr(points), "a list")
    for i, point in enumerate(points):
        what = f"settings points[{i}]"
        if not isinstance(point, dict):
            refuse(what, repr(point), "a table of name, body, position and radius")
        _of_type(what, point, "name", str)
        body, position, radius = point.get("body"), point.get("position"), point.get("radius")
        if type(body) is not int or not -1 <= body < bodies:
            refuse(f"{what} body", repr(body), f"a body of the robot, 0 to {bodies - 1}, or -1 for the world")
        if not isinstance(position, list) or len(position) != 3 or not all(_is_number(x) for x in position):
            refuse(f"{what} position", repr(position), "three numbers [m]")
        if radius is None or not _is_number(radius) or radius < 0.0:
            refuse(f"{what} radius", repr(radius), "a length of zero or more [m]")
        rim, axis = point.get("rim", 0.0), point.get("axis", [0.0, 0.0, 1.0])
        if not _is_number(rim) or rim < 0.0:
            refuse(f"{what} rim", repr(rim), "a length of zero or more [m]")
        if not isinstance(axis, list) or len(axis) != 3 or not all(_is_number(x) for x in axis):
            refuse(f"{what} axis", repr(axis), "three numbers")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _of_type(where: str, table: dict[str, Any], name: str, kind: type) -> Any:
    value = table.get(name)
    if not isinstance(value, kind):
        known = {dict: "a table", list: "a list", str: "a text", bool: "true or false"}
        refuse(f"{where} {name}", repr(value) if name in table else "not there", known[kind])
    return value


def _check_strings(what: str, values: list[Any]) -> None:
    for i, value in enumerate(values):
        if not isinstance(value, str):
            refuse(f"{what}[{i}]", repr(value), "a text")
