"""Why a simulation cannot go on, in one sentence for the user."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from urdf_gibbs.contact.surfaces import Callbacks
from urdf_gibbs.engine.jit import OUT_OF_MEMORY
from urdf_gibbs.engine.kernel import kernel
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.description import Description
from urdf_gibbs.simulation.layout import (
    BAD_WALL,
    CHATTER,
    CONTROLLER,
    CRAWLING,
    JAMMED,
    NOT_FINITE,
    NOT_LANDED,
    PARADOX,
    SINGULAR,
    UNDERFLOW,
    State,
)
from urdf_gibbs.simulation.log import Log
from urdf_gibbs.simulation.program import Program
from urdf_gibbs.simulation.resolve import COUNTED_IMPACTS

SINGULAR_BELOW = 1e-12  # eigenvalue of M scaled to a unit diagonal: below this, accelerations have few correct digits
LISTED = 6  # contacts named in an error
REASONS = {
    SINGULAR: "the mass matrix is singular here",
    NOT_FINITE: "the acceleration is not finite",
    UNDERFLOW: "the step has become too small: the motion is not smooth here, or the tolerance is below rounding",
    BAD_WALL: "a gap is not finite",
    CONTROLLER: "the controller failed",
    JAMMED: "no motion exists from here: opposing contacts close in on each other",
    CHATTER: f"{COUNTED_IMPACTS} impacts in less than as many times zeno, the contacts struck and how often",
    OUT_OF_MEMORY: "there is not enough memory",
    PARADOX: "no contact forces exist here that obey Coulomb's law (Painlevé's paradox)",
    NOT_LANDED: "no step ends on the wall that is about to be met: the gap is not continuous here, or the tolerance is below rounding",
    CRAWLING: "300 steps have hardly moved time: the controller is not continuous here, and is called in each stage of each step. "
    "Call it at a rate (controller_rate=), or declare where it switches (switches=)",
}


def reason_of(status: int, cause: BaseException | None, robot: Robot, state: State, names: Sequence[str], log: Log | None) -> str:
    """The reason for a status, as text; ``names`` are those of the contacts. Only chatter needs the history, to tell what was struck."""
    if status in (JAMMED, PARADOX):
        return f"{REASONS[status]}: {_listed([names[c] for c in np.flatnonzero(state.closed).tolist()])}"
    if status == CHATTER:
        struck = log.recently_struck(COUNTED_IMPACTS) if log is not None else []
        advice = "expected a longer zeno or cycle, a smaller restitution, or walls and limits that leave room between them"
        return f"{REASONS[status]}: {_listed([f'{names[c]} ({n})' for c, n in struck])}; {advice}"
    massless = _nearly_massless(robot, state) if status == UNDERFLOW else []
    if massless:
        return f"{REASONS[SINGULAR]}, or all but singular: {_listed(massless)}"
    return f"{REASONS[status]}{f' ({type(cause).__name__}: {cause})' if cause is not None else ''}"


def cause_of(status: int, description: Description, program: Program, callbacks: Callbacks) -> BaseException | None:
    """The exception behind a status: of a wall, the controller or the dynamics."""
    error = callbacks.error or program.take_problem()
    if status == SINGULAR:
        robot, y = description.robot, program.state.y
        try:  # the exception names the joints
            kernel(robot, "forward_dynamics", gravity=description.gravity)(y[: robot.nq].copy(), y[robot.nq :].copy(), np.zeros(robot.nv))
        except UrdfGibbsError as problem:
            return problem
    return error


def _nearly_massless(robot: Robot, state: State) -> list[str]:
    """The names of the velocities that have almost no inertia in the present state."""
    M = kernel(robot, "mass_matrix")(state.y[: robot.nq].copy())
    scale = np.sqrt(np.diag(M))
    least, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    sizes = np.abs(vectors[:, 0])
    return [robot.velocity_names[i] for i in np.flatnonzero(sizes > 0.1 * sizes.max())] if least[0] < SINGULAR_BELOW else []


def _listed(names: list[str]) -> str:
    """The first few."""
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
