"""Block Gauss-Seidel: each contact in turn solved exactly, with the impulses of all others as they are. Compiled."""

from __future__ import annotations

import numpy as np

from urdf_gibbs.contact.coulomb.one_contact import one_contact
from urdf_gibbs.contact.coulomb.scaled import FRICTION, JOINT, SLIDING, Array, Indices
from urdf_gibbs.engine.jit import jit


@jit
def sweep(S: Array, kind: Indices, at: Indices, law: Array, y: Array, s: Array) -> float:
    """One turn over all contacts; ``s`` holds S y + b before and after. Gives the largest change of an impulse."""
    c, old = np.empty(3), np.empty(3)
    largest = 0.0
    for i in range(kind.shape[0]):
        a = at[i]
        rows = at[i + 1] - a
        for r in range(rows):
            old[r] = y[a + r]
        if kind[i] == FRICTION:
            for r in range(3):
                c[r] = s[a + r]
                for m in range(3):
                    c[r] -= S[a + r, a + m] * y[a + m]
            if c[0] < 0.0 or y[a] != 0.0:
                one_contact(S, a, c, law[i, 0], y)
        elif S[a, a] > 0.0:
            _one_row(S, kind[i], a, law, i, y, s)
        for r in range(rows):
            change = y[a + r] - old[r]
            if change != 0.0:
                largest = max(largest, abs(change))
                for j in range(s.shape[0]):
                    s[j] += change * S[a + r, j]
    return largest


@jit
def _one_row(S: Array, kind: int, a: int, law: Array, i: int, y: Array, s: Array) -> None:
    """A contact without friction, a joint with dry friction, a contact that slides already."""
    if kind == JOINT:
        y[a] = min(max(y[a] - s[a] / S[a, a], -law[i, 0]), law[i, 0])
        return
    if kind == SLIDING:
        c1, c2 = -law[i, 0] * law[i, 1], -law[i, 0] * law[i, 2]
        D = S[a, a] + S[a, a + 1] * c1 + S[a, a + 2] * c2
        if D > 0.0:
            y[a] = max(0.0, y[a] - s[a] / D)
        y[a + 1], y[a + 2] = c1 * y[a], c2 * y[a]
        return
    y[a] = max(0.0, y[a] - s[a] / S[a, a])
