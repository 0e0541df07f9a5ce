"""Branch decomposition of S18, Sect. 2: each branch runs from the root to one leaf.

A body that several branches share carries its mass in the first of them and is virtual (massless)
in the others, so that sums over branches count it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload


@dataclass(frozen=True, slots=True)
class Branch:
    """One chain: ``bodies`` from root to leaf; those from position ``first_real`` on are real, those before virtual."""

    bodies: tuple[int, ...]
    joint_names: tuple[str, ...]
    first_real: int

    @property
    def virtual(self) -> tuple[bool, ...]:
        """True where the body is massless in this branch because an earlier branch carries it."""
        return tuple(i < self.first_real for i in range(len(self.bodies)))

    def __len__(self) -> int:
        return len(self.bodies)

    def __str__(self) -> str:
        """Joints from root to leaf, the virtual ones in parentheses."""
        return " ".join(f"({name})" if virtual else name for name, virtual in zip(self.joint_names, self.virtual, strict=True))


class Branches(Sequence[Branch]):
    """All branches in the order of the coordinates, each made on access (a comb of n teeth has n^2/2 members in all)."""

    def __init__(self, joint_names: tuple[str, ...], parent: tuple[int, ...]) -> None:
        self._names, self._parent = joint_names, parent

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The last body of each branch."""
        inner = set(self._parent)
        return tuple(body for body in range(len(self._parent)) if body not in inner)

    @cached_property
    def _first_branch(self) -> list[int]:
        """For each body, the first branch that contains it (bodies are in depth-first order)."""
        first = [-1] * len(self._parent)
        for number, leaf in enumerate(self.leaves):
            body = leaf
            while body >= 0 and first[body] < 0:
                first[body] = number
                body = self._parent[body]
        return first

    def __len__(self) -> int:
        return len(self.leaves)

    @overload
    def __getitem__(self, index: int) -> Branch: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Branch, ...]: ...
    def __getitem__(self, index: int | slice) -> Branch | tuple[Branch, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        number = range(len(self))[index]
        bodies = []
        body = self.leaves[number]
        while body >= 0:
            bodies.append(body)
            body = self._parent[body]
        bodies.reverse()
        real = sum(self._first_branch[body] == number for body in bodies)
        return Branch(tuple(bodies), tuple(self._names[body] for body in bodies), len(bodies) - real)

    def __repr__(self) -> str:
        shown = [f"{number}: {self[number - 1]}" for number in range(1, min(len(self), 50) + 1)]
        return "\n".join(shown + (["..."] if len(self) > 50 else []))
