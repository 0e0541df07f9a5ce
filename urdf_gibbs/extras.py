"""Packages beyond the core (numpy and llvmlite) and the extras of the distribution that bring them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from urdf_gibbs.errors import MissingExtraError

EXTRAS = {  # by the name that is imported
    "jinja2": "view",
    "matplotlib": "plot",
    "meshcat": "view",
    "tornado": "view",
    "umsgpack": "view",
    "trimesh": "view",
    "collada": "view",
    "PIL": "view",
    "sympy": "equations",
    "latex2mathml": "equations",
    "typer": "cli",
    "rich": "cli",
    "scipy": "validation",
}


@contextmanager
def extras_named() -> Iterator[None]:
    """Inside, an import that fails for a package of an extra raises MissingExtraError, which names the line that installs it."""
    try:
        yield
    except ModuleNotFoundError as problem:
        package = (problem.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtraError(package, EXTRAS[package]) from None
