"""What a sweep asks: scenario, files, parameters, seed and quantities, with a hash that says whether two sweeps ask the same."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from urdf_gibbs import __version__
from urdf_gibbs.arguments import shown, whole
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.simulation.scenario import Scenario
from urdf_gibbs.simulation.scenario.expression import Formula, formula
from urdf_gibbs.simulation.scenario.lines import Path as Keys
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.sweeps.bundle import Bundle, bundle_of
from urdf_gibbs.sweeps.design import Design
from urdf_gibbs.sweeps.keys import changed, path_of_key
from urdf_gibbs.sweeps.rows import FIRST, FUNCTION, LAST, RESULTS, fingerprint, quantities_of
from urdf_gibbs.sweeps.values import from_plain, values_of

FORMAT, VERSION = "urdf_gibbs sweep", 1
PACKAGES = ("numpy", "scipy", "llvmlite", "pyarrow")
FEW, MANY, SMALL, LARGE = 64, 256, 250, 5000  # files of small and of large sweeps, runs of their chunks

Quantities = Mapping[str, Formula | Callable[[Trajectory], float]]


@dataclass(frozen=True, eq=False)
class Question:
    """What a sweep asks.

    Attributes:
        bundle: The scenario and its files.
        design: The parameters of every run.
        quantities: The user's, by name.
        trajectories: Whether whole motions are kept.
        paths: Where each parameter stands in the scenario's tables.
    """

    bundle: Bundle
    design: Design
    quantities: Quantities = field(default_factory=dict)
    trajectories: bool = False
    paths: Mapping[str, Keys] = field(default_factory=dict)

    @cached_property
    def plain(self) -> dict[str, Any]:
        """All of it but the contents of files and functions."""
        return {
            "scenario": self.bundle.text,
            "files": self.bundle.hashes(),
            "over": {key: values.plain() for key, values in self.design.over.items()},
            "order": list(self.design.over),
            "runs": self.design.runs,
            "seed": self.design.seed,
            "sampling": self.design.sampling,
            "quantities": {name: fingerprint(quantity) for name, quantity in self.quantities.items()},
            "trajectories": self.trajectories,
        }

    @cached_property
    def hash(self) -> str:
        """SHA-256 of ``plain``."""
        return hash_of(self.plain)

    @property
    def first(self) -> dict[str, Any]:
        """The values of the first run, by key."""
        return {key: column[0] for key, column in self.design.columns(0, 1).items()}

    def metadata(self, chunk: int) -> dict[str, Any]:
        """What every file of the sweep carries: the question, its hash, how many runs a file has, and what computes them."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "hash": self.hash,
            "chunk": chunk,
            **self.plain,
            "paths": dict(self.paths),
            "versions": versions(),
        }

    def content(self, values: Mapping[str, Any], base: dict[str, Any]) -> dict[str, Any]:
        """The tables of the scenario of one run; ``base``: those of the bundle."""
        for key, value in values.items():
            base = changed(base, self.paths[key], value)
        return base

    def varies(self, *heads: str) -> bool:
        """Whether some parameter stands below one of these keys at the top of the file."""
        return any(path[0] in heads for path in self.paths.values())


def hash_of(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Of what computes rows."""
    found = {"urdf_gibbs": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def question(
    scenario: Any, over: Any, runs: int | None, seed: int, sampling: str, quantities: Any, trajectories: bool
) -> tuple[Question, Scenario]:
    """A question; that its values can be used is left to ``Scene.check``.

    Args:
        scenario: Path of a scenario's file, or the name of a bundled one.
        over: What each parameter takes, by its key.
        runs: How many.
        seed: Of what is drawn.
        sampling: How.
        quantities: Formulas and functions by name.
        trajectories: Whether motions are kept.

    Returns:
        The question, and the scenario as it is in the file.

    Raises:
        ArgumentError: Something cannot be used; key or name are named.
        ScenarioError: The file alone cannot be used.
    """
    if not isinstance(over, Mapping) or not over:
        raise ArgumentError(f"over={shown(over)}, expected values by key: {{'restitution': '0:1:21'}}")
    bundle, base = bundle_of(scenario)
    content = bundle.content()
    paths = {str(key): path_of_key(key, content, base.robot) for key in over}
    for key in paths:
        if key in (*FIRST, *LAST, *RESULTS):
            raise ArgumentError(f"over: {key} is the name of a column of results, expected a key of the scenario")
    twice = [(one, other) for one in paths for other in paths if one != other and paths[other][: len(paths[one])] == paths[one]]
    if twice:
        raise ArgumentError(f"over: {twice[0][0]} and {twice[0][1]} stand for the same value, expected one of them")
    design = Design({str(key): values_of(str(key), given) for key, given in over.items()}, runs, seed, sampling)
    return Question(bundle, design, quantities_of(quantities, design.keys, base.robot), bool(trajectories), paths), base


def read_question(metadata: Mapping[str, Any], bundle: Bundle, functions: Mapping[str, Callable[[Trajectory], float]]) -> Question:
    """The question in a file's metadata; quantities whose functions are not given are left out of it."""
    over = {key: from_plain(plain) for key, plain in metadata["over"].items()}
    quantities: dict[str, Any] = {}
    for name, text in metadata["quantities"].items():
        if not text.startswith(FUNCTION):
            quantities[name] = formula(text)
        elif name in functions:
            quantities[name] = functions[name]
    design = Design(over, metadata["runs"], metadata["seed"], metadata["sampling"])
    paths = {key: tuple(path) for key, path in metadata["paths"].items()}
    return Question(bundle, design, quantities, metadata["trajectories"], paths)


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """In words, where the question of a folder (``theirs``) is another one."""
    found = []
    for name in ("scenario", "runs", "seed", "sampling", "trajectories"):
        if ours[name] != theirs.get(name):
            found.append("the scenario's text" if name == "scenario" else f"{name} ({theirs.get(name)} there, {ours[name]} here)")
    for name, what in (("files", "the file"), ("over", "the parameter"), ("quantities", "the quantity")):
        mine, other = ours[name], theirs.get(name, {})
        for key in dict.fromkeys([*mine, *other]):
            if key not in other:
                found.append(f"{what} {key} (not there)")
            elif key not in mine:
                found.append(f"{what} {key} (only there)")
            elif mine[key] != other[key]:
                found.append(f"{what} {key}")
    if ours["order"] != theirs.get("order") and not found:
        found.append("the order of the parameters")
    return found


def chunk_of(runs: int, chunk: int | None) -> int:
    """How many runs make a file: as many as the user wants. Else there are some 64 files, until a file has 250 runs, then some 256.

    A chunk is what a crash may cost, and what a cluster is told to do: neither long nor so short that telling takes longer than doing.
    """
    if chunk is not None:
        return whole(chunk, 1, "chunk")
    return max(min(-(-runs // FEW), SMALL), min(-(-runs // MANY), LARGE))
