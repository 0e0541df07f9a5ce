"""The frictional contact problem against Siconos and Pinocchio, on robots of example-robot-data, in one interleaved run.

python validation/bench_contact_problem.py [--states 20] [--only NAME]

Siconos is called through its C library: apt-get install libsiconos-numerics-dev (Debian, Ubuntu). Pinocchio: pip install pin. Either may
be missing. A problem counts as solved where the certificate of urdf_gibbs, worked out from K, b and the impulses alone, is below 1e-9;
"none" counts those of which it is proved that they have no solution. Times are medians over the problems of a row, all methods
taking turns on one problem before the next comes.
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
from contact_problems import CASES, ROBOTS, Array, Problem, problems

from urdf_gibbs.contact import coulomb
from urdf_gibbs.contact.coulomb.problem import impulses

SOLVED = 1e-9
REPEATS = 5
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
        return p, np.nan, best

    return solve


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=20, help="of each robot")
    parser.add_argument("--only", default="", help="robots whose name contains this")
    options = parser.parse_args()
    offered = {"ours": ours, "Siconos NSN_AC": siconos(NEWTON), "Siconos NSGS": siconos(NSGS), "Pinocchio ADMM": pinocchio()}
    methods = {name: method for name, method in offered.items() if method is not None}
    for name in offered.keys() - methods.keys():
        print(f"{name}: not installed, left out (see --help)")
    print(f"{'robot':9s} {'case':16s} {'problems':>8s} {'none':>5s}  unsolved at {SOLVED:g} / median time [us] of: {', '.join(methods)}")
    left, total, impossible = dict.fromkeys(methods, 0), 0, 0
    for robot in ROBOTS:
        if options.only not in robot:
            continue
        found = list(problems(robot, range(options.states)))
        for case in CASES:
            own = [problem for problem in found if problem.case == case]
            times: dict[str, list[float]] = {name: [] for name in methods}
            failed, none = dict.fromkeys(methods, 0), 0
            for problem in own:
                for name, method in methods.items():
                    p, certificate, seconds = method(problem)
                    times[name].append(seconds)
                    none += certificate == np.inf
                    finite = bool(np.isfinite(p).all())
                    good = finite and coulomb.contact_certificate(problem.K, problem.b, problem.mu, p) <= SOLVED
                    failed[name] += not good and certificate != np.inf
            cells = " ".join(f"{failed[name]:3d} /{1e6 * statistics.median(times[name]):9.1f}" for name in methods if own)
            print(f"{robot:9s} {case:16s} {len(own):8d} {none:5d}  {cells}", flush=True)
            total, impossible = total + len(own), impossible + none
            for name in methods:
                left[name] += failed[name]
    print(f"of {total} problems, {impossible} proved to have no solution, unsolved: " + ", ".join(f"{n} {c}" for n, c in left.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
