"""Run by itself where nothing but the core is installed (numpy and llvmlite): dynamics of a URDF, against closed forms; what an extra is for.

python -m pip install . && python tests/core_alone.py
"""

from __future__ import annotations

import math
import sys

import numpy as np

import urdf_gibbs as ug

OPTIONAL = ("matplotlib", "meshcat", "sympy", "typer", "rich", "trimesh", "pinocchio")


def pendulum() -> None:
    """A point mass on a massless rod: M = m l^2, h = m g l sin q about a horizontal axis, and q'' = -(g / l) sin q."""
    text = """<robot name="p"><link name="base"/><link name="bob"><inertial><origin xyz="0 0 -0.7"/><mass value="1.5"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
    <joint name="q" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>"""
    robot = ug.load(text)
    q, v, m, length, g = 0.4, 1.3, 1.5, 0.7, 9.81
    assert math.isclose(ug.mass_matrix(robot, [q])[0, 0], m * length**2, rel_tol=1e-14)
    assert math.isclose(ug.bias(robot, [q], [v])[0], m * g * length * math.sin(q), rel_tol=1e-14)
    assert math.isclose(ug.forward_dynamics(robot, [q], [v], [0.0])[0], -g / length * math.sin(q), rel_tol=1e-13)


def branched() -> None:
    """M by two formulations, inverse and forward dynamics undo each other, a fall inside a circle keeps its energy."""
    robot = ug.load(ug.model_path("branched12"))
    q, v = robot.random(0), np.linspace(-1.0, 1.0, robot.nv)
    M = ug.mass_matrix(robot, q)
    assert np.abs(M - ug.mass_matrix(robot, q, method="explicit")).max() < 1e-12 * np.abs(M).max()
    a = ug.forward_dynamics(robot, q, v, np.zeros(robot.nv))
    assert np.abs(ug.inverse_dynamics(robot, q, v, a)).max() < 1e-10
    start = [-(1 + math.sqrt(3)) / 2] * 2 + [x * math.pi / 6 for x in (1, 1, -4, 1, 1, -4, 2, 0, 4, -2)]
    run = ug.simulate(robot, start, None, 1.5, walls=ug.walls.Circle(2.5), gravity=(0, -9.81, 0))
    assert len(run.impacts) == 5 and np.ptp(run.energies.total) < 1e-6


def main() -> None:
    pendulum()
    branched()
    loaded = [name for name in OPTIONAL if name in sys.modules]
    assert not loaded, f"the core has imported {loaded}"
    print("the core works alone: M, bias, forward dynamics, a fall with five impacts")


if __name__ == "__main__":
    main()
