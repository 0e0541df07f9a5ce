"""The names of the impact laws, for those who must not wait for Numba."""

from __future__ import annotations

LAWS = ("newton", "newton-equality", "poisson")  # a law's code is its place here
