"""What is made from a robot and kept with it: constants, kernels, simulators. The robot itself is pure data.

The module that makes a kind of thing owns a ``Shelf``, the only way to the things of that kind, with keys of a type of its own. What a
robot has on its shelves hangs on the robot, beside its fields: it lives as long as the robot, and a copy of any kind starts with none. A
table of all robots, even one with weak keys, would keep them for ever, since most of the things refer to their robot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Self, TypeVar

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.locks import Lock

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")

_lock = Lock()  # making one thing may make another


class Derived(dict["Shelf[Any, Any]", dict[Any, Any]]):
    """The shelves of one robot, each made when first looked at.

    ``entries`` are those of the public functions (engine/adaptive.py): looked at in every call, and an attribute is found soonest.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[Any, Any] = {}

    def __missing__(self, shelf: Shelf[Any, Any]) -> dict[Any, Any]:
        return self.setdefault(shelf, {})


class Derivable:
    """Base of an immutable class whose objects have shelves: from ``__new__``, so that copied and unpickled ones have their own."""

    _derived: Derived

    def __new__(cls, *_: Any, **__: Any) -> Self:
        made = super().__new__(cls)
        made.__dict__["_derived"] = Derived()  # past a frozen dataclass's __setattr__
        return made


class Shelf(Generic[Key, Thing]):
    """Things of one kind by key, for each robot its own; ``most``: so many at most, the last that were asked for (None: all)."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def of(self, robot: Derivable) -> dict[Key, Thing]:
        """The robot's own things."""
        return robot._derived[self]

    def get(self, robot: Derivable, key: Key, make: Callable[[], Thing]) -> Thing:
        """The thing of that key (never None), made by one thread while others wait where there is none yet."""
        things = self.of(robot)
        found = things.get(key)
        if found is not None and self._most is None:
            return found
        with _lock:
            found = things.get(key)
            if found is None:
                found = things[key] = make()
            if self._most is not None:
                del things[key]
                things[key] = found  # the newest last
                while len(things) > self._most:
                    del things[next(iter(things))]
        return found


def check_robot(robot: Any) -> None:
    """Raise where it is no robot: only robots have something made from them."""
    if not isinstance(robot, Derivable):
        raise ArgumentError(f"robot={shown(robot)}, expected a Robot, as load returns it")
