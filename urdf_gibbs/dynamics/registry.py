"""The formulations by name: which there are, which of them are for elastic links, and which a robot is compared by."""

from __future__ import annotations

from types import ModuleType

from urdf_gibbs.dynamics import (
    explicit,
    generalised_momentum,
    gibbs_appell,
    gibbs_appell_3x3,
    gibbs_appell_flexible,
    lagrangian_4x4,
    pseudo_inertia,
    shafei2017,
    transformations_flexible,
)
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.shafei2017_links import is_chain, links_of
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.robot.model import Robot

COMPILED = "compiled"  # the production formulation as machine code (engine/)
REFERENCES: dict[str, ModuleType] = {
    "gibbs_appell": gibbs_appell,
    "explicit": explicit,
    "gibbs_appell_flexible": gibbs_appell_flexible,
    "transformations_flexible": transformations_flexible,
    "lagrangian_4x4": lagrangian_4x4,
    "gibbs_appell_3x3": gibbs_appell_3x3,
    "generalised_momentum": generalised_momentum,
    "pseudo_inertia": pseudo_inertia,
    "shafei2017": shafei2017,
}
METHODS = (COMPILED, "gibbs_appell", "explicit")  # for rigid links
BASELINES = ("lagrangian_4x4", "gibbs_appell_3x3", "generalised_momentum", "pseudo_inertia")  # what S18 and WJ compare theirs with
FLEXIBLE_METHODS = (COMPILED, "gibbs_appell_flexible", "transformations_flexible")  # for elastic links; rigid robots are a case of theirs
AS_PRINTED = ("shafei2017",)  # a paper's own steps, for elastic robots of its shape alone


def methods_of(robot: Robot) -> tuple[str, ...]:
    """The formulations that a robot is compared by unless others are named."""
    return FLEXIBLE_METHODS if robot.is_flexible else METHODS


def all_methods_of(robot: Robot) -> tuple[str, ...]:
    """Every formulation that a robot can be asked for."""
    if not robot.is_flexible:
        return (*METHODS, *BASELINES)
    return FLEXIBLE_METHODS + (AS_PRINTED if is_chain(model_of(robot)) else ())


def check_method(robot: Robot, method: str) -> None:
    """Raise where there is no such formulation, or none for this robot."""
    if method != COMPILED and method not in REFERENCES:
        raise UnknownNameError("method", method, (COMPILED, *REFERENCES))
    if method in AS_PRINTED:
        links_of(model_of(robot))  # says what it expects
    elif robot.is_flexible and method not in FLEXIBLE_METHODS:
        expected = ", ".join(FLEXIBLE_METHODS)
        raise ArgumentError(
            f"method={method!r} is for rigid links, and {robot.name or 'the robot'} has elastic ones; expected one of {expected}"
        )
