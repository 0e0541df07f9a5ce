"""The names of the impact laws, apart from their code so that they can be listed without loading it."""

from __future__ import annotations

from urdf_gibbs.names import Law

LAWS: tuple[Law, ...] = ("newton", "newton_equality", "poisson")  # the position of a law is its code in compiled functions
