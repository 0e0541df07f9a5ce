"""A simulation described in a TOML file: robot, start, walls, laws and tolerances, checked before anything moves.

All problems of a file are reported at once, each with its line. SI units and world axes; a number may be written as a formula
in quotes ("pi/6", "30 deg", "-(1 + sqrt(3))/2"). ``read_scenario`` describes the layout.
"""

from __future__ import annotations

import difflib
import inspect
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs import walls as wall_classes
from urdf_gibbs.bundled import model_names, model_path, scenario_names, scenario_path
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.points import ContactPoint, resolve_pairs, resolve_points
from urdf_gibbs.dynamics.gravity import EARTH_GRAVITY
from urdf_gibbs.errors import ArgumentError, UnknownNameError, UrdfError, UrdfGibbsError
from urdf_gibbs.flexible.build import THEORIES
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings, one_line
from urdf_gibbs.robot.flexible import POSITIVE, checked_entry
from urdf_gibbs.robot.load import BASES, load, load_elastic, read_root, source_text
from urdf_gibbs.robot.meshes import inside, too_wide
from urdf_gibbs.robot.model import Joint, Robot
from urdf_gibbs.robot.spatial import rotation_from_rpy
from urdf_gibbs.simulation.expression import ALLOWED, evaluate
from urdf_gibbs.simulation.toml_lines import Path as Keys
from urdf_gibbs.simulation.toml_lines import key_lines, line_of
from urdf_gibbs.walls import Wall

Array = NDArray[np.float64]
Table = dict[str, Any]

TOP = (
    "title",
    "duration",
    "gravity",
    "law",
    "restitution",
    "robot",
    "start",
    "start_velocity",
    "torques",
    "tolerances",
    "contacts",
    "flexible",
    "walls",
    "reference",
)
ROBOT = ("file", "base", "mimic", "package_dirs")
TOLERANCES = ("rtol", "atol", "max_step", "tie", "zeno", "cycle", "resolution")
LONGEST_TIE = 1e-3  # s
CONTACTS = ("points", "pairs", "joint_limits", "damping")
POINT = ("name", "link", "position", "radius")
FLEXIBLE = ("link", "direction", "J", "damping", "modes", "theory", "foreshortening", "elastic_rotary", *POSITIVE)
REFERENCE = ("source", "impacts")
QUANTITIES = ("angle", "velocity", "impulse")  # of an impact of a reference
KINDS = {name.lower(): name for name in ("Plane", "Circle", "Cylinder", "Sphere", "Ellipsoid", "Box", "Corridor", "HeightField")}
MOTIONS = {"vibration": "Vibration", "drift": "Drift"}
SIDES = ("inside", "outside")
NUMBER = f'a number, or a formula in quotes ({ALLOWED}; "30 deg")'
REPORT = re.compile(r"\w+: (\w+)\S* (?:is|has) (.*); expected (.*)", re.S)  # how the classes of walls.py complain


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a scenario file. ``line`` 0: the file as a whole; ``expected`` may be empty."""

    file: str
    line: int
    key: str
    value: str
    expected: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: {self.key}: {self.value}"
        return f"{where}, expected {self.expected}" if self.expected else where


class ScenarioError(UrdfGibbsError, ValueError):
    """A scenario file that cannot be used; ``problems`` holds everything found, in the order of the lines."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class ReferenceImpact:
    """An impact as somebody else has it; what the file does not give is NaN.

    ``time`` [s], ``angle`` of attack [deg], change of the normal ``velocity`` [m/s], ``impulse`` [N s] on each of ``points``.
    """

    time: float
    points: tuple[str, ...]
    angle: float = math.nan
    velocity: float = math.nan
    impulse: float = math.nan


@dataclass(frozen=True, slots=True)
class Reference:
    """Published results to compare with, and where they stand."""

    source: str
    impacts: tuple[ReferenceImpact, ...]


@dataclass(frozen=True, eq=False)
class Scenario:
    """What a scenario file says. Arrays are read-only.

    ``q0`` (nq,), ``v0`` (nv,), ``duration`` [s], ``gravity`` (3,) [m/s^2], ``torque`` (nv,) [N m, N] constant; ``points`` None:
    joint origins and tips; ``tolerances`` holds those that the file gives.
    """

    file: str
    title: str
    robot: Robot
    q0: Array
    v0: Array
    duration: float
    gravity: tuple[float, float, float]
    law: str
    restitution: float
    walls: tuple[Wall, ...]
    torque: Array
    points: tuple[ContactPoint, ...] | None
    pairs: tuple[tuple[Any, ...], ...]
    joint_limits: bool
    damping: bool
    tolerances: Mapping[str, float]
    reference: Reference | None = None

    def arguments(self) -> dict[str, Any]:
        """What ``simulate(**arguments)`` takes; tolerances that the file does not give are left to it."""
        names = ("robot", "q0", "v0", "duration", "walls", "law", "restitution", "gravity", "torque", "points", "pairs")
        return {name: getattr(self, name) for name in (*names, "joint_limits", "damping")} | dict(self.tolerances)


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """Read a scenario file, or a bundled one by its name.

    ::

        title = "..."
        duration = 1.5                  # s; required
        gravity = [0.0, 0.0, -9.81]     # m/s^2
        law = "newton"                  # newton, newton-equality, poisson
        restitution = 1.0               # of walls and pairs that have none of their own

        [robot]
        file = "branched12.urdf"        # from the folder of this file, or the name of a bundled model; required
        base = "fixed"                  # fixed, floating, planar
        mimic = true
        package_dirs = []

        [[flexible]]                    # an elastic link; what it does not give is as the URDF's own <flexible> of that link has it
        link = "link1"
        modes = "y=clamped-free:2"      # and length, direction, mass_per_length, EI_y, EI_z, EA, GJ, kGA, J = [J'x, J'y, J'z],
        EI_z = 1000.0                   # damping = zeta or [alpha, beta], theory, foreshortening, elastic_rotary

        [start]                         # by joint; what is not named is at zero
        q1 = "pi/6"                     # planar joint: [x, y, angle]
        "link1.elastic" = [0.01, 0.0]   # of an elastic link; or "link1.elastic.y1" = 0.01
        root_joint = {position = [0, 0, 1], rpy = [0, 0, 0]}      # floating; or quaternion = [x, y, z, w]

        [start_velocity]                # by joint; floating: [vx, vy, vz, wx, wy, wz] in the moved frame, planar: [vx, vy, w]
        q1 = 0.5

        [torques]                       # constant, N m or N; as the velocities
        q1 = 2.0

        [tolerances]                    # rtol, atol, max_step, tie, zeno, cycle, resolution
        rtol = 1e-10

        [contacts]
        points = ["O1", {link = "link2", position = [0.5, 0, 0], radius = 0.1, name = "middle"}]      # or "collision"
        pairs = [["O1", "middle"], ["O1", "O5", 0.2]]             # the number is the distance of the centres at contact [m]
        joint_limits = false
        damping = false

        [[walls]]                       # plane, circle, cylinder, sphere, ellipsoid, box, corridor, heightfield
        kind = "circle"                 # the other keys are the arguments of that class of urdf_gibbs.walls
        radius = 2.5
        motion = {kind = "vibration", amplitude = [0, 0.1, 0], omega = 6.0, phase = 0.0}          # or drift, velocity

        [reference]                     # results to compare with; they change nothing
        source = "Shafei 2018, Table 3"

        [[reference.impacts]]           # time and points are required
        time = 0.3851                   # s
        points = ["O1", "O5"]
        angle = 33.12                   # of attack, degrees
        velocity = 6.32                 # change of the normal velocity of each point, m/s
        impulse = 5.26                  # on each point, N s

    ``rpy = [...]`` may stand for a wall's ``rotation``. Raises ScenarioError with all problems of the file, UrdfError where
    only the robot's file is at fault.
    """
    file = os.fspath(path)
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except (OSError, ValueError) as problem:  # ValueError: a NUL byte in the name
        if file in scenario_names():
            return read_scenario(scenario_path(file))
        reason = getattr(problem, "strerror", None) or str(problem)
        expected = f"a readable TOML file, or a bundled scenario: {', '.join(scenario_names())}"
        raise ScenarioError([Problem(one_line(file), 0, "file", reason, expected)]) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise ScenarioError([Problem(file, line, "syntax", f"byte 0x{data[problem.start]:02x}", "UTF-8")]) from None
    return parse_scenario(text, file)


def parse_scenario(text: str, file: str = "<text>") -> Scenario:
    """The scenario in a TOML text; relative names are looked up in the folder of ``file``."""
    try:
        content = tomllib.loads(text)
        lines = key_lines(text.replace("\r\n", "\n"))
    except RecursionError:
        raise ScenarioError([Problem(file, 1, "syntax", "values nested too deeply", "TOML")]) from None
    except ValueError as problem:
        message = str(problem)
        at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
        line = int(at[1]) if at and at[1] else text.rstrip("\n").count("\n") + 1 if at else 1
        raise ScenarioError([Problem(file, line, "syntax", one_line(message[: at.start()] if at else message), "TOML")]) from None
    return _Reader(file, lines).scenario(content)


class _Reader:
    """Turns a TOML table into a Scenario; every complaint goes to ``problems``.

    Methods take the path of a value (for its line) and the value, and return None where it is wrong.
    """

    def __init__(self, file: str, lines: dict[Keys, int]) -> None:
        self.file = file
        self.folder = Path(file).parent
        self.lines = lines
        self.problems: list[Problem] = []

    def wrong(self, path: Keys, value: str, expected: str = "") -> None:
        self.problems.append(Problem(self.file, line_of(self.lines, path), _dotted(path), one_line(value), one_line(expected, 400)))

    # the whole ----------------------------------------------------------------------------------

    def scenario(self, content: Table) -> Scenario:
        self.known((), content, TOP)
        title = self.string(("title",), content.get("title", ""))
        duration = self.number(("duration",), content["duration"], above=0.0) if self.has((), content, "duration") else None
        gravity = self.numbers(("gravity",), content.get("gravity", list(EARTH_GRAVITY)), 3)
        law = self.choice(("law",), content.get("law", LAWS[0]), LAWS)
        restitution = self.number(("restitution",), content.get("restitution", 1.0), least=0.0, most=1.0)
        tolerances = self.tolerances(content)
        walls = self.walls(content)
        contacts = self.table((), content, "contacts", CONTACTS)
        joint_limits = self.flag(("contacts", "joint_limits"), contacts.get("joint_limits", False))
        damping = self.flag(("contacts", "damping"), contacts.get("damping", False))
        reference = self.reference(content) if "reference" in content else None
        robot = self.robot(content)
        if robot is None:
            raise self.error()
        q0 = self.by_joint(content, robot, "start", robot.neutral(), self.position)
        v0 = self.by_joint(content, robot, "start_velocity", np.zeros(robot.nv), self.velocity)
        torque = self.by_joint(content, robot, "torques", np.zeros(robot.nv), self.velocity)
        points = self.points(contacts, robot)
        pairs = self.pairs(contacts, robot, points)
        if self.problems or title is None or duration is None or gravity is None or law is None or restitution is None:
            raise self.error()
        x, y, z = gravity
        return Scenario(
            file=self.file,
            title=title,
            robot=robot,
            q0=q0,
            v0=v0,
            duration=duration,
            gravity=(x, y, z),
            law=law,
            restitution=restitution,
            walls=walls,
            torque=torque,
            points=points,
            pairs=pairs,
            joint_limits=bool(joint_limits),
            damping=bool(damping),
            tolerances=MappingProxyType(tolerances),
            reference=reference,
        )

    def error(self) -> ScenarioError:
        return ScenarioError(sorted(self.problems, key=lambda problem: problem.line))

    # keys ---------------------------------------------------------------------------------------

    def known(self, path: Keys, table: Table, known: Iterable[str]) -> None:
        """Every key of a table is one that means something."""
        known = tuple(known)
        for key in table:
            if key not in known:
                self.wrong((*path, key), "unknown key", _one_of(key, known))

    def has(self, path: Keys, table: Table, key: str) -> bool:
        """The required key is there."""
        if key not in table:
            self.wrong((*path, key), "missing", f"it in {_dotted(path)}" if path else "it at the top of the file")
        return key in table

    def table(self, path: Keys, content: Table, key: str, known: Iterable[str] | None = None) -> Table:
        """A table of ``content``, empty where it is missing or something else."""
        value = content.get(key, {})
        if not isinstance(value, dict):
            self.wrong((*path, key), _shown(value), f"a table: [{_dotted((*path, key))}]")
            return {}
        if known is not None:
            self.known((*path, key), value, known)
        return value

    def string(self, path: Keys, value: Any) -> str | None:
        if isinstance(value, str):
            return value
        self.wrong(path, _shown(value), "a text in quotes")
        return None

    def choice(self, path: Keys, value: Any, known: Iterable[str]) -> str | None:
        if isinstance(value, str) and value in known:
            return value
        self.wrong(path, _shown(value), _one_of(value, known))
        return None

    def flag(self, path: Keys, value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        self.wrong(path, _shown(value), "true or false")
        return None

    def list_of(self, path: Keys, value: Any, expected: str) -> list[Any]:
        if isinstance(value, list):
            return value
        self.wrong(path, _shown(value), expected)
        return []

    # numbers ------------------------------------------------------------------------------------

    def number(
        self, path: Keys, value: Any, least: float | None = None, most: float | None = None, above: float | None = None
    ) -> float | None:
        number = None
        try:
            if isinstance(value, str):
                number = evaluate(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                number = float(value)
        except ValueError as problem:
            self.wrong(path, f"{_shown(value)} ({problem})", NUMBER)
            return None
        except OverflowError:
            number = math.inf
        if number is None:
            self.wrong(path, _shown(value), NUMBER)
        elif not math.isfinite(number):
            self.wrong(path, _shown(value), "a finite number")
        elif above is not None and not number > above:
            self.wrong(path, _shown(value), f"a number above {above:g}")
        elif (least is not None and number < least) or (most is not None and number > most):
            self.wrong(path, _shown(value), f"a number of {least:g} or more" if most is None else f"a number from {least:g} to {most:g}")
        else:
            return number
        return None

    def numbers(self, path: Keys, value: Any, count: int, what: str = "") -> list[float] | None:
        """A list of ``count`` numbers."""
        if not isinstance(value, list) or len(value) != count:
            self.wrong(path, _shown(value), what or f"a list of {count} numbers")
            return None
        found = [self.number((*path, k), entry) for k, entry in enumerate(value)]
        return None if None in found else [entry for entry in found if entry is not None]

    def grid(self, path: Keys, value: Any, shape: str, rows: int | None = None, columns: int | None = None) -> list[list[float]] | None:
        """A list of equally long lists of numbers."""
        good = isinstance(value, list) and len(value) > 0 and all(isinstance(row, list) and len(row) == len(value[0]) for row in value)
        if not good or (rows is not None and len(value) != rows) or (columns is not None and len(value[0]) != columns):
            self.wrong(path, _shown(value), shape)
            return None
        found = [self.numbers((*path, k), row, len(row)) for k, row in enumerate(value)]
        return None if None in found else [row for row in found if row is not None]

    # robot --------------------------------------------------------------------------------------

    def robot(self, content: Table) -> Robot | None:
        if not self.has((), content, "robot"):
            return None
        before = len(self.problems)
        table = self.table((), content, "robot", ROBOT)
        if len(self.problems) > before and not isinstance(content["robot"], dict):
            return None
        before = len(self.problems)
        name = self.string(("robot", "file"), table["file"]) if self.has(("robot",), table, "file") else None
        base = self.choice(("robot", "base"), table.get("base", BASES[0]), BASES)
        mimic = self.flag(("robot", "mimic"), table.get("mimic", True))
        path = ("robot", "package_dirs")
        entries = self.list_of(path, table.get("package_dirs", []), "a list of folders")
        folders = [self.string((*path, k), entry) for k, entry in enumerate(entries)]
        source = self.robot_file(name) if name is not None else None
        if source is None or len(self.problems) > before:
            return None
        elastic = self.flexible(content, source)
        if len(self.problems) > before:
            return None
        try:
            dirs = [self.folder / folder for folder in folders if folder is not None]
            # A scenario may come from anybody: its word opens its own folder and packages, not any folder (robot/meshes.py).
            here = [self.folder.resolve()]
            elsewhere = tuple(os.fspath(folder) for folder in dirs if too_wide(folder) or not inside(folder, here))
            if elastic:
                robot = load_elastic(source, elastic, base, bool(mimic), dirs)  # type: ignore[arg-type]
            else:
                robot = load(source, base, bool(mimic), dirs)  # type: ignore[arg-type]
            return replace(robot, _searched_dirs=elsewhere)
        except UrdfError as problem:
            if not self.problems:
                raise
            self.wrong(("robot", "file"), f"{_shown(name)} does not load ({problem.findings[0]})", "a URDF without errors")
            return None

    def robot_file(self, name: str) -> Path | None:
        path = os.path.join(self.folder, name)
        if os.path.isfile(path):
            return Path(path)
        if name.removesuffix(".urdf") in model_names():
            return model_path(name.removesuffix(".urdf"))
        bundled = ", ".join(model_names())
        self.wrong(("robot", "file"), f"{_shown(name)}: no such file", f"a URDF file, relative to this file, or a bundled model: {bundled}")
        return None

    # elastic links ------------------------------------------------------------------------------

    def flexible(self, content: Table, source: Path) -> list[dict[str, str]]:
        """The attributes of a <flexible> for each entry, checked against the URDF as if they stood in it."""
        entries = self.list_of(("flexible",), content.get("flexible", []), "[[flexible]], one for each elastic link")
        found: dict[str, dict[str, str]] = {}
        text = source_text(source) if entries else OSError()
        unread = Findings(str(source))
        root = None if isinstance(text, OSError) else xml.parse(text, unread)
        urdf = None if root is None else read_root(root, unread)
        for k, entry in enumerate(entries):
            path = ("flexible", k)
            before = len(self.problems)
            attributes = self.beam(path, entry)
            link = attributes.get("link", "")
            if len(self.problems) > before:
                continue
            if link in found:
                self.wrong((*path, "link"), f"a second one for {_shown(link)}", "one [[flexible]] for each link")
            elif urdf is not None and root is not None:
                findings = Findings(self.file)
                checked_entry(urdf, root, attributes, findings, line_of(self.lines, path))
                for error in findings.errors:
                    key = re.search(r'(\w+)="', error.value)
                    at = (*path, key[1]) if key and key[1] in entry else path
                    where = "" if error.element.startswith("<flexible") else f"{error.element}: "
                    self.wrong(at, where + error.value, error.expected)
            found[link] = attributes
        return list(found.values())

    def beam(self, path: Keys, entry: Any) -> dict[str, str]:
        """One entry as the attributes of a <flexible>."""
        if not isinstance(entry, dict):
            self.wrong(path, _shown(entry), "a table with the link's name and numbers")
            return {}
        self.known(path, entry, FLEXIBLE)
        self.has(path, entry, "link")
        found: dict[str, str] = {}
        for key, value in entry.items():
            here = (*path, key)
            if key in POSITIVE:
                numbers = [self.number(here, value, above=0.0)]
            elif key in ("direction", "J"):
                numbers = list(self.numbers(here, value, 3) or [])
            elif key == "damping" and isinstance(value, list):
                numbers = list(self.numbers(here, value, 2, "one damping ratio, or [alpha, beta]") or [])
            elif key == "damping":
                numbers = [self.number(here, value, least=0.0)]
            elif key in ("foreshortening", "elastic_rotary"):
                found[key] = "true" if self.flag(here, value) else "false"
                continue
            else:
                found[key] = (self.choice(here, value, THEORIES) if key == "theory" else self.string(here, value)) or ""
                continue
            found[key] = " ".join(repr(number) for number in numbers)
        return found

    # coordinates --------------------------------------------------------------------------------

    def by_joint(
        self, content: Table, robot: Robot, key: str, array: Array, read: Callable[[Keys, Any, Joint], tuple[int, list[float]] | None]
    ) -> Array:
        """``array`` with the entries of the joints that the table names, read-only."""
        joints = {joint.name: joint for joint in robot.joints}
        elastic = {name: (joint, k) for joint in robot.joints if joint.beam is not None for k, name in enumerate(joint.named(()))}
        named: list[tuple[Keys, str, Any]] = [((key, name), name, value) for name, value in self.table((), content, key).items()]
        while named:
            path, name, value = named.pop(0)
            if isinstance(value, dict) and any(known.startswith(f"{name}.") for known in elastic):
                # Without quotes link1.elastic = 0.1 is a table in a table.
                named += [((*path, inner), f"{name}.{inner}", deeper) for inner, deeper in value.items()]
            elif name in elastic:
                joint, k = elastic[name]
                number = self.number(path, value)
                if number is not None:
                    array[(joint.iq if key == "start" else joint.iv) + k] = number
            elif name not in joints:
                self.wrong(path, "unknown joint", _one_of(name, (*robot.joint_names, *elastic)))
            elif joints[name].is_mimic:
                self.wrong(path, "a joint that follows another", f'its master "{joints[name].master}", or mimic = false in [robot]')
            else:
                found = read(path, value, joints[name])
                if found is not None:
                    start, entries = found
                    array[start : start + len(entries)] = entries
        array.flags.writeable = False
        return array

    def position(self, path: Keys, value: Any, joint: Joint) -> tuple[int, list[float]] | None:
        """(first place in q, entries) of one joint."""
        if joint.type == "floating":
            pose = self.pose(path, value)
            return None if pose is None else (joint.iq, pose)
        entries = self.entries(path, value, joint, "[x, y, angle]")
        return None if entries is None else (joint.iq, entries)

    def velocity(self, path: Keys, value: Any, joint: Joint) -> tuple[int, list[float]] | None:
        """(first place in v, entries) of one joint; also for generalised forces."""
        entries = self.entries(path, value, joint, "[vx, vy, vz, wx, wy, wz]" if joint.nv == 6 else "[vx, vy, w]")
        return None if entries is None else (joint.iv, entries)

    def entries(self, path: Keys, value: Any, joint: Joint, names: str) -> list[float] | None:
        if joint.nv == 1 and not (joint.beam is not None and isinstance(value, list)):
            number = self.number(path, value)
            return None if number is None else [number]
        if joint.beam is not None:
            names = f"[{', '.join(joint.beam.names)}]"
        return self.numbers(
            path, value, joint.nv, f"{joint.nv} numbers for {'an' if joint.beam else 'a'} {joint.type} joint, in the order {names}"
        )

    def pose(self, path: Keys, value: Any) -> list[float] | None:
        """x y z, qx qy qz qw of a floating joint."""
        if not isinstance(value, dict):
            self.wrong(path, _shown(value), "{position = [x, y, z], rpy = [r, p, y]} or {position = ..., quaternion = [x, y, z, w]}")
            return None
        before = len(self.problems)
        self.known(path, value, ("position", "rpy", "quaternion"))
        if "rpy" in value and "quaternion" in value:
            self.wrong((*path, "quaternion"), "given beside rpy", "one of the two")
        position = self.numbers((*path, "position"), value.get("position", [0.0] * 3), 3)
        rpy = self.numbers((*path, "rpy"), value.get("rpy", [0.0] * 3), 3)
        quaternion = self.numbers((*path, "quaternion"), value.get("quaternion", [0.0, 0.0, 0.0, 1.0]), 4)
        if len(self.problems) > before or position is None or rpy is None or quaternion is None:
            return None
        length = math.hypot(*quaternion)
        if not 1e-100 < length < 1e100:
            self.wrong((*path, "quaternion"), _shown(value.get("quaternion")), "x, y, z, w of non-zero length; it is normalised")
            return None
        if "rpy" in value:
            return position + _quaternion(*rpy)
        return position + [entry / length for entry in quaternion]

    # contacts -----------------------------------------------------------------------------------

    def tolerances(self, content: Table) -> dict[str, float]:
        table = self.table((), content, "tolerances", TOLERANCES)
        found = {}
        for key in TOLERANCES:
            if key in table:
                path = ("tolerances", key)
                found[key] = (
                    self.number(path, table[key], least=0.0, most=LONGEST_TIE) if key == "tie" else self.number(path, table[key], above=0.0)
                )
        return {key: value for key, value in found.items() if value is not None}

    def points(self, contacts: Table, robot: Robot) -> tuple[ContactPoint, ...] | None:
        if "points" not in contacts:
            return None
        path, value = ("contacts", "points"), contacts["points"]
        if value == "collision":
            return resolve_points(robot, "collision")
        found = []
        for k, entry in enumerate(self.list_of(path, value, '"collision", or a list of links and {link = ..., position = [x, y, z]}')):
            point = self.point((*path, k), entry, robot)
            if point is not None:
                found.append(point)
        return resolve_points(robot, found)

    def point(self, path: Keys, entry: Any, robot: Robot) -> ContactPoint | None:
        if isinstance(entry, str):
            entry = {"link": entry}
        if not isinstance(entry, dict):
            self.wrong(path, _shown(entry), "a link, or {link = ..., position = [x, y, z], radius = ...}")
            return None
        self.known(path, entry, POINT)
        if not self.has(path, entry, "link"):
            return None
        link = self.choice((*path, "link"), entry["link"], robot.link_names)
        position = self.numbers((*path, "position"), entry.get("position", [0.0] * 3), 3)
        radius = self.number((*path, "radius"), entry.get("radius", 0.0), least=0.0)
        name = self.string((*path, "name"), entry.get("name", link or ""))
        if link is None or position is None or radius is None or name is None:
            return None
        (point,) = resolve_points(robot, [(link, position, radius)])
        return replace(point, name=name or link)

    def pairs(self, contacts: Table, robot: Robot, points: tuple[ContactPoint, ...] | None) -> tuple[tuple[Any, ...], ...]:
        path = ("contacts", "pairs")
        expected = "[name, name] or [name, name, distance]"
        found: list[tuple[Any, ...]] = []
        entries = self.list_of(path, contacts.get("pairs", []), f"a list of {expected}")
        resolved = resolve_points(robot, points) if entries else ()
        for k, entry in enumerate(entries):
            here = (*path, k)
            if not isinstance(entry, list) or len(entry) not in (2, 3) or not all(isinstance(name, str) for name in entry[:2]):
                self.wrong(here, _shown(entry), expected)
                continue
            pair = tuple(entry[:2])
            if len(entry) == 3:
                distance = self.number((*here, 2), entry[2], above=0.0)
                if distance is None:
                    continue
                pair = (*pair, distance)
            try:
                resolve_pairs(robot, resolved, [pair])
            except UnknownNameError as problem:
                self.wrong(
                    (*here, entry.index(problem.name)), _shown(problem.name), _one_of(problem.name, problem.known, "a point or link: ")
                )
            except ArgumentError as problem:
                value, _, wanted = str(problem).partition(", expected ")
                self.wrong(here, value, wanted)
            else:
                found.append(pair)
        return tuple(found)

    # reference ----------------------------------------------------------------------------------

    def reference(self, content: Table) -> Reference:
        table = self.table((), content, "reference", REFERENCE)
        source = self.string(("reference", "source"), table.get("source", ""))
        path = ("reference", "impacts")
        entries = self.list_of(path, table.get("impacts", []), "[[reference.impacts]], one for each impact")
        found = [self.reference_impact((*path, k), entry) for k, entry in enumerate(entries)]
        return Reference(source or "", tuple(impact for impact in found if impact is not None))

    def reference_impact(self, path: Keys, entry: Any) -> ReferenceImpact | None:
        if not isinstance(entry, dict):
            self.wrong(path, _shown(entry), "a table with time and points")
            return None
        self.known(path, entry, ("time", "points", *QUANTITIES))
        time = self.number((*path, "time"), entry["time"]) if self.has(path, entry, "time") else None
        listed = self.list_of((*path, "points"), entry["points"], "a list of points") if self.has(path, entry, "points") else []
        points = [self.string((*path, "points", k), name) for k, name in enumerate(listed)]
        values = {key: self.number((*path, key), entry[key]) for key in QUANTITIES if key in entry}
        if time is None or None in points or None in values.values():
            return None
        own = {key: value for key, value in values.items() if value is not None}
        return ReferenceImpact(time, tuple(name for name in points if name is not None), **own)

    # walls --------------------------------------------------------------------------------------

    def walls(self, content: Table) -> tuple[Wall, ...]:
        entries = self.list_of(("walls",), content.get("walls", []), "[[walls]], one for each wall")
        found = []
        for k, entry in enumerate(entries):
            path = ("walls", k)
            if not isinstance(entry, dict):
                self.wrong(path, _shown(entry), "a table with the wall's kind")
            elif self.has(path, entry, "kind"):
                kind = self.choice((*path, "kind"), entry["kind"], KINDS)
                wall = self.made(path, entry, KINDS[kind]) if kind is not None else None
                if wall is not None:
                    found.append(wall)
        return tuple(found)

    def motion(self, path: Keys, value: Any) -> Any:
        if not isinstance(value, dict):
            self.wrong(path, _shown(value), "{kind = ..., ...}")
        elif self.has(path, value, "kind"):
            kind = self.choice((*path, "kind"), value["kind"], MOTIONS)
            if kind is not None:
                return self.made(path, value, MOTIONS[kind])
        return None

    def made(self, path: Keys, table: Table, name: str) -> Any:
        """An object of a class of ``urdf_gibbs.walls`` from the arguments in a table; None where they are wrong."""
        maker = getattr(wall_classes, name)
        parameters = inspect.signature(maker).parameters
        allowed = [key for key in parameters if key in self.ARGUMENTS]
        if "rotation" in allowed:
            allowed.append("rpy")
        before = len(self.problems)
        self.known(path, table, ("kind", *allowed))
        for key, parameter in parameters.items():
            if parameter.default is inspect.Parameter.empty:
                self.has(path, table, key)
        arguments = {key: self.ARGUMENTS[key](self, (*path, key), table[key]) for key in allowed if key in table}
        if "rpy" in arguments:
            if "rotation" in table:
                self.wrong((*path, "rpy"), "given beside rotation", "one of the two")
            arguments["rotation"] = arguments.pop("rpy")
        if len(self.problems) > before:
            return None
        try:
            return maker(**arguments)
        except ArgumentError as problem:
            report = REPORT.fullmatch(str(problem))
            if report and report[1] in table:
                key = report[1]
                self.wrong((*path, key), _shown(table[key]), report[3])
            else:
                self.wrong(path, str(problem))
            return None

    def vector(self, path: Keys, value: Any) -> Any:
        return self.numbers(path, value, 3)

    def interval(self, path: Keys, value: Any) -> Any:
        return self.numbers(path, value, 2, "[first, last]")

    def heights(self, path: Keys, value: Any) -> Any:
        return self.grid(path, value, "a list of equally long lists of numbers")

    def matrix(self, path: Keys, value: Any) -> Any:
        return self.grid(path, value, "three lists of three numbers, the rows of a rotation", 3, 3)

    def rpy(self, path: Keys, value: Any) -> Any:
        angles = self.numbers(path, value, 3, "three angles: roll, pitch, yaw")
        return None if angles is None else np.reshape(rotation_from_rpy(*angles), (3, 3)).tolist()

    def side(self, path: Keys, value: Any) -> Any:
        return self.choice(path, value, SIDES)

    def ratio(self, path: Keys, value: Any) -> Any:
        return self.number(path, value, least=0.0, most=1.0)

    # how an argument of a wall or a motion is written
    ARGUMENTS: Mapping[str, Callable[[_Reader, Keys, Any], Any]] = {
        "normal": vector,
        "point": vector,
        "radius": number,
        "centre": vector,
        "axis": vector,
        "side": side,
        "semi_axes": vector,
        "size": vector,
        "rotation": matrix,
        "rpy": rpy,
        "width": number,
        "heights": heights,
        "x": interval,
        "y": interval,
        "restitution": ratio,
        "motion": motion,
        "name": string,
        "amplitude": vector,
        "omega": number,
        "phase": number,
        "velocity": vector,
    }


def _quaternion(roll: float, pitch: float, yaw: float) -> list[float]:
    """x y z w of Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(angle / 2.0), math.sin(angle / 2.0)) for angle in (roll, pitch, yaw))
    return [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ]


def _dotted(path: Keys) -> str:
    """("walls", 0, "radius") -> walls[0].radius"""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key or '""'
    return one_line(text)


def _one_of(value: Any, known: Iterable[str], what: str = "one of ") -> str:
    """The names that are known, and the one that is probably meant."""
    known = tuple(known)
    near = difflib.get_close_matches(value, known, 1, 0.6) if isinstance(value, str) else []
    listed = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return f"{what}{listed or 'none'}" + (f'; did you mean "{near[0]}"?' if near else "")


def _shown(value: Any, depth: int = 0) -> str:
    """A TOML value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{one_line(value)}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return (
            "[...]" if depth > 2 else f"[{', '.join(_shown(entry, depth + 1) for entry in value[:10])}{', ...' if len(value) > 10 else ''}]"
        )
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    return str(value)
