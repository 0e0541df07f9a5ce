"""The public functions: batches, broadcasting, arguments, external forces, and mass matrices without inverse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import ArrayLike, NDArray
from urdf_text import (
    inertial,
    joint,
    link,
    massless,
    pinocchio_mass_matrix,
    pinocchio_model,
    point_mass,
    random_link,
    random_tree,
    robot,
)

import urdf_gibbs
from urdf_gibbs import (
    ArgumentError,
    Robot,
    SingularMassMatrixError,
    UnknownNameError,
    UrdfWarning,
    bias,
    centre_of_mass,
    forward_dynamics,
    frame_placement,
    gravity_force,
    inverse_dynamics,
    jacobian,
    kinetic_energy,
    load,
    mass_matrix,
    momentum,
    potential_energy,
)

Array = NDArray[np.float64]
ROUND_OFF = 1e-11  # a few thousand operations on numbers of order ten, eps = 2e-16
METHODS = ("gibbs_appell", "explicit")

TREE = random_tree(
    [
        ("a", "revolute", "l0", "l1"),
        ("b", "continuous", "l1", "l2"),
        ("c", "fixed", "l2", "tool"),
        ("d", "prismatic", "l1", "l3"),
        ("e", "revolute", "l3", "l4"),
        ("f", "fixed", "l0", "stand"),
    ],
    seed=21,
)


def quiet(source: str, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load(source, **options)


@pytest.fixture(scope="module", params=["fixed", "floating", "planar"])
def tree(request: pytest.FixtureRequest) -> Robot:
    return quiet(TREE, base=request.param)


@pytest.fixture(scope="module")
def floating() -> Robot:
    return quiet(TREE, base="floating")


# Every public function of a state, as f(robot, q, v, a), and the shape of its answer for one state.
FUNCTIONS: dict[str, tuple[Callable[..., Array], Callable[[Robot], tuple[int, ...]]]] = {
    **{f"mass_matrix {m}": (lambda r, q, v, a, m=m: mass_matrix(r, q, method=m), lambda r: (r.nv, r.nv)) for m in METHODS},
    **{f"bias {m}": (lambda r, q, v, a, m=m: bias(r, q, v, method=m), lambda r: (r.nv,)) for m in METHODS},
    "gravity_force": (lambda r, q, v, a: gravity_force(r, q), lambda r: (r.nv,)),
    "inverse_dynamics": (lambda r, q, v, a: inverse_dynamics(r, q, v, a), lambda r: (r.nv,)),
    "forward_dynamics": (lambda r, q, v, a: forward_dynamics(r, q, v, a), lambda r: (r.nv,)),
    "kinetic_energy": (lambda r, q, v, a: kinetic_energy(r, q, v), lambda r: ()),
    "potential_energy": (lambda r, q, v, a: potential_energy(r, q), lambda r: ()),
    "centre_of_mass": (lambda r, q, v, a: centre_of_mass(r, q), lambda r: (3,)),
    "momentum": (lambda r, q, v, a: momentum(r, q, v), lambda r: (6,)),
    "jacobian": (lambda r, q, v, a: jacobian(r, q, "tool", (0.1, 0.2, 0.3)), lambda r: (6, r.nv)),
    "jacobian of the stand": (lambda r, q, v, a: jacobian(r, q, "stand"), lambda r: (6, r.nv)),
    "frame_placement": (lambda r, q, v, a: frame_placement(r, q, "tool"), lambda r: (4, 4)),
    "frame_placement of the stand": (lambda r, q, v, a: frame_placement(r, q, "stand"), lambda r: (4, 4)),
}
by_name = pytest.mark.parametrize("name", FUNCTIONS, ids=lambda name: name.replace(" ", "-"))


def states(robot_: Robot, shape: tuple[int, ...], seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return robot_.random(rng, shape), rng.normal(size=(*shape, robot_.nv)), rng.normal(size=(*shape, robot_.nv))


# Batches ---------------------------------------------------------------------------------------------


@by_name
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3)], ids=str)
def test_batch_equals_its_states_one_by_one(name: str, shape: tuple[int, ...], tree: Robot) -> None:
    function, single = FUNCTIONS[name]
    q, v, a = states(tree, shape)
    batch = function(tree, q, v, a)
    assert isinstance(batch, np.ndarray if shape or single(tree) else float)
    batch = np.asarray(batch)
    assert (batch.shape, batch.dtype) == ((*shape, *single(tree)), np.float64)
    for index in np.ndindex(shape):
        one = function(tree, q[index], v[index], a[index])
        # The same sums, but NumPy's sine may differ from the C library's in the last place; solving amplifies it by cond(M).
        np.testing.assert_allclose(batch[index], one, rtol=1e-10, atol=ROUND_OFF)


@by_name
def test_an_empty_batch_gives_an_empty_result(name: str, floating: Robot) -> None:
    function, single = FUNCTIONS[name]
    for shape in ((0,), (2, 0)):
        assert function(floating, *states(floating, shape)).shape == (*shape, *single(floating))


def test_batch_larger_than_a_chunk_equals_its_states() -> None:
    robot_ = quiet(robot(link("a"), link("b", inertial(1.0, (0.1, 0.2, 0.3))), joint("j", "continuous", "a", "b", axis=(0.6, 0, 0.8))))
    count = urdf_gibbs.dynamics.evaluate.CHUNK + 3
    q, v, _ = states(robot_, (count,))
    h = bias(robot_, q, v)
    assert h.shape == (count, 1)
    for index in (0, count - 4, count - 3, count - 1):
        np.testing.assert_allclose(h[index], bias(robot_, q[index], v[index]), atol=ROUND_OFF)


@pytest.mark.parametrize(
    "name", ["bias gibbs_appell", "bias explicit", "inverse_dynamics", "forward_dynamics", "kinetic_energy", "momentum"]
)
@pytest.mark.parametrize(
    ("of_q", "of_v", "of_a"),
    [((), (4,), ()), ((4,), (), ()), ((), (), (4,)), ((3, 1), (4,), ()), ((1,), (3, 4), (3, 1)), ((2, 1, 1), (1, 3, 1), (4,))],
    ids=str,
)
def test_leading_axes_broadcast(name: str, of_q: tuple[int, ...], of_v: tuple[int, ...], of_a: tuple[int, ...], floating: Robot) -> None:
    function, single = FUNCTIONS[name]
    q, v, a = states(floating, of_q)[0], states(floating, of_v, 1)[1], states(floating, of_a, 2)[2]
    uses_a = name in ("inverse_dynamics", "forward_dynamics")
    shape = np.broadcast_shapes(of_q, of_v, of_a if uses_a else ())
    answer = np.asarray(function(floating, q, v, a))
    assert answer.shape == (*shape, *single(floating))
    full = [np.broadcast_to(x, (*shape, x.shape[-1])) if uses_a or i < 2 else x for i, x in enumerate((q, v, a))]
    for index in np.ndindex(shape):
        one = function(floating, full[0][index], full[1][index], full[2][index] if uses_a else a)
        np.testing.assert_allclose(answer[index], one, rtol=1e-10, atol=ROUND_OFF)


def test_lists_and_integers_are_states_too() -> None:
    robot_ = quiet(TREE)
    np.testing.assert_array_equal(
        bias(robot_, [0, 1, 2, 3], [1, 0, 0, 1]), bias(robot_, np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0, 1.0]))
    )


def test_state_that_is_not_contiguous_is_read_right(tree: Robot) -> None:
    q, v, _ = states(tree, (6,))
    wide = np.repeat(q, 2, axis=0)[::2]
    np.testing.assert_array_equal(mass_matrix(tree, np.asfortranarray(wide)), mass_matrix(tree, q))
    np.testing.assert_array_equal(bias(tree, q[::-1], v[::-1]), bias(tree, q, v)[::-1])


def test_arguments_are_left_alone(tree: Robot) -> None:
    q, v, a = states(tree, (3,))
    before = [x.copy() for x in (q, v, a)]
    for x in (q, v, a):
        x.flags.writeable = False
    for function, _ in FUNCTIONS.values():
        function(tree, q, v, a)
    for x, old in zip((q, v, a), before, strict=True):
        np.testing.assert_array_equal(x, old)


# out= ------------------------------------------------------------------------------------------------

WITH_OUT: dict[str, Callable[..., Array]] = {
    "mass_matrix": lambda r, q, v, a, **k: mass_matrix(r, q, **k),
    "bias": lambda r, q, v, a, **k: bias(r, q, v, **k),
    "gravity_force": lambda r, q, v, a, **k: gravity_force(r, q, **k),
    "inverse_dynamics": lambda r, q, v, a, **k: inverse_dynamics(r, q, v, a, **k),
    "forward_dynamics": lambda r, q, v, a, **k: forward_dynamics(r, q, v, a, **k),
    "jacobian": lambda r, q, v, a, **k: jacobian(r, q, "tool", **k),
}
with_out = pytest.mark.parametrize("name", WITH_OUT)


@with_out
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)], ids=str)
def test_out_is_filled_and_returned(name: str, shape: tuple[int, ...], floating: Robot) -> None:
    function = WITH_OUT[name]
    q, v, a = states(floating, shape)
    expected = function(floating, q, v, a)
    out = np.full(expected.shape, np.nan)
    assert function(floating, q, v, a, out=out) is out
    np.testing.assert_array_equal(out, expected)
    strided = np.full((*expected.shape, 2), np.nan)[..., 0]
    assert function(floating, q, v, a, out=strided) is strided
    np.testing.assert_array_equal(strided, expected)


def test_out_may_be_an_argument(floating: Robot) -> None:
    q, v, tau = states(floating, (4,))
    expected = forward_dynamics(floating, q, v, tau)
    np.testing.assert_array_equal(forward_dynamics(floating, q, v, tau, out=tau), expected)


@with_out
def test_out_of_wrong_shape_is_refused(name: str, floating: Robot) -> None:
    q, v, a = states(floating, (4,))
    with pytest.raises(ArgumentError, match=r"^out has shape \(4, 99\), expected \(4, "):
        WITH_OUT[name](floating, q, v, a, out=np.zeros((4, 99)))


@with_out
def test_out_that_would_lose_the_fractions_is_refused(name: str, floating: Robot) -> None:
    """As NumPy's own out= does."""
    q, v, a = states(floating, ())
    integers = np.zeros(WITH_OUT[name](floating, q, v, a).shape, dtype=int)
    with pytest.raises(ArgumentError, match="out"):
        WITH_OUT[name](floating, q, v, a, out=integers)


# Wrong arguments -------------------------------------------------------------------------------------


@by_name
@pytest.mark.parametrize("wrong", [(3,), (), (2, 99), (0,)], ids=str)
def test_q_of_wrong_width_is_refused(name: str, wrong: tuple[int, ...], floating: Robot) -> None:
    with pytest.raises(ArgumentError, match=rf"^q has shape .*expected \(\.\.\., {floating.nq}\)"):
        FUNCTIONS[name][0](floating, np.ones(wrong), np.zeros(floating.nv), np.zeros(floating.nv))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda r, q, v, bad: bias(r, q, bad), "v"),
        (lambda r, q, v, bad: inverse_dynamics(r, q, bad, v), "v"),
        (lambda r, q, v, bad: inverse_dynamics(r, q, v, bad), "a"),
        (lambda r, q, v, bad: forward_dynamics(r, q, bad, v), "v"),
        (lambda r, q, v, bad: forward_dynamics(r, q, v, bad), "tau"),
        (lambda r, q, v, bad: kinetic_energy(r, q, bad), "v"),
        (lambda r, q, v, bad: momentum(r, q, bad), "v"),
        (lambda r, q, v, bad: bias(r, q, v, gravity=bad), "gravity"),
        (lambda r, q, v, bad: gravity_force(r, q, gravity=bad), "gravity"),
        (lambda r, q, v, bad: potential_energy(r, q, gravity=bad), "gravity"),
        (lambda r, q, v, bad: forward_dynamics(r, q, v, v, gravity=bad), "gravity"),
        (lambda r, q, v, bad: jacobian(r, q, "tool", bad), "point"),
        (lambda r, q, v, bad: inverse_dynamics(r, q, v, v, external={"tool": (bad, [0, 0, 0])}), "external force on tool"),
        (lambda r, q, v, bad: forward_dynamics(r, q, v, v, external={"tool": ([0, 0, 0], bad)}), "external torque on tool"),
    ],
)
@pytest.mark.parametrize("shape", [(2,), (), (4, 2)], ids=str)
def test_argument_of_wrong_shape_is_named(call: Callable[..., Any], argument: str, shape: tuple[int, ...], floating: Robot) -> None:
    with pytest.raises(ArgumentError, match=rf"^{argument} has shape "):
        call(floating, floating.neutral(), np.zeros(floating.nv), np.zeros(shape))


@pytest.mark.parametrize("name", ["bias gibbs_appell", "inverse_dynamics", "forward_dynamics", "kinetic_energy", "momentum"])
def test_leading_axes_that_do_not_broadcast_are_refused_with_the_shapes(name: str, floating: Robot) -> None:
    q, v = states(floating, (2,))[0], states(floating, (3,))[1]
    with pytest.raises(ArgumentError, match=r"(?s)q.*\(2.*v.*\(3"):
        FUNCTIONS[name][0](floating, q, v, np.zeros(floating.nv))


@pytest.mark.parametrize(
    "wrench", [(0.0, 0.0, 1.0), (np.zeros(3),), np.zeros(6), 1.0], ids=["three-numbers", "force-only", "six-numbers", "number"]
)
def test_external_force_that_is_no_pair_is_refused_with_its_link(wrench: Any, floating: Robot) -> None:
    q, v, a = states(floating, ())
    with pytest.raises(ArgumentError, match="tool"):
        inverse_dynamics(floating, q, v, a, external={"tool": wrench})


@pytest.mark.parametrize("call", [mass_matrix, bias, gravity_force, inverse_dynamics, forward_dynamics, kinetic_energy])
def test_unknown_method_lists_the_known_ones(call: Callable[..., Any], floating: Robot) -> None:
    q, v, a = states(floating, ())
    arguments = {mass_matrix: (q,), gravity_force: (q,), bias: (q, v), kinetic_energy: (q, v)}.get(call, (q, v, a))
    with pytest.raises(UnknownNameError, match=r"no method named 'newton'; known: .*gibbs_appell.*explicit"):
        call(floating, *arguments, method="newton")


@pytest.mark.parametrize(
    "call",
    [
        lambda r, q, v: jacobian(r, q, "nobody"),
        lambda r, q, v: frame_placement(r, q, "nobody"),
        lambda r, q, v: inverse_dynamics(r, q, v, v, external={"nobody": (np.zeros(3), np.zeros(3))}),
        lambda r, q, v: forward_dynamics(r, q, v, v, external={"nobody": (np.zeros(3), np.zeros(3))}),
    ],
    ids=["jacobian", "frame_placement", "inverse_dynamics", "forward_dynamics"],
)
def test_unknown_link_lists_the_known_ones(call: Callable[..., Any], floating: Robot) -> None:
    with pytest.raises(UnknownNameError, match="no link named 'nobody'; known: l0, l1, l2, tool, l3, l4, stand"):
        call(floating, floating.neutral(), np.zeros(floating.nv))


@by_name
def test_quaternion_that_is_no_unit_quaternion_is_refused(name: str, floating: Robot) -> None:
    q, v, a = states(floating, (3,))
    q[1, 3:7] *= 1.001
    with pytest.raises(ArgumentError, match=r"quaternion of joint 'root_joint' in q has a norm off by 0\.001"):
        FUNCTIONS[name][0](floating, q, v, a)


def test_quaternion_with_an_integrators_drift_is_accepted(floating: Robot) -> None:
    q = floating.random(0)
    q[3:7] *= 1 + 1e-8
    assert np.isfinite(mass_matrix(floating, q)).all()


def test_undefined_state_does_not_hide_the_wrong_quaternion_of_another(floating: Robot) -> None:
    q = floating.random(0, 3)
    q[0] = np.nan
    q[1, 3:7] *= 2.0
    with pytest.raises(ArgumentError, match="quaternion"):
        mass_matrix(floating, q)


@by_name
def test_undefined_state_gives_undefined_values_and_no_exception(name: str, tree: Robot) -> None:
    function, _ = FUNCTIONS[name]
    q, v, a = states(tree, (3,))
    q[1] = np.nan
    answer = function(tree, q, v, a)
    if "stand" not in name or tree.base != "fixed":  # the stand of a fixed robot stands wherever the joints are
        assert np.isnan(answer[1]).any()
        assert np.isnan(function(tree, q[1], v[1], a[1])).any()
    for index in (0, 2):
        np.testing.assert_allclose(answer[index], function(tree, q[index], v[index], a[index]), rtol=1e-10, atol=ROUND_OFF)


@pytest.mark.parametrize("shape", [(), (2,)], ids=str)
def test_undefined_velocity_gives_undefined_accelerations(shape: tuple[int, ...], tree: Robot) -> None:
    q, v, tau = states(tree, shape)
    assert np.isnan(bias(tree, q, v * np.nan)).any()
    assert np.isnan(forward_dynamics(tree, q, v * np.nan, tau)).all()
    assert np.isnan(forward_dynamics(tree, q, v, tau * np.nan)).all()


# Physics against Pinocchio ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, 0, 0), (1.0, -2.0, 3.0)], ids=str)
def test_gravity_is_the_one_that_is_given(gravity: tuple[float, float, float], method: str, tree: Robot) -> None:
    model = pinocchio_model(TREE, tree.base)
    model.gravity.linear = np.array(gravity, dtype=float)
    data = model.createData()
    q, v, a = states(tree, ())
    there = tree.q_to_pinocchio(q)
    options = {"gravity": gravity, "method": method}
    np.testing.assert_allclose(bias(tree, q, v, **options), pin.nonLinearEffects(model, data, there, v), atol=ROUND_OFF)
    np.testing.assert_allclose(gravity_force(tree, q, **options), pin.computeGeneralizedGravity(model, data, there), atol=ROUND_OFF)
    np.testing.assert_allclose(inverse_dynamics(tree, q, v, a, **options), pin.rnea(model, data, there, v, a), atol=ROUND_OFF)
    np.testing.assert_allclose(
        forward_dynamics(tree, q, v, a, **options), pin.aba(model, data, there, v, a), rtol=1e-9, atol=1e-9
    )  # cond(M) is about 1e3


def test_gravity_is_earths_unless_given(tree: Robot) -> None:
    q, v, _ = states(tree, ())
    np.testing.assert_array_equal(bias(tree, q, v), bias(tree, q, v, gravity=(0, 0, -9.81)))
    assert not np.allclose(bias(tree, q, v), bias(tree, q, v, gravity=(0, 0, 0)))


def test_energies_centre_of_mass_and_momentum_are_pinocchios(tree: Robot) -> None:
    model = pinocchio_model(TREE, tree.base)
    data = model.createData()
    for q, v in zip(tree.random(0, 3), np.random.default_rng(0).normal(size=(3, tree.nv)), strict=True):
        there = tree.q_to_pinocchio(q)
        assert kinetic_energy(tree, q, v) == pytest.approx(pin.computeKineticEnergy(model, data, there, v), rel=1e-12)
        assert potential_energy(tree, q) == pytest.approx(pin.computePotentialEnergy(model, data, there), abs=ROUND_OFF)
        np.testing.assert_allclose(centre_of_mass(tree, q), pin.centerOfMass(model, data, there), atol=ROUND_OFF)
        np.testing.assert_allclose(momentum(tree, q, v), pin.computeCentroidalMomentum(model, data, there, v).vector, atol=ROUND_OFF)


def test_base_is_included_when_asked_for() -> None:
    robot_ = quiet(
        robot(
            link("ground", inertial(3.0, (1, 2, 3))),
            link("plinth", inertial(1.0, (0, 0, 1))),
            link("arm", inertial(2.0, (0.5, 0, 0))),
            joint("f", "fixed", "ground", "plinth", xyz=(1, 0, 0)),
            joint("j", "continuous", "plinth", "arm", axis=(0, 0, 1)),
        )
    )
    q = [np.pi / 2]
    np.testing.assert_allclose(centre_of_mass(robot_, q), [1.0, 0.5, 0.0], atol=1e-15)
    mean = (3.0 * np.array([1, 2, 3]) + 1.0 * np.array([1, 0, 1]) + 2.0 * np.array([1, 0.5, 0])) / 6.0
    np.testing.assert_allclose(centre_of_mass(robot_, q, include_base=True), mean, atol=1e-15)
    assert potential_energy(robot_, q) == pytest.approx(0.0, abs=1e-15)
    assert potential_energy(robot_, q, include_base=True) == pytest.approx(9.81 * (3.0 * 3 + 1.0 * 1), rel=1e-15)
    assert potential_energy(robot_, q, include_base=True, gravity=(0, -1, 0)) == pytest.approx(3.0 * 2 + 2.0 * 0.5, rel=1e-15)


def test_base_of_a_free_robot_is_included_anyway(floating: Robot) -> None:
    q = floating.random(0, 3)
    np.testing.assert_array_equal(centre_of_mass(floating, q), centre_of_mass(floating, q, include_base=True))


def test_robot_without_moving_mass_has_no_centre_of_mass() -> None:
    robot_ = quiet(robot(link("a"), massless("b"), joint("j", "continuous", "a", "b", axis=(0, 0, 1))))
    with pytest.raises(ArgumentError, match="no mass"):
        centre_of_mass(robot_, [0.0])
    np.testing.assert_array_equal(centre_of_mass(robot_, [0.0], include_base=True), np.zeros(3))
    np.testing.assert_array_equal(momentum(robot_, [0.0], [1.0]), np.zeros(6))


@pytest.mark.parametrize("method", METHODS)
def test_external_forces_are_pinocchios_converted_to_joint_frames(method: str, tree: Robot) -> None:
    """Pinocchio takes forces in the frame of the joint that carries the link; ours act at the link's origin in world axes."""
    model = pinocchio_model(TREE, tree.base)
    data = model.createData()
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v, a = states(tree, (), int(rng.integers(1000)))
        there = tree.q_to_pinocchio(q)
        external = {name: (rng.normal(size=3), rng.normal(size=3)) for name in ("tool", "l4", "l1", "stand")}
        pin.framesForwardKinematics(model, data, there)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(model.njoints)])
        for name, (force, torque) in external.items():
            frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
            in_world_axes = pin.SE3(data.oMf[model.getFrameId(name, pin.FrameType.BODY)].rotation, np.zeros(3))
            in_link = in_world_axes.actInv(pin.Force(force, torque))
            forces[frame.parentJoint] = forces[frame.parentJoint] + frame.placement.act(in_link)
        tau = inverse_dynamics(tree, q, v, a, external=external, method=method)
        np.testing.assert_allclose(tau, pin.rnea(model, data, there, v, a, forces), atol=ROUND_OFF)
        expected = pin.aba(model, data, there, v, tau, forces)
        np.testing.assert_allclose(
            forward_dynamics(tree, q, v, tau, external=external, method=method), expected, rtol=1e-9, atol=1e-9
        )  # cond(M) about 1e3


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)], ids=str)
def test_forward_and_inverse_dynamics_undo_each_other(shape: tuple[int, ...], tree: Robot) -> None:
    q, v, a = states(tree, shape)
    rng = np.random.default_rng(0)
    external = {"tool": (rng.normal(size=(*shape, 3)), rng.normal(size=3)), "l3": (np.zeros(3), rng.normal(size=(*shape, 3)))}
    tau = inverse_dynamics(tree, q, v, a, external=external)
    np.testing.assert_allclose(forward_dynamics(tree, q, v, tau, external=external), a, rtol=1e-9, atol=1e-9)  # cond(M) is about 1e3
    assert not np.allclose(tau, inverse_dynamics(tree, q, v, a))


def test_batch_of_external_forces_acts_on_one_state(tree: Robot) -> None:
    q, v, a = states(tree, ())
    forces = np.random.default_rng(0).normal(size=(5, 3))
    tau = inverse_dynamics(tree, q, v, a, external={"tool": (forces, np.zeros(3))})
    assert tau.shape == (5, tree.nv)
    np.testing.assert_allclose(tau[3], inverse_dynamics(tree, q, v, a, external={"tool": (forces[3], np.zeros(3))}), atol=ROUND_OFF)


def test_force_on_what_is_fixed_to_the_world_moves_nothing() -> None:
    robot_ = quiet(TREE)
    q, v, a = states(robot_, ())
    pushed = inverse_dynamics(robot_, q, v, a, external={"stand": ([1, 2, 3], [4, 5, 6])})
    np.testing.assert_array_equal(pushed, inverse_dynamics(robot_, q, v, a))


def test_empty_external_forces_are_none(tree: Robot) -> None:
    q, v, a = states(tree, (2,))
    np.testing.assert_array_equal(inverse_dynamics(tree, q, v, a, external={}), inverse_dynamics(tree, q, v, a))


def test_a_robot_without_coordinates_gives_empty_arrays() -> None:
    robot_ = quiet(robot(link("a", inertial(2.0, (0, 0, 1)))))
    for shape in ((), (3,)):
        nothing = np.zeros((*shape, 0))
        assert mass_matrix(robot_, nothing).shape == (*shape, 0, 0)
        assert bias(robot_, nothing, nothing).shape == (*shape, 0)
        assert forward_dynamics(robot_, nothing, nothing, nothing).shape == (*shape, 0)
        assert inverse_dynamics(robot_, nothing, nothing, nothing).shape == (*shape, 0)
        assert jacobian(robot_, nothing, "a").shape == (*shape, 6, 0)
        np.testing.assert_array_equal(kinetic_energy(robot_, nothing, nothing), np.zeros(shape))
        np.testing.assert_allclose(potential_energy(robot_, nothing, include_base=True), np.full(shape, 2.0 * 9.81), rtol=1e-15)


# Mass matrices without inverse -----------------------------------------------------------------------


def refused(robot_: Robot, q: ArrayLike, tau: ArrayLike | None = None) -> SingularMassMatrixError:
    """The error, or the accelerations that should not exist."""
    q = np.asarray(q, dtype=float)
    force = np.ones(robot_.nv) if tau is None else tau
    with pytest.raises(SingularMassMatrixError) as caught:
        print("accelerations:", forward_dynamics(robot_, q, np.zeros(robot_.nv), force))
    assert all(name in str(caught.value) for name in caught.value.joints)
    return caught.value


def arm(*last: str) -> str:
    """A sound two-link arm to which the last parts are added at l2."""
    rng = np.random.default_rng(8)
    return robot(
        *(random_link(f"l{i}", rng) for i in range(3)),
        joint("a", "revolute", "l0", "l1", rpy=(0.1, 0.2, 0.3), axis=(0, 0.6, 0.8)),
        joint("b", "revolute", "l1", "l2", xyz=(0.3, 0.1, 0.2), rpy=(0.3, 0.2, 0.1), axis=(0.8, 0.6, 0)),
        *last,
    )


OBLIQUE = np.array([1.0, 2.0, -2.0]) / 3.0
SKEW = np.array([0.3, -0.7, 1.1]) / np.linalg.norm([0.3, -0.7, 1.1])
HINGE: dict[str, Any] = {"xyz": (0.2, -0.3, 0.4), "rpy": (0.5, 0.6, 0.7)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
@pytest.mark.parametrize("axis", [(0, 0, 1), OBLIQUE, SKEW], ids=["z", "oblique", "skew"])
def test_massless_leaf_is_named(axis: ArrayLike, kind: str, method: str) -> None:
    robot_ = quiet(arm(massless("l3"), joint("leaf", kind, "l2", "l3", axis=axis, **HINGE)))
    for q in robot_.random(0, 5):
        with pytest.raises(SingularMassMatrixError) as caught:
            forward_dynamics(robot_, q, np.zeros(3), np.ones(3), method=method)
        assert (caught.value.joints, caught.value.states) == (("leaf",), ())


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_massless_leaf_of_several_freedoms_is_named(kind: str) -> None:
    robot_ = quiet(arm(massless("l3"), joint("leaf", kind, "l2", "l3", axis=(0, 0, 1), **HINGE)))
    assert refused(robot_, robot_.random(0)).joints == ("leaf",)


@pytest.mark.parametrize("axis", [(0, 0, 1), OBLIQUE, SKEW], ids=["z", "oblique", "skew"])
@pytest.mark.parametrize("distance", [0.0, 1e-3, 0.7, 100.0])
def test_point_mass_on_its_own_axis_is_named(axis: ArrayLike, distance: float) -> None:
    """Its entry of M is round-off rather than zero where the axis is oblique."""
    robot_ = quiet(arm(point_mass("l3", 2.0, distance * np.asarray(axis)), joint("spin", "revolute", "l2", "l3", axis=axis, **HINGE)))
    for q in robot_.random(0, 20):
        assert refused(robot_, q).joints == ("spin",)


@pytest.mark.parametrize("axis", [(0, 0, 1), OBLIQUE, SKEW], ids=["z", "oblique", "skew"])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_point_mass_that_slides_along_the_axis_of_its_hinge_is_named(axis: ArrayLike, scale: float) -> None:
    """It is on the axis wherever the slide stands, so the hinge meets no inertia there either."""
    robot_ = quiet(
        robot(
            link("a"),
            massless("b"),
            point_mass("c", 2.0, (0, 0, 0)),
            joint("hinge", "continuous", "a", "b", axis=axis, **HINGE),
            joint("slide", "prismatic", "b", "c", axis=axis, limit=""),
        )
    )
    for q in np.random.default_rng(0).uniform(-1, 1, (10, 2)) * [3.0, scale]:
        assert refused(robot_, q).joints == ("hinge",)


@pytest.mark.parametrize("normal", [(0, 0, 1), OBLIQUE, SKEW], ids=["z", "oblique", "skew"])
@pytest.mark.parametrize("angle", [0.0, 0.3, -2.0])
def test_stretched_massless_arm_with_a_point_mass_is_named(normal: ArrayLike, angle: float) -> None:
    """Two links of length 0.7 and 0.4 in one line: turning them against each other leaves the tip where it is."""
    along = np.cross(normal, (0.3, 0.5, 0.1))
    along /= np.linalg.norm(along)
    robot_ = quiet(
        robot(
            link("a"),
            massless("b"),
            point_mass("c", 1.5, 0.4 * along),
            joint("first", "continuous", "a", "b", axis=normal, rpy=(0.5, 0.6, 0.7)),
            joint("second", "continuous", "b", "c", axis=normal, xyz=0.7 * along),
        )
    )
    assert refused(robot_, [angle, 0.0]).joints == ("first", "second")
    assert refused(robot_, [angle, np.pi]).joints == ("first", "second")
    bent = forward_dynamics(robot_, [angle, 0.3], [0.0, 0.0], [1.0, -1.0])
    np.testing.assert_allclose(inverse_dynamics(robot_, [angle, 0.3], [0.0, 0.0], bent), [1.0, -1.0], atol=1e-9)


@pytest.mark.parametrize("joints", [4, 7, 15])
def test_point_mass_at_the_end_of_a_massless_chain_is_singular_everywhere(joints: int) -> None:
    """A point has three freedoms, and the chain more."""
    rng = np.random.default_rng(joints)
    parts = [link("l0"), *(massless(f"l{i}") for i in range(1, joints)), point_mass(f"l{joints}", 1.0, rng.normal(size=3))]
    parts += [
        joint(f"j{i}", "continuous", f"l{i}", f"l{i + 1}", xyz=rng.normal(size=3), rpy=rng.normal(size=3), axis=rng.normal(size=3))
        for i in range(joints)
    ]
    robot_ = quiet(robot(*parts))
    for q in robot_.random(0, 10):
        refused(robot_, q)


@pytest.mark.parametrize("com", [(0, 0, 0), (0.3, -0.4, 0.5)], ids=["at-its-frame", "beside-its-frame"])
def test_floating_point_mass_is_named(com: ArrayLike) -> None:
    robot_ = quiet(robot(point_mass("a", 2.0, com)), base="floating")
    for q in robot_.random(0, 10):
        assert refused(robot_, q).joints == ("root_joint",)


def test_only_the_joints_that_meet_no_inertia_are_named() -> None:
    """Two faults in two branches."""
    robot_ = quiet(
        arm(
            massless("l3"),
            joint("leaf", "revolute", "l2", "l3", axis=(0, 0, 1), **HINGE),
            point_mass("l4", 1.0, (0, 0, 0.5)),
            joint("spin", "revolute", "l1", "l4", axis=(0, 0, 1), **HINGE),
            random_link("l5", np.random.default_rng(0)),
            joint("sound", "revolute", "l1", "l5", axis=(0, 0, 1), **HINGE),
        )
    )
    for q in robot_.random(0, 10):
        assert set(refused(robot_, q).joints) == {"leaf", "spin"}


def test_massless_mimic_joint_is_no_fault() -> None:
    robot_ = quiet(arm(massless("l3"), joint("leaf", "revolute", "l2", "l3", '<mimic joint="b"/>', axis=(0, 0, 1), **HINGE)))
    q, v, tau = states(robot_, ())
    np.testing.assert_allclose(inverse_dynamics(robot_, q, v, forward_dynamics(robot_, q, v, tau)), tau, atol=1e-9)


def stretching() -> Robot:
    return quiet(
        robot(
            link("a"),
            massless("b"),
            point_mass("c", 1.5, (0.4, 0, 0)),
            joint("first", "continuous", "a", "b", axis=(0, 0, 1)),
            joint("second", "continuous", "b", "c", axis=(0, 0, 1), xyz=(0.7, 0, 0)),
        )
    )


def test_batch_lists_the_states_that_are_singular() -> None:
    q = np.array([[0.1, 0.5], [0.2, 0.0], [0.3, 1.0], [0.4, np.pi]])
    error = refused(stretching(), q)
    assert (error.joints, error.states) == (("first", "second"), (1, 3))
    assert "states 1, 3" in str(error)
    assert refused(stretching(), q.reshape(2, 2, 2)).states == (1, 3)


def test_states_are_counted_in_the_batch_of_the_result() -> None:
    """q (2, 1) against tau (3,) makes six states; the second q makes the last three of them singular."""
    q = np.array([[[0.1, 0.5]], [[0.2, 0.0]]])
    assert refused(stretching(), q, np.ones((3, 2))).states == (3, 4, 5)


def test_regular_states_of_a_batch_work_without_the_singular_ones() -> None:
    robot_ = stretching()
    q = np.array([[0.1, 0.5], [0.3, 1.0]])
    a = forward_dynamics(robot_, q, np.zeros(2), np.ones(2))
    np.testing.assert_allclose(inverse_dynamics(robot_, q, np.zeros(2), a), np.ones((2, 2)), atol=1e-9)


def test_undefined_state_does_not_hide_a_singular_one() -> None:
    q = np.array([[np.nan, 0.5], [0.2, 0.0]])
    assert refused(stretching(), q).states == (1,)


@pytest.mark.parametrize("bend", [1e-1, 1e-2, 1e-3])
def test_nearly_stretched_arm_still_works(bend: float) -> None:
    """det M = (m l1 l2 sin)^2; the closed form of the motion that bends it is well known."""
    robot_ = stretching()
    q = np.array([0.0, bend])
    a = forward_dynamics(robot_, q, np.zeros(2), np.array([1.0, -1.0]), gravity=(0, 0, 0))
    m, l1, l2, c = 1.5, 0.7, 0.4, np.cos(bend)
    M = m * np.array([[l1**2 + l2**2 + 2 * l1 * l2 * c, l2**2 + l1 * l2 * c], [l2**2 + l1 * l2 * c, l2**2]])
    determinant = (m * l1 * l2 * np.sin(bend)) ** 2
    inverse = np.array([[M[1, 1], -M[0, 1]], [-M[0, 1], M[0, 0]]]) / determinant
    np.testing.assert_allclose(a, inverse @ [1.0, -1.0], rtol=1e-15 * 1e3 / bend**2)  # cond(M) is about 50 / bend^2


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("moment", [1e-9, 1e-12])
def test_gram_sized_finger_on_a_heavy_base_agrees_with_pinocchio(moment: float, base: str) -> None:
    """The finger's inertia is eleven and more orders below the base's, and its motion is as well posed as any."""
    text = robot(
        link("body", inertial(100.0, (0.1, 0, 0.2), moments=(10, 12, 14))),
        link("arm", inertial(20.0, (0.3, 0, 0), moments=(1, 1.5, 2))),
        link("finger", inertial(1e-3, (0, 0, 0), moments=(moment, moment, moment))),
        joint("shoulder", "revolute", "body", "arm", axis=(0, 0.6, 0.8), xyz=(0.5, 0, 0)),
        joint("knuckle", "revolute", "arm", "finger", axis=(0.6, 0, 0.8), xyz=(1.0, 0, 0), rpy=(0.1, 0.2, 0.3)),
    )
    robot_, model = quiet(text, base=base), pinocchio_model(text, base)
    data = model.createData()
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = robot_.random(rng), rng.normal(size=robot_.nv)
        tau = rng.normal(size=robot_.nv)
        tau[-1] *= moment
        a = forward_dynamics(robot_, q, v, tau)
        # h of the finger is a difference of terms of order m r v^2 = 1e-3, good to 1e-18; divided by the moment.
        np.testing.assert_allclose(a, pin.aba(model, data, robot_.q_to_pinocchio(q), v, tau), rtol=1e-9, atol=1e-17 / moment)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_verdict_does_not_depend_on_the_unit_of_mass(factor: float) -> None:
    def scaled(com: tuple[float, float, float]) -> Robot:
        return quiet(
            robot(
                link("a"),
                link("b", inertial(3.0 * factor, (0.1, 0.2, 0.3), moments=(0.1 * factor,) * 3)),
                point_mass("c", 2.0 * factor, com),
                joint("j", "continuous", "a", "b", axis=OBLIQUE),
                joint("k", "continuous", "b", "c", axis=SKEW, **HINGE),
            )
        )

    assert refused(scaled(tuple(0.4 * SKEW)), [0.3, 0.4]).joints == ("k",)
    sound = scaled((0.1, 0.0, 0.0))
    assert np.isfinite(forward_dynamics(sound, [0.3, 0.4], [0.0, 0.0], [1.0, 1.0])).all()


def test_sound_robots_are_never_called_singular() -> None:
    """Random chains with masses over four and inertias over six orders of magnitude."""
    rng = np.random.default_rng(5)
    for links in (3, 8, 20):
        parts = [link("l0")]
        for i in range(links):
            m, moment = 10 ** rng.uniform(-3, 1), 10 ** rng.uniform(-8, -2)
            parts.append(link(f"l{i + 1}", inertial(m, rng.normal(size=3) / 3, moments=(moment,) * 3)))
            parts.append(
                joint(
                    f"j{i}", "continuous", f"l{i}", f"l{i + 1}", xyz=rng.normal(size=3) / 2, rpy=rng.normal(size=3), axis=rng.normal(size=3)
                )
            )
        text = robot(*parts)
        robot_, model = quiet(text), pinocchio_model(text)
        q, v = robot_.random(rng), np.zeros(links)
        M = pinocchio_mass_matrix(model, robot_.q_to_pinocchio(q))
        a = rng.normal(size=links)
        tau = M @ a + pin.nonLinearEffects(model, model.createData(), robot_.q_to_pinocchio(q), v)
        size = np.sqrt(np.diag(M))
        condition = np.linalg.cond(M / np.outer(size, size))
        got = forward_dynamics(robot_, q, v, tau)
        # round-off in tau, of eps times the largest weight, divided by the inertia it meets
        slack = 100 * np.finfo(float).eps * condition * (1.0 + np.abs(tau).max() / size.min() ** 2)
        np.testing.assert_allclose(got, a, atol=slack)
