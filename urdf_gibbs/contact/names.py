"""The names of the impact laws, for those who must not wait for Numba."""

from __future__ import annotations

LAWS = ("newton", "newton-equality", "poisson", "moreau", "energetic")  # a law's code is its place here
NEWTON, NEWTON_EQUALITY, POISSON, MOREAU, ENERGETIC = range(len(LAWS))
