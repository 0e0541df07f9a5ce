"""The core alone, and what is said where an extra is missing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from urdf_gibbs.errors import MissingExtraError
from urdf_gibbs.extras import EXTRAS, extras_named

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {
    "umsgpack": "u-msgpack-python",
    "collada": "pycollada",
    "PIL": "pillow",
    "jaxlib": "jax",
    "pydrake": "drake",
}  # where they are not called as they are imported
# As if only numpy and llvmlite were installed: whatever else is asked for is not found, also by what those two would import.
HIDING = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def hidden(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    text = HIDING.format(hidden=sorted({*EXTRAS, "pinocchio", "numba"})) + code
    return subprocess.run([sys.executable, "-W", "ignore", "-c", text, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_the_core_needs_numpy_and_llvmlite_alone() -> None:
    names = [re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]]  # type: ignore[index]
    assert names == ["numpy", "llvmlite"]
    done = hidden("import runpy; runpy.run_path('tests/core_alone.py', run_name='__main__')")
    assert done.returncode == 0, done.stderr
    assert "the core works alone" in done.stdout


def test_each_package_is_in_the_extra_that_the_error_names() -> None:
    extras = PROJECT["optional-dependencies"]
    for package, extra in EXTRAS.items():
        declared = [re.match(r"[\w-]+", line)[0] for line in extras[extra]]  # type: ignore[index]
        assert DISTRIBUTIONS.get(package, package) in declared, package
    everything = re.search(r"\[(.*)\]", extras["all"][0])
    assert (
        "urdf-gibbs[dask,docs,jax,mjcf,sdf,validation]" in extras["dev"] and "urdf-gibbs[all,robots]" in extras["validation"]
    )  # dev has all of them
    assert everything is not None and {*EXTRAS.values()} - {"dask", "jax", "mjcf", "sdf", "torch"} <= set(everything[1].split(","))


def test_the_page_on_installing_lists_every_extra() -> None:
    page = (ROOT / "docs" / "pages" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", page, re.M)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == set(PROJECT["optional-dependencies"]) - {"dev", "docs", "validation"}  # those of the clone


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("robot.view()", "meshcat", "view"),
        ("ug.simulate(robot, [0.1], None, 0.1).plot()", "matplotlib", "plot"),
        ("ug.simulate(robot, [0.1], None, 0.1).animate()", "meshcat", "view"),
        ("ug.simulate(robot, [0.1], None, 0.1).to_dataframe()", "pandas", "table"),
        ("q = [[0.1], [0.2], [0.4], [0.8]]; ug.identify(robot, q, q, q, q, feasible=True)", "clarabel", "identify"),
        ("ug.sweep('bouncing_ball', {'restitution': '0:1:3'})", "pyarrow", "sweep"),
        ("ug.load('<mujoco/>')", "mujoco", "mjcf"),
        ("ug.load('<sdf/>')", "pydrake", "sdf"),
        ("import io; file = io.StringIO('<robot/>'); file.name = 'a.xacro'; ug.load(file)", "xacro", "xacro"),
        ("import urdf_gibbs.jax", "jax", "jax"),
        ("import urdf_gibbs.torch", "torch", "torch"),
    ],
)
def test_a_missing_extra_is_an_error_that_names_its_line(code: str, package: str, extra: str) -> None:
    done = hidden(f"import urdf_gibbs as ug; robot = ug.load(ug.model_path('pendulum')); {code}")
    assert done.returncode == 1
    assert f"MissingExtraError: this needs {package}, which is not installed: pip install 'urdf-gibbs[{extra}]'" in done.stderr


def test_the_command_says_what_it_needs() -> None:
    done = hidden("import runpy; runpy.run_module('urdf_gibbs', run_name='__main__')", "--version")
    assert done.returncode == 1 and re.search(r"urdf-gibbs: this needs (typer|rich), .*\[cli\]", done.stderr)


def test_other_missing_modules_stay_as_they_are() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), extras_named():
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401
    with pytest.raises(MissingExtraError, match=r"this needs sympy.*\[equations\]"), extras_named():
        raise ModuleNotFoundError("No module named 'sympy.core'", name="sympy.core")
