"""Measures used by the claims: errors against Pinocchio, and how they are printed."""

from __future__ import annotations

import ast
import inspect
import os
from types import ModuleType

from urdf_gibbs.names import Method
from urdf_gibbs.oracle.compare import validate
from urdf_gibbs.robot.model import Robot

ROUND_OFF = 1e-12  # of sums of some hundred terms, against the largest entry
BOUNDS = (1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)


def error_against_pinocchio(robot: Robot, source: str | os.PathLike[str], method: Method, samples: int = 10) -> dict[str, float]:
    """Largest error of each quantity over random states, relative to the largest entry."""
    report = validate(robot, source, samples=samples, methods=(method,), derivatives=False)
    return {comparison.quantity: comparison.error for comparison in report.comparisons if comparison.method == method}


def length(formulation: ModuleType) -> int:
    """How long a formulation is: nodes of the syntax trees of its functions and classes, docstrings apart; what it imports is not in."""
    tree = ast.parse(inspect.getsource(formulation))
    own = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    docstrings = sum(ast.get_docstring(node) is not None for node in own)
    outer = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return sum(1 for node in outer for _ in ast.walk(node)) - 2 * docstrings  # an expression and its constant each


def bounded(error: float) -> str:
    """An error; round-off is given as the power of ten that bounds it, since its digits mean nothing."""
    for bound in BOUNDS:
        if error < bound:
            return f"< {bound:.0e}".replace("e-0", "e-")
    return f"{error:.2g}"
