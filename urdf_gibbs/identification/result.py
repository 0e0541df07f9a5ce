"""What identification found: values with standard deviations, a table of what the data tell, and the robot that has these parameters."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, wide
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.extras import extras_named
from urdf_gibbs.identification.base_parameters import BaseParameters, combination
from urdf_gibbs.identification.feasible import scaled_eigenvalues
from urdf_gibbs.identification.least_squares import columns
from urdf_gibbs.identification.sizes import parameter_sizes
from urdf_gibbs.names import Theme
from urdf_gibbs.robot.inertial import with_parameters
from urdf_gibbs.robot.model import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KNOWN = 0.1  # of a parameter's value or natural size, whichever is larger: with a smaller standard deviation it is known
SHARE = 0.05  # of the largest weight: less is left out of the name of a combination that the data leave free
WIDTH = 80
NAME = 36


@dataclass(frozen=True, eq=False)
class Identification:
    """The result of ``identify``.

    Attributes:
        base: The base parameters, their names and how they are combined.
        values: (count,) estimated base parameters.
        deviations: (count,) their standard deviations; infinite where the data say nothing. With ``feasible`` they are those of the
            estimate without the condition.
        prior: (nb, 10) parameters before.
        parameters: (nb, 10) parameters that have these base parameters and are else as near to the prior as possible.
        friction: (nv, 2) viscous and Coulomb friction of each velocity; None where they were not asked for.
        friction_deviations: (nv, 2) their standard deviations, or None.
        free: (k, columns) combinations of base parameters (and friction) about which these data say nothing.
        condition: Condition number of the stacked regressor in natural sizes, without the free combinations.
        residual_rms: (nv,) of the measured forces about the predicted ones [N m, N].
        force_rms: (nv,) of the measured forces.
        states: How many were used.
        feasible: Whether every body was required to have a positive definite pseudo-inertia.
    """

    base: BaseParameters
    values: Array = field(repr=False)
    deviations: Array = field(repr=False)
    prior: Array = field(repr=False)
    parameters: Array = field(repr=False)
    friction: Array | None = field(repr=False)
    friction_deviations: Array | None = field(repr=False)
    free: Array = field(repr=False)
    condition: float
    residual_rms: Array = field(repr=False)
    force_rms: Array = field(repr=False)
    states: int
    feasible: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Of the base parameters, as sums."""
        return self.base.names

    @property
    def natural_sizes(self) -> Array:
        """(count,) of the base parameters: sums of m, m L and m L^2 of the bodies, as the prior has them."""
        return np.asarray(np.abs(self.base.K) @ parameter_sizes(self.prior).ravel())

    @cached_property
    def told(self) -> tuple[str, ...]:
        """What the data tell about each base parameter: "known", "weak" (a standard deviation above a tenth of its size) or "free"."""
        sizes = np.maximum(np.abs(self.values), self.natural_sizes)
        words = np.where(np.isinf(self.deviations), "free", np.where(self.deviations <= KNOWN * sizes, "known", "weak"))
        return tuple(words.tolist())

    def predict(self, Q: ArrayLike, V: ArrayLike, A: ArrayLike) -> Array:
        """Forces of other states, with friction where it was estimated.

        Args:
            Q: Coordinates (..., nq).
            V: Velocities (..., nv).
            A: Accelerations (..., nv).

        Returns:
            tau (..., nv) [N m, N].

        Raises:
            ArgumentError: An array has a wrong type or shape.
        """
        robot = self.base.robot
        q, v, a = wide(Q, robot.nq, "Q"), wide(V, robot.nv, "V"), wide(A, robot.nv, "A")
        try:
            shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], a.shape[:-1])
        except ValueError:
            raise ArgumentError(f"the leading axes do not broadcast: Q {q.shape[:-1]}, V {v.shape[:-1]}, A {a.shape[:-1]}") from None
        x = self.values if self.friction is None else np.concatenate([self.values, self.friction.T.ravel()])
        W = columns(self.base, q, np.broadcast_to(v, (*shape, robot.nv)), a, self.friction is not None)
        return np.asarray(W @ x)

    @cached_property
    def robot(self) -> Robot:
        """The robot with the identified parameters: the link that a joint moves carries all of its body, links fixed to it nothing.

        Raises:
            ArgumentError: No distribution of mass has these parameters; with ``feasible=True`` one has.
        """
        least = scaled_eigenvalues(self.parameters, self.prior)
        joints = self.base.robot.joints
        wrong = [joint.child for joint, value in zip(joints, least, strict=True) if not value > 0.0]
        if wrong:
            raise ArgumentError(
                f"no distribution of mass has the parameters found for {', '.join(wrong)}, expected positive definite pseudo-inertias: "
                "identify(..., feasible=True) finds the best ones that are (extra: identify)"
            )
        return with_parameters(self.base.robot, self.parameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the identified robot as a URDF.

        Args:
            path: Of the new file.

        Raises:
            ArgumentError: No distribution of mass has these parameters, see ``robot``; or this is no path.
        """
        self.robot.to_urdf(path)

    # the table ----------------------------------------------------------------------------------

    def table(self) -> str:
        """What was found and what the data can tell.

        Returns:
            Text of at most 80 columns.
        """
        return "\n".join([*self._head(), "", *self._parameters(), *self._friction(), *self._open(), "", *self._joints()])

    def __str__(self) -> str:
        return self.table()

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        theme: Theme = "light",
        measured: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> Figure:
        """A Matplotlib figure: what the data tell about each base parameter, and how well forces are predicted.

        Args:
            path: Of a file .png, .svg or .pdf; None: it is not written.
            theme: "light" or "dark".
            measured: (Q, V, A, tau) of states (n, nq), (n, nv), (n, nv), (n, nv), best others than those of the estimate: their forces are
                drawn over those predicted; None: root mean squares of what the estimate leaves unexplained are.

        Returns:
            The figure.

        Raises:
            ArgumentError: An argument has a wrong type, shape or value.
            UnknownNameError: There is no such theme.
            MissingExtraError: The extra ``plot`` is not installed.
        """
        with extras_named():
            from urdf_gibbs.view.plot_identification import plot_identification

            return plot_identification(self, path, theme, measured)

    def _head(self) -> list[str]:
        counted = {word: self.told.count(word) for word in ("known", "weak", "free")}
        name = self.base.robot.name or "the robot"
        return [
            f"{name}: {len(self.base)} base parameters of {self.prior.size}, from {self.states} states",
            f"{counted['known']} known, {counted['weak']} weak, {counted['free']} free; condition number {self.condition:.3g}"
            + ("; physically feasible" if self.feasible else ""),
        ]

    def _parameters(self) -> list[str]:
        lines = [f"{'base parameter':<{NAME}} {'value':>10} {'std. dev.':>9} {'prior':>10}  data", "-" * WIDTH]
        before = self.base.K @ self.prior.ravel()
        for name, value, deviation, old, told in zip(self.names, self.values, self.deviations, before, self.told, strict=True):
            lines.append(f"{shortened(name):<{NAME}} {value:>10.4g} {_deviation(deviation)} {old:>10.4g}  {told}")
        return lines

    def _friction(self) -> list[str]:
        if self.friction is None or self.friction_deviations is None:
            return []
        lines = ["", f"{'friction':<{NAME}} {'viscous':>10} {'std. dev.':>9} {'Coulomb':>10} {'std. dev.':>9}", "-" * WIDTH]
        for name, (viscous, coulomb), (first, second) in zip(
            self.base.robot.velocity_names, self.friction, self.friction_deviations, strict=True
        ):
            lines.append(f"{shortened(name):<{NAME}} {viscous:>10.4g} {_deviation(first)} {coulomb:>10.4g} {_deviation(second)}")
        return lines

    def _open(self) -> list[str]:
        if not len(self.free):
            return []
        velocities = self.base.robot.velocity_names
        friction = [f"{kind} friction of {name}" for kind in ("viscous", "Coulomb") for name in velocities]
        names = (*(self.base.parameter_names[i] for i in self.base.independent), *friction)
        lines = ["", "The model tells these apart, these data do not (they stay as in the prior):"]
        for weights in self.free:
            largest = weights / weights[np.argmax(np.abs(weights))]
            lines += wrapped(combination(largest, names, least=SHARE))
        return lines

    def _joints(self) -> list[str]:
        lines = [f"{'velocity':<{NAME}} {'rms force':>10} {'rms rest':>10} {'rest':>7}", "-" * WIDTH]
        for name, force, rest in zip(self.base.robot.velocity_names, self.force_rms, self.residual_rms, strict=True):
            share = f"{100.0 * rest / force:6.2f}%" if force > 0.0 else "      -"
            lines.append(f"{shortened(name):<{NAME}} {force:>10.4g} {rest:>10.4g} {share}")
        return lines


def _deviation(value: float) -> str:
    return f"{'-':>9}" if np.isinf(value) else f"{value:>9.2g}"


def shortened(name: str) -> str:
    """A long sum by its first terms and the number of the others."""
    if len(name) <= NAME:
        return name
    terms = name.replace(" - ", " + -").split(" + ")
    text = ""
    for count, term in enumerate(terms):
        more = f" ...(+{len(terms) - count - 1})"
        longer = f"{text} + {term}" if text else term
        if len(longer) + len(more) > NAME:
            break
        text = longer
    else:
        count = len(terms)
    if not text:
        return f"{terms[0][: NAME - 3]}..."
    return f"{text} ...(+{len(terms) - count})".replace("+ -", "- ")


def wrapped(text: str) -> list[str]:
    """Lines of at most WIDTH, indented, broken between words."""
    lines, line = [], " "
    for word in text.split():
        if len(line) + len(word) + 1 > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {word}"
    return [*lines, line]
