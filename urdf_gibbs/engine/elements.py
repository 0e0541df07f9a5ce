"""Elements of the mass matrix in groups, one group per thread, each with its own machine code: no element needs another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise

from urdf_gibbs.arguments import Array
from urdf_gibbs.engine.kernel import Compiled, kernel_of
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.engine.quantities import ELEMENTS, Options, checked_options, velocity_pairs
from urdf_gibbs.engine.threads import get_threads, run_on_threads
from urdf_gibbs.robot.derived import Shelf
from urdf_gibbs.robot.model import Robot

GROUPED_ELEMENTS: Shelf[tuple[int, Options], Kernel] = Shelf()  # by the number of groups and the elements


def grouped_elements(robot: Robot, pairs: Iterable[Sequence[int | str]], threads: int) -> Callable[..., Array]:
    """A callable for these elements in that many groups, or for all at once if a group is too large for straight-line code."""
    options = checked_options(robot, ELEMENTS, Options(pairs=velocity_pairs(robot, pairs)))
    return GROUPED_ELEMENTS.get(robot, (threads, options), lambda: _make_kernel(robot, options, threads)).entry


def _make_kernel(robot: Robot, options: Options, threads: int) -> Kernel:
    groups = [elements_kernel(robot, group) for group in split_pairs(options.pairs, threads)]
    compiled = [code for code in groups if isinstance(code, Compiled)]
    whole = len(groups) == 1 or len(compiled) < len(groups)
    return elements_kernel(robot, options.pairs) if whole else GroupedElements(robot, options, compiled)


class GroupedElements(Kernel):
    """Computes each group of elements for all states, on whichever thread is free."""

    def __init__(self, robot: Robot, options: Options, groups: list[Compiled]) -> None:
        super().__init__(robot, ELEMENTS, options)
        ends = accumulate((group.size for group in groups), initial=0)
        self._groups = [(group, slice(*place)) for group, place in zip(groups, pairwise(ends), strict=True)]

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        def part(group: Compiled, place: slice) -> Exception | None:
            return group.fill(flat, result[:, place], batch, 1)

        errors = run_on_threads(self._groups, part, min(len(self._groups), get_threads()))
        return next((error for error in errors if error is not None), None)


def split_pairs(pairs: tuple[tuple[int, int], ...], threads: int) -> list[tuple[tuple[int, int], ...]]:
    """Split the pairs into groups of about equal size; neighbours in the given order stay together, as they share most of their bodies."""
    count = min(threads, len(pairs))
    ends = [len(pairs) * k // count for k in range(count + 1)]
    return [pairs[start:end] for start, end in pairwise(ends)]


def elements_kernel(robot: Robot, pairs: tuple[tuple[int, int], ...]) -> Kernel:
    """The kernel for these elements; a Compiled if straight-line code pays."""
    return kernel_of(robot, ELEMENTS, Options(pairs=pairs))
