"""Scripts of validation/ measure the sources beside them, not another installation of the package."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "validation").glob("*.py"))


def imported(script: Path) -> list[str]:
    """The packages and modules that a script imports when it is run, in order."""
    found: list[str] = []
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[0] for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            found.append((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_choose_their_tree_before_they_import_the_package(script: Path) -> None:
    modules = imported(script)
    own = {other.stem for other in SCRIPTS} - {"own_tree", "chromium", "flexible_exudyn"}  # which do not use the package
    package = [i for i, name in enumerate(modules) if name == "urdf_gibbs" or name in own]
    assert not package or modules.index("own_tree") < package[0]


@pytest.mark.parametrize("installed", [True, False])
def test_the_sources_beside_a_script_are_imported_by_it_and_by_processes_that_it_starts(tmp_path: Path, installed: bool) -> None:
    """A tree with a package of the same name, while the package of this tree is installed; then its own is found first anyway."""
    (tmp_path / "validation").mkdir()
    (tmp_path / "urdf_gibbs").mkdir()
    (tmp_path / "urdf_gibbs" / "__init__.py").touch()
    shutil.copy(ROOT / "validation" / "own_tree.py", tmp_path / "validation")
    child = "import urdf_gibbs; print(urdf_gibbs.__file__)"
    script = tmp_path / "validation" / "script.py"
    script.write_text(
        f"import own_tree, subprocess, sys, urdf_gibbs\nprint(urdf_gibbs.__file__, flush=True)\nsubprocess.run([sys.executable, '-c', {child!r}])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT if installed else tmp_path)}
    done = subprocess.run([sys.executable, str(script)], env=environment, cwd=script.parent, capture_output=True, text=True, check=True)
    assert [Path(line).resolve() for line in done.stdout.splitlines()] == 2 * [(tmp_path / "urdf_gibbs" / "__init__.py").resolve()]


def test_a_package_that_is_imported_already_is_not_taken_for_the_one_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "own_tree.py").write_text((ROOT / "validation" / "own_tree.py").read_text(encoding="utf-8"), encoding="utf-8")
    code = "import urdf_gibbs.errors, own_tree"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and f"expected from {tmp_path.parent.resolve()}: import own_tree first" in done.stderr
