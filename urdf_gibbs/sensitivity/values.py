"""What a sensitivity is as values: derivatives of the states of a motion, row by row, and the saltation matrices of its impacts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.arguments import within
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.names import Side, Theme
from urdf_gibbs.sensitivity.saltation import Saltation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives d(q, v)(t)/d(columns) of a motion in N rows; arrays are read-only. At an impact one row is before it, one after.

    Changes of q are in the tangent space, as ``robot.integrate`` adds them: of a floating joint they are (linear, angular) in its own
    frame, of all joints with one coordinate plain differences. A column of "q" or "v" is for one unit of that entry of the start, one of
    "parameters" for one unit of an inertial parameter (m [kg], m c [kg m], second moments about the body's origin [kg m^2]), of
    "restitution" for one unit of the coefficient of one contact, of "torque" for one [N m, N] of a constant torque. Contacts that are
    held from the start on stay so: columns of "q" and "v" are then for the start moved to the nearest one that keeps them, in the metric
    of M, and any change of the start that keeps them is a combination of these columns.

    Attributes:
        t: Times (N,) [s].
        values: (N, 2 nv, columns): first the rows of q, then those of v.
        columns: One name for each column: "q.<velocity>", "v.<velocity>", "<parameter>.<joint>", "restitution.<contact>",
            "torque.<velocity>".
        groups: Which columns belong to "q", "v", "parameters", "restitution" and "torque", as far as they were asked for.
        saltations: One for each impact.
        rows: One name for each row: "q.<velocity>", then "v.<velocity>".
    """

    t: Array
    values: Array
    columns: tuple[str, ...]
    groups: dict[str, slice]
    saltations: tuple[Saltation, ...]
    rows: tuple[str, ...]
    _onwards: Callable[[int, float], Array]

    @property
    def q(self) -> Array:
        """(N, nv, columns): derivatives of the coordinates, in the tangent space."""
        return self.values[:, : self.values.shape[1] // 2]

    @property
    def v(self) -> Array:
        """(N, nv, columns): derivatives of the velocities."""
        return self.values[:, self.values.shape[1] // 2 :]

    def group(self, name: str) -> Array:
        """(N, 2 nv, k): the columns of one group.

        Args:
            name: "q", "v", "parameters", "restitution" or "torque"; one that was asked for.

        Returns:
            The columns.

        Raises:
            UnknownNameError: There are no such columns.
        """
        if name not in self.groups:
            raise UnknownNameError("group of columns", name, tuple(self.groups))
        return self.values[:, :, self.groups[name]]

    def at(self, time: float, side: Side = "right") -> Array:
        """The sensitivity at any time of the motion; between rows the variational equation is integrated from the row before.

        Args:
            time: [s], of the motion.
            side: Of an impact: "right" is after it, "left" before.

        Returns:
            (2 nv, columns): first the rows of q, then those of v.

        Raises:
            ArgumentError: The time is none, or outside of the motion, or there is no such side.
        """
        if side not in ("left", "right"):
            raise ArgumentError(f'side={side!r}, expected "left" or "right"')
        time = within(time, float(self.t[0]), float(self.t[-1]), "time")
        row = int(np.searchsorted(self.t, time, side="right")) - 1
        if self.t[row] == time:
            return self.values[row if side == "right" else int(np.searchsorted(self.t, time, side="left"))].copy()
        return self._onwards(row, time)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        columns: str | Iterable[str] | None = None,
        theme: Theme = "light",
    ) -> Figure:
        """A Matplotlib figure of the columns over time, with their jumps at impacts, those of q on the left and those of v on the right.

        Args:
            path: Of a file .png, .svg or .pdf; None: it is not written.
            columns: Names of columns, or of groups of them; None: all, of many those with the largest entries at the end.
            theme: "light" or "dark".

        Returns:
            The figure.

        Raises:
            ArgumentError: An argument has a wrong type or value.
            UnknownNameError: There is no such column or theme.
            MissingExtraError: The extra ``plot`` is not installed.
        """
        with extras_named():
            from urdf_gibbs.view.plot_sensitivity import plot_sensitivity

            return plot_sensitivity(self, path, columns, theme)

    def __repr__(self) -> str:
        span = f"{self.t[0]:.9g} to {self.t[-1]:.9g} s in {len(self.t)} rows"
        return f"<Sensitivity with respect to {', '.join(self.groups)}: {span}, {len(self.saltations)} impacts>"
