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
    "clarabel": "identify",
    "jax": "jax",
    "jaxlib": "jax",
    "torch": "torch",
    "scipy": "control",
    "pyarrow": "sweep",
    "pandas": "table",
    "xacro": "xacro",
    "mujoco": "mjcf",
    "pydrake": "sdf",
    "dask": "dask",
    "distributed": "dask",
}


@contextmanager
def extras_named() -> Iterator[None]:
    """Turn a failed import of a package from an extra into a MissingExtraError, which gives the pip command that installs it."""
    try:
        yield
    except ModuleNotFoundError as problem:
        package = (problem.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtraError(package, EXTRAS[package]) from None
