"""The functions over PyTorch: the values of those over NumPy, derivatives against differences, vmap, and errors."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
import torch
from autodiff_robots import AGREEMENT, FUNCTIONS, ROBOTS, call, coordinate_change, difference, robot_of, state_of
from random_trees import random_tree

import urdf_gibbs as ug
import urdf_gibbs.torch as ugt


def tensors(*arrays: Any, grad: bool = False) -> list[torch.Tensor]:
    return [torch.tensor(x, dtype=torch.float64, requires_grad=grad) for x in arrays]


def close(found: Any, expected: Any, tolerance: float = AGREEMENT) -> bool:
    return bool(np.abs(np.asarray(found.detach()) - expected).max() <= tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(("function", "others"), FUNCTIONS.items())
def test_values_and_derivatives_of_both_kinds(name: str, function: str, others: int) -> None:
    robot = robot_of(name)
    state, ours, over_numpy = state_of(robot, others), call(ugt, function, robot), call(ug, function, robot)
    given = tensors(*state, grad=True)
    value = ours(*given)
    assert close(value, over_numpy(*state), 1e-13)  # the same code, or over NumPy plain Python
    rng = np.random.default_rng(1)
    changes = [rng.normal(size=robot.nv) for _ in state]
    expected = difference(robot, over_numpy, state, changes)
    rates = tensors(coordinate_change(robot, state[0], changes[0]), *changes[1:])
    assert close(torch.func.jvp(ours, tuple(tensors(*state)), tuple(rates))[1], expected)
    weights = torch.tensor(rng.normal(size=expected.shape))
    slopes = torch.autograd.grad(value, given, weights)
    assert close(sum((slope * rate).sum() for slope, rate in zip(slopes, rates, strict=True)), np.vdot(weights.numpy(), expected))


@pytest.mark.parametrize(("function", "others"), FUNCTIONS.items())
def test_gradcheck(function: str, others: int) -> None:
    robot = robot_of("chain")
    assert torch.autograd.gradcheck(call(ugt, function, robot), tensors(*state_of(robot, others, (2,)), grad=True), check_forward_ad=True)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_step_is_that_of_the_robot_with_derivatives_also_at_rest(name: str) -> None:
    robot = robot_of(name)
    q, v, dq, dv = state_of(robot, 3)
    for step in (v, 1e-4 * v, 0.0 * v, 3.0 * v):
        given = tensors(q, step, grad=True)
        new = ugt.integrate(robot, *given)
        assert close(new, robot.integrate(q, step), 1e-14)
        expected = difference(robot, robot.integrate, [q, step], [dq, dv])
        rates = tensors(coordinate_change(robot, q, dq), dv)
        weights = torch.linspace(1.0, 2.0, robot.nq, dtype=torch.float64)
        slopes = torch.autograd.grad(new, given, weights)
        assert close(sum((slope * rate).sum() for slope, rate in zip(slopes, rates, strict=True)), np.vdot(weights.numpy(), expected))


def test_a_gradient_has_no_part_along_the_quaternion() -> None:
    robot = robot_of("floating")
    q, v, tau = tensors(*state_of(robot, 2), grad=True)
    (slope,) = torch.autograd.grad(ugt.forward_dynamics(robot, ugt.integrate(robot, q, v), v, tau).square().sum(), q)
    own = slice(robot.joints[0].iq + 3, robot.joints[0].iq + 7)
    assert abs(slope[own] @ q[own]) < 1e-12 * slope.abs().max()
    assert slope[own].abs().max() > 1e-3  # and there is one across it


def test_vmap_is_a_loop() -> None:
    robot = robot_of("floating")
    q, v, tau = tensors(*state_of(robot, 2, (5,)))
    function = call(ugt, "forward_dynamics", robot)

    def slope(q: Any, v: Any, tau: Any) -> Any:
        return torch.func.grad(lambda q: function(q, v, tau).sum())(q)

    for one in (function, slope):
        expected = torch.stack([one(*state) for state in zip(q, v, tau, strict=True)])
        assert close(torch.func.vmap(one)(q, v, tau), expected.numpy(), 1e-12)
    assert close(torch.func.vmap(function, in_dims=(0, 1, None))(q, v.T, tau[0]), function(q, v, tau[0]).numpy(), 1e-12)
    assert close(torch.func.vmap(torch.func.jacrev(function))(q, v, tau)[2], torch.func.jacrev(function)(q[2], v[2], tau[2]).numpy(), 1e-12)


def test_another_gravity() -> None:
    robot, moon = robot_of("chain"), (0.0, 0.3, -1.62)
    q, v = state_of(robot, 1)
    (given,) = tensors(q, grad=True)
    force = ugt.bias(robot, given, v, gravity=moon)
    assert close(force, ug.bias(robot, q, v, gravity=moon), 1e-14)
    (slope,) = torch.autograd.grad(force.sum(), given)
    for i, unit in enumerate(np.eye(robot.nv)):
        assert close(slope[i], difference(robot, lambda q: ug.bias(robot, q, v, gravity=moon).sum(), [q], [unit]))


def test_states_without_an_answer_are_errors() -> None:
    robot = robot_of("floating")
    q, v = state_of(robot, 1)
    q[3:7] *= 1.1
    with pytest.raises(ug.ArgumentError, match=r"has a norm off by 0\.1"):
        ugt.bias(robot, q, v)


def test_second_derivatives_are_refused() -> None:
    robot = robot_of("chain")
    (q,) = tensors(*state_of(robot, 0), grad=True)
    (slope,) = torch.autograd.grad(ugt.gravity_force(robot, q).sum(), q, create_graph=True)
    with pytest.raises(ug.ArgumentError, match="expected first derivatives"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (torch.zeros(3), r"q has dtype torch\.float32, expected torch\.float64"),
        (torch.zeros(3, dtype=torch.bool), r"q has dtype torch\.bool"),
        (torch.zeros(4, dtype=torch.float64), r"q has shape \(4,\), expected \(\.\.\., 3\)"),
        (torch.zeros(3, dtype=torch.float64, device="meta"), r"on the device meta, expected the CPU"),
        ("abc", r"q is 'abc', expected numbers"),
    ],
)
def test_wrong_tensors(q: Any, message: str) -> None:
    with pytest.raises(ug.ArgumentError, match=message):
        ugt.mass_matrix(robot_of("chain"), q)


def test_leading_axes_that_do_not_fit() -> None:
    with pytest.raises(ug.ArgumentError, match="do not broadcast"):
        ugt.bias(robot_of("chain"), np.zeros((2, 3)), np.zeros((3, 3)))


def test_memory_is_neither_written_nor_shared() -> None:
    robot = robot_of("chain")
    q, v, tau = tensors(*state_of(robot, 2, (4,)))
    strided = torch.stack([v, tau], -1)[..., 0]  # every second number
    before = [x.clone() for x in (q, v, tau)]
    first = ugt.forward_dynamics(robot, q, strided, tau)
    second = ugt.forward_dynamics(robot, q, v, tau)
    assert torch.equal(first, second) and first.data_ptr() != second.data_ptr()
    assert all(torch.equal(x, y) for x, y in zip((q, v, tau), before, strict=True))


def test_a_graph_outlives_its_robot() -> None:
    robot = ug.load(random_tree(8, 3, ("revolute",), branching=1))
    state = tensors(*state_of(robot, 2), grad=True)
    total = ugt.forward_dynamics(robot, *state).sum()
    expected = ug.forward_dynamics_vjp(robot, *(x.detach().numpy() for x in state), np.ones(robot.nv))
    del robot
    gc.collect()
    for found, wanted in zip(torch.autograd.grad(total, state), expected, strict=True):
        assert close(found, wanted, 1e-14)
