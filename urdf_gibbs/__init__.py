"""urdf_gibbs: load a URDF, compute its dynamics by Gibbs-Appell formulations of our own, check them against Pinocchio."""

from urdf_gibbs.bundled import model_names, model_path
from urdf_gibbs.engine.kernel import get_threads, set_threads
from urdf_gibbs.errors import (
    ArgumentError,
    OracleMissingError,
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
    inverse_dynamics,
    jacobian,
    kinetic_energy,
    mass_matrix,
    momentum,
    potential_energy,
)
from urdf_gibbs.lint import check
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "OracleMissingError",
    "Robot",
    "SingularMassMatrixError",
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
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "load",
    "mass_matrix",
    "model_names",
    "model_path",
    "momentum",
    "potential_energy",
    "set_threads",
]
