"""The frictional contact problem against Siconos and Pinocchio, on robots of example-robot-data, in one interleaved run.

python validation/bench_contact_problem.py [--states 20] [--only NAME] [--search 6000]

Siconos is called through its C library: apt-get install libsiconos-numerics-dev (Debian, Ubuntu). Pinocchio: pip install pin. Either may
be missing. A problem counts as solved where the certificate of urdf_gibbs, worked out from K, b and the impulses alone, is below 1e-9, and
1e-10. Problems of which it is proved that they have no solution count for none. Times are medians, and below them are 90 %, over the
problems of a row, all methods taking turns on one problem before the next comes. What urdf_gibbs leaves open after that time it searches
through (``search``, 25 times as many linear programs up to 16 contacts), seconds which are shown apart.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import own_tree  # noqa: F401
from contact_problems import CASES, ROBOTS, Array, Problem, problems

from urdf_gibbs.contact import coulomb
from urdf_gibbs.contact.coulomb.problem import decided, drawn, impulses

LEVELS = (1e-9, 1e-10)
REPEATS = 5
LONG = 0.05  # s; what takes longer is done once
NSGS, NEWTON = 500, 504  # of Siconos: SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_NSN_AC
ITERATIONS = {NSGS: 10_000, NEWTON: 200}
TOLERANCE = 1e-12

Method = Callable[[Problem], tuple[Array, float, float]]  # impulses, certificate of its own or NaN, seconds


def ours(problem: Problem) -> tuple[Array, float, float]:
    """By urdf_gibbs, from zero impulses."""
    record = coulomb.made_problem(problem.K, problem.b, problem.mu)
    best, worst = np.inf, 0.0
    for _ in range(REPEATS):
        record.p[:] = 0.0
        began = time.perf_counter()
        worst = impulses(record)
        best = min(best, time.perf_counter() - began)
    return record.p, float(worst), best


class SiconosOptions(ctypes.Structure):
    """The beginning of its SolverOptions."""

    _fields_ = (
        ("solver", ctypes.c_int),
        ("is_set", ctypes.c_bool),
        ("integers", ctypes.c_int),
        ("iparam", ctypes.POINTER(ctypes.c_int)),
        ("reals", ctypes.c_int),
        ("dparam", ctypes.POINTER(ctypes.c_double)),
    )


def siconos(number: int) -> Method | None:
    """One of its solvers, None where the library is not installed."""
    found = ctypes.util.find_library("siconos_numerics")
    if found is None:
        return None
    library = ctypes.CDLL(found)
    pointer, real = ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)
    library.NM_create_from_data.restype = library.frictionContactProblem_new_with_data.restype = pointer
    library.NM_create_from_data.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, pointer]
    library.frictionContactProblem_new_with_data.argtypes = [ctypes.c_int, ctypes.c_int, pointer, real, real]
    library.solver_options_create.restype = ctypes.POINTER(SiconosOptions)
    library.fc3d_driver.argtypes = [pointer, real, real, ctypes.POINTER(SiconosOptions)]
    library.numerics_set_verbose(0)

    def solve(problem: Problem) -> tuple[Array, float, float]:
        n, best = len(problem.b), np.inf
        p, u, q, mu = np.zeros(n), np.zeros(n), problem.b.copy(), problem.mu.copy()
        for _ in range(2):
            K = np.asfortranarray(problem.K)
            matrix = library.NM_create_from_data(0, n, n, K.ctypes.data)
            record = library.frictionContactProblem_new_with_data(3, len(mu), matrix, q.ctypes.data_as(real), mu.ctypes.data_as(real))
            options = library.solver_options_create(number)
            options.contents.dparam[0], options.contents.iparam[0] = TOLERANCE, ITERATIONS[number]
            p[:], u[:] = 0.0, 0.0
            began = time.perf_counter()
            library.fc3d_driver(record, p.ctypes.data_as(real), u.ctypes.data_as(real), options)
            best = min(best, time.perf_counter() - began)
            if best > LONG:
                break
        return p, np.nan, best

    return solve


def pinocchio() -> Method | None:
    """Its ADMM, None where it is not installed. Its contacts have the normal last."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    if not hasattr(pin, "ADMMConstraintSolver"):
        return None
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")

    def solve(problem: Problem) -> tuple[Array, float, float]:
        k = len(problem.mu)
        order = np.concatenate([[3 * i + 1, 3 * i + 2, 3 * i] for i in range(k)])
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for mu in problem.mu:
            contact = pin.PointContactConstraintModel(model, 1, pin.SE3.Identity())
            contact.setFriction(float(mu))
            models.append(pin.ConstraintModel(contact))
            datas.append(pin.ConstraintData(contact.createData()))
        settings: Any = pin.ADMMSolverSettings()
        settings.absolute_feasibility_tol = settings.relative_feasibility_tol = TOLERANCE
        settings.absolute_complementarity_tol = settings.relative_complementarity_tol = TOLERANCE
        settings.max_iterations, settings.solve_ncp = 5000, True
        b, K, best, p = problem.b[order], problem.K[np.ix_(order, order)], np.inf, np.zeros(3 * k)
        for _ in range(2):
            solver, result, delassus = pin.ADMMConstraintSolver(3 * k), pin.ADMMSolverResult(), pin.DelassusOperatorDense(K)
            began = time.perf_counter()
            solver.solve(delassus, b, models, datas, settings, result)
            best = min(best, time.perf_counter() - began)
            p[order] = np.asarray(result.retrieveConstraintImpulses()).ravel()
            if best > LONG:
                break
        return p, np.nan, best

    return solve


def searched(problem: Problem, p: Array, programs: int) -> tuple[Array, float, float]:
    """What the proximal point method, then the search through all modes make of what is left open: impulses, certificate, seconds."""
    record = coulomb.made_problem(problem.K, problem.b, problem.mu, start=p)
    began = time.perf_counter()
    worst = drawn(record)
    if worst > LEVELS[-1]:
        worst = decided(record, programs if len(problem.mu) > 16 else 25 * programs)
    return record.p, float(worst), time.perf_counter() - began


def left_over(problem: Problem, p: Array) -> float:
    """The certificate, inf where impulses are not finite."""
    return coulomb.contact_certificate(problem.K, problem.b, problem.mu, p) if np.isfinite(p).all() else np.inf


def compare(robot: str, found: list[Problem], methods: dict[str, Method], programs: int) -> dict[str, Array]:
    """The lines of a robot, one for each case; gives the number of unsolved problems of each method, at each level."""
    total = {name: np.zeros(len(LEVELS), dtype=int) for name in (*methods, "none")}
    for case in CASES:
        own = [problem for problem in found if problem.case == case]
        times: dict[str, list[float]] = {name: [] for name in methods}
        left = {name: np.zeros(len(LEVELS), dtype=int) for name in (*methods, "none")}
        notes = []
        for number, problem in enumerate(own):
            answers = {name: method(problem) for name, method in methods.items()}
            p, worst, _ = answers["ours"]
            if LEVELS[-1] < worst < np.inf and programs:
                p, worst, seconds = searched(problem, p, programs)
                answers["ours"] = (p, worst, answers["ours"][2])
                notes.append(
                    f"state {number}: {'none' if worst == np.inf else 'solved' if worst <= LEVELS[-1] else 'open'}, {seconds:.0f} s"
                )
            left["none"] += worst == np.inf
            for name, (p, _, seconds) in answers.items():
                times[name].append(seconds)
                if worst < np.inf:
                    left[name] += left_over(problem, p) > np.array(LEVELS)
        cells = [
            f"{left[name][0]:4d} {left[name][1]:4d} {1e6 * statistics.median(times[name]):9.1f} {1e6 * np.quantile(times[name], 0.9):9.1f}"
            for name in methods
        ]
        searches = "  searched: " + "; ".join(notes) if notes else ""
        line = f"{robot:9s} {case:16s} {len(own):4d} {left['none'][0]:4d} |"
        print(line + " |".join(cells) + searches, flush=True)
        for name in total:
            total[name] += left[name]
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=20, help="of each robot")
    parser.add_argument("--only", default="", help="robots whose name contains this")
    parser.add_argument("--search", type=int, default=6_000, help="linear programs for a problem that is left open; 0: no search")
    options = parser.parse_args()
    offered = {"ours": ours, "Siconos NSN_AC": siconos(NEWTON), "Siconos NSGS": siconos(NSGS), "Pinocchio ADMM": pinocchio()}
    methods = {name: method for name, method in offered.items() if method is not None}
    for name in offered.keys() - methods.keys():
        print(f"{name}: not installed, left out (see --help)")
    print(f"{'':26s} {'':4s} {'':4s} |" + " |".join(f"{name:^29s}" for name in methods))
    print(
        f"{'robot':9s} {'case':16s} {'all':>4s} {'none':>4s} |"
        + " |".join(f"{'1e-9':>4s} {'-10':>4s} {'50% [us]':>9s} {'90%':>9s}" for _ in methods)
    )
    total, count = {name: np.zeros(len(LEVELS), dtype=int) for name in (*methods, "none")}, 0
    for robot in ROBOTS:
        if options.only not in robot:
            continue
        found = list(problems(robot, range(options.states)))
        count += len(found)
        for name, unsolved in compare(robot, found, methods, options.search).items():
            total[name] += unsolved
    none = total.pop("none")[0]
    print(
        f"of {count} problems {none} have no solution, proved; unsolved at 1e-9 and 1e-10: "
        + ", ".join(f"{n} {a}, {b}" for n, (a, b) in total.items())
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
