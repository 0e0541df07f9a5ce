"""Elements of the mass matrix dealt to threads: each group of pairs has machine code of its own, since no element needs another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise

from urdf_gibbs.arguments import Array
from urdf_gibbs.engine.asking import Kernel
from urdf_gibbs.engine.kernel import Compiled, kernel_of
from urdf_gibbs.engine.questions import ELEMENTS, Options, checked_options, velocity_pairs
from urdf_gibbs.engine.threads import get_threads, shared_out
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot

DEALT: Shelf[tuple[int, Options], Kernel] = Shelf()  # by the number of groups and the elements


def dealt(robot: Robot, pairs: Iterable[Sequence[int | str]], threads: int) -> Callable[..., Array]:
    """The callable of these elements in that many groups, or of all at once where a group would be too large for code of its own."""
    options = checked_options(robot, ELEMENTS, Options(pairs=velocity_pairs(robot, pairs)))
    return DEALT.get(robot, (threads, options), lambda: _made(robot, options, threads)).entry


def _made(robot: Robot, options: Options, threads: int) -> Kernel:
    groups = [code_of(robot, group) for group in groups_of(options.pairs, threads)]
    compiled = [code for code in groups if isinstance(code, Compiled)]
    whole = len(groups) == 1 or len(compiled) < len(groups)
    return code_of(robot, options.pairs) if whole else Dealt(robot, options, compiled)


class Dealt(Kernel):
    """Each group of elements for all states, on whichever thread is free."""

    def __init__(self, robot: Robot, options: Options, groups: list[Compiled]) -> None:
        super().__init__(robot, ELEMENTS, options)
        ends = accumulate((group.size for group in groups), initial=0)
        self._groups = [(group, slice(*place)) for group, place in zip(groups, pairwise(ends), strict=True)]

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        def part(group: Compiled, place: slice) -> Exception | None:
            return group.fill(flat, result[:, place], batch, 1)

        errors = shared_out(self._groups, part, min(len(self._groups), get_threads()))
        return next((error for error in errors if error is not None), None)


def groups_of(pairs: tuple[tuple[int, int], ...], threads: int) -> list[tuple[tuple[int, int], ...]]:
    """As many runs of about the same length; neighbours in the order given stay together, since they share most of their bodies."""
    count = min(threads, len(pairs))
    ends = [len(pairs) * k // count for k in range(count + 1)]
    return [pairs[start:end] for start, end in pairwise(ends)]


def code_of(robot: Robot, pairs: tuple[tuple[int, int], ...]) -> Kernel:
    """What answers for these elements; machine code of their own where it is a Compiled."""
    return kernel_of(robot, ELEMENTS, Options(pairs=pairs))
