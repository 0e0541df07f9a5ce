"""Robots by name: those that come with the package (the papers' systems and some for teaching), and others that are installed."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Sequence
from functools import cache
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
    folder = _example_folder()
    return {} if folder is None else {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.urdf"))}


def _example_folder() -> Path | None:
    spec = importlib.util.find_spec("cmeel")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parents[1] / "cmeel.prefix/share/example-robot-data/robots"


# Short names of robots that are installed -------------------------------------------------------------


# As the package's own loader calls them, where that is not the name of the file.
LOADED_AS = {
    "allegro_left": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "allegro_right": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal_b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "anymal_kinova": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "asr_twodof": "asr_twodof_description/urdf/TwoDofs.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "hector": "hector_description/robots/quadrotor_base.urdf",
    "hextilt": "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "borinot": "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "solo8": "solo_description/robots/solo.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "talos_arm": "talos_data/robots/talos_left_arm.urdf",
    "talos_box": "talos_data/robots/talos_reduced_box.urdf",
    "talos_full": "talos_data/robots/talos_full_v2.urdf",
    "talos_full_box": "talos_data/robots/talos_full_v2_box.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",  # the file ur3.urdf is empty
    "ur3_limited": "ur_description/urdf/ur3_joint_limited_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur5_limited": "ur_description/urdf/ur5_joint_limited_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "ur10_limited": "ur_description/urdf/ur10_joint_limited_robot.urdf",
}


class SeveralRobotsError(UnknownNameError):
    """A name that several robots have; ``known`` are their own names."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__("single robot", name, known)
        self.message = f"{name!r} is the name of {len(known)} robots, expected one of {', '.join(known)}"


DESCRIPTION, LEAST = "_description", 3  # the end of names of robot_descriptions; letters of a name that may be part of another
NEAR = 0.6  # of difflib's measure: from here on a name may have been meant


@cache
def example_names() -> dict[str, tuple[Path, ...]]:
    """The robots of example-robot-data by short names: those of their files, and those of the package's loader.

    A name with several files is ambiguous. None where the package is not installed.
    """
    names: dict[str, tuple[Path, ...]] = {}
    robots = example_robots()
    for path in robots.values():
        names[path.stem] = (*names.get(path.stem, ()), path)
    folders: dict[str, list[Path]] = {}
    for file, path in robots.items():
        folders.setdefault(file.partition("/")[0], []).append(path)
    for folder, paths in folders.items():  # of several files, the one that is called as the folder
        own = [path for path in paths if path.stem == folder.removesuffix("_description")]
        names[folder] = tuple(own or paths)
    names |= {name: (robots[file],) for name, file in LOADED_AS.items() if file in robots}
    return names


def robot_path(name: str) -> Path:
    """The file of a robot that is installed: bundled, or of example-robot-data (``panda``).

    Args:
        name: Of the robot; of example-robot-data also the path in the package, "panda_description/urdf/panda.urdf".

    Returns:
        The path.

    Raises:
        UnknownNameError: There is no such robot, or more than one.
    """
    if name in model_names():
        return model_path(name)
    examples = example_names()
    found = examples.get(name, ())
    if not found and name in example_robots():
        found = (example_robots()[name],)
    if len(found) == 1:
        return found[0]
    if found:
        single = {paths[0]: one for one, paths in examples.items() if len(paths) == 1}
        raise SeveralRobotsError(name, [single.get(path, str(path)) for path in found])
    raise UnknownNameError("robot", name, [*model_names(), *examples])


def similar(name: str, known: list[str]) -> list[str]:
    """Those of the names that may have been meant, the likeliest first: "iiwa" is called iiwa14_description."""
    small = name.lower()
    by_small = {one.lower(): one for one in reversed(known)}
    called = [one for one in by_small if one.removesuffix(DESCRIPTION) == small]
    near = difflib.get_close_matches(small, list(by_small), 3, NEAR)
    parts = [one for one in sorted(by_small) if len(small) >= LEAST and small in one]
    return [by_small[one] for one in dict.fromkeys(called + near + parts)][:3]
