"""The functions of the package: what a robot's coordinates and velocities have to do with forces, energies and impacts.

q is (nq,) or (..., nq), v, a and tau are (nv,) or (..., nv); leading axes broadcast against each other. SI units. A function that returns
an array takes ``out=``, an array of the result's shape that is filled and returned; an energy of one state is a float.

``method`` is the formulation by name. "compiled", the default, is machine code for this robot (engine/). The papers' formulations, in plain
Python, are "gibbs_appell" and "explicit", and those that they compare theirs with: "lagrangian_4x4", "gibbs_appell_3x3",
"generalised_momentum" and "pseudo_inertia"; for elastic links "gibbs_appell_flexible" and "transformations_flexible", and "shafei2017" for
chains in the plane.
"""

from __future__ import annotations

from urdf_gibbs.functions.derivatives import (
    derivative_entries,
    forward_dynamics_derivatives,
    gravity_force_derivatives,
    inertia_force_derivatives,
    inverse_dynamics_derivatives,
)
from urdf_gibbs.functions.dynamics import bias, forward_dynamics, gravity_force, inverse_dynamics, mass_matrix, mass_matrix_elements
from urdf_gibbs.functions.impact import impact
from urdf_gibbs.functions.kinematics import centre_of_mass, frame_placement, jacobian, kinetic_energy, momentum, potential_energy
from urdf_gibbs.functions.products import (
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)
from urdf_gibbs.functions.regressors import kinetic_energy_regressor, potential_energy_regressor, torque_regressor

__all__ = [
    "bias",
    "centre_of_mass",
    "derivative_entries",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "frame_placement",
    "gravity_force",
    "gravity_force_derivatives",
    "impact",
    "inertia_force_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_jvp",
    "inverse_dynamics_vjp",
    "jacobian",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "mass_matrix",
    "mass_matrix_elements",
    "momentum",
    "potential_energy",
    "potential_energy_regressor",
    "torque_regressor",
]
