"""The checks of arguments: what they take, and what they say of the rest."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from urdf_gibbs.arguments import finite, numbers, one_of, shown, triple, vector, wide, within
from urdf_gibbs.errors import ArgumentError, UnknownNameError

NOT_NUMBERS: list[Any] = [
    "abc",
    "5",
    None,
    True,
    [True, False, True],
    ["1", "2", "3"],
    [None, 1.0, 2.0],
    1j,
    [1.0, "x", 2.0],
    [[1.0], [1.0, 2.0]],
    {"x": 1.0},
    object(),
]


@pytest.mark.parametrize("values", [(1, 2, 3), [1.0, 2.0, 3.0], np.array([1, 2, 3]), (np.float64(1), 2, 3.0), range(1, 4)], ids=repr)
def test_a_triple_is_three_floats_of_any_container(values: Any) -> None:
    found = triple(values, "g")
    assert found == (1.0, 2.0, 3.0) and [type(x) for x in found] == [float] * 3


@pytest.mark.parametrize("values", [(1, 2), [1, 2, 3, 4], 5.0, np.zeros((1, 3)), ((1,), (2,), (3,)), ()], ids=repr)
def test_other_shapes_than_three_are_refused(values: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^g has shape .*, expected \(3,\)$"):
        triple(values, "g")


def test_a_vector_is_a_copy_of_finite_numbers() -> None:
    given = np.array([1.0, 2.0])
    found = vector(given, 2, "v")
    found[0] = 7.0
    assert given[0] == 1.0
    np.testing.assert_array_equal(vector([1e308, 1e308], 2, "v"), [1e308, 1e308])  # whose sum overflows
    with pytest.raises(ArgumentError, match=r"v has shape \(1, 2\), expected \(2,\)"):
        vector(given[None], 2, "v")
    with pytest.raises(ArgumentError, match=r"v has entries that are not finite: \[1, 2\], expected \(3,\)"):
        vector([0.0, math.nan, math.inf], 3, "v")


def test_a_wide_array_has_any_leading_axes() -> None:
    for shape in ((3,), (0, 3), (2, 1, 3)):
        assert wide(np.zeros(shape), 3, "q").shape == shape
    given = np.ones((4, 3))
    assert wide(given, 3, "q") is given  # nothing is copied
    for wrong in (np.zeros(2), np.zeros((3, 2)), 1.0):
        with pytest.raises(ArgumentError, match=r"q has shape .*, expected \(\.\.\., 3\)"):
            wide(wrong, 3, "q")


@pytest.mark.parametrize("values", NOT_NUMBERS, ids=lambda values: type(values).__name__)
def test_what_is_not_numbers_is_shown(values: Any) -> None:
    for check in (lambda: wide(values, 3, "q"), lambda: vector(values, 3, "q"), lambda: triple(values, "q")):
        with pytest.raises(ArgumentError, match=r"^q is .*, expected numbers \("):
            check()


def test_a_number_is_within_its_bounds() -> None:
    assert within(0, 0.0, 1.0, "e") == 0.0 and within(np.float32(1.0), 0.0, 1.0, "e") == 1.0
    assert within(math.inf, 0.0, math.inf, "step") == math.inf
    for wrong in (-0.1, 1.1, math.nan, "0.5", None, [0.5], 1j, True):
        with pytest.raises(ArgumentError, match=r"^e=.*, expected a number from 0 to 1$"):
            within(wrong, 0.0, 1.0, "e")
    with pytest.raises(ArgumentError, match=r"^step=-1, expected a number, 0 or more$"):
        within(-1, 0.0, math.inf, "step")


def test_finite_numbers_of_a_shape_or_nothing() -> None:
    found = finite([[1, 2], [3, 4]], (2, 2))
    assert found is not None and found.dtype == np.float64 and found.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert finite(2, ()) == 2.0
    for wrong in (*NOT_NUMBERS, [1.0, 2.0], [[1.0, 2.0], [3.0, math.nan]], None):
        assert finite(wrong, (2, 2)) is None


def test_numbers_of_any_kind_become_floats() -> None:
    exact = [Fraction(1, 2), 1, np.float32(0.25)]
    assert numbers(exact, "(3,)", "q").tolist() == [0.5, 1.0, 0.25]
    assert numbers([], "(0,)", "q").shape == (0,) and numbers(np.ones(2, dtype=np.int8), "(2,)", "q").dtype == np.float64


def test_a_name_may_have_dashes() -> None:
    known = ("gibbs_appell", "explicit")
    assert one_of("gibbs-appell", known, "method") == one_of("gibbs_appell", known, "method") == "gibbs_appell"
    with pytest.raises(UnknownNameError, match=r"no method named 'gibbs'; known: gibbs_appell, explicit"):
        one_of("gibbs", known, "method")
    with pytest.raises(ArgumentError, match=r"^method=3, expected one of gibbs_appell, explicit$"):
        one_of(3, known, "method")


def test_a_long_value_is_cut_in_a_message() -> None:
    assert shown("a" * 1000) == "'" + "a" * 79 + "..." and shown([1]) == "[1]"
