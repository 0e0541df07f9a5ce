"""The functions of the package over tensors of PyTorch: autograd, forward derivatives and ``torch.func`` (vmap), by compiled kernels.

Tensors are float64 on the CPU; their memory is read without a copy where they are contiguous. The robot and gravity are constants.

Derivatives with respect to q are with respect to its nq entries. For the quaternion of a floating joint a gradient has no part along the
quaternion, as if its length did not matter: it is the gradient in the tangent space of unit quaternions. Second derivatives are refused.
Errors are those of the functions over NumPy: a quaternion that is not unit, a singular mass matrix.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import shown
from urdf_gibbs.autodiff.coordinates import Library, from_tangent, moved, to_tangent
from urdf_gibbs.autodiff.kernels import inverse_product, no_second, of_frame, same_options, under_gravity, weightless_product
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.robot.derived import check_robot
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

with extras_named():
    import torch

__all__ = ["bias", "forward_dynamics", "frame_placement", "gravity_force", "integrate", "inverse_dynamics", "jacobian", "mass_matrix"]

LIBRARY = Library(lambda entries: torch.stack(torch.broadcast_tensors(*entries), -1), torch.where, torch.sqrt)
Tensors = Sequence[Any]


def mass_matrix(robot: Robot, q: Any) -> torch.Tensor:
    """Joint-space inertia matrix M, full and symmetric.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).

    Returns:
        M (..., nv, nv) [kg, kg m, kg m^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    return _call(*under_gravity(robot, "mass_matrix", EARTH_GRAVITY), q)


def bias(robot: Robot, q: Any, v: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> torch.Tensor:
    """Coriolis, centrifugal and gravity forces h: tau = M a + h.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        h (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    return _call(*under_gravity(robot, "bias", gravity), q, v)


def gravity_force(robot: Robot, q: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> torch.Tensor:
    """The part of h that gravity makes.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        Generalised forces (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    return _call(*under_gravity(robot, "gravity_force", gravity), q)


def inverse_dynamics(robot: Robot, q: Any, v: Any, a: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> torch.Tensor:
    """The generalised forces that make an acceleration: tau = M a + h.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        a: Accelerations (..., nv).
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        tau (..., nv) [N m, N].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    return _call(*under_gravity(robot, "inverse_dynamics", gravity), q, v, a)


def forward_dynamics(robot: Robot, q: Any, v: Any, tau: Any, *, gravity: ArrayLike = EARTH_GRAVITY) -> torch.Tensor:
    """The acceleration that forces make: M a + h = tau.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities (..., nv).
        tau: Generalised forces (..., nv) [N m, N].
        gravity: (3,) in the world [m/s^2], a constant.

    Returns:
        a (..., nv) [rad/s^2, m/s^2].

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        SingularMassMatrixError: M has no inverse.
    """
    return _call(*under_gravity(robot, "forward_dynamics", gravity), q, v, tau)


def jacobian(robot: Robot, q: Any, frame: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> torch.Tensor:
    """Jacobian of a point of a link, linear rows first, in world axes.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.
        point: (3,) in the link's frame [m], a constant.

    Returns:
        J (..., 6, nv).

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        UnknownNameError: There is no such link.
    """
    return _call(of_frame(robot, "jacobian", frame, point), (), q)


def frame_placement(robot: Robot, q: Any, frame: str) -> torch.Tensor:
    """Placement of a link in the world.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        frame: Name of the link.

    Returns:
        Homogeneous matrices (..., 4, 4).

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
        UnknownNameError: There is no such link.
    """
    return _call(of_frame(robot, "placement", frame), (), q)


def integrate(robot: Robot, q: Any, v: Any) -> torch.Tensor:
    """q (+) v, the configuration after a unit of time with constant velocities v; for a step of dt, ``integrate(robot, q, dt * v)``.

    Args:
        robot: Made by ``load``.
        q: Coordinates (..., nq).
        v: Velocities times time (..., nv).

    Returns:
        New coordinates (..., nq), quaternions unit.

    Raises:
        ArgumentError: An argument has a wrong type, shape or value.
    """
    check_robot(robot)
    q, v = _together(_tensor(q, robot.nq, "q"), _tensor(v, robot.nv, "v"))
    result: torch.Tensor = moved(robot, LIBRARY, q, v)
    return result


def _call(kernel: Kernel, gravity: tuple[float, ...], *inputs: Any) -> torch.Tensor:
    tensors = [_tensor(x, width, letter) for x, width, letter in zip(inputs, kernel.widths, kernel.letters, strict=False)]
    if gravity:
        tensors.append(torch.tensor(gravity, dtype=torch.float64))
    return _run(kernel, *_together(*tensors))


def _run(kernel: Kernel, *tensors: Any) -> Any:
    return Call.apply(kernel, *tensors)


def _tensor(values: Any, width: int, name: str) -> torch.Tensor:
    """A tensor (..., width) of float64 on the CPU; whole numbers are converted, floats of fewer digits are a mistake."""
    if not isinstance(values, torch.Tensor):
        try:
            values = torch.as_tensor(np.asarray(values))
        except (TypeError, ValueError):
            raise ArgumentError(f"{name} is {shown(values)}, expected numbers (..., {width})") from None
    if values.ndim == 0 or values.shape[-1] != width:
        raise ArgumentError(f"{name} has shape {tuple(values.shape)}, expected (..., {width})")
    if values.device.type != "cpu":
        raise ArgumentError(f"{name} is on the device {values.device}, expected the CPU")
    if values.dtype != torch.float64:
        if values.dtype.is_floating_point or values.dtype.is_complex or values.dtype == torch.bool:
            raise ArgumentError(f"{name} has dtype {values.dtype}, expected torch.float64")
        values = values.to(torch.float64)
    return values


def _together(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """With the same leading axes."""
    first = tensors[0].shape[:-1]
    if all(x.shape[:-1] == first for x in tensors):
        return list(tensors)
    try:
        batch = torch.broadcast_shapes(*(x.shape[:-1] for x in tensors))
    except RuntimeError:
        raise ArgumentError(f"the leading axes do not broadcast: {', '.join(str(tuple(x.shape[:-1])) for x in tensors)}") from None
    return [x.expand((*batch, x.shape[-1])) for x in tensors]


# derivatives --------------------------------------------------------------------------------------------


class Call(torch.autograd.Function):
    """A kernel of inputs (..., width) whose leading axes agree."""

    @staticmethod
    def forward(kernel: Kernel, *inputs: Any) -> Any:
        return torch.from_numpy(np.asarray(kernel.entry(*(x.detach().contiguous().numpy() for x in inputs))))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        kernel, *tensors = inputs
        ctx.kernel = kernel
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, weights: Any) -> Any:
        kernel, inputs = ctx.kernel, ctx.saved_tensors
        count = _differentiated(kernel)
        if kernel.name not in BACKWARD:
            raise no_second(kernel)
        slope, *others = BACKWARD[kernel.name](kernel, inputs[:count], weights, inputs[count:])
        return None, from_tangent(kernel.robot, LIBRARY, inputs[0], slope), *others, *[None] * (len(inputs) - count)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        kernel, inputs = ctx.kernel, ctx.saved_tensors
        count = _differentiated(kernel)
        if kernel.name not in FORWARD:
            raise no_second(kernel)
        changes = [torch.zeros_like(x) if t is None else t for x, t in zip(inputs[:count], tangents, strict=False)]
        changes[0] = to_tangent(kernel.robot, LIBRARY, inputs[0], changes[0])
        return FORWARD[kernel.name](kernel, inputs[:count], changes, inputs[count:])

    @staticmethod
    def vmap(info: Any, axes: Any, kernel: Kernel, *inputs: Any) -> Any:
        first = [
            x.expand((info.batch_size, *x.shape)) if axis is None else x.movedim(axis, 0) for x, axis in zip(inputs, axes[1:], strict=True)
        ]
        return _run(kernel, *first), 0


# PyTorch asks for it in every call, and finding it takes as long as the rest.
Call.forward.__signature__ = inspect.signature(Call.forward)  # type: ignore[attr-defined]


def _differentiated(kernel: Kernel) -> int:
    """How many inputs have derivatives: all but gravity."""
    return len(kernel.letters) - kernel.options.free_gravity


def _inverse_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    return _run(inverse_product(kernel, "vjp"), *state, w, *extra).unbind(-2)


def _forward_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    return _run(same_options(kernel, "forward_dynamics_vjp"), *state, w, *extra).unbind(-2)


def _bias_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    """h = ID(q, v, 0)."""
    return _inverse_backward(kernel, (*state, torch.zeros_like(state[1])), w, extra)[:2]


def _gravity_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    """ID(q, 0, 0), less the strain of elastic links, which is there without gravity as well."""
    still = torch.zeros_like(w)
    slope = _inverse_backward(kernel, (*state, still, still), w, extra)[0]
    return (slope - _strain_backward(kernel, state[0], w) if kernel.robot.is_flexible else slope,)


def _strain_backward(kernel: Kernel, q: Any, w: Any) -> Any:
    still = torch.zeros_like(w)
    return _run(weightless_product(kernel.robot, "vjp"), q, still, still, w).unbind(-2)[0]


def _mass_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    """Column j of M is the force of a unit acceleration j at rest without gravity, less that of strain."""
    (q,) = state
    columns = w.transpose(-1, -2)
    unit = torch.eye(w.shape[-1], dtype=torch.float64).expand(columns.shape)
    rows = q.unsqueeze(-2).expand((*columns.shape[:-1], q.shape[-1]))
    slope = _run(weightless_product(kernel.robot, "vjp"), rows, torch.zeros_like(columns), unit, columns)[..., 0, :].sum(-2)
    return (slope - _strain_backward(kernel, q, columns.sum(-2)) if kernel.robot.is_flexible else slope,)


def _jacobian_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    return (torch.einsum("...rij,...ri->...j", _run(same_options(kernel, "jacobian_derivatives"), *state), w),)


def _placement_backward(kernel: Kernel, state: Tensors, w: Any, extra: Tensors) -> Any:
    """Transposed: the frame moves with J dq = (p', omega), R' = omega x R."""
    J, T = _run(same_options(kernel, "jacobian"), *state), _run(kernel, *state)
    turning = torch.linalg.cross(T[..., :3, :3], w[..., :3, :3], dim=-2).sum(-1)
    return (torch.einsum("...ij,...i->...j", J, torch.cat([w[..., :3, 3], turning], -1)),)


def _inverse_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    return _run(inverse_product(kernel, "jvp"), *state, *changes, *extra)


def _forward_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    return _run(same_options(kernel, "forward_dynamics_jvp"), *state, *changes, *extra)


def _bias_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    still = torch.zeros_like(state[1])
    return _inverse_along(kernel, (*state, still), (*changes, still), extra)


def _gravity_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    still = torch.zeros_like(changes[0])
    force = _inverse_along(kernel, (*state, still, still), (*changes, still, still), extra)
    return force - _strain_along(kernel, state[0], changes[0]) if kernel.robot.is_flexible else force


def _strain_along(kernel: Kernel, q: Any, dq: Any) -> Any:
    still = torch.zeros_like(dq)
    return _run(weightless_product(kernel.robot, "jvp"), q, still, still, dq, still, still)


def _mass_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    (q,), (dq,) = state, changes
    shape = (*dq.shape[:-1], dq.shape[-1], dq.shape[-1])
    still, unit = torch.zeros(shape, dtype=torch.float64), torch.eye(shape[-1], dtype=torch.float64).expand(shape)
    rows = [x.unsqueeze(-2).expand((*shape[:-1], x.shape[-1])) for x in (q, dq)]
    M = _run(weightless_product(kernel.robot, "jvp"), rows[0], still, unit, rows[1], still, still)
    return M - _strain_along(kernel, q, dq).unsqueeze(-2) if kernel.robot.is_flexible else M


def _jacobian_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    return torch.einsum("...rij,...j->...ri", _run(same_options(kernel, "jacobian_derivatives"), *state), changes[0])


def _placement_along(kernel: Kernel, state: Tensors, changes: Tensors, extra: Tensors) -> Any:
    J, T = _run(same_options(kernel, "jacobian"), *state), _run(kernel, *state)
    twist = torch.einsum("...ij,...j->...i", J, changes[0])
    spin = twist[..., 3:].unsqueeze(-1).expand(T[..., :3, :3].shape)
    top = torch.cat([torch.linalg.cross(spin, T[..., :3, :3], dim=-2), twist[..., :3].unsqueeze(-1)], -1)
    return torch.cat([top, torch.zeros((*top.shape[:-2], 1, 4), dtype=torch.float64)], -2)


Rule = Callable[[Kernel, Tensors, Any, Tensors], Any]

BACKWARD: dict[str, Rule] = {
    "mass_matrix": _mass_backward,
    "bias": _bias_backward,
    "gravity_force": _gravity_backward,
    "inverse_dynamics": _inverse_backward,
    "forward_dynamics": _forward_backward,
    "jacobian": _jacobian_backward,
    "placement": _placement_backward,
}
FORWARD: dict[str, Rule] = {
    "mass_matrix": _mass_along,
    "bias": _bias_along,
    "gravity_force": _gravity_along,
    "inverse_dynamics": _inverse_along,
    "forward_dynamics": _forward_along,
    "jacobian": _jacobian_along,
    "placement": _placement_along,
}
