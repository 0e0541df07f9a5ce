"""Which run of a sweep has which parameters: against SciPy's points and quantiles, closed forms, and whatever the runs are divided into."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np
import pytest
import scipy.stats
from scipy.stats import qmc

import urdf_gibbs as ug
from urdf_gibbs.simulation.scenario import parse_scenario
from urdf_gibbs.simulation.scenario.expression import formula
from urdf_gibbs.sweeps.design import SAMPLINGS, Design, uniforms
from urdf_gibbs.sweeps.keys import changed, path_of_key, value_at
from urdf_gibbs.sweeps.values import Distribution, Listed, from_plain, values_of


def design(over: dict[str, Any], runs: int | None = None, seed: int = 3, sampling: str = "random") -> Design:
    return Design({key: values_of(key, given) for key, given in over.items()}, runs, seed, sampling)


def test_a_grid_has_its_ends_and_equal_steps() -> None:
    assert values_of("k", "0:1:21") == Listed(tuple(k / 20 for k in range(21)))
    assert values_of("k", "-pi/2 : pi/2 : 3").values == (-math.pi / 2, 0.0, math.pi / 2)  # type: ignore[union-attr]
    assert values_of("k", "2:5:1").values == (2.0,)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("0, 0.5, pi/2", (0.0, 0.5, math.pi / 2)),
        ("newton, poisson", ("newton", "poisson")),
        ("[0,0,-9.81],[0,0,-1.62]", ((0.0, 0.0, -9.81), (0.0, 0.0, -1.62))),
        ([1, "30 deg"], (1.0, math.radians(30))),
        (np.array([0.25, 0.5]), (0.25, 0.5)),
        (0.3, (0.3,)),
        ("true,false", (True, False)),
        ("sqrt(2)", (math.sqrt(2),)),
    ],
)
def test_lists_hold_numbers_formulas_words_and_vectors(given: Any, values: tuple[Any, ...]) -> None:
    assert values_of("k", given) == Listed(values)


SHARES = np.array([0.001, 0.2, 0.5, 0.77, 0.999])


@pytest.mark.parametrize(
    ("given", "theirs"),
    [
        ("uniform(-1, 3)", scipy.stats.uniform(-1, 4)),
        ("normal(2, 0.5)", scipy.stats.norm(2, 0.5)),
        ("loguniform(1e-3, 10)", scipy.stats.loguniform(1e-3, 10)),
        ("truncnorm(-1, 2, loc=0.5)", scipy.stats.truncnorm(-1, 2, 0.5)),
        (scipy.stats.beta(2, 3), scipy.stats.beta(2, 3)),
        (scipy.stats.uniform(-1, 4), scipy.stats.uniform(-1, 4)),
    ],
)
def test_distributions_have_scipys_quantiles(given: Any, theirs: Any) -> None:
    ours = values_of("k", given)
    assert isinstance(ours, Distribution)
    assert ours.at(SHARES) == pytest.approx(theirs.ppf(SHARES), rel=1e-13)
    assert from_plain(ours.plain()) == ours


def test_a_choice_has_each_of_its_values_equally_often() -> None:
    drawn = design({"law": "choice(newton, poisson, moreau)"}, 3000).columns(0, 3000)["law"]
    counts = np.array([drawn.count(name) for name in ("newton", "poisson", "moreau")])
    assert abs(counts - 1000).max() < 4 * math.sqrt(3000 * (1 / 3) * (2 / 3))  # four standard deviations


def test_numbers_are_those_of_philox_wherever_one_begins() -> None:
    whole = uniforms(5, "start.q3", 0, 100)
    assert len(set(whole)) == 100 and whole.min() >= 0.0 and whole.max() < 1.0
    assert all((uniforms(5, "start.q3", first, 7) == whole[first : first + 7]).all() for first in range(90))
    assert not set(whole) & {*uniforms(6, "start.q3", 0, 100), *uniforms(5, "start.q4", 0, 100)}
    assert scipy.stats.kstest(uniforms(5, "x", 0, 20_000), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_parameters_do_not_depend_on_how_runs_are_divided(sampling: str) -> None:
    over = {"restitution": "0:1:3", "start.q3": "uniform(-1,1)", "law": "newton,poisson", "x": "norm(1,scale=2)"}
    whole = design(over, 100, sampling=sampling).columns(0, 100)
    for first, count in ((0, 1), (4, 7), (37, 5), (6, 94), (99, 1)):
        part = design(over, 100, sampling=sampling).columns(first, count)
        assert part == {key: values[first : first + count] for key, values in whole.items()}


def test_what_is_tried_first_are_all_values_of_lists_and_the_ends_of_what_is_drawn() -> None:
    made = design({"a": "1,2,4", "x": "normal(0,1)", "law": "choice(newton,poisson)"}, 500)
    drawn = made.columns(0, 500)["x"]
    assert made.extremes() == {"a": [1.0, 2.0, 4.0], "x": [min(drawn), max(drawn)], "law": ["newton", "poisson"]}


def test_lists_are_crossed_and_the_last_runs_fastest() -> None:
    found = design({"a": "1,2", "b": "0:2:3"}).columns(0, 6)
    assert list(zip(found["a"], found["b"], strict=True)) == [(a, b) for a in (1.0, 2.0) for b in (0.0, 1.0, 2.0)]


@pytest.mark.parametrize(("sampling", "engine"), [("sobol", qmc.Sobol), ("latin_hypercube", qmc.LatinHypercube)])
def test_points_are_scipys_and_crossed_with_the_lists(sampling: str, engine: Any) -> None:
    found = design({"a": "1,2,4", "x": "uniform(0,1)", "y": "uniform(0,1)"}, 3 * 16, seed=11, sampling=sampling).columns(0, 48)
    points = engine(2, seed=np.random.default_rng(11)).random(16)
    assert np.array_equal(np.array([found["x"], found["y"]]).T, np.repeat(points, 3, axis=0))
    assert found["a"] == [1.0, 2.0, 4.0] * 16
    cells = np.floor(np.array(found["x"][::3]) * 16)
    assert sorted(cells) == list(range(16))  # both kinds of points have one in each sixteenth


def test_runs_that_do_not_fit_the_lists_are_refused() -> None:
    assert design({"a": "0:1:4"}).runs == 4
    with pytest.raises(ug.ArgumentError, match="runs=5, expected 4"):
        design({"a": "0:1:4"}, 5)
    with pytest.raises(ug.ArgumentError, match="runs=None, expected how many runs there are: x is drawn"):
        design({"x": "uniform(0,1)"})
    with pytest.raises(ug.UnknownNameError, match="sobol"):
        design({"x": "uniform(0,1)"}, 4, sampling="halton")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("unifrm(0,1)", 'did you mean "uniform"'),
        ("uniform(1,0)", "low < high"),
        ("loguniform(0,1)", "0 < low < high"),
        ("normal(0,-1)", "positive deviation"),
        ("beta(-1,2)", "scipy.stats.beta allows"),
        ("norm(1,2,3,4)", "arguments of scipy.stats.norm"),
        ("0:1", "a grid from:to:count"),
        ("0:1:2.5", "whole count"),
        ("1,,2", "expected a number, a list"),
        ([], "has no values"),
        ([float("nan")], "expected a number"),
        ("choice()", "choice\\(one, other"),
    ],
)
def test_values_that_cannot_be_used_are_named(given: Any, said: str) -> None:
    with pytest.raises(ug.ArgumentError, match=f"over: key.*{said}"):
        values_of("key", given)


# keys -------------------------------------------------------------------------------------------------

CONTENT = tomllib.loads(
    """duration = 1.0
[start]
q1 = 0.5
[[walls]]
kind = "circle"
radius = 2.5
centre = [0, 0, 0]
[[walls]]
kind = "plane"
name = "ground"
"""
)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("duration", ("duration",)),
        ("start.q3", ("start", "q3")),
        ('start."q3"', ("start", "q3")),
        ("walls[0].radius", ("walls", 0, "radius")),
        ("walls.ground.friction", ("walls", 1, "friction")),
        ("walls[0].centre[2]", ("walls", 0, "centre", 2)),
        ("gravity[1]", ("gravity", 1)),
        ("links.link3.mass", ("links", "link3", "mass")),
    ],
)
def test_a_key_is_found_and_set_without_changing_the_tables(key: str, path: tuple[Any, ...]) -> None:
    before = repr(CONTENT)
    found = path_of_key(key, CONTENT, ug.load(ug.model_path("branched12")))
    assert found == path
    assert value_at(changed(CONTENT, found, 7.5), found) == 7.5
    assert repr(CONTENT) == before


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("walls.groud.friction", 'did you mean "ground"'),
        ("walls[2].radius", "walls has 2 entries"),
        ("duration.x", "duration is 1.0 in the file"),
        ("start..q", "is no key"),
        ("[0]", "is no key"),
        ("", "is no key"),
        ("friction[0]", "is no list"),
        ("robot.file", "names files"),
    ],
)
def test_keys_that_lead_nowhere_are_named(key: str, said: str) -> None:
    with pytest.raises(ug.ArgumentError, match=said.replace("[", "\\[")):
        path_of_key(key, CONTENT, ug.load(ug.model_path("branched12")))


# what scenarios have for sweeps -------------------------------------------------------------------------

HEAD = 'duration = 1.0\nrobot = {file = "branched12.urdf"}\n'


def test_links_of_a_scenario_have_the_inertia_that_it_gives() -> None:
    plain = parse_scenario(HEAD).robot
    heavy = parse_scenario(HEAD + "[links.link1]\nscale = 2.0\n").robot
    q = np.linspace(-1.0, 1.0, plain.nq)
    link = next(one for one in plain.links if one.name == "link1")
    assert link.inertial is not None
    same = plain.with_inertia("link1", 2 * link.inertial.mass, inertia=2 * np.reshape(link.inertial.inertia, (3, 3)))
    assert np.array_equal(ug.mass_matrix(heavy, q), ug.mass_matrix(same, q))
    assert ug.kinetic_energy(heavy, q, q) > ug.kinetic_energy(plain, q, q)
    given = parse_scenario(HEAD + "[links.link1]\nmass = 3.0\ncentre_of_mass = [0.1, 0, 0]\ninertia = [1, 0.1, 0, 2, 0, 2.5]\n").robot
    told = plain.with_inertia("link1", 3.0, (0.1, 0, 0), [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])
    assert np.array_equal(given.parameters, told.parameters)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[links.link11]\nmass = 1.0\n", 'did you mean "link1'),
        ("[links.link1]\nmas = 1.0\n", 'did you mean "mass"'),
        ("[links.link1]\nmass = -1.0\n", "a number of 0 or more"),
        ("[links.link1]\nscale = 2.0\nmass = 1.0\n", "given beside others"),
    ],
)
def test_links_of_a_scenario_that_cannot_be_used_are_named(table: str, said: str) -> None:
    with pytest.raises(ug.UrdfGibbsError, match=said):
        parse_scenario(HEAD + table)


def test_formulas_with_names_have_the_value_of_python() -> None:
    values = {"a": 2.0, "q.q3": -0.5, "q.left hip": 3.0}
    for text in ("a + q.q3*2", 'max(q["left hip"], a) - min(a, 1)', "-abs(q.q3) ** 2", "exp(log(a))", "sqrt(a) + 30 deg"):
        names = {"a": 2.0, "q": type("Q", (), {"q3": -0.5, "__getitem__": lambda self, key: 3.0})()}
        expected = eval(text.replace("30 deg", "radians(30)"), {**vars(math), **names})
        assert formula(text).value(values) == pytest.approx(expected, rel=1e-15)
    assert formula("a + b.c").names == ("a", "b.c")


@pytest.mark.parametrize("text", ["a +", "open(a)", "a[0]", "max()", "lambda: 1", "sqrt(1, 2)", "a.b()", "'a'"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        formula(text)
