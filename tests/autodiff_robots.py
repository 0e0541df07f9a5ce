"""Robots for the tests of JAX and PyTorch: one of each kind of coordinates; states, and differences along q (+) delta."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from random_trees import random_urdf

import urdf_gibbs as ug

Array = NDArray[np.float64]
STEP = 1e-6  # of differences: their truncation is some 1e-12 of the third derivative, their round-off 1e-10 of the value
