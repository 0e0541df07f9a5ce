"""The names that arguments of the package take, as types: ``urdf_gibbs.names.Law``, for annotations of your own.

One rule for all of them: a name is lower case with underscores, as here, and so it stands in results and in files. Where a name is given,
in Python, in a scenario or on the command line, dashes in the place of underscores mean the same.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "Base",
    "Cylinders",
    "JointType",
    "KernelName",
    "Language",
    "Law",
    "Method",
    "Paradox",
    "PlotKind",
    "Quantity",
    "Reference",
    "Scheme",
    "Side",
    "Theme",
    "UpAxis",
]

Base = Literal["fixed", "floating", "planar"]
"""What the root link may do."""

Cylinders = Literal["auto", "roll", "stand"]
"""How cylinders of collision shapes touch: with their rims, or with fixed points; "auto": rims for wheels."""

JointType = Literal["revolute", "continuous", "prismatic", "fixed", "planar", "floating"]
"""Joints of a URDF."""

Method = Literal[
    "compiled",
    "gibbs_appell",
    "explicit",
    "gibbs_appell_flexible",
    "transformations_flexible",
    "lagrangian_4x4",
    "gibbs_appell_3x3",
    "generalised_momentum",
    "pseudo_inertia",
    "shafei2017",
]
"""Formulations: the first is machine code, the others are the papers' in plain Python."""

KernelName = Literal[
    "mass_matrix",
    "mass_matrix_packed",
    "mass_matrix_elements",
    "bias",
    "gravity_force",
    "inverse_dynamics",
    "forward_dynamics",
    "kinetic_energy",
    "potential_energy",
    "first_moment",
    "centre_of_mass",
    "momentum",
    "jacobian",
    "placement",
    "placements",
    "jacobian_rate",
    "jacobian_derivatives",
    "inverse_dynamics_jvp",
    "inverse_dynamics_vjp",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives_packed",
    "forward_dynamics_derivatives_packed",
    "inertia_force_derivatives",
    "gravity_force_derivatives",
    "torque_regressor",
    "torque_regressor_packed",
    "kinetic_energy_regressor",
    "potential_energy_regressor",
]
"""What a kernel can answer."""

Law = Literal["newton", "newton_equality", "poisson", "moreau", "energetic"]
"""Impact laws."""

Paradox = Literal["impact", "stop"]
"""What happens where no contact forces obey Coulomb's law: an impact without collision, or an error."""

Scheme = Literal["events", "time_stepping"]
"""How a simulation goes on: from event to event, or by steps of one length."""

Side = Literal["left", "right"]
"""Of an impact: the state before it, or after it."""

PlotKind = Literal["positions", "velocities", "energies", "impulses", "snapshots", "coordinates", "modes", "forces"]
"""Parts of a figure of a trajectory."""

Theme = Literal["light", "dark"]
"""Of pages and figures."""

Reference = Literal["world_aligned", "world", "local"]
"""Of a Jacobian: a point of the link in the world's axes; what moves with the link at the world's origin; the point in the link's axes."""

UpAxis = Literal["ignore", "file"]
"""Whether meshes are turned so that what a COLLADA file calls up is z: no, as in RViz, or yes."""

Quantity = Literal[
    "mass_matrix",
    "bias",
    "gravity_force",
    "inverse_dynamics",
    "forward_dynamics",
    "kinetic_energy",
    "potential_energy",
    "placement",
    "jacobian",
]
"""Of equations and of code to take along."""

Language = Literal["python", "c", "sympy"]
"""Of code to take along."""
