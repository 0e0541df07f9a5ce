"""How much depends on the step and the solver: the papers' falls by fixed steps, by SciPy's solvers with events, and by ours.

Shafei 2017 (S17) says so in its abstract, Shafei 2018 (S18) in Sect. 6. A run gives the *printed response* where it has as many impacts
as the converged motion and its times would be printed with the same digits: within half a unit of the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from urdf_gibbs.reproduce.claims import Claim, Figure, Grid, Picture, Progress, Section, last_digit, same
from urdf_gibbs.reproduce.integrators import LOCATED, ON_GRID, OURS, Run, adaptive, fixed_steps, simulated
from urdf_gibbs.reproduce.pictures import Line, of_lines

Panel = tuple[str, str, str, list[Line]]

STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5)  # s
FINEST = 1e-6  # s: with impacts on the grid only, as located ones are exact before
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9)  # the first is the default of ode45 and solve_ivp
OWN_TOLERANCES = (*TOLERANCES, 1e-11)
SOLVERS = ("RK45", "DOP853", "LSODA")  # ode45's method, one of order 8, and one with implicit formulas where they pay
CONVERGED, CONFIRMED = 1e-13, 1e-12  # tolerances of the reference, and of the run that confirms it
ONE_IMPACT = 5e-5  # s: half a unit of the digits of most printed times; what strikes within it would be printed as one impact
APART = "RK45, one point at a time"
TIGHT = 1e-9  # with this tolerance the choice of solver must not matter
ENERGY = 18.66  # J: S18's, as printed
GREATLY = 10.0  # units of the last printed digit by which a time has to change with the step, to depend on it greatly


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario, the impacts whose times a paper prints (number, digits), and those that tables tell of."""

    scenario: str
    title: str
    printed: tuple[tuple[int, str], ...]
    told: tuple[int, int, int]
    pairs: bool = True  # of points that strike at once


LINK = Case("flexible_link", "S17's elastic link (case study I)", ((1, "0.3194"), (4, "0.9388")), (1, 4, 6))
TWO_LINKS = Case("flexible_two_links", "two elastic links in a circle, for S17's case study II", (), (1, 2, 5), pairs=False)
BRANCHED = Case("branched12", "S18's robot", ((1, "0.3851"), (2, "0.5698"), (3, "1.01"), (4, "1.082"), (5, "1.387")), (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Study:
    """All runs of a case, the converged one, and how far (s) another tolerance moves its times."""

    case: Case
    reference: Run
    unsure: float
    runs: tuple[Run, ...]

    def of(self, *methods: str) -> list[Run]:
        return [run for run in self.runs if run.method in methods]

    def error(self, run: Run, number: int) -> float:
        """Of the time [s] of an impact, counted from 1; infinite where the run has none of this number."""
        times = [own.times(ONE_IMPACT) for own in (run, self.reference)]
        return abs(times[0][number - 1] - times[1][number - 1]) if number <= len(times[0]) else np.inf

    def largest_error(self, run: Run) -> float:
        """Of the times [s] of the impacts that both have."""
        pairs = zip(run.times(ONE_IMPACT), self.reference.times(ONE_IMPACT), strict=False)
        return max((abs(one - other) for one, other in pairs), default=np.inf)

    def as_printed(self, run: Run) -> bool:
        """Whether the run gives the printed response; where nothing is printed, times count to four digits."""
        count = len(self.reference.times(ONE_IMPACT))
        digits = self.case.printed or tuple((number, "0.0000") for number in range(1, count + 1))
        alike = not run.lost and len(run.times(ONE_IMPACT)) == count
        return alike and all(self.error(run, number) <= 0.5 * last_digit(text) for number, text in digits)

    def settled(self, *methods: str) -> float:
        """The largest step or tolerance from which on all smaller ones give the printed response; 0 where the smallest does not."""
        largest = 0.0
        for setting in sorted({run.setting for run in self.of(*methods)}):
            if not all(self.as_printed(run) for run in self.of(*methods) if run.setting == setting):
                break
            largest = setting
        return largest


def study(
    case: Case,
    progress: Progress,
    steps: Sequence[float] = STEPS,
    finest: Sequence[float] = (FINEST,),
    tolerances: Sequence[float] = TOLERANCES,
) -> Study:
    """Run a case in all ways; ``finest``: further steps with impacts on the grid."""
    name, runs = case.scenario, list[Run]()
    reference, confirming = (simulated(name, rtol, rtol) for rtol in (CONVERGED, CONFIRMED))
    unsure = max(abs(one.time - other.time) for one, other in zip(reference.impacts, confirming.impacts, strict=True))
    progress(f"{case.title}: fixed steps")
    runs += [fixed_steps(name, step) for step in (*steps, *finest)]
    runs += [fixed_steps(name, step, located=True) for step in steps]
    progress(f"{case.title}: solvers with events")
    runs += [adaptive(name, method, rtol) for method in SOLVERS for rtol in tolerances]
    if case.pairs:
        runs += [adaptive(name, "RK45", rtol, one_by_one=True) for rtol in tolerances]
    runs += [simulated(name, rtol) for rtol in OWN_TOLERANCES]
    return Study(case, reference, unsure, tuple(runs))


def section(progress: Progress) -> Section:
    """S17's abstract, S18's Sect. 6."""
    result = Section("S17, S18: how much the step decides")
    link, two_links, branched = study(LINK, progress), study(TWO_LINKS, progress, finest=()), study(BRANCHED, progress)
    result.claims += [_claim_link(link), _claim_branched(branched), _claim_energy(branched)]
    result.grids += [_grid(own) for own in (link, two_links, branched)]
    result.pictures += [*_pictures(link), *_pictures(branched)]
    return result


# claims -------------------------------------------------------------------------------------------------


def _spread(own: Study, number: int, printed: str) -> tuple[float, float, float]:
    """First and last time [s] of an impact over the fixed steps that are not lost, impacts on the grid, and units of its last digit."""
    times = [run.times(ONE_IMPACT) for run in own.of(ON_GRID) if not run.lost]
    of_impact = [one[number - 1] for one in times if len(one) >= number]
    return min(of_impact), max(of_impact), (max(of_impact) - min(of_impact)) / last_digit(printed)


def _tight(own: Study) -> float:
    """The largest error [s] of impact times by solvers with events and TIGHT tolerance; infinite where one has another number of them."""
    runs = [run for run in own.of(*SOLVERS, OURS) if run.setting <= TIGHT]
    return max(own.largest_error(run) if len(run.impacts) == len(own.reference.impacts) else np.inf for run in runs)


def _settled(own: Study) -> str:
    """From where on each way gives the printed response."""
    fixed = {ON_GRID: "impacts on the grid", LOCATED: "impacts located in the step"}
    parts = [f"with {text} {_from(own.settled(method))}" for method, text in fixed.items()]
    steps = f"Fixed steps give the printed response {' and '.join(parts)}"
    return f"{steps}; SciPy's solvers with events from rtol {_short(own.settled(*SOLVERS))} on, ours from {_short(own.settled(OURS))}."


def _from(step: float) -> str:
    return f"from {_short(step)} s on" if step else f"at none down to {_short(FINEST)} s"


def _claim_link(own: Study) -> Claim:
    """That the step matters by more than what is printed, and that it no longer does where impacts are located."""
    first, last, units = _spread(own, 4, "0.9388")
    lost = min((run.setting for run in own.of(ON_GRID) if run.lost), default=np.inf)
    tight = _tight(own)
    ours = "greatly" if units > GREATLY and tight < 0.5 * last_digit("0.9388") else "little"
    return Claim(
        "s17.steps",
        "Abstract",
        "The responses depend greatly on the step; so several solvers and a Runge-Kutta program were used.",
        (Figure("greatly"),),
        f"RK4, impacts on the grid: steps of {_short(lost)} s and more do not get to the end, smaller ones begin the second burst between "
        f"{first:.4f} and {last:.4f} s",
        same(ours),
        f"{units:.0f} units of the last digit of 0.9388 s",
        otherwise=(ours,),
        note=f"Greatly means: by more than {GREATLY:.0f} units. Two things do it: steps that do not resolve the vibration, and impacts on "
        f"the grid, up to a step late. The equations do not: where impacts are located, SciPy's solvers and ours at rtol {_short(TIGHT)} "
        f"are within {tight:.0e} s of the converged times. {_settled(own)}",
    )


def _claim_branched(own: Study) -> Claim:
    """As for the link, and in the paper's own measure of stability, the total energy."""
    first, last, units = _spread(own, 5, "1.387")
    coarse, fine = STEPS[0], STEPS[-1]
    energies = {run.setting: run.worst for run in own.of(ON_GRID)}
    digits = energies[coarse] * ENERGY / last_digit("18.66")
    tight = _tight(own)
    ours = "highly" if min(units, digits) > GREATLY and tight < 0.5 * last_digit("0.5698") else "little"
    return Claim(
        "s18.steps",
        "Sect. 6",
        "The stability of the responses depends highly on the step.",
        (Figure("highly"),),
        f"RK4, impacts on the grid, steps of {_short(coarse)} to {_short(FINEST)} s: last impact between {first:.4f} and {last:.4f} s; "
        f"energy off by {energies[coarse]:.1e} with {_short(coarse)} s, by {energies[fine]:.0e} with {_short(fine)} s",
        same(ours),
        f"{units:.0f} units of the last digit of 1.387 s, {digits:.0f} of 18.66 J",
        otherwise=(ours,),
        note=f"Highly means: both by more than {GREATLY:.0f} units. At the paper's step, 1e-5 s, times are right to "
        f"{_largest(own, ON_GRID, 1e-5):.0e} s with impacts on the grid and to {_largest(own, LOCATED, 1e-5):.0e} s with impacts "
        f"located; solvers with events at rtol {_short(TIGHT)} to {tight:.0e} s. {_settled(own)}",
    )


def _claim_energy(own: Study) -> Claim:
    """Elastic impacts that come late, or one after the other, keep the energy: it does not tell the motions apart."""
    keeping = [run for run in own.of(ON_GRID, APART) if run.worst * ENERGY < 0.5 * last_digit("18.66")]
    wrong = [run for run in keeping if not own.as_printed(run)]
    worst = max((run for run in keeping if run.method == ON_GRID), key=own.largest_error)
    apart = next(run for run in own.of(APART) if run.setting == TIGHT)
    angles = [run.impacts[-1].angle for run in (worst, own.reference)]
    ours = "other" if wrong else "right"
    return Claim(
        "s18.constant",
        "Sect. 6, Fig. 19",
        "That the total energy stays at 18.66 J validates the responses.",
        (Figure("right", "responses"),),
        f"RK4 of {_short(worst.setting)} s, impacts on the grid: energy constant within {worst.worst:.0e}, last impact "
        f"{1e3 * own.error(worst, 5):.1f} ms off, angle of attack {angles[0]:.2f}° for {angles[1]:.2f}°",
        same(ours),
        f"{len(wrong)} of {len(keeping)} runs that keep 18.66 J have another response",
        otherwise=(ours,),
        note="An elastic impact keeps the energy wherever it happens. With one point of a pair struck after the other, at rtol "
        f"{_short(TIGHT)}, the energy is constant within {apart.worst:.0e} and the motion another one, with {len(apart.impacts)} impacts "
        f"for {len(own.reference.impacts)}.",
    )


def _largest(own: Study, method: str, setting: float) -> float:
    return next(own.largest_error(run) for run in own.of(method) if run.setting == setting)


# tables and pictures ------------------------------------------------------------------------------------


def _grid(own: Study) -> Grid:
    """Powers of ten only; the others are in the pictures."""
    heads = (
        "method",
        "step [s] or rtol",
        "impacts",
        *(f"error of t{number} [s]" for number in own.case.told),
        "energy off, at the end",
        "at most",
        "behind the wall [m]",
        "evaluations",
        "response",
    )
    rows = [
        (
            run.method,
            _short(run.setting),
            str(len(run.impacts)),
            *(_error(own.error(run, number)) for number in own.case.told),
            _error(run.drift),
            _error(run.worst),
            _error(run.outside) if run.outside > 1e-9 else "0",
            f"{run.evaluations:,}",
            _response(own, run),
        )
        for run in own.runs
        if f"{run.setting:.0e}".startswith("1")
    ]
    caption = f"{own.case.title}: {len(own.reference.impacts)} impacts, converged within {own.unsure:.0e} s"
    return Grid(caption, heads, rows)


def _response(own: Study, run: Run) -> str:
    if run.lost:
        return f"{run.lost} at {run.until:.2g} s"
    count, expected = len(run.times(ONE_IMPACT)), len(own.reference.times(ONE_IMPACT))
    apart = ", points one after the other" if len(run.impacts) > count else ""
    if count != expected:
        return f"another motion{apart}"
    return f"{'as converged' if own.as_printed(run) else 'other times'}{apart}"


def _pictures(own: Study) -> list[Picture]:
    """Errors of impact times and of energy over the step, and over the work."""
    ways = (ON_GRID, LOCATED, *SOLVERS, OURS)
    pictures = []
    for over, methods in (("step [s]", (ON_GRID, LOCATED)), ("evaluations of the accelerations", ways)):
        panels = [_panel(own, quantity, over, methods) for quantity in ("times", "energy")]
        caption = f"{own.case.title}: largest errors of impact times and of energy; runs that do not get to the end are left out"
        pictures.append(of_lines("Steps and solvers", caption, panels, log=True, log_x=True))
    return pictures


def _panel(own: Study, quantity: str, over: str, methods: Sequence[str]) -> Panel:
    lines = list[Line]()
    for method in methods:
        runs = [run for run in own.of(method) if not run.lost]
        x = [run.setting if over.startswith("step") else run.evaluations for run in runs]
        lines.append((method, x, [own.largest_error(run) if quantity == "times" else run.worst for run in runs]))
    label = "largest error of impact times [s]" if quantity == "times" else "largest relative error of the energy"
    return quantity, over, label, lines


def _short(setting: float) -> str:
    return f"{setting:.0e}".replace("e-0", "e-")


def _error(size: float) -> str:
    return f"{size:.1e}" if np.isfinite(size) else "—"
