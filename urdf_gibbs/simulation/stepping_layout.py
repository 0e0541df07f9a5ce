"""The memory of time stepping: the contacts of a step with their rows, which hold only the velocities that move them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.contact.coulomb.problem import MANY, Problem
from urdf_gibbs.contact.coulomb.sparse import Sparse
from urdf_gibbs.contact.kinematics import DRY, LIMIT, Contacts, Tree
from urdf_gibbs.contact.surfaces import MOVES, STILL, Surfaces
from urdf_gibbs.engine.struct import Float, Float1, Float2, Int, Int1, Int2, Struct, struct

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@struct
class Stepping(Struct):
    """What moves a contact c: the velocities moved[first[c]] ... moved[first[c + 1] - 1], from the tips of the tree to its roots.

    All arrays are empty where the other scheme is used.
    """

    still: Int  # 1: no wall moves
    islands: Int  # how many
    depth: Float  # [m] of the deepest contact at q_m, before it is brought back
    certificate: Float  # the worst of the contact problems of this step
    longest: Float  # the next step is at most this [s]
    horizon: Float  # from q_m of this step to that of the longest next step [s]
    # all contacts
    first: Int1  # (contacts + 1,)
    moved: Int1
    higher: Int1  # where the next velocity towards the root, which M couples with, stands in ``moved``; -1 at the root
    tree: Int2  # (contacts, 2) trees of bodies that the contact moves, the same twice where it is one
    root: Int1  # (nv,) the tree of each velocity
    bias: Float2  # (2, nv) at q_m with the velocity before, and with ``ahead``
    ahead: Float1  # (nv,) the velocity half a step ahead
    without: Float1  # (nv,) after the step, without impulses
    next: Float1  # (nv,) after the step
    change: Float1  # (nv,) of the velocity in the step
    spins: Float1  # (nv,) 1 where the velocity is that of a rotation, with a mimic joint's ratio if that is more; 0 elsewhere
    push: Float1  # (contacts,) impulses of the last solution along the normals [N s]
    drag: Float2  # (contacts, 3) and in their tangents, world axes
    # contacts of this step, island after island
    rows: Sparse
    island: Int1  # (contacts + 1,) the first contact of each island, then the number of contacts
    group: Int1  # (trees,) how islands are found: another tree of the same island, itself for the last
    sorted: Int1  # (contacts,)
    number: Int1  # (trees,) of the island that a tree stands for, -1: none
    many: Int1  # (contacts,) of an island
    R: Float1  # rows of the Jacobian, as Sparse.B
    U: Float1  # (rows,) relative velocities before [m/s]
    free: Float1  # (rows,) after the step, without impulses [m/s]
    after: Float1  # (rows,) and with them
    goal: Float1  # (rows,) what is added to them, so that the law asks for velocities >= 0 [m/s]
    D: Float2  # (rows, 3) directions, world axes
    scale: Float1  # (rows,) of each row, 1/√(R M⁻¹ Rᵀ) [√kg]
    row: Float2  # (nv, 3) zeros
    half: Float2  # (most velocities that move a contact, 3) room for its rows of B
    place: Float1  # (3,) room for a place
    root_inverse: Float1  # (nv,) 1/√D of M = Lᵀ D L


def stepping_memory(tree: Tree, contacts: Contacts, surfaces: Surfaces, used: bool) -> Stepping:
    """Made for these contacts, empty where time stepping is not ``used``."""
    nv = len(tree.above) if used else 0
    count = len(contacts.kind) if used else 0
    root = np.arange(nv)
    for j in range(nv):
        root[j] = root[tree.above[j]] if tree.above[j] >= 0 else j
    lists = [_moved(tree, contacts, c) for c in range(count)]
    first = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    higher = [int(first[c]) + own.index(int(tree.above[j])) if tree.above[j] >= 0 else -1 for c, own in enumerate(lists) for j in own]
    roots = [sorted({int(root[j]) for j in own}) or [0] for own in lists]
    widths = np.diff(first)
    return Stepping(
        still=int(all(surfaces.integers[:, MOVES] == STILL)),
        first=first,
        moved=np.array([j for own in lists for j in own], dtype=np.int64),
        higher=np.array(higher, dtype=np.int64),
        tree=np.array([(own[0], own[-1]) for own in roots], dtype=np.int64).reshape(-1, 2),
        root=root.astype(np.int64),
        **_zeros(nv, "ahead", "without", "next", "change"),
        bias=np.zeros((2, nv)),
        spins=_spins(tree, nv),
        push=np.zeros(count),
        drag=np.zeros((count, 3)),
        rows=_sparse(count, nv, int(3 * widths.sum()), np.array([j for own in lists for j in own], dtype=np.int64)),
        **{
            name: np.zeros(size, np.int64)
            for name, size in (("island", count + 1), ("group", nv), ("sorted", count), ("number", nv), ("many", count))
        },
        R=np.zeros(int(3 * widths.sum())),
        D=np.zeros((3 * count, 3)),
        **_zeros(3 * count, "U", "free", "after", "goal", "scale"),
        row=np.zeros((nv, 3)),
        half=np.zeros((int(max(widths, default=0)), 3)),
        **_zeros(3, "place"),
        root_inverse=np.zeros(nv),
    )


def _spins(tree: Tree, nv: int) -> Array:
    spins = np.zeros(nv)
    for j, turns, ratio in zip(tree.iv, tree.turns, tree.ratio, strict=True):
        if nv and turns == 1:
            spins[j] = max(spins[j], 1.0, abs(ratio))
    return spins


def _moved(tree: Tree, contacts: Contacts, c: int) -> list[int]:
    """The velocities that move contact c and all towards their roots, the last first."""
    found: set[int] = set()
    starts: list[int] = []
    if contacts.kind[c] in (LIMIT, DRY):
        starts.append(int(contacts.index[c, 1]))
    else:
        for side in range(2):
            body = int(contacts.body[c, side])
            while body >= 0:
                starts += tree.iv[tree.start[body] : tree.start[body + 1]].tolist()
                body = int(tree.parent[body])
    for start in starts:
        while start >= 0 and start not in found:
            found.add(start)
            start = int(tree.above[start])
    return sorted(found, reverse=True)


def _sparse(count: int, nv: int, numbers: int, columns: Indices) -> Sparse:
    most = min(count, MANY)
    dense = Problem(
        **_zeros(3 * most, "b", "p"),
        **_zeros(most, "mu", "reach"),
        kind=np.zeros(most, np.int64),
        at=np.zeros(most + 1, np.int64),
        K=np.zeros(9 * most * most),
        slide=np.zeros((most, 2)),
    )
    return Sparse(
        **{name: np.zeros(count, np.int64) for name in ("kind", "start", "column_at", "width")},
        at=np.zeros(count + 1, np.int64),
        columns=columns,
        law=np.zeros((count, 3)),
        B=np.zeros(numbers),
        **_zeros(3 * count, "b", "y", "s"),
        z=np.zeros(nv),
        blocks=np.zeros((count, 3, 3)),
        place=np.full(nv, -1, np.int64),
        dense=dense,
    )


def _zeros(size: int, *names: str) -> dict[str, Any]:
    return {name: np.zeros(size) for name in names}
