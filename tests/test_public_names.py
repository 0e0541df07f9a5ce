"""What a person at a prompt meets: the names that a tab completes, a name with a mistake, and a cell that ends in a plot."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import urdf_gibbs as ug

# A new process, for names are imported when they are first used; one that has the core alone.
NEW = """
import sys
for name in ("matplotlib", "jinja2", "meshcat", "trimesh", "scipy", "sympy", "typer", "rich", "pinocchio", "pyarrow", "clarabel"):
    sys.modules[name] = None
import urdf_gibbs as ug
print([name for name in ug.__all__ if name not in dir(ug)])
from urdf_gibbs import *
print([name for name in ug.__all__ if name not in globals()], simulate.__module__)
"""


def test_dir_and_a_star_have_every_public_name_before_it_is_used_without_any_extra() -> None:
    done = subprocess.run([sys.executable, "-c", NEW], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["[]", "[] urdf_gibbs.simulation.simulate"], done.stderr
    assert "import_module" not in dir(ug) and "TYPE_CHECKING" not in dir(ug)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("simulte", "did you mean 'simulate'?"),
        ("Load", "did you mean 'load'?"),
        ("flexibl", "dir(urdf_gibbs) lists"),
        ("jax", "import urdf_gibbs.jax"),
    ],
)
def test_a_name_with_a_mistake_gets_a_hint(wrong: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'urdf_gibbs' has no attribute {wrong!r}") as told:
        ug.__getattr__(wrong)  # what Python asks where a module has no such name: another test may have imported urdf_gibbs.jax
    assert hint in str(told.value)


def test_a_cell_that_ends_in_a_plot_shows_a_picture(tmp_path: Path) -> None:
    """As IPython asks an object for a picture, with nothing but this package imported: pyplot would register its own."""
    formatters = pytest.importorskip("IPython.core.formatters")
    image = pytest.importorskip("PIL.Image")
    fall = ug.simulate(**ug.read_scenario("bouncing_ball").arguments())
    for figure in (fall.plot(kinds="energies"), fall.plot(tmp_path / "fall.png", "impulses", theme="dark")):
        data, _ = formatters.DisplayFormatter().format(figure)
        pixels = np.asarray(image.open(io.BytesIO(data["image/png"])).convert("RGB"))
        width, height = figure.get_size_inches()
        assert pixels.shape[1] / pixels.shape[0] == pytest.approx(width / height, rel=0.01) and pixels.shape[1] < 1400
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50  # something is drawn
    assert (tmp_path / "fall.png").read_bytes().startswith(b"\x89PNG")
