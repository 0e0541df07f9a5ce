"""The base class of kernels: converts and broadcasts arguments, fills ``out``, and explains wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import Array as Array
from urdf_gibbs.arguments import check_out, wide
from urdf_gibbs.dynamics.evaluate import CHUNK
from urdf_gibbs.engine.quantities import Options, inputs_of, shape_of, width_of
from urdf_gibbs.errors import ArgumentError, SingularMassMatrixError
from urdf_gibbs.robot.manifold import quaternion_error
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import idle_velocities, joints_of


class Kernel:
    """A quantity of one robot. ``general`` takes any arguments: it converts, broadcasts, and explains wrong ones."""

    def __init__(self, robot: Robot, name: str, options: Options) -> None:
        self.robot, self.name, self.options = robot, name, options
        self.letters = inputs_of(name, options)
        self.widths = tuple(width_of(robot, letter) for letter in self.letters)
        self.shape = shape_of(robot, name, options)
        self.size = int(np.prod(self.shape))
        self.entry: Callable[..., Array] = self.general

    def general(self, *arguments: Any, out: Array | None = None) -> Array:
        """Compute for any valid arguments: the inputs, and out as the last one or by name."""
        if len(arguments) == len(self.letters) + 1 and out is None:
            *inputs, out = arguments
        else:
            inputs = list(arguments)
        if len(inputs) != len(self.letters):
            raise ArgumentError(f"{self.name} takes {', '.join(self.letters)} and out=, got {len(inputs)} arrays")
        arrays = [wide(value, width, letter) for value, width, letter in zip(inputs, self.widths, self.letters, strict=True)]
        batch = self._batch_shape(arrays)
        shape = (*batch, *self.shape)
        if out is not None:
            check_out(out, shape)
        rows = int(np.prod(batch))
        flat = [np.ascontiguousarray(np.broadcast_to(x, (*batch, x.shape[-1])).reshape(rows, x.shape[-1])) for x in arrays]
        direct = out is not None and _is_plain_array(out) and not any(np.may_share_memory(out, x) for x in flat)
        result = out if direct and out is not None else np.empty(shape)
        error = self._fill(flat, result.reshape(rows, self.size), batch) if rows else None
        if out is not None and result is not out:
            out[...] = result
        if error is not None:
            raise error
        return result if out is None else out

    def _batch_shape(self, arrays: list[Array]) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            listed = ", ".join(f"{letter} {array.shape[:-1]}" for letter, array in zip(self.letters, arrays, strict=True))
            raise ArgumentError(f"the leading axes do not broadcast: {listed}") from None

    def _fill(self, flat: list[Array], result: Array, batch: tuple[int, ...]) -> Exception | None:
        """Compute all rows. Returns an exception if some of them fail; the others are filled."""
        raise NotImplementedError

    def _quaternion_error(self, q: Array) -> Exception:
        joint, error = quaternion_error(self.robot.joints, q)
        return ArgumentError(f"the quaternion of joint {joint!r} in q has a norm off by {error:.3g}, expected 1 (order x y z w)")

    def _solve_forward(
        self, flat: list[Array], result: Array, batch: tuple[int, ...], rows: NDArray[np.intp] | None = None
    ) -> Exception | None:
        """Forward dynamics with pivoting, state by state (all, or ``rows``): ill-conditioned states are solved, singular ones reported."""
        robot = self.robot
        mass_matrix, bias = self.companion("mass_matrix"), self.companion("bias")
        singular: list[int] = []
        velocities: set[int] = set()
        chosen = np.arange(len(result)) if rows is None else rows
        for start in range(0, len(chosen), CHUNK):
            part = chosen[start : start + CHUNK]
            q, v, tau, *extra = (x[part] for x in flat)  # extra: inertial parameters or gravity, if they are inputs
            own = [x[:, 3:] if self.options.free_gravity else x for x in extra] if self.options.parametric else []
            M, h = mass_matrix(q, *own), bias(q, v, *extra)
            for i, row in enumerate(part):
                idle = idle_velocities(robot, q[i], M[i])
                if idle:
                    singular.append(int(row))
                    velocities.update(idle)
                result[row] = np.nan if idle or not np.isfinite(M[i]).all() else _solve_scaled(M[i], tau[i] - h[i])
        if not singular:
            return None
        return SingularMassMatrixError(joints_of(robot, sorted(velocities)), singular if batch else ())

    def companion(self, name: str) -> Callable[..., Array]:
        """The kernel of another quantity with the same options."""
        raise NotImplementedError


def _solve_scaled(M: Array, force: Array) -> Array:
    """M^-1 force. Scaled by the diagonal, so that it does not depend on units: a gram-sized finger on a 100 kg base is well posed."""
    size = np.sqrt(np.abs(np.diag(M)))
    size[size == 0.0] = 1.0
    return np.asarray(np.linalg.solve(M / np.outer(size, size), force / size) / size)


def _is_plain_array(out: Array) -> bool:
    return out.dtype == np.float64 and out.dtype.isnative and out.flags.c_contiguous and out.flags.writeable and out.flags.aligned
