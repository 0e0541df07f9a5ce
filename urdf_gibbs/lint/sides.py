"""Pairs of a left and a right link or joint, by their names: left_knee and right_knee, FL_hip and FR_hip, LElbow and RElbow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

EDGE = r"(?<![A-Za-z0-9])"  # before a short word: _ - . / or the start of the name
BEHIND = r"(?![A-Za-z])"
# Front, rear, back, hind and middle legs, in either order: FL and FR, LF and RF.
LEGS = "|".join([*(row + side for row in "FRBHM" for side in "LR"), *(side + row for row in "FBHM" for side in "LR")])
SIDE = re.compile(
    r"(?i:left|right)"
    rf"|{EDGE}(?i:{LEGS}){BEHIND}"
    rf"|{EDGE}(?:{LEGS})(?=[A-Z][a-z])"
    rf"|{EDGE}[lrLR]{BEHIND}"
    r"|(?:(?<=[_\-./])|^)[LR](?=[A-Z])"
    r"|(?<=[a-z])[LR]$"
)
ENDS = re.compile(rf"(?i:front|rear|hind|back)|{EDGE}(?i:{LEGS}){BEHIND}|{EDGE}(?:{LEGS})(?=[A-Z][a-z])")
BEHINDS = {"front": ("rear", "hind", "back"), "f": ("r", "h", "b")}
WORDS = {"left": "right", "right": "left", "l": "r", "r": "l"}


def twins(names: Collection[str]) -> list[tuple[str, str]]:
    """(one, its mirror image by name), each pair once: left and right are exchanged everywhere, or at one place where that names none."""
    known = set(names)
    pairs: dict[str, str] = {}
    for name in names:
        other = next((one for one in _mirrored(name) if one in known and one != name), None)
        if other is not None and pairs.get(other) != name:
            pairs[name] = other
    return list(pairs.items())


def behind(name: str, known: Collection[str]) -> str | None:
    """The hind leg's name for that of a front leg: RL_hip or HL_hip for FL_hip, rear_left_knee for front_left_knee."""
    for match in ENDS.finditer(name):
        word = match.group()
        place = 0 if len(word) > 2 or word[0] in "Ff" else 1
        front = word if len(word) > 2 else word[place]
        start = match.start() + place
        for other in BEHINDS.get(front.lower(), ()):
            turned = other.upper() if front.isupper() else other.capitalize() if front[0].isupper() else other
            there = name[:start] + turned + name[start + len(front) :]
            if there in known:
                return there
    return None


def _mirrored(name: str) -> Iterator[str]:
    spots = [match.span() for match in SIDE.finditer(name)]
    for chosen in [spots, *([spot] for spot in spots if len(spots) > 1)]:
        turned = name
        for start, end in reversed(chosen):
            turned = turned[:start] + _other(name[start:end]) + turned[end:]
        yield turned


def _other(word: str) -> str:
    """Left for right and the reverse, in the same case; of a leg the letter of the side (RL: RR, LF: RF)."""
    if word.lower() in WORDS:
        turned = WORDS[word.lower()]
        return turned.upper() if word.isupper() else turned.capitalize() if word[0].isupper() else turned
    side = 0 if word[0] in "LRlr" and word[1] in "FBHMfbhm" else 1
    return word[:side] + _other(word[side]) + word[side + 1 :]
