"""The functions over JAX: the values of those over NumPy, derivatives against differences of them, transformations, and errors."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from autodiff_robots import AGREEMENT, FUNCTIONS, ROBOTS, call, coordinate_change, difference, robot_of, state_of
from random_trees import random_tree

import urdf_gibbs as ug
import urdf_gibbs.jax as ugj
from urdf_gibbs.autodiff.kernels import under_gravity
from urdf_gibbs.engine import quantities
from urdf_gibbs.engine.kernel import Compiled
from urdf_gibbs.engine.xla_handler import BATCH_ROWS, xla_target
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

MASSLESS = """<robot name="bare"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))


@pytest.fixture(autouse=True)
def _in_64_bits() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def close(found: Any, expected: Any, tolerance: float = AGREEMENT) -> bool:
    return bool(np.abs(np.asarray(found) - expected).max() <= tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(("function", "others"), FUNCTIONS.items())
def test_values_and_derivatives_of_both_kinds(name: str, function: str, others: int) -> None:
    robot = robot_of(name)
    state, ours = state_of(robot, others), call(ugj, function, robot)
    over_numpy = call(ug, function, robot)
    assert close(jax.jit(ours)(*state), over_numpy(*state), 1e-13)  # the same code, or over NumPy plain Python
    rng = np.random.default_rng(1)
    changes = [rng.normal(size=robot.nv) for _ in state]
    expected = difference(robot, over_numpy, state, changes)
    rates = [coordinate_change(robot, state[0], changes[0]), *changes[1:]]
    assert close(jax.jit(lambda state, rates: jax.jvp(ours, state, rates)[1])(state, rates), expected)
    weights = rng.normal(size=expected.shape)
    slopes = jax.jit(jax.grad(lambda *x: jnp.sum(weights * ours(*x)), argnums=tuple(range(len(state)))))(*state)
    assert close(sum(np.vdot(slope, rate) for slope, rate in zip(slopes, rates, strict=True)), np.vdot(weights, expected))


@pytest.mark.parametrize("name", ROBOTS)
def test_a_step_is_that_of_the_robot_with_derivatives_also_at_rest(name: str) -> None:
    robot = robot_of(name)
    q, v, dq, dv = state_of(robot, 3)
    move = jax.jit(lambda q, v: ugj.integrate(robot, q, v))
    along = jax.jit(lambda state, rates: jax.jvp(move, state, rates)[1])
    slopes = jax.jit(jax.jacrev(move, argnums=(0, 1)))
    for step in (v, 1e-4 * v, 0.0 * v, 3.0 * v):
        assert close(move(q, step), robot.integrate(q, step), 1e-14)
        expected = difference(robot, robot.integrate, [q, step], [dq, dv])
        rates = [coordinate_change(robot, q, dq), dv]
        assert close(along([q, step], rates), expected)
        rows = slopes(q, step)
        assert close(rows[0] @ rates[0] + rows[1] @ rates[1], expected)


def test_a_gradient_has_no_part_along_the_quaternion() -> None:
    robot = robot_of("floating")
    q, v, tau = state_of(robot, 2)
    slope = jax.grad(lambda q: jnp.sum(ugj.forward_dynamics(robot, ugj.integrate(robot, q, v), v, tau) ** 2))(q)
    own = slice(robot.joints[0].iq + 3, robot.joints[0].iq + 7)
    assert abs(slope[own] @ q[own]) < 1e-12 * np.abs(slope).max()
    assert np.abs(slope[own]).max() > 1e-3  # and there is one across it


@pytest.mark.parametrize("rows", [3, BATCH_ROWS + 3])
def test_vmap_is_a_loop(rows: int) -> None:
    """Below BATCH_ROWS by the code for one state, else by that for batches, also in derivatives; axes of any place."""
    robot = robot_of("floating")
    q, v, tau = state_of(robot, 2, (rows,))
    function = call(ugj, "forward_dynamics", robot)

    def slope(q: Any, v: Any, tau: Any) -> Any:
        return jax.grad(lambda q: jnp.sum(function(q, v, tau)))(q)

    expected = np.array([function(*state) for state in zip(q, v, tau, strict=True)])
    slopes = np.array([slope(*state) for state in zip(q, v, tau, strict=True)])
    assert close(jax.jit(jax.vmap(function))(q, v, tau), expected, 1e-12)
    assert close(function(q, v, tau), expected, 1e-12)
    assert close(jax.vmap(function, in_axes=(0, 1, None))(q, v.T, tau[0]), function(q, v, tau[0]), 1e-12)
    assert close(jax.jit(jax.vmap(slope))(q, v, tau), slopes, 1e-10)
    assert close(jax.vmap(lambda q: jnp.sum(ugj.mass_matrix(robot, q)))(q), ug.mass_matrix(robot, q).sum((1, 2)), 1e-12)
    assert jax.vmap(function)(q[:0], v[:0], tau[:0]).shape == (0, robot.nv)


def test_another_gravity() -> None:
    robot = robot_of("chain")
    q, v, a = state_of(robot, 2)
    moon = (0.0, 0.3, -1.62)
    assert np.array_equal(ugj.inverse_dynamics(robot, q, v, a, gravity=moon), ug.inverse_dynamics(robot, q, v, a, gravity=moon))
    slope = jax.grad(lambda q: jnp.sum(ugj.bias(robot, q, v, gravity=moon)))(q)
    for i, unit in enumerate(np.eye(robot.nv)):
        found = difference(robot, lambda q: ug.bias(robot, q, v, gravity=moon).sum(), [q], [unit])
        assert close(slope[i], found)


def test_the_gradient_of_a_rollout() -> None:
    """Of a hundred steps of the Panda, by validation/bench_autodiff.py."""
    from bench_autodiff import panda, rollout

    error, _ = rollout(ug.load(panda(), mimic=False))
    assert error < 1e-6


# errors -------------------------------------------------------------------------------------------------


def test_a_state_without_an_answer_is_an_error_with_its_reason() -> None:
    robot = robot_of("floating")
    q, v = state_of(robot, 1, (2 * BATCH_ROWS,))
    q[5, 3:7] *= 1.1
    for rows in (slice(5, 6), slice(None)):
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"ArgumentError: the quaternion of joint .* has a norm off by 0\.1"):
            jax.jit(call(ugj, "bias", robot))(q[rows], v[rows]).block_until_ready()
    massless = ug.load(MASSLESS)
    with pytest.raises(jax.errors.JaxRuntimeError, match="SingularMassMatrixError: the mass matrix is singular"):
        ugj.forward_dynamics(massless, [0.0], [0.0], [0.0]).block_until_ready()
    assert np.array_equal(ugj.bias(robot, q[0], v[0]), ug.bias(robot, q[0], v[0]))  # and it goes on


def test_second_derivatives_are_refused() -> None:
    robot = robot_of("chain")
    (q,) = state_of(robot, 0)
    function = lambda q: jnp.sum(ugj.gravity_force(robot, q))  # noqa: E731
    for second in (jax.hessian(function), jax.jacfwd(jax.jacfwd(function)), jax.jacrev(jax.jacrev(function))):
        with pytest.raises(ug.ArgumentError, match="expected first derivatives"):
            second(q)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.zeros(3, np.float32), r"q has dtype float32, expected float64"),
        (np.zeros(3, complex), r"q has dtype complex128, expected float64"),
        (np.zeros(3, bool), r"q has dtype bool, expected float64"),
        (np.zeros(4), r"q has shape \(4,\), expected \(\.\.\., 3\)"),
        (0.0, r"q has shape \(\), expected \(\.\.\., 3\)"),
        ("abc", r"q is 'abc', expected numbers"),
    ],
)
def test_wrong_arrays(q: Any, message: str) -> None:
    with pytest.raises(ug.ArgumentError, match=message):
        ugj.mass_matrix(robot_of("chain"), q)


def test_other_wrong_arguments() -> None:
    robot = robot_of("chain")
    with pytest.raises(ug.ArgumentError, match="do not broadcast"):
        ugj.bias(robot, np.zeros((2, 3)), np.zeros((3, 3)))
    with pytest.raises(ug.ArgumentError, match="robot"):
        ugj.bias("panda", np.zeros(3), np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(ug.ArgumentError, match="gravity"):
        ugj.bias(robot, np.zeros(3), np.zeros(3), gravity=(0.0, 1.0))
    with pytest.raises(ug.UnknownNameError, match="no_such"):
        ugj.jacobian(robot, np.zeros(3), "no_such")
    assert np.array_equal(ugj.mass_matrix(robot, [1, 0, 2]), ug.mass_matrix(robot, [1, 0, 2]))
    with jax.enable_x64(False), pytest.raises(ug.ArgumentError, match=r"expected float64: jax\.config\.update"):
        ugj.mass_matrix(robot, np.zeros(3))


def test_a_handler_checks_its_buffers() -> None:
    """A call that goes around the checks in Python."""
    robot = robot_of("chain")
    (q,) = state_of(robot, 0)
    jax.jit(call(ugj, "mass_matrix", robot))(q)
    name = xla_target(under_gravity(robot, "mass_matrix", EARTH_GRAVITY)[0], 1).name
    for wrong, shape in [(q.astype(np.float32), (3, 3)), (np.zeros(4), (3, 3)), (np.zeros((2, 3)), (3, 3)), (q, (2, 3)), (q, (3,))]:
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"buffers that do not fit, expected float64 q \(\.\.\., 3\)"):
            jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(shape, np.float64))(wrong)
    with pytest.raises(jax.errors.JaxRuntimeError, match="do not fit"):
        jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((3, 3), np.float64))(q, q)


def test_kernels_without_machine_code_are_called_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for very large robots: values, derivatives and errors, from XLA's threads."""
    robot = ug.load(random_tree(6, 4, ("revolute", "prismatic"), mimic=0.6))
    twin = ug.load(random_tree(6, 4, ("revolute", "prismatic"), mimic=0.6))
    q, v, tau = state_of(robot, 2, (3,))

    def slope(robot: ug.Robot) -> Any:
        return jax.jit(jax.grad(lambda q: jnp.sum(ugj.forward_dynamics(robot, q, v, tau) ** 2)))(q)

    expected = slope(robot)
    monkeypatch.setattr(quantities, "STRAIGHT_DEFAULT", 0)
    monkeypatch.setattr(quantities, "STRAIGHT", {})
    kernel = under_gravity(twin, "forward_dynamics", EARTH_GRAVITY)[0]
    assert not isinstance(kernel, Compiled)
    assert close(slope(twin), expected, 1e-10)


def test_many_threads_at_once() -> None:
    robot = robot_of("floating")
    function = jax.jit(call(ugj, "forward_dynamics", robot))
    states = [state_of(robot, 2, (rows,)) for rows in (1, 4, 40, 400)]
    expected = [ug.forward_dynamics(robot, *state) for state in states]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: function(*states[i % 4]), range(64)))
    assert all(close(values, expected[i % 4], 1e-12) for i, values in enumerate(found))


# life ---------------------------------------------------------------------------------------------------


def test_compiled_functions_outlive_their_robot() -> None:
    robot = ug.load(random_tree(8, 3, ("revolute",), branching=1))
    q, v, tau = state_of(robot, 2)
    expected = ug.forward_dynamics(robot, q, v, tau)
    compiled = jax.jit(call(ugj, "forward_dynamics", robot)).lower(q, v, tau).compile()
    del robot
    gc.collect()
    assert np.array_equal(compiled(q, v, tau), expected)


def test_inputs_are_not_written_and_results_are_their_own() -> None:
    robot = robot_of("chain")
    q, v, tau = map(jnp.array, state_of(robot, 2))
    before = np.array(tau)
    function = jax.jit(call(ugj, "forward_dynamics", robot), donate_argnums=2)
    expected = ug.forward_dynamics(robot, np.array(q), np.array(v), before)
    assert np.array_equal(jax.jit(call(ugj, "forward_dynamics", robot))(q, v, tau), expected)
    assert np.array_equal(tau, before)
    assert np.array_equal(function(q, v, tau), expected)  # memory that may be used again
    assert np.array_equal(jax.jit(lambda x: ugj.bias(robot, x, x))(v), ug.bias(robot, np.array(v), np.array(v)))


def test_the_package_imports_neither_jax_nor_torch() -> None:
    code = "import sys, urdf_gibbs; urdf_gibbs.load(urdf_gibbs.model_path('pendulum')); print({'jax', 'torch'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "set()", done.stderr


def test_another_version_of_the_interface_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from urdf_gibbs.jax.primitives import check_interface

    header = tmp_path / "xla" / "ffi" / "api" / "c_api.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define XLA_FFI_API_MAJOR 1\n")
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    with pytest.raises(ug.UrdfGibbsError, match="has version 1 of XLA's FFI, expected 0"):
        check_interface()
