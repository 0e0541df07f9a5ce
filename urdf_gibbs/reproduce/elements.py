"""When parallel elements of M pay (WJ, Sect. 6): one thread against two, by elements and by states; single elements in Python."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from urdf_gibbs.bundled import example_robots
from urdf_gibbs.counts.robots import planar_tree
from urdf_gibbs.engine.elements import elements_kernel, grouped_elements, split_pairs
from urdf_gibbs.engine.kernel import Compiled, kernel
from urdf_gibbs.engine.kernel_base import Array
from urdf_gibbs.engine.quantities import ELEMENTS
from urdf_gibbs.engine.threads import get_threads, set_threads
from urdf_gibbs.errors import UrdfWarning
from urdf_gibbs.names import Base
from urdf_gibbs.reproduce.claims import Progress
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot

THREADS = 2
ONE, BY_ELEMENTS, BY_STATES = "one thread", "elements on two", "states on two"
WHOLE, FIRST, LAST = "whole matrix", "first element alone", "last element alone"
BATCHES = (1, 16, 64, 256, 1024, 4096, 16384, 65536)
QUICK = (1, 16, 256, 4096, 65536)
MEMORY = 150_000_000  # bytes of an answer; larger batches are cut to it
LEAST, SURE = 1.1, 0.75  # a smaller gain, or one in a smaller share of the rounds, counts as noise on a shared machine
LINKS = 64
CHUNK = 2e-3  # seconds of short calls timed together
PAUSE = 3e-3  # seconds for the threads of the previous call to finish
SPAN, MORE = 0.5, 10  # seconds that a row may take for up to ten times as many rounds
PLAIN = 40  # velocities up to which the whole matrix in plain Python takes less than a second
COLLECTION: dict[str, tuple[str, Base]] = {  # of the PyPI package example-robot-data
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "Go2, floating": ("go2_description/urdf/go2.urdf", "floating"),
    "Talos, floating": ("talos_data/robots/talos_full_v2.urdf", "floating"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """Median times [s] of a call by name, the first of them what the others are compared with; ``elements`` of M for ``states`` states.

    ``wins``: the part of the rounds in which each of the others was faster by ``LEAST``.
    ``operations`` of the code for one state: on one thread, then of each group of elements; () for plain Python.
    """

    robot: str
    nv: int
    method: str
    elements: int
    states: int
    seconds: dict[str, float]
    wins: dict[str, float]
    operations: tuple[int, ...] = ()

    @property
    def limit(self) -> float:
        """What two threads could gain by elements if they cost nothing: groups share the bodies below and above their joints."""
        most = max(self.operations[1:], default=0)
        return self.operations[0] / most if most else math.nan  # constant elements need none

    @property
    def ratios(self) -> dict[str, float]:
        """The first time over each of the others: above 1 they are faster."""
        base, *others = self.seconds.items()
        return {name: base[1] / seconds for name, seconds in others}

    @property
    def pays(self) -> str:
        """What to run in parallel: elements, states or nothing; "" for plain Python, which one thread runs at a time."""
        if self.method != "compiled":
            return ""
        sure = {name: ratio for name, ratio in self.ratios.items() if ratio > LEAST and self.wins[name] >= SURE}
        return max(sure, key=lambda name: sure[name], default="nothing")

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratios": self.ratios, "limit": self.limit, "pays": self.pays}


def measure(progress: Progress | None = None, quick: bool = True) -> list[Row]:
    """All elements of M compiled (lower triangle) for one state and batches, then the explicit ones in plain Python.

    Robots of example-robot-data where it is installed, and a planar chain of 64 links. quick: fewer batches and rounds.
    """
    say = progress or (lambda _: None)
    rows: list[Row] = []
    threads = get_threads()
    try:
        for name, robot in robots().items():
            say(f"{name}: compiled elements")
            rows += _compiled(name, robot, QUICK if quick else BATCHES, 5 if quick else 15)
            if robot.nv <= PLAIN:
                say(f"{name}: elements in plain Python")
                rows.append(_explicit(name, robot, 3 if quick else 7))
    finally:
        set_threads(threads)
    return rows


def robots() -> dict[str, Robot]:
    """Those of example-robot-data that are installed, and the chain."""
    files = example_robots()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        installed = {name: load(files[file], base) for name, (file, base) in COLLECTION.items() if file in files}
    return {**installed, f"chain of {LINKS}": planar_tree(LINKS, 1)}


def _compiled(name: str, robot: Robot, batches: tuple[int, ...], rounds: int) -> list[Row]:
    pairs = tuple((i, j) for i in range(robot.nv) for j in range(i + 1))
    groups, parts = grouped_elements(robot, pairs, THREADS), split_pairs(pairs, THREADS)
    whole = _work(robot, pairs)  # 0 where the groups alone are small enough for straight-line code
    work = [_work(robot, part) for part in parts]
    pieces = [kernel(robot, ELEMENTS, pairs=part) for part in ([pairs] if whole else parts)]
    rng = np.random.default_rng(0)
    rows: list[Row] = []
    for states in dict.fromkeys(min(count, MEMORY // (8 * len(pairs))) for count in batches):
        q = robot.random(rng) if states == 1 else robot.random(rng, states)
        out = np.empty((*q.shape[:-1], len(pairs)))
        outs = [np.empty_like(piece(q)) for piece in pieces]

        def in_turn(q: Array = q, outs: list[Array] = outs) -> None:
            for piece, own in zip(pieces, outs, strict=True):
                piece(q, own)

        def side_by_side(q: Array = q, out: Array = out) -> None:
            groups(q, out)

        calls: dict[str, tuple[int, Callable[[], Any]]] = {
            ONE: (1, in_turn),
            BY_ELEMENTS: (THREADS, side_by_side),
            BY_STATES: (THREADS, in_turn),
        }
        rows.append(Row(name, robot.nv, "compiled", len(pairs), states, *_timed(calls, rounds), (whole or sum(work), *work)))
    return rows


def _work(robot: Robot, pairs: tuple[tuple[int, int], ...]) -> int:
    """Operations of the code of these elements; 0 where they have none of their own."""
    code = elements_kernel(robot, pairs)
    return code.work if isinstance(code, Compiled) else 0


def _explicit(name: str, robot: Robot, rounds: int) -> Row:
    """One state: the matrix, its first element, which needs every body of the first joint's subtree, and its last one, a leaf's."""
    q, last = robot.random(0), robot.nv - 1
    matrix = kernel(robot, "mass_matrix", method="explicit")
    first, leaf = (kernel(robot, ELEMENTS, pairs=[(i, i)], method="explicit") for i in (0, last))
    times = _timed({WHOLE: (1, lambda: matrix(q)), FIRST: (1, lambda: first(q)), LAST: (1, lambda: leaf(q))}, rounds)
    return Row(name, robot.nv, "explicit", robot.nv * (robot.nv + 1) // 2, 1, *times)


def _timed(calls: dict[str, tuple[int, Callable[[], Any]]], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Median time [s] of each call on so many threads, in turns, and the part of the rounds in which it beats the first by LEAST.

    Short calls are timed some milliseconds long, and in more rounds.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    first = time.perf_counter()
    done = 0
    while done <= rounds or (done <= MORE * rounds and time.perf_counter() - first < SPAN):
        for name, (threads, call) in calls.items():
            if threads != get_threads():
                set_threads(threads)
                time.sleep(PAUSE)
            start = time.perf_counter()
            call()  # compiles in the first round, and wakes the threads
            repeats = max(1, min(1000, int(CHUNK / (time.perf_counter() - start))))
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            times[name].append((time.perf_counter() - start) / repeats)
        done += 1
        first = time.perf_counter() if done == 1 else first
    taken = {name: np.array(own[1:]) for name, own in times.items()}
    base, *others = taken
    wins = {name: float(np.mean(taken[base] > LEAST * taken[name])) for name in others}
    return {name: float(np.median(own)) for name, own in taken.items()}, wins
