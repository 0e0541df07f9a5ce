"""What a scenario file may contain: its keys, their types and limits, as data. __init__.py shows an example.

A kind (Number, Text, Record, ...) describes a value; values.py reads one of each kind. SI units and world axes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.contact.soil import LIMITS as SOIL_LIMITS
from urdf_gibbs.contact.soil import SOILS
from urdf_gibbs.flexible.build import THEORIES
from urdf_gibbs.robot.flexible import POSITIVE
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.load import BASES
from urdf_gibbs.simulation.description import PARADOXES, SCHEMES
from urdf_gibbs.simulation.scenario.expression import ALLOWED
from urdf_gibbs.walls import Box, Circle, Corridor, Cylinder, Drift, Ellipsoid, HeightField, Plane, Sphere, Terrain, Vibration

LONGEST_TIE = 1e-3  # s
ROTATION_SLACK = 1e-9  # of the products of a rotation's rows

# kinds ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    expected: str = "a text in quotes"


@dataclass(frozen=True, slots=True)
class Flag:
    expected: str = "true or false"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some names."""

    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number, or a formula in quotes; ``meaning`` describes a number within the limits."""

    above: float | None = None
    least: float | None = None
    most: float | None = None
    meaning: str = ""
    expected: str = f'a number, or a formula in quotes ({ALLOWED}; "30 deg")'

    def fits(self, number: float) -> bool:
        if self.above is not None and not number > self.above:
            return False
        return not ((self.least is not None and number < self.least) or (self.most is not None and number > self.most))

    @property
    def limits(self) -> str:
        """In words."""
        if self.meaning:
            return self.meaning
        if self.above is not None:
            return f"a number above {self.above:g}"
        return f"a number of {self.least:g} or more" if self.most is None else f"a number from {self.least:g} to {self.most:g}"


@dataclass(frozen=True, slots=True)
class Numbers:
    """A list of ``count`` numbers that pass ``check`` together; ``meaning`` describes a list that does."""

    count: int
    expected: str = ""
    each: Number = Number()
    check: Callable[[list[float]], bool] | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A list of equally long lists of numbers."""

    expected: str
    rows: int | None = None
    columns: int | None = None
    check: Callable[[list[list[float]]], bool] | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """A number, or a list of several."""

    one: Number
    more: Numbers


@dataclass(frozen=True, slots=True)
class Items:
    """A list of values of one kind."""

    of: Kind
    expected: str


@dataclass(frozen=True, slots=True)
class Record:
    """A table of these keys (None: any keys, read later). At most one of the two ``exclude`` keys may be given."""

    keys: Mapping[str, Key] | None
    expected: str = ""
    exclude: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """A table that stands for an object: its key ``kind`` names a class, the others are the arguments."""

    classes: Mapping[str, type]
    expected: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """A value that is read once the robot is known."""


Kind: TypeAlias = Text | Flag | Choice | Number | Numbers | Grid | OneOrMore | Items | Record | Instance | Deferred


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table. A missing key gets its default, or is left out where that is None."""

    kind: Kind
    default: Any = None
    required: bool = False


# arguments of walls and of their motions ---------------------------------------------------------------

ANY = Number()
POSITIVE_LENGTH = Number(above=0.0, meaning="a positive number of metres")
RATIO = Number(least=0.0, most=1.0)
VECTOR = Numbers(3)
DIRECTION = Numbers(3, check=any, meaning="a vector that is not zero")
LENGTHS = Numbers(3, check=lambda entries: min(entries) > 0.0, meaning="3 positive numbers of metres")
INTERVAL = Numbers(2, "[first, last]", check=lambda entries: entries[0] < entries[1], meaning="(first, last) with first < last")
ANGLES = Numbers(3, "three angles: roll, pitch, yaw")


def _is_rotation(rows: list[list[float]]) -> bool:
    matrix = np.array(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.allclose(matrix @ matrix.T, np.eye(3), rtol=0.0, atol=ROTATION_SLACK) and np.linalg.det(matrix) > 0.0)


ROTATION = Grid("three lists of three numbers, the rows of a rotation", 3, 3, check=_is_rotation, meaning="a rotation matrix (3, 3)")
HEIGHTS = Grid(
    "a list of equally long lists of numbers",
    check=lambda rows: min(len(rows), len(rows[0])) >= 2,
    meaning="(nx, ny) with nx, ny >= 2",
)
NOT_NEGATIVE = Number(least=0.0)
FRICTION = OneOrMore(
    NOT_NEGATIVE,
    Numbers(
        2, "a coefficient, or [static, kinetic]", NOT_NEGATIVE, lambda two: two[1] <= two[0], "a kinetic friction up to the static one"
    ),
)
SIDES = ("inside", "outside")
MOTIONS: dict[str, type] = {kind.__name__.lower(): kind for kind in (Vibration, Drift)}
KINDS: dict[str, type] = {
    kind.__name__.lower(): kind for kind in (Plane, Circle, Cylinder, Sphere, Ellipsoid, Box, Corridor, HeightField, Terrain)
}
ARGUMENTS: dict[str, Kind] = {
    "normal": DIRECTION,
    "point": VECTOR,
    "radius": POSITIVE_LENGTH,
    "centre": VECTOR,
    "axis": DIRECTION,
    "side": Choice(SIDES),
    "semi_axes": LENGTHS,
    "size": LENGTHS,
    "rotation": ROTATION,
    "rpy": ANGLES,
    "width": POSITIVE_LENGTH,
    "heights": HEIGHTS,
    "x": INTERVAL,
    "y": INTERVAL,
    "seed": NOT_NEGATIVE,
    "spacing": POSITIVE_LENGTH,
    **{key: INTERVAL for key in ("wavelengths", "crater_sizes", "rock_sizes")},
    **{key: NOT_NEGATIVE for key in ("roughness", "hurst", "craters", "crater_depth", "rocks", "rock_height", "slope")},
    "uphill": Numbers(2),
    "level": VECTOR,
    "restitution": RATIO,
    "friction": FRICTION,
    "motion": Instance(MOTIONS, "{kind = ..., ...}"),
    "name": Text(),
    "amplitude": VECTOR,
    "omega": ANY,
    "phase": ANY,
    "velocity": VECTOR,
}


def arguments_of(instance: Instance, kind: str) -> Record:
    """The table that stands for an object of a class: its arguments that can be written in a file, rpy for a rotation."""
    parameters = inspect.signature(instance.classes[kind]).parameters
    keys = {"kind": Key(Choice(tuple(instance.classes)), required=True)}
    keys |= {
        name: Key(ARGUMENTS[name], required=parameter.default is inspect.Parameter.empty)
        for name, parameter in parameters.items()
        if name in ARGUMENTS
    }
    if "rotation" in keys:
        keys["rpy"] = Key(ARGUMENTS["rpy"])
    return Record(keys, exclude=("rotation", "rpy"))


# The keys of a height field whose heights, x and y are in a file.
FIELD_FILE = Record(
    {
        "kind": Key(Text(), required=True),
        "file": Key(Text(), required=True),
        **{name: Key(ARGUMENTS[name]) for name in ("restitution", "friction", "motion", "name")},
    }
)

# tables -----------------------------------------------------------------------------------------------

ROBOT = Record(
    {
        "file": Key(Text(), required=True),
        "base": Key(Choice(BASES), BASES[0]),
        "mimic": Key(Flag(), True),
        "package_dirs": Key(Items(Text(), "a list of folders"), ()),
    }
)
TIE = Number(least=0.0, most=LONGEST_TIE)
TOLERANCES = Record(
    {key: Key(Number(above=0.0)) for key in ("rtol", "atol", "max_step", "zeno", "resolution")}
    | {"tie": Key(TIE), "cycle": Key(NOT_NEGATIVE)}
)
CONTACTS = Record(
    {
        "points": Key(Deferred()),
        "pairs": Key(Deferred(), ()),
        "joint_limits": Key(Flag(), False),
        "damping": Key(Flag(), False),
        "joint_friction": Key(Deferred(), 0.0),
        "cylinders": Key(Choice(("auto", "roll", "stand")), "auto"),
        "rims": Key(Number(least=1.0, meaning="a whole number of 1 or more")),
        "crown": Key(NOT_NEGATIVE, 0.0),
        "tyres": Key(Deferred(), 0.0),
    }
)
POINTS = '"collision", or a list of links and {link = ..., position = [x, y, z]}'
PAIR = "[name, name], [name, name, distance] or [name, name, distance, friction]"
RATE = Key(Number(above=0.0), 1000.0)
WAY = Items(Record(None, "{time = ..., joint = ..., ...}"), "a list of {time = ..., joint = ..., ...}")
POSED = {
    "rate": RATE,
    "kp": Key(Deferred(), 0.0),
    "kd": Key(Deferred(), 0.0),
    "pose": Key(Record(None), {}),
    "path": Key(WAY, ()),
}
NAMES = Items(Text(), "a list of names of joints")
DRIVE = {
    "rate": Key(Number(above=0.0), 200.0),
    "steering": Key(NAMES, ()),
    "wheels": Key(NAMES, required=True),
    "speed": Key(ANY, required=True),
    "ramp": Key(Number(above=0.0), 1.0),
    "kp": Key(Number(above=0.0), 4000.0),
    "kd": Key(Number(above=0.0), 120.0),
    "gain": Key(Number(above=0.0), 2.0),
    "slip": Key(Number(least=0.0, most=0.99)),
    "steer": Key(Number(least=-1.0, most=1.0, meaning="an angle from -1 to 1 rad")),
    "heading": Key(ANY),
    "path": Key(Grid("a list of points [x, y]", columns=2, check=lambda rows: len(rows) >= 2, meaning="two points or more")),
    "look_ahead": Key(POSITIVE_LENGTH, 1.0),
}
CONTROLLERS = {"pd": POSED, "gravity_compensation": POSED, "computed_torque": POSED, "drive": DRIVE}


def controller(kind: str) -> Record:
    """The table of a controller of this kind."""
    return Record({"kind": Key(Choice(tuple(CONTROLLERS)), required=True), **CONTROLLERS[kind]})


SOIL_NUMBERS = {name: Key(Number(least=low, most=high)) for name, (low, high) in SOIL_LIMITS.items()}
SOIL = Record({"kind": Key(Choice(tuple(SOILS)), "lunar"), **SOIL_NUMBERS})
INERTIA = Numbers(6, "ixx, ixy, ixz, iyy, iyz, izz as in a URDF, about the centre of mass, in the link's axes [kg m^2]")
LINK = Record(
    {"mass": Key(NOT_NEGATIVE), "centre_of_mass": Key(VECTOR), "inertia": Key(INERTIA), "scale": Key(Number(above=0.0))},
    "a table with mass, centre_of_mass and inertia, or scale",
)
SECTIONS = "three numbers of zero or more: J'x J'y J'z [kg m]"
FLEXIBLE = Record(
    {
        "link": Key(Text(), required=True),
        "direction": Key(VECTOR),
        "J": Key(Numbers(3, check=lambda entries: min(entries) >= 0.0, meaning=SECTIONS)),
        "damping": Key(OneOrMore(NOT_NEGATIVE, Numbers(2, "one damping ratio, or [alpha, beta]", NOT_NEGATIVE))),
        "modes": Key(Text()),
        "theory": Key(Choice(THEORIES)),
        "foreshortening": Key(Flag()),
        "elastic_rotary": Key(Flag()),
        **{key: Key(Number(above=0.0)) for key in POSITIVE},
    },
    "a table with the link's name and numbers",
)
IMPACT = Record(
    {
        "time": Key(ANY, required=True),
        "points": Key(Items(Text(), "a list of points"), required=True),
        "angle": Key(ANY),
        "velocity": Key(ANY),
        "impulse": Key(ANY),
    },
    "a table with time and points",
)
REFERENCE = Record({"source": Key(Text(), ""), "impacts": Key(Items(IMPACT, "[[reference.impacts]], one for each impact"), ())})
POSE = Record(
    {
        "position": Key(VECTOR, (0.0, 0.0, 0.0)),
        "rpy": Key(VECTOR),
        "quaternion": Key(
            Numbers(
                4, check=lambda entries: 1e-100 < math.hypot(*entries) < 1e100, meaning="x, y, z, w of non-zero length; it is normalised"
            ),
            (0.0, 0.0, 0.0, 1.0),
        ),
    },
    "{position = [x, y, z], rpy = [r, p, y]} or {position = ..., quaternion = [x, y, z, w]}",
    exclude=("rpy", "quaternion"),
)
TOP = Record(
    {
        "title": Key(Text(), ""),
        "duration": Key(Number(above=0.0), required=True),
        "gravity": Key(VECTOR, EARTH_GRAVITY),
        "scheme": Key(Choice(SCHEMES), SCHEMES[0]),
        "step": Key(Number(above=0.0), 1e-3),
        "law": Key(Choice(LAWS), LAWS[0]),
        "restitution": Key(RATIO, 1.0),
        "friction": Key(Deferred(), 0.0),
        "paradox": Key(Choice(PARADOXES), PARADOXES[0]),
        "robot": Key(ROBOT, required=True),
        "start": Key(Record(None), {}),
        "start_velocity": Key(Record(None), {}),
        "torques": Key(Record(None), {}),
        "controller": Key(Deferred()),
        "tolerances": Key(TOLERANCES, {}),
        "contacts": Key(CONTACTS, {"pairs": (), "joint_limits": False, "damping": False, "joint_friction": 0.0}),
        "soil": Key(SOIL),
        "flexible": Key(Deferred(), ()),
        "links": Key(Record(None), {}),
        "walls": Key(Items(Instance(KINDS, "a table with the wall's kind"), "[[walls]], one for each wall"), ()),
        "reference": Key(REFERENCE),
    }
)


def point(links: Iterable[str]) -> Record:
    """A contact point on one of these links."""
    return Record(
        {
            "name": Key(Text()),
            "link": Key(Choice(tuple(links)), required=True),
            "position": Key(VECTOR, (0.0, 0.0, 0.0)),
            "radius": Key(NOT_NEGATIVE, 0.0),
            "friction": Key(FRICTION),
        },
        "a link, or {link = ..., position = [x, y, z], radius = ..., friction = ...}",
    )
