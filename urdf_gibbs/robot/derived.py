"""Objects derived from a robot and cached with it: constants, kernels, simulators. The robot itself is pure data.

The module that makes a kind of object owns a ``Shelf``, the only access to objects of that kind, with its own type of keys. The contents
of a robot's shelves are stored with the robot, beside its fields: they live as long as the robot, and any copy starts with empty shelves.
A global table, even one with weak keys, would keep all robots alive, since most of the objects refer to their robot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Self, TypeVar

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.locks import Lock

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")

_lock = Lock()  # reentrant: making one object may need another


class Derived(dict["Shelf[Any, Any]", dict[Any, Any]]):
    """The shelves of one robot, each created on first access.

    ``entries`` are those of the public functions (engine/adaptive.py): an attribute, because every call reads it.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[Any, Any] = {}

    def __missing__(self, shelf: Shelf[Any, Any]) -> dict[Any, Any]:
        return self.setdefault(shelf, {})


class Derivable:
    """Base of an immutable class with shelves, created in ``__new__`` so that copied and unpickled objects have their own."""

    _derived: Derived

    def __new__(cls, *_: Any, **__: Any) -> Self:
        instance = super().__new__(cls)
        instance.__dict__["_derived"] = Derived()  # bypasses __setattr__ of a frozen dataclass
        return instance


class Shelf(Generic[Key, Thing]):
    """Objects of one kind by key, for each robot separately; ``most``: keep only so many, the most recently used (None: all)."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def of(self, robot: Derivable) -> dict[Key, Thing]:
        """The objects of one robot."""
        return robot._derived[self]

    def get(self, robot: Derivable, key: Key, make: Callable[[], Thing]) -> Thing:
        """The object for a key (never None). If there is none yet, one thread makes it while others wait."""
        things = self.of(robot)
        thing = things.get(key)
        if thing is not None and self._most is None:
            return thing
        with _lock:
            thing = things.get(key)
            if thing is None:
                thing = things[key] = make()
            if self._most is not None:
                del things[key]
                things[key] = thing  # most recently used last
                while len(things) > self._most:
                    del things[next(iter(things))]
        return thing


def check_robot(robot: Any) -> None:
    """Raise where it is no robot: only robots have something made from them."""
    if not isinstance(robot, Derivable):
        raise ArgumentError(f"robot={shown(robot)}, expected a Robot, as load returns it")
