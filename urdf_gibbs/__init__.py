"""urdf_gibbs: load a URDF, compute its dynamics by Gibbs-Appell formulations of our own, check them against Pinocchio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urdf_gibbs import walls
from urdf_gibbs.bundled import model_names, model_path, scenario_names, scenario_path
from urdf_gibbs.engine.threads import get_threads, set_threads
from urdf_gibbs.errors import (
    ArgumentError,
    OracleMissingError,
    PenetrationError,
    SimulationError,
    SingularMassMatrixError,
    UnknownNameError,
    UrdfError,
    UrdfGibbsError,
    UrdfWarning,
)
from urdf_gibbs.functions import (
    bias,
    centre_of_mass,
    forward_dynamics,
    frame_placement,
    gravity_force,
    impact,
    inverse_dynamics,
    jacobian,
    kinetic_energy,
    mass_matrix,
    mass_matrix_elements,
    momentum,
    potential_energy,
)
from urdf_gibbs.lint import check
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.trajectory import Impact, Trajectory

if TYPE_CHECKING:
    from urdf_gibbs.simulation.simulate import Simulator, simulate

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "Impact",
    "OracleMissingError",
    "PenetrationError",
    "Robot",
    "SimulationError",
    "Simulator",
    "SingularMassMatrixError",
    "Trajectory",
    "UnknownNameError",
    "UrdfError",
    "UrdfGibbsError",
    "UrdfWarning",
    "__version__",
    "bias",
    "centre_of_mass",
    "check",
    "forward_dynamics",
    "frame_placement",
    "get_threads",
    "gravity_force",
    "impact",
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "load",
    "mass_matrix",
    "mass_matrix_elements",
    "model_names",
    "model_path",
    "momentum",
    "potential_energy",
    "scenario_names",
    "scenario_path",
    "set_threads",
    "simulate",
    "walls",
]


def __getattr__(name: str) -> Any:
    """The simulation is imported when it is first used."""
    if name in ("Simulator", "simulate"):
        from urdf_gibbs.simulation import simulate as room

        return getattr(room, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
