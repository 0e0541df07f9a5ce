"""A scenario to start from: a robot above a floor, with all keys of a scenario file, those that are not needed as comments.

What is said of a key comes from explained.py, and so from the schema that reads the file.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.urdf import ONE_DOF
from urdf_gibbs.simulation.scenario.explained import Entry, name, sections, toml
from urdf_gibbs.simulation.scenario.opening import Opening, opening

Array = NDArray[np.float64]

WIDTH, COLUMN = 80, 30  # of lines, unless a value is longer; where comments begin, behind shorter values
HEAD = """\
# {what}. To run it and look at it:
#
#     urdf-gibbs simulate THIS_FILE --html fall.html
#
# SI units, world axes, angles in rad; a number may be a formula in quotes, such
# as "30 deg". Behind each value stands what it means. A line "# key = value" is
# what counts without the key, or an example: take its first # away.
"""
SCENE = {"duration": 2.0, "scheme": "time_stepping", "restitution": 0.0, "friction": 0.7}
HELD = '; to hold it: "fixed", and no root_joint below'
DRIFT = {"kind": "drift", "velocity": [0.0, 0.1, 0.0]}
OTHERS = (
    "path",
    "rotation",
    "rpy",
    "steer",
    "scale",
    "pairs",
    "tyres",
    "crown",
    "rims",
    "kGA",
)  # exclude others, or need what not all have
EXAMPLES: dict[str, Any] = {  # of keys without a default that is a value
    "walls.restitution": 0.5,
    "walls.friction": 0.5,
    "walls.name": "floor",
    "walls.motion": {"kind": "vibration", "amplitude": [0.0, 0.0, 0.01], "omega": 6.0, "phase": 0.0},
    "walls.radius": 4.0,
    "walls.width": 4.0,
    "walls.size": [4.0, 4.0, 4.0],
    "walls.semi_axes": [6.0, 4.0, 4.0],
    "walls.rpy": [0.0, 0.0, 0.0],
    "walls.rotation": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    "walls.heights": [[-0.1, 0.0], [0.0, 0.0]],
    "walls.x": [-5.0, 5.0],
    "walls.y": [-5.0, 5.0],
    "walls.level": [5.0, 5.0, 1.0],
    "walls.file": "ground.npz",
    "contacts.rims": 2,
    "contacts.points.name": "a name",
    "contacts.points.friction": 0.8,
    "controller.kind": "pd",
    "controller.drive.speed": 0.3,
    "controller.drive.slip": 0.2,
    "controller.drive.steer": 0.0,
    "controller.drive.heading": 0.0,
    "controller.drive.path": [[0.0, 0.0], [5.0, 0.0]],
    "links.LINK.mass": 1.0,
    "links.LINK.centre_of_mass": [0.0, 0.0, 0.0],
    "links.LINK.inertia": [0.1, 0.0, 0.0, 0.1, 0.0, 0.1],
    "links.LINK.scale": 1.1,
    "flexible.direction": [1.0, 0.0, 0.0],
    "flexible.length": 1.0,
    "flexible.mass_per_length": 1.0,
    "flexible.J": [0.0, 0.0, 0.0],
    "flexible.damping": 0.01,
    "flexible.modes": "y=clamped-free:2",
    "flexible.theory": "euler-bernoulli",
    "flexible.foreshortening": False,
    "flexible.elastic_rotary": False,
    **dict.fromkeys(("flexible.EI_y", "flexible.EI_z", "flexible.EA", "flexible.GJ", "flexible.kGA"), 1000.0),
    "tolerances.max_step": 0.01,
    "reference.impacts.time": 0.1,
    "reference.impacts.angle": 90.0,
    "reference.impacts.velocity": 1.0,
    "reference.impacts.impulse": 1.0,
}


def template(
    robot: Robot,
    file: str,
    package_dirs: Sequence[str] = (),
    changes: Mapping[str, Any] = MappingProxyType({}),
    xacro_args: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The text of a scenario file.

    Args:
        robot: That is dropped, with the base that it is to have.
        file: Of the robot, as the scenario is to name it.
        package_dirs: Folders of meshes, as the scenario is to name them.
        changes: Other values of keys at the top of the file.
        xacro_args: Of the robot's xacro.

    Returns:
        TOML that ``read_scenario`` reads.
    """
    start, axis = opening(robot), np.eye(3)
    does = "falls" if robot.base == "fixed" else "is dropped"
    keys = {section.header: section.entries for section in sections()}
    up = axis[start.up]
    scene = {"title": f"{robot.name} {does}", "gravity": (0.0 - 9.81 * up).tolist(), **SCENE}
    if robot.is_flexible:  # vibrates faster than steps of one length can follow
        scene["scheme"] = "events"
    scene |= changes
    model = {"file": file, "base": robot.base, "mimic": robot.mimic} | ({"package_dirs": list(package_dirs)} if package_dirs else {})
    model |= {"xacro_args": dict(xacro_args)} if xacro_args else {}
    contacts = {"joint_limits": True, "damping": True} | ({} if start.points is None else {"points": _points(start)})
    plane = {"kind": "plane", "name": "floor", "normal": up.tolist(), "point": (start.floor * up + 0.0).tolist()}
    place = {entry.key: _value(entry, {"link": _link(robot)}) for entry in keys["[contacts] points = [{...}, ...]"]}
    lines = [
        *HEAD.format(what=f"{robot.name} {does} onto a floor").splitlines(),
        *_table("", keys[""], scene),
        *_table("[robot]", keys["[robot]"], model, {"base": HELD} if robot.base == "floating" else {}),
        "",
        "[start]",
        *(_line(name(joint.name), *_joint(joint, start.q0)) for joint in robot.joints if not joint.is_mimic),
        *_heavier(start),
        *_table("[contacts]", keys["[contacts]"], contacts),
        _line("points", toml([place]), "in the place of the points above, one by one", "# # "),
        *_table("[[walls]]", (*keys["[[walls]]"], *keys['[[walls]] kind = "plane"']), plane),
        _line("motion", toml(DRIFT), "in the place of the motion above", "# # "),
        "",
        "# What else a scene may have: a table and its keys, each with one # less.",
    ]
    return "\n".join([*lines, *_more(robot, start, keys)]) + "\n"


def _points(start: Opening) -> Any:
    if isinstance(start.points, str):
        return start.points
    return [{"link": link, "position": [round(float(x), 6) for x in place]} for link, place in start.points or ()]


def _joint(joint: Joint, q0: Array) -> tuple[str, str]:
    """The value of a joint in [start], and what to say of it."""
    own = [round(float(x), 6) + 0.0 for x in q0[joint.iq : joint.iq + joint.nq]]
    if joint.type == "floating":
        return toml({"position": own[:3], "quaternion": own[3:]}), "[m]; x, y, z, w, or rpy = [roll, pitch, yaw] [rad]"
    if joint.nq > 1 or joint.beam is not None:
        return toml(own), "deflections [m, rad]" if joint.beam is not None else "x, y [m], angle [rad]"
    low, high = sorted((joint.lower, joint.upper))
    if not low <= own[0] <= high:
        own = [float(q0[joint.iq])]  # the limits are closer together than the digits shown
    unit = "m" if joint.type == "prismatic" else "rad"
    limits = f"from {low:.6g} to {high:.6g} {unit}" if np.isfinite([low, high]).all() else f"[{unit}]"
    return repr(own[0]), limits


def _link(robot: Robot) -> str:
    """One that moves, for examples."""
    return next((joint.child for joint in robot.joints if joint.beam is None), robot.root_link)


def _heavier(start: Opening) -> Iterable[str]:
    for link, inertia in start.heavier.items():
        yield from ("", "# In the file its joint turns without any inertia: no motion follows from that.", f"[links.{name(link)}]")
        six = toml(inertia[np.triu_indices(3)].tolist())
        yield _line("inertia", six, "ixx, ixy, ixz, iyy, iyz, izz, a little more about all axes [kg m^2]")


def _more(robot: Robot, start: Opening, keys: Mapping[str, Sequence[Entry]]) -> Iterable[str]:
    """Tables that the scene does without."""
    driven = [joint.name for joint in robot.joints if joint.type in ONE_DOF and not joint.is_mimic and joint.beam is None]
    joint = driven[0] if driven else "JOINT"
    link = _link(robot)
    for header in ("[start_velocity]", "[torques]"):
        yield from ("", f"# {header}", _line(name(joint), "0.1", _says(keys[header][0]), "# "))
    yield from _block("[controller]", keys["[controller]"], {"kp": 50.0, "kd": 2.0})
    yield from _block(
        "[controller]",
        (keys["[controller]"][0]._replace(meaning="in the place of the one above", known=()), *keys['[controller] kind = "drive"']),
        {"kind": "drive", "wheels": list(start.wheels) or [joint]},
    )
    for header, entries in keys.items():
        if header.startswith("[[walls]] kind") and '"plane"' not in header:
            kind = keys["[[walls]]"][0]._replace(meaning="beside the floor, or in its place", known=())
            yield from _block("[[walls]]", (kind, *entries), {"kind": header.split('"')[1]})
    yield from _block(f"[links.{name(link)}]", keys["[links.LINK]"])
    yield from _block("[soil]", keys["[soil]"])
    tip = next((joint.child for joint in reversed(robot.joints) if joint.beam is None), link)  # no joint but at its root
    yield from _block("[[flexible]]", keys["[[flexible]]"], {"link": tip})
    yield from _block("[tolerances]", keys["[tolerances]"])
    yield from _block("[reference]", keys["[reference]"])
    yield from _block("[[reference.impacts]]", keys["[[reference.impacts]]"], {"points": [link]})


# lines ------------------------------------------------------------------------------------------------


def _table(header: str, entries: Iterable[Entry], given: Mapping[str, Any], more: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """A table; keys that are not given are comments. ``more``: what else to say of keys."""
    rows = []
    for entry in entries:
        mark = "" if entry.key in given else "# "
        rows.append(_line(entry.key, toml(_value(entry, given)), _says(entry) + more.get(entry.key, ""), mark))
    return ["", header, *rows] if header else ["", *rows]


def _block(header: str, entries: Iterable[Entry], given: Mapping[str, Any] | None = None) -> list[str]:
    """A table as a comment."""
    rows = []
    for entry in entries:
        mark = "# # " if entry.key in OTHERS else "# "
        rows.append(_line(entry.key, toml(_value(entry, given or {})), _says(entry), mark))
    return ["", f"# {header}", *rows]


def _value(entry: Entry, given: Mapping[str, Any]) -> Any:
    if entry.key in given:
        return given[entry.key]
    if entry.path in EXAMPLES or entry.default is None:
        return EXAMPLES.get(entry.path, "")
    return entry.default


def _line(key: str, value: str, says: str, mark: str = "") -> str:
    """A key with its comment, which goes on below where it is long. ``mark``: what makes the line a comment."""
    code = f"{mark}{key} = {value}"
    whole = f"{code:{COLUMN}}  # {says}"
    if len(whole) <= WIDTH:
        return whole
    below = f"{mark[:1]:{COLUMN}}  # "
    told = textwrap.wrap(says, WIDTH - len(below), break_long_words=False, break_on_hyphens=False)
    beside = [f"{code:{COLUMN}}  # {told.pop(0)}"] if len(code) <= COLUMN else [code]
    return "\n".join([*beside, *(below + line for line in told)])


def _says(entry: Entry) -> str:
    """What a comment says of a key: its meaning, unit and names to choose from, and what counts without it."""
    untold = [known for known in entry.known if known not in entry.meaning]
    named = f": {' or '.join(entry.known)}" if untold else ""
    without = f"; without it {entry.without}" if entry.without else ""
    return entry.meaning + named + (f" [{entry.unit}]" if entry.unit else "") + without
