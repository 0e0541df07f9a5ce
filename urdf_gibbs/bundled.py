"""The robots that come with the package: the papers' systems and some for teaching."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from urdf_gibbs.errors import UnknownNameError

# In a wheel the models are inside the package, in a checkout beside it.
_FOLDERS = (Path(__file__).parent / "models", Path(__file__).parents[1] / "models")


def model_names() -> list[str]:
    """Names of the bundled URDFs.

    Returns:
        The names that ``model_path`` takes, sorted.
    """
    return sorted(path.stem for folder in _FOLDERS for path in folder.glob("*.urdf"))


def model_path(name: str) -> Path:
    """Path of a bundled URDF: ``load(model_path("branched12"))``.

    Args:
        name: One of ``model_names()``.

    Returns:
        The path.

    Raises:
        UnknownNameError: There is no such model.
    """
    for folder in _FOLDERS:
        path = folder / f"{name}.urdf"
        if path.is_file():
            return path
    raise UnknownNameError("bundled model", name, model_names())


def scenario_names() -> list[str]:
    """Names of the bundled scenarios (TOML files).

    Returns:
        The names that ``scenario_path`` and ``read_scenario`` take, sorted.
    """
    return sorted(path.stem for folder in _FOLDERS for path in folder.glob("*.toml"))


def scenario_path(name: str) -> Path:
    """Path of a bundled scenario: ``read_scenario(scenario_path("branched12"))``.

    Args:
        name: One of ``scenario_names()``.

    Returns:
        The path.

    Raises:
        UnknownNameError: There is no such scenario.
    """
    for folder in _FOLDERS:
        path = folder / f"{name}.toml"
        if path.is_file():
            return path
    raise UnknownNameError("bundled scenario", name, scenario_names())


def example_robots() -> dict[str, Path]:
    """URDFs of the package example-robot-data by their paths in it; none where it is not installed."""
    spec = importlib.util.find_spec("cmeel")
    if spec is None or spec.origin is None:
        return {}
    folder = Path(spec.origin).parents[1] / "cmeel.prefix/share/example-robot-data/robots"
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.urdf"))}
