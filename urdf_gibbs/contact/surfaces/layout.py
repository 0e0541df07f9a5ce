"""Walls as compiled code sees them: one row of numbers for each smooth surface, with named columns.

Points x in world axes; y = frame (x - centre - d(t)) are a surface's own axes. A jet is phi, its gradient (3) and its Hessian
(xx, xy, xz, yy, yz, zz), in the surface's axes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.engine.struct import Float1, Float2, Int1, Int2, Struct, struct

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Jet = tuple[float, float, float, float, float, float, float, float, float, float]

PLANE, CYLINDER, SPHERE, ELLIPSOID, BOX, HEIGHT, IMPLICIT = range(7)
KINDS = {"plane": PLANE, "cylinder": CYLINDER, "sphere": SPHERE, "ellipsoid": ELLIPSOID, "box": BOX, "height": HEIGHT, "implicit": IMPLICIT}
STILL, VIBRATION, DRIFT, FUNCTION = range(4)

# Columns of Surfaces.values.
SIGN, RADIUS, CENTRE, FRAME, SIZE, MOTION, WIDTH = 0, 1, 2, 5, 14, 18, 23
# Columns of Surfaces.integers.
KIND, MOVES, MOTION_CALL, SHAPE_CALL, OFFSET, COUNT_X, COUNT_Y, TABLE, INTEGERS = range(9)
# Offsets in Surfaces.scratch: input of a user's function (point and order of derivative, or time) and its output; input of curved()
# (point, question, radius); spline weights; a nearest point.
POINT, JET, TIME, PATH, SPOT, WEIGHTS, FOOT, SCRATCH = 0, 4, 14, 15, 25, 30, 54, 57
STEEPEST = RADIUS  # of a height field, which has no radius: the greatest |grad phi| on its grid

# What curved() computes: phi; phi with its derivatives; the lowest phi on a sphere, or the signed distance, with their derivatives.
VALUE, ALL, LOWEST, DISTANCE = range(4)

STEP = 2.0**-10  # of finite differences; a power of two, so that x + STEP is exact
NAN: Jet = (math.nan,) * 10


@struct
class Surfaces(Struct):
    """The surfaces of all walls, for compiled code. ``scratch`` belongs to one thread: give each its own by ``replaced``."""

    kind: Int1  # (ns,)
    values: Float2  # (ns, WIDTH)
    integers: Int2  # (ns, WHOLE)
    data: Float1  # coefficients of all height fields, each with its table of highest points
    max_step: Float1  # (ns,) the longest step [s] over which a low-degree polynomial fits a motion given as a function
    scratch: Float1  # (SCRATCH,)


@struct
class Places(Struct):
    """Points for ``nearest`` and its results, out: signed distance, its rate, unit normal (3), its rate (3)."""

    t: Float1  # (n,)
    x: Float2  # (n, 3)
    xd: Float2  # (n, 3)
    out: Float2  # (n, 8)


class Row(NamedTuple):
    """A single surface for compiled code: its rows of ``Surfaces`` and what all surfaces share."""

    values: Array  # (WIDTH,)
    integers: Integers  # (WHOLE,)
    data: Array
    scratch: Array  # (SCRATCH,)
