"""Imported before the package by every script of this folder: they measure the sources beside them, whatever else is installed.

An editable installation of another clone or work tree would otherwise be imported instead, without a word. Processes that a script starts
inherit the choice. Where the right package is found anyway nothing changes.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]


def package_folder() -> Path | None:
    """Where ``import urdf_gibbs`` finds the package, or has found it."""
    spec = find_spec("urdf_gibbs")
    return None if spec is None or spec.origin is None else Path(spec.origin).resolve().parent


def use() -> None:
    """Put this tree first."""
    if package_folder() == TREE / "urdf_gibbs":
        return
    if "urdf_gibbs" in sys.modules:
        raise ImportError(f"urdf_gibbs was imported from {package_folder()}, expected from {TREE}: import own_tree first")
    sys.path.insert(0, str(TREE))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TREE), os.environ.get("PYTHONPATH")]))


use()
