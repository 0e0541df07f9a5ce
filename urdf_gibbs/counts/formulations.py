"""The formulations of the papers that are counted, by the names of their modules, and the functions that are counted."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from urdf_gibbs.counts.literal import S18, WJ
from urdf_gibbs.counts.scalars import Traced, triangle
from urdf_gibbs.dynamics import gibbs_appell_flexible
from urdf_gibbs.dynamics.local_forward import solved
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import all_methods_of
from urdf_gibbs.dynamics.scalar import vsub
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.robot.model import Robot

LABELS = {
    "gibbs_appell": "S18",
    "explicit": "WJ",
    "lagrangian_4x4": "Lagrangian 4x4",
    "gibbs_appell_3x3": "GA 3x3",
    "generalised_momentum": "momentum",
    "pseudo_inertia": "pseudo-inertia",
}
FLEXIBLE_LABELS = {"gibbs_appell_flexible": "3x3", "transformations_flexible": "4x4"}
AS_PRINTED_LABELS = {"shafei2017": "3x3 as printed"}
RULES = {  # by which a formulation is counted literally: that of the paper which counts it
    **dict.fromkeys(("gibbs_appell", "lagrangian_4x4", "gibbs_appell_3x3", *FLEXIBLE_LABELS, *AS_PRINTED_LABELS), S18),
    **dict.fromkeys(("explicit", "generalised_momentum", "pseudo_inertia"), WJ),
}


def flexible_labels(robot: Robot) -> dict[str, str]:
    """Those for a robot with elastic links."""
    possible = all_methods_of(robot)
    return {method: label for method, label in {**FLEXIBLE_LABELS, **AS_PRINTED_LABELS}.items() if method in possible}


def answers(formulation: ModuleType, robot: Robot, gravity: Sequence[float] = EARTH_GRAVITY) -> dict[str, Traced]:
    """M (its lower triangle), bias, both of them (equations) and forward dynamics of a formulation, as functions of q, v and tau."""
    model, g = model_of(robot), list(gravity)
    solve = gibbs_appell_flexible.solved if robot.is_flexible else solved
    return {
        "mass_matrix": lambda q, v, tau: triangle(formulation.mass_matrix(model, q)),
        "bias": lambda q, v, tau: list(formulation.bias(model, q, v, g)),
        "equations": lambda q, v, tau: triangle(formulation.mass_matrix(model, q)) + list(formulation.bias(model, q, v, g)),
        "forward_dynamics": lambda q, v, tau: solve(formulation.mass_matrix(model, q), vsub(tau, formulation.bias(model, q, v, g)))[0],
    }
