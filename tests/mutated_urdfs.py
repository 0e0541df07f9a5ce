"""URDFs with planted mistakes: the files of example-robot-data, each with one to three random changes that people and exporters make.

A number alone decides which file it is and what is changed, so that a failure names what shows it again.
"""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections.abc import Callable

from examples import EMPTY, FILES, FOLDER

SEED = 20
NUMBERS = ("nan", "inf", "-inf", "1e300", "-1e300", "1e-300", "-1", "0", "", "abc", "1,5", "0x10", "1e999", "٣", "1 2", " 2 ")
NAMES = ("", "no one", "ünïcode", "<&>\"'", "world", "a" * 300, "{x}", "[/bold]")
TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating", "screw", "")
Random = random.Random
Tree = ET.Element


def _any(rng: Random, root: Tree, *tags: str) -> Tree | None:
    found = [one for one in root.iter() if not tags or one.tag in tags]
    return rng.choice(found) if found else None


def _mechanical(rng: Random, root: Tree) -> Tree | None:
    """An element that the dynamics read, one with attributes."""
    return _any(rng, root, "origin", "mass", "inertia", "axis", "limit", "parent", "child", "joint", "link", "dynamics", "mimic")


def _times(text: str, factor: float) -> str:
    try:
        return " ".join(repr(float(word) * factor) for word in text.split())
    except ValueError:
        return text


def delete_attribute(rng: Random, root: Tree) -> None:
    one = _mechanical(rng, root)
    if one is not None and one.attrib:
        del one.attrib[rng.choice(sorted(one.attrib))]


def odd_number(rng: Random, root: Tree) -> None:
    one = _any(rng, root, "origin", "mass", "inertia", "axis", "limit", "dynamics", "mimic")
    if one is not None and one.attrib:
        key = rng.choice(sorted(one.attrib))
        words = one.attrib[key].split()
        if len(words) == 3 and rng.random() < 0.7:
            words[rng.randrange(3)] = rng.choice(NUMBERS)
            one.attrib[key] = " ".join(words)
        else:
            one.attrib[key] = rng.choice(NUMBERS)


def other_unit(rng: Random, root: Tree) -> None:
    """Grams, millimetres, g mm^2, degrees, or a sign."""
    one = _any(rng, root, "origin", "mass", "inertia", "limit")
    factor = rng.choice((1e3, 1e-3, 1e-9, 1e9, 180.0 / 3.14159, -1.0))
    for key, text in [] if one is None else list(one.attrib.items()):
        one.attrib[key] = _times(text, factor)  # type: ignore[union-attr]


def all_masses(rng: Random, root: Tree) -> None:
    """Zero, tiny or huge in every link, with its inertia."""
    factor = rng.choice((0.0, 1e-14, 1e-300, 1e14, 1e200))
    for one in [*root.iter("mass"), *root.iter("inertia")]:
        for key, text in one.attrib.items():
            one.attrib[key] = _times(text, factor)


def some_masses(rng: Random, root: Tree) -> None:
    """Some links a thousandth of a millionth, others a million times: an ill-conditioned M."""
    for one in root.iter("inertial"):
        factor = rng.choice((1.0, 1e-9, 1e6, 0.0))
        for child in one:
            for key, text in child.attrib.items() if child.tag in ("mass", "inertia") else ():
                child.attrib[key] = _times(text, factor)


def drop(rng: Random, root: Tree) -> None:
    parents = [one for one in root.iter() if len(one) and one.tag in ("robot", "link", "joint", "inertial")]
    if parents:
        parent = rng.choice(parents)
        parent.remove(rng.choice(list(parent)))


def double(rng: Random, root: Tree) -> None:
    parents = [one for one in root.iter() if len(one) and one.tag in ("robot", "link", "joint", "inertial")]
    if parents:
        parent = rng.choice(parents)
        parent.append(rng.choice(list(parent)))


def swap_parents(rng: Random, root: Tree) -> None:
    ends = list(root.iter(rng.choice(("parent", "child"))))
    if len(ends) > 1:
        a, b = rng.sample(ends, 2)
        a.attrib, b.attrib = b.attrib, a.attrib


def turn_joint(rng: Random, root: Tree) -> None:
    """Parent and child of one joint change places: a link with two parents, or a loop."""
    joint = _any(rng, root, "joint")
    if joint is not None and joint.find("parent") is not None and joint.find("child") is not None:
        parent, child = joint.find("parent"), joint.find("child")
        parent.attrib, child.attrib = dict(child.attrib), dict(parent.attrib)  # type: ignore[union-attr]


def rename(rng: Random, root: Tree) -> None:
    one = _any(rng, root, "link", "joint", "robot")
    if one is not None:
        one.attrib["name"] = rng.choice((*NAMES, rng.choice([x.attrib.get("name", "") for x in root])))


def retype(rng: Random, root: Tree) -> None:
    one = _any(rng, root, "joint")
    if one is not None:
        one.attrib["type"] = rng.choice(TYPES)


def mimic(rng: Random, root: Tree) -> None:
    """Of another joint, of itself, in a loop, of a fixed one, of nobody; with any factor."""
    joints = [one for one in root if one.tag == "joint"]
    if joints:
        names = [one.attrib.get("name", "") for one in joints]
        for one in rng.sample(joints, min(len(joints), 2)):
            factor = rng.choice(("1", "-1", "0", "0.5", "1e6", "nan"))
            ET.SubElement(one, "mimic", {"joint": rng.choice([*names, "nobody"]), "multiplier": factor, "offset": rng.choice(("0", "0.1"))})


def zero_axis(rng: Random, root: Tree) -> None:
    one = _any(rng, root, "axis")
    if one is not None:
        one.attrib["xyz"] = rng.choice(("0 0 0", "1e-12 0 0", "1e200 1e200 0", "1 1 0", "0 0 -1", "1 0"))


def crossed_limits(rng: Random, root: Tree) -> None:
    one = _any(rng, root, "limit")
    if one is not None:
        one.attrib.update({"lower": rng.choice(("1", "1e9", "inf")), "upper": rng.choice(("-1", "0", "-inf"))})


def not_an_inertia(rng: Random, root: Tree) -> None:
    one = _any(rng, root, "inertia")
    if one is not None:
        one.attrib[rng.choice(("ixx", "iyy", "ixy", "izz"))] = rng.choice(("-0.1", "100", "1e6"))


CHANGES: tuple[Callable[[Random, Tree], None], ...] = (
    delete_attribute, odd_number, other_unit, all_masses, some_masses, drop, double, swap_parents, turn_joint, rename, retype, mimic,
    zero_axis, crossed_limits, not_an_inertia,
)  # fmt: skip


def mutated(number: int, among: tuple[str, ...] | None = None) -> tuple[str, str]:
    """Which file, with which changes, and its text: the ``number``-th of this seed. Each change comes first in its turn."""
    files = among or tuple(file for file in FILES if file != EMPTY)
    rng = random.Random(SEED * 1_000_003 + number)
    file = files[number % len(files)]
    root = ET.parse(FOLDER / file).getroot()
    changes = [CHANGES[number % len(CHANGES)], *rng.sample(CHANGES, rng.choice((0, 0, 1, 2)))]
    for change in changes:
        change(rng, root)
    return f"{number}: {file}, {', '.join(change.__name__ for change in changes)}", ET.tostring(root, encoding="unicode")
