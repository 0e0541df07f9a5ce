"""What a call of a kernel from JAX costs beside an empty one, and the gradient of a rollout beside differences of it.

python validation/bench_autodiff.py [FILE.urdf]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import own_tree  # noqa: F401

import urdf_gibbs as ug
import urdf_gibbs.jax as ugj
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.timing import interleaved

jax.config.update("jax_enable_x64", True)

PANDA = "panda_description/urdf/panda.urdf"
STEPS, DT = 100, 0.002
STEP = 1e-5  # of central differences: truncation and round-off are then some 1e-10 of the gradient each


def panda() -> Path:
    """The Panda of the PyPI package example-robot-data."""
    found = example_robots()
    if not found:
        raise SystemExit("pip install example-robot-data, or name a URDF")
    return found[PANDA]


def call_times(robot: ug.Robot, rounds: int = 41) -> dict[str, float]:
    """Median seconds of a jitted call that waits for its result."""
    rng = np.random.default_rng(0)
    state = [jnp.array(x) for x in (robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv))]
    functions = {
        "empty (one addition)": lambda q, v, x: x + 1.0,
        "bias": lambda q, v, x: ugj.bias(robot, q, v),
        "inverse dynamics": lambda q, v, x: ugj.inverse_dynamics(robot, q, v, x),
        "forward dynamics": lambda q, v, x: ugj.forward_dynamics(robot, q, v, x),
    }
    jitted = {name: jax.jit(function) for name, function in functions.items()}

    def waiting(function: Any) -> Any:
        return lambda: function(*state).block_until_ready()

    return interleaved({name: waiting(function) for name, function in jitted.items()}, rounds)


def rollout_cost(robot: ug.Robot, library: Any, steps: int = STEPS) -> Any:
    """A function of (q0, v0, tau): a quadratic cost of the state after some steps of a symplectic Euler method."""

    def step(state: Any, _: Any) -> Any:
        q, v, tau = state
        v = v + DT * library.forward_dynamics(robot, q, v, tau)
        return (library.integrate(robot, q, DT * v), v, tau), None

    def cost(q: Any, v: Any, tau: Any) -> Any:
        (q, v, _), _ = jax.lax.scan(step, (q, v, tau), None, length=steps)
        return jnp.sum(q**2) + 0.1 * jnp.sum(v**2)

    return cost


def numpy_cost(robot: ug.Robot, q: Any, v: Any, tau: Any, steps: int = STEPS) -> float:
    """The same by the functions over NumPy."""
    for _ in range(steps):
        v = v + DT * ug.forward_dynamics(robot, q, v, tau)
        q = robot.integrate(q, DT * v)
    return float(np.sum(q**2) + 0.1 * np.sum(v**2))


def rollout(robot: ug.Robot) -> tuple[float, dict[str, float]]:
    """(largest error of the gradient, relative to its largest entry; seconds of gradient and of one cost)."""
    rng = np.random.default_rng(1)
    state = [0.3 * rng.normal(size=robot.nq), 0.1 * rng.normal(size=robot.nv), 0.1 * rng.normal(size=robot.nv)]
    gradient = jax.jit(jax.grad(rollout_cost(robot, ugj), argnums=(0, 1, 2)))
    cost = jax.jit(rollout_cost(robot, ugj))
    found = np.concatenate([np.asarray(x) for x in gradient(*state)])
    flat, cuts = np.concatenate(state), np.cumsum([len(x) for x in state])[:-1]
    differences = np.array(
        [
            (numpy_cost(robot, *np.split(flat + STEP * unit, cuts)) - numpy_cost(robot, *np.split(flat - STEP * unit, cuts))) / (2 * STEP)
            for unit in np.eye(len(flat))
        ]
    )
    arrays = [jnp.array(x) for x in state]
    times = interleaved(
        {"gradient": lambda: jax.block_until_ready(gradient(*arrays)), "cost": lambda: cost(*arrays).block_until_ready()}, chunks=False
    )
    return float(np.abs(found - differences).max() / np.abs(differences).max()), times


if __name__ == "__main__":
    robot = ug.load(sys.argv[1] if len(sys.argv) > 1 else panda(), mimic=False)
    times = call_times(robot)
    empty = times["empty (one addition)"]
    for name, seconds in times.items():
        print(f"{robot.name}, jitted {name}: {1e6 * seconds:.2f} us, {1e6 * (seconds - empty):+.2f} us")
    error, times = rollout(robot)
    gradient, cost = (f"{1e6 * times[name]:.0f} us" for name in ("gradient", "cost"))
    print(f"{STEPS} steps: gradient {gradient}, cost {cost}; the gradient differs from differences by {error:.1e} of its largest entry")
