"""The torque regressor beside Pinocchio's: one state with out=, and batches of 4,096 states on one thread, taking turns.

    python validation/bench_regressors.py [--rounds 15]

Pinocchio has no batches: its contender is a loop that keeps each result in the same array as ours, and, for what the copy costs, one that
drops it. Of a large robot most entries of Y are zeros, and time is that of writing them: "fill" is NumPy's time for as many zeros.
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter
from timeit import Timer
from typing import Any

import numpy as np
import own_tree  # noqa: F401
import pinocchio as pin

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.timing import interleaved

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "Go2": ("go2_description/urdf/go2.urdf", "floating"),
    "Talos": ("talos_data/robots/talos_reduced.urdf", "floating"),
}
BATCH = 4096
LOOP = "for x, y, z, row in zip(Q_, V, A, results): row[:] = theirs(model, data, x, y, z)"
DROPPED = "for x, y, z in zip(Q_, V, A): theirs(model, data, x, y, z)"


def measured(path: str, base: str, rounds: int) -> dict[str, float]:
    """Seconds of each call, those of batches for one state; of the first calls, which compile or read the cache; and the difference."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ug.UrdfWarning)
        robot = ug.load(path, base, mimic=False)
    model = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    rng = np.random.default_rng(0)
    Q, (V, A) = robot.random(rng, BATCH), rng.uniform(-1.0, 1.0, (2, BATCH, robot.nv))
    start = perf_counter()
    kernel = robot.kernel("torque_regressor")
    result = kernel(Q[0], V[0], A[0])
    first = perf_counter() - start
    start = perf_counter()
    results = kernel(Q, V, A)
    first_batch = perf_counter() - start
    Q_ = robot.q_to_pinocchio(Q)
    names: dict[str, Any] = {"kernel": kernel, "theirs": pin.computeJointTorqueRegressor, "model": model, "data": model.createData()}
    names |= {"Q": Q, "V": V, "A": A, "Q_": Q_, "results": results, "result": result}
    names |= {"q": Q[0].copy(), "q_": Q_[0].copy(), "v": V[0].copy(), "a": A[0].copy()}
    pairs = [(results[i], names["theirs"](model, names["data"], Q_[i], V[i], A[i])) for i in range(0, BATCH, 500)]
    difference = max(np.abs(one - other).max() / np.abs(other).max() for one, other in pairs)
    single = {"ours": "kernel(q, v, a, result)", "theirs": "theirs(model, data, q_, v, a)"}
    packed = robot.kernel("torque_regressor_packed")
    names |= {"packed": packed, "blocks": packed(Q, V, A)}
    batch = {
        "ours": "kernel(Q, V, A, results)",
        "packed": "packed(Q, V, A, blocks)",
        "loop": LOOP,
        "dropped": DROPPED,
        "fill": "results.fill(0.0)",
    }
    times = interleaved({key: Timer(call, globals=names) for key, call in single.items()}, rounds)
    many = interleaved({key: Timer(call, globals=names) for key, call in batch.items()}, rounds, chunks=False)
    found = {f"single {key}": value for key, value in times.items()} | {f"batch {key}": value / BATCH for key, value in many.items()}
    return found | {"first": first, "first batch": first_batch, "difference": difference}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    ug.set_threads(1)
    files = example_robots()
    for name, (path, base) in ROBOTS.items():
        found = measured(str(files[path]), base, rounds)
        one, their_one = found["single ours"], found["single theirs"]
        print(f"{name}: difference {found['difference']:.1e}, first call {found['first']:.2f} s, of a batch {found['first batch']:.2f} s")
        print(f"  one state      {1e6 * one:6.2f} us, Pinocchio {1e6 * their_one:6.2f} us: {their_one / one:5.1f} times")
        kept, dropped, fill = (found[f"batch {key}"] for key in ("loop", "dropped", "fill"))
        for key, what in (("batch ours", "dense"), ("batch packed", "packed")):
            ours = found[key]
            print(f"  {BATCH} {what:<8} {1e6 * ours:6.2f} us, Pinocchio {1e6 * kept:6.2f} us: {kept / ours:5.1f} times", end="; ")
            print(f"results dropped {1e6 * dropped:6.2f} us: {dropped / ours:5.1f} times")
        print(f"  {'zeros alone':<13} {1e6 * fill:6.2f} us")


if __name__ == "__main__":
    main()
