"""The energy that friction takes away: closed forms, and the balance of runs in which nothing else does work.

In smooth runs kinetic and potential energy, the work of friction and what impacts have taken have the same sum to 1e-8 of the kinetic
energy: steps are accurate to 1e-10 each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_friction import BOX, CENTRE, CORNERS, FLOOR, ON_FLOOR, ROD, SPHERE, incline
from test_joint_friction import slider, two_arms
from test_rims import R, order, planar_wheel

import urdf_gibbs as ug
from urdf_gibbs.simulation.scenario import read_scenario


def drift(run: ug.Trajectory) -> float:
    """How far the balance is from closing, of the largest kinetic energy."""
    sudden = np.concatenate([[False], np.diff(run.t) == 0.0])
    lost = -np.where(sudden, np.diff(run.energies.total, prepend=run.energies.total[0]), 0.0).cumsum()
    total = run.energies.total + run.friction_work + lost
    return float(np.abs(total - total[0]).max() / max(1.0, run.energies.kinetic.max()))


def simulate(robot: ug.Robot, q: Any, v: Any, duration: float, points: Any, mu: Any, **options: Any) -> ug.Trajectory:
    return ug.simulate(robot, q, v, duration, walls=FLOOR, points=points, friction=mu, **{"restitution": 0.0, **options})


def test_a_block_loses_all_that_it_has() -> None:
    run = simulate(BOX, (0, 0, 0.05, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), 1.0, CORNERS, 0.4)
    assert run.friction_work[0] == 0.0 and run.friction_work[-1] == pytest.approx(4.5, abs=1e-9)
    assert (np.diff(run.friction_work) >= -1e-12).all() and drift(run) < 1e-9


def test_a_ball_with_backspin_loses_what_its_slip_had() -> None:
    """½ μ_red (v + ω R)²: the reduced mass of the contact is 2/7 of the ball's."""
    run = simulate(SPHERE, ON_FLOOR, (3, 0, 0, 0, -40, 0), 1.5, CENTRE, 0.25)
    assert run.friction_work[-1] == pytest.approx(0.5 * 2 / 7 * 7.0**2, abs=1e-8) and drift(run) < 1e-8


def test_the_balance_closes_in_other_runs() -> None:
    turn = Rotation.from_euler("y", 0.1)
    rod = simulate(ROD, (*-turn.apply((0, 0, -0.5)), *turn.as_quat()), None, 0.6, [("rod", (0, 0, -0.5))], 0.3)
    assert rod.friction_work[-1] > 1e-5 and drift(rod) < 1e-8
    wheel = planar_wheel(0.5)
    slipping = simulate(wheel, order(wheel, z=R), None, 1.0, "collision", 0.1, gravity=incline(0.5))
    assert slipping.friction_work[-1] > 0.1 and drift(slipping) < 1e-8
    arms = ug.simulate(two_arms((1.5, 3.0)), [0.0, 0.3], [0.0, -3.0], 6.0, joint_friction="urdf")
    assert arms.friction_work[-1] > 1.0 and drift(arms) < 1e-8
    bounces = simulate(SPHERE, (0, 0, 0.4, 0, 0, 0, 1), (2, 0, 0, 0, -30, 0), 3.0, CENTRE, 0.2, restitution=0.5)
    assert len(bounces.impacts) > 5 and bounces.friction_work[-1] > 1e-6 and drift(bounces) < 1e-8


def test_without_friction_there_is_none() -> None:
    run = simulate(BOX, (0, 0, 0.05, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), 0.5, CORNERS, 0.0)
    assert not run.friction_work.any()


def test_time_stepping_tells_it_too() -> None:
    run = simulate(BOX, (0, 0, 0.05, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), 1.0, CORNERS, 0.4, scheme="time_stepping", step=1e-3)
    assert run.friction_work[-1] == pytest.approx(4.5, abs=1e-6)
    slide = ug.simulate(slider(3.0, 2.0), [0], [1.5], 2.0, joint_friction="urdf", scheme="time_stepping")
    assert slide.friction_work[-1] == pytest.approx(0.5 * 2.0 * 1.5**2, abs=1e-6)


def test_files_tables_and_plots_have_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    scenario = read_scenario("backspin")
    run = ug.simulate(**scenario.arguments())
    assert (ug.Trajectory.load(run.save(tmp_path / "run")).friction_work == run.friction_work).all()
    table = run.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and (table["energy.friction"] == run.friction_work).all()
    labels = [text.get_text() for text in run.plot(kinds="energies").axes[0].get_legend().get_texts()]
    assert "taken by friction" in labels
