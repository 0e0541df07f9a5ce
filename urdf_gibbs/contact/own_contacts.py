"""Machine code for the contacts of one robot: gaps of all its candidates, with their derivatives.

    int64_t contacts(y, a, out, moves)

y holds q and v, a the accelerations; out (contacts, 5) is what ``update_gaps`` (simulation/rows.py) computes in general: phi, its first
and second derivative, |grad phi|, the speed of the point. The status is 1 where one of them is not finite.

The motion of the bodies is traced and simplified like all kernels of a robot (dynamics/kinematics.py). The points of a body with few
points are straight-line code; for a body with many the trace yields three affine maps from body axes to positions, velocities and
accelerations, and a loop takes four points at a time through them. So code and compile time grow with the number of bodies, not of
points. Planes, cylinders and spheres that stand still are handled here, four points at a time; so are pairs of points (a sphere about
the other point) and joint limits. For all other walls the motion of each point (position, velocity and acceleration in world axes) goes
to a row of ``moves`` (points, 9), which the walls' own code reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.kinematics import DRY, LIMIT, PAIR, WALL, Contacts
from urdf_gibbs.contact.surfaces import CENTRE, CYLINDER, FRAME, MOVES, PLANE, RADIUS, SIGN, SPHERE, STILL, Surfaces
from urdf_gibbs.dynamics.kinematics import BodyMotion, motions
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.scalar import cross, transposed, vadd, vsub
from urdf_gibbs.engine.emit import CLEARING, LANES, Function, Program, function_ir, literal, sincos_ir
from urdf_gibbs.engine.graph import Graph, TooLarge, arithmetic, simplified
from urdf_gibbs.engine.objects import Code, load_code
from urdf_gibbs.engine.scatter import transposed_lanes
from urdf_gibbs.robot.garbage import garbage_collection_paused
from urdf_gibbs.robot.model import Robot

FEW = 3  # up to this many points of a body are straight-line code
MAX_OPERATIONS = 20_000  # of the traced part
MAX_POINTS, MAX_WALLS = 10_000, 16  # points in the tables, walls that are part of the code
COLUMNS = 5  # of out
V = f"<{LANES} x double>"
BLOCK = 9 * LANES  # numbers in a block: position, velocity and acceleration of four points, component by component
MAPS = 36  # numbers of the three affine maps of a body

Point = tuple[int, tuple[float, ...]]  # body and place in its frame


@dataclass(frozen=True)
class OwnContacts:
    """The code; ``remaining`` (k, 2) are the contacts left to other walls' code, with their rows of ``moves`` (points, 9)."""

    code: Code
    remaining: NDArray[np.int64]
    moves: NDArray[np.float64]


def own_contacts(robot: Robot, contacts: Contacts, surfaces: Surfaces, walls: bool = True) -> OwnContacts | None:
    """The code for these candidates; None where there is nothing to touch or where the general code is better.

    With ``walls`` those that are simple are part of the code, with their numbers; else all are left to the walls' own code.
    """
    try:
        with garbage_collection_paused():
            layout = _layout(robot, contacts, surfaces, MAX_WALLS if walls else 0)
            if layout is None:
                return None
            text = _module_ir(robot, layout)
    except TooLarge:
        return None
    return OwnContacts(load_code(text), layout.remaining, np.zeros((layout.rows if len(layout.remaining) else 0, 9)))


# layout of the data ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where the points of one block go: the first column of each in out (four numbers), and its row of moves."""

    out: list[int]
    row: list[int]


@dataclass(frozen=True)
class Layout:
    """Blocks of four points; a block that is not full repeats its last one."""

    written: list[list[Point]]  # blocks of points as straight-line code
    spread: dict[int, list[list[Point]]]  # by body: blocks of the bodies with many points
    pairs: list[list[tuple[Point, Point]]]
    places: list[Place]  # of all blocks in this order
    numbers: list[list[list[float]]]  # of all blocks in this order, by wall: two numbers of each point
    walls: list[tuple[int, Any]]  # kind and values of the walls that are part of the code
    columns: list[int]  # where their contacts start, from the first of a point
    limits: list[tuple[int, int, float, float, int]]  # entry of q, of v, slope, offset, place in out
    remaining: NDArray[np.int64]
    rows: int  # of moves


def _layout(robot: Robot, contacts: Contacts, surfaces: Surfaces, most: int) -> Layout | None:
    """``most``: walls that are part of the code."""
    count, walls = len(contacts.kind), len(surfaces.kind)
    points = int((contacts.kind == WALL).sum()) // max(1, walls)
    on_walls = points * walls
    if (
        (contacts.kind == DRY).all()
        or contacts.rim[:, 3].any()
        or contacts.half.any()
        or points > MAX_POINTS
        or not _in_order(contacts, points, walls)
    ):
        return None
    simple = [i for i in range(walls) if surfaces.kind[i] <= SPHERE and surfaces.integers[i, MOVES] == STILL][:most]
    others = [i for i in range(walls) if i not in simple]
    by_body: dict[int, list[int]] = {}
    for i in range(points):
        by_body.setdefault(int(contacts.body[i * walls, 0]), []).append(i)
    many = {body: own for body, own in by_body.items() if body >= 0 and len(own) > FEW}
    few = [i for body, own in by_body.items() if body not in many for i in own]
    radius = contacts.radius[:on_walls:walls] if walls else np.zeros(0)

    def point(c: int, second: int = 0) -> Point:
        return int(contacts.body[c, second]), tuple(contacts.place[c, 3 * second : 3 * second + 3].tolist())

    written, spread = _blocks(few), {body: _blocks(own) for body, own in many.items()}
    places, numbers = [], []
    for block in [*written, *(block for own in spread.values() for block in own)]:
        places.append(Place([COLUMNS * walls * i for i in block], block))
        numbers.append([_numbers(surfaces.kind[w], surfaces.values[w], radius[block]) for w in simple])
    pairs = _blocks([c for c in range(count) if contacts.kind[c] == PAIR])
    for block in pairs:
        places.append(Place([COLUMNS * c for c in block], [0] * LANES))
        reach = contacts.radius[block]
        numbers.append([[*(1.0 / reach).tolist(), *(0.5 * reach).tolist()]])
    limits = [(*contacts.index[c].tolist(), *contacts.limit[c].tolist(), COLUMNS * c) for c in range(count) if contacts.kind[c] == LIMIT]
    return Layout(
        written=[[point(i * walls) for i in block] for block in written],
        spread={body: [[point(i * walls) for i in block] for block in own] for body, own in spread.items()},
        pairs=[[(point(c), point(c, 1)) for c in block] for block in pairs],
        places=places,
        numbers=numbers,
        walls=[(int(surfaces.kind[w]), surfaces.values[w]) for w in simple],
        columns=[COLUMNS * w for w in simple],
        limits=limits,
        remaining=np.array([(i * walls + w, i) for i in range(points) for w in others], dtype=np.int64).reshape(-1, 2),
        rows=points,
    )


def _in_order(contacts: Contacts, points: int, walls: int) -> bool:
    """Whether the contacts with walls come first, point by point, each with all walls in order."""
    on_walls = points * walls
    if (contacts.kind[:on_walls] != WALL).any() or (contacts.kind[on_walls:] == WALL).any():
        return False
    first = np.arange(on_walls) // max(1, walls) * walls
    return bool(
        (contacts.surface[:on_walls] == np.arange(on_walls) - first).all()
        and (contacts.body[:on_walls] == contacts.body[first]).all()
        and (contacts.place[:on_walls] == contacts.place[first]).all()
        and (contacts.radius[:on_walls] == contacts.radius[first]).all()
    )


def _blocks(items: list[int]) -> list[list[int]]:
    blocks = [items[i : i + LANES] for i in range(0, len(items), LANES)]
    return [block + [block[-1]] * (LANES - len(block)) for block in blocks]


def _numbers(kind: int, values: Any, radius: NDArray[np.float64]) -> list[float]:
    """Two numbers for each point and wall: its radius and 0 (plane), or c and d of phi = c |x|^2 / 2 - d."""
    if kind == PLANE:
        return [*radius.tolist(), *[0.0] * len(radius)]
    sign = float(values[SIGN])
    R = values[RADIUS] + sign * radius
    c = np.divide(sign, R, out=np.full(len(R), np.nan), where=R > 0.0)  # NaN for a sphere that does not fit
    return [*c.tolist(), *(0.5 * sign * R).tolist()]


# the traced motion of the robot ----------------------------------------------------------------------------


def _motion_program(robot: Robot, layout: Layout) -> Program:
    """The outputs in order: blocks of straight-line points, blocks of pairs, then the affine maps of bodies with many points."""
    graph = Graph(20 * MAX_OPERATIONS)
    q, v, a = ([graph.input(name, i) for i in range(width)] for name, width in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv)))
    bodies = motions(model_of(robot), q, v, a)

    def moved(point: Point) -> list[Any]:
        body, place = point
        if body < 0:
            return [*place, *[0.0] * 6]
        return [entry for vector in bodies[body].point(list(place)) for entry in vector]

    outputs: list[Any] = []
    for block in layout.written:
        outputs += _by_component([moved(point) for point in block])
    for pair in layout.pairs:
        outputs += _by_component([vsub(moved(one), moved(other)) for one, other in pair])
    for body in layout.spread:
        outputs += _maps(bodies[body])
    outputs = simplified(outputs, Graph())
    if arithmetic(outputs) > MAX_OPERATIONS:
        raise TooLarge
    return Program((("q", robot.nq), ("v", robot.nv), ("a", robot.nv)), outputs)


def _by_component(motions: list[list[Any]]) -> list[Any]:
    return [motion[k] for k in range(9) for motion in motions]


def _maps(body: BodyMotion) -> list[Any]:
    """Rows (constant, x, y, z) of the maps from a place in the body's frame to position, velocity and acceleration."""
    columns = transposed(body.R)
    speeds = [cross(body.omega, column) for column in columns]
    accelerations = [vadd(cross(body.alpha, column), cross(body.omega, speed)) for column, speed in zip(columns, speeds, strict=True)]
    result: list[Any] = []
    for constant, parts in ((body.p, columns), (body.velocity, speeds), (body.acceleration, accelerations)):
        for k in range(3):
            result += [constant[k], *(part[k] for part in parts)]
    return result


# the LLVM IR --------------------------------------------------------------------------------------------

HEAD = f"declare {V} @llvm.sqrt.v{LANES}f64({V})\n"


def _module_ir(robot: Robot, layout: Layout) -> str:
    program = _motion_program(robot, layout)
    text = "\n".join(_contacts(robot, layout, max(1, len(program.outputs))).lines)
    head = [sincos_ir(), CLEARING, HEAD, function_ir(program, "motion", "internal"), *_tables_and_walls(layout)]
    return "".join([*head, f"define i64 @contacts(ptr noalias %y, ptr noalias %a, ptr noalias %out, ptr noalias %moves) {{\n{text}\n}}\n"])


def _tables_and_walls(layout: Layout) -> list[str]:
    """The numbers that ``contacts`` reads, and the functions that it calls with blocks of places."""
    parts: list[str] = []
    if layout.places:
        parts += [_table("places", "i64", [x for place in layout.places for x in place.out])]
        parts += [_table("rows", "i64", [x for place in layout.places for x in place.row])]
        points = len(layout.places) - len(layout.pairs)
        for name, walls, start, stop in (
            ("walls", list(zip(layout.walls, layout.columns, strict=True)), 0, points),
            ("pairs", [((SPHERE, None), 0)], points, len(layout.places)),
        ):
            if stop > start:
                numbers = [x for block in layout.numbers[start:stop] for wall in block for x in wall]
                parts += [_table(f"{name}_numbers", "double", numbers or [0.0])]
                parts += [_walls_ir(name, walls, start, name == "walls" and len(layout.remaining) > 0)]
        spots = [block for own in layout.spread.values() for block in own]
        if spots:
            parts += [_table("spots", "double", [point[1][k] for block in spots for k in range(3) for point in block])]
    if layout.limits:
        parts += [_table("limit_places", "i64", [x for iq, iv, *_, place in layout.limits for x in (iq, iv, place)])]
        parts += [_table("limit_numbers", "double", [x for _, _, slope, offset, _ in layout.limits for x in (slope, offset)])]
    return parts


def _contacts(robot: Robot, layout: Layout, results: int) -> Function:
    """The lines of ``contacts``: the motion of the bodies (``results`` numbers), then the contacts, loop by loop; status 1: not finite."""
    f = Function(1)
    f.do(f"%buffer = alloca [{results} x double], align 32")
    f.do(f"%block = alloca [{BLOCK} x double], align 32")
    f.do("%sums = alloca [4 x double], align 32")
    f.do(f"store {V} zeroinitializer, ptr %sums, align 32")
    f.do(f"call i64 @motion(ptr %y, ptr {f.address('%y', robot.nq)}, ptr %a, ptr %buffer)")
    blocks = len(layout.written)
    if blocks:
        i = _loop(f, "written", blocks)
        place = f.value(f"getelementptr inbounds double, ptr %buffer, i64 {f.value(f'mul i64 {i}, {BLOCK}')}")
        f.do(f"call void @walls(ptr {place}, i64 {i}, ptr %out, ptr %moves, ptr %sums)")
        _end_loop(f, "written", blocks)
    coefficients, first = BLOCK * (blocks + len(layout.pairs)), 0
    for body, own in layout.spread.items():
        rows = [[_splat(f, "%buffer", coefficients + 4 * row + k) for k in range(4)] for row in range(9)]
        i = _loop(f, f"body{body}", len(own))
        spot = f.value(f"mul i64 {f.value(f'add i64 {i}, {first}')}, {3 * LANES}")
        base = f.value(f"getelementptr inbounds double, ptr @spots, i64 {spot}")
        r = [f.value(f"load {V}, ptr {f.address(base, LANES * k)}, align 8") for k in range(3)]
        for row, (constant, *parts) in enumerate(rows):
            total = constant
            for part, x in zip(parts, r, strict=True):
                total = f.value(f"fadd contract {V} {total}, {f.value(f'fmul contract {V} {part}, {x}')}")
            f.do(f"store {V} {total}, ptr {f.address('%block', LANES * row)}, align 32")
        f.do(f"call void @walls(ptr %block, i64 {f.value(f'add i64 {i}, {blocks + first}')}, ptr %out, ptr %moves, ptr %sums)")
        _end_loop(f, f"body{body}", len(own))
        coefficients, first = coefficients + MAPS, first + len(own)
    if layout.pairs:
        i = _loop(f, "paired", len(layout.pairs))
        at = f.value(f"mul i64 {f.value(f'add i64 {i}, {blocks}')}, {BLOCK}")
        place = f.value(f"getelementptr inbounds double, ptr %buffer, i64 {at}")
        f.do(f"call void @pairs(ptr {place}, i64 {i}, ptr %out, ptr %moves, ptr %sums)")
        _end_loop(f, "paired", len(layout.pairs))
    if layout.limits:
        _limits(f, robot, len(layout.limits))
    sums = [f.value(f"load double, ptr {f.address('%sums', lane)}, align 8") for lane in range(LANES)]
    total = sums[0]
    for part in sums[1:]:
        total = f.value(f"fadd double {total}, {part}")
    f.do(f"ret i64 {f.value('zext i1 ' + f.value(f'fcmp une double {total}, {literal(0.0)}') + ' to i64')}")
    return f


def _walls_ir(name: str, walls: Sequence[tuple[tuple[int, Any], int]], start: int, moves: bool) -> str:
    """``void name(block, i64 i, out, moves, sums)``: the gaps of block i to all walls; sums += 0 times each, NaN if not finite."""
    f = Function(LANES)
    x, u, b = ([f.value(f"load {V}, ptr {f.address('%block', LANES * (3 * k + i))}, align 32") for i in range(3)] for k in range(3))
    place = f.value(f"mul i64 {f.value(f'add i64 %i, {start}')}, {LANES}")
    entries = f.value(f"getelementptr inbounds i64, ptr @places, i64 {place}")
    outs = []
    for lane in range(LANES):
        entry = f.value(f"load i64, ptr {f.value(f'getelementptr inbounds i64, ptr {entries}, i64 {lane}')}, align 8")
        outs.append(f.value(f"getelementptr inbounds double, ptr %out, i64 {entry}"))
    table = f.value(f"getelementptr inbounds double, ptr @{name}_numbers, i64 {f.value(f'mul i64 %i, {2 * LANES * len(walls)}')}")
    speed = _root(f, _dot(f, u, u))
    sums = f.value(f"load {V}, ptr %sums, align 32")
    for w, ((kind, values), column) in enumerate(walls):
        first, second = (f.value(f"load {V}, ptr {f.address(table, LANES * (2 * w + k))}, align 8") for k in range(2))
        centre, axis = ([0.0] * 3, [0.0] * 3) if values is None else (values[CENTRE : CENTRE + 3], values[FRAME + 6 : FRAME + 9])
        p = [_plus(f, x[k], -float(centre[k])) for k in range(3)]
        if kind == PLANE:
            phi = f.value(f"fsub {V} {_along(f, axis, p)}, {first}")
            rate, accel, size = _along(f, axis, u), _along(f, axis, b), f.constant(1.0)
        else:
            across = u
            if kind == CYLINDER:
                p, across = _across(f, axis, p), _across(f, axis, u)
            square = _dot(f, p, p)
            phi = f.value(f"fsub contract {V} {_times(f, f.constant(0.5), _times(f, first, square))}, {second}")
            rate = _times(f, first, _dot(f, p, across))
            accel = _times(f, first, _sum(f, _dot(f, p, b), _dot(f, across, across)))
            size = _root(f, _times(f, _times(f, first, first), square))
        whole = _sum(f, _sum(f, phi, rate), _sum(f, accel, size))
        sums = f.value(f"fadd {V} {sums}, {f.value(f'fmul {V} {whole}, {f.constant(0.0)}')}")
        for lane, row in enumerate(transposed_lanes(f, [phi, rate, accel, size])):
            f.do(f"store {V} {row}, ptr {f.address(outs[lane], column)}, align 8")
            fast = f.value(f"extractelement {V} {speed}, i32 {lane}")
            f.do(f"store double {fast}, ptr {f.address(outs[lane], column + 4)}, align 8")
    f.do(f"store {V} {sums}, ptr %sums, align 32")
    if moves:
        entries = f.value(f"getelementptr inbounds i64, ptr @rows, i64 {place}")
        for lane in range(LANES):
            row = f.value(f"load i64, ptr {f.value(f'getelementptr inbounds i64, ptr {entries}, i64 {lane}')}, align 8")
            target = f.value(f"getelementptr inbounds double, ptr %moves, i64 {f.value(f'mul i64 {row}, 9')}")
            for k, part in enumerate([*x, *u, *b]):
                value = f.value(f"extractelement {V} {part}, i32 {lane}")
                f.do(f"store double {value}, ptr {f.address(target, k)}, align 8")
    f.do("ret void")
    text = "\n".join(f.lines)
    return f"define internal void @{name}(ptr %block, i64 %i, ptr noalias %out, ptr noalias %moves, ptr noalias %sums) {{\n{text}\n}}\n"


def _limits(f: Function, robot: Robot, count: int) -> None:
    """slope q + offset, slope v, slope a, 1 and 0 for each limit."""
    i = _loop(f, "limits", count)
    integers = f.value(f"getelementptr inbounds i64, ptr @limit_places, i64 {f.value(f'mul i64 {i}, 3')}")
    numbers = f.value(f"getelementptr inbounds double, ptr @limit_numbers, i64 {f.value(f'mul i64 {i}, 2')}")
    iq, iv, place = (f.value(f"load i64, ptr {f.value(f'getelementptr inbounds i64, ptr {integers}, i64 {k}')}, align 8") for k in range(3))
    slope, offset = (f.value(f"load double, ptr {f.address(numbers, k)}, align 8") for k in range(2))
    out = f.value(f"getelementptr inbounds double, ptr %out, i64 {place}")
    results = []
    for base, index in (("%y", iq), (f.address("%y", robot.nq), iv), ("%a", iv)):
        entry = f.value(f"load double, ptr {f.value(f'getelementptr inbounds double, ptr {base}, i64 {index}')}, align 8")
        results.append(f.value(f"fmul contract double {slope}, {entry}"))
    results[0] = f.value(f"fadd contract double {results[0]}, {offset}")
    total = f.value("load double, ptr %sums, align 8")
    for result in results:
        total = f.value(f"fadd double {total}, {f.value(f'fmul double {result}, {literal(0.0)}')}")
    f.do(f"store double {total}, ptr %sums, align 8")
    for k, result in enumerate([*results, literal(1.0), literal(0.0)]):
        f.do(f"store double {result}, ptr {f.address(out, k)}, align 8")
    _end_loop(f, "limits", count)


# pieces ----------------------------------------------------------------------------------------------


def _table(name: str, kind: str, values: Sequence[Any]) -> str:
    entries = ", ".join(f"{kind} {literal(value) if kind == 'double' else value}" for value in values)
    return f"@{name} = internal constant [{len(values)} x {kind}] [{entries}], align 32\n"


def _loop(f: Function, name: str, count: int) -> str:
    """Begin a loop; the name of its index."""
    f.do(f"br label %{name}_before")
    f.label(f"{name}_before")
    f.do(f"br label %{name}")
    f.label(name)
    f.do(f"%{name}_i = phi i64 [0, %{name}_before], [%{name}_next, %{name}]")
    return f"%{name}_i"


def _end_loop(f: Function, name: str, count: int) -> None:
    f.do(f"%{name}_next = add i64 %{name}_i, 1")
    f.do(f"br i1 {f.value(f'icmp slt i64 %{name}_next, {count}')}, label %{name}, label %{name}_after")
    f.label(f"{name}_after")


def _splat(f: Function, base: str, index: int) -> str:
    x = f.value(f"load double, ptr {f.address(base, index)}, align 8")
    return f.value(
        f"shufflevector {V} {f.value(f'insertelement {V} undef, double {x}, i32 0')}, {V} undef, <{LANES} x i32> zeroinitializer"
    )


def _times(f: Function, a: str, b: str) -> str:
    return f.value(f"fmul contract {V} {a}, {b}")


def _sum(f: Function, a: str, b: str) -> str:
    return f.value(f"fadd contract {V} {a}, {b}")


def _plus(f: Function, a: str, b: float) -> str:
    return a if b == 0.0 else _sum(f, a, f.constant(b))


def _dot(f: Function, a: list[str], b: list[str]) -> str:
    total = _times(f, a[0], b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        total = _sum(f, total, _times(f, x, y))
    return total


def _along(f: Function, axis: Any, x: list[str]) -> str:
    """axis . x for numbers and vectors of lanes."""
    total = ""
    for number, part in zip(axis, x, strict=True):
        if number != 0.0:
            term = part if number == 1.0 else _times(f, f.constant(float(number)), part)
            total = _sum(f, total, term) if total else term
    return total


def _across(f: Function, axis: Any, x: list[str]) -> list[str]:
    """x without its part along the axis."""
    along = _along(f, axis, x)
    return [
        part if number == 0.0 else _sum(f, part, _times(f, f.constant(-float(number)), along)) for number, part in zip(axis, x, strict=True)
    ]


def _root(f: Function, x: str) -> str:
    return f.value(f"call {V} @llvm.sqrt.v{LANES}f64({V} {x})")
