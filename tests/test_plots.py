"""Plots of trajectories: what the artists hold against Pinocchio, the impacts and the walls; that all of it can be read; files."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import runner
from figure_layout import check_layout, texts
from long_runs import long_run
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray
from urdf_text import inertial, joint, link, robot

import urdf_gibbs as ug
from urdf_gibbs import ArgumentError, Impact, Robot, Trajectory, UnknownNameError
from urdf_gibbs.cli import app
from urdf_gibbs.cli import simulate as command
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.simulation.trajectory import LazyImpacts
from urdf_gibbs.view import themes
from urdf_gibbs.view.branches import skeleton
from urdf_gibbs.view.figures import SUFFIXES
from urdf_gibbs.view.plots import KINDS, plot
from urdf_gibbs.walls import Box, Circle, Corridor, Ellipsoid, Implicit, Plane, Sphere, Vibration

pinocchio = pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
NAMES = ("branched12", "bouncing_ball", "cradle", "sliding_block", "vibrating_table", "pendulum_stop", "space")
# Joints along three axes in a tree, a tip on each leaf, a mimic and a slide; thrown about between floor and sphere.
SPACE = robot(
    link("trunk", inertial(2.0, moments=(0.2, 0.3, 0.25))),
    link("arm", inertial(1.0, (0.2, 0.0, 0.0))),
    link("hand", inertial(0.5, (0.1, 0.0, 0.05))),
    link("leg", inertial(1.0, (0.0, 0.1, -0.2))),
    link("toe", ""),
    joint("shoulder", "continuous", "trunk", "arm", xyz=(0.1, 0.0, 0.2), axis=(0, 1, 0)),
    joint("wrist", "continuous", "arm", "hand", xyz=(0.4, 0.0, 0.0), rpy=(0.3, 0.0, 0.0), axis=(0, 0, 1)),
    joint("hip", "continuous", "trunk", "leg", xyz=(0.0, 0.1, -0.1), axis=(1, 0, 0)),
    joint("sole", "fixed", "leg", "toe", xyz=(0.0, 0.0, -0.4)),
    name="space",
)


@cache
def trajectory(name: str) -> Trajectory:
    if name != "space":
        return ug.simulate(**read_scenario(name).arguments())
    body = ug.load(SPACE, base="floating")
    q, v = body.neutral().copy(), np.zeros(body.nv)
    q[2], v[3:6] = 1.0, (1.5, 2.0, 0.5)
    return ug.simulate(body, q, v, 1.0, [Plane(), Sphere(2.0, (0.0, 0.0, 0.6))], restitution=0.8)


@cache
def figure(name: str, theme: str = "light") -> Figure:
    made = plot(trajectory(name), theme=theme)
    made.canvas.draw()
    return made


def artist(made: Figure, gid: str) -> Any:
    found = [one for one in made.findobj() if one.get_gid() == gid]
    assert len(found) == 1, gid
    return found[0]


class Oracle:
    """Pinocchio's positions and velocities of points of our robot; planar and continuous joints are not in these robots' way."""

    def __init__(self, own: Robot) -> None:
        self.own = own
        root = pinocchio.JointModelFreeFlyer() if own.base == "floating" else None
        text = own.source if isinstance(own.source, str) else own.source.decode()
        self.model = pinocchio.buildModelFromXML(text, root) if root else pinocchio.buildModelFromXML(text)
        self.data = self.model.createData()

    def __call__(self, q: Array, v: Array, body: int, place: Any) -> tuple[Array, Array]:
        theirs_q, theirs_v = pinocchio.neutral(self.model), np.zeros(self.model.nv)
        for own in self.own.joints:
            other = self.model.joints[self.model.getJointId(own.name)]
            entries = q[own.iq : own.iq + own.nq]
            if other.nq == 2:
                entries = np.array([np.cos(entries[0]), np.sin(entries[0])])
            theirs_q[other.idx_q : other.idx_q + other.nq] = entries
            theirs_v[other.idx_v : other.idx_v + other.nv] = v[own.iv : own.iv + own.nv]
        pinocchio.forwardKinematics(self.model, self.data, theirs_q, theirs_v)
        number = self.model.getJointId(self.own.joints[body].name)
        pose, twist = self.data.oMi[number], pinocchio.getVelocity(self.model, self.data, number, pinocchio.LOCAL)
        lever = np.array(place)
        return pose.act(lever), pose.rotation @ (twist.linear + np.cross(twist.angular, lever))


def moving(name: str) -> str:
    return {"branched12": "xy", "cradle": "xz", "sliding_block": "xz", "space": "xyz"}.get(name, "z")


# What is plotted ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pendulum_stop"])
def test_points_are_where_pinocchio_has_them_and_move_as_it_says(name: str) -> None:
    run, made = trajectory(name), figure(name)
    oracle = Oracle(run.robot)
    for point in run.settings["points"][:4]:
        lines = {
            (kind, axis): artist(made, f"{kind} {axis} {point['name']}").get_data()
            for kind in ("positions", "velocities")
            for axis in moving(name)
        }
        t = lines["positions", moving(name)[0]][0]
        jumps = {impact.time for impact in run.impacts}
        assert len(t) > 1500
        for i in np.linspace(0, len(t) - 1, 60).astype(int):
            if np.isnan(t[i]) or t[i] in jumps:
                continue
            x, u = oracle(*run.at(t[i]), point["body"], point["position"])
            for axis in moving(name):
                assert lines["positions", axis][1][i] == pytest.approx(x["xyz".index(axis)], abs=1e-9)
                assert lines["velocities", axis][1][i] == pytest.approx(u["xyz".index(axis)], abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_only_axes_along_which_something_moves_have_a_panel(name: str) -> None:
    titles = {axes.get_title(loc="left") for axes in figure(name).axes}
    shown = "" if name == "pendulum_stop" else moving(name)
    assert {title for title in titles if title.startswith("positions")} == {f"positions in {axis}" for axis in shown}
    assert {title for title in titles if title.startswith("velocities")} == {f"velocities in {axis}" for axis in shown}


@pytest.mark.parametrize("name", ["branched12", "bouncing_ball", "sliding_block", "space"])
def test_velocities_jump_at_impacts_by_what_the_impacts_say(name: str) -> None:
    run, made = trajectory(name), figure(name)
    names = [point["name"] for point in run.settings["points"]]
    for impact in run.impacts[:10]:
        if sum(other.time == impact.time for other in run.impacts) > 1:
            continue
        for k, point in enumerate(impact.points):
            for axis in (
                moving(name) if point in names and (point, impact.walls[k]) in zip(impact.points, impact.walls, strict=True) else ""
            ):
                t, y = artist(made, f"velocities {axis} {point}").get_data()
                before, after = np.flatnonzero(t == impact.time)
                assert after == before + 2 and np.isnan(t[before + 1]) and np.isnan(y[before + 1])  # a break and no slope
                change = (impact.velocities_after - impact.velocities_before)[k, "xyz".index(axis)]
                assert y[after] - y[before] == pytest.approx(change, abs=1e-8)


def test_coordinates_of_the_pendulum_are_in_degrees() -> None:
    made = figure("pendulum_stop")
    t, q = artist(made, "coordinates q pivot").get_data()
    v = artist(made, "coordinates v pivot").get_ydata()
    assert q[0] == pytest.approx(60.0, abs=1e-12)
    assert np.nanmin(q) == pytest.approx(0.0, abs=1e-6)
    early = t < 0.38  # before the first blow: v is the rate of q, by differences over 2.5 ms
    slope = np.diff(q[early]) / np.diff(t[early])
    assert np.abs(slope - (v[early][1:] + v[early][:-1]) / 2.0).max() < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_energies_are_those_of_the_trajectory_at_its_rows(name: str) -> None:
    run, made = trajectory(name), figure(name)
    t = artist(made, "energies total").get_xdata()
    for kind, values in run.energies._asdict().items():
        y = artist(made, f"energies {kind}").get_ydata()
        for row in range(0, len(run), max(1, len(run) // 40)):
            if np.count_nonzero(run.t == run.t[row]) == 1:
                assert y[t == run.t[row]] == pytest.approx(values[row], rel=1e-9, abs=1e-9)


def test_the_energy_of_branched12_stays_and_its_label_says_so() -> None:
    total = artist(figure("branched12"), "energies total").get_ydata()
    total = total[np.isfinite(total)]
    assert np.ptp(total) < 1e-7 and total[0] == pytest.approx(18.66, abs=0.01)
    labels = [text.get_text() for text in figure("branched12").findobj(Text)]
    assert any(re.match(r"total 18\.65\d* J,\ndrift [+-]\S+ J$", label) for label in labels), labels


def test_what_impacts_take_is_told_apart_from_the_drift() -> None:
    run = trajectory("bouncing_ball")
    lost = sum(impact.energy_loss for impact in run.impacts)
    label = next(text.get_text() for text in figure("bouncing_ball").findobj(Text) if text.get_text().startswith("total"))
    assert f"lost in impacts {lost:.4g} J" in label
    assert abs(float(re.search(r"drift (\S+) J", label)[1])) < 1e-8  # type: ignore[index]


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_stem_for_each_struck_contact(name: str) -> None:
    run, made = trajectory(name), figure(name)
    heights = {(impact.time, float(value)) for impact in run.impacts for value in impact.impulses}
    shown, stems = set(), set()
    for one in made.findobj():
        gid = one.get_gid() or ""
        if gid.startswith("impulses ") and hasattr(one, "get_data"):
            shown |= set(zip(*(array.tolist() for array in one.get_data()), strict=True))
        if gid.startswith("stems "):
            stems |= {tuple(segment[1].tolist()) for segment in one.get_segments()}
            assert all(segment[0][1] == 0.0 for segment in one.get_segments())
    assert shown == heights == stems


def test_lasting_contacts_carry_the_weight() -> None:
    t, force = artist(figure("bouncing_ball"), "forces ball|ground").get_data()
    assert force[t > 4.1] == pytest.approx(9.81 * trajectory("bouncing_ball").robot.mass.sum(), abs=1e-6)
    assert not [one for one in figure("branched12").findobj() if (one.get_gid() or "").startswith("forces")]


# Snapshots ------------------------------------------------------------------------------------------


def panels(made: Figure) -> list[Any]:
    return [axes for axes in made.axes if re.match(r"t = |start|end", axes.get_title())]


@pytest.mark.parametrize("name", NAMES)
def test_snapshots_show_the_configuration_at_each_impact(name: str) -> None:
    run, made = trajectory(name), figure(name)
    largest = sorted(run.impacts, key=lambda impact: -impact.impulses.max())[:12]
    impacts = sorted(largest, key=lambda impact: impact.time)
    keep = ["xyz".index(axis) for axis in ("xz" if len(moving(name)) == 1 else moving(name))]
    oracle = Oracle(run.robot)
    assert len(panels(made)) == len(impacts)
    for axes, impact in zip(panels(made), impacts, strict=True):
        assert axes.get_title().startswith(f"t = {impact.time:.4f} s\n")
        drawn = {one.get_gid(): one for one in axes.get_children() if one.get_gid()}
        data = drawn["joints"].get_data_3d() if len(keep) == 3 else drawn["joints"].get_data()
        origins = np.array([oracle(impact.q, impact.v_after, body, np.zeros(3))[0] for body in range(len(run.robot.joints))])
        assert np.abs(np.array(data).T - origins[:, keep]).max() < 1e-9
        real = np.isfinite(impact.positions).all(axis=1)
        if real.any():
            data = drawn["struck"].get_data_3d() if len(keep) == 3 else drawn["struck"].get_data()
            assert np.abs(np.array(data).T - impact.positions[real][:, keep]).max() < 1e-12
        else:
            assert "struck" not in drawn and len(drawn["limits"].get_xdata()) == 1
        if real.any() and len(keep) == 2:
            arrows = np.stack([drawn["impulses"].U, drawn["impulses"].V], axis=1)
            along = arrows / impact.impulses[real][:, None]
            assert np.cross(np.pad(along, ((0, 0), (0, 1))), np.pad(impact.normals[real][:, keep], ((0, 0), (0, 1)))) == pytest.approx(
                0.0, abs=1e-9
            )


def test_arrows_are_as_long_as_the_impulses_are_large() -> None:
    lengths = {}
    for axes, impact in zip(panels(figure("branched12")), trajectory("branched12").impacts, strict=True):
        arrows = next(one for one in axes.get_children() if one.get_gid() == "impulses")
        for length, impulse in zip(np.hypot(arrows.U, arrows.V), impact.impulses, strict=True):
            lengths[float(impulse)] = length / impulse
    assert np.ptp(list(lengths.values())) < 1e-9 * max(lengths.values())


@pytest.mark.parametrize("name", ["branched12", "bouncing_ball", "sliding_block", "vibrating_table", "space"])
def test_walls_are_drawn_where_their_gap_vanishes_at_that_time(name: str) -> None:
    run, walls = trajectory(name), read_scenario(name).walls if name != "space" else [Plane(), Sphere(2.0, (0.0, 0.0, 0.6))]
    keep = ["xyz".index(axis) for axis in ("xz" if len(moving(name)) == 1 else moving(name))]
    impacts = sorted(sorted(run.impacts, key=lambda impact: -impact.impulses.max())[:12], key=lambda impact: impact.time)
    for axes, impact in zip(panels(figure(name)), impacts, strict=True):
        curves = [curve for one in axes.get_children() if one.get_gid() == "wall" for curve in segments(one)]
        assert curves and sum(len(curve) for curve in curves) > 20
        for curve in curves:
            x = np.zeros((len(curve), 3))
            x[:, keep] = curve
            gaps = np.min([np.abs(wall.gap(x, impact.time)) for wall in walls], axis=0)
            assert gaps.max() < 1e-6


def segments(lines: Any) -> list[Array]:
    return [np.array(line) for line in getattr(lines, "_segments3d", None) or lines.get_segments()]


WALLS = (
    Circle(1.0, side="outside"),
    Box((2.0, 1.0, 1.0)),
    Box((1.0, 1.0, 1.0), side="outside"),
    Corridor(1.5),
    Ellipsoid((1.5, 1.0, 1.0)),
    Plane((1.0, 1.0, 0.0), motion=Vibration((0.3, 0.0, 0.0), 2.0, 0.5)),
    Implicit(lambda x: 1.0 - x[0] ** 4 - x[1] ** 4),
)


@pytest.mark.parametrize("wall", WALLS, ids=lambda wall: type(wall).__name__)
def test_every_kind_of_wall_is_cut_by_the_plane(wall: Any) -> None:
    from urdf_gibbs.view.snapshots import View, wall_curves

    view = View((0, 1), np.array([-2.0, -2.0, 0.0]), np.array([2.0, 2.0, 0.0]))
    curves = wall_curves(wall, view, 0.7).curves
    assert curves
    for curve in curves:
        gap = wall.gap(curve[:: 1 + len(curve) // 200], 0.7)
        sharp = np.abs(gap) > 1e-6  # at most the corners, which the grid cuts off by less than a step
        assert sharp.mean() < 0.05 and np.abs(gap).max() < 4.0 / 160


def test_a_wall_that_is_a_function_is_said_to_be_missing_and_drawn_when_given() -> None:
    wall = Implicit(lambda x: x[2], name="ground")
    ball = ug.load(ug.model_path("ball"))
    run = ug.simulate(ball, [0.3], None, 0.3, wall, restitution=0.5)
    made = plot(run, "snapshots")
    assert any('"ground"' in text.get_text() for text in made.findobj(Text))
    assert not [one for one in made.findobj() if one.get_gid() == "wall"]
    assert [one for one in plot(run, "snapshots", walls=wall).findobj() if one.get_gid() == "wall"]


def test_without_impacts_start_and_end_are_shown() -> None:
    run = ug.simulate(ug.load(ug.model_path("planar3r")), [0.1, 0.2, 0.3], None, 0.2)
    assert [axes.get_title().partition(",")[0] for axes in panels(plot(run))] == ["start", "end"]


def test_each_link_of_a_tree_is_drawn_once() -> None:
    body = trajectory("branched12").robot
    once, all_of = skeleton(body, virtual=False), skeleton(body)
    lines = [(edge.a, edge.b) for edge in once.edges]
    assert len(lines) == len(set(lines)) and set(lines) == {(edge.a, edge.b) for edge in all_of.edges}
    assert len(all_of.edges) > len(lines)


# Reading --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "theme"), [*((name, "light") for name in NAMES), ("space", "dark")])
def test_nothing_is_cut_off_and_legends_are_beside_the_axes(name: str, theme: str) -> None:
    check_layout(figure(name, theme))


def luminance(colour: Any) -> float:
    """Of WCAG 2.1."""
    parts = np.array(to_rgb(colour))
    return float(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722))


def contrast(a: Any, b: Any) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["branched12", "space"])
def test_text_stands_out_from_its_background(name: str, theme: str) -> None:
    made = figure(name, theme)
    backgrounds = {to_rgb(one.get_facecolor()) for one in [made, *made.subfigs, *made.axes]}
    assert len(backgrounds) == 1
    background = backgrounds.pop()
    assert (luminance(background) < 0.05) == (theme == "dark")
    for text in texts(made):
        assert contrast(text.get_color(), background) >= 4.5, text.get_text()
        assert text.get_fontsize() >= 6
    for colour in themes.THEMES[theme].lines:
        assert contrast(colour, background) >= 2.0


def test_lines_can_be_told_apart_without_colour_words() -> None:
    for theme in themes.THEMES.values():
        looks = {(line["color"], str(line["ls"])) for line in map(theme.line, range(28))}
        assert len(looks) == 28
    lines = [artist(figure("branched12"), f"positions x O{k}") for k in range(1, 12)]
    assert len({(line.get_color(), str(line.get_linestyle()), str(line._dash_pattern)) for line in lines}) == 11


def test_all_time_panels_share_their_axis_and_mark_the_impacts() -> None:
    made = figure("branched12")
    over_time = [axes for axes in made.axes if axes not in panels(made)]
    assert len({axes.get_xlim() for axes in over_time}) == 1
    for axes in over_time:
        marks = next(one for one in axes.get_children() if one.get_gid() == "impacts")
        assert [segment[0][0] for segment in marks.get_segments()] == [impact.time for impact in trajectory("branched12").impacts]


# Choices --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["branched12", "pendulum_stop", "sliding_block"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_for_every_trajectory(name: str, kind: str) -> None:
    assert plot(trajectory(name), kind).axes


def test_points_are_contact_points_or_links() -> None:
    made = plot(trajectory("branched12"), "positions", points=["O1", "ground"])
    lines = {one.get_gid() for one in made.findobj() if (one.get_gid() or "").startswith("positions")}
    assert lines == {"positions x O1", "positions x ground", "positions y O1", "positions y ground"}


def test_of_many_points_those_that_struck_come_first() -> None:
    run = trajectory("space")
    struck = sorted({point for impact in run.impacts for point in impact.points})
    many = [{"name": f"p{k}", "link": "arm", "body": 0, "position": [0.0, 0.0, 0.01 * k], "radius": 0.0} for k in range(20)]
    wide = Trajectory(
        run.robot, run.gravity, run.t, run.q, run.v, impacts=run.impacts, settings={"points": [*many, *run.settings["points"]]}
    )
    made = plot(wide, "positions")
    shown = {one.get_gid().split()[-1] for one in made.findobj() if (one.get_gid() or "").startswith("positions z")}
    assert len(shown) == 12 and set(struck) <= shown
    assert any(re.fullmatch(r"\d+ more points", text.get_text()) for text in made.findobj(Text))


def test_of_shapes_points_of_each_link_come_first_and_all_are_dots() -> None:
    """In time steps, which list no impacts: the corners of boxes, of which those of one link move alike."""
    box = '<collision><origin xyz="0 0 {}"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    shapes = box.format(0.0) + box.format(0.1)
    body = ug.load(
        robot(
            link("low", inertial(1.0) + shapes), link("high", inertial(1.0) + shapes), joint("j", "revolute", "low", "high", axis=(1, 0, 0))
        ),
        base="floating",
    )
    run = ug.simulate(body, [0, 0, 0.3, 0, 0, 0, 1, 0.1], None, 0.02, Plane((0, 0, 1)), points="collision", scheme="time_stepping")
    made = plot(run)
    told = [text.get_text() for text in made.findobj(Text)]
    assert any("steps of 0.001 s" in text for text in told) and not any("no impacts" in text for text in told)
    names = [one.get_gid().split()[-1] for one in made.findobj() if (one.get_gid() or "").startswith("positions z")]
    assert len(names) == 12 and sum(name.startswith("low") for name in names) == 6
    dots = [one for one in made.findobj() if one.get_gid() == "shapes"]
    assert len(dots) == 2 and all(len(one.get_xdata()) == len(run.settings["points"]) == 24 for one in dots)
    assert "points that can touch" in told and not [one for one in made.findobj() if one.get_gid() == "spokes"]


def test_names_are_shown_as_they_are() -> None:
    body = ug.load(robot(link("_$a$"), link("b" * 90), joint("_j$", "continuous", "_$a$", "b" * 90, axis=(0, 1, 0)), name="$r_1$"))
    run = ug.simulate(body, [0.3], None, 0.1)
    made = plot(run, ["coordinates", "positions"], points=["_$a$", "b" * 90])
    made.canvas.draw()
    shown = [text.get_text().replace(r"\$", "$").strip() for text in made.findobj(Text)]
    assert {"_$a$", "_j$"} <= set(shown) and any(text.startswith("$r_1$: ") for text in shown)
    assert max(len(text) for text in shown if text.startswith("bbb")) == themes.LONGEST


@pytest.mark.parametrize(
    ("options", "error", "listed"),
    [
        ({"kinds": "speed"}, UnknownNameError, "velocities"),
        ({"kinds": ["energies", "speed"]}, UnknownNameError, "snapshots"),
        ({"kinds": []}, ArgumentError, "positions"),
        ({"points": ["O99"]}, UnknownNameError, "O11"),
        ({"theme": "blue"}, UnknownNameError, "dark"),
        ({"path": "x.bmp"}, ArgumentError, ".svg"),
        ({"path": "x"}, ArgumentError, ".pdf"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(options: dict[str, Any], error: type[Exception], listed: str) -> None:
    with pytest.raises(error, match=re.escape(listed)):
        trajectory("branched12").plot(**options)


# Odd trajectories -----------------------------------------------------------------------------------


def test_a_single_row_a_robot_that_cannot_move_and_a_run_that_failed() -> None:
    run = trajectory("branched12")
    one = plot(Trajectory(run.robot, run.gravity, run.t[:1], run.q[:1], run.v[:1]), KINDS)
    assert artist(one, "positions x O1").get_marker() == "."
    block = ug.load(robot(link("base")))
    plot(Trajectory(block, (0.0, 0.0, -9.81), [0.0, 1.0], np.zeros((2, 0)), np.zeros((2, 0)))).canvas.draw()
    plot(Trajectory(block, (0.0, 0.0, -9.81), [0.0], np.zeros((1, 0)), np.zeros((1, 0))), KINDS).canvas.draw()
    failed = Trajectory(run.robot, run.gravity, run.t, run.q, run.v, status=f"failed: {'why not ' * 100}")
    made = plot(failed, "energies")
    made.canvas.draw()
    title = made.get_suptitle()
    assert "failed: why not" in title and title.endswith("...")
    assert made._suptitle.get_window_extent().x0 > 0  # type: ignore[attr-defined]
    assert "interrupted" in plot(Trajectory(run.robot, run.gravity, run.t, run.q, run.v, status="interrupted"), "energies").get_suptitle()


def test_of_half_a_million_impacts_few_are_made_to_be_plotted() -> None:
    ball = trajectory("bouncing_ball")
    count = 500_000
    t = np.repeat(np.arange(count) * 1e-3, 2)[1:-1]
    v = np.where(np.arange(len(t)) % 2 == 0, 0.004905, -0.004905)[:, None]
    first = ball.impacts[0]
    fields = {name: getattr(first, name) for name in first.__dataclass_fields__}
    asked = []

    def impact(i: int) -> Impact:
        asked.append(i)
        return Impact(**{**fields, "time": (i + 1) * 1e-3})

    impacts = LazyImpacts(count - 2, impact)
    long = Trajectory(ball.robot, ball.gravity, t, np.full((len(t), 1), 0.05), v, impacts=impacts, settings=ball.settings)
    made = plot(long)
    made.canvas.draw()
    assert len(asked) < 10_000
    x, y = artist(made, "velocities z ball").get_data()
    assert len(x) < 10_000
    assert np.nanmax(np.abs(y)) <= 0.004905 * (1 + 1e-9)
    finite = np.isfinite(x)
    assert not np.any(finite[1:] & finite[:-1] & (np.diff(x, prepend=0.0)[1:] > 1.001e-3))  # no line over a jump that is not sampled
    assert any("2000 of 499998 impacts" in text.get_text() for text in made.findobj(Text))


# Files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_files_are_written_in_three_formats(tmp_path: Path, suffix: str, start: bytes) -> None:
    assert suffix in SUFFIXES
    path = tmp_path / f"run{suffix}"
    assert isinstance(trajectory("pendulum_stop").plot(path), Figure)
    assert path.read_bytes().startswith(start)


def test_pyplot_and_its_settings_are_left_alone(tmp_path: Path) -> None:
    code = (
        "import sys, matplotlib, urdf_gibbs as ug\n"
        "def settings(): return {k: matplotlib.rcParams[k] for k in matplotlib.rcParams if k != 'backend'}  # reading that imports pyplot\n"
        "before = settings(); run = ug.simulate(ug.load(ug.model_path('pendulum')), [0.3], None, 0.1); run.plot()\n"
        "from urdf_gibbs.view.branches import draw; draw(run.robot, run.q[0], sys.argv[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules and settings() == before"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "robot.png")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_simulate_plots(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"run.{suffix}"
    result = runner.invoke(app, ["simulate", "pendulum_stop", "--plot", str(path), "--theme", "dark"])
    assert result.exit_code == 0, result.output
    assert path.read_bytes().startswith(start) and f"written: {path}" in result.output.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--plot", "run.bmp"], ".svg"),
        (["--plot", "/no/such/folder/run.png"], "cannot be written"),
        (["--plot", "run.png", "--theme", "blue"], "dark"),
    ],
)
def test_simulate_refuses_plots_that_cannot_be_before_anything_is_computed(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "read_scenario", lambda file: pytest.fail("computed"))
    result = runner.invoke(app, ["simulate", "pendulum_stop", *arguments])
    assert result.exit_code == 2 and said in " ".join(result.output.split())


def test_a_plot_that_cannot_be_written_is_reported_and_the_rest_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = runner.invoke(app, ["simulate", "pendulum_stop", "--plot", str(tmp_path / "run.png"), "--out", str(tmp_path / "run.npz")])
    assert result.exit_code == 1 and "No space left on device" in result.output and "cannot write" in result.output
    assert (tmp_path / "run.npz").exists() and "at the end" in result.output


def test_pictures_of_the_command_are_those_of_the_plots() -> None:
    assert command.PICTURES == SUFFIXES


def test_impacts_of_very_many_contacts_are_bounded_too() -> None:
    """A million stems: of so many contacts fewer impacts are looked at, and the title says how many."""
    run = long_run(20_000, contacts=50)
    made = plot(run, "impulses")
    drawn = sum(len(line.get_xdata()) for line in made.findobj(Line2D) if str(line.get_gid()).startswith("impulses "))
    assert 1_000 < drawn <= 20_000
    assert any(re.search(r"impulses of \d+ of 20000 impacts", text.get_text()) for text in made.findobj(Text))
