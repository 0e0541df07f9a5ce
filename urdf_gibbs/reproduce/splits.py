"""How an inertia is split into B1 and B2 (S18, Eqs. 15 and 16), and what the bias is off by in space without the term ω × B2 ω."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import urdf_gibbs as ug
from urdf_gibbs.dynamics import gibbs_appell
from urdf_gibbs.dynamics.matrices import Matrix, Vector
from urdf_gibbs.dynamics.model import Body
from urdf_gibbs.names import Base, Method
from urdf_gibbs.reproduce.claims import Grid
from urdf_gibbs.reproduce.measure import bounded, error_against_pinocchio

METHOD: Method = "gibbs_appell"


def all_in_B2(body: Body) -> Matrix:
    """The mass centre alone in B1: B2 = I_c."""
    return Matrix.zeros(3, 3)


def all_in_B1(body: Body) -> Matrix:
    """All second moments about the mass centre, tr I/2 - I: B2 = 0."""
    half: Matrix = 0.5 * body.inertia.trace() * Matrix.identity(3)
    return half - body.inertia


SPLITS: dict[str, Callable[[Body], Matrix]] = {
    "mass centre in B1, I_c in B2": all_in_B2,
    "largest thin rod in B1, the rest in B2": gibbs_appell.line_part,
    "all in B1, B2 = 0": all_in_B1,
}
ROBOTS: dict[str, tuple[str, Base]] = {
    "WJ's rocker arm: thin bars": ("rocker_arm", "fixed"),
    "S18's ten rods, floating": ("branched12", "floating"),
}


def bias_error(path: Path, base: Base, added: bool) -> float:
    """Largest error of the bias against Pinocchio over ten states, relative to the largest entry; ``added``: with ω × B2 ω."""
    robot = ug.load(path, base=base)
    with nothing_added() if not added else ExitStack():
        return error_against_pinocchio(robot, path, METHOD)["bias"]


@contextmanager
def nothing_added() -> Iterator[None]:
    """The paper's equations without a further term."""
    with patch.object(gibbs_appell, "gyroscopic", _no_moment):
        yield


@contextmanager
def split_by(line_part: Callable[[Body], Matrix], sections: Matrix | None = None) -> Iterator[None]:
    """Another part of a body's second moments in B1; ``sections``: B2 of each body with mass, where it is not what is left."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(gibbs_appell, "line_part", line_part))
        if sections is not None:
            stack.enter_context(patch.object(gibbs_appell, "B2", lambda body: sections if body.mass else Matrix.zeros(3, 3)))
        yield


def rods(length: float) -> Callable[[Body], Matrix]:
    """The line integral of Eq. 15 for a uniform rod along x, about its mass centre: m l²/12."""

    def line_part(body: Body) -> Matrix:
        return Matrix([[body.mass * length**2 / 12.0, 0.0, 0.0], [0.0] * 3, [0.0] * 3])

    return line_part


def grid() -> Grid:
    rows = []
    for name, (model, base) in ROBOTS.items():
        for split, line_part in SPLITS.items():
            with split_by(line_part):
                errors = [bias_error(ug.model_path(model), base, added) for added in (False, True)]
            rows.append((name, split, *map(bounded, errors)))
    heads = ("robot", "split", "as printed", "with ω × B2 ω")
    return Grid("Error of the bias against Pinocchio in space, by the split of the inertia", heads, rows)


def _no_moment(inertia: Matrix, omega: Vector) -> Vector:
    return Vector.zeros(3)
