"""Fixed steps and solvers with events: orders of convergence, closed forms, and impact times known from elsewhere."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import sqrt

import numpy as np
import pinocchio as pin
import pytest
from claim_controls import uncontrolled
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from urdf_gibbs import model_path
from urdf_gibbs.reproduce import steps
from urdf_gibbs.reproduce.claims import DIFFERS, REPRODUCED
from urdf_gibbs.reproduce.integrators import LOCATED, ON_GRID, OURS, adaptive, fixed_steps, problem, run_on_grid, runge_kutta, simulated

Array = NDArray[np.float64]

# From a linear solution of the flat link in closed form, and from Pinocchio's dynamics with SciPy's solvers
TIMES = {
    "flexible_link": (0.31927543, 0.32116976, 0.32323679, 0.93885308, 0.94034897, 0.94181991),
    "flexible_two_links": (0.47246469, 0.52332562, 0.62441919, 0.93915965, 1.20544903),
    "branched12": (0.38519, 0.56973, 1.01062, 1.08227, 1.38733),
}
DIGITS = {"flexible_link": 6e-9, "flexible_two_links": 6e-9, "branched12": 6e-6}  # half a unit of the last digit, and a little more
FREQUENCY = 1271.3959  # rad/s: of the link in flight


def times_of(run: steps.Run) -> list[float]:
    return [struck.time for struck in run.impacts]


def order(sizes: list[float], errors: list[float]) -> float:
    """The slope of the errors over the sizes, both logarithmic."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


@pytest.fixture(scope="module")
def flight() -> tuple[float, Array, Array]:
    """S18's robot thrown with all joints turning: time, states at first and then, by Pinocchio's dynamics and SciPy; no wall."""
    model = pin.buildModelFromUrdf(str(model_path("branched12")))
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    data, nv = model.createData(), model.nv

    def rates(t: float, y: Array) -> Array:
        return np.concatenate([y[nv:], pin.aba(model, data, y[:nv], y[nv:], np.zeros(nv))])

    end, start = 0.32, problem("branched12").start.copy()
    start[nv:] = 3.0 * np.sin(np.arange(nv))  # released at rest it would only fall, which every method has exactly
    return end, start, solve_ivp(rates, (0.0, end), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def test_flight_with_fixed_steps_is_of_order_four(flight: tuple[float, Array, Array]) -> None:
    end, start, exact = flight
    own, counts = problem("branched12"), [64, 128, 256, 512]
    states = [runge_kutta(own, start, end / count, count)[-1] for count in counts]
    sizes = [end / count for count in counts]
    assert 3.7 < order(sizes, [float(np.abs(state - exact).max()) for state in states]) < 4.6
    energies = [float(np.abs(own.energy(state[None])[0] / own.energy(start[None])[0] - 1.0)) for state in states]
    assert order(sizes, energies) > 3.7 and energies[-1] < 1e-8


@pytest.mark.parametrize("x", [0.5, 1.5, 2.6, 2.8, 2.86])
def test_the_vibration_shrinks_and_grows_as_the_method_has_it(x: float) -> None:
    """Of an oscillator, y'' = -w^2 y, RK4 multiplies the square of the amplitude by 1 - x^6/72 + x^8/576 in each step, x = w h."""
    own, count, h = problem("flexible_link"), 12, x / FREQUENCY
    start = own.start.copy()
    start[3] = 1e-3
    rows = runge_kutta(own, start, h, count)
    square = rows[:, 3] ** 2 + (rows[:, 7] / FREQUENCY) ** 2
    # the frequency is known to eight digits, and the factor is steep where it is small
    assert square[-1] / square[0] == pytest.approx((1.0 - x**6 / 72.0 + x**8 / 576.0) ** count, rel=1e-5)
    assert (square[-1] > square[0]) == (x > 2.0 * sqrt(2.0))


def test_impacts_on_a_grid_are_late_by_half_a_step_on_average() -> None:
    """The first impact of the link, which falls freely before: uniformly late within a step, so that the error is of order one."""
    exact, means, sizes = sqrt(2.0 * 0.5 / 9.81), [], (1e-3, 1e-4)
    for size in sizes:
        lateness = [(fixed_steps("flexible_link", h).impacts[0].time - exact) / h for h in size * np.linspace(0.7, 1.0, 24)]
        assert min(lateness) >= -1e-9 and max(lateness) <= 1.0 + 1e-9
        means.append(float(np.mean(lateness)) * size)
        assert np.mean(lateness) == pytest.approx(0.5, abs=0.18)  # three deviations of the mean of 24 uniform numbers
    assert order(list(sizes), means) == pytest.approx(1.0, abs=0.25)


def test_located_impacts_are_of_the_order_of_the_flight() -> None:
    """On S18's robot, up to the last of five impacts; on the grid the same steps give order one."""
    reference = simulated("branched12", 1e-13, 1e-13).impacts[-1].time
    sizes = [1e-3, 5e-4, 2.5e-4]
    errors = {
        located: [abs(fixed_steps("branched12", h, located).impacts[-1].time - reference) for h in sizes] for located in (False, True)
    }
    assert 3.5 < order(sizes, errors[True]) < 5.0 and errors[True][-1] < 1e-9
    assert 0.5 < order(sizes, errors[False]) < 1.7 and errors[False][-1] > 1e-5


@pytest.mark.parametrize("scenario", TIMES)
def test_the_reference_has_the_known_times(scenario: str) -> None:
    reference, confirming = (simulated(scenario, rtol, rtol) for rtol in (steps.CONVERGED, steps.CONFIRMED))
    np.testing.assert_allclose(times_of(reference), TIMES[scenario], rtol=0, atol=DIGITS[scenario])
    # the second link's last impact multiplies round-off by 1e4
    np.testing.assert_allclose(times_of(reference), times_of(confirming), rtol=0, atol=1e-10)
    assert reference.worst < 1e-10 and reference.outside < 1e-9


@pytest.mark.parametrize(
    ("scenario", "method", "rtol"), [("flexible_link", "DOP853", 1e-9), ("branched12", "RK45", 1e-9), ("branched12", "LSODA", 1e-9)]
)
def test_solvers_with_events_find_the_known_times(scenario: str, method: str, rtol: float) -> None:
    run = adaptive(scenario, method, rtol)
    np.testing.assert_allclose(times_of(run), TIMES[scenario], rtol=0, atol=1e-8 + DIGITS[scenario])
    assert run.worst < 1e-6 and run.outside < 1e-9


def test_pairs_struck_one_after_the_other_give_another_motion() -> None:
    run = adaptive("branched12", "RK45", 1e-7, one_by_one=True)
    assert all(len(struck.points) == 1 for struck in run.impacts) and len(run.impacts) > len(TIMES["branched12"])
    assert run.impacts[1].time - run.impacts[0].time < 1e-9 and {struck.points for struck in run.impacts[:2]} == {("O1",), ("O5",)}
    assert abs(run.impacts[2].time - TIMES["branched12"][1]) > 1e-3
    assert run.worst < 1e-5  # and the energy does not tell


def test_a_grid_of_a_tenth_of_a_millisecond_gives_the_figures_of_the_errata() -> None:
    np.testing.assert_allclose(run_on_grid(1e-4)[4][1:], (34.02, 30.16, 15.95), atol=6e-3)
    np.testing.assert_allclose(run_on_grid(1e-5)[4][1:], (33.76, 30.26, 15.91), atol=6e-3)


@pytest.fixture(scope="module")
def link() -> steps.Study:
    return steps.study(steps.LINK, lambda step: None, steps=(1e-2, 1e-3, 1e-4), finest=(), tolerances=(1e-5, 1e-9))


def test_a_study_finds_where_the_printed_response_begins(link: steps.Study) -> None:
    assert (
        link.settled(ON_GRID) == 0.0 and link.settled(LOCATED) == 1e-4 and link.settled(OURS) >= 1e-5
    )  # 1e-3 is at the edge of the last digit
    assert [run.lost for run in link.of(ON_GRID)] == ["explodes", "", ""]
    assert all(link.as_printed(run) for run in link.of(*steps.SOLVERS))
    claim = steps._claim_link(link)
    assert claim.verdict == REPRODUCED and "2e-3" not in claim.ours and uncontrolled(claim) == []
    heads, rows = steps._grid(link).heads, steps._grid(link).rows
    assert rows[0][-1].startswith("explodes at 0.0") and all(len(row) == len(heads) for row in rows)


def test_the_verdict_falls_where_the_step_does_not_matter(link: steps.Study) -> None:
    """Were the runs on the grid the converged one, the papers would be wrong; were a tight solver off, so would we."""
    same = tuple(replace(link.reference, method=ON_GRID, setting=h) for h in (1e-3, 1e-4))
    others = tuple(run for run in link.runs if run.method != ON_GRID)
    assert steps._claim_link(replace(link, runs=(*same, *others))).verdict == DIFFERS
    impacts = tuple(replace(struck, time=struck.time + 1e-3) for struck in link.reference.impacts)
    off = replace(link.reference, method="RK45", setting=steps.TIGHT, impacts=impacts)
    assert steps._claim_link(replace(link, runs=(*link.runs, off))).verdict == DIFFERS


def test_a_constant_energy_is_no_proof() -> None:
    own = steps.study(steps.BRANCHED, lambda step: None, steps=(1e-2, 1e-3, 1e-5), finest=(), tolerances=(1e-9,))
    claim = steps._claim_energy(own)
    assert claim.verdict == DIFFERS and claim.difference.startswith("2 of 3 runs") and uncontrolled(claim) == []
    right = tuple(run for run in own.runs if run.method != ON_GRID and run.method != steps.APART)
    good = (replace(own.reference, method=ON_GRID, setting=1e-5), replace(own.reference, method=steps.APART, setting=steps.TIGHT))
    assert steps._claim_energy(replace(own, runs=(*right, *good))).verdict == REPRODUCED
    branched = steps._claim_branched(own)
    assert branched.verdict == REPRODUCED and uncontrolled(branched) == []


def test_without_scipy_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(ImportError, match=r"pip install 'urdf-gibbs\[validation\]'"):
        adaptive("flexible_link", "RK45", 2e-3)
