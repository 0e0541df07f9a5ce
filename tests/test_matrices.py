"""Vectors and matrices of any scalar: the laws of their operators against NumPy, what constant zeros cost, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from urdf_gibbs.counts.scalars import Counter
from urdf_gibbs.dynamics import scalar
from urdf_gibbs.dynamics.matrices import Matrix, Tr, Vector
from urdf_gibbs.engine.graph import Graph
from urdf_gibbs.equations.readable import _Size
from urdf_gibbs.equations.trigonometry import Algebra

A0, B0, C0 = (np.round(np.random.default_rng(seed).normal(size=shape), 2) for seed, shape in ((1, (3, 3)), (2, (3, 3)), (3, (3, 4))))
A0[0, 1] = A0[2, 2] = B0[1, 1] = B0[2, 1] = C0[0, 3] = 0.0  # constant zeros among them
a0, b0 = np.array([0.3, 0.0, -1.2]), np.array([0.0, 0.7, 0.4])

A, B, C = (Matrix(x.tolist()) for x in (A0, B0, C0))
a, b = Vector(a0.tolist()), Vector(b0.tolist())

LAWS: dict[str, tuple[Any, Any]] = {
    "a + b": (a + b, a0 + b0),
    "list + vector": (b0.tolist() + a, b0 + a0),
    "a - b": (a - b, a0 - b0),
    "-a": (-a, -a0),
    "k a": (2.5 * a, 2.5 * a0),
    "a k": (a * 2.5, 2.5 * a0),
    "integer k": (2 * a, 2.0 * a0),
    "0 a": (0.0 * a, 0.0 * a0),
    "scalar product": (a @ b, a0 @ b0),
    "vector product": (a.cross(b), np.cross(a0, b0)),
    "outer product": (a.outer(b), np.outer(a0, b0)),
    "tilde": (a.tilde @ b, np.cross(a0, b0)),
    "A + B": (A + B, A0 + B0),
    "A - B": (A - B, A0 - B0),
    "k A": (2.5 * A, 2.5 * A0),
    "0 A": (A * 0.0, 0.0 * A0),
    "A x": (A @ a, A0 @ a0),
    "A B": (A @ B, A0 @ B0),
    "A C": (A @ C, A0 @ C0),
    "A B^T": (A @ B.T, A0 @ B0.T),
    "C^T": (C.T, C0.T),
    "C^T A C": (C.T @ A @ C, C0.T @ A0 @ C0),
    "Tr(A)": (A.trace(), np.trace(A0)),
    "Tr(A B)": (Tr(A, B), np.trace(A0 @ B0)),
    "Tr(C C^T)": (Tr(C, C.T), np.trace(C0 @ C0.T)),
    "column": (C.column(3), C0[:, 3]),
    "zeros": (Matrix.zeros(2, 3), np.zeros((2, 3))),
    "identity": (Matrix.identity(3) @ A, A0),
    "bordered": (Matrix.bordered(A, a, 1.0), np.block([[A0, a0[:, None]], [np.zeros(3), 1.0]])),
    "rotation": (Matrix.bordered(A, a, 1.0).rotation, A0),
    "translation": (Matrix.bordered(A, a, 1.0).translation, a0),
}


@pytest.mark.parametrize("law", LAWS)
def test_an_operator_does_what_numpy_does(law: str) -> None:
    found, expected = LAWS[law]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-15, atol=1e-15)  # of a few products of numbers about 1


def test_in_place_sums_make_new_vectors() -> None:
    """A list would grow, and an alias would change with it."""
    total, matrix = Vector([1.0, 2.0, 3.0]), Matrix([[1.0, 2.0]])
    alias, rows = total, matrix
    total += [1.0, 1.0, 1.0]
    total *= 2
    matrix += [[1.0, 1.0]]
    assert total == [4.0, 6.0, 8.0] and alias == [1.0, 2.0, 3.0]
    assert matrix == [[2.0, 3.0]] and rows == [[1.0, 2.0]]
    assert type(total) is Vector and type(matrix) is Matrix


def test_arrays_of_states_are_scalars() -> None:
    """An array times a vector is a vector of arrays, one value for each state; NumPy would make one array of both."""
    k = np.array([1.0, 2.0, 3.0])
    for product in (k * a, a * k, np.float64(2.0) * a):
        assert type(product) is Vector and product[1] == 0.0
    np.testing.assert_array_equal((k * a)[2], -1.2 * k)
    assert type(k * A) is Matrix and (k * A)[0][1] == 0.0
    assert np.any(A) and np.abs(a).max() == 1.2  # functions of NumPy see lists of numbers
    turned = A @ (k * a)
    for state in range(3):
        np.testing.assert_allclose([np.broadcast_to(x, 3)[state] for x in turned], A0 @ (k[state] * a0), rtol=1e-15)


def test_nodes_counters_and_symbols_multiply_from_either_side() -> None:
    node = Graph().input("q", 0)
    assert (node * a)[0] is (a * node)[0] and (node * a)[1] == 0.0
    assert type(node * A) is Matrix
    trigonometric = Algebra({}).symbol("m")
    for product in (trigonometric * a, a * trigonometric, _Size(1.0) * a, a * _Size(1.0)):
        assert type(product) is Vector and product[1] == 0.0
    x = sympy.Symbol("x")
    assert x * a == [0.3 * x, 0.0, -1.2 * x] and type(x * a) is Vector
    counts: list[str] = []
    one = Counter(counts.append)
    assert type(one * a) is Vector and counts == ["multiplications"] * 2


OPERATIONS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, int]]] = {
    # of a vector [x, 0, y] and a matrix [[x, 0, 0], [0, 1, 0], [y, 0, x]]: what is left of products and sums without zeros and ones
    "sum with zeros": (lambda v, M: v + Vector.zeros(3), (0, 0)),
    "difference from a zero": (lambda v, M: v - Vector([0.0, 1.0, 0.0]), (0, 0)),
    "sum": (lambda v, M: v + v, (0, 2)),
    "multiple by one": (lambda v, M: 1.0 * v, (0, 0)),
    "multiple": (lambda v, M: 2.0 * v, (2, 0)),
    "scalar product": (lambda v, M: v @ v, (2, 1)),
    "vector product": (lambda v, M: v.cross(Vector([1.0, 2.0, 0.0])), (2, 0)),
    "matrix by vector": (lambda v, M: M @ v, (3, 1)),
    "matrix by matrix": (lambda v, M: M @ M, (4, 1)),
    "identity": (lambda v, M: Matrix.identity(3) @ M @ Matrix.identity(3), (0, 0)),
    "trace": (lambda v, M: Tr(M, M), (2, 2)),
    "the whole product for its trace": (lambda v, M: (M @ M).trace(), (4, 3)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_constant_zeros_and_ones_are_free(operation: str) -> None:
    function, expected = OPERATIONS[operation]
    counts: list[str] = []
    x = Counter(counts.append)
    function(Vector([x, 0.0, x]), Matrix([[x, 0.0, 0.0], [0.0, 1.0, 0.0], [x, 0.0, x]]))
    assert (counts.count("multiplications"), counts.count("additions")) == expected


def test_a_constant_zero_stays_one_beside_infinity() -> None:
    """1 / 0 of a robot without inertia is infinite, and must not make its other entries undefined."""
    assert (np.inf * Vector([0.0, 1.0]))[0] == 0.0
    assert Vector([0.0, 1.0]) @ Vector([np.inf, 2.0]) == 2.0
    assert Matrix([[0.0, 1.0]]) @ Vector([np.inf, 2.0]) == [2.0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: a + Vector([1.0]),
        lambda: a - [1.0, 2.0],
        lambda: a @ Vector([1.0, 2.0]),
        lambda: A @ Vector([1.0, 2.0]),
        lambda: C @ A,
        lambda: A + C,
        lambda: Tr(A, C),
        lambda: a.cross(Vector([1.0, 2.0])),
    ],
)
def test_shapes_that_do_not_fit_are_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises(ValueError):
        wrong()


@pytest.mark.parametrize("wrong", [lambda: a @ A, lambda: A @ [1.0, 2.0, 3.0], lambda: A + 1.0, lambda: [1.0] - a, lambda: A @ 2.0])
def test_what_has_no_meaning_is_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_functions_on_nested_lists_are_the_same_operations() -> None:
    M, N, x, y = A0.tolist(), B0.tolist(), a0.tolist(), b0.tolist()
    assert scalar.matmul(M, N) == A @ B and scalar.matvec(M, x) == A @ a
    assert scalar.madd(M, N) == A + B and scalar.mscale(2.0, M) == 2.0 * A and scalar.transposed(M) == A.T
    assert scalar.skew(x) == a.tilde and scalar.cross(x, y) == a.cross(b)
    assert scalar.dot(x, y) == a @ b and scalar.vadd(x, y) == a + b and scalar.vsub(x, y) == a - b and scalar.scale(2.0, x) == 2.0 * a
