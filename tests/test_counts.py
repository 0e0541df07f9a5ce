"""Operation counts beside the papers' formulas: small cases counted by hand, printed numbers, polynomials, what the papers say about order."""

from __future__ import annotations

import sys
import threading
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

import urdf_gibbs as ug
from urdf_gibbs.counts import shafei2017, shafei2018, wang_ju
from urdf_gibbs.counts.derivatives import swept_inverse_dynamics
from urdf_gibbs.counts.literal import S18, WJ, Literal, Rule, literal
from urdf_gibbs.counts.polynomial import fitted, polynomial
from urdf_gibbs.counts.printed import SHAFEI_2017, SHAFEI_2018, WANG_JU, equivalent_additions, table_2
from urdf_gibbs.counts.robots import chain, elastic_chain, planar_tree
from urdf_gibbs.counts.tables import Pair, value
from urdf_gibbs.dynamics.matrices import Matrix, Vector
from urdf_gibbs.dynamics.registry import REFERENCES
from urdf_gibbs.engine.graph import arithmetic
from urdf_gibbs.engine.quantities import Options, trace
from urdf_gibbs.errors import ArgumentError, UnknownNameError


def both(found: Literal) -> tuple[int, int]:
    return found.multiplications, found.additions


# literal counts by hand -------------------------------------------------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch, body: str, rule: Rule) -> tuple[int, int]:
    """The count of a formulation whose M is made by these lines; x is a vector of three that depends on q, A and F are 3x3 and 4x4, as plain
    lists x_, A_ and F_."""
    name = "urdf_gibbs.dynamics.by_hand"
    module = ModuleType(name)
    source = ["from urdf_gibbs.dynamics.scalar import *", "from urdf_gibbs.dynamics.matrices import *", "def mass_matrix(model, q):"]
    source += [
        "    x_, A_, F_ = [q[0]] * 3, [[q[0]] * 3] * 3, [[q[0]] * 4] * 4",
        "    x, A, F = Vector(x_), Matrix(A_), Matrix(F_)",
        *(f"    {line}" for line in body.splitlines()),
        "    return [[0.0]]",
    ]
    exec("\n".join(source), vars(module))
    monkeypatch.setitem(sys.modules, name, module)
    return both(literal(chain(1), module, "mass_matrix", rule))


CASES = {  # lines: by S18's rule, by WJ's
    "F @ F": ((64, 48), (64, 48)),
    "F @ F.T": ((64, 48), (64, 48)),
    "F @ Matrix([[0.0, 0.0, 0.0, 1.0]] * 4)": ((64, 48), (64, 48)),  # zeros do not help
    "A @ A": ((27, 18), (27, 18)),
    "A @ x": ((9, 6), (9, 6)),
    "x.tilde @ x": ((9, 6), (6, 3)),
    "x.cross(x)": ((9, 6), (6, 3)),
    "x.tilde @ x.tilde": ((27, 18), (12, 3)),
    "x.tilde @ x.tilde.T": ((27, 18), (12, 3)),
    "(2.0 * x.tilde) @ x": ((18, 6), (15, 3)),
    "x.tilde @ A": ((27, 18), (27, 18)),
    "Tr(F, F)": ((16, 15), (16, 15)),
    "(F @ F).trace()": ((64, 51), (64, 51)),
    "x @ x": ((3, 2), (3, 2)),
    "F + F; x + x; x - x": ((0, 22), (0, 22)),
    "F - Matrix([[1.0] * 4] + [[0.0] * 4] * 3)": ((0, 4), (0, 4)),  # row by row
    "F += F; x += x; [1.0] * 3 + x": ((0, 22), (0, 22)),
    "2.0 * F; q[0] * x; x * q[0]": ((22, 0), (22, 0)),
    "mul(2.0, q[0]) + add(q[0], q[0]) * q[0]": ((2, 2), (2, 2)),
    "Matrix.identity(4) @ F; Matrix.zeros(4, 4) + F; Matrix.zeros(4, 4) @ F": ((0, 0), (0, 0)),  # beginnings of recursions
    "matmul(F_, F_)": ((64, 48), (64, 48)),  # nested lists count alike
    "matvec(A_, x_); matvec(skew(x_), x_); cross(x_, x_)": ((27, 18), (21, 12)),
    "matmul(skew(x_), transposed(skew(x_)))": ((27, 18), (12, 3)),
    "dot(x_, x_)": ((3, 2), (3, 2)),
    "madd(F_, F_); vadd(x_, x_); vsub(x_, x_)": ((0, 22), (0, 22)),
    "mscale(2.0, F_); scale(q[0], x_)": ((19, 0), (19, 0)),
    "matmul(identity(4), F_); madd(zeros(4, 4), F_); matmul(zeros(4, 4), F_)": ((0, 0), (0, 0)),
    "M = zeros(model.nv, model.nv)\nM[0][0] = add(M[0][0], q[0])\nM[0][0] = add(M[0][0], q[0])": ((0, 1), (0, 1)),
}


@pytest.mark.parametrize("line", CASES)
def test_products_count_in_full(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_s18, by_wj = CASES[line]
    assert counted(monkeypatch, line, S18) == by_s18
    assert counted(monkeypatch, line, WJ) == by_wj


def test_one_link_by_hand_explicit() -> None:
    """poses: E R, R I and that by Rᵀ (3 x 27/18), R c and R axis (2 x 9/6), a sum (3); the rotation about an oblique axis: 15/15.
    The element: r twice (6 additions), r~ r~ (12/3), by m (9), I added (9), a matrix by a vector (9/6), a scalar product (3/2)."""
    found = literal(chain(1), REFERENCES["explicit"], "mass_matrix", WJ)
    assert both(found) == (81 + 18 + 15 + 33, 54 + 12 + 3 + 15 + 26)
    assert both(found.without("poses")) == (33, 26)
    assert both(found.inside("poses")) == (114, 84)
    assert (found.sines, found.cosines, found.divisions) == (1, 1, 0)


def test_two_links_by_hand_explicit() -> None:
    """Four basic elements of 21/12 and six additions for the r, three elements of 12/8, one sum of two 3x3."""
    found = literal(chain(2), REFERENCES["explicit"], "mass_matrix", WJ).without("poses")
    assert both(found) == (4 * 21 + 3 * 12, 4 * (12 + 6) + 3 * 8 + 9)


def test_one_planar_link_by_hand_gibbs_appell() -> None:
    """Products of 4x4 for M: E A, three derivatives, three F Dᵀ; six traces (16/15) and six factors 2; P x (9/6), x P x (3/2) and its sum; the
    joint's place X1 e1 + X2 e2 (6/3).
    For bias ten products: E A, three derivatives, A V, A V V, T of A, A' and A'', B1 T''ᵀ; its factor 2 (16); the weight from two rows of four
    (8 additions, the others are null); x q' and V (12/3), w~ B2 w (18/12), three traces, a scalar product and its sum, the place again."""
    robot, module = planar_tree(1, 1), REFERENCES["gibbs_appell"]
    assert both(literal(robot, module, "mass_matrix", S18)) == (7 * 64 + 6 * 16 + 6 + 9 + 3 + 6, 7 * 48 + 6 * 15 + 6 + 2 + 1 + 3)
    found = literal(robot, module, "bias", S18, shafei2018.GRAVITY)
    assert both(found) == (10 * 64 + 16 + 12 + 18 + 3 * 16 + 3 + 6, 10 * 48 + 8 + 3 + 12 + 3 * 15 + 2 + 1 + 3)


def test_a_shared_entry_is_counted_once() -> None:
    """Two branches add to the six entries of the lower triangle that are link 1's joint alone; their mirror images are free."""
    items = literal(planar_tree(2, 2), REFERENCES["gibbs_appell"], "mass_matrix", S18).items
    into_M = sum(item.additions for item in items if item.path[-1] == "add_element")
    assert into_M == 6


@pytest.mark.parametrize(
    "method", ["lagrangian_4x4", "gibbs_appell_3x3", "gibbs_appell", "explicit", "generalised_momentum", "pseudo_inertia"]
)
def test_counting_leaves_the_formulation_as_it_was(method: str) -> None:
    robot = chain(3)
    q = np.array([0.3, -0.7, 1.1])
    before = ug.mass_matrix(robot, q, method=method)
    literal(robot, REFERENCES[method], "mass_matrix")
    robot = chain(3)
    assert (ug.mass_matrix(robot, q, method=method) == before).all()
    np.testing.assert_allclose(before, ug.mass_matrix(robot, q), rtol=1e-12, atol=1e-12)


def test_counting_is_undone_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [dict(vars(kind)) for kind in (Vector, Matrix)]
    with pytest.raises(ZeroDivisionError):
        counted(monkeypatch, "F @ F; 1 / 0", S18)
    assert [dict(vars(kind)) for kind in (Vector, Matrix)] == before and sys.getprofile() is None
    assert Vector([1.0, 2.0]) @ Vector([3.0, 4.0]) == 11.0


def test_other_threads_compute_while_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[object] = []

    def other() -> None:
        thread = threading.Thread(target=lambda: found.append(Matrix([[1.0, 2.0]]) @ Vector([3.0, 4.0])))
        thread.start()
        thread.join()

    monkeypatch.setattr(threading, "meanwhile", other, raising=False)
    assert counted(monkeypatch, "F @ F\nimport threading\nthreading.meanwhile()", S18) == (64, 48)
    assert found == [[11.0]]


def test_an_unknown_quantity_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="forward"):
        literal(chain(1), REFERENCES["explicit"], "forward")


# the papers' numbers ----------------------------------------------------------------------------------------------------


def test_table_2_of_s17_has_the_numbers_that_are_printed_with_it() -> None:
    assert table_2("3x3", 10, 2) == (7062, 9972)
    assert table_2("4x4", 10, 2) == (12551, 16032)
    with pytest.raises(UnknownNameError, match="5x5"):
        table_2("5x5", 1, 1)


def test_table_1_of_s18_at_four_and_four() -> None:
    """340·64 + 1296·16 + 504·4 and so on."""
    found = {name: (formula.multiplications(4, 4), formula.additions(4, 4)) for name, formula in SHAFEI_2018.items()}
    assert found == {"lagrangian_4x4": (44512, 33104), "gibbs_appell_3x3": (12168, 10932), "gibbs_appell": (30460, 20292)}


def test_the_steps_of_wj_add_up_to_its_totals_but_are_not_all_right() -> None:
    for method in WANG_JU.values():
        assert method.printed_steps == method.total
    own = {name: (str(method.own.multiplications), str(method.own.additions)) for name, method in WANG_JU.items()}
    assert own["generalised_momentum"] == ("7 n³ + 12 n² + 3 n", "6 n³ + 8 n² + 3 n")
    assert own["pseudo_inertia"] == ("(64/3) n³ + 64 n² + (200/3) n", "(50/3) n³ + (99/2) n² + (269/6) n")
    assert own["explicit"] == ("(7/2) n³ + (33/2) n² + 13 n", "(7/2) n³ + 10 n² + (13/2) n")
    assert equivalent_additions(10, 5) == pytest.approx(16.0)


def test_the_slips_of_wj_are_what_its_totals_lack() -> None:
    """At n = 2 by hand. Momentum: 110 multiplications as printed; additions of two bodies (5·4 + 6·2 each), of the Jacobians (18) and of the sum
    of two 2x2 (4). Proposed: four basic elements of 21 and 12, three products of 12 and 8, one sum of 3x3."""
    assert value(WANG_JU["generalised_momentum"].own, 2) == Pair(110, 2 * (5 * 4 + 6 * 2) + 18 + 4)
    assert value(WANG_JU["generalised_momentum"].total, 2) == Pair(110, 84)
    assert value(WANG_JU["explicit"].own, 2) == Pair(4 * 21 + 3 * 12, 4 * 12 + 3 * 8 + 9)
    assert value(WANG_JU["explicit"].total, 2) == Pair(117, 81)
    assert [len(method.slips) for method in WANG_JU.values()] == [1, 2, 1]
    assert WANG_JU["generalised_momentum"].slips == ("sum over the bodies: n³ - n² additions, counted as n² - n",)


# ours beside them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", shafei2018.LABELS)
def test_literal_counts_of_trees_are_quadratic_in_links_and_linear_in_branches(method: str) -> None:
    """At a size that the polynomial was not made from; and the term without n_b is a constant."""
    formula, robot = shafei2018.formula(method), planar_tree(9, 5)
    found = literal(robot, REFERENCES[method], "mass_matrix", S18) + literal(robot, REFERENCES[method], "bias", S18, shafei2018.GRAVITY)
    found = found.without("gyroscopic")
    assert both(found) == (formula.multiplications(9, 5), formula.additions(9, 5))
    for part in (formula.multiplications, formula.additions):
        assert {powers for _, powers in part.terms} == {(2, 1), (1, 1), (0, 1), (0, 0)}
    kinds = shafei2018.kinds(method).values()
    assert sum(kind.multiplications(9, 5) for kind in kinds) == found.multiplications


@pytest.mark.parametrize("method", wang_ju.LABELS)
def test_literal_counts_of_chains_are_cubic(method: str) -> None:
    formula = wang_ju.formula(method)
    found = literal(chain(18), REFERENCES[method], "mass_matrix", WJ).without(*wang_ju.OUTSIDE[method])
    assert both(found) == (formula.multiplications(18), formula.additions(18))


def test_ours_and_the_steps_of_wj() -> None:
    """The proposed method's multiplications are those of the steps, its additions have six more for the vectors r of each basic element;
    the pseudo-inertia method's are those of the steps but for the pseudo-inertias, which are constants here."""
    explicit, pseudo = wang_ju.formula("explicit"), wang_ju.formula("pseudo_inertia")
    assert explicit.multiplications == WANG_JU["explicit"].own.multiplications
    for n in (1, 6, 50):
        elements = Fraction(n**3 + 3 * n**2 + 2 * n, 6)
        assert explicit.additions(n) - WANG_JU["explicit"].own.additions(n) == 6 * elements
        assert WANG_JU["pseudo_inertia"].own.multiplications(n) - pseudo.multiplications(n) == 24 * n
        assert WANG_JU["pseudo_inertia"].own.additions(n) - pseudo.additions(n) == 12 * n


def test_the_order_that_s18_states() -> None:
    """3x3 is the cheapest however it is counted. Combined below Lagrangian: printed and folded, not in our literal counts."""
    table = shafei2018.table_1(4, 4)
    cheapest, combined, outer = (claim.holds for claim in table.claims)
    assert all(cheapest.values()) and all(outer.values())
    assert combined == {"printed": True, "literal": False, "as_written": False, "folded": True}
    for row in table.rows:
        for way in (row.literal, row.as_written, row.folded):
            assert way is not None
        assert row.folded is not None and row.as_written is not None
        assert row.folded.total < row.as_written.total < row.literal.total
        assert row.literal.multiplications == row.formula.multiplications(4, 4)
        assert "n_m² n_b" in row.why


def test_the_appendix_of_s18_makes_its_additions_but_not_its_multiplications() -> None:
    steps = shafei2018.table_1(4, 4).rows[2].steps
    assert steps is not None and (steps.multiplications, steps.additions) == (25788, 20092)
    printed = SHAFEI_2018["gibbs_appell"]
    assert abs(steps.additions / float(printed.additions(4, 4)) - 1) < 0.01
    assert steps.multiplications < 0.85 * float(printed.multiplications(4, 4))
    # fewer additions for a multiplication than any full product of 3x3 or 4x4 has
    assert printed.additions.coefficient(2, 1) / printed.multiplications.coefficient(2, 1) < Fraction(2, 3)


def test_the_order_that_wj_states() -> None:
    """Proposed below momentum holds as printed only: with the symmetry and the zero columns the momentum method needs fewer operations."""
    table = wang_ju.table_1(6)
    proposed, momentum, outer = (claim.holds for claim in table.claims)
    assert all(momentum.values()) and all(outer.values())
    assert proposed == {"printed": True, "steps": True, "literal": False, "as_written": False, "folded": False}
    assert [(row.printed.multiplications, row.printed.additions) for row in table.rows] == [(1962, 1452), (7200, 5931), (1407, 1155)]
    large = wang_ju.table_1(50)
    assert all(row.folded is None for row in large.rows)
    assert large.claims[0].holds == {"printed": True, "steps": True, "literal": False}


def test_s17_beside_ours() -> None:
    """As printed, with every sum of the appendix in full, 3x3 is the cheaper for short chains alone; collected alike it always is."""
    table = shafei2017.table_2(3, 2)
    for claim in table.claims:
        assert all(claim.holds.values()) and len(claim.holds) == 4
    assert [row.printed.additions for row in table.rows] == [table_2(shape, 3, 2)[0] for shape in ("3x3", "3x3", "4x4")]
    for row in table.rows:
        assert shafei2017.formula(row.method).multiplications(3, 2) == row.literal.multiplications
    printed, collected, transformations = (shafei2017.formula(method) for method in shafei2017.METHODS)
    for part in ("multiplications", "additions"):
        assert getattr(printed, part)(10, 2) > getattr(transformations, part)(10, 2) > getattr(collected, part)(10, 2)


def test_s17s_recursion_by_hand() -> None:
    """One link, one mode. M: a matrix by a vector and a scalar product (12/8) for 1 and for two columns each of 11 and 40; for 10 and 21 the
    scalar product alone (3/2), 1R_1 being the identity; 29 and 50 are numbers. Of the appendix one product, B3 1R_ref of xi.
    The link's shape: r 3 multiplications and additions; beta, B3 and B9 9 each, and 9 additions more for C6ᵀ + beta; alpha none, C4 is 0."""
    found = literal(elastic_chain(1, 1), REFERENCES["shafei2017"], "mass_matrix", S18)
    assert both(found.without("shape_of")) == (5 * 12 + 2 * 3 + 27, 5 * 8 + 2 * 2 + 18)
    assert both(found.inside("shape_of")) == (3 + 3 * 9, 3 + 4 * 9)


def labels_by_hand(n: int, m: int) -> int:
    """Of the lists in blocks of their own, n >= 4: pairs j < k < n - 1 and so on counted with binomials instead of loops."""
    inner = (n - 2) * (n - 3) // 2  # j < k <= n - 2
    q_q = 3 * (n * (n - 1) // 2) + 2 * (n - 1) + 1
    q_delta = 6 * (n - 2) + 7 * inner + 6 * (n - 2) + 5 + 2 * (n - 1) + 1
    q_X = 2 * (2 * (n - 1) + 1)
    delta_q = 6 * (n - 2) + 5 + 5 * ((n - 1) * (n - 2) // 2) + 3 * (n - 2) + 2 + 1
    delta_delta = 9 * (n - 2) + 10 * (n - 3) + 11 * ((n - 3) * (n - 4) // 2) + 9 * (n - 3) + 8 + 5 + 3 * (n - 2) + 2 + 1
    delta_X = 2 * (4 * (n - 2) + 3 + 1)  # printed without f = 1 : m
    return q_q + m * (q_delta + delta_q) + q_X + m * m * delta_delta + delta_X + 2


@pytest.mark.parametrize(("n", "m"), [(4, 1), (5, 3), (10, 2), (17, 4)])
def test_the_labels_of_s17s_lists(n: int, m: int) -> None:
    found = shafei2017.labels(n, m)
    assert sum(found.values()) == labels_by_hand(n, m) == shafei2017.label_formula()(n, m)
    every = shafei2017.labels(n, m, every_mode=True)
    assert every["delta", "X"] == m * found["delta", "X"] and {**every, ("delta", "X"): 0} == {**found, ("delta", "X"): 0}


def test_table_2_of_s17_counts_a_scalar_product_for_each_label() -> None:
    """Its products at every size from two links on, but for one label of m cells, which Fig. 4 has; not its sums, nor the 4x4 row."""
    for n in range(2, 31):
        for m in range(1, 8):
            found = sum(shafei2017.labels(n, m).values())
            assert SHAFEI_2017["3x3"].multiplications(n, m) == 3 * found + 3 * m
            assert SHAFEI_2017["3x3"].additions(n, m) == 2 * found + 2 * m + n**2 * m + 2 * n**2 + n + m**2
    assert sum(shafei2017.labels(10, 2).values()) == 3322
    assert str(shafei2017.remainder().multiplications) == "3 m"
    drawn = shafei2017.remainder(drawn=True)
    assert (str(drawn.multiplications), str(drawn.additions)) == ("0", "n² m + 2 n² + n + m²")
    assert str(shafei2017.remainder("4x4", drawn=True).multiplications) == "-3 n² m + m² + 2 m + 4"
    # with f = 1 : m in the lists of delta-X, as they are meant, it does not fit
    assert 3 * sum(shafei2017.labels(10, 2, every_mode=True).values()) > SHAFEI_2017["3x3"].multiplications(10, 2)


def test_figures() -> None:
    for figure, method in ((shafei2018.fig_12(), "gibbs_appell"), (shafei2018.fig_13(), "gibbs_appell"), (wang_ju.fig_3(), "explicit")):
        for curve in figure.curves.values():
            assert all(values.shape == figure.x.shape and (np.diff(values) > 0).all() for values in curve.values())
        assert (method, "printed") in figure.curves and (method, "literal") in figure.curves
    assert shafei2018.fig_12().curves["gibbs_appell", "printed"]["multiplications"][2] == 30460  # n_m = 4, n_b = 4
    assert shafei2018.fig_13().curves["gibbs_appell", "printed"]["multiplications"][3] == 30460
    assert wang_ju.fig_3().curves["explicit", "printed"]["equivalent"][5] == pytest.approx(1.1 * 1407 + 1155)


# robots and polynomials -------------------------------------------------------------------------------------------------


def test_the_robots_are_those_of_the_papers() -> None:
    tree = planar_tree(4, 3)
    assert tree.nv == 2 + 1 + 3 * 3
    assert [len(branch) for branch in tree.branches] == [4, 4, 4]
    assert [branch.first_real for branch in tree.branches] == [0, 1, 1]
    assert chain(5).nv == 5
    assert elastic_chain(3, 2).nv == 3 * 3 + 2
    for wrong in (lambda: planar_tree(1, 2), lambda: planar_tree(0, 1), lambda: chain(0), lambda: elastic_chain(1, 0)):
        with pytest.raises(ArgumentError, match="expected"):
            wrong()


def test_polynomials_are_exact_or_refused() -> None:
    found = fitted(("n",), ((2,), (1,), (0,)), lambda n: n * (n - 1) // 2 - 3, ((1,), (2,), (3,)), ((10,),))
    assert str(found) == "(1/2) n² - (1/2) n - 3"
    assert str(polynomial(("a", "b"), {(1, 2): Fraction(-1), (0, 0): Fraction(0)})) == "-a b²"
    with pytest.raises(ArgumentError, match="other powers"):
        fitted(("n",), ((1,), (0,)), lambda n: n * n, ((1,), (2,)), ((3,),))
    with pytest.raises(ArgumentError, match="do not determine"):
        fitted(("n",), ((1,), (0,)), lambda n: n, ((1,), (1,)), ())


def test_operations_of_graph_differentiation_are_those_of_the_kernels_of_products() -> None:
    robot = ug.load(ug.model_path("planar3r"), "floating")
    swept = swept_inverse_dynamics(robot)
    for name, counts in (("inverse_dynamics_jvp", swept.jvp), ("inverse_dynamics_vjp", swept.vjp)):
        assert counts["total"] == arithmetic(trace(robot, name, Options()).outputs)
    whole = (swept.forward["total"], swept.reverse["total"])
    assert swept.vjp["total"] < min(whole) <= max(whole) < robot.nv * 3 * swept.jvp["total"]
