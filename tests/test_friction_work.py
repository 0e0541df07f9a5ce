"""The energy that friction takes away: closed forms, and the balance of runs in which nothing else does work.

In smooth runs kinetic and potential energy, the work of friction and what impacts have taken have the same sum to 1e-8 of the kinetic
energy: steps are accurate to 1e-10 each.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.simulation.scenario import read_scenario

G, R = 9.81, 0.1
FLOOR = ug.walls.Plane((0, 0, 1))


def link(name: str, inertia: tuple[float, float, float], x: float = 0.0, more: str = "") -> str:
    """1 kg."""
    values = 'ixx="{!r}" ixy="0" ixz="0" iyy="{!r}" iyz="0" izz="{!r}"'.format(*inertia)
    return f'<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="1"/><inertia {values}/></inertial>{more}</link>'


def body(name: str, *inertia: float, more: str = "") -> ug.Robot:
    xx, yy, zz = inertia
    return ug.load(f'<robot name="{name}">{link(name, (xx, yy, zz), more=more)}</robot>', base="floating")


def joint(name: str, kind: str, parent: str, child: str, axis: str, friction: float, at: str = "0 0 0") -> str:
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if kind == "prismatic" else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{limit}<dynamics friction="{friction}"/></joint>'


BOX, ROD, SPHERE = body("box", 0.01, 0.01, 0.01), body("rod", 1 / 12, 1 / 12, 1e-6), body("ball", *[0.4 * R * R] * 3)
CYLINDER = f'<collision><origin rpy="{0.5 * np.pi!r} 0 0"/><geometry><cylinder radius="0.1" length="0.04"/></geometry></collision>'
WHEEL = body("wheel", 0.01, 0.005, 0.01, more=CYLINDER)
CORNERS = [("box", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
CENTRE = [("ball", (0.0, 0.0, 0.0), R)]
ON_FLOOR = (0.0, 0.0, R, 0.0, 0.0, 0.0, 1.0)
THIN = (0.01, 0.01, 0.01)
SLIDER = ug.load(f'<robot name="s">{link("base", THIN)}{link("b", THIN)}{joint("x", "prismatic", "base", "b", "1 0 0", 3.0)}</robot>')
ARMS = ug.load(
    f'<robot name="arms">{link("base", THIN)}{link("one", THIN, 0.5)}{link("two", THIN, 0.5)}'
    f"{joint('a', 'continuous', 'base', 'one', '0 1 0', 1.5)}{joint('b', 'continuous', 'one', 'two', '0 1 0', 3.0, '1 0 0')}</robot>"
)


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
    down = (G * np.sin(0.5), 0, -G * np.cos(0.5))
    slipping = simulate(WHEEL, ON_FLOOR, None, 1.0, "collision", 0.1, gravity=down, cylinders="roll")
    assert slipping.friction_work[-1] > 0.1 and drift(slipping) < 1e-8
    arms = ug.simulate(ARMS, [0.0, 0.3], [0.0, -3.0], 6.0, joint_friction="urdf")
    assert arms.friction_work[-1] > 1.0 and drift(arms) < 1e-8
    bounces = simulate(SPHERE, (0, 0, 0.4, 0, 0, 0, 1), (2, 0, 0, 0, -30, 0), 3.0, CENTRE, 0.05, restitution=0.5)
    assert len(bounces.impacts) > 5 and bounces.friction_work[-1] > 1e-6 and drift(bounces) < 1e-8


def test_without_friction_there_is_none() -> None:
    run = simulate(BOX, (0, 0, 0.05, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), 0.5, CORNERS, 0.0)
    assert not run.friction_work.any()


def test_time_stepping_tells_it_too() -> None:
    run = simulate(BOX, (0, 0, 0.05, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0), 1.0, CORNERS, 0.4, scheme="time_stepping", step=1e-3)
    assert run.friction_work[-1] == pytest.approx(4.5, abs=1e-6)
    slide = ug.simulate(SLIDER, [0], [1.5], 2.0, joint_friction="urdf", scheme="time_stepping")
    assert slide.friction_work[-1] == pytest.approx(0.5 * 1.5**2, abs=1e-6)


def test_files_tables_and_plots_have_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    scenario = read_scenario("backspin")
    run = ug.simulate(**scenario.arguments())
    assert (ug.Trajectory.load(run.save(tmp_path / "run")).friction_work == run.friction_work).all()
    table = run.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and (table["energy.friction"] == run.friction_work).all()
    labels = [text.get_text() for text in run.plot(kinds="energies").axes[0].get_legend().get_texts()]
    assert "lost by friction" in labels
    (total,) = [label for label in labels if label.startswith("total")]
    assert float(re.search(r"drift (\S+) J", total)[1]) == pytest.approx(0.0, abs=1e-8)  # type: ignore[index]
