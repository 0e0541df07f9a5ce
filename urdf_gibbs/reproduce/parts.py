"""The parts of the report by name, and the way through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.reproduce import counted, formulations, shafei2017, shafei2018, wang_ju, wang_ju_elements
from urdf_gibbs.reproduce.claims import Progress, Section

PARTS: dict[str, Callable[[Progress], Section]] = {
    "shafei2018-equations": shafei2018.equations,
    "shafei2018-case": shafei2018.case_study,
    "shafei2018-counts": counted.shafei2018_counts,
    "shafei2017-case": shafei2017.case_studies,
    "shafei2017-counts": counted.shafei2017_counts,
    "wang-ju-matrix": wang_ju.matrix,
    "wang-ju-counts": counted.wang_ju_counts,
    "wang-ju-elements": wang_ju_elements.section,
    "formulations": formulations.section,
}


@dataclass(frozen=True, slots=True)
class Done:
    """A part that has run: its section, or what went wrong."""

    name: str
    section: Section | None
    problem: str = ""


def chosen(names: Iterable[str]) -> list[str]:
    """The parts of these names, or whose names begin with them; all where there are none."""
    wanted = list(names)
    for name in wanted:
        if not any(part.startswith(name) for part in PARTS):
            raise UnknownNameError("part", name, tuple(PARTS))
    return [part for part in PARTS if not wanted or any(part.startswith(name) for name in wanted)]


def reproduce(names: Iterable[str], progress: Callable[[str, str], None]) -> Iterator[Done]:
    """Run parts one after the other; ``progress(part, step)`` is told where it is. A part that fails does not stop the others."""
    for name in names:
        try:
            yield Done(name, PARTS[name](lambda step, name=name: progress(name, step)))  # type: ignore[misc]
        except Exception as problem:
            yield Done(name, None, f"{type(problem).__name__}: {problem}")
