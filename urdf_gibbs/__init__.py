"""urdf_gibbs: load a URDF, compute its dynamics by Gibbs-Appell formulations of our own, check them against Pinocchio."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from urdf_gibbs import names
from urdf_gibbs.bundled import model_names, model_path, scenario_names, scenario_path
from urdf_gibbs.engine.threads import get_threads, set_threads
from urdf_gibbs.errors import (
    ArgumentError,
    MissingExtraError,
    NotVariableError,
    OracleMissingError,
    PairError,
    PenetrationError,
    SensitivityError,
    ShootingError,
    SimulationError,
    SingularMassMatrixError,
    SweepError,
    UnknownNameError,
    UrdfError,
    UrdfGibbsError,
    UrdfWarning,
)
from urdf_gibbs.functions import (
    bias,
    centre_of_mass,
    derivative_entries,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    frame_placement,
    gravity_force,
    gravity_force_derivatives,
    impact,
    inertia_force_derivatives,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
    jacobian,
    jacobian_derivatives,
    jacobian_rate,
    kinetic_energy,
    kinetic_energy_regressor,
    mass_matrix,
    mass_matrix_elements,
    momentum,
    potential_energy,
    potential_energy_regressor,
    torque_regressor,
    torque_regressor_blocks,
)
from urdf_gibbs.lint.check import check
from urdf_gibbs.robot.findings import Finding
from urdf_gibbs.robot.load import load
from urdf_gibbs.robot.model import Robot

if TYPE_CHECKING:
    from urdf_gibbs import walls
    from urdf_gibbs.control.linear import LinearSystem, StateFeedback, linearise
    from urdf_gibbs.identification.base_parameters import BaseParameters, base_parameters
    from urdf_gibbs.identification.identify import identify
    from urdf_gibbs.identification.result import Identification
    from urdf_gibbs.oracle.compare import validate
    from urdf_gibbs.sensitivity.saltation import Saltation
    from urdf_gibbs.sensitivity.values import Sensitivity
    from urdf_gibbs.shooting.result import Attempt, Shot
    from urdf_gibbs.shooting.shoot import shoot
    from urdf_gibbs.simulation.many import Many
    from urdf_gibbs.simulation.runs import Outcomes, Runs
    from urdf_gibbs.simulation.scenario import Scenario, read_scenario
    from urdf_gibbs.simulation.simulate import simulate
    from urdf_gibbs.simulation.simulator import Simulator
    from urdf_gibbs.simulation.trajectory import Impact, Phase, Trajectory
    from urdf_gibbs.sweeps.results import Summary, Sweep, open_sweep
    from urdf_gibbs.sweeps.sweep import sweep
    from urdf_gibbs.view.show import View

__version__ = "0.2.0.dev0"

__all__ = [
    "ArgumentError",
    "Attempt",
    "BaseParameters",
    "Finding",
    "Identification",
    "Impact",
    "LinearSystem",
    "Many",
    "MissingExtraError",
    "NotVariableError",
    "OracleMissingError",
    "Outcomes",
    "PairError",
    "PenetrationError",
    "Phase",
    "Robot",
    "Runs",
    "Saltation",
    "Scenario",
    "Sensitivity",
    "SensitivityError",
    "ShootingError",
    "Shot",
    "SimulationError",
    "Simulator",
    "SingularMassMatrixError",
    "StateFeedback",
    "Summary",
    "Sweep",
    "SweepError",
    "Trajectory",
    "UnknownNameError",
    "UrdfError",
    "UrdfGibbsError",
    "UrdfWarning",
    "View",
    "__version__",
    "base_parameters",
    "bias",
    "centre_of_mass",
    "check",
    "derivative_entries",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "frame_placement",
    "get_threads",
    "gravity_force",
    "gravity_force_derivatives",
    "identify",
    "impact",
    "inertia_force_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_jvp",
    "inverse_dynamics_vjp",
    "jacobian",
    "jacobian_derivatives",
    "jacobian_rate",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "linearise",
    "load",
    "mass_matrix",
    "mass_matrix_elements",
    "model_names",
    "model_path",
    "momentum",
    "names",
    "open_sweep",
    "potential_energy",
    "potential_energy_regressor",
    "read_scenario",
    "scenario_names",
    "scenario_path",
    "set_threads",
    "shoot",
    "simulate",
    "sweep",
    "torque_regressor",
    "torque_regressor_blocks",
    "validate",
    "walls",
]

WHEN_USED = {  # the rooms that are imported when something in them is first asked for
    "BaseParameters": "urdf_gibbs.identification.base_parameters",
    "Identification": "urdf_gibbs.identification.result",
    "LinearSystem": "urdf_gibbs.control.linear",
    "StateFeedback": "urdf_gibbs.control.linear",
    "linearise": "urdf_gibbs.control.linear",
    "Saltation": "urdf_gibbs.sensitivity.saltation",
    "Sensitivity": "urdf_gibbs.sensitivity.values",
    "Attempt": "urdf_gibbs.shooting.result",
    "Shot": "urdf_gibbs.shooting.result",
    "shoot": "urdf_gibbs.shooting.shoot",
    "Impact": "urdf_gibbs.simulation.trajectory",
    "Many": "urdf_gibbs.simulation.many",
    "Outcomes": "urdf_gibbs.simulation.runs",
    "Phase": "urdf_gibbs.simulation.trajectory",
    "Runs": "urdf_gibbs.simulation.runs",
    "Scenario": "urdf_gibbs.simulation.scenario",
    "Simulator": "urdf_gibbs.simulation.simulator",
    "Trajectory": "urdf_gibbs.simulation.trajectory",
    "Summary": "urdf_gibbs.sweeps.results",
    "Sweep": "urdf_gibbs.sweeps.results",
    "open_sweep": "urdf_gibbs.sweeps.results",
    "sweep": "urdf_gibbs.sweeps.sweep",
    "View": "urdf_gibbs.view.show",
    "base_parameters": "urdf_gibbs.identification.base_parameters",
    "identify": "urdf_gibbs.identification.identify",
    "read_scenario": "urdf_gibbs.simulation.scenario",
    "simulate": "urdf_gibbs.simulation.simulate",
    "validate": "urdf_gibbs.oracle.compare",
}


def __dir__() -> list[str]:
    """What is public, also what has not been imported yet."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    if name == "walls":
        return import_module("urdf_gibbs.walls")
    if name in WHEN_USED:
        return getattr(import_module(WHEN_USED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}")


def _hint(name: str) -> str:
    """What was perhaps meant; nothing for the names that Python itself looks for."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches
    from importlib.util import find_spec

    if name.isidentifier() and find_spec(f"{__name__}.{name}") is not None:
        return f": it has to be imported first, import {__name__}.{name}"
    near = get_close_matches(name, __all__, 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else f"; dir({__name__}) lists what there is"
