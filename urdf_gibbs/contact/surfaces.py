"""Gap functions phi of walls, compiled: value, rates along a motion, gradient.

phi > 0 where the robot may be, phi = 0 exactly on contact, smooth where the free region allows it, in metres near the wall only:
a robot's distance is phi / |grad phi| there. For a sphere of radius r it is that of the surface moved by r (plane, cylinder, sphere),
the distance less r (box, ellipsoid) or the least phi on the sphere (height field, implicit).

Points x in world axes; y = frame (x - centre - d(t)) are a surface's own axes.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebder
from numpy.typing import NDArray

from urdf_gibbs.engine.jit import call2, entry, jit
from urdf_gibbs.engine.struct import Float1, Float2, Int1, Int2, Struct, struct
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.walls import Drift, Implicit, Surface, Vibration, Wall, labels

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Jet = tuple[float, float, float, float, float, float, float, float, float, float]

PLANE, CYLINDER, SPHERE, ELLIPSOID, BOX, HEIGHT, IMPLICIT = range(7)
KINDS = {"plane": PLANE, "cylinder": CYLINDER, "sphere": SPHERE, "ellipsoid": ELLIPSOID, "box": BOX, "height": HEIGHT, "implicit": IMPLICIT}
STILL, VIBRATION, DRIFT, FUNCTION = range(4)

# Columns of Surfaces.values.
SIGN, RADIUS, CENTRE, FRAME, SIZE, MOTION, WIDTH = 0, 1, 2, 5, 14, 18, 23
# Columns of Surfaces.whole.
KIND, MOVES, MOTION_CALL, SHAPE_CALL, OFFSET, COUNT_X, COUNT_Y, TABLE, WHOLE = range(9)
# Places in Surfaces.scratch: what a user's function reads (point and the order of derivative wanted, or time) and writes; what
# curved() reads (point, question, radius); weights of a spline; a foot.
POINT, JET, TIME, PATH, SPOT, WEIGHTS, FOOT, SCRATCH = 0, 4, 14, 15, 25, 30, 54, 57
STEEPEST = RADIUS  # of a height field, which has no radius: the greatest |grad phi| on its grid
# Questions to curved(): phi; phi with its derivatives; the lowest phi on a sphere, and the signed distance, with their derivatives.
VALUE, ALL, LOWEST, DISTANCE = range(4)

STEP = 2.0**-10  # of differences: exact in binary, so that x + STEP loses nothing
NAN: Jet = (math.nan,) * 10


@struct
class Surfaces(Struct):
    """The surfaces of all walls, for compiled code. ``scratch`` belongs to one thread: give each its own by ``replaced``."""

    kind: Int1  # (ns,)
    values: Float2  # (ns, WIDTH)
    whole: Int2  # (ns, WHOLE)
    data: Float1  # coefficients of all height fields, each with its table of highest points
    pace: Float1  # (ns,) the longest step [s] in which a polynomial of low degree follows the wall's motion, where that is a function
    scratch: Float1  # (SCRATCH,)


@struct
class Places(Struct):
    """Where ``nearest`` looks, and what it sees: signed distance, its rate, unit normal (3), its rate (3)."""

    t: Float1  # (n,)
    x: Float2  # (n, 3)
    xd: Float2  # (n, 3)
    out: Float2  # (n, 8)


class Callbacks:
    """Keeps the users' functions alive while compiled code holds their addresses, and the first exception one of them raised."""

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self.error: BaseException | None = None

    def raise_error(self) -> None:
        """Raise the exception that was kept, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error


# packing ------------------------------------------------------------------------------------------


def pack(walls: Iterable[Wall], resolution: float = 1e-3) -> tuple[Surfaces, list[str], list[float | None], Callbacks]:
    """The surfaces of the walls, their names and restitutions (None: the simulation's), and what must outlive every use of them.

    ``resolution`` [s]: how finely a motion that is a Python function is looked at.
    A wall without a name that repeats gets a number ("plane", "plane_2"); two walls given the same name are an error.
    """
    records = _records(walls)
    keep = Callbacks()
    count = len(records)
    kind, values, whole = np.zeros(count, np.int64), np.zeros((count, WIDTH)), np.zeros((count, WHOLE), np.int64)
    data: list[Array] = []
    addresses: dict[int, int] = {}  # a motion that several surfaces share is one callback
    for i, (name, record) in enumerate(records):
        kind[i] = whole[i, KIND] = KINDS[record.kind]
        values[i, SIGN], values[i, RADIUS] = record.sign, record.radius
        values[i, CENTRE : CENTRE + 3] = record.centre
        values[i, FRAME : FRAME + 9] = record.frame.ravel()
        values[i, SIZE : SIZE + 4] = record.size
        if isinstance(record.motion, Vibration):
            whole[i, MOVES] = VIBRATION
            values[i, MOTION : MOTION + 5] = (*np.asarray(record.motion.amplitude), record.motion.omega, record.motion.phase)
        elif isinstance(record.motion, Drift):
            whole[i, MOVES] = DRIFT
            values[i, MOTION : MOTION + 3] = record.motion.velocity
        elif record.motion is not None:
            whole[i, MOVES] = FUNCTION
            if id(record.motion) not in addresses:
                addresses[id(record.motion)] = _address(Path(record.motion, name, resolution), 1, 10, keep)
            whole[i, MOTION_CALL] = addresses[id(record.motion)]
        if record.callback is not None:
            whole[i, SHAPE_CALL] = _address(_shape_function(record.callback, name), 4, 10, keep)
        if record.data is not None:
            highest, values[i, STEEPEST] = highest_points(record.data, record.size[1], record.size[3])
            whole[i, OFFSET] = sum(part.size for part in data)
            whole[i, TABLE] = whole[i, OFFSET] + record.data.size
            whole[i, COUNT_X], whole[i, COUNT_Y] = record.data.shape[0] - 2, record.data.shape[1] - 2
            data += [record.data.ravel(), highest]
    packed = Surfaces(
        kind=kind,
        values=values,
        whole=whole,
        data=np.concatenate([*data, np.zeros(1)]),
        pace=np.full(count, np.inf),
        scratch=np.zeros(SCRATCH),
    )
    return packed, [name for name, _ in records], [record.restitution for _, record in records], keep


def highest_points(coefficients: Array, dx: float, dy: float) -> tuple[Array, float]:
    """Of a bicubic B-spline (nx + 2, ny + 2): a bound of the height on each cell, on blocks of 2 x 2 cells, of 4 x 4, ... up to one
    block for all, table after table; and a bound of |grad (z - h)|.

    The cells (nx + 1, ny + 1) are those of the grid with the surroundings on all four sides, where there is no bound.
    """
    bezier = np.array([[1.0, 4.0, 1.0, 0.0], [0.0, 4.0, 2.0, 0.0], [0.0, 2.0, 4.0, 0.0], [0.0, 1.0, 4.0, 1.0]]) / 6.0
    nx, ny = coefficients.shape[0] - 3, coefficients.shape[1] - 3
    highest, steep_x, steep_y = np.full((nx, ny), -np.inf), 0.0, 0.0
    last: list[Array] = []
    for row in bezier:
        line = sum(row[k] * coefficients[k : k + nx] for k in range(4))
        b = [np.asarray(sum(weights[k] * line[:, k : k + ny] for k in range(4))) for weights in bezier]
        for j in range(4):
            np.maximum(highest, b[j], out=highest)  # a patch lies in the convex hull of its Bezier coefficients, as its slopes do
            steep_x = max(steep_x, float(np.abs(b[j] - last[j]).max()) if last else 0.0)
            steep_y = max(steep_y, float(np.abs(b[j] - b[j - 1]).max()) if j else 0.0)
        last = b
    table = np.pad(highest, 1, constant_values=np.inf)
    tables = [table.ravel()]
    while table.size > 1:
        even = np.pad(table, [(0, extent % 2) for extent in table.shape], constant_values=-np.inf)
        table = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2).max(axis=(1, 3))
        tables.append(table.ravel())
    return np.concatenate(tables), math.sqrt(1.0 + (3.0 * steep_x / dx) ** 2 + (3.0 * steep_y / dy) ** 2)


def check_radius(walls: Iterable[Wall], radius: float) -> None:
    """Raise ArgumentError where a sphere of that radius [m] does not fit inside a wall."""
    if not (math.isfinite(radius) and radius >= 0.0):
        raise ArgumentError(f"the radius of a contact sphere is {radius!r}; expected a finite number of metres, 0 or more")
    for name, record in _records(walls):
        if radius >= record.room:
            raise ArgumentError(f"a sphere of radius {radius} m does not fit wall {name!r}: expected a radius below {record.room} m")


def _records(walls: Iterable[Wall]) -> list[tuple[str, Surface]]:
    """Unique names and the records."""
    records: list[tuple[str, Surface]] = []
    given: set[str] = set()
    walls = tuple(walls)
    for wall in walls:
        if not isinstance(wall, Wall):
            raise ArgumentError(f"walls holds {wall!r}; expected Plane, Circle, Box, ... of urdf_gibbs.walls")
        if wall.name and wall.name in given:
            raise ArgumentError(f"two walls are named {wall.name!r}; expected names that differ")
        given.add(wall.name)
    kinds = [type(wall).__name__.lower() for wall in walls]
    names = labels((wall.name, kind) for wall, kind in zip(walls, kinds, strict=True))
    for wall, kind, label in zip(walls, kinds, names, strict=True):
        for record in wall.surfaces():
            part = record.name[len(wall.name or kind) :]
            records.append((label + part, record))
    return records


# callbacks ----------------------------------------------------------------------------------------

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def _address(function: Callable[[Any, Any], None], read: int, written: int, keep: Callbacks) -> int:
    """The address of a C function that hands ``read`` doubles to ``function`` and takes ``written``; status 1 when it raised."""
    given, taken = ctypes.c_double * read, ctypes.c_double * written

    def guarded(source: int, target: int) -> int:
        try:
            function(given.from_address(source), taken.from_address(target))
        except BaseException as error:
            keep.error = keep.error or error
            return 1
        return 0

    callback = CALLBACK(guarded)
    keep.functions.append(callback)
    return int(ctypes.cast(callback, ctypes.c_void_p).value or 0)


class Piece(NamedTuple):
    """d(t) for |t - middle| <= half as a Chebyshev series: T_k times (terms, 9), of d, d' and d''. ``error`` is how well it fits."""

    middle: float
    half: float
    terms: Array
    error: float
    size: float
    pace: float


class Path:
    """The motion d(t) of a wall, given as a Python function, as polynomials, so that its derivatives are smooth and exact as well.

    Time is cut into pieces of about 8 ``resolution``. Where the polynomial of degree 16 through Chebyshev points does not agree with
    the function to rounding a piece is halved, again and again; a function's own noise, which halving does not make smaller, is left
    out. At a kink, the last and shortest piece is a straight line.
    """

    DEGREE = 16
    NODES = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
    TO_SERIES = np.linalg.inv(np.cos(np.outer(np.arccos(NODES), np.arange(DEGREE + 1))))
    BETWEEN = np.array([-0.7416, 0.1137, 0.5528])  # any places between the nodes
    AT_BETWEEN = np.cos(np.outer(np.arccos(BETWEEN), np.arange(DEGREE + 1)))
    EXACT = 1e-15  # of the largest value
    NOISE = 1e-5  # of the largest value: what does not get smaller and is less than this is noise
    SHORTEST = 2.0**-21  # s
    FASTEST = 1e4  # m/s: a wall that moves faster jumps
    KEPT = 4096  # pieces

    def __init__(self, motion: Callable[[float], Any], name: str, resolution: float) -> None:
        self._motion, self._name = motion, name
        self._longest = 2.0 ** math.floor(math.log2(8.0 * resolution))
        self._pieces: dict[tuple[float, float], Piece] = {}
        self._last: Piece | None = None
        self._orders = np.arange(self.DEGREE + 1)

    def __call__(self, given: Any, out: Any) -> None:
        """Reads t; writes d, d', d'' (3 each) and the longest step in which a polynomial of low degree follows."""
        t = given[0]
        piece = self._last
        if piece is None or not abs(t - piece.middle) <= piece.half:
            if not math.isfinite(t):
                self._place(t)
            piece = self._last = self._piece(t)
        terms = piece.terms
        angle = math.acos(min(1.0, max(-1.0, (t - piece.middle) / piece.half)))
        out[0:9] = (np.cos(angle * self._orders[: len(terms)]) @ terms).tolist()
        out[9] = piece.pace

    def _place(self, t: float) -> Array:
        d = np.asarray(self._motion(t), dtype=float)
        if d.shape != (3,) or not np.isfinite(d).all():
            raise ArgumentError(f"the motion of wall {self._name!r} gave {d.tolist()!r} at t = {t}; expected 3 finite numbers")
        return d

    def _piece(self, t: float) -> Piece:
        """The longest piece about t that fits."""
        if len(self._pieces) > self.KEPT:
            self._pieces.clear()
        length = self._longest
        while True:
            start = math.floor(t / length) * length
            piece = self._fit(start, length)
            if self._fits(piece, t, length):
                return piece
            if length <= max(self.SHORTEST, 64.0 * math.ulp(t)):
                return self._line(start, length)
            length *= 0.5

    def _fits(self, piece: Piece, t: float, length: float) -> bool:
        if piece.error <= self.EXACT * piece.size:
            return True
        if piece.error > self.NOISE * piece.size or length < 8.0 * self.SHORTEST:
            return False
        # A kink of any order is at most a quarter as far off in a piece a quarter as long; noise is not.
        quarter = 0.25 * length
        return self._fit(math.floor(t / quarter) * quarter, quarter).error > 0.5 * piece.error

    def _fit(self, start: float, length: float) -> Piece:
        if (start, length) in self._pieces:
            return self._pieces[start, length]
        half = 0.5 * length
        middle = start + half
        values = np.array([self._place(middle + half * x) for x in self.NODES])
        series = self.TO_SERIES @ values
        between = np.array([self._place(middle + half * x) for x in self.BETWEEN])
        size = float(np.abs(values).max())
        error = float(max(np.abs(self.AT_BETWEEN @ series - between).max(), np.abs(series[-3:]).max()))
        # What is below the noise would be made larger by differentiation.
        counts = np.flatnonzero(np.abs(series).max(axis=1) > max(error, 2e-16 * size))
        degree = int(counts[-1]) if len(counts) else 0
        terms = np.zeros((degree + 1, 9))
        terms[:, 0:3] = series[: degree + 1]
        for order in (1, 2):
            slope = chebder(series[: degree + 1], order) / half**order if degree >= order else np.zeros((1, 3))
            terms[: len(slope), 3 * order : 3 * order + 3] = slope
        # A sine needs degree 14 for one radian in ``half``, 8 for a tenth, 5 for a hundredth.
        pace = min(self._longest, length * 2.0 ** max(0.0, 0.65 * (14 - degree)))
        piece = self._pieces[start, length] = Piece(middle, half, terms, error, size, pace)
        return piece

    def _line(self, start: float, length: float) -> Piece:
        """A straight line over the shortest piece."""
        one, other = self._place(start), self._place(start + length)
        speed = (other - one) / length
        if not np.abs(speed).max() <= self.FASTEST:
            raise ArgumentError(
                f"the motion of wall {self._name!r} jumps from {one.tolist()} to {other.tolist()} between t = {start!r} and "
                f"{start + length!r}; expected a continuous function of t"
            )
        terms = np.zeros((2, 9))
        terms[0, 0:3], terms[1, 0:3], terms[0, 3:6] = 0.5 * (one + other), 0.5 * (other - one), speed
        return Piece(start + 0.5 * length, 0.5 * length, terms, 0.0, float(np.abs(one).max()), self._longest)


def _shape_function(wall: Implicit, name: str) -> Callable[[Any, Any], None]:
    """Reads x and the order wanted; writes phi, its gradient (3) and Hessian (xx, xy, xz, yy, yz, zz) by five-point differences."""
    h = wall.scale * STEP
    user_gradient = wall.gradient

    def value(x: Array) -> float:
        phi = float(wall.function(x.copy()))
        if not math.isfinite(phi):
            raise ArgumentError(f"the function of wall {name!r} gave {phi} at x = {x.tolist()}; expected a finite number")
        return phi

    def slope(x: Array) -> Array:
        assert user_gradient is not None
        g = np.asarray(user_gradient(x.copy()), dtype=float)
        if g.shape != (3,) or not np.isfinite(g).all():
            raise ArgumentError(f"the gradient of wall {name!r} gave {g.tolist()!r} at x = {x.tolist()}; expected 3 finite numbers")
        return g

    def along(x: Array, step: Array, phi: float) -> tuple[float, float]:
        """First and second derivative of s -> phi(x + s step) over s = h."""
        a, b, e, f = (value(x + k * h * step) for k in (-2, -1, 1, 2))
        return (8.0 * (e - b) - (f - a)) / (12.0 * h), (16.0 * (e + b) - (f + a) - 30.0 * phi) / (12.0 * h * h)

    def evaluate(given: Any, out: Any) -> None:
        x, order = np.array(given[0:3]), given[3]
        phi = value(x)
        out[0] = phi
        if order == 0.0:
            return
        axes = np.eye(3)
        if user_gradient is not None:
            out[1:4] = slope(x)
            H = np.array([(8.0 * (slope(x + h * e) - slope(x - h * e)) - slope(x + 2 * h * e) + slope(x - 2 * h * e)) for e in axes])
            H = (H + H.T) / (24.0 * h)
        else:
            own = [along(x, e, phi) for e in axes]
            out[1:4] = [first for first, _ in own]
            H = np.diag([second for _, second in own])
            for i, j in ((0, 1), (0, 2), (1, 2)):
                H[i, j] = (along(x, axes[i] + axes[j], phi)[1] - H[i, i] - H[j, j]) / 2.0
        out[4:10] = H[np.triu_indices(3)]

    return evaluate


# compiled -----------------------------------------------------------------------------------------


@jit
def gap_value(s: Surfaces, i: int, t: float, x: Array, radius: float) -> float:
    """phi of surface i for a sphere of ``radius`` about x (3,) (0: a point). nan when a callback failed."""
    v = s.values
    d = _motion(v, s.whole, s.scratch, i, t)
    y = _own(v, i, x[0] - d[0] - v[i, CENTRE], x[1] - d[1] - v[i, CENTRE + 1], x[2] - d[2] - v[i, CENTRE + 2])
    return _field(s, i, y[0], y[1], y[2], radius, VALUE)[0]


@jit
def gap_motion(s: Surfaces, i: int, t: float, x: Array, radius: float, out: Array) -> None:
    """out (6,): phi, its rate, its second rate, its gradient (3) for a centre x (9,): position, velocity and acceleration.

    phi' = grad . (xd - d'), phi'' = grad . (xdd - d'') + (xd - d')' H (xd - d'). nan when a callback failed.
    """
    v = s.values
    if s.kind[i] <= SPHERE and s.whole[i, MOVES] == STILL:
        _quadric_motion(s, i, x, radius, out)
        return
    d = _motion(v, s.whole, s.scratch, i, t)
    y = _own(v, i, x[0] - d[0] - v[i, CENTRE], x[1] - d[1] - v[i, CENTRE + 1], x[2] - d[2] - v[i, CENTRE + 2])
    if s.whole[i, MOVES] == FUNCTION:
        s.pace[i] = s.scratch[PATH + 9]
    w = _own(v, i, x[3] - d[3], x[4] - d[4], x[5] - d[5])
    a = _own(v, i, x[6] - d[6], x[7] - d[7], x[8] - d[8])
    f = _field(s, i, y[0], y[1], y[2], radius, ALL)
    out[0] = f[0]
    out[1] = f[1] * w[0] + f[2] * w[1] + f[3] * w[2]
    hw = _times(f, w[0], w[1], w[2])
    out[2] = f[1] * a[0] + f[2] * a[1] + f[3] * a[2] + hw[0] * w[0] + hw[1] * w[1] + hw[2] * w[2]
    out[3], out[4], out[5] = _world(v, i, f[1], f[2], f[3])


@jit
def _quadric_motion(s: Surfaces, i: int, x: Array, radius: float, out: Array) -> None:
    """gap_motion of a plane, cylinder or sphere that stands still, in world axes: most walls, so it is worth a shorter way."""
    v = s.values
    ax, ay, az = v[i, FRAME + 6], v[i, FRAME + 7], v[i, FRAME + 8]  # normal of the plane, axis of the cylinder
    px, py, pz = x[0] - v[i, CENTRE], x[1] - v[i, CENTRE + 1], x[2] - v[i, CENTRE + 2]
    along, fast = ax * px + ay * py + az * pz, ax * x[3] + ay * x[4] + az * x[5]
    if s.kind[i] == PLANE:
        out[0], out[1], out[2] = along - radius, fast, ax * x[6] + ay * x[7] + az * x[8]
        out[3], out[4], out[5] = ax, ay, az
        return
    ux, uy, uz = x[3], x[4], x[5]
    if s.kind[i] == CYLINDER:
        px, py, pz = px - along * ax, py - along * ay, pz - along * az
        ux, uy, uz = ux - fast * ax, uy - fast * ay, uz - fast * az
    sign = v[i, SIGN]
    R = v[i, RADIUS] + sign * radius
    c = sign / R if R > 0.0 else math.nan
    out[0] = 0.5 * (c * (px * px + py * py + pz * pz) - sign * R)
    out[1] = c * (px * ux + py * uy + pz * uz)
    out[2] = c * (px * x[6] + py * x[7] + pz * x[8] + ux * ux + uy * uy + uz * uz)
    out[3], out[4], out[5] = c * px, c * py, c * pz


@jit
def wall_velocity(s: Surfaces, i: int, t: float) -> tuple[float, float, float]:
    """How fast surface i moves, in world axes [m/s]."""
    v = s.values
    d = _motion(v, s.whole, s.scratch, i, t)
    return d[3], d[4], d[5]


@entry(Surfaces, Places)
def nearest(s: Surfaces, places: Places) -> int:
    """Fill ``out`` of the places."""
    t, x, xd, out, v = places.t, places.x, places.xd, places.out, s.values
    for k in range(len(t)):
        out[k, :] = math.nan
        for i in range(len(s.kind)):
            d = _motion(v, s.whole, s.scratch, i, t[k])
            y = _own(v, i, x[k, 0] - d[0] - v[i, CENTRE], x[k, 1] - d[1] - v[i, CENTRE + 1], x[k, 2] - d[2] - v[i, CENTRE + 2])
            w = _own(v, i, xd[k, 0] - d[3], xd[k, 1] - d[4], xd[k, 2] - d[5])
            f = _exact(s, i, y[0], y[1], y[2])
            if f[0] != f[0]:
                out[k, :] = math.nan
                break
            if not out[k, 0] <= f[0]:
                out[k, 0] = f[0]
                out[k, 1] = f[1] * w[0] + f[2] * w[1] + f[3] * w[2]
                out[k, 2], out[k, 3], out[k, 4] = _world(v, i, f[1], f[2], f[3])
                hw = _times(f, w[0], w[1], w[2])
                out[k, 5], out[k, 6], out[k, 7] = _world(v, i, hw[0], hw[1], hw[2])
    return 0


@jit
def _own(v: Array, i: int, a: float, b: float, c: float) -> tuple[float, float, float]:
    """A vector in world axes, in the surface's axes."""
    return (
        v[i, FRAME] * a + v[i, FRAME + 1] * b + v[i, FRAME + 2] * c,
        v[i, FRAME + 3] * a + v[i, FRAME + 4] * b + v[i, FRAME + 5] * c,
        v[i, FRAME + 6] * a + v[i, FRAME + 7] * b + v[i, FRAME + 8] * c,
    )


@jit
def _world(v: Array, i: int, a: float, b: float, c: float) -> tuple[float, float, float]:
    """The inverse of _own."""
    return (
        v[i, FRAME] * a + v[i, FRAME + 3] * b + v[i, FRAME + 6] * c,
        v[i, FRAME + 1] * a + v[i, FRAME + 4] * b + v[i, FRAME + 7] * c,
        v[i, FRAME + 2] * a + v[i, FRAME + 5] * b + v[i, FRAME + 8] * c,
    )


@jit
def _times(f: Jet, a: float, b: float, c: float) -> tuple[float, float, float]:
    """The Hessian of a jet times a vector."""
    return f[4] * a + f[5] * b + f[6] * c, f[5] * a + f[7] * b + f[8] * c, f[6] * a + f[8] * b + f[9] * c


@jit
def _motion(v: Array, whole: Integers, u: Array, i: int, t: float) -> tuple[float, float, float, float, float, float, float, float, float]:
    """d, d', d'' (3 each) of the wall."""
    moves = whole[i, MOVES]
    if moves == VIBRATION:
        a, b, c, omega = v[i, MOTION], v[i, MOTION + 1], v[i, MOTION + 2], v[i, MOTION + 3]
        angle = omega * t + v[i, MOTION + 4]
        p, q = math.sin(angle), omega * math.cos(angle)
        r = -omega * omega * p
        return a * p, b * p, c * p, a * q, b * q, c * q, a * r, b * r, c * r
    if moves == DRIFT:
        a, b, c = v[i, MOTION], v[i, MOTION + 1], v[i, MOTION + 2]
        return a * t, b * t, c * t, a, b, c, 0.0, 0.0, 0.0
    if moves == FUNCTION:
        u[TIME] = t
        if call2(whole[i, MOTION_CALL], u.ctypes.data + 8 * TIME, u.ctypes.data + 8 * PATH) != 0:
            return math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan
        p = PATH
        return u[p], u[p + 1], u[p + 2], u[p + 3], u[p + 4], u[p + 5], u[p + 6], u[p + 7], u[p + 8]
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@jit
def _field(s: Surfaces, i: int, x: float, y: float, z: float, radius: float, order: int) -> Jet:
    """phi, its gradient (3) and Hessian (xx, xy, xz, yy, yz, zz) in the surface's axes; phi only is sure when ``order`` is 0."""
    kind = s.kind[i]
    if kind == PLANE:
        return z - radius, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == CYLINDER or kind == SPHERE:  # noqa: SIM109
        # (rho^2 - R^2) / (2 R): a polynomial, with unit gradient where it is zero.
        sign = s.values[i, SIGN]
        R = s.values[i, RADIUS] + sign * radius
        if R <= 0.0:
            return NAN
        c = sign / R
        e = c if kind == SPHERE else 0.0
        return 0.5 * (c * (x * x + y * y) + e * z * z - sign * R), c * x, c * y, e * z, c, 0.0, 0.0, c, 0.0, e
    if kind == BOX or (kind == ELLIPSOID and radius > 0.0):
        f = _asked(s, i, x, y, z, DISTANCE, 0.0)
        return f[0] - radius, f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]
    return _asked(s, i, x, y, z, LOWEST if radius > 0.0 else order, radius)


@jit
def _exact(s: Surfaces, i: int, x: float, y: float, z: float) -> Jet:
    """Signed distance, unit normal (3) and Hessian (6) of the distance, in the surface's axes."""
    kind = s.kind[i]
    if kind == PLANE:
        return z, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == CYLINDER or kind == SPHERE:  # noqa: SIM109
        sign, e = s.values[i, SIGN], 1.0 if kind == SPHERE else 0.0
        rho = math.sqrt(x * x + y * y + e * z * z)
        k = sign / rho
        a, b, c = k * x, k * y, k * e * z
        d = sign * (rho - s.values[i, RADIUS])
        return d, a, b, c, k * (1.0 - a * a), -k * a * b, -k * a * c, k * (1.0 - b * b), -k * b * c, k * (e - c * c)
    return _asked(s, i, x, y, z, DISTANCE, 0.0)


@jit
def _asked(s: Surfaces, i: int, x: float, y: float, z: float, question: int, radius: float) -> Jet:
    """The answer of the code below, which is compiled once, not into every caller."""
    u = s.scratch
    u[SPOT], u[SPOT + 1], u[SPOT + 2], u[SPOT + 3], u[SPOT + 4] = x, y, z, question, radius
    curved(s, i)
    j = JET
    return u[j], u[j + 1], u[j + 2], u[j + 3], u[j + 4], u[j + 5], u[j + 6], u[j + 7], u[j + 8], u[j + 9]


# curved surfaces: compiled apart ------------------------------------------------------------------


@entry(Surfaces, int)
def curved(s: Surfaces, i: int) -> int:
    """Answer the question of surface i in scratch[SPOT:] at scratch[JET:]."""
    p, n, c, u = s.values[i], s.whole[i], s.data, s.scratch
    x, y, z, question = u[SPOT], u[SPOT + 1], u[SPOT + 2], int(u[SPOT + 3])
    if question == DISTANCE:
        f = _distance(p, n, c, u, x, y, z)
    elif question == LOWEST:
        f = _lowest(p, n, c, u, x, y, z, u[SPOT + 4])
    else:
        f = _shape(p, n, c, u, x, y, z, question)
    for k in range(10):
        u[JET + k] = f[k]
    return 0


@jit
def _shape(p: Array, n: Integers, c: Array, u: Array, x: float, y: float, z: float, order: int) -> Jet:
    """Ellipsoid, height field and implicit surface as a function that is zero on them, in the order of _field."""
    if n[KIND] == ELLIPSOID:
        # sign (sum (x / a)^2 - 1) a_min / 2
        m = p[SIGN] * min(p[SIZE], p[SIZE + 1], p[SIZE + 2])
        a, b, e = m / p[SIZE] ** 2, m / p[SIZE + 1] ** 2, m / p[SIZE + 2] ** 2
        return 0.5 * (a * x * x + b * y * y + e * z * z - m), a * x, b * y, e * z, a, 0.0, 0.0, b, 0.0, e
    if n[KIND] == HEIGHT:
        h = _height(p, n, c, u, x, y)
        return z - h[0], -h[1], -h[2], 1.0, -h[3], -h[4], 0.0, -h[5], 0.0, 0.0
    u[POINT], u[POINT + 1], u[POINT + 2], u[POINT + 3] = x, y, z, order
    # A motion that failed has already spoken: its nan is not handed to another function.
    if not math.isfinite(x + y + z) or call2(n[SHAPE_CALL], u.ctypes.data + 8 * POINT, u.ctypes.data + 8 * JET) != 0:
        return NAN
    j = JET
    return u[j], u[j + 1], u[j + 2], u[j + 3], u[j + 4], u[j + 5], u[j + 6], u[j + 7], u[j + 8], u[j + 9]


@jit
def _height(p: Array, n: Integers, c: Array, u: Array, x: float, y: float) -> tuple[float, float, float, float, float, float]:
    """h, h_x, h_y, h_xx, h_xy, h_yy of a height field."""
    dx, dy, columns = p[SIZE + 1], p[SIZE + 3], n[COUNT_Y] + 2
    a, b = u[WEIGHTS : WEIGHTS + 12], u[WEIGHTS + 12 : WEIGHTS + 24]
    first = _weights((x - p[SIZE]) / dx, n[COUNT_X], a) * columns + _weights((y - p[SIZE + 2]) / dy, n[COUNT_Y], b) + n[OFFSET]
    h, hx, hy, hxx, hxy, hyy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        line, slope, bend = 0.0, 0.0, 0.0
        for j in range(4):
            e = c[first + k * columns + j]
            line += b[j] * e
            slope += b[4 + j] * e
            bend += b[8 + j] * e
        h += a[k] * line
        hx += a[4 + k] * line
        hxx += a[8 + k] * line
        hy += a[k] * slope
        hxy += a[4 + k] * slope
        hyy += a[k] * bend
    return h, hx / dx, hy / dy, hxx / (dx * dx), hxy / (dx * dy), hyy / (dy * dy)


@jit
def _weights(x: float, count: int, out: Array) -> int:
    """The cell of x in a grid of nodes 0, 1, ...; out (12,): weights of its four coefficients for value, slope and curvature."""
    cell = 0
    if x >= count - 1.0:
        cell = count - 2
    elif x > 0.0:
        cell = int(x)
    g = x - cell
    beyond = 0.0
    if g < 0.0:
        g, beyond = 0.0, g
    elif g > 1.0:
        g, beyond = 1.0, g - 1.0
    f = 1.0 - g
    out[4], out[5], out[6], out[7] = -0.5 * f * f, g * (1.5 * g - 2.0), 0.5 + g * (1.0 - 1.5 * g), 0.5 * g * g
    out[0] = f * f * f / 6.0 + beyond * out[4]
    out[1] = 2.0 / 3.0 + g * g * (0.5 * g - 1.0) + beyond * out[5]
    out[2] = 2.0 / 3.0 + f * f * (0.5 * f - 1.0) + beyond * out[6]
    out[3] = g * g * g / 6.0 + beyond * out[7]
    out[8], out[9], out[10], out[11] = f, 3.0 * g - 2.0, 1.0 - 3.0 * g, g
    return cell


@jit
def _distance(p: Array, n: Integers, c: Array, u: Array, x: float, y: float, z: float) -> Jet:
    """Signed distance, unit normal (3) and Hessian (6) of the distance, in the surface's axes."""
    kind = n[KIND]
    if kind == BOX:
        return _box(p, x, y, z)
    foot = u[FOOT : FOOT + 3]
    foot[0], foot[1], foot[2] = x, y, z
    if kind == ELLIPSOID:
        _ellipsoid_foot(p[SIZE : SIZE + 3], foot)
    else:
        _foot(p, n, c, u, foot)
    # With S = P H P / |grad| at the foot, the distance d has the Hessian S (I + d S)^-1.
    here, f = _shape(p, n, c, u, x, y, z, ALL), _shape(p, n, c, u, foot[0], foot[1], foot[2], ALL)
    away = f[1] * (x - foot[0]) + f[2] * (y - foot[1]) + f[3] * (z - foot[2])
    if here[0] * away < 0.0:
        # Far from a wall a foot may be found behind another part of it: the first order is the better answer then.
        f, away = here, here[0]
    size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
    a, b, g, d = f[1] / size, f[2] / size, f[3] / size, away / size
    q, r, k, m, e = _bend(f, a, b, g, size)
    det = (1.0 + d * k) * (1.0 + d * e) - d * d * m * m
    k, m, e = (k * (1.0 + d * e) - d * m * m) / det, m / det, (e * (1.0 + d * k) - d * m * m) / det
    return (
        d,
        a,
        b,
        g,
        k * q[0] * q[0] + 2.0 * m * q[0] * r[0] + e * r[0] * r[0],
        k * q[0] * q[1] + m * (q[0] * r[1] + q[1] * r[0]) + e * r[0] * r[1],
        k * q[0] * q[2] + m * (q[0] * r[2] + q[2] * r[0]) + e * r[0] * r[2],
        k * q[1] * q[1] + 2.0 * m * q[1] * r[1] + e * r[1] * r[1],
        k * q[1] * q[2] + m * (q[1] * r[2] + q[2] * r[1]) + e * r[1] * r[2],
        k * q[2] * q[2] + 2.0 * m * q[2] * r[2] + e * r[2] * r[2],
    )


@jit
def _bend(
    f: Jet, a: float, b: float, c: float, size: float
) -> tuple[tuple[float, float, float], tuple[float, float, float], float, float, float]:
    """Two unit vectors q, r across the unit normal (Duff et al. 2017), and q'Hq, q'Hr, r'Hr over |grad|."""
    sign = math.copysign(1.0, c)
    k = -1.0 / (sign + c)
    q, r = (1.0 + sign * a * a * k, sign * a * b * k, -sign * a), (a * b * k, sign + b * b * k, -b)
    hq, hr = _times(f, q[0], q[1], q[2]), _times(f, r[0], r[1], r[2])
    qq = (q[0] * hq[0] + q[1] * hq[1] + q[2] * hq[2]) / size
    qr = (q[0] * hr[0] + q[1] * hr[1] + q[2] * hr[2]) / size
    rr = (r[0] * hr[0] + r[1] * hr[1] + r[2] * hr[2]) / size
    return q, r, qq, qr, rr


@jit
def _box(p: Array, x: float, y: float, z: float) -> Jet:
    """Signed distance to a box from outside: faces flat, edges and corners round."""
    a, b, c = abs(x) - p[SIZE], abs(y) - p[SIZE + 1], abs(z) - p[SIZE + 2]
    e, f, g = math.copysign(1.0, x), math.copysign(1.0, y), math.copysign(1.0, z)
    if a <= 0.0 and b <= 0.0 and c <= 0.0:
        if a >= b and a >= c:
            return a, e, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if b >= c:
            return b, 0.0, f, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return c, 0.0, 0.0, g, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # Only the axes along which the nearest point is an edge or corner bend the distance.
    i, j, k = 0.0 if a <= 0.0 else 1.0, 0.0 if b <= 0.0 else 1.0, 0.0 if c <= 0.0 else 1.0
    a, b, c = e * i * a, f * j * b, g * k * c
    d = math.sqrt(a * a + b * b + c * c)
    a, b, c = a / d, b / d, c / d
    return d, a, b, c, (i - a * a) / d, -a * b / d, -a * c / d, (j - b * b) / d, -b * c / d, (k - c * c) / d


@jit
def _ellipsoid_foot(a: Array, x: Array) -> None:
    """x (3,) becomes the nearest point of the ellipsoid with semi-axes a: a_i^2 x_i / (t + a_i^2 - a_min^2).

    t >= 0 is the root of sum (a_i x_i / (t + a_i^2 - a_min^2))^2 = 1.
    """
    # Where t starts one term alone is 1; the sum is convex and falls from there on, so that Newton never passes the root.
    least = min(a[0], a[1], a[2])
    t, rest = 0.0, 1.0
    for k in range(3):
        t = max(t, a[k] * abs(x[k]) - (a[k] - least) * (a[k] + least))
    for _ in range(100):
        total, slope = -1.0, 0.0
        for k in range(3):
            if x[k] != 0.0:
                e = t + (a[k] - least) * (a[k] + least)
                total += (a[k] * x[k] / e) ** 2
                slope += 2.0 * (a[k] * x[k] / e) ** 2 / e
        if not total > 1e-16 * slope * t:
            break
        t += total / slope
    for k in range(3):
        if x[k] != 0.0:
            e = a[k] * x[k] / (t + (a[k] - least) * (a[k] + least))
            x[k] = a[k] * e
            rest -= e * e
    # In the middle of the least axis two feet are equally near: the positive one.
    for k in range(3):
        if a[k] == least and x[k] == 0.0 and rest > 1e-14:
            x[k] = least * math.sqrt(rest)
            rest = 0.0


@jit
def _foot(p: Array, n: Integers, c: Array, u: Array, x: Array) -> None:
    """x (3,) becomes a point of the surface nearest to it: Newton for x = foot + lambda grad(foot), phi(foot) = 0.

    lambda is the least-squares one at each iterate; where the tangential Hessian is not positive the step is a projected gradient's,
    so that it ends in a minimum of the distance. It is the least one near the wall, not always far from it.
    """
    px, py, pz = x[0], x[1], x[2]
    if n[KIND] == HEIGHT:
        _height_start(p, n, c, u, x)
    for k in range(60):
        f = _shape(p, n, c, u, x[0], x[1], x[2], ALL)
        size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
        if size == 0.0:  # the centre of symmetry of some surfaces: any way out will do
            step = 0.01 * p[RADIUS]
            x[0], x[1], x[2] = x[0] + 0.48 * step, x[1] + 0.6 * step, x[2] + 0.64 * step
            continue
        a, b, e = f[1] / size, f[2] / size, f[3] / size
        dx, dy, dz = px - x[0], py - x[1], pz - x[2]
        down, away = -f[0] / size, a * dx + b * dy + e * dz
        q, r, qq, qr, rr = _bend(f, a, b, e, size)
        qq, qr, rr = 1.0 + away * qq, away * qr, 1.0 + away * rr
        low = 0.5 * (qq + rr) - math.sqrt(0.25 * (qq - rr) ** 2 + qr * qr)
        if low < 1e-3:
            qq += 1.0 - low
            rr += 1.0 - low
        hn = _times(f, a, b, e)
        shift = down * away / size
        one = q[0] * (dx - shift * hn[0]) + q[1] * (dy - shift * hn[1]) + q[2] * (dz - shift * hn[2])
        two = r[0] * (dx - shift * hn[0]) + r[1] * (dy - shift * hn[1]) + r[2] * (dz - shift * hn[2])
        det = qq * rr - qr * qr
        one, two = (rr * one - qr * two) / det, (qq * two - qr * one) / det
        # No further along the surface than the point is away from it; shorter still when it goes in circles.
        length, square = math.sqrt(one * one + two * two), dx * dx + dy * dy + dz * dz
        allowed = (math.sqrt(square) + abs(down)) * (1.0 if k < 20 else 0.1)
        if length > allowed:
            one, two = one * allowed / length, two * allowed / length
        x[0] += down * a + one * q[0] + two * r[0]
        x[1] += down * b + one * q[1] + two * r[1]
        x[2] += down * e + one * q[2] + two * r[2]
        # Quadratic: what is left after a step of 1e-9 is nothing. Written so that nan ends it.
        if not down * down + one * one + two * two > 1e-18 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + square):
            break


@jit
def _height_start(p: Array, n: Integers, c: Array, u: Array, x: Array) -> None:
    """x (3,) becomes the nearest of many points of the height field, from the one below outwards."""
    px, py, pz, best, reach = x[0], x[1], x[2], math.inf, 0.0
    for k in range(-1, 41 * 41):
        a, b = px + (k % 41 - 20) * reach, py + (k // 41 - 20) * reach
        h = _height(p, n, c, u, a, b)[0]
        d = math.sqrt((a - px) ** 2 + (b - py) ** 2 + (h - pz) ** 2)
        if d < best:
            x[0], x[1], x[2], best = a, b, h, d
        if k < 0:
            reach = 0.05 * d


@jit
def _lowest(p: Array, n: Integers, c: Array, u: Array, x: float, y: float, z: float, radius: float) -> Jet:
    """The least phi on the sphere |m| = radius about a point: zero when the sphere touches, smooth while it touches at one point only.

    With T the plane across m and mu = -grad . m / radius^2 its gradient is grad phi(x + m), its Hessian
    H - H T (T'HT + mu)^-1 T'H.
    """
    f = _shape(p, n, c, u, x, y, z, ALL)
    size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
    a, b, g = -f[1] / size, -f[2] / size, -f[3] / size
    if size == 0.0:  # a centre of symmetry: any way out will do
        a, b, g = 0.48, 0.6, 0.64
    if n[KIND] == HEIGHT:
        # The lowest of 21 points of the lower half is a good start; then the highest point that is not below what this finds.
        best = math.inf
        for k in range(25):
            e, h = (k % 5 - 2) * 0.45, (k // 5 - 2) * 0.45
            if e * e + h * h < 1.0:
                low = math.sqrt(1.0 - e * e - h * h)
                height = -radius * low - _height(p, n, c, u, x + radius * e, y + radius * h)[0]
                if height < best:
                    a, b, g, best = e, h, -low, height
        for _ in range(30):
            a, b, g, f = _descended(p, n, c, u, x, y, z, radius, a, b, g)
            height = _height(p, n, c, u, x + radius * a, y + radius * b)[0] - radius * g
            e, h, found = _higher(p, n, c, u, x, y, radius, height)
            if not found:
                break
            a, b, g = e, h, -math.sqrt(max(0.0, 1.0 - e * e - h * h))
    else:
        a, b, g, f = _descended(p, n, c, u, x, y, z, radius, a, b, g)
    mu = -(f[1] * a + f[2] * b + f[3] * g) / radius
    q, r, qq, qr, rr = _bend(f, a, b, g, 1.0)
    qq, rr = qq + mu, rr + mu
    det = qq * rr - qr * qr
    s, t = _times(f, q[0], q[1], q[2]), _times(f, r[0], r[1], r[2])
    qq, qr, rr = rr / det, -qr / det, qq / det
    return (
        f[0],
        f[1],
        f[2],
        f[3],
        f[4] - qq * s[0] * s[0] - 2.0 * qr * s[0] * t[0] - rr * t[0] * t[0],
        f[5] - qq * s[0] * s[1] - qr * (s[0] * t[1] + s[1] * t[0]) - rr * t[0] * t[1],
        f[6] - qq * s[0] * s[2] - qr * (s[0] * t[2] + s[2] * t[0]) - rr * t[0] * t[2],
        f[7] - qq * s[1] * s[1] - 2.0 * qr * s[1] * t[1] - rr * t[1] * t[1],
        f[8] - qq * s[1] * s[2] - qr * (s[1] * t[2] + s[2] * t[1]) - rr * t[1] * t[2],
        f[9] - qq * s[2] * s[2] - 2.0 * qr * s[2] * t[2] - rr * t[2] * t[2],
    )


@jit
def _descended(
    p: Array, n: Integers, c: Array, u: Array, x: float, y: float, z: float, radius: float, a: float, b: float, g: float
) -> tuple[float, float, float, Jet]:
    """The unit vector to a least phi on the sphere about a point, downhill from the unit vector (a, b, g), and phi there."""
    best, one, two = math.inf, 1.0, 0.0
    a0, b0, g0, f = a, b, g, NAN
    q, r, qq, qr, rr = _bend(f, a, b, g, 1.0)
    for k in range(60):
        f = _shape(p, n, c, u, x + radius * a, y + radius * b, z + radius * g, ALL)
        size = math.sqrt(f[1] * f[1] + f[2] * f[2] + f[3] * f[3])
        if f[0] > best + 1e-12 * size * radius and k < 59:  # uphill: a shorter step from where it was
            one, two = 0.25 * one, 0.25 * two
        else:
            best, a0, b0, g0 = f[0], a, b, g
            # Quadratic, as in _foot; nan ends it.
            if not one * one + two * two > 1e-18:
                break
            q, r, qq, qr, rr = _bend(f, a, b, g, 1.0)
            mu = -(f[1] * a + f[2] * b + f[3] * g) / radius
            qq, rr = qq + mu, rr + mu
            low = 0.5 * (qq + rr) - math.sqrt(0.25 * (qq - rr) ** 2 + qr * qr)
            shift = 0.0 if low > 1e-3 * size / radius else size / radius - low
            t1, t2 = f[1] * q[0] + f[2] * q[1] + f[3] * q[2], f[1] * r[0] + f[2] * r[1] + f[3] * r[2]
            det = ((qq + shift) * (rr + shift) - qr * qr) * radius
            one, two = (qr * t2 - (rr + shift) * t1) / det, (qr * t1 - (qq + shift) * t2) / det
            length = math.sqrt(one * one + two * two)
            if length > 0.5:
                one, two = 0.5 * one / length, 0.5 * two / length
        a, b, g = a0 + one * q[0] + two * r[0], b0 + one * q[1] + two * r[1], g0 + one * q[2] + two * r[2]
        length = math.sqrt(a * a + b * b + g * g)
        a, b, g = a / length, b / length, g / length
    return a0, b0, g0, f


# A sphere above a height field rests at the height F = max h(x + e) + sqrt(r^2 - e^2) over the disc |e| <= r. The search below goes
# from blocks of cells to cells to parts of cells, and leaves out whatever cannot be higher than what is known.

ROOM = 512  # of the stack of blocks and parts
PATIENCE = 4000  # parts looked at before the search is content with less
NOWHERE, FOUND, UNSURE = range(3)


@jit
def _higher(p: Array, n: Integers, c: Array, u: Array, x: float, y: float, radius: float, known: float) -> tuple[float, float, bool]:
    """e / radius of a point of the disc where F is higher than ``known``, and whether there is one."""
    margin = 1e-13 * (abs(known) + radius)
    stack, patch, rows = np.empty((ROOM, 7)), np.empty((4, 4)), np.empty((2, 16))
    for _ in range(5):
        e, h, status = _search(p, n, c, u, x, y, radius, known + margin, stack, patch, rows)
        if status != UNSURE:
            return e / radius, h / radius, status == FOUND
        margin *= 1000.0  # ground that fits the sphere all over, or is steep at its rim: what is left out is no higher than this
    return 0.0, 0.0, False


@jit
def _search(
    p: Array, n: Integers, c: Array, u: Array, x: float, y: float, radius: float, known: float, stack: Array, patch: Array, rows: Array
) -> tuple[float, float, int]:
    """e of a point where F > known, and FOUND; or NOWHERE, or UNSURE."""
    dx, dy = p[SIZE + 1], p[SIZE + 3]
    centre_x, centre_y = (x - p[SIZE]) / dx, (y - p[SIZE + 2]) / dy  # in cells
    reach_x, reach_y = radius / dx, radius / dy
    # The coarsest table in which a block is no smaller than the disc.
    cells_x, cells_y = n[COUNT_X] + 1, n[COUNT_Y] + 1
    first = n[TABLE]
    level, wide, high = 0, cells_x, cells_y
    while wide * high > 1 and 2.0**level < 2.0 * max(reach_x, reach_y):
        first += wide * high
        level, wide, high = level + 1, (wide + 1) // 2, (high + 1) // 2
    top = 0
    for i in range(_block(centre_x - reach_x, n[COUNT_X], level), _block(centre_x + reach_x, n[COUNT_X], level) + 1):
        for j in range(_block(centre_y - reach_y, n[COUNT_Y], level), _block(centre_y + reach_y, n[COUNT_Y], level) + 1):
            stack[top, 0], stack[top, 1], stack[top, 2] = level, i, j
            top += 1
    parts = 0
    while top > 0:
        top -= 1
        level, i, j = int(stack[top, 0]), int(stack[top, 1]), int(stack[top, 2])
        if level >= 0:
            u0, u1 = _span(i, level, n[COUNT_X])
            v0, v1 = _span(j, level, n[COUNT_Y])
            u0, u1 = max(u0, centre_x - reach_x), min(u1, centre_x + reach_x)
            v0, v1 = max(v0, centre_y - reach_y), min(v1, centre_y + reach_y)
        else:
            u0, u1, v0, v1 = stack[top, 3], stack[top, 4], stack[top, 5], stack[top, 6]
        if not (u0 < u1 and v0 < v1):
            continue
        near_x, near_y = dx * (min(max(centre_x, u0), u1) - centre_x), dy * (min(max(centre_y, v0), v1) - centre_y)
        left = radius * radius - near_x * near_x - near_y * near_y
        if left <= 0.0:
            continue
        if level >= 0:
            # The place of this level's table, from the finest on.
            first, wide, high = n[TABLE], cells_x, cells_y
            for _ in range(level):
                first += wide * high
                wide, high = (wide + 1) // 2, (high + 1) // 2
            if c[first + i * high + j] + math.sqrt(left) <= known:
                continue
            if level > 0:
                below_x, below_y = cells_x, cells_y
                for _ in range(level - 1):
                    below_x, below_y = (below_x + 1) // 2, (below_y + 1) // 2
                if top + 4 > ROOM:
                    return 0.0, 0.0, UNSURE
                for k in range(4):
                    if 2 * i + k // 2 < below_x and 2 * j + k % 2 < below_y:
                        stack[top, 0], stack[top, 1], stack[top, 2] = level - 1, 2 * i + k // 2, 2 * j + k % 2
                        top += 1
                continue
        parts += 1
        if parts > PATIENCE or top + 4 > ROOM:
            return 0.0, 0.0, UNSURE
        _patch(n, c, i, j, u0, u1, v0, v1, rows, patch)
        e0, e1, f0, f1 = dx * (u0 - centre_x), dx * (u1 - centre_x), dy * (v0 - centre_y), dy * (v1 - centre_y)
        e, f = 0.5 * (e0 + e1), 0.5 * (f0 + f1)
        middle = radius * radius - e * e - f * f
        height = math.sqrt(max(0.0, middle))
        if middle > 0.0:
            value = 0.0
            for k in range(4):
                for m in range(4):
                    value += (0.125 if k % 3 == 0 else 0.375) * (0.125 if m % 3 == 0 else 0.375) * patch[k, m]
            if value + height > known:
                return e, f, FOUND
        # The root is concave: below its tangent at any point of the disc. That is the middle of the part, or its nearest point.
        if middle < 1e-3 * radius * radius:
            e, f, height = near_x, near_y, math.sqrt(left)
        highest = -math.inf
        for k in range(4):
            for m in range(4):
                along, across = e0 + k * (e1 - e0) / 3.0 - e, f0 + m * (f1 - f0) / 3.0 - f
                highest = max(highest, patch[k, m] + height - (e * along + f * across) / height)
        if highest <= known:
            continue
        if _concave(patch, e0, e1, f0, f1, radius):
            e, f, highest = _summit(p, n, c, u, x, y, radius, e0, e1, f0, f1)
            value = radius * radius - e * e - f * f
            if value > 0.0 and _height(p, n, c, u, x + e, y + f)[0] + math.sqrt(value) > known:
                return e, f, FOUND
            if highest <= known:
                continue
        middle_u, middle_v = 0.5 * (u0 + u1), 0.5 * (v0 + v1)
        if not (u0 < middle_u < u1 and v0 < middle_v < v1):  # no part can be smaller
            continue
        for k in range(4):
            stack[top, 0], stack[top, 1], stack[top, 2] = -1, i, j
            stack[top, 3], stack[top, 4] = (middle_u, u1) if k // 2 else (u0, middle_u)
            stack[top, 5], stack[top, 6] = (middle_v, v1) if k % 2 else (v0, middle_v)
            top += 1
    return 0.0, 0.0, NOWHERE


@jit
def _block(place: float, count: int, level: int) -> int:
    """The block of a level that holds a place on an axis with ``count`` nodes: cell 0 is all before the first, cell count all beyond."""
    cell = 0 if place < 0.0 else (count if place >= count - 1.0 else int(place) + 1)
    return cell >> level


@jit
def _span(block: int, level: int, count: int) -> tuple[float, float]:
    """Where a block begins and ends, in cells."""
    first, last = block << level, ((block + 1) << level) - 1
    return (-math.inf if first == 0 else first - 1.0), (math.inf if last >= count else float(last))


@jit
def _patch(n: Integers, c: Array, i: int, j: int, u0: float, u1: float, v0: float, v1: float, rows: Array, patch: Array) -> None:
    """The Bezier coefficients (4, 4) of h on a part of the cell (i, j)."""
    a = _bezier(u0, u1, i, n[COUNT_X], rows[0])
    b = _bezier(v0, v1, j, n[COUNT_Y], rows[1])
    columns = n[COUNT_Y] + 2
    first = n[OFFSET] + a * columns + b
    for k in range(4):
        for m in range(4):
            patch[k, m] = 0.0
    for one in range(4):
        for m in range(4):
            value = 0.0
            for other in range(4):
                value += rows[1, 4 * m + other] * c[first + one * columns + other]
            for k in range(4):
                patch[k, m] += rows[0, 4 * k + one] * value


@jit
def _bezier(x0: float, x1: float, cell: int, count: int, out: Array) -> int:
    """out (4 x 4,): the Bezier coefficients on [x0, x1] of a cell from its four coefficients, the first of which is returned."""
    first = min(max(cell - 1, 0), count - 2)
    g0, g1 = x0 - first, x1 - first
    reach = (x1 - x0) / 3.0
    for end in range(2):
        g = g1 if end else g0
        inside = min(max(g, 0.0), 1.0)
        f, beyond = 1.0 - inside, g - inside
        for k in range(4):
            if k == 0:
                value, slope = f * f * f / 6.0, -0.5 * f * f
            elif k == 1:
                value, slope = 2.0 / 3.0 + inside * inside * (0.5 * inside - 1.0), inside * (1.5 * inside - 2.0)
            elif k == 2:
                value, slope = 2.0 / 3.0 + f * f * (0.5 * f - 1.0), 0.5 + inside * (1.0 - 1.5 * inside)
            else:
                value, slope = inside * inside * inside / 6.0, 0.5 * inside * inside
            value += beyond * slope
            if end:
                out[12 + k], out[8 + k] = value, value - reach * slope
            else:
                out[k], out[4 + k] = value, value + reach * slope
    return first


@jit
def _concave(b: Array, e0: float, e1: float, f0: float, f1: float, radius: float) -> bool:
    """Whether h + sqrt(r^2 - e^2) is concave on a part [e0, e1] x [f0, f1] of a cell with Bezier coefficients b, for sure."""
    far_x, far_y = max(abs(e0), abs(e1)), max(abs(f0), abs(f1))
    near_x, near_y = (0.0 if e0 * e1 <= 0.0 else min(abs(e0), abs(e1))), (0.0 if f0 * f1 <= 0.0 else min(abs(f0), abs(f1)))
    square = radius * radius
    low, high = square - far_x * far_x - far_y * far_y, square - near_x * near_x - near_y * near_y
    if low <= 0.0:
        return False
    low, high = low**-1.5, high**-1.5
    xx, yy, least, most = -math.inf, -math.inf, math.inf, -math.inf
    for k in range(4):
        for m in range(4):
            if k < 2:
                xx = max(xx, b[k + 2, m] - 2.0 * b[k + 1, m] + b[k, m])
            if m < 2:
                yy = max(yy, b[k, m + 2] - 2.0 * b[k, m + 1] + b[k, m])
            if k < 3 and m < 3:
                twist = b[k + 1, m + 1] - b[k + 1, m] - b[k, m + 1] + b[k, m]
                least, most = min(least, twist), max(most, twist)
    wide, deep = e1 - e0, f1 - f0
    xx = 6.0 * xx / (wide * wide) - (square - far_y * far_y) * high
    yy = 6.0 * yy / (deep * deep) - (square - far_x * far_x) * high
    if xx >= 0.0 or yy >= 0.0:
        return False
    # -e f / root^3, from its four corners
    down, up = math.inf, -math.inf
    for k in range(4):
        product = -(e1 if k // 2 else e0) * (f1 if k % 2 else f0)
        down, up = min(down, product * low, product * high), max(up, product * low, product * high)
    twist = max(abs(9.0 * least / (wide * deep) + down), abs(9.0 * most / (wide * deep) + up))
    return twist * twist < xx * yy


@jit
def _summit(
    p: Array, n: Integers, c: Array, u: Array, x: float, y: float, radius: float, e0: float, e1: float, f0: float, f1: float
) -> tuple[float, float, float]:
    """Where F is highest on a part on which it is concave, by Newton within it, and a bound of F there from the tangent at that place."""
    e, f = 0.5 * (e0 + e1), 0.5 * (f0 + f1)
    bound = math.inf
    for _ in range(8):
        h = _height(p, n, c, u, x + e, y + f)
        root = math.sqrt(radius * radius - e * e - f * f)
        one, two = h[1] - e / root, h[2] - f / root
        bound = min(
            bound, h[0] + root + (one * (e1 - e) if one > 0.0 else one * (e0 - e)) + (two * (f1 - f) if two > 0.0 else two * (f0 - f))
        )
        cube = root * root * root
        xx, yy = h[3] - (radius * radius - f * f) / cube, h[5] - (radius * radius - e * e) / cube
        xy = h[4] - e * f / cube
        # On an edge, along it.
        if (e == e0 and one < 0.0) or (e == e1 and one > 0.0):
            a, b = e, min(max(f - two / yy, f0), f1)
        elif (f == f0 and two < 0.0) or (f == f1 and two > 0.0):
            a, b = min(max(e - one / xx, e0), e1), f
        else:
            det = xx * yy - xy * xy
            a, b = min(max(e - (yy * one - xy * two) / det, e0), e1), min(max(f - (xx * two - xy * one) / det, f0), f1)
        if abs(a - e) + abs(b - f) <= 1e-15 * radius:
            break
        e, f = a, b
    return e, f, bound
