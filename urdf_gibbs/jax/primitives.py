"""Two primitives of JAX: a kernel, and the product of the derivatives of the dynamics with a change, which JAX can transpose.

``kernel_p`` takes the inputs of a kernel, arrays (..., width) whose leading axes agree, and becomes a call of machine code (engine/
xla_handler.py). Its derivative is a product along a change, ``product_p``, or made of one; the transposed product is the kernel of the VJP.
So JAX has both kinds of derivative, and no mathematics of its own.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from urdf_gibbs.autodiff.coordinates import Library, to_tangent
from urdf_gibbs.autodiff.kernels import inverse_product, no_second, same_options, weightless_product
from urdf_gibbs.dynamics import scalar
from urdf_gibbs.engine.kernel_base import Kernel
from urdf_gibbs.engine.xla_handler import API_MAJOR, xla_target
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.robot.model import Robot

with extras_named():
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

LIBRARY = Library(lambda entries: jnp.stack(jnp.broadcast_arrays(*entries), -1), jnp.where, jnp.sqrt)
for kind in (jax.Array, jax.core.Tracer):
    scalar.sin.register(kind, jnp.sin)
    scalar.cos.register(kind, jnp.cos)

kernel_p = Primitive("urdf_gibbs_kernel")
product_p = Primitive("urdf_gibbs_product")
KEPT = 256  # functions compiled for calls outside of jit
CHANGES = 3  # dq, dv and the third, which follow the inputs of inverse or forward dynamics

_registered: set[str] = set()


def check_interface() -> None:
    """Raise where this jaxlib has another major version of the interface than the handlers."""
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    if not header.exists():  # XLA itself asks each handler for its version
        return
    found = re.search(r"#define XLA_FFI_API_MAJOR (\d+)", header.read_text(encoding="utf-8"))
    if found is None or int(found[1]) != API_MAJOR:
        raise UrdfGibbsError(f"jaxlib {jax.lib.__version__} has version {found and found[1]} of XLA's FFI, expected {API_MAJOR}")


# kernel_p -----------------------------------------------------------------------------------------------


def _leading(arrays: Sequence[Any]) -> tuple[int, ...]:
    shape: tuple[int, ...] = arrays[0].shape[:-1]
    return shape


def _kernel_shape(*inputs: Any, kernel: Kernel) -> Any:
    return jax.core.ShapedArray((*_leading(inputs), *kernel.shape), np.dtype(np.float64))


def _lower_kernel(context: Any, *inputs: Any, kernel: Kernel) -> Any:
    target = xla_target(kernel, prod(_leading(context.avals_in)))
    if target.name not in _registered:
        jax.ffi.register_ffi_target(target.name, jax.ffi.pycapsule(ctypes.c_void_p(target.address)), platform="cpu")
        _registered.add(target.name)
    return jax.ffi.ffi_lowering(target.name)(context, *inputs)


def _batched(primitive: Any) -> Callable[..., Any]:
    """Of vmap: its axis becomes the first of the leading axes."""

    def rule(inputs: Sequence[Any], axes: Sequence[Any], **options: Any) -> tuple[Any, int]:
        size = next(x.shape[axis] for x, axis in zip(inputs, axes, strict=True) if axis is not None)
        first = [
            jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
            for x, axis in zip(inputs, axes, strict=True)
        ]
        return primitive.bind(*first, **options), 0

    return rule


def _kernel_jvp(inputs: Sequence[Any], tangents: Sequence[Any], *, kernel: Kernel) -> tuple[Any, Any]:
    value = kernel_p.bind(*inputs, kernel=kernel)
    rule = RULES.get(kernel.name)
    if rule is None:
        raise no_second(kernel)
    changes = [_dense(t) for t in tangents[: len(kernel.letters) - kernel.options.free_gravity]]
    extra = inputs[len(changes) :]
    changes[0] = to_tangent(kernel.robot, LIBRARY, inputs[0], changes[0])
    return value, rule(kernel, inputs[: len(changes)], changes, extra)


def _dense(tangent: Any) -> Any:
    return jnp.zeros(tangent.aval.shape, np.float64) if isinstance(tangent, ad.Zero) else tangent


# The derivative of each quantity along a change; dq in tangent space.


def _along(forward: Kernel, reverse: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    return product_p.bind(*state, *changes, *extra, forward=forward, reverse=reverse)


def _weightless_along(robot: Robot, state: Sequence[Any], changes: Sequence[Any]) -> Any:
    return _along(weightless_product(robot, "jvp"), weightless_product(robot, "vjp"), state, changes, ())


def _inverse_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    return _along(inverse_product(kernel, "jvp"), inverse_product(kernel, "vjp"), state, changes, extra)


def _forward_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    forward, reverse = (same_options(kernel, f"forward_dynamics_{side}") for side in ("jvp", "vjp"))
    return _along(forward, reverse, state, changes, extra)


def _bias_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    """h = ID(q, v, 0)."""
    still = jnp.zeros_like(state[1])
    return _inverse_along(kernel, (*state, still), (*changes, still), extra)


def _gravity_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    """ID(q, 0, 0), less the strain of elastic links, which is there without gravity as well."""
    still = jnp.zeros_like(changes[0])
    force = _inverse_along(kernel, (*state, still, still), (*changes, still, still), extra)
    return force - _strain_along(kernel, state[0], changes[0]) if kernel.robot.is_flexible else force


def _strain_along(kernel: Kernel, q: Any, dq: Any) -> Any:
    still = jnp.zeros_like(dq)
    return _weightless_along(kernel.robot, (q, still, still), (dq, still, still))


def _mass_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    """Column j of M is the force of a unit acceleration j at rest without gravity, less that of strain."""
    robot, (q,), (dq,) = kernel.robot, state, changes
    shape = (*dq.shape[:-1], robot.nv, robot.nv)
    still, unit = jnp.zeros(shape), jnp.broadcast_to(jnp.eye(robot.nv), shape)
    rows = [jnp.broadcast_to(x[..., None, :], (*shape[:-1], x.shape[-1])) for x in (q, dq)]
    M = _weightless_along(robot, (rows[0], still, unit), (rows[1], still, still))
    return M - _strain_along(kernel, q, dq)[..., None, :] if robot.is_flexible else M


def _jacobian_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    matrices = kernel_p.bind(*state, kernel=same_options(kernel, "jacobian_derivatives"))
    return jnp.einsum("...rij,...j->...ri", matrices, changes[0])


def _placement_along(kernel: Kernel, state: Sequence[Any], changes: Sequence[Any], extra: Sequence[Any]) -> Any:
    """The frame moves with J dq = (p', omega): R' = omega x R."""
    J = kernel_p.bind(*state, kernel=same_options(kernel, "jacobian"))
    T = kernel_p.bind(*state, kernel=kernel)
    twist = jnp.einsum("...ij,...j->...i", J, changes[0])
    turned = jnp.cross(twist[..., 3:, None], T[..., :3, :3], axis=-2)
    top = jnp.concatenate([turned, twist[..., :3, None]], axis=-1)
    return jnp.concatenate([top, jnp.zeros((*top.shape[:-2], 1, 4))], axis=-2)


RULES: dict[str, Callable[[Kernel, Sequence[Any], Sequence[Any], Sequence[Any]], Any]] = {
    "mass_matrix": _mass_along,
    "bias": _bias_along,
    "gravity_force": _gravity_along,
    "inverse_dynamics": _inverse_along,
    "forward_dynamics": _forward_along,
    "jacobian": _jacobian_along,
    "placement": _placement_along,
}


# product_p: (three of a state, three changes, gravity where it is an input) ------------------------------


def _product_shape(*inputs: Any, forward: Kernel, reverse: Kernel) -> Any:
    return _kernel_shape(*inputs, kernel=forward)


def _lower_product(context: Any, *inputs: Any, forward: Kernel, reverse: Kernel) -> Any:
    return _lower_kernel(context, *inputs, kernel=forward)


def _product_jvp(inputs: Sequence[Any], tangents: Sequence[Any], *, forward: Kernel, reverse: Kernel) -> tuple[Any, Any]:
    """It is linear in the changes. A tangent of the state asks for second derivatives."""
    value = product_p.bind(*inputs, forward=forward, reverse=reverse)
    state, changes, extra = _split(tangents)
    if not all(isinstance(t, ad.Zero) for t in (*state, *extra)):
        raise no_second(forward)
    before, _, after = _split(inputs)
    return value, product_p.bind(*before, *map(_dense, changes), *after, forward=forward, reverse=reverse)


def _product_transpose(cotangent: Any, *inputs: Any, forward: Kernel, reverse: Kernel) -> list[Any]:
    state, changes, extra = _split(inputs)
    if any(ad.is_undefined_primal(x) for x in (*state, *extra)):
        raise no_second(forward)
    nothing: list[Any] = [None] * CHANGES
    if isinstance(cotangent, ad.Zero):
        return [*nothing, *(ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in changes), *[None] * len(extra)]
    found = kernel_p.bind(*state, cotangent, *extra, kernel=reverse)
    own = [found[..., i, :] if ad.is_undefined_primal(x) else None for i, x in enumerate(changes)]
    return [*nothing, *own, *[None] * len(extra)]


def _split(inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    return inputs[:CHANGES], inputs[CHANGES : 2 * CHANGES], inputs[2 * CHANGES :]


@lru_cache(KEPT)
def _jitted(primitive: Any, *options: tuple[str, Kernel]) -> Any:
    """For calls outside of jit: compiled once."""
    return jax.jit(lambda *inputs: primitive.bind(*inputs, **dict(options)))


def _define(primitive: Any, shape: Any, lowering: Any, jvp: Any) -> None:
    primitive.def_abstract_eval(shape)
    primitive.def_impl(lambda *inputs, **options: _jitted(primitive, *options.items())(*inputs))
    mlir.register_lowering(primitive, lowering, platform="cpu")
    batching.primitive_batchers[primitive] = _batched(primitive)
    ad.primitive_jvps[primitive] = jvp


check_interface()
_define(kernel_p, _kernel_shape, _lower_kernel, _kernel_jvp)
_define(product_p, _product_shape, _lower_product, _product_jvp)
ad.primitive_transposes[product_p] = _product_transpose
