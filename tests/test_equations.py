"""Readable equations: the textbooks' forms, Lagrange's equations in the same symbols, Pinocchio's numbers, and every way of writing them."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from latex2mathml.converter import convert
from urdf_text import joint, link, point_mass
from urdf_text import robot as robot_text

from urdf_gibbs import ArgumentError, Robot, UnknownNameError, load
from urdf_gibbs.bundled import model_names, model_path
from urdf_gibbs.dynamics.registry import AS_PRINTED, REFERENCES
from urdf_gibbs.equations import readable, trigonometry
from urdf_gibbs.equations.collect import collected
from urdf_gibbs.equations.parameters import named_model
from urdf_gibbs.equations.readable import SMALL_NV, SMALL_TERMS, Equations, equations, is_small
from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.oracle.pinocchio import Oracle

GRAVITY = (0.0, 0.0, -9.81)
DOWN_Y = (0.0, -9.81, 0.0)  # of the planar models
TOLERANCE = 1e-10  # printed numbers have 15 digits, and some hundred of them are added
ALL = ("mass_matrix", "bias", "gravity_force", "inverse_dynamics", "kinetic_energy", "potential_energy")


def rigid() -> list[str]:
    return [name for name in model_names() if (robot := load(model_path(name))).nv and not robot.is_flexible]


@cache
def model(name: str) -> Robot:
    return load(model_path(name))


@cache
def of(name: str, what: tuple[str, ...] = ("mass_matrix", "bias"), named: bool = True) -> Equations:
    return equations(model(name), what, named=named, gravity=DOWN_Y if name in ("planar3r", "branched12") else GRAVITY)


def symbols(names: str) -> list[sp.Symbol]:
    return list(sp.symbols(names, seq=True))


def lagrange(kinetic: sp.Expr, potential: sp.Expr, nv: int) -> tuple[sp.Matrix, sp.Matrix]:
    """(M, h) of d/dt dL/dq' - dL/dq."""
    q, v = sp.symbols(f"q1:{nv + 1}"), sp.symbols(f"v1:{nv + 1}")
    momentum = sp.Matrix([kinetic.diff(rate) for rate in v])
    h = momentum.jacobian(q) * sp.Matrix(v) - sp.Matrix([(kinetic - potential).diff(position) for position in q])
    return momentum.jacobian(v), h


def chain(angles: Sequence[sp.Expr], lengths: Sequence[sp.Expr], last: sp.Expr) -> sp.Matrix:
    """Where a planar chain ends whose last link has the length ``last``; angles against the x axis."""
    ends = [*lengths[: len(angles) - 1], last]
    return sp.Matrix([sum(length * f(angle) for length, angle in zip(ends, angles, strict=True)) for f in (sp.cos, sp.sin)])


def vanishes(expression: sp.Expr) -> bool:
    """Zero as a polynomial in sines and cosines of single angles, by SymPy alone."""
    expanded = sp.expand(sp.expand_trig(sp.expand(expression)))
    sines = {f: 1 - sp.cos(f.args[0]) ** 2 for f in expanded.atoms(sp.sin)}
    return bool(sp.expand(sp.expand(expanded).subs({f**2: c for f, c in sines.items()})) == 0 or sp.trigsimp(expanded) == 0)


# The planar 3R manipulator of Wang and Ju -----------------------------------------------------------

TEXTBOOK_3R = {  # their example with the lost factors and indices put back
    (0, 0): "I1 + I2 + I3 + m1*lc1**2 + m2*(l1**2 + lc2**2 + 2*l1*lc2*cos(q2))"
    " + m3*(l1**2 + l2**2 + lc3**2 + 2*l1*l2*cos(q2) + 2*l1*lc3*cos(q2 + q3) + 2*l2*lc3*cos(q3))",
    (1, 0): "I2 + I3 + m2*(lc2**2 + l1*lc2*cos(q2)) + m3*(l2**2 + lc3**2 + l1*l2*cos(q2) + l1*lc3*cos(q2 + q3) + 2*l2*lc3*cos(q3))",
    (1, 1): "I2 + I3 + m2*lc2**2 + m3*(l2**2 + lc3**2 + 2*l2*lc3*cos(q3))",
    (2, 0): "I3 + m3*(lc3**2 + l1*lc3*cos(q2 + q3) + l2*lc3*cos(q3))",
    (2, 1): "I3 + m3*(lc3**2 + l2*lc3*cos(q3))",
    (2, 2): "I3 + m3*lc3**2",
}
PRINTED_3R = """\
  M11 = I1 + I2 + I3 + m1 lc1² + m2 (l1² + lc2² + 2 l1 lc2 cos(q2))
      + m3 (l1² + l2² + lc3² + 2 l1 l2 cos(q2) + 2 l1 lc3 cos(q2 + q3) + 2 l2 lc3 cos(q3))
  M21 = M12 = I2 + I3 + m2 (lc2² + l1 lc2 cos(q2))
            + m3 (l2² + lc3² + l1 l2 cos(q2) + l1 lc3 cos(q2 + q3) + 2 l2 lc3 cos(q3))
  M22 = I2 + I3 + m2 lc2² + m3 (l2² + lc3² + 2 l2 lc3 cos(q3))
  M31 = M13 = I3 + m3 (lc3² + l1 lc3 cos(q2 + q3) + l2 lc3 cos(q3))
  M32 = M23 = I3 + m3 (lc3² + l2 lc3 cos(q3))
  M33 = I3 + m3 lc3²
"""


@cache
def lagrange_3r() -> tuple[sp.Matrix, sp.Matrix]:
    q, v = symbols("q1:4"), symbols("v1:4")
    l1, l2, g, *rest = symbols("l1 l2 g lc1 lc2 lc3 m1 m2 m3 I1 I2 I3")
    kinetic = potential = sp.Integer(0)
    for k in range(3):
        lc, m, inertia = rest[k], rest[3 + k], rest[6 + k]
        angles = [sum(q[: i + 1]) for i in range(k + 1)]
        centre = chain(angles, (l1, l2), lc)
        velocity = centre.jacobian(q) * sp.Matrix(v)
        kinetic += m * velocity.dot(velocity) / 2 + inertia * sum(v[: k + 1]) ** 2 / 2
        potential += m * g * centre[1]
    return lagrange(kinetic, potential, 3)


def test_planar3r_has_the_textbooks_mass_matrix() -> None:
    """Symbol by symbol, and in the textbook's own collected form."""
    M = of("planar3r").expressions["mass_matrix"]
    for (i, j), text in TEXTBOOK_3R.items():
        expected = sp.sympify(text, {name: sp.Symbol(name) for name in re.findall(r"[A-Za-z]+\d", text)})
        assert sp.expand(M[i, j] - expected) == 0
        assert str(M[i, j]) == str(expected)
        assert M[j, i] == M[i, j]


def test_planar3r_reads_like_the_textbook() -> None:
    assert PRINTED_3R in of("planar3r").text(100)


def test_planar3r_agrees_with_lagrange_in_the_same_symbols() -> None:
    M, h = lagrange_3r()
    ours = of("planar3r").expressions
    assert all(vanishes(ours["mass_matrix"][i, j] - M[i, j]) for i in range(3) for j in range(3))
    assert all(vanishes(ours["bias"][i] - h[i]) for i in range(3))


def test_planar3r_fits_on_a_screen() -> None:
    lines = of("planar3r").text(100).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100


# Other textbooks ------------------------------------------------------------------------------------


def test_pendulum_and_cart_pole_are_the_textbooks() -> None:
    m, lc, inertia, g, q1 = symbols("m1 lc1 I1 g q1")
    pendulum = of("pendulum").expressions
    assert pendulum["mass_matrix"] == sp.Matrix([[inertia + m * lc**2]])
    assert pendulum["bias"] == sp.Matrix([m * g * lc * sp.sin(q1)])
    m1, m2, lc2, I2, q2, v2 = symbols("m1 m2 lc2 I2 q2 v2")
    cart_pole = of("cart_pole").expressions
    coupling = m2 * lc2 * sp.cos(q2)
    assert cart_pole["mass_matrix"] == sp.Matrix([[m1 + m2, coupling], [coupling, I2 + m2 * lc2**2]])
    assert cart_pole["bias"] == sp.Matrix([-m2 * lc2 * v2**2 * sp.sin(q2), -m2 * g * lc2 * sp.sin(q2)])


def test_rocker_arm_agrees_with_lagrange_in_the_same_symbols() -> None:
    """One branch of Wang and Ju's Table 3 and the link it grows from: axes x, z, x, in space."""
    q, v = symbols("q1:6"), symbols("v1:6")
    lx, ly, l2x, l2z, lc2, lc3, m2, m3, I2x, I2y, I3y, I3z = symbols("l1_2x l1_2y l2x l2z lc2 lc3 m2 m3 I2xx I2yy I3yy I3zz")
    R1, R2 = sp.rot_axis1(-q[0]), sp.rot_axis3(-q[1])
    R3 = sp.rot_axis1(-q[2])
    second = R1 * sp.Matrix([lx, ly, 0])
    frames = [(R1 * R2, second + R1 * R2 * sp.Matrix([0, 0, -lc2]), m2, sp.diag(I2x, I2y, 0))]
    third = second + R1 * R2 * sp.Matrix([l2x, 0, l2z])
    frames.append((R1 * R2 * R3, third + R1 * R2 * R3 * sp.Matrix([lc3, 0, 0]), m3, sp.diag(0, I3y, I3z)))
    kinetic = sp.Integer(0)
    for R, centre, m, inertia in frames:
        velocity = centre.jacobian(q) * sp.Matrix(v)
        W = R.T * sum((R.diff(a) * b for a, b in zip(q, v, strict=True)), sp.zeros(3, 3))
        omega = sp.Matrix([W[2, 1], W[0, 2], W[1, 0]])
        kinetic += m * velocity.dot(velocity) / 2 + omega.dot(inertia * omega) / 2
    M = sp.hessian(kinetic, v)
    ours = of("rocker_arm").expressions["mass_matrix"]
    other = {sp.Symbol(name): 0 for name in ("m4", "m5", "I4xx", "I4yy", "I5yy", "I5zz")}
    assert all(vanishes(ours[i, j].subs(other) - M[i, j]) for i in range(3) for j in range(i + 1))


def test_rocker_arms_branches_do_not_couple() -> None:
    found = of("rocker_arm")
    assert all(found.expressions["mass_matrix"][i, j] == 0 for i in (1, 2) for j in (3, 4))
    assert "M42 = M24 = M43 = M34 = M52 = M25 = M53 = M35 = 0 (different branches)" in found.text(100)


# Every bundled robot --------------------------------------------------------------------------------


# The printed rover has the joints of the rover, with other numbers; what is large is large with symbols and with numbers: 3 to 5 s each.
LARGE = {("rover_printed", True), ("rover_printed", False), ("rover", False), ("branched12", True), ("quadruped", False), ("chain", False)}


@pytest.mark.parametrize(
    ("name", "named"),
    [pytest.param(*case, marks=[pytest.mark.nightly] if case in LARGE else []) for case in itertools.product(rigid(), (True, False))],
)
def test_numbers_agree_with_pinocchio(name: str, named: bool) -> None:
    found = of(name, ALL if name != "branched12" else ALL[:3], named)
    robot = model(name)
    oracle = Oracle(model_path(name), "fixed", True, found.gravity)
    rng = np.random.default_rng(1)
    for _ in range(2):
        q, v, a = robot.random(rng), rng.uniform(-2.0, 2.0, robot.nv), rng.uniform(-2.0, 2.0, robot.nv)
        answer = oracle.answers(q, v, a, a, {})
        expected = {"mass_matrix": answer.mass_matrix, "bias": answer.bias, "gravity_force": answer.gravity}
        expected |= {"inverse_dynamics": answer.inverse, "kinetic_energy": np.array(answer.kinetic)}
        for what, ours in found.values(q, v, a).items():
            if what != "potential_energy":  # ours is of the moving bodies, and may differ by a constant
                reference = expected[what].reshape(ours.shape)
                np.testing.assert_allclose(ours, reference, rtol=0.0, atol=TOLERANCE * max(1.0, np.abs(reference).max()), err_msg=what)


def two_masses(mass: float, length: float, name: str = "r", place: Sequence[float] = (0.0, 0.0, 0.0)) -> str:
    """A chain in the plane x-z of two point masses; ``name``: of the robot, its joints and links, as XML."""
    ends = [point_mass(f"{name}{k}", mass, (length, 0.0, 0.0)) for k in (1, 2)]
    first = joint(f"{name}a", "continuous", "ground", f"{name}1", xyz=place, axis=(0, 1, 0))
    second = joint(f"{name}b", "continuous", f"{name}1", f"{name}2", xyz=(2.0 * length, 0, 0), axis=(0, 1, 0))
    return robot_text(link("ground"), *ends, first, second, name=name)


@pytest.mark.parametrize(
    ("text", "gravity"),
    [
        (two_masses(1e-7, 1e-4), GRAVITY),  # M is 1e-14
        (two_masses(1.0, 0.1), (8e-5, 0.0, -9.81)),  # almost along an axis
        (two_masses(1.0, 0.1, place=(5e5, 0.0, 4e6)), GRAVITY),  # on a map
    ],
    ids=["micrograms", "tilted", "far"],
)
@pytest.mark.parametrize("named", [True, False])
def test_small_numbers_and_far_places_keep_their_digits(text: str, gravity: tuple[float, float, float], named: bool) -> None:
    """Against Pinocchio, relative to the quantity itself."""
    robot = load(text)
    found = equations(robot, named=named, gravity=gravity)
    rng = np.random.default_rng(4)
    q, v = robot.random(rng), rng.uniform(-2.0, 2.0, robot.nv)
    answer = Oracle(text, "fixed", True, gravity).answers(q, v, v, v, {})
    ours = found.values(q, v)
    np.testing.assert_allclose(ours["mass_matrix"], answer.mass_matrix, rtol=0.0, atol=TOLERANCE * np.abs(answer.mass_matrix).max())
    np.testing.assert_allclose(ours["bias"][:, 0], answer.bias, rtol=0.0, atol=TOLERANCE * np.abs(answer.bias).max())


@pytest.mark.parametrize("name", ["planar3r", "rocker_arm", "gripper"])
def test_the_method_does_not_show(name: str) -> None:
    """Every formulation, one expression: the terms are canonical before they are collected."""
    for method in REFERENCES.keys() - set(AS_PRINTED):
        assert equations(model(name), method=method, gravity=of(name).gravity).expressions == of(name).expressions, method


def test_potential_energy_is_what_gravity_force_comes_from() -> None:
    found = of("gripper", ALL)
    U, G = found.expressions["potential_energy"][0], found.expressions["gravity_force"]
    assert all(vanishes(U.diff(sp.Symbol(f"q{i + 1}")) - G[i]) for i in range(3))


def test_a_floating_base_needs_no_quaternion_in_its_mass_matrix() -> None:
    robot = load(model_path("pendulum"), "floating")
    found = equations(robot)
    assert not {symbol.name for symbol in found.expressions["mass_matrix"].free_symbols} & {f"q{i}" for i in range(1, 8)}
    rng = np.random.default_rng(2)
    q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.nv)
    answer = Oracle(model_path("pendulum"), "floating", True, GRAVITY).answers(q, v, v, v, {})
    np.testing.assert_allclose(found.values(q, v)["mass_matrix"], answer.mass_matrix, rtol=0.0, atol=TOLERANCE)
    np.testing.assert_allclose(found.values(q, v)["bias"][:, 0], answer.bias, rtol=0.0, atol=TOLERANCE * np.abs(answer.bias).max())


def test_place_and_jacobian_of_a_frame() -> None:
    q, (l1, l2, ex) = symbols("q1:4"), symbols("l1 l2 ex")
    found = equations(model("planar3r"), ("placement", "jacobian"), frame="tip")
    tip = chain([q[0], q[0] + q[1], sum(q)], (l1, l2), ex)
    assert found.expressions["placement"] == sp.Matrix([*tip, 0])
    assert sp.expand(found.expressions["jacobian"][:2, :] - tip.jacobian(q)) == sp.zeros(2, 3)
    assert next(p.value for p in found.parameters if p.name == "ex") == 0.35


# Names ----------------------------------------------------------------------------------------------


def test_names_have_the_values_of_the_file() -> None:
    listed = {p.name: p.value for p in named_model(model("planar3r"), lambda name, value: value)[1]}
    assert listed == {
        "m1": 3.1, "lc1": 0.31, "I1": 0.14, "l1": 0.7, "m2": 1.9, "lc2": 0.28, "I2": 0.055, "l2": 0.55, "m3": 0.8, "lc3": 0.13, "I3": 0.009,
    }  # fmt: skip
    rocker = {p.name: p.value for p in named_model(model("rocker_arm"), lambda name, value: value)[1]}
    assert (rocker["l1_2y"], rocker["l1_4y"], rocker["lc2"], rocker["l2z"], rocker["I2xx"]) == (-0.05, 0.05, 0.04, -0.08, 0.0427)


@pytest.mark.parametrize("name", rigid())
def test_named_constants_make_the_same_model(name: str) -> None:
    robot = model(name)
    named, listed = named_model(robot, lambda name, value: value)
    assert len({p.name for p in listed}) == len(listed)
    for i, body in enumerate(named.bodies):
        for ours, theirs in ((body.E, robot.placement[i]), (body.com, robot.centre_of_mass[i]), (body.inertia, robot.inertia[i])):
            np.testing.assert_allclose(np.array(ours, dtype=float), theirs, rtol=0.0, atol=1e-12)


# Simplification -------------------------------------------------------------------------------------


def test_products_of_waves_keep_their_value() -> None:
    """Random products of sums against SymPy's expansion of the same, at random angles."""
    rng = np.random.default_rng(3)
    algebra = trigonometry.Algebra({"q1": 0, "q2": 0, "q3": 1})
    names = ("q1", "q2", "q3", "l1", "m1")
    ours = {name: algebra.symbol(name) for name in names}
    theirs = {name: sp.Symbol(name) for name in names}

    def build(scalars: dict[str, Any], sin: Any, cos: Any) -> Any:
        a, b, c = scalars["q1"], scalars["q1"] + scalars["q2"], scalars["q3"]
        lever = scalars["l1"] * cos(a) + 2.0 * sin(b) * cos(c) - 0.5
        return scalars["m1"] * (lever * lever + sin(a) * sin(b) * sin(c) * sin(c)) - 3.0 * cos(b) * cos(b)

    made = collected(build(ours, lambda x: x.sin(), lambda x: x.cos()), {})
    expected = build(theirs, sp.sin, sp.cos)
    for _ in range(5):
        at = {theirs[name]: rng.uniform(-3.0, 3.0) for name in names}
        assert abs(float(made.subs(at)) - float(expected.subs(at))) < 1e-11


def test_squares_and_products_come_back_from_their_sums() -> None:
    algebra = trigonometry.Algebra({"q1": 0, "q2": 0, "q3": 1})
    q1, q2, q3 = symbols("q1:4")
    a, ab, c = algebra.symbol("q1"), algebra.symbol("q1") + algebra.symbol("q2"), algebra.symbol("q3")
    assert collected(a.cos() * a.cos() + a.sin() * a.sin(), {}) == 1
    assert collected(a.sin() * a.sin() * c.cos() * c.cos(), {}) == sp.sin(q1) ** 2 * sp.cos(q3) ** 2
    assert collected(a.cos() * ab.cos(), {}) == sp.cos(q1) * sp.cos(q1 + q2)
    assert collected(a.cos() * ab.cos() + a.sin() * ab.sin(), {}) == sp.cos(q2)
    assert collected(1.0 - a.sin() * a.sin() * c.sin() * c.sin(), {}) == 1 - sp.sin(q1) ** 2 * sp.sin(q3) ** 2


def test_lengths_in_line_are_added() -> None:
    l4x, lc5, q5, m5, I5yy, I5zz = symbols("l4x lc5 q5 m5 I5yy I5zz")
    expected = I5yy * sp.sin(q5) ** 2 + I5zz * sp.cos(q5) ** 2 + m5 * (l4x + lc5) ** 2
    assert of("rocker_arm").expressions["mass_matrix"][3, 3] == expected


def test_what_takes_too_long_is_left_unsimplified_with_a_note() -> None:
    robot = model("planar3r")
    found = equations(robot, "mass_matrix", seconds=0.0)
    assert found.notes == ("mass_matrix is not simplified: that would take too long.",)
    assert found.notes[0] in found.text(100) and found.notes[0] in found.html()
    q = robot.random(4)
    ours, simple = found.values(q)["mass_matrix"], of("planar3r").values(q, np.zeros(3))["mass_matrix"]
    np.testing.assert_allclose(ours, simple, rtol=0.0, atol=TOLERANCE)


def test_a_wrong_simplification_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readable, "collected", lambda entry, values: sp.Rational(99999, 100000) * collected(entry, values))
    with pytest.raises(UrdfGibbsError, match="internal error: simplified mass_matrix of 'pendulum' differs"):
        equations(model("pendulum"))


def test_rounded_rotations_are_reported() -> None:
    text = model_path("pendulum").read_text().replace('<axis xyz="0 1 0"/>', '<origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/>')
    assert "changed by up to 4e-06" in equations(load(text)).text(100)


def test_small_robots_have_six_velocities_and_a_mass_matrix_of_two_hundred_terms_at_most() -> None:
    """Terms as SymPy counts them, with sines and cosines of single angles; both kinds of robots that are not small are there."""
    many = []
    for name in rigid():
        if model(name).nv <= SMALL_NV:
            M = of(name, ("mass_matrix",)).expressions["mass_matrix"]
            terms = sum(len(sp.Add.make_args(sp.expand(sp.expand_trig(entry)))) for entry in M if entry != 0)
            assert is_small(model(name)) == (terms <= SMALL_TERMS), (name, terms)
            many += [name] if terms > SMALL_TERMS else []
        else:
            assert not is_small(model(name))
    assert many and any(model(name).nv > SMALL_NV for name in rigid())
    assert not is_small(load(model_path("flexible_link")))  # not a rigid one


# Ways of writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar3r", "rocker_arm", "gripper", "cart_pole"])
def test_latex_is_balanced_and_understood(name: str) -> None:
    for found in (of(name), of(name, named=False)):
        text = found.latex()
        environments = re.findall(r"\\begin\{align\*\}.*?\\end\{align\*\}", text, re.DOTALL)
        assert len(environments) == 2
        for environment in environments:
            assert environment.count("{") == environment.count("}") and environment.count("(") == environment.count(")")
            assert convert(environment).count("<mtr>") == environment.count(r"\\") + 1
        document = found.latex(document=True)
        assert document.startswith(r"\documentclass") and document.rstrip().endswith(r"\end{document}")
        assert sorted(re.findall(r"\\begin\{(\w+\*?)\}", document)) == sorted(re.findall(r"\\end\{(\w+\*?)\}", document))
        assert not re.search(r"(?<!\\)_(?!\{)", text.split("% Symbols")[1])  # names of links may not open an index


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_complete_and_fetches_nothing() -> None:
    tags = _Tags()
    page = of("rocker_arm").html()
    tags.feed(page)
    assert tags.open == []
    assert not tags.seen & {"script", "link", "iframe"} and {"math", "table", "img"} <= tags.seen
    assert all(address.startswith("data:") for address in tags.addresses)
    assert "prefers-color-scheme: dark" in page and "different branches" in page


def test_a_browser_shows_the_page(browser: Any, tmp_path: Path) -> None:
    """Formulas stand in lines: drawn as MathML, wider than high, none of them cut off."""
    path = tmp_path / "equations.html"
    path.write_text(of("planar3r").html(), encoding="utf-8")
    page = browser.new_context(viewport={"width": 1200, "height": 1000}, offline=True).new_page()
    page.goto(path.as_uri())
    boxes = page.evaluate("[...document.querySelectorAll('.formulas td:last-child math')].map((m) => [m.clientWidth, m.clientHeight])")
    assert len(boxes) >= 9
    assert all(width > height > 0 for width, height in boxes)
    assert page.evaluate("[...document.querySelectorAll('.formulas')].every((box) => box.scrollWidth <= box.clientWidth)")


@pytest.mark.parametrize(("name", "named"), [("planar3r", True), ("rocker_arm", True), ("rocker_arm", False)])
def test_python_source_runs_alone_and_gives_the_same(name: str, named: bool, tmp_path: Path) -> None:
    found = of(name, named=named)
    path = tmp_path / "equations_of_motion.py"
    path.write_text(found.python_source() + "\nfrom sympy import srepr\nprint(srepr(mass_matrix))\nprint(srepr(bias))\n", encoding="utf-8")
    result = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [sp.srepr(found.expressions[what]) for what in ("mass_matrix", "bias")]


@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("name", ["rocker_arm", "gripper"])
def test_text_keeps_to_its_width(name: str, width: int) -> None:
    text = of(name).text(width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("(") == text.count(")")


# What cannot be --------------------------------------------------------------------------------------


def test_invalid_requests_are_refused() -> None:
    robot = model("pendulum")
    with pytest.raises(UnknownNameError, match="mass_matrix"):
        equations(robot, "masses")
    with pytest.raises(UnknownNameError, match="explicit"):
        equations(robot, method="newton")
    with pytest.raises(ArgumentError, match="frame"):
        equations(robot, "jacobian")
    with pytest.raises(UnknownNameError, match="bob"):
        equations(robot, "placement", frame="hand")
    with pytest.raises(ArgumentError, match="gravity"):
        equations(robot, gravity=(0.0, np.nan, 0.0))
    with pytest.raises(ArgumentError, match="elastic"):
        equations(load(model_path("flexible_link")))
    with pytest.raises(ArgumentError, match="no moving joint"):
        equations(load(model_path("block")))
    with pytest.raises(ArgumentError, match="v1"):
        of("cart_pole", ("kinetic_energy",)).values([0.0, 0.0])


def test_a_name_of_several_lines_stays_in_its_comment() -> None:
    robot = load(two_masses(1.0, 0.5, name="x&#10;&#10;\\input{y}"))
    found = equations(robot, ("mass_matrix", "placement"), frame=robot.link_names[-1])
    assert "\n" in robot.link_names[-1]
    loose = [line for line in found.latex().splitlines() if line.startswith("\\input")]
    assert not loose
    assert "\n\n\\input" not in found.latex(document=True)
    assert "$\\backslash $input" in found.latex(document=True)
    assert found.text(80).splitlines()[0].endswith("τ")


def test_names_with_formulas_and_tags_are_names_on_the_page() -> None:
    page = equations(load(two_masses(1.0, 0.5, name=r"$\frac$ &lt;b&gt;")), "mass_matrix").html()
    assert "<b>" not in page
    assert "$\\frac$ &lt;b&gt;" in page
