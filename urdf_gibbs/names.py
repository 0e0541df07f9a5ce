"""The names that arguments of the package take, as types: ``urdf_gibbs.names.Law``, for annotations of your own.

One rule for all of them: a name is written in lower case with underscores, as here, and so it stands in results and files. Dashes in the
place of underscores are understood wherever a name is given, and are what the command line shows.
"""

from __future__ import annotations

from typing import Literal

Law = Literal["newton", "newton-equality", "poisson", "moreau", "energetic"]
"""Impact laws of ``simulate``."""
