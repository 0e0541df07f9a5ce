"""The names of the impact laws, apart from their code so that they can be listed without loading it."""

from __future__ import annotations

LAWS = ("newton", "newton-equality", "poisson", "moreau", "energetic")  # the position of a law is its code in compiled functions
NEWTON, NEWTON_EQUALITY, POISSON, MOREAU, ENERGETIC = range(len(LAWS))
