"""S17's recursion as printed: against another algorithm and against an oracle that knows positions alone, its case lists against its sums,
what the lost marks and Fig. 4 would make of it, and which robots it is for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from flexible_trees import Array, chain, lagrangian, random_flexible, spatial_chain, state

import urdf_gibbs as ug
from urdf_gibbs.dynamics import gibbs_appell_flexible, shafei2017
from urdf_gibbs.dynamics.model import Model, model_of
from urdf_gibbs.dynamics.registry import AS_PRINTED, all_methods_of
from urdf_gibbs.dynamics.scalar import Matrix
from urdf_gibbs.dynamics.shafei2017_lists import Cell, expression_cells, listed_cells

METHOD = "shafei2017"
GRAVITY = (0.6, -1.1, -9.7)
ROUND_OFF = 1e-12  # of the largest entry: sums of some hundred products of numbers of order 1
SECTIONS = 'J="0.02 0.01 0.013"'  # far more than a round bar has, so that B10 shows


def loaded(text: str, base: str = "fixed") -> ug.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ug.load(text, base)  # type: ignore[arg-type]


def relative(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


# numbers ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_another_algorithm_for_the_same_equations_agrees(n: int, m: int) -> None:
    robot = loaded(chain(n, m, 20.0, SECTIONS))
    for seed in range(3):
        q, v = state(robot, 10 * n + m + 100 * seed)
        for ours, theirs in (
            (ug.mass_matrix(robot, q, method=METHOD), ug.mass_matrix(robot, q, method="gibbs_appell_flexible")),
            *(
                (
                    function(robot, q, *rest, gravity=GRAVITY, method=METHOD),
                    function(robot, q, *rest, gravity=GRAVITY, method="gibbs_appell_flexible"),
                )
                for function, rest in ((ug.bias, (v,)), (ug.gravity_force, ()), (ug.inverse_dynamics, (v, v[::-1])))
            ),
        ):
            assert relative(ours, theirs) < ROUND_OFF


@pytest.mark.parametrize(("n", "m"), [(1, 2), (2, 1), (3, 2), (5, 3)])
def test_positions_alone_agree(n: int, m: int) -> None:
    """M and h of the oracle come from accelerations of points, which come from automatic differentiation of positions."""
    text = chain(n, m, 20.0, SECTIONS)
    robot = loaded(text)
    q, v = state(robot, n + m)
    M, h = lagrangian(robot, text).equations(q, v, GRAVITY)
    assert relative(ug.mass_matrix(robot, q, method=METHOD), M) < ROUND_OFF
    assert relative(ug.bias(robot, q, v, gravity=GRAVITY, method=METHOD), h) < ROUND_OFF


def test_links_that_stretch_are_in_the_plane_too() -> None:
    text = chain(3, 2, 20.0, 'EA="300"').replace("y=clamped-free:2", "y=clamped-free:1 x=clamped-free:1")
    robot = loaded(text)
    q, v = state(robot, 5)
    M, h = lagrangian(robot, text).equations(q, v, GRAVITY)
    assert relative(ug.mass_matrix(robot, q, method=METHOD), M) < ROUND_OFF
    assert relative(ug.bias(robot, q, v, gravity=GRAVITY, method=METHOD), h) < ROUND_OFF


def test_states_in_a_batch_and_accelerations() -> None:
    robot = loaded(chain(2, 2))
    q, v = (np.stack(x) for x in zip(*(state(robot, seed) for seed in range(3)), strict=True))
    tau = v[:, ::-1]
    found = ug.forward_dynamics(robot, q, v, tau, method=METHOD)
    assert relative(found, ug.forward_dynamics(robot, q, v, tau, method="gibbs_appell_flexible")) < 1e-9  # M has a condition of 1e4
    assert relative(ug.mass_matrix(robot, q, method=METHOD)[1], ug.mass_matrix(robot, q[1], method=METHOD)) < ROUND_OFF


# the appendix -----------------------------------------------------------------------------------------------------------


def error_of(n: int, m: int, matrix: Callable[[Model, list[float]], Matrix]) -> float:
    """Of M at a bent state, against the other algorithm."""
    robot = loaded(chain(n, m, 20.0, SECTIONS))
    q, _ = state(robot, 3)
    return relative(np.array(matrix(model_of(robot), q.tolist())), np.array(gibbs_appell_flexible.mass_matrix(model_of(robot), q.tolist())))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (3, 1), (4, 2), (5, 2)])
def test_every_cell_of_the_expressions_is_right(n: int, m: int) -> None:
    """Exps. (I)-(III) below the diagonal too, where nothing is a mirror image: terms 20, 27, 28, 33 and 44-49."""
    assert error_of(n, m, shafei2017.expression_matrix) < ROUND_OFF


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_the_lists_name_what_the_sums_have_but_for_what_is_zero(n: int) -> None:
    """A term that a list leaves out is an empty sum of the appendix at the end of the chain; no cell with k >= j is missing."""
    whole = {cell[:4]: set(cell.terms) for cell in expression_cells(n)}
    listed = {cell[:4]: set(cell.terms) for cell in listed_cells(n)}
    beyond_the_end = {2, 12, 15, 16, 18, 23, 30, 37, 38, 39}
    for where, terms in listed.items():
        assert terms <= whole[where]
        assert whole[where] - terms <= (beyond_the_end if where[2] >= n - 1 else set()), where
    wanted = {where for where in whole if where[3] >= where[2] and where[0] != "X"} | {("X", "X", i, i) for i in (n + 1, n + 2)}
    assert set(listed) == wanted


LOST = {"A.4": {("sigma", 1)}, "A.7, A.8": {("psi", 0), ("psi", 1)}, "A.11, A.12": {("U", 0), ("U", 1)}, "A.15": {("xi", 1)}}  # and k or k+


@pytest.mark.parametrize("where", [*LOST, "all"])
def test_without_the_lost_marks_the_numbers_are_wrong(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """j read where the limits say j+: what link j itself weighs is then counted as carried by its tip.

    The lists have k >= j alone, where the limits of A.4 and A.15, max(k + 1, j) and max(k + 1, j + 1), are the same.
    """
    lost = set().union(*LOST.values()) if where == "all" else LOST[where]
    original = shafei2017.Chain.quantity

    def read(self: shafei2017.Chain, name: str, j: shafei2017.Frame, k: shafei2017.Frame) -> Matrix:
        return original(self, name, shafei2017.Frame(j.link) if (name, k.beyond) in lost else j, k)

    assert error_of(3, 2, shafei2017.mass_matrix) < ROUND_OFF
    monkeypatch.setattr(shafei2017.Chain, "quantity", read)
    assert error_of(3, 2, shafei2017.expression_matrix) > 0.01
    assert (error_of(3, 2, shafei2017.mass_matrix) < ROUND_OFF) == (where in ("A.4", "A.15"))


def drawn(*labels: int) -> Callable[[int], Iterator[Cell]]:
    """The lists, with these labels in every delta-q cell as in Fig. 4."""

    def cells(n: int) -> Iterator[Cell]:
        for cell in listed_cells(n):
            more = tuple(label for label in labels if label not in cell.terms) if (cell.rows, cell.columns) == ("delta", "q") else ()
            yield cell._replace(terms=cell.terms + more)

    return cells


def test_fig_4_has_term_21_where_it_is_wrong_and_term_20_where_it_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shafei2017, "listed_cells", drawn(20))
    assert error_of(3, 2, shafei2017.mass_matrix) < ROUND_OFF  # W of k >= j is an empty sum
    monkeypatch.setattr(shafei2017, "listed_cells", drawn(21))
    assert error_of(3, 2, shafei2017.mass_matrix) > 1e-3


# which robots -----------------------------------------------------------------------------------------------------------


def test_the_papers_robots_have_it() -> None:
    for name in ("flexible_link", "flexible_two_links"):
        assert METHOD in all_methods_of(ug.load(ug.model_path(name)))


@pytest.mark.parametrize(
    ("text", "base"),
    [
        (ug.model_path("planar3r").read_text(), "fixed"),
        (spatial_chain(2, 1), "fixed"),
        (random_flexible(3, 5), "fixed"),
        (chain(2, 1), "floating"),
        (chain(2, 1, 20.0, 'damping="0.1"'), "fixed"),
        (chain(2, 1, 20.0, 'foreshortening="true"'), "fixed"),
        (chain(2, 1, 20.0, f'{SECTIONS} elastic_rotary="true"'), "fixed"),
        (chain(2, 1, 20.0, 'EI_y="20"').replace("y=clamped-free:1", "y=clamped-free:1 z=clamped-free:1"), "fixed"),
        (chain(2, 1, 20.0, 'GJ="20"').replace("y=clamped-free:1", "y=clamped-free:1 torsion=clamped-free:1", 1), "fixed"),
        (chain(2, 1).replace("clamped-free:1", "clamped-free:2", 1), "fixed"),
        (chain(2, 1).replace('<axis xyz="1 0 0"/>', '<axis xyz="0 0 1"/>'), "fixed"),
        (chain(2, 1).replace('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>', 1), "fixed"),
        (chain(2, 1).replace('<origin xyz="1 0 0"/>', '<origin xyz="1 0 0" rpy="0 0 0.3"/>'), "fixed"),
        (chain(2, 1).replace('<origin xyz="1 0 0"/>', '<origin xyz="0 0 0"/>'), "fixed"),
        (chain(2, 1).replace('<link name="s2"/>', '<link name="s2"><inertial><mass value="1"/></inertial></link>'), "fixed"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_other_robots_are_refused_with_what_is_expected(text: str, base: str) -> None:
    robot = loaded(text, base)
    assert not set(AS_PRINTED) & set(all_methods_of(robot))
    with pytest.raises(ug.ArgumentError, match="expected n elastic links in a row in the plane"):
        ug.mass_matrix(robot, robot.neutral(), method=METHOD)
    with pytest.raises(ug.ArgumentError, match="expected n elastic links in a row in the plane"):
        shafei2017.bias(model_of(robot), robot.neutral().tolist(), [0.0] * robot.nv, list(GRAVITY))
