"""Generated Python and C, alone and away from this package, against Pinocchio; what their self-tests notice; SymPy from the graph."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from examples import FOLDER, runner
from random_trees import random_tree
from urdf_text import joint as joint_text
from urdf_text import link as link_text
from urdf_text import point_mass
from urdf_text import robot as robot_text

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.dynamics.registry import AS_PRINTED, COMPILED, REFERENCES
from urdf_gibbs.engine.quantities import Options
from urdf_gibbs.equations.code import QUANTITIES, generate, source, traced
from urdf_gibbs.equations.graph_sympy import expressions, to_sympy
from urdf_gibbs.oracle.pinocchio import Answers, Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
DYNAMICS = {"mass_matrix": "q", "bias": "q v", "inverse_dynamics": "q v a", "forward_dynamics": "q v tau"}
ROBOTS = {
    "branched12": (ug.model_path("branched12"), "fixed"),
    "panda": (FOLDER / "panda_description/urdf/panda.urdf", "fixed"),
    "go2": (FOLDER / "go2_description/urdf/go2.urdf", "floating"),
}
CLOSE = 1e-10  # of the largest entry: round-off of two ways of summing, times the condition of the mass matrix for accelerations
# What asks for states on standard input and answers them with a module's functions; nothing but the standard library is there.
ASK = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
print(json.dumps([[module[name](*arguments) for name, arguments in state] for state in json.load(sys.stdin)]))
"""

State = dict[str, np.ndarray[Any, Any]]


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., Path]:
    """Compiles C text with all warnings as errors; a shared library, or with ``selftest`` the program that tests itself."""
    gcc = shutil.which("gcc")
    if gcc is None:
        if os.environ.get("CI"):
            pytest.fail("gcc is missing; in CI the C code is never left untested")
        pytest.skip("gcc is missing")

    def compile_(text: str, selftest: bool = False) -> Path:
        file, result = tmp_path / "robot.c", tmp_path / ("selftest" if selftest else "robot.so")
        file.write_text(text)
        macro = re.search(r"#ifdef (\w+_SELFTEST)", text)
        assert macro is not None
        kind = [f"-D{macro[1]}"] if selftest else ["-shared", "-fPIC"]
        done = subprocess.run([gcc, *FLAGS, *kind, str(file), "-o", str(result), "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return result

    return compile_


def alone(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Python without site packages, in a folder of its own."""
    command = [sys.executable, "-I", "-S", *arguments]
    return subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True, check=False)


def states(robot: ug.Robot, count: int = 4) -> list[State]:
    rng = np.random.default_rng(7)
    return [{"q": robot.random(rng), **{x: rng.uniform(-2.0, 2.0, robot.nv) for x in ("v", "a", "tau")}} for _ in range(count)]


def python_answers(module: Path, asked: list[State], parameters: dict[str, float] | None = None) -> list[dict[str, Any]]:
    extra = [] if parameters is None else [parameters]
    questions = [[(name, [*(state[x].tolist() for x in letters.split()), *extra]) for name, letters in DYNAMICS.items()] for state in asked]
    done = alone(module.parent, "-c", ASK, str(module), given=json.dumps(questions))
    assert done.returncode == 0, done.stderr
    return [dict(zip(DYNAMICS, answers, strict=True)) for answers in json.loads(done.stdout)]


def c_answer(library: ctypes.CDLL, prefix: str, robot: ug.Robot, name: str, state: State, *extra: Any) -> np.ndarray[Any, Any]:
    result = np.full((robot.nv, robot.nv) if name == "mass_matrix" else robot.nv, np.nan)
    arguments = [np.ascontiguousarray(state[x]) for x in DYNAMICS[name].split()]
    function = getattr(library, f"{prefix}_{name}")
    function(*(x.ctypes.data_as(ctypes.c_void_p) for x in arguments), *extra, result.ctypes.data_as(ctypes.c_void_p))
    return result


def said_by_pinocchio(oracle: Oracle, state: State) -> dict[str, Any]:
    answers: Answers = oracle.answers(state["q"], state["v"], state["a"], state["tau"], {})
    return {
        "mass_matrix": answers.mass_matrix,
        "bias": answers.bias,
        "inverse_dynamics": answers.inverse,
        "forward_dynamics": answers.acceleration,
    }


def agree(found: Any, reference: Any, what: str) -> None:
    found, reference = np.asarray(found), np.asarray(reference)
    assert found.shape == reference.shape
    error = np.abs(found - reference).max() / np.abs(reference).max()
    assert error <= CLOSE, f"{what}: {error:.1e}"


# against Pinocchio ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_python_alone_agrees_with_pinocchio_and_passes_its_own_test(name: str, tmp_path: Path) -> None:
    path, base = ROBOTS[name]
    robot = ug.load(path, base=base)
    oracle = Oracle(path, base, True, EARTH_GRAVITY)
    module = tmp_path / "robot.py"
    module.write_text(generate(robot, list(DYNAMICS)))
    asked = states(robot)
    for state, answers in zip(asked, python_answers(module, asked), strict=True):
        for what, reference in said_by_pinocchio(oracle, state).items():
            agree(answers[what], reference, what)
    done = alone(tmp_path, str(module))
    assert done.returncode == 0, done.stderr
    assert "worst error" in done.stdout


@pytest.mark.parametrize("name", ROBOTS)
def test_c_agrees_with_pinocchio_and_passes_its_own_test(name: str, compiled: Callable[..., Path]) -> None:
    path, base = ROBOTS[name]
    robot = ug.load(path, base=base)
    oracle = Oracle(path, base, True, EARTH_GRAVITY)
    text = generate(robot, list(DYNAMICS), "c")
    prefix = re.search(r"(\w+)_mass_matrix\(", text)[1]  # type: ignore[index]
    library = ctypes.CDLL(str(compiled(text)))
    for state in states(robot):
        for what, reference in said_by_pinocchio(oracle, state).items():
            agree(c_answer(library, prefix, robot, what, state), reference, what)
    assert subprocess.run([compiled(text, selftest=True)], capture_output=True, check=False).returncode == 0
    if base == "floating":
        wrong = {**states(robot)[0]}
        wrong["q"] = wrong["q"] * 1.01
        assert np.isnan(c_answer(library, prefix, robot, "bias", wrong)).all()
        assert library[f"{prefix}_bias"](*(wrong[x].ctypes.data_as(ctypes.c_void_p) for x in ("q", "v", "v"))) == 1


def edited(link: str, mass: float, joint: str, shift: float) -> str:
    """The Panda with another mass of a link and another height [m] of a joint's place."""
    root = ElementTree.parse(ROBOTS["panda"][0]).getroot()
    root.find(f"link[@name='{link}']/inertial/mass").set("value", repr(mass))  # type: ignore[union-attr]
    root.find(f"joint[@name='{joint}']/origin").set("xyz", f"0 0 {shift!r}")  # type: ignore[union-attr]
    return ElementTree.tostring(root, encoding="unicode")


def test_changed_parameters_agree_with_pinocchio_for_a_changed_urdf(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    robot = ug.load(ROBOTS["panda"][0])
    made = source(robot, list(DYNAMICS), named=True)
    mass = next(one.name for one in made.parameters if one.meaning.startswith("mass of panda_link3 "))
    height = next(one for one in made.parameters if one.meaning.startswith("from the world's origin to panda_joint1"))
    assert height.value == 0.333
    oracle = Oracle(edited("panda_link3", 5.5, "panda_joint1", 0.5), "fixed", True, EARTH_GRAVITY)
    module = tmp_path / "robot.py"
    module.write_text(generate(robot, list(DYNAMICS), named=True))
    values = {one.name: one.value for one in made.parameters}
    asked = states(robot)
    unchanged, changed = (python_answers(module, asked, values | new) for new in ({}, {mass: 5.5, height.name: 0.5}))
    file = Oracle(ROBOTS["panda"][0], "fixed", True, EARTH_GRAVITY)
    for state, before, after in zip(asked, unchanged, changed, strict=True):
        for what, reference in said_by_pinocchio(file, state).items():
            agree(before[what], reference, what)
        for what, reference in said_by_pinocchio(oracle, state).items():
            agree(after[what], reference, what)
    # C: the struct has the parameters in their order
    text = generate(robot, ["mass_matrix"], "c", named=True)
    library = ctypes.CDLL(str(compiled(text)))
    struct = np.array(list((values | {mass: 5.5}).values()))
    M = c_answer(library, "panda", robot, "mass_matrix", asked[0], struct.ctypes.data_as(ctypes.c_void_p))
    reference = Oracle(edited("panda_link3", 5.5, "panda_joint1", 0.333), "fixed", True, EARTH_GRAVITY)
    agree(M, said_by_pinocchio(reference, asked[0])["mass_matrix"], "mass_matrix")
    assert subprocess.run([compiled(text, selftest=True)], capture_output=True, check=False).returncode == 0


# self-tests -------------------------------------------------------------------------------------------


def changed_constants(text: str, start: str, end: str, count: int) -> list[str]:
    """The text with one constant of the code between two marks larger by a thousandth, for constants spread over it."""
    first, last = text.index(start), text.index(end)
    found = [match for match in re.finditer(r"(?<![\w.])\d\.\d{3,}(?!\d*e-)", text[first:last])]
    chosen = found[:: max(1, len(found) // count)]
    return [f"{text[: first + m.start()]}{float(m[0]) * 1.001!r}{text[first + m.end() :]}" for m in chosen]


def test_the_self_test_of_python_notices_a_changed_constant(tmp_path: Path) -> None:
    text = generate(ug.load(ROBOTS["go2"][0], base="floating"), list(DYNAMICS))  # no mimic joints, whose fingers cancel each other
    wrong = changed_constants(text, "def mass_matrix", "_CASES", 12)
    assert len(wrong) >= 12
    for i, changed in enumerate(wrong):
        module = tmp_path / f"robot{i}.py"
        module.write_text(changed)
        done = alone(tmp_path, str(module))
        assert done.returncode == 1, done.stdout
        assert "failed" in done.stderr


def test_the_self_test_of_c_notices_a_changed_constant(compiled: Callable[..., Path]) -> None:
    text = generate(ug.load(ug.model_path("branched12")), ["mass_matrix", "bias"], "c")
    for changed in changed_constants(text, "{\n", "#ifdef BRANCHED12_SELFTEST\nstatic", 2):
        assert subprocess.run([compiled(changed, selftest=True)], capture_output=True, check=False).returncode == 1


EVERYTHING = {
    "gripper": (ug.model_path("gripper"), "planar"),  # mimic joints
    "elastic": (ug.model_path("flexible_two_links"), "fixed"),
    "tree": (random_tree(3, 7, mimic=0.4), "floating"),  # all types of joints
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_every_quantity_of_every_kind_of_joint_passes_the_self_test(name: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    text, base = EVERYTHING[name]
    robot = ug.load(text, base=base)
    module = tmp_path / "robot.py"
    module.write_text(generate(robot, list(QUANTITIES), frame=robot.link_names[-1]))
    done = alone(tmp_path, str(module))
    assert done.returncode == 0, done.stdout + done.stderr
    program = compiled(generate(robot, list(QUANTITIES), "c", frame=robot.link_names[-1]), selftest=True)
    assert subprocess.run([program], capture_output=True, check=False).returncode == 0


def on_a_slide(name: str) -> str:
    """A mass that turns about the vertical with one that slides along it: some pivots of M are a mass, bias without gravity is zero."""
    turning, sliding = point_mass("b", 1.0, (0.1, 0.0, 0.0)), point_mass("c", 2.0, (0.0, 0.1, 0.0))
    joints = joint_text("turn", "revolute", "a", "b", axis=(0, 0, 1)) + joint_text("slide", "prismatic", "b", "c", axis=(0, 0, 1))
    return robot_text(link_text("a"), turning, sliding, joints, name=name)


@pytest.mark.parametrize("name", ["expected", "tolerance"])  # words of the self-test
def test_a_pivot_that_is_a_mass_and_forces_that_cancel_pass_the_self_test(name: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    text = on_a_slide(name)
    robot = ug.load(text)
    oracle = Oracle(text, "fixed", True, (0.0, 0.0, 0.0))
    module = tmp_path / "robot.py"
    module.write_text(generate(robot, list(DYNAMICS), named=True, gravity=(0.0, 0.0, 0.0)))
    asked = states(robot, 2)
    for state, answers in zip(asked, python_answers(module, asked), strict=True):
        for what, reference in said_by_pinocchio(oracle, state).items():
            np.testing.assert_allclose(answers[what], reference, rtol=CLOSE, atol=1e-14, err_msg=what)  # bias is zero
    done = alone(tmp_path, str(module))
    assert done.returncode == 0, done.stdout + done.stderr
    code = generate(robot, list(DYNAMICS), "c", named=True, gravity=(0.0, 0.0, 0.0))
    assert subprocess.run([compiled(code, selftest=True)], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("method", REFERENCES)
def test_code_of_every_formulation_passes_the_self_test(method: str, tmp_path: Path) -> None:
    robot = ug.load(ug.model_path("flexible_two_links")) if method in AS_PRINTED else ug.load(ug.model_path("gripper"), base="planar")
    for named in (False,) if robot.is_flexible else (False, True):  # constants of elastic links have no names
        module = tmp_path / "robot.py"
        module.write_text(generate(robot, list(DYNAMICS), method=method, named=named))
        done = alone(tmp_path, str(module))
        assert done.returncode == 0, done.stdout + done.stderr


# text -------------------------------------------------------------------------------------------------


def test_the_same_robot_gives_the_same_bytes_in_another_process() -> None:
    path, base = ROBOTS["go2"]
    code = (
        "import hashlib, sys, urdf_gibbs as ug; from urdf_gibbs.equations.code import generate\n"
        "robot = ug.load(sys.argv[1], base=sys.argv[2])\n"
        "for language in ('python', 'c', 'sympy'):\n"
        "    print(hashlib.sha256(generate(robot, ['mass_matrix', 'bias', 'forward_dynamics'], language).encode()).hexdigest())"
    )
    robot = ug.load(path, base=base)
    here = [
        hashlib.sha256(generate(robot, ["mass_matrix", "bias", "forward_dynamics"], language).encode()).hexdigest()
        for language in ("python", "c", "sympy")
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(path), base], capture_output=True, text=True, env=environment, check=True
    )
    assert run.stdout.split() == here


def test_names_that_would_end_a_comment_do_no_harm(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    text = Path(ug.model_path("planar3r")).read_text()
    joint = ug.load(ug.model_path("planar3r")).joints[0].name
    hostile = "2 */ int main; /* ??/ &quot;&quot;&quot; &#10;import os \\"
    text = re.sub(r'<robot name="[^"]*"', lambda _: f'<robot name="{hostile}"', text)
    text = text.replace(f'"{joint}"', f'"{hostile}"')
    robot = ug.load(text)
    assert robot.joints[0].name != joint
    assert subprocess.run([compiled(generate(robot, language="c"), selftest=True)], capture_output=True, check=False).returncode == 0
    module = tmp_path / "robot.py"
    module.write_text(generate(robot, ["bias", "placement"], frame=robot.link_names[-1]))
    assert alone(tmp_path, str(module)).returncode == 0


def test_wrong_arguments_are_refused_by_the_code(tmp_path: Path) -> None:
    robot = ug.load(ROBOTS["go2"][0], base="floating")
    scope: dict[str, Any] = {"__name__": "robot"}
    exec(generate(robot, ["bias"]), scope)
    q, v = robot.neutral().tolist(), [0.0] * robot.nv
    assert len(scope["bias"](q, v)) == robot.nv
    with pytest.raises(ValueError, match="q has 18 entries, expected 19"):
        scope["bias"](q[:-1], v)
    with pytest.raises(ValueError, match="unit length"):
        scope["bias"]([2.0 * x for x in q], v)


def test_what_cannot_be_written_is_refused_by_name() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    with pytest.raises(ug.UnknownNameError, match="mass_matrix, bias"):
        generate(robot, ["mass"])
    with pytest.raises(ug.UnknownNameError, match="python, c, sympy"):
        generate(robot, ["bias"], "fortran")
    with pytest.raises(ug.UnknownNameError, match="gibbs_appell"):
        generate(robot, ["bias"], method="newton")
    with pytest.raises(ug.ArgumentError, match="frame="):
        generate(robot, ["jacobian"])
    with pytest.raises(ug.ArgumentError, match="elastic"):
        generate(ug.load(ug.model_path("flexible_link")), named=True)
    with pytest.raises(ug.ArgumentError, match="no moving joint"):
        generate(ug.load('<robot name="stone"><link name="a"/></robot>'))
    weightless = '<link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    with pytest.raises(ug.SingularMassMatrixError, match="j"):
        generate(ug.load(f'<robot name="idle"><link name="a"/>{weightless}</robot>'), ["forward_dynamics"])


# SymPy ------------------------------------------------------------------------------------------------


def numbers(replacements: list[Any], outputs: list[Any], values: dict[str, float]) -> np.ndarray[Any, Any]:
    """Replacements carried out one after the other."""
    names = [*values, *(symbol.name for symbol, _ in replacements)]
    known = dict(values)
    for symbol, expression in replacements:
        own = {name.name: known[name.name] for name in expression.free_symbols}
        known[symbol.name] = (
            float(sympy.lambdify([sympy.Symbol(x) for x in own], expression, "math")(*own.values())) if own else float(expression)
        )
    assert set(names) == set(known)
    return np.array([known[x.name] if isinstance(x, sympy.Symbol) else float(x) for x in outputs])


@pytest.mark.parametrize("named", [False, True])
def test_sympy_from_the_graph_agrees_with_pinocchio(named: bool) -> None:
    path, base = ROBOTS["branched12"]
    robot = ug.load(path)
    state = states(robot)[0]
    values = {f"{x}{i + 1}": float(value) for x in "qv" for i, value in enumerate(state[x])}
    scope: dict[str, Any] = {}
    exec(generate(robot, ["mass_matrix", "bias"], "sympy", named=named), scope)
    values |= {symbol.name: value for symbol, value in scope.get("values", {}).items()}
    reference = said_by_pinocchio(Oracle(path, base, True, EARTH_GRAVITY), state)
    made = source(robot, ["mass_matrix", "bias"], named=named, symbols=True)
    for one in made.functions:
        replacements, output = scope[one.name]()
        expected = np.ravel(reference[one.name])
        agree(numbers(replacements, list(output), values), expected, one.name)
        agree(numbers(*expressions(one, made.parameters), values), expected, one.name)
    if not named:
        program, _ = traced(robot, "bias", Options(EARTH_GRAVITY), COMPILED, False)
        agree(numbers(*to_sympy(program), values), reference["bias"], "bias")


# the command ------------------------------------------------------------------------------------------


def test_the_command_writes_code_in_every_format(tmp_path: Path) -> None:
    result = runner.invoke(app, ["equations", "branched12"])
    assert result.exit_code == 0, result.output
    compile(result.stdout, "robot.py", "exec")
    assert "def mass_matrix(q):" in result.stdout and "def bias(q, v):" in result.stdout
    target = tmp_path / "robot.c"
    asked = ["--what", "inverse-dynamics,placement", "--frame", "O11", "--gravity", "0,-9.81,0", "--parameters", "--out", str(target)]
    result = runner.invoke(app, ["equations", "branched12", *asked])
    assert result.exit_code == 0, result.output
    text = target.read_text()
    assert "branched12_inverse_dynamics(" in text and "(0.0, -9.81, 0.0)" in text and "branched12_parameters" in text
    for form, mark in (("latex", "\\begin{align*}"), ("html", "<math"), ("sympy", "from sympy import")):
        result = runner.invoke(app, ["equations", "branched12", "--what", "gravity-force,bias", "--format", form])
        assert result.exit_code == 0 and mark in result.stdout, result.output


def test_the_command_shows_equations_of_small_robots() -> None:
    result = runner.invoke(app, ["equations", "planar3r"])
    assert result.exit_code == 0, result.output
    assert "M11" in result.stdout and "cos(q2 + q3)" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--what", "mass"], "known: mass_matrix"),
        (["--format", "fortran"], "python, c"),
        (["--format", "text", "--what", "forward-dynamics"], "--format"),
        (["--method", "newton", "--format", "c"], "gibbs_appell"),
        (["--gravity", "1,2"], "three numbers"),
        (["--gravity", "0,inf,0", "--format", "c"], "gravity has entries that are not finite"),
        (["--what", "jacobian", "--format", "c", "--frame", "nowhere"], "nowhere"),
        (["--base", "flying"], "fixed, floating, planar"),
        (["--out", "no/such/folder/robot.c"], "cannot be written"),
        (["--out", f"{'x' * 256}.c"], "was not written"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(options: list[str], message: str) -> None:
    result = runner.invoke(app, ["equations", "planar3r", *options], env={"COLUMNS": "300"})
    assert result.exit_code == 2
    assert message in result.output


def test_the_command_reports_a_robot_that_does_not_move() -> None:
    result = runner.invoke(app, ["equations", "block", "--format", "text"])
    assert result.exit_code == 2
    assert "no moving joint" in result.output
