"""The parts of the report by name, and running them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.reproduce import counted, formulations, rover, shafei2017, shafei2018, steps, wang_ju, wang_ju_elements
from urdf_gibbs.reproduce.claims import Progress, Section

PARTS: dict[str, Callable[[Progress], Section]] = {
    "shafei2018-equations": shafei2018.equations,
    "shafei2018-case": shafei2018.case_study,
    "shafei2018-counts": counted.shafei2018_counts,
    "shafei2017-case": shafei2017.case_studies,
    "shafei2017-counts": counted.shafei2017_counts,
    "steps": steps.section,
    "wang-ju-matrix": wang_ju.matrix,
    "wang-ju-counts": counted.wang_ju_counts,
    "wang-ju-elements": wang_ju_elements.section,
    "wj-rover": rover.section,
    "formulations": formulations.section,
}


# These parts simulate or measure times: they run last, after the simulation has been compiled in the background.
LAST = ("shafei2018-equations", "shafei2018-case", "shafei2017-case", "steps", "wang-ju-elements", "wj-rover")
COMPILE = "from urdf_gibbs.reproduce import shafei2017; shafei2017.run('rigid_link')"


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
    """Run parts one after the other; ``progress(part, step)`` is called on the way. A part that fails does not stop the others."""
    wanted = list(names)
    first, last = ([name for name in wanted if (name in LAST) == late] for late in (False, True))
    with _compiling() if first and last else nullcontext() as compiling:
        for name in first:
            yield _done(name, progress)
        if compiling is not None:
            progress(last[0], "compiling the simulation")
            compiling.wait()
        for name in last:
            yield _done(name, progress)


def _done(name: str, progress: Callable[[str, str], None]) -> Done:
    try:
        return Done(name, PARTS[name](lambda step: progress(name, step)))
    except Exception as problem:
        return Done(name, None, f"{type(problem).__name__}: {problem}")


@contextmanager
def _compiling() -> Iterator[subprocess.Popen[bytes]]:
    """A process that leaves the simulation's machine code in the cache, which takes seconds once on a machine, beside other work."""
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", COMPILE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()
