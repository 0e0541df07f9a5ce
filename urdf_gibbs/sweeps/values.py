"""What a parameter of a sweep takes: a list of values, which are crossed with those of other parameters, or a distribution.

As text: ``0:1:21`` (from, to, how many, ends included), ``0.2, 0.5, pi/6`` or ``uniform(-1, 1)``; numbers may be formulas.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.scenario.expression import FUNCTIONS, evaluate

Array = NDArray[np.float64]

CALL = re.compile(r"([A-Za-z_]\w*)\s*\((.*)\)\s*", re.S)
EXPECTED = "a number, a list, a grid a:b:n, or a distribution such as uniform(-1, 1)"
OWN = {  # distributions with arguments of their own; all others are those of scipy.stats, which takes theirs
    "uniform": ("low", "high"),
    "loguniform": ("low", "high"),
    "normal": ("mean", "standard deviation"),
}
LEAST = 2.0**-54  # of a share: 0 and 1 would be infinitely far out on a normal distribution
MOST_POINTS = 10_000_000  # of a grid


@dataclass(frozen=True)
class Listed:
    """Values to be crossed with those of the other lists: numbers, texts, truth values or lists of numbers."""

    values: tuple[Any, ...]

    def plain(self) -> dict[str, Any]:
        return {"list": [list(value) if isinstance(value, tuple) else value for value in self.values]}


@dataclass(frozen=True)
class Distribution:
    """A distribution by its name: uniform, loguniform, normal, choice, or one of scipy.stats."""

    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, float] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        arguments = [list(value) if isinstance(value, tuple) else value for value in self.arguments]
        return {"distribution": self.name, "arguments": arguments, "keywords": dict(self.keywords)}

    def at(self, shares: Array) -> Any:
        """Values at shares (n,) of the distribution, from 0 to 1: an array of numbers; of a choice the list of what is chosen."""
        shares = np.clip(shares, LEAST, 1.0 - 2.0**-53)
        if self.name == "choice":
            places = np.minimum((shares * len(self.arguments)).astype(int), len(self.arguments) - 1)
            return [self.arguments[k] for k in places]
        if self.name == "uniform":
            low, high = self.arguments
            return low + shares * (high - low)
        if self.name == "loguniform":
            low, high = (math.log(value) for value in self.arguments)
            return np.array([math.exp(low + share * (high - low)) for share in shares.tolist()])
        if self.name == "normal":
            from scipy.special import ndtri

            mean, deviation = self.arguments
            return mean + deviation * ndtri(shares)
        import scipy.stats

        return np.asarray(getattr(scipy.stats, self.name)(*self.arguments, **self.keywords).ppf(shares), dtype=np.float64)


Values = Listed | Distribution


def values_of(key: str, given: Any) -> Values:
    """What a parameter takes. ArgumentError names the key where it is neither."""
    if isinstance(given, Listed | Distribution):
        return given
    frozen = _frozen_distribution(given)
    if frozen is not None:
        return _checked(key, frozen)
    if isinstance(given, str):
        return _from_text(key, given)
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, Iterable) and not isinstance(given, Mapping | bytes):
        values = tuple(_value(key, one) for one in given)
        if not values:
            raise ArgumentError(f"over: {key} has no values, expected {EXPECTED}")
        return Listed(values)
    return Listed((_value(key, given),))


def from_plain(plain: Mapping[str, Any]) -> Values:
    """What ``plain()`` gave."""

    def restored(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(tuple(value) if isinstance(value, list) else value for value in values)

    if "list" in plain:
        return Listed(restored(plain["list"]))
    return Distribution(plain["distribution"], restored(plain["arguments"]), plain["keywords"])


def _value(key: str, value: Any) -> Any:
    """A number, text, truth value or tuple of numbers, as plain Python has them."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_number(key, entry) for entry in np.asarray(value, dtype=object).ravel().tolist())
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return evaluate(value)
        except ValueError:
            return value
    return _number(key, value)


def _number(key: str, value: Any) -> float:
    try:
        number = evaluate(value) if isinstance(value, str) else math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ArgumentError(f"over: {key}={shown(value)}, expected {EXPECTED}")
    return number


def _from_text(key: str, text: str) -> Values:
    call = CALL.fullmatch(text.strip())
    if call and call[1] not in FUNCTIONS:
        return _from_call(key, text.strip(), call[1], call[2])
    ends = text.split(":")
    if len(ends) > 1:
        return _grid(key, text, ends)
    parts = split(text)
    if not all(parts):
        raise ArgumentError(f"over: {key}={shown(text)}, expected {EXPECTED}")
    return Listed(tuple(_written(key, part) for part in parts))


def _grid(key: str, text: str, ends: list[str]) -> Listed:
    expected = "a grid from:to:count, 0:1:21 for instance"
    try:
        low, high, count = (evaluate(end) for end in ends)
    except ValueError:
        raise ArgumentError(f"over: {key}={shown(text)}, expected {expected}") from None
    if count != int(count) or not 1 <= count <= MOST_POINTS:
        raise ArgumentError(f"over: {key}={shown(text)}, expected {expected}, with a whole count from 1 to {MOST_POINTS}")
    n = int(count)
    return Listed(tuple(high if k == n - 1 and k else low + (high - low) * k / (n - 1) if n > 1 else low for k in range(n)))


def _written(key: str, text: str) -> Any:
    """A value in a text: a number or formula, true or false, [a, b, c], or words."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("[") and text.endswith("]"):
        return tuple(_number(key, part) for part in split(text[1:-1]))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return _value(key, text)


def _from_call(key: str, text: str, name: str, inside: str) -> Distribution:
    arguments: list[Any] = []
    keywords: dict[str, float] = {}
    for part in split(inside) if inside.strip() else []:
        word, equals, value = part.partition("=")
        if equals and word.strip().isidentifier():
            keywords[word.strip()] = _number(key, value.strip())
        elif keywords or not part:
            raise ArgumentError(f"over: {key}={shown(text)}, expected {EXPECTED}")
        else:
            arguments.append(_written(key, part) if name == "choice" else _number(key, part))
    return _checked(key, Distribution(name, tuple(arguments), keywords))


def _frozen_distribution(given: Any) -> Distribution | None:
    """A distribution of SciPy with its arguments, ``scipy.stats.norm(0, 1)``, as ours."""
    dist = getattr(given, "dist", None)
    if dist is None or not hasattr(given, "ppf") or not hasattr(given, "args"):
        return None
    name = {"uniform": "scipy_uniform"}.get(dist.name, dist.name)
    arguments, keywords = tuple(map(float, given.args)), {key: float(value) for key, value in given.kwds.items()}
    if name == "scipy_uniform":  # whose arguments are where it begins and how wide it is
        low = keywords.get("loc", arguments[0] if arguments else 0.0)
        width = keywords.get("scale", arguments[1] if len(arguments) > 1 else 1.0)
        return Distribution("uniform", (low, low + width))
    return Distribution(name, arguments, keywords)


def _checked(key: str, given: Distribution) -> Distribution:
    """ArgumentError where there is no such distribution, or not with these arguments."""
    written = f"over: {key}={given.name}({', '.join(map(str, given.arguments))})"
    if given.name == "choice":
        if not given.arguments or given.keywords:
            raise ArgumentError(f"{written}, expected choice(one, other, ...)")
        return given
    if given.name in OWN:
        names = OWN[given.name]
        numbers = given.arguments
        right = len(numbers) == 2 and not given.keywords
        if right and given.name == "normal":
            right = numbers[1] > 0.0
        elif right:
            right = numbers[0] < numbers[1] and (given.name == "uniform" or numbers[0] > 0.0)
        if not right:
            limits = {"normal": "a positive deviation", "uniform": "low < high", "loguniform": "0 < low < high"}[given.name]
            raise ArgumentError(f"{written}, expected {given.name}({', '.join(names)}) with {limits}")
        return given
    import scipy.stats

    known = [
        name for name in dir(scipy.stats) if isinstance(getattr(scipy.stats, name), scipy.stats.rv_continuous | scipy.stats.rv_discrete)
    ]
    if given.name not in known:
        near = difflib.get_close_matches(given.name, [*OWN, "choice", *known], 1, 0.6)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise ArgumentError(f"{written}: no such distribution, expected {', '.join(OWN)}, choice or one of scipy.stats{hint}")
    try:
        ends = given.at(np.array([0.25, 0.75]))
    except TypeError as problem:
        raise ArgumentError(f"{written}: {problem}, expected the arguments of scipy.stats.{given.name}") from None
    if not np.isfinite(ends).all():
        raise ArgumentError(f"{written}, expected arguments that scipy.stats.{given.name} allows")
    return given


def split(text: str) -> list[str]:
    """The parts between commas that are in no brackets and no quotes."""
    parts, depth, quote, begin = [], 0, "", 0
    for k, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:k].strip())
            begin = k + 1
    return [*parts, text[begin:].strip()]
