"""Kernels: machine code against Pinocchio (that of every robot: test_robots.py), one state against batches, and every way to call it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import FOLDER
from kernel_checks import (
    AGREEMENT,
    LETTERS,
    MAIN,
    SAME,
    Array,
    Call,
    States,
    against_pinocchio,
    allowed,
    differs,
    largest,
    mimic_choices,
)
from urdf_text import inertial, joint, link, massless, pinocchio_model, point_mass, random_link, random_tree
from urdf_text import robot as robot_text

import urdf_gibbs as ug
from urdf_gibbs import ArgumentError, Robot, SingularMassMatrixError, UnknownNameError
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

PACKAGE = Path(ug.__file__).parents[1]
PANDA = FOLDER / "panda_description/urdf/panda.urdf"


@pytest.fixture(autouse=True, scope="module")
def _no_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URDF_GIBBS_CACHE", "")
        yield


@pytest.fixture
def _threads_restored() -> Iterator[None]:
    before = ug.get_threads()
    yield
    ug.set_threads(before)


# Robots against Pinocchio (all of them: test_robots.py) -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        "panda_description/urdf/panda.urdf",
        "iris_description/robots/iris.urdf",  # massless propellers
        "solo_description/robots/solo12.urdf",
        "ur_description/urdf/ur5_robot.urdf",
        pytest.param("baxter_description/urdf/baxter.urdf", marks=[pytest.mark.nightly]),  # two arms of seven joints: the panda has one
        "quadruped_description/urdf/quadruped.urdf",
        "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
        "hector_description/robots/quadrotor_base.urdf",  # no joint at all
    ],
)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_all_other_kernels_agree_with_pinocchio(file: str, base: str) -> None:
    names = tuple(name for name in LETTERS if name not in MAIN)
    assert [line for mimic in mimic_choices(file) for line in against_pinocchio(file, base, mimic, names)] == []


# One state and batches -------------------------------------------------------------------------------

SIZES = (4099, 1024, 1023, 8, 7, 5, 4, 3, 2, 1, 0)  # the large ones first: they bring the code for batches, which the small ones then use
COMPARED = ("mass_matrix", "bias", "forward_dynamics")
ROBOTS: dict[str, Callable[[], Robot]] = {
    "fixed": lambda: ug.load(PANDA, mimic=False),
    "floating": lambda: ug.load(FOLDER / "bolt_description/robots/bolt.urdf", "floating"),
    "mimic": lambda: ug.load(PANDA, "floating", mimic=True),
}


@cache
def one_by_one(which: str, name: str) -> tuple[Robot, States, Array]:
    """A robot, 4,099 states and the answers to each of them alone."""
    robot = ROBOTS[which]()
    states = States.of(robot, max(SIZES))
    kernel = robot.kernel(name)
    return robot, states, np.stack([kernel(*row) for row in zip(*states.arguments(name), strict=True)])


def deviation(found: Array, expected: Array) -> Array:
    """Largest difference in each state, relative to its largest entry."""
    inner = tuple(range(1, found.ndim))
    return np.abs(found - expected).max(axis=inner, initial=0.0) / np.abs(expected).max(axis=inner, initial=1e-300)


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("which", ROBOTS)
def test_batches_of_all_sizes_equal_their_states_one_by_one(which: str, name: str) -> None:
    robot, states, single = one_by_one(which, name)
    kernel = robot.kernel(name)
    for size in SIZES:
        for start in (0, 13):
            rows = slice(start, min(start + size, len(single)))
            batch = kernel(*(x[rows] for x in states.arguments(name)))
            assert batch.shape == single[rows].shape
            assert (deviation(batch, single[rows]) <= allowed(robot, name, states.q[rows])).all(), (size, start)


@pytest.mark.parametrize("which", ROBOTS)
def test_small_first_batches_equal_their_states_one_by_one(which: str) -> None:
    """A robot that has not met a large batch yet has no code for batches, and goes through the states."""
    robot = ROBOTS[which]()
    states = States.of(robot, 8)
    kernel = robot.kernel("bias")
    single = np.stack([kernel(*row) for row in zip(states.q, states.v, strict=True)])
    for size in range(9):
        assert (deviation(kernel(states.q[:size], states.v[:size]), single[:size]) <= SAME).all()


@pytest.mark.parametrize("shape", [(2, 3), (1, 1, 5), (0,), (3, 0), (4, 1, 3)], ids=str)
@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("which", ROBOTS)
def test_leading_axes_are_kept(which: str, name: str, shape: tuple[int, ...]) -> None:
    robot, states, single = one_by_one(which, name)
    count = int(np.prod(shape))
    kernel = robot.kernel(name)
    arguments = [x[:count].reshape(*shape, x.shape[-1]) for x in states.arguments(name)]
    expected = single[:count].reshape(*shape, *single.shape[1:])
    out = np.full(expected.shape, np.nan)
    for found in (kernel(*arguments), kernel(*arguments, out)):
        assert found.shape == expected.shape
        assert (deviation(found.reshape(single[:count].shape), single[:count]) <= allowed(robot, name, states.q[:count])).all()


@pytest.mark.usefixtures("_threads_restored")
@pytest.mark.parametrize("size", [1024, 4099, 50_003])  # the last is work enough for five threads
@pytest.mark.parametrize("which", ROBOTS)
def test_results_do_not_depend_on_the_number_of_threads(which: str, size: int) -> None:
    for name in COMPARED:
        robot, states, _ = one_by_one(which, name)
        arguments = [np.resize(x, (size, x.shape[-1])) for x in states.arguments(name)]
        ug.set_threads(1)
        alone = robot.kernel(name)(*arguments)
        for count in (2, 5):
            ug.set_threads(count)
            assert ug.get_threads() == count
            assert robot.kernel(name)(*arguments).tobytes() == alone.tobytes(), (name, count)


@pytest.mark.parametrize("count", [0, -1])
def test_impossible_number_of_threads_is_refused(count: int) -> None:
    with pytest.raises(ArgumentError, match=f"count={count}, expected a whole number of at least 1"):
        ug.set_threads(count)


# Call forms ------------------------------------------------------------------------------------------

TREE = random_tree(
    [
        ("a", "revolute", "l0", "l1"),
        ("b", "continuous", "l1", "l2"),
        ("c", "prismatic", "l1", "l3"),
        ("d", "revolute", "l3", "l4", '<mimic joint="a" multiplier="-0.5" offset="0.2"/>'),
        ("e", "fixed", "l4", "tool"),
    ],
    seed=4,
)


@pytest.fixture(scope="module", params=["fixed", "floating"])
def tree(request: pytest.FixtureRequest) -> Robot:
    """With its code for batches ready: before some hundred states are asked for, batches go through the code for one state, which
    rounds differently, and answers would not be the same to the bit."""
    robot = ug.load(TREE, request.param)
    for name in LETTERS:
        robot.kernel(name, **({"frame": "tool"} if name == "jacobian" else {}))(*States.of(robot, 300).arguments(name))
    return robot


@pytest.mark.parametrize("name", LETTERS)
@pytest.mark.parametrize("shape", [(), (6,), (300,)], ids=str)
def test_out_may_be_positional_named_or_missing(tree: Robot, name: str, shape: tuple[int, ...]) -> None:
    kernel = tree.kernel(name, **({"frame": "tool"} if name == "jacobian" else {}))
    arguments = States.of(tree, shape).arguments(name)
    expected = kernel(*arguments)
    assert isinstance(expected, np.ndarray) and expected.dtype == np.float64 and expected.shape[: len(shape)] == shape
    for call in (lambda out: kernel(*arguments, out), lambda out: kernel(*arguments, out=out)):
        out = np.full(expected.shape, np.nan)
        assert call(out) is out
        np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(kernel(*arguments, None), expected)
    np.testing.assert_array_equal(kernel(*arguments, out=None), expected)


def reversed_view(x: Array) -> Array:
    """The same values in memory from last to first."""
    return np.ascontiguousarray(x[(slice(None, None, -1),) * x.ndim])[(slice(None, None, -1),) * x.ndim]


def strided_view(x: Array) -> Array:
    """The same values with gaps between them."""
    room = np.full([2 * n for n in x.shape], np.nan)
    view = room[(slice(None, None, 2),) * x.ndim]
    view[...] = x
    return view


def misaligned(x: Array) -> Array:
    """The same values at an odd address."""
    view = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    view[...] = x
    return view


FORMS: dict[str, Callable[[Array], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple of rows": tuple,
    "Fortran order": np.asfortranarray,
    "strided": strided_view,
    "reversed": reversed_view,
    "big endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
    "misaligned": misaligned,
    "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "matrix subclass": lambda x: x.view(type("Own", (np.ndarray,), {})),
    "broadcast": lambda x: np.broadcast_to(x, x.shape),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(), (6,), (300,), (2, 3)], ids=str)
def test_any_memory_holds_a_state(tree: Robot, form: str, shape: tuple[int, ...]) -> None:
    kernel = tree.kernel("inverse_dynamics")
    arguments = States.of(tree, shape).arguments("inverse_dynamics")
    out = np.full((*shape, tree.nv), np.nan)
    expected = kernel(*arguments)
    for i in range(len(arguments)):
        changed = [FORMS[form](x) if i == j else x for j, x in enumerate(arguments)]
        np.testing.assert_array_equal(kernel(*changed), expected)
        np.testing.assert_array_equal(kernel(*changed, out), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, int])
def test_numbers_of_other_types_are_converted(tree: Robot, dtype: type) -> None:
    q = np.round(tree.neutral()).astype(dtype)
    v = np.ones((6, tree.nv)).astype(dtype)
    np.testing.assert_array_equal(tree.kernel("bias")(q, v), tree.kernel("bias")(q.astype(float), v.astype(float)))


def test_single_precision_is_read_exactly(tree: Robot) -> None:
    at = States.of(tree, 6)
    q32, v32 = at.q.astype(np.float32), at.v.astype(np.float32)
    np.testing.assert_array_equal(tree.kernel("bias")(q32, v32), tree.kernel("bias")(q32.astype(float), v32.astype(float)))


@pytest.mark.parametrize("shape", [(), (6,), (300,)], ids=str)
@pytest.mark.parametrize(
    "out",
    [
        lambda shape: strided_view(np.zeros(shape)),
        lambda shape: reversed_view(np.zeros(shape)),
        lambda shape: np.zeros(shape, order="F"),
        lambda shape: misaligned(np.zeros(shape)),
        lambda shape: np.zeros(shape, ">f8"),
        lambda shape: np.zeros(shape, np.longdouble),
    ],
    ids=["strided", "reversed", "fortran", "misaligned", "big-endian", "long-double"],
)
def test_out_in_any_memory_is_filled(tree: Robot, out: Call, shape: tuple[int, ...]) -> None:
    q = States.of(tree, shape).q
    expected = tree.kernel("mass_matrix")(q)
    target = out(expected.shape)
    assert tree.kernel("mass_matrix")(q, target) is target
    np.testing.assert_array_equal(target, expected)


def test_memory_between_the_entries_of_a_strided_out_is_left_alone(tree: Robot) -> None:
    at = States.of(tree, 6)
    room = np.full((12, 2 * tree.nv), np.nan)
    tree.kernel("bias")(at.q, at.v, out=room[::2, ::2])
    assert np.isfinite(room[::2, ::2]).all()
    assert np.isnan(room[1::2]).all() and np.isnan(room[:, 1::2]).all()


@pytest.mark.parametrize("shape", [(), (6,)], ids=str)
def test_out_of_single_precision_is_rounded(tree: Robot, shape: tuple[int, ...]) -> None:
    q = States.of(tree, shape).q
    expected = tree.kernel("mass_matrix")(q)
    out = np.zeros(expected.shape, np.float32)
    assert tree.kernel("mass_matrix")(q, out) is out
    np.testing.assert_array_equal(out, expected.astype(np.float32))


@pytest.mark.parametrize("rows", [1, 6, 300])
@pytest.mark.parametrize("argument", [0, 1, 2])
def test_out_that_overlaps_an_argument_is_right(tree: Robot, rows: int, argument: int) -> None:
    """Wherever out begins in the memory of an argument."""
    kernel = tree.kernel("inverse_dynamics")
    arguments = States.of(tree, rows if rows > 1 else ()).arguments("inverse_dynamics")
    expected = kernel(*arguments)
    one = arguments[argument]
    for shift in (0, 1, tree.nv, one.size - 1, one.size):
        room = np.full(one.size + expected.size + 1, 7.0)
        held = room[: one.size].reshape(one.shape)
        held[...] = one
        out = room[shift : shift + expected.size].reshape(expected.shape)
        before = room.copy()
        assert kernel(*(held if i == argument else x for i, x in enumerate(arguments)), out=out) is out
        np.testing.assert_array_equal(out, expected)
        outside = np.ones(room.size, bool)
        outside[shift : shift + expected.size] = False
        np.testing.assert_array_equal(room[outside], before[outside])


@pytest.mark.parametrize("rows", [1, 6, 300])
def test_out_that_is_its_argument_backwards_is_right(tree: Robot, rows: int) -> None:
    at = States.of(tree, rows)
    expected = tree.kernel("bias")(at.q, at.v)
    out = at.v[::-1, ::-1]
    tree.kernel("bias")(at.q, at.v, out)
    np.testing.assert_array_equal(out, expected)


def test_one_array_may_be_several_arguments(tree: Robot) -> None:
    at = States.of(tree, ())
    np.testing.assert_array_equal(
        tree.kernel("inverse_dynamics")(at.q, at.v, at.v), tree.kernel("inverse_dynamics")(at.q, at.v, at.v.copy())
    )


@pytest.mark.parametrize("shape", [(), (6,)], ids=str)
@pytest.mark.parametrize("extra", [(1,), (0,), (2, 3)], ids=str)
def test_out_of_wrong_shape_is_refused_with_the_right_one(tree: Robot, shape: tuple[int, ...], extra: tuple[int, ...]) -> None:
    q, right = States.of(tree, shape).q, (*shape, tree.nv, tree.nv)
    for wrong in ((*extra, *right), (*right, *extra), right[:-1], (*right[:-1], tree.nv + 1)):
        with pytest.raises(ArgumentError, match=rf"^out has shape .*, expected \({', '.join(map(str, right))}\)"):
            tree.kernel("mass_matrix")(q, np.zeros(wrong))


@pytest.mark.parametrize("dtype", [int, np.int8, bool, "M8[s]", object], ids=str)
def test_out_that_would_lose_the_fractions_is_refused(tree: Robot, dtype: Any) -> None:
    at = States.of(tree, ())
    out = np.zeros(tree.nv, dtype)
    if dtype is object:  # holds any number
        np.testing.assert_array_equal(tree.kernel("bias")(at.q, at.v, out).astype(float), tree.kernel("bias")(at.q, at.v))
        return
    with pytest.raises(ArgumentError, match=r"^out has dtype "):
        tree.kernel("bias")(at.q, at.v, out)


@pytest.mark.parametrize("out", [[0.0] * 3, 1.0, "text", memoryview(bytes(24))], ids=["list", "number", "text", "bytes"])
def test_out_that_is_no_array_is_refused(tree: Robot, out: Any) -> None:
    at = States.of(tree, ())
    with pytest.raises(ArgumentError, match=rf"^out is a {type(out).__name__}"):
        tree.kernel("bias")(at.q, at.v, out=out)


@pytest.mark.parametrize("shape", [(), (6,)], ids=str)
def test_out_that_is_read_only_is_refused_and_unchanged(tree: Robot, shape: tuple[int, ...]) -> None:
    at = States.of(tree, shape)
    out = np.zeros((*shape, tree.nv))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tree.kernel("bias")(at.q, at.v, out)
    assert not out.any()


@pytest.mark.parametrize("name", LETTERS)
def test_arguments_of_wrong_width_are_named(tree: Robot, name: str) -> None:
    kernel = tree.kernel(name, **({"frame": "tool"} if name == "jacobian" else {}))
    at = States.of(tree, ())
    for i, letter in enumerate(LETTERS[name]):
        width = at.arguments(name)[i].size
        for wrong in ((width - 1,), (width + 1,), (), (0,), (width, 1), (2, width + 1)):
            arguments = [np.zeros(wrong) if i == j else x for j, x in enumerate(at.arguments(name))]
            with pytest.raises(ArgumentError, match=rf"^{letter} has shape .*, expected \(\.\.\., {width}\)"):
                kernel(*arguments)


@pytest.mark.parametrize("name", LETTERS)
def test_wrong_number_of_arguments_is_refused_with_the_right_one(tree: Robot, name: str) -> None:
    kernel = tree.kernel(name, **({"frame": "tool"} if name == "jacobian" else {}))
    arguments = States.of(tree, ()).arguments(name)
    out = np.zeros_like(kernel(*arguments))
    listed = ", ".join(LETTERS[name])
    for wrong in ((), arguments[:-1], (*arguments, out, out)):
        with pytest.raises(ArgumentError, match=rf"^{name} takes {listed} and out=, got {len(wrong)}"):
            kernel(*wrong)
    with pytest.raises(ArgumentError, match=rf"^{name} takes {listed} and out="):
        kernel(*arguments, out, out=out)
    with pytest.raises(TypeError, match="outs"):
        kernel(*arguments, outs=out)


def test_leading_axes_that_do_not_broadcast_are_refused_with_the_shapes(tree: Robot) -> None:
    with pytest.raises(ArgumentError, match=r"do not broadcast: q \(2,\), v \(3,\)"):
        tree.kernel("bias")(States.of(tree, 2).q, States.of(tree, 3).v)


def test_unknown_kernel_lists_the_known_ones(tree: Robot) -> None:
    with pytest.raises(UnknownNameError, match="no kernel named 'inertia'") as caught:
        tree.kernel("inertia")
    assert set(LETTERS) <= set(caught.value.known)


def test_jacobian_needs_a_frame_that_exists(tree: Robot) -> None:
    with pytest.raises(ArgumentError, match="frame="):
        tree.kernel("jacobian")
    with pytest.raises(UnknownNameError, match="no link named 'hand'; known: l0, "):
        tree.kernel("jacobian", frame="hand")
    with pytest.raises(ArgumentError, match=r"point has shape \(2,\)"):
        tree.kernel("jacobian", frame="tool", point=(1, 2))


def test_gravity_is_baked_in(tree: Robot) -> None:
    import pinocchio as pin

    at = States.of(tree, ())
    free = ug.load(TREE, tree.base, mimic=False)
    at = States.of(free, ())
    for gravity in ((1.0, -2.0, 3.0), (0.0, 0.0, 0.0), EARTH_GRAVITY):
        model = pinocchio_model(TREE, tree.base)
        model.gravity.linear = np.array(gravity)
        expected = pin.nonLinearEffects(model, model.createData(), free.q_to_pinocchio(at.q), at.v)
        assert differs("bias", free.kernel("bias", gravity=gravity)(at.q, at.v), expected) == []
    for q in (tree.random(1), tree.random(1, 300)):  # without gravity nothing acts on a robot at rest, not even round-off
        assert not tree.kernel("bias", gravity=(0, 0, 0))(q, np.zeros(tree.nv)).any()
        assert not tree.kernel("gravity_force", gravity=(0, 0, 0))(q).any()
    with pytest.raises(ArgumentError, match=r"gravity has shape \(2,\)"):
        tree.kernel("bias", gravity=(0, 9.81))


def test_equal_requests_share_one_kernel(tree: Robot) -> None:
    assert tree.kernel("bias") is tree.kernel("bias", gravity=np.array([0, 0, -9.81]))
    assert tree.kernel("bias") is not tree.kernel("bias", gravity=(0, 0, 0))
    assert tree.kernel("mass_matrix") is tree.kernel("mass_matrix", gravity=(0, 0, 0))
    assert tree.kernel("jacobian", frame="tool") is not tree.kernel("jacobian", frame="l1")


def test_robot_without_coordinates_has_all_kernels() -> None:
    block = ug.load(robot_text(link("block", inertial(2.0, (0, 0, 1)))))
    for shape in ((), (3,), (300,)):
        nothing = np.zeros((*shape, 0))
        expected = {"mass_matrix": (0, 0), "kinetic_energy": (), "potential_energy": (), "momentum": (6,), "jacobian": (6, 0)}
        for name, letters in LETTERS.items():
            kernel = block.kernel(name, **({"frame": "block"} if name == "jacobian" else {}))
            answer = kernel(*[nothing] * len(letters))
            assert answer.shape == (*shape, *expected.get(name, (0,))), name
            assert not answer.any()


# Undefined states ------------------------------------------------------------------------------------

# Two arms from one base: what happens to one of them does not concern the other.
ARMS = random_tree(
    [
        ("a1", "revolute", "base", "a"),
        ("a2", "prismatic", "a", "b"),
        ("a3", "continuous", "b", "c"),
        ("b1", "prismatic", "base", "d"),
        ("b2", "revolute", "d", "e"),
        ("b3", "revolute", "e", "f"),
    ],
    seed=11,
)
FOREIGN = {"jacobian": {"frame": "c"}}


@pytest.fixture(scope="module")
def arms() -> Robot:
    return ug.load(ARMS)


def pinocchio_answer(name: str, at: States) -> Array:
    """The answer of Pinocchio for the two arms."""
    oracle = Oracle(ARMS, "fixed", True, EARTH_GRAVITY)
    answers = oracle.answers(at.q, at.v, at.a, at.tau, {"c": np.zeros(3)})
    assert answers.acceleration is not None
    return {
        "mass_matrix": answers.mass_matrix,
        "bias": answers.bias,
        "inverse_dynamics": answers.inverse,
        "forward_dynamics": answers.acceleration,
        "jacobian": answers.jacobians["c"],
    }[name]


def with_entry(at: States, letter: str, i: int, value: float) -> States:
    arrays = {name: getattr(at, name).copy() for name in ("q", "v", "a", "tau")}
    arrays[letter][i] = value
    return States(**arrays)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("name", "letter"),
    [(name, letter) for name in ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", "jacobian") for letter in LETTERS[name]],
)
def test_what_depends_on_an_undefined_number_is_undefined(arms: Robot, name: str, letter: str, value: float) -> None:
    """And what does not, in Pinocchio's answer, is what it was."""
    kernel = arms.kernel(name, **FOREIGN.get(name, {}))
    at = States.of(arms, (), seed=3)
    clean = pinocchio_answer(name, at)
    rng = np.random.default_rng(0)
    concerned = np.False_
    for i in range(arms.nv):
        if name == "forward_dynamics" and letter == "q" and np.isinf(value) and arms.joints[i].type == "prismatic":
            continue  # an arm of infinite length has infinite inertia, and zero is the limit of its acceleration
        moved = [pinocchio_answer(name, with_entry(at, letter, i, x)) for x in rng.uniform(-3, 3, 4)]
        depends = np.max([np.abs(x - clean) for x in moved], axis=0) > 1e-6 * largest(clean)  # far above round-off
        concerned |= depends.any()
        found = kernel(*with_entry(at, letter, i, value).arguments(name))
        assert not np.isfinite(found[depends]).any(), (i, found)
        finite = np.isfinite(found)
        np.testing.assert_allclose(found[finite], clean[finite], rtol=AGREEMENT, atol=AGREEMENT * largest(clean))
    assert concerned


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["mass_matrix", "bias", "inverse_dynamics", "jacobian"])
def test_nothing_is_undefined_that_the_reference_formulation_defines(arms: Robot, name: str, value: float) -> None:
    """Zeros of the geometry are left out of the machine code, so NaN spreads no further than in NumPy."""
    at = States.of(arms, (), seed=3)
    for i in range(arms.nv):
        bad = with_entry(at, "q", i, value)
        with np.errstate(invalid="ignore"):
            reference = {
                "mass_matrix": lambda bad=bad: ug.mass_matrix(arms, bad.q, method="explicit"),
                "bias": lambda bad=bad: ug.bias(arms, bad.q, bad.v, method="explicit"),
                "inverse_dynamics": lambda bad=bad: ug.inverse_dynamics(arms, bad.q, bad.v, bad.a, method="explicit"),
                "jacobian": lambda: np.full((6, arms.nv), np.nan),
            }[name]()
        found = arms.kernel(name, **FOREIGN.get(name, {}))(*bad.arguments(name))
        assert not (np.isfinite(reference) & ~np.isfinite(found)).any(), i


@pytest.mark.parametrize("rows", [3, 8, 300])
@pytest.mark.parametrize("name", ["mass_matrix", "bias", "forward_dynamics"])
def test_undefined_state_of_a_batch_does_not_touch_the_others(arms: Robot, name: str, rows: int) -> None:
    states = States.of(arms, rows)
    kernel = arms.kernel(name)
    clean = kernel(*states.arguments(name))
    for letter in LETTERS[name][:2]:
        for value in (np.nan, np.inf):
            arguments = [x.copy() for x in states.arguments(name)]
            arguments[LETTERS[name].index(letter)][1] = value
            found = kernel(*arguments)
            assert not np.isfinite(found[1]).all()
            others = np.arange(rows) != 1
            slack = SAME if name != "forward_dynamics" else 1e-10  # the last digit of a sine, times the condition of M
            assert (deviation(found[others], clean[others]) <= slack).all()


# Sine and cosine -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pendulums() -> Call:
    """(a, b) -> (sin a, -cos b): the torques that hold a pendulum that hangs at zero and one that sticks out."""
    robot = ug.load(
        robot_text(
            link("wall"),
            point_mass("hangs", 1.0, (0, 0, -1)),
            point_mass("sticks", 1.0, (1, 0, 0)),
            joint("a", "continuous", "wall", "hangs", axis=(0, 1, 0)),
            joint("b", "continuous", "wall", "sticks", axis=(0, 1, 0)),
        )
    )
    return robot.kernel("gravity_force", gravity=(0, 0, -1))


def trigonometric_error(kernel: Call, angles: Array, reference: type = np.longdouble) -> float:
    """Largest error of sine and cosine, in a batch and one by one."""
    q = np.stack([angles, angles], axis=1)
    exact = np.stack([np.sin(angles.astype(reference)), -np.cos(angles.astype(reference))], axis=1)
    single, out = np.empty(q.shape), np.empty(2)
    for i, row in enumerate(q):
        single[i] = kernel(row, out)
    return float(max(np.abs(kernel(q) - exact).max(), np.abs(single - exact).max()))


def test_sine_and_cosine_are_right_to_the_last_digits(pendulums: Call) -> None:
    rng = np.random.default_rng(0)
    for scale in (1.0, 10.0, 1e3, 1e6):
        assert trigonometric_error(pendulums, rng.uniform(-scale, scale, 50_000)) <= 1e-15


def test_sine_and_cosine_are_right_around_all_multiples_of_a_right_angle(pendulums: Call) -> None:
    """There the reduced angle is what is left of the difference of two large numbers."""
    multiples = np.arange(0, 636_620) * (np.pi / 2)
    assert multiples[-1] < 1e6 < multiples[-1] + np.pi / 2
    for angles in (multiples[::5], np.nextafter(multiples[1::5], 2e6), -np.nextafter(multiples[2::5], 0.0)):
        assert trigonometric_error(pendulums, angles) <= 1e-15
    q = np.stack([multiples, np.nextafter(multiples, 2e6)], axis=1)
    exact = np.stack([np.sin(q[:, 0].astype(np.longdouble)), -np.cos(q[:, 1].astype(np.longdouble))], axis=1)
    assert np.abs(pendulums(q) - exact).max() <= 1e-15


def test_sine_and_cosine_agree_with_arbitrary_precision(pendulums: Call) -> None:
    """For machines whose long double is a double; the angles are the worst ones, next to multiples of a right angle."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(1)
    angles = np.concatenate([rng.integers(1, 636_619, 500) * (np.pi / 2), rng.uniform(-1e6, 1e6, 500), [0.5, 1e6, -1e6, np.pi]])
    found = pendulums(np.stack([angles, angles], axis=1))
    with mpmath.workdps(40):
        for (sine, cosine), angle in zip(found.tolist(), angles.tolist(), strict=True):
            assert abs(mpmath.sin(mpmath.mpf(angle)) - sine) <= 1e-15
            assert abs(mpmath.cos(mpmath.mpf(angle)) + cosine) <= 1e-15


def test_sine_of_tiny_angles_is_the_angle(pendulums: Call) -> None:
    tiny = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-160, 1e-30, -1e-9])
    for found in (pendulums(np.stack([tiny, tiny], axis=1)), np.stack([pendulums(np.array([x, x])) for x in tiny])):
        np.testing.assert_array_equal(found[:, 0], tiny)
        np.testing.assert_array_equal(found[:, 1], -1.0)


def test_sine_and_cosine_of_huge_angles_are_those_of_numpy(pendulums: Call) -> None:
    rng = np.random.default_rng(2)
    huge = 10.0 ** rng.uniform(6, 300, 20_000) * rng.choice([-1.0, 1.0], 20_000)
    edge = np.array([1e6, np.nextafter(1e6, 2e6), np.nextafter(1e6, 0), 1e7, 2.0**52, 2.0**1023, -(2.0**63)])
    mixed = np.where(rng.random(20_000) < 0.5, huge, rng.uniform(-3, 3, 20_000))  # both ways in one block of four states
    for angles in (huge, edge, mixed):
        assert trigonometric_error(pendulums, angles, np.float64) <= 1e-15


# Quaternions -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def carrier() -> Robot:
    """A floating robot that carries another floating body."""
    rng = np.random.default_rng(0)
    return ug.load(
        robot_text(
            *(random_link(name, rng) for name in ("ship", "arm", "boat")),
            joint("turn", "revolute", "ship", "arm", axis=(0, 0.6, 0.8)),
            joint("moor", "floating", "arm", "boat"),
        ),
        "floating",
    )


@pytest.mark.parametrize("rows", [(), 1, 3, 8, 300, 2048], ids=str)
@pytest.mark.parametrize("name", ["mass_matrix", "bias", "forward_dynamics", "potential_energy"])
@pytest.mark.parametrize("which", ["root_joint", "moor"])
def test_quaternion_that_is_no_unit_quaternion_is_refused(carrier: Robot, which: str, name: str, rows: Any) -> None:
    states = States.of(carrier, rows)
    start = carrier.joint(which).iq + 3
    for factor in (1.001, 0.5, 0.0, 1e9):
        q = states.q.copy()
        (q if rows == () else q[len(q) // 2])[start : start + 4] *= factor
        with pytest.raises(ArgumentError, match=rf"the quaternion of joint '{which}' in q has a norm off by"):
            carrier.kernel(name)(q, *states.arguments(name)[1:])


@pytest.mark.parametrize("rows", [(), 3, 8, 300], ids=str)
def test_quaternion_with_the_drift_of_an_integrator_is_accepted(carrier: Robot, rows: Any) -> None:
    at = States.of(carrier, rows)
    q = at.q.copy()
    q[..., 3:7] *= 1.0 + 1e-8
    # M is a polynomial of degree four in the quaternion
    np.testing.assert_allclose(carrier.kernel("mass_matrix")(q), carrier.kernel("mass_matrix")(at.q), atol=1e-6)


@pytest.mark.parametrize("rows", [(), 3, 8, 300], ids=str)
def test_undefined_quaternion_is_no_error(carrier: Robot, rows: Any) -> None:
    at = States.of(carrier, rows)
    q = at.q.copy()
    (q if rows == () else q[1])[3] = np.nan
    found = carrier.kernel("bias")(q, at.v)
    assert np.isnan(found if rows == () else found[1]).any()
    if rows != ():
        assert np.isfinite(np.delete(found, 1, axis=0)).all()


# Mass matrices without inverse -----------------------------------------------------------------------


def stretching() -> Robot:
    """Two massless links of 0.7 and 0.4 with a point mass at the tip: singular where they are in one line."""
    return ug.load(
        robot_text(
            link("a"),
            massless("b"),
            point_mass("c", 1.5, (0.4, 0, 0)),
            joint("first", "continuous", "a", "b", axis=(0, 0, 1)),
            joint("second", "continuous", "b", "c", axis=(0, 0, 1), xyz=(0.7, 0, 0)),
        )
    )


def stretching_acceleration(q: Array, v: Array, tau: Array) -> Array:
    """Closed form: M from the Jacobian J of the tip, h = m Jᵀ J' v; gravity acts along the axes."""
    m, l1, l2 = 1.5, 0.7, 0.4
    a, total = q[0], q[0] + q[1]
    J = np.array([[-l1 * np.sin(a) - l2 * np.sin(total), -l2 * np.sin(total)], [l1 * np.cos(a) + l2 * np.cos(total), l2 * np.cos(total)]])
    turn = v[0] + v[1]
    drift = -np.array(
        [l1 * np.cos(a) * v[0] ** 2 + l2 * np.cos(total) * turn**2, l1 * np.sin(a) * v[0] ** 2 + l2 * np.sin(total) * turn**2]
    )
    return np.asarray(np.linalg.solve(m * J.T @ J, tau - m * J.T @ drift))


@pytest.mark.parametrize("rows", [5, 300, 2050])
@pytest.mark.parametrize("public", [False, True], ids=["kernel", "function"])
def test_singular_states_are_listed_and_the_others_are_right(rows: int, public: bool) -> None:
    robot = stretching()
    rng = np.random.default_rng(rows)
    q = np.stack([rng.uniform(-3, 3, rows), rng.uniform(0.3, 2.8, rows)], axis=1)
    v, tau = rng.normal(size=(2, rows, 2))
    bad = sorted({1, rows // 2, rows - 1})
    q[bad, 1] = [0.0, np.pi, 0.0]
    out = np.full((rows, 2), 7.0)
    with pytest.raises(SingularMassMatrixError) as caught:
        ug.forward_dynamics(robot, q, v, tau, out=out) if public else robot.kernel("forward_dynamics")(q, v, tau, out)
    assert caught.value.states == tuple(bad)
    assert caught.value.joints == ("first", "second")
    assert np.isnan(out[bad]).all()
    for row in set(range(rows)) - set(bad):
        # cond(M) is at most 50 / sin(0.3)^2
        np.testing.assert_allclose(out[row], stretching_acceleration(q[row], v[row], tau[row]), rtol=1e-11, atol=1e-11)


def test_singular_states_of_a_batch_of_any_shape_are_counted_flat() -> None:
    q = np.array([[[0.1, 0.5], [0.2, 0.0], [0.3, 1.0]], [[0.4, np.pi], [0.5, 1.0], [0.6, 2.0]]])
    with pytest.raises(SingularMassMatrixError) as caught:
        stretching().kernel("forward_dynamics")(q, np.zeros(2), np.ones(2))
    assert caught.value.states == (1, 3)


def test_single_singular_state_has_no_index() -> None:
    with pytest.raises(SingularMassMatrixError) as caught:
        stretching().kernel("forward_dynamics")(np.array([0.3, 0.0]), np.zeros(2), np.ones(2))
    assert caught.value.states == () and caught.value.joints == ("first", "second")


@pytest.mark.parametrize("bend", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 0.0])
@pytest.mark.parametrize("first", [0.3, 1.0, 2.5])
def test_point_mass_on_three_massless_links_is_singular_however_they_bend(first: float, bend: float) -> None:
    """The tip has two freedoms and the arm three. Nearly straight links leave small pivots, which amplify the round-off of the next."""
    robot = ug.load(
        robot_text(
            link("wall"),
            massless("a"),
            massless("b"),
            point_mass("c", 1.5, (0.4, 0, 0)),
            joint("one", "continuous", "wall", "a", axis=(0, 0, 1)),
            joint("two", "continuous", "a", "b", axis=(0, 0, 1), xyz=(0.7, 0, 0)),
            joint("three", "continuous", "b", "c", axis=(0, 0, 1), xyz=(0.5, 0, 0)),
        )
    )
    q = np.array([0.3, first, bend])
    for arguments in ((q, np.zeros(3), np.ones(3)), (np.tile(q, (8, 1)), np.zeros(3), np.ones(3))):
        with pytest.raises(SingularMassMatrixError):
            print("accelerations:", robot.kernel("forward_dynamics")(*arguments))


@pytest.mark.parametrize("rows", [(), 5, 300], ids=str)
def test_massless_leaf_is_named_at_every_state(rows: Any) -> None:
    rng = np.random.default_rng(8)
    robot = ug.load(
        robot_text(
            *(random_link(f"l{i}", rng) for i in range(3)),
            massless("l3"),
            joint("a", "revolute", "l0", "l1", axis=(0, 0.6, 0.8)),
            joint("b", "revolute", "l1", "l2", xyz=(0.3, 0.1, 0.2), axis=(0.8, 0.6, 0)),
            joint("leaf", "revolute", "l2", "l3", xyz=(0.1, 0.2, 0.3), rpy=(0.5, 0.6, 0.7), axis=(0, 0, 1)),
        )
    )
    at = States.of(robot, rows)
    for call in (robot.kernel("forward_dynamics"), lambda *x: ug.forward_dynamics(robot, *x)):
        with pytest.raises(SingularMassMatrixError, match="leaf") as caught:
            call(at.q, at.v, at.tau)
        assert caught.value.joints == ("leaf",)
        assert caught.value.states == (() if rows == () else tuple(range(rows)))


@pytest.mark.parametrize("ratio", [-1.0, 1.0])
def test_links_that_turn_against_each_other_on_one_axis_meet_no_inertia(ratio: float) -> None:
    """The second link turns by q + ratio q: at -1 it stands still, and the mass matrix is zero in every digit."""
    robot = ug.load(
        robot_text(
            link("base"),
            massless("hub"),
            link("ring", inertial(2.0, (0.3, 0.1, 0))),
            joint("turn", "continuous", "base", "hub", axis=(0, 0, 1)),
            joint("back", "continuous", "hub", "ring", f'<mimic joint="turn" multiplier="{ratio}"/>', axis=(0, 0, 1)),
        )
    )
    call = robot.kernel
    if ratio < 0.0:
        with pytest.raises(SingularMassMatrixError, match="turn"):
            call("forward_dynamics")([0.3], [0.0], [1.0])
    else:
        inertia = 4.0 * (0.1 + 2.0 * (0.3**2 + 0.1**2))
        np.testing.assert_allclose(call("forward_dynamics")([0.3], [0.0], [1.0]), [1.0 / inertia], rtol=1e-14)


@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.3, 0.1, -0.2)], ids=str)
@pytest.mark.parametrize("moments", [(0.1, 0.1, 0.1), (0.5, 0.1, 0.3), (0.2, 0.4, 0.2)], ids=str)
def test_parallelogram_has_a_constant_inertia(moments: tuple[float, ...], com: tuple[float, ...]) -> None:
    """A tip that keeps its orientation moves as a point on a circle, whatever its own inertia; M is a constant of the program."""
    robot = ug.load(
        robot_text(
            link("base"),
            link("bar", inertial(1.0, (0.2, 0, 0), moments=(0.02, 0.03, 0.04))),
            link("tip", inertial(2.0, com, moments=moments)),
            joint("lift", "continuous", "base", "bar", axis=(0, 1, 0)),
            joint("level", "continuous", "bar", "tip", '<mimic joint="lift" multiplier="-1"/>', axis=(0, 1, 0), xyz=(0.4, 0, 0)),
        )
    )
    inertia = 0.03 + 1.0 * 0.2**2 + 2.0 * 0.4**2
    for q in (0.0, 0.3, -2.0):
        np.testing.assert_allclose(robot.kernel("mass_matrix")([q]), [[inertia]], rtol=1e-14)
        weight = -9.81 * (1.0 * 0.2 + 2.0 * 0.4) * np.cos(q)  # about +y a positive angle lowers the bar
        np.testing.assert_allclose(robot.kernel("bias")([q], [1.5]), [weight], atol=1e-14)
        np.testing.assert_allclose(robot.kernel("forward_dynamics")([q], [1.5], [2.0]), [(2.0 - weight) / inertia], rtol=1e-13)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("moment", [1e-9, 1e-12])
def test_gram_sized_finger_on_a_heavy_base_works(moment: float, base: str) -> None:
    import pinocchio as pin

    text = robot_text(
        link("body", inertial(100.0, (0.1, 0, 0.2), moments=(10, 12, 14))),
        link("arm", inertial(20.0, (0.3, 0, 0), moments=(1, 1.5, 2))),
        link("finger", inertial(1e-3, (0, 0, 0), moments=(moment, moment, moment))),
        joint("shoulder", "revolute", "body", "arm", axis=(0, 0.6, 0.8), xyz=(0.5, 0, 0)),
        joint("knuckle", "revolute", "arm", "finger", axis=(0.6, 0, 0.8), xyz=(1.0, 0, 0), rpy=(0.1, 0.2, 0.3)),
    )
    robot, model = ug.load(text, base), pinocchio_model(text, base)
    data = model.createData()
    at = States.of(robot, 300)
    at.tau[:, -1] *= moment
    batch = robot.kernel("forward_dynamics")(at.q, at.v, at.tau)
    for i in range(20):
        expected = pin.aba(model, data, robot.q_to_pinocchio(at.q[i]), at.v[i], at.tau[i])
        for found in (robot.kernel("forward_dynamics")(at.q[i], at.v[i], at.tau[i]), batch[i]):
            # h of the finger is a difference of terms of order m r v^2 = 1e-3, good to 1e-18; divided by the moment
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-16 / moment)


# Processes and threads -------------------------------------------------------------------------------


def run_python(script: str, timeout: float = 120.0, **environment: str) -> str:
    """What a script prints in a process of its own."""
    everything = {**os.environ, "PYTHONPATH": str(PACKAGE), "URDF_GIBBS_CACHE": "", "PYTHONWARNINGS": "ignore", **environment}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout, env=everything)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


MEMORY = f"""
import numpy as np, urdf_gibbs as ug

def memory(which):  # getrusage would count what the parent process held before this one began
    [line] = [line for line in open("/proc/self/status") if line.startswith(which)]
    return int(line.split()[1]) * 1024

robot = ug.load({str(PANDA)!r})
bias = robot.kernel("bias")
rows = 1_000_000
bias(np.zeros((300, robot.nq)), np.zeros((300, robot.nv)))  # compile
q, v = np.ones((rows, robot.nq)), np.ones((rows, robot.nv))
out = np.ones((rows, robot.nv)) if GIVEN else None
before = memory("VmRSS")
result = bias(q, v, out=out)
print(memory("VmHWM") - before, result.nbytes, float(result[-1, 1]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident memory is read from /proc")
@pytest.mark.parametrize("given", [True, False], ids=["out", "no-out"])
def test_million_states_need_little_more_than_input_and_output(given: bool) -> None:
    grown, output, value = run_python(MEMORY.replace("GIVEN", str(given))).split()
    assert np.isfinite(float(value))
    assert int(grown) - (0 if given else int(output)) < 64 * 2**20


@pytest.mark.usefixtures("_threads_restored")
def test_other_threads_run_during_a_large_batch() -> None:
    ug.set_threads(1)
    robot = one_by_one("fixed", "bias")[0]
    kernel = robot.kernel("bias")
    q, v = np.ones((500_000, robot.nq)), np.ones((500_000, robot.nv))
    out = np.empty_like(v)
    kernel(q[:300], v[:300], out[:300])
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    begin = time.perf_counter()
    kernel(q, v, out)
    end = time.perf_counter()
    stop.set()
    other.join()
    during = sum(begin < tick < end for tick in ticks)
    assert during >= 5, f"{during} ticks of 1 ms in {end - begin:.3f} s"  # one or two would come with the lock held throughout


def test_threads_that_request_a_kernel_at_once_get_the_same_one_and_it_works() -> None:
    robot = ug.load(TREE, "floating")
    states = States.of(robot, 300)
    expected = ug.load(TREE, "floating").kernel("bias")(states.q, states.v)
    gate = threading.Barrier(8)
    kernels: list[Call] = []
    wrong: list[str] = []

    def ask(i: int) -> None:
        gate.wait()
        try:
            kernel = robot.kernel("bias")
            kernels.append(kernel)
            for _ in range(3):
                batch = kernel(states.q, states.v)  # all of them also ask for the code for batches
                single = kernel(states.q[i], states.v[i])
                if not (np.array_equal(batch, expected) and deviation(single[None], expected[i : i + 1])[0] <= SAME):
                    wrong.append(f"thread {i}")
        except Exception as problem:
            wrong.append(f"thread {i}: {problem!r}")

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(kernels) == 8 and len({id(kernel) for kernel in kernels}) == 1


def test_threads_that_request_different_kernels_at_once_get_all_of_them() -> None:
    robot = ug.load(TREE)
    gate = threading.Barrier(5)
    found: dict[str, Array] = {}
    at = States.of(robot, ())

    def ask(name: str) -> None:
        gate.wait()
        found[name] = robot.kernel(name)(*at.arguments(name))

    names = ["mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", "momentum"]
    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == set(names)
    np.testing.assert_allclose(found["mass_matrix"] @ found["forward_dynamics"] + found["bias"], at.tau, atol=1e-10)  # cond(M) below 1e4


FORKED = f"""
import multiprocessing, numpy as np, urdf_gibbs as ug
ug.set_threads(2)
robot = ug.load({str(ug.model_path("planar3r"))!r})
kernel = robot.kernel("bias")
q, v = np.ones((1_000_000, robot.nq)), np.ones((1_000_000, robot.nv))  # work enough for two threads
kernel(q, v)
child = multiprocessing.get_context("fork").Process(target=kernel, args=(q, v))
child.start()
child.join(10)
print("stuck" if child.exitcode is None else child.exitcode)
child.kill()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_process_runs_large_batches_too() -> None:
    """The threads of the parent do not exist in the child."""
    assert run_python(FORKED, timeout=60.0) == "0"


WARM = f"""
import hashlib, numpy as np, urdf_gibbs as ug
from urdf_gibbs.engine import objects
if FORBIDDEN:
    def never(*_):
        raise RuntimeError("compiled")
    objects._compile = never
robot = ug.load({str(PANDA)!r})
rng = np.random.default_rng(0)
q, v, tau = robot.random(rng, 300), *rng.normal(size=(2, 300, robot.nv))
answers = [robot.kernel("mass_matrix")(q), robot.kernel("bias")(q, v), robot.kernel("forward_dynamics")(q[0], v[0], tau[0])]
print(hashlib.sha256(b"".join(answer.tobytes() for answer in answers)).hexdigest())
"""


def test_second_process_finds_the_machine_code_of_the_first(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="RuntimeError: compiled"):
        run_python(WARM.replace("FORBIDDEN", "True"), URDF_GIBBS_CACHE=str(tmp_path))
    first = run_python(WARM.replace("FORBIDDEN", "False"), URDF_GIBBS_CACHE=str(tmp_path))
    assert run_python(WARM.replace("FORBIDDEN", "True"), URDF_GIBBS_CACHE=str(tmp_path)) == first
