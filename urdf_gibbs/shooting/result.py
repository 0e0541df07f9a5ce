"""What shooting found: the start and the torque, the run that they make, and the attempts on the way."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from urdf_gibbs.arguments import Array
from urdf_gibbs.extras import extras_named
from urdf_gibbs.names import Theme
from urdf_gibbs.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Attempt:
    """One run on the way.

    Attributes:
        q: Coordinates at the start (nq,).
        v: Velocities at the start (nv,).
        torque: Constant generalised forces (nv,) [N m, N].
        miss: What the impact is less what it should be, one number for each goal [s, m, m/s].
        part: Of Newton's step that led here; 1: all of it, 0: the first guess.
        trajectory: The run.
        impact: The number of the impact in ``trajectory.impacts``.
    """

    q: Array
    v: Array
    torque: Array
    miss: Array
    part: float
    trajectory: Trajectory = field(repr=False)
    impact: int

    @property
    def distance(self) -> float:
        """The length of ``miss``."""
        return float(np.linalg.norm(self.miss))


@dataclass(frozen=True, eq=False)
class Shot:
    """The result of ``shoot``; ``ug.simulate(robot, shot.q, shot.v, ..., torque=shot.torque)`` is its run again.

    Attributes:
        contact: What strikes, as in ``Trajectory.contact_names``.
        goals: What was asked for: "time", "place.x" to "place.z", "velocity.x" to "velocity.z".
        wanted: The values asked for (k,) [s, m, m/s].
        change: What was changed, as in ``Sensitivity.columns``.
        attempts: All runs on the way, from the first guess to the last, which is the result.
        converged: Whether each goal is met within the tolerance; ``shoot`` returns nothing else, but an error may hold it.
    """

    contact: str
    goals: tuple[str, ...]
    wanted: Array
    change: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    converged: bool

    @property
    def q(self) -> Array:
        """Coordinates at the start (nq,)."""
        return self.attempts[-1].q

    @property
    def v(self) -> Array:
        """Velocities at the start (nv,)."""
        return self.attempts[-1].v

    @property
    def torque(self) -> Array:
        """Constant generalised forces (nv,) [N m, N]."""
        return self.attempts[-1].torque

    @property
    def trajectory(self) -> Trajectory:
        """The run."""
        return self.attempts[-1].trajectory

    @property
    def impact(self) -> int:
        """The number of the impact in ``trajectory.impacts``."""
        return self.attempts[-1].impact

    @property
    def miss(self) -> Array:
        """What the impact is less what it should be (k,) [s, m, m/s]."""
        return self.attempts[-1].miss

    @property
    def distance(self) -> float:
        """The length of ``miss``."""
        return self.attempts[-1].distance

    def table(self) -> str:
        """The attempts.

        Returns:
            Text, a line for each: its number, the part of Newton's step, and by how much it misses.
        """
        names = [f"{name:>14}" for name in self.goals]
        lines = [f"{'attempt':>7} {'part':>8} {'misses by':>11} {' '.join(names)}"]
        for number, one in enumerate(self.attempts):
            lines.append(f"{number:>7} {one.part:>8.4g} {one.distance:>11.3g} {' '.join(f'{value:>14.6g}' for value in one.miss)}")
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] | None = None, theme: Theme = "light") -> Figure:
        """A Matplotlib figure: the ways of the contact in all attempts with the place that was asked for, and by how much each misses.

        Args:
            path: Of a file .png, .svg or .pdf; None: it is not written.
            theme: "light" or "dark".

        Returns:
            The figure.

        Raises:
            ArgumentError: An argument has a wrong type or value.
            UnknownNameError: There is no such theme.
            MissingExtraError: The extra ``plot`` is not installed.
        """
        with extras_named():
            from urdf_gibbs.view.plot_shot import plot_shot

            return plot_shot(self, path, theme)

    def __repr__(self) -> str:
        state = "hits" if self.converged else "misses"
        return f"<Shot of {self.contact}: {state} by {self.distance:.3g} in {', '.join(self.goals)}, {len(self.attempts) - 1} steps>"
