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
