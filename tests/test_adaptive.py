"""The simplest call is the fast call: nothing but the function itself runs in Python, whatever form gravity has and whatever its value."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.engine import quantities
from urdf_gibbs.engine.adaptive import STATES_BEFORE_COMPILING
from urdf_gibbs.engine.kernel import KERNELS, Compiled, Composed
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

Array = NDArray[np.float64]
BRANCHED = ug.model_path("branched12")
ROUND_OFF = 1e-12  # of the largest entry: some thousand operations, eps = 2e-16
FALLING = {"bias": 2, "gravity_force": 1, "inverse_dynamics": 3, "forward_dynamics": 3, "potential_energy": 1}  # and how many inputs
EXPLICIT = 3  # Python functions that find out about gravity or a point


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ug.UrdfWarning)
        yield


def state(robot: ug.Robot, seed: int = 0, shape: tuple[int, ...] = ()) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [robot.random(rng, shape), *(rng.normal(size=(*shape, robot.nv)) for _ in range(2))]


def calls(robot: ug.Robot) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Forms of every public function, and how many Python functions besides itself a call may run."""
    q, v, a = state(robot)
    link = robot.link_names[-1]
    plain: dict[str, tuple[int, Callable[[], Any]]] = {
        "mass_matrix": (0, lambda: ug.mass_matrix(robot, q)),
        "bias": (0, lambda: ug.bias(robot, q, v)),
        "gravity_force": (0, lambda: ug.gravity_force(robot, q)),
        "inverse_dynamics": (0, lambda: ug.inverse_dynamics(robot, q, v, a)),
        "forward_dynamics": (0, lambda: ug.forward_dynamics(robot, q, v, a)),
        "kinetic_energy": (0, lambda: ug.kinetic_energy(robot, q, v)),
        "potential_energy": (0, lambda: ug.potential_energy(robot, q)),
        "centre_of_mass": (0, lambda: ug.centre_of_mass(robot, q)),
        "momentum": (0, lambda: ug.momentum(robot, q, v)),
        "jacobian": (0, lambda: ug.jacobian(robot, q, link)),
        "jacobian of a point": (EXPLICIT, lambda: ug.jacobian(robot, q, link, (0.1, 0.0, 0.2))),
        "frame_placement": (0, lambda: ug.frame_placement(robot, q, link)),
        "method": (0, lambda: ug.mass_matrix(robot, q, method="compiled")),
        "kernel": (0, lambda code=robot.kernel("bias"): code(q, v)),
    }
    for form, gravity in {
        "tuple": (0.0, 0.0, -9.81),
        "integers": (0, 0, -9.81),
        "list": [0.0, 0.0, -9.81],
        "array": np.array(EARTH_GRAVITY),
        "moon": (0.0, 0.0, -1.62),
        "moon as an array": np.array([0.0, 0.0, -1.62]),
    }.items():
        for name, count in FALLING.items():
            function = getattr(ug, name)
            plain[f"{name}, {form}"] = (EXPLICIT, lambda f=function, n=count, g=gravity: f(robot, *(q, v, a)[:n], gravity=g))
    return plain


def python_calls(call: Callable[[], Any]) -> list[str]:
    """The Python functions that a call runs."""
    seen: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            seen.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen


def test_a_plain_call_runs_the_function_and_machine_code_alone() -> None:
    robot = ug.load(BRANCHED)
    for name, (allowed, call) in calls(robot).items():
        for _ in range(STATES_BEFORE_COMPILING + 2):
            call()
        seen = python_calls(call)
        functions = [one for one in seen if one not in ("<lambda>", "<genexpr>")]
        assert len(functions) <= 1 + allowed, (name, seen)
        assert "general" not in functions, (name, seen)  # the way of all other arguments


def test_out_and_new_arrays_have_the_same_values() -> None:
    robot = ug.load(BRANCHED)
    q, v, a = state(robot)
    for name, arguments in (("mass_matrix", (q,)), ("bias", (q, v)), ("inverse_dynamics", (q, v, a)), ("forward_dynamics", (q, v, a))):
        new = getattr(ug, name)(robot, *arguments)
        out = np.full_like(new, np.nan)
        assert getattr(ug, name)(robot, *arguments, out=out) is out and np.array_equal(out, new)


# Gravity as data ---------------------------------------------------------------------------------------


def expected(oracle: Oracle, name: str, q: Array, v: Array, x: Array) -> Any:
    answers = oracle.answers(q, v, x, x, {})
    fields = {
        "gravity_force": "gravity",
        "inverse_dynamics": "inverse",
        "forward_dynamics": "acceleration",
        "potential_energy": "potential",
    }
    return getattr(answers, fields.get(name, name))


def check(robot: ug.Robot, source: Any, base: str, gravity: Any, slack: float = 1.0) -> None:
    """All that gravity matters for, at one state and at a batch, against Pinocchio."""
    oracle = Oracle(source, base, True, tuple(np.asarray(gravity, dtype=float).tolist()))
    q, v, x = state(robot, 1, (5,))
    for name, count in FALLING.items():
        function = getattr(ug, name)
        batch = function(robot, *(q, v, x)[:count], gravity=gravity)
        for i in range(len(q)):
            wanted = expected(oracle, name, q[i], v[i], x[i])
            cond = np.linalg.cond(ug.mass_matrix(robot, q[i])) if name == "forward_dynamics" else 1.0
            size = max(1.0, np.abs(wanted).max())
            for found in (batch[i], function(robot, *(y[i] for y in (q, v, x)[:count]), gravity=gravity)):
                assert np.abs(found - wanted).max() < ROUND_OFF * size * cond * slack, (name, i)


@pytest.mark.parametrize("gravity", [(1.0, -2.0, 3.0), [0, 0, 1], np.array([0.3, 0.0, -9.81]), np.array([1, 2, 3]), (0, 0, 0)], ids=repr)
def test_any_gravity_agrees_with_pinocchio(gravity: Any) -> None:
    check(ug.load(BRANCHED), BRANCHED, "fixed", gravity)


@pytest.mark.parametrize("seed", range(6))
def test_any_gravity_of_random_trees_agrees_with_pinocchio(seed: int) -> None:
    text = random_tree(seed, 6, mimic=0.2)
    rng = np.random.default_rng(seed)
    check(ug.load(text, "floating"), text, "floating", rng.normal(size=3) * 10.0, slack=10.0)


@pytest.mark.parametrize("model", ["branched12", "gripper"])  # the gripper's fingers mimic each other: M and h of free joints, tied again
def test_any_gravity_of_large_robots_agrees_with_pinocchio(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantities, "STRAIGHT_DEFAULT", 0)
    monkeypatch.setattr(quantities, "STRAIGHT", {})
    path = ug.model_path(model)
    robot = ug.load(path)
    check(robot, path, "fixed", (1.0, -2.0, 3.0))
    made = [one for asked, one in KERNELS.of(robot).items() if asked.quantity == "bias" and asked.options.free_gravity]
    assert [type(one) for one in made] == [Compiled if model == "branched12" else Composed]


def test_elastic_links_fall_by_any_gravity() -> None:
    """Compared with the paper's own formulation: Pinocchio has no elastic links."""
    robot = ug.load(ug.model_path("flexible_two_links"))
    q, v, x = (0.1 * y for y in state(robot))
    for name, count in FALLING.items():
        if name != "potential_energy":
            arguments = (q, v, x)[:count]
            found = getattr(ug, name)(robot, *arguments, gravity=(1.0, -2.0, 3.0))
            wanted = getattr(ug, name)(robot, *arguments, gravity=(1.0, -2.0, 3.0), method="gibbs_appell_flexible")
            np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())  # cond(M) is about 1e4


def test_gravity_that_changes_compiles_nothing_more() -> None:
    robot = ug.load(BRANCHED)
    q, v, x = state(robot)
    for i in range(50):
        for name, count in FALLING.items():
            for gravity in ((0.0, 0.1 * i, -9.0), [0.1 * i, 0.0, -9.0], np.array([0.0, -9.0, 0.1 * i]), EARTH_GRAVITY):
                getattr(ug, name)(robot, *(q, v, x)[:count], gravity=gravity)
    for name in FALLING:
        assert len([asked for asked in KERNELS.of(robot) if asked.quantity == name]) <= 2, name  # the Earth's, and any


def test_the_same_gravity_gives_the_same_bits_in_any_form() -> None:
    robot = ug.load(BRANCHED)
    q, v, _ = state(robot)
    for x, y, z in (EARTH_GRAVITY, (0.5, -1.0, 2.0)):
        first = ug.bias(robot, q, v, gravity=(x, y, z))
        for other in ([x, y, z], np.array([x, y, z]), np.array([x, y, z])[None][0], (np.float64(x), y, z)):
            assert ug.bias(robot, q, v, gravity=other).tobytes() == first.tobytes()
    assert ug.bias(robot, q, v).tobytes() == ug.bias(robot, q, v, gravity=[0, 0, -9.81]).tobytes()


def test_an_array_of_gravity_may_change_in_place() -> None:
    robot = ug.load(BRANCHED)
    q = robot.random(0)
    gravity = np.array([0.0, 0.0, -3.0])
    first = ug.gravity_force(robot, q, gravity=gravity)
    gravity *= 2.0
    np.testing.assert_allclose(ug.gravity_force(robot, q, gravity=gravity), 2.0 * first, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    "gravity", [(0, 9.81), [0, 0, 0, 0], -9.81, np.zeros((2, 3)), np.zeros((1, 3)), np.zeros(2), None, ((0,), (0,), (1,))], ids=repr
)
def test_gravity_that_is_no_triple_is_refused(gravity: Any) -> None:
    robot = ug.load(ug.model_path("pendulum"))
    for name, count in FALLING.items():
        with pytest.raises(ug.ArgumentError, match=r"gravity (has shape|is None)"):
            getattr(ug, name)(robot, *([[0.1]] * count), gravity=gravity)


def test_kernels_take_gravity_as_an_input_on_request() -> None:
    robot = ug.load(BRANCHED)
    q, v, x = state(robot)
    code = robot.kernel("bias", gravity=None)
    gravity = np.array([1.0, -2.0, 3.0])
    wanted = Oracle(BRANCHED, "fixed", True, (1.0, -2.0, 3.0)).answers(q, v, x, x, {}).bias
    np.testing.assert_allclose(code(q, v, gravity), wanted, atol=ROUND_OFF * np.abs(wanted).max())
    assert code(q, v, gravity, out := np.empty(robot.nv)) is out and np.array_equal(out, code(q, v, gravity))
    assert robot.kernel("mass_matrix", gravity=None) is robot.kernel("mass_matrix")
    with pytest.raises(ug.ArgumentError, match="gravity has shape"):
        code(q, v, gravity[:2])
    with pytest.raises(ug.ArgumentError, match="expected one of both"):
        robot.kernel("bias", gravity=None, parameters=True)
    with pytest.raises(ug.ArgumentError, match="gravity=None"):
        robot.kernel("bias", gravity=None, method="explicit")
