"""The signatures of what is public: no options without names, and the same options where two callables take the same."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest

import urdf_gibbs as ug
from urdf_gibbs import names
from urdf_gibbs.contact.names import LAWS
from urdf_gibbs.dynamics.registry import COMPILED, REFERENCES
from urdf_gibbs.engine.quantities import QUANTITIES as TRACEABLE
from urdf_gibbs.equations.code import LANGUAGES, QUANTITIES
from urdf_gibbs.robot.urdf import JOINT_TYPES
from urdf_gibbs.view.themes import THEMES


def test_simulate_and_simulator_take_the_same_options() -> None:
    options = dict(inspect.signature(ug.simulate).parameters)
    for name in ("robot", "q0", "v0", "duration", "progress"):
        del options[name]
    own = dict(inspect.signature(ug.Simulator).parameters)
    del own["robot"]
    assert {name: (one.default, one.annotation) for name, one in options.items()} == {
        name: (one.default, one.annotation) for name, one in own.items()
    }


SHAPES = ("Plane", "Circle", "Cylinder", "Sphere", "Ellipsoid", "Box", "Corridor", "HeightField", "Terrain", "Implicit")
WALLS = ("Wall", *SHAPES, "Vibration", "Drift", "save_terrain", "load_terrain")


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """What urdf_gibbs exports, walls included, with the public methods of its classes; errors are not called by users."""
    exported = {name: getattr(ug, name) for name in ug.__all__} | {f"walls.{name}": getattr(ug.walls, name) for name in WALLS}
    for name, value in exported.items():
        if inspect.isclass(value) and issubclass(value, Exception):
            continue
        if inspect.isclass(value):
            yield name, value
            own_and_inherited = {
                key: own for base in value.__mro__ if base.__module__.startswith("urdf_gibbs") for key, own in vars(base).items()
            }
            yield from ((f"{name}.{key}", getattr(value, key)) for key, own in own_and_inherited.items() if _is_method(key, own))
        elif callable(value):
            yield name, value


def _is_method(name: str, value: Any) -> bool:
    return not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod | staticmethod))


PUBLIC = dict(public())


def test_the_public_callables_are_all_there() -> None:
    assert {"load", "Robot.kernel", "Trajectory.load", "View.save", "Simulator.run", "walls.Plane", "walls.Wall.gap"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_options_have_names(name: str) -> None:
    kinds = {one.kind for one in inspect.signature(PUBLIC[name]).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


def test_a_function_that_returns_arrays_takes_out() -> None:
    functions = {
        name: getattr(ug, name) for name in ug.functions.__all__ if name not in ("impact", "torque_regressor_blocks", "derivative_entries")
    }
    for name, function in functions.items():
        last = list(inspect.signature(function).parameters.values())[-1]
        assert (last.name, last.kind, last.default) == ("out", inspect.Parameter.KEYWORD_ONLY, None), name


def test_the_names_of_arguments_are_those_that_are_understood() -> None:
    assert get_args(names.Law) == LAWS
    assert get_args(names.Method) == (COMPILED, *REFERENCES)
    assert {*get_args(names.KernelName)} == set(TRACEABLE) - {"elastic"}  # the driver's own
    assert {*get_args(names.JointType)} == set(JOINT_TYPES)
    assert {*get_args(names.Theme)} == set(THEMES)
    assert {*get_args(names.Language)} == set(LANGUAGES) and {*get_args(names.Quantity)} == set(QUANTITIES)


# docstrings ------------------------------------------------------------------------------------------------

NEVER_FAIL = {  # nothing that is given can be wrong
    *("get_threads", "model_names", "scenario_names", "Robot.neutral", "Finding.as_dict", "Scenario.arguments", "View.html"),
    *(
        "Finding",
        "Phase",
        "Scenario",
        "View",
        "Robot",
        "Impact",
        "Trajectory",
        "Runs",
        "Outcomes",
        "walls.Wall",
        "walls.Vibration",
        "walls.Drift",
    ),  # values
    *("BaseParameters", "Identification", "Identification.table", "LinearSystem", "StateFeedback"),
    *("Sensitivity", "Saltation", "Attempt", "Shot", "Shot.table"),
    *("Summary", "Sweep", "Sweep.to_pandas", "Sweep.summary"),
}


def sections(name: str) -> dict[str, str]:
    """The sections of a docstring (Google's style) by their titles; a method that has none is told of in the class that it comes from."""
    found = inspect.getdoc(PUBLIC[name]) or ""
    parts = re.split(r"^(Args|Attributes|Returns|Raises):\n", found, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_tells_of_every_argument(name: str) -> None:
    told = sections(name)
    wanted = [given for given in inspect.signature(PUBLIC[name]).parameters if given not in ("self", "cls") and not given.startswith("_")]
    listed = re.findall(r"^    (\w+): \S", told.get("Args", "") + told.get("Attributes", ""), flags=re.MULTILINE)
    assert told[""].strip() and [given for given in wanted if given not in listed] == []
    if "Args" in told:
        assert set(re.findall(r"^    (\w+): \S", told["Args"], flags=re.MULTILINE)) <= set(wanted), "an argument that is none"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_tells_what_is_returned_and_raised(name: str) -> None:
    told, callable_ = sections(name), PUBLIC[name]
    returns = not inspect.isclass(callable_) and inspect.signature(callable_).return_annotation not in ("None", None)
    assert ("Returns" in told) == returns
    assert ("Raises" in told) or name in NEVER_FAIL


def test_errors_are_told_apart() -> None:
    for name in ug.__all__:
        value = getattr(ug, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            assert inspect.getdoc(value), name


def test_dashes_in_names_are_underscores() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    q: Any = [0.1, 0.2, 0.3]
    dashed: Any = {"method": "gibbs-appell", "law": "newton-equality", "kernel": "mass-matrix"}
    assert (ug.mass_matrix(robot, q, method=dashed["method"]) == ug.mass_matrix(robot, q, method="gibbs_appell")).all()
    assert robot.kernel(dashed["kernel"]) is robot.kernel("mass_matrix")
    assert ug.Simulator(robot, law=dashed["law"]).law == "newton_equality"
