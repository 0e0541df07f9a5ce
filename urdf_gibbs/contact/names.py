"""The impact laws in the order of their codes, apart from their sources: whoever needs the names does not wait for Numba."""

from __future__ import annotations

from urdf_gibbs.names import Law

LAWS: tuple[Law, ...] = ("newton", "newton_equality", "poisson")  # a law's code is its place here
