"""Plots of sensitivities, shots and identification: what the lines hold, and that all of it can be read."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import motion_differences as motions
import numpy as np
import pytest
from figure_layout import check_layout
from matplotlib.figure import Figure
from motion_differences import FLOOR

import urdf_gibbs as ug


def artist(made: Figure, gid: str) -> Any:
    found = [one for one in made.findobj() if one.get_gid() == gid]
    assert len(found) == 1, gid
    return found[0]


def drawn(made: Figure) -> Figure:
    made.canvas.draw()
    return made


@cache
def sensitivity() -> ug.Sensitivity:
    return motions.pendulum().run().sensitivity(("start", "restitution"))


@cache
def shot() -> ug.Shot:
    ball = ug.load(ug.model_path("free_ball"), base="floating")
    first = ug.simulate(ball, [0, 0, 1, 0, 0, 0, 1], [1, 0, 2, 0, 0, 0], 2.0, FLOOR, restitution=0.7, points="collision")
    return ug.shoot(first, (2.0, None, None), impact=1)


@cache
def measured() -> tuple[Any, ...]:
    """A robot, and states with forces of one that differs."""
    robot = ug.load(ug.model_path("planar3r"))
    rng = np.random.default_rng(0)
    Q, V, A = rng.normal(size=(3, 200, robot.nv))
    tau = ug.inverse_dynamics(robot.with_inertia("link3", mass=1.3), Q, V, A) + 0.05 * rng.normal(size=V.shape)
    return robot, (Q, V, A, tau)


def identified() -> ug.Identification:
    robot, data = measured()
    return ug.identify(robot, *data)


def test_lines_of_a_sensitivity_pass_through_its_rows_and_break_at_impacts() -> None:
    S = sensitivity()
    made = S.plot()
    for column in range(len(S.columns)):
        for row in range(2):
            t, y = artist(made, f"{column} {row}").get_data()
            assert np.isnan(t).sum() == len(S.saltations) == 3
            rows = np.isin(t, S.t)
            np.testing.assert_array_equal(t[rows], S.t)
            np.testing.assert_array_equal(y[rows], S.values[:, row, column])
            between = ~rows & np.isfinite(t)
            at = t[between][::40]  # the length of the first step there depends on what was integrated before
            np.testing.assert_allclose(y[between][::40], [S.at(float(time))[row, column] for time in at], rtol=1e-9, atol=1e-11)


def test_columns_of_a_sensitivity_are_chosen_by_name_group_or_size() -> None:
    S = motions.branched().run().sensitivity()
    assert len(S.plot(columns=["q.X1", "v.q3"]).axes) == 4
    assert len(S.plot(columns="v").axes) == 24
    largest = {int(i) for i in np.argsort(-np.abs(S.values[-1]).max(axis=0))[:6]}
    titles = {axes.get_title(loc="left").partition(" / d ")[2] for axes in S.plot().axes}
    assert titles == {S.columns[i] for i in largest}
    with pytest.raises(ug.UnknownNameError, match=r"no column named 'q\.x'"):
        S.plot(columns="q.x")


def test_ways_of_a_shot_end_where_it_strikes_and_misses_are_told() -> None:
    found = shot()
    made = found.plot()
    for k, attempt in enumerate(found.attempts):
        place = attempt.trajectory.impacts[1].positions[0]
        x, z = artist(made, f"way {k}").get_data()
        np.testing.assert_allclose([x[0], z[0], x[-1], z[-1]], [0.0, 1.0, place[0], 0.1], atol=1e-9)  # its centre, at the radius
        np.testing.assert_allclose(np.ravel(artist(made, f"struck {k}").get_data()), place[[0, 2]])
    assert list(artist(made, "target").get_xdata()) == [2.0, 2.0]
    np.testing.assert_array_equal(artist(made, "miss place.x").get_ydata(), [abs(one.miss[0]) for one in found.attempts])


def test_a_shot_at_a_joint_limit_is_drawn_over_time() -> None:
    found = ug.shoot(motions.pendulum().run(), time=0.5, change="torque")
    made = found.plot()
    t, q = artist(made, f"way {len(found.attempts) - 1}").get_data()
    np.testing.assert_allclose([t[-1], q[0], q[-1]], [0.5, np.pi / 3, 0.0], atol=1e-7)
    assert made.axes[0].get_xlabel() == "time [s]" and made.axes[0].get_ylabel() == "pivot [rad]"


def test_parameters_are_drawn_with_their_deviations_and_forces_over_predictions() -> None:
    _, data = measured()
    found = identified()
    assert set(found.told) == {"known"}
    made = found.plot(measured=data)
    line = next(one for one in made.axes[0].lines if one.get_marker() == "o")
    np.testing.assert_allclose(line.get_xdata() * found.natural_sizes, found.values - found.base.K @ found.prior.ravel(), atol=1e-12)
    bars = next(one for one in made.axes[0].collections if one.get_segments()).get_segments()
    lengths = [segment[1, 0] - segment[0, 0] for segment in bars]
    np.testing.assert_allclose(lengths * found.natural_sizes, 2.0 * found.deviations, rtol=1e-9)
    x, y = artist(made, "forces joint2").get_data()
    rms = np.sqrt(np.mean(data[3][:, 1] ** 2))
    np.testing.assert_allclose(x * rms, found.predict(*data[:3])[:, 1])
    np.testing.assert_allclose(y * rms, data[3][:, 1])
    with pytest.raises(ug.ArgumentError, match="expected \\(Q, V, A, tau\\)"):
        found.plot(measured=data[:3])  # type: ignore[arg-type]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_off_and_legends_are_beside_the_axes(theme: Any) -> None:
    for made in (sensitivity().plot(theme=theme), shot().plot(theme=theme), identified().plot(theme=theme, measured=measured()[1])):
        check_layout(drawn(made))


def test_many_lines_of_a_sensitivity_and_bars_of_forces_can_be_read() -> None:
    made = motions.branched().run().sensitivity("v").plot(columns=["v.X1", "v.q3"])
    check_layout(drawn(made))
    assert made.axes[0].get_legend().get_title().get_text() == "without 4 smaller"
    check_layout(drawn(identified().plot()))


def test_a_figure_is_written(tmp_path: Path) -> None:
    shot().plot(tmp_path / "figure.svg")
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()
    with pytest.raises(ug.ArgumentError, match=r"expected one of \.png, \.svg, \.pdf"):
        sensitivity().plot(tmp_path / "figure.txt")
