"""The names of the impact laws, apart from their code so that they can be listed without loading it."""

from __future__ import annotations

from urdf_gibbs.names import Law

# The position of a law is its code in compiled functions.
LAWS: tuple[Law, ...] = ("newton", "newton_equality", "poisson", "moreau", "energetic")
NEWTON, NEWTON_EQUALITY, POISSON, MOREAU, ENERGETIC = range(len(LAWS))
