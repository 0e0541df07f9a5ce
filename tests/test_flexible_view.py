"""Elastic links in drawings: bent visuals, bent axes, the page's data, and the plots, against the shape functions themselves."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bent_links import FLAT, SPACE, bent, independent, robot, text
from scipy.spatial.transform import Rotation

import urdf_gibbs as ug
from urdf_gibbs.flexible.build import shapes_at
from urdf_gibbs.view.branches import skeleton
from urdf_gibbs.view.elastic import OnAxis, axis_points, cuts, elastic_joints, rotations, skinned, sliced, strain_energy
from urdf_gibbs.view.motion import _moved, positions
from urdf_gibbs.view.plots import plot
from urdf_gibbs.view.scene import robot_scene
from urdf_gibbs.view.solids import Solid, primitive

# skins ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("modes", "options"), [(FLAT, ""), (SPACE, ""), (FLAT, 'foreshortening="true"')])
def test_the_vertices_of_a_bent_link_are_where_the_shape_functions_put_them(modes: str, options: str) -> None:
    one = robot(modes, options=options)
    q = bent(one)
    scene = robot_scene(one, q)
    assert [skin.joint for skin in scene.skins] == [i for i, _ in elastic_joints(one)]
    for skin in scene.skins:
        joint = one.joints[skin.joint]
        assert joint.beam is not None
        delta, length = q[joint.iq : joint.iq + joint.nq], joint.beam.length
        rest = skin.solid.vertices.astype(float)
        eta = np.clip(rest[:, 0], 0.0, length)
        rho, theta = independent(modes, length, eta, delta, bool(options))
        arm = rest - np.column_stack([eta, 0.0 * eta, 0.0 * eta])
        expected = rho + Rotation.from_rotvec(theta).apply(arm)
        np.testing.assert_allclose(skin.bent(joint.beam, delta), expected, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(skin.bent(joint.beam, 0.0 * delta), rest, rtol=0.0, atol=1e-12)


def test_the_first_mode_in_closed_form() -> None:
    """cosh - cos - sigma (sinh - sin) over its value at the tip, for a link of one metre."""
    one = robot("y=clamped-free:1")
    skin = robot_scene(one).skins[0]
    beam = one.joints[skin.joint].beam
    assert beam is not None
    b = 1.8751040687119611
    sigma = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))

    def w(x: Any) -> Any:
        return np.cosh(b * x) - np.cos(b * x) - sigma * (np.sinh(b * x) - np.sin(b * x))

    on_axis = Solid(np.array([[x, 0.0, 0.0] for x in np.linspace(0, 1, 7)]), np.zeros((0, 3)), np.zeros((7, 3)))  # type: ignore[arg-type]
    line = skinned(one, skin.joint, beam, 0, on_axis, np.eye(4))
    x = line.solid.vertices[:, 0].astype(float)
    found = line.bent(beam, [0.1])
    np.testing.assert_allclose(found, np.column_stack([x, 0.1 * w(x) / w(1.0), 0 * x]), atol=1e-7)


def test_a_link_frame_that_is_turned_and_a_beam_that_is_not_along_x() -> None:
    """The same beam, once along x and once along -z of a link that hangs on a fixed joint: the same places in the world."""
    flexible = 'length="1" mass_per_length="1" EI_z="100" EI_y="100" modes="y=clamped-free:1 z=clamped-free:1"'
    head = '<robot name="r"><link name="w"/><link name="arm"/><joint name="q" type="continuous"><parent link="w"/><child link="arm"/><axis xyz="0 0 1"/></joint>'
    fixed = '<joint name="f" type="fixed"><parent link="arm"/><child link="b"/><origin xyz="0.2 0.1 0" rpy="0.3 -0.4 0.5"/></joint></robot>'
    straight = ug.load(
        head
        + '<link name="b"><visual><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.05"/></geometry></visual></link>'
        + f'<urdf_gibbs><flexible link="b" direction="1 0 0" {flexible}/></urdf_gibbs>'
        + fixed,
        "fixed",
    )
    hanging = ug.load(
        head
        + '<link name="b"><visual><origin xyz="0 0 -0.5"/><geometry><box size="0.05 0.1 1"/></geometry></visual></link>'
        + f'<urdf_gibbs><flexible link="b" direction="0 0 -1" {flexible}/></urdf_gibbs>'
        + fixed,
        "fixed",
    )
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # takes x to -z about y
    q = np.array([0.3, 0.1, -0.15])
    (a,), (b,) = robot_scene(straight, q).skins, robot_scene(hanging, q).skins
    beams = [one.joint("b.elastic").beam for one in (straight, hanging)]
    assert beams[0] is not None and beams[1] is not None
    x, y = a.bent(beams[0], q[1:]) @ turn.T, b.bent(beams[1], q[1:])
    ends = np.abs(a.solid.vertices.astype(float)) - np.array([0.0, 0.05, 0.025])
    rims = x[np.abs(ends[:, 1:]).max(axis=1) < 1e-6]  # the diagonals of the sides are others
    assert len(rims) >= 84
    for corner in rims:
        assert np.abs(y - corner).max(axis=1).min() < 1e-6
    for one, skin in ((straight, a), (hanging, b)):  # the far end of the visual goes with the tip
        beam = one.joint("b.elastic").beam
        assert beam is not None
        end = skin.eta[skin.section] == beam.length
        place = ug.frame_placement(one, q, "b") @ np.append(skin.bent(beam, q[1:])[end].mean(axis=0), 1.0)
        np.testing.assert_allclose(place[:3], ug.frame_placement(one, q, "b.tip")[:3, 3], atol=0.03)


def test_slices_keep_the_surface() -> None:
    at, axis = np.linspace(-0.5, 0.5, 21), np.array([0.0, 0.0, 1.0])
    from urdf_gibbs.robot.urdf import Geometry

    for geometry in (Geometry("box", (0.2, 0.3, 1.2)), Geometry("cylinder", (0.1, 0.9)), Geometry("sphere", (0.4,))):
        solid = primitive(geometry)
        cut = sliced(solid, axis, at)
        heights = cut.vertices.astype(float)[cut.faces.astype(int)] @ axis
        for plane in at:
            assert not ((heights.min(axis=1) < plane - 2e-6) & (heights.max(axis=1) > plane + 2e-6)).any()
        assert area(cut) == pytest.approx(area(solid), rel=1e-5)
        assert volume(cut) == pytest.approx(volume(solid), rel=1e-5)  # no triangle is turned over
        np.testing.assert_allclose(np.linalg.norm(cut.normals, axis=1), 1.0, atol=1e-5)
        assert len(cut.vertices) < 3000
        assert open_edges(cut) == open_edges(solid) == 0


def open_edges(solid: Solid) -> int:
    """Edges that belong to one triangle only, with vertices at one place taken as one: where a surface would tear."""
    places = np.unique(solid.vertices.round(6) + 0.0, axis=0, return_inverse=True)[1].ravel()
    corners = places[solid.faces.astype(int)]
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    return int((np.unique(edges, axis=0, return_counts=True)[1] % 2).sum())


def area(solid: Solid) -> float:
    a, b, c = solid.vertices.astype(float)[solid.faces.astype(int).T]
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def volume(solid: Solid) -> float:
    a, b, c = solid.vertices.astype(float)[solid.faces.astype(int).T]
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_many_different_eta_share_sections_and_stay_in_place() -> None:
    one = robot()
    joint, beam = elastic_joints(one)[0]
    rng = np.random.default_rng(0)
    cloud = rng.uniform([0, -0.02, -0.02], [1, 0.02, 0.02], (5000, 3)).astype(np.float32)
    skin = skinned(one, joint, beam, 0, Solid(cloud, np.zeros((0, 3), np.uint32), cloud), np.eye(4))
    assert len(skin.eta) <= 1001
    delta = np.array([0.15, 0.02])
    rho, theta = independent(FLAT, 1.0, cloud[:, 0].astype(float), delta)
    arm = cloud.astype(float) * [0.0, 1.0, 1.0]
    np.testing.assert_allclose(skin.bent(beam, delta), rho + Rotation.from_rotvec(theta).apply(arm), atol=5e-5)


def test_rotations_are_exponentials() -> None:
    theta = np.random.default_rng(0).normal(size=(30, 3)) * np.logspace(-9, 0.5, 30)[:, None]
    np.testing.assert_allclose(rotations(theta), Rotation.from_rotvec(theta).as_matrix(), atol=1e-14)


def test_shapes_at_the_stations_are_the_beams() -> None:
    for _, beam in elastic_joints(robot(SPACE, options='foreshortening="true"')):
        assert beam.stations is not None and beam.shapes is not None
        phi, theta = shapes_at(beam, beam.stations)
        np.testing.assert_allclose(phi, beam.shapes, atol=1e-14)
        np.testing.assert_allclose(phi[-1], beam.tip, atol=1e-14)
        np.testing.assert_allclose(theta[-1], beam.tip_rotation, atol=1e-14)


# kinematics and lines -----------------------------------------------------------------------------


@pytest.mark.parametrize(("modes", "options"), [(FLAT, ""), (SPACE, ""), (SPACE, 'foreshortening="true"')])
def test_places_and_velocities_of_many_states(modes: str, options: str) -> None:
    one = robot(modes, options=options)
    q = np.array([bent(one, seed) for seed in range(4)])
    v = np.random.default_rng(5).normal(size=(4, one.nv))
    places: list[Any] = [(one.frame(link).body, one.frame(link).placement[:3, 3].tolist()) for link in one.link_names]
    places += [(one.frame("b1.tip").body, [0.1, 0.2, 0.3])]
    places += axis_points(*elastic_joints(one)[0]) + axis_points(*elastic_joints(one)[1])
    x, u = _moved(one, places, q, v)
    for k, link in enumerate(one.link_names):
        np.testing.assert_allclose(x[:, k], ug.frame_placement(one, q, link)[:, :3, 3], atol=1e-12)
        expected = np.einsum("nij,nj->ni", ug.jacobian(one, q, link), v)[:, :3]
        np.testing.assert_allclose(u[:, k], expected, atol=1e-10)
    step = 1e-6
    ahead, behind = (positions(one, places, one.integrate(q, sign * step * v)) for sign in (1.0, -1.0))
    np.testing.assert_allclose(u, (ahead - behind) / (2 * step), atol=1e-7)


def test_lines_follow_the_bent_axis() -> None:
    one = robot(visuals=False)
    q = bent(one)
    lines = skeleton(one)
    x = positions(one, lines.places, q)
    placement = {link: ug.frame_placement(one, q, link) for link in one.link_names}
    for i, beam in elastic_joints(one):
        joint = one.joints[i]
        eta = cuts(beam)
        rho, _ = independent(FLAT, beam.length, eta, q[joint.iq : joint.iq + 2])
        expected = rho @ placement[beam.link][:3, :3].T + placement[beam.link][:3, 3]
        own = [edge for edge in lines.edges if edge.elastic and lines.places[edge.a][0] == i]
        drawn = np.concatenate([x[[edge.a for edge in own]], x[[own[-1].b]]])
        np.testing.assert_allclose(drawn, expected, atol=1e-12)
        assert all(one.b == two.a for one, two in pairwise(own))


def test_an_elastic_link_that_is_fixed_to_the_world() -> None:
    """No joint moves its root; its lines start in the world, behind a straight one."""
    one = ug.load(
        '<robot name="r"><link name="w"/><link name="b"/><joint name="f" type="fixed"><parent link="w"/><child link="b"/><origin xyz="0.2 0 0"/></joint>'
        '<urdf_gibbs><flexible link="b" length="1" mass_per_length="1" direction="1 0 0" EI_z="100" modes="y=clamped-free:1"/></urdf_gibbs></robot>',
        "fixed",
    )
    data = one.view([0.1]).data["robot"]
    edges = [edge for edge in data["skeleton"]["edges"] if not edge[4]]
    assert any(
        [data["skeleton"]["places"][edge[k]][:2] for k in (2, 3)] == [[-1, [0.0, 0.0, 0.0]], [-1, [0.2, 0.0, 0.0]]] for edge in edges
    )
    assert "branches of r" in one._repr_html_()


def test_high_modes_are_drawn_in_more_pieces() -> None:
    (_, beam), _ = elastic_joints(robot("y=clamped-free:8"))
    assert len(cuts(beam)) == 49
    (_, beam), _ = elastic_joints(robot())
    assert len(cuts(beam)) == 21


# the page's data --------------------------------------------------------------------------------


def test_the_page_gets_the_beam_instead_of_the_inertial() -> None:
    inertial = '<inertial><mass value="7"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    with pytest.warns(ug.UrdfWarning):
        one = ug.load(text().replace('<link name="b0">', f'<link name="b0">{inertial}'), "fixed")
    view = one.view()
    links = {link["name"]: link for link in view.data["robot"]["links"]}
    assert links["b0"]["mass"] == pytest.approx(1.0) and links["b0"]["com"] == pytest.approx([0.5, 0.0, 0.0])
    edges = sorted(links["b0"]["inertia"]["edges"])
    assert edges[2] == pytest.approx(1.0, rel=1e-3) and links["b0"]["inertia"]["problem"] == ""
    assert "mass" not in links["b0.tip"] and links["b0.tip"]["visuals"] == 0
    assert view.data["robot"]["mass"] == pytest.approx(1.8) and "1.8 kg" in view.subtitle
    assert "1.8 kg moving" in one._repr_html_()


def test_bounds_hold_the_bent_link() -> None:
    one = robot()
    q = np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
    low, high = one.view(q).scene.bounds
    assert high[1] > 0.3 and low[1] < 0.0


# plots ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swing() -> ug.Trajectory:
    one = robot()
    q = np.array([0.1, 0.1, 0.0, 0.1, 0.0, 0.0])
    return ug.simulate(one, q, None, 0.3, walls=ug.walls.Plane((0, 1, 0), (0, -0.1, 0)), restitution=0.8, gravity=(0, -9.81, 0))


def lines_of(figure: Any) -> dict[str, Any]:
    return {line.get_gid(): line for axes in figure.axes for line in axes.get_lines() if line.get_gid()}


def test_modes_are_plotted_with_their_rates_in_metres(swing: ug.Trajectory, tmp_path: Path) -> None:
    figure = plot(swing, "modes", path=tmp_path / "modes.png")
    assert [axes.get_ylabel() for axes in figure.axes] == ["δ [m]", "dδ/dt [m/s]"]
    lines = lines_of(figure)
    assert [name for name in lines if name.startswith("modes δ ")] == [f"modes δ b{i}.elastic.y{k}" for i in (0, 1) for k in (1, 2)]
    shown = lines["modes δ b0.elastic.y1"]
    t, y = np.asarray(shown.get_xdata()), np.asarray(shown.get_ydata())
    real = np.isfinite(t)
    inside = np.flatnonzero(real)[::50]
    np.testing.assert_allclose(y[inside], swing.at(t[inside])[0][:, 1], atol=1e-12)
    legends = [entry.get_text() for axes in figure.axes for entry in axes.get_legend().get_texts()]
    assert legends.count("b1.elastic.y2") == 2
    assert (tmp_path / "modes.png").stat().st_size > 10_000


def test_torsion_is_plotted_in_degrees() -> None:
    one = robot("y=clamped-free:1 torsion=clamped-free:1")
    q = one.neutral()
    q[one.joint("b0.elastic").iq + 1] = 0.1
    run = ug.simulate(one, q, None, 0.01, gravity=(0, -9.81, 0))
    figure = plot(run, ["modes", "coordinates"])
    found = lines_of(figure)
    for kind, letter in (("modes", "δ"), ("coordinates", "q")):
        assert found[f"{kind} {letter} b0.elastic.torsion1"].get_ydata()[0] == pytest.approx(np.degrees(0.1))
        assert found[f"{kind} {letter} b0.elastic.y1"].get_ydata()[0] == 0.0
    assert {"δ [m]", "δ [deg]"} <= {axes.get_ylabel() for axes in figure.axes}


def test_the_overview_has_modes_and_strain_where_something_is_elastic(swing: ug.Trajectory) -> None:
    found = lines_of(swing.plot())
    assert "modes δ b0.elastic.y1" in found and "energies strain" in found and "energies gravity" in found
    rigid = ug.simulate(ug.load(ug.model_path("planar3r")), [0.1, 0.2, 0.3], None, 0.1)
    names = lines_of(rigid.plot())
    assert not any(name.startswith("modes") for name in names)
    assert "energies potential" in names and "energies strain" not in names
    assert plot(rigid, "modes").axes  # asked for, and empty


def test_the_energies_add_up(swing: ug.Trajectory) -> None:
    found = {name: np.asarray(line.get_ydata()) for name, line in lines_of(plot(swing, "energies")).items()}
    parts = [found[f"energies {name}"] for name in ("kinetic", "gravity", "strain")]
    np.testing.assert_allclose(sum(parts), found["energies total"], atol=1e-12)
    stiff = 0.0
    for i, beam in elastic_joints(swing.robot):
        delta = swing.q[0, swing.robot.joints[i].iq :][: beam.m]
        stiff += 0.5 * float(delta @ beam.stiffness @ delta)
    assert parts[2][0] == pytest.approx(stiff, rel=1e-12)
    none = ug.potential_energy(swing.robot, swing.q, gravity=(0, 0, 0))
    np.testing.assert_allclose(strain_energy(swing.robot, swing.q), none, rtol=1e-10, atol=1e-12)


def test_snapshots_draw_the_bent_axis(swing: ug.Trajectory) -> None:
    assert swing.impacts
    figure = plot(swing, "snapshots")
    collection = next(c for c in figure.axes[0].collections if c.get_gid() == "links")
    segments = np.array([path.vertices for path in collection.get_paths()])
    impact = swing.impacts[0]
    rho, _ = independent(FLAT, 1.0, np.linspace(0, 1, 21), impact.q[1:3])
    frame = ug.frame_placement(swing.robot, impact.q, "b0")
    expected = (rho @ frame[:3, :3].T + frame[:3, 3])[:, :2]
    for a, b in pairwise(expected):
        assert np.abs(segments - np.stack([a, b])).max(axis=(1, 2)).min() < 1e-9
    assert (np.asarray(collection.get_linewidths()) > 2.0).sum() >= 40, "elastic links have mass, whatever their bodies have"


def test_a_motion_has_its_page_with_strain(swing: ug.Trajectory) -> None:
    view = swing.animate()
    assert {"kinetic", "potential", "total", "gravity", "strain"} <= set(view.data["motion"]["energies"])
    assert swing._repr_html_().startswith("<iframe")
    rigid = ug.simulate(ug.load(ug.model_path("planar3r")), [0.1, 0.2, 0.3], None, 0.1)
    assert "strain" not in rigid.animate().data["motion"]["energies"]


def test_places_on_an_axis_are_hashable_and_small() -> None:
    points = axis_points(*elastic_joints(robot())[0])
    assert len(points) == 20 and all(isinstance(point, OnAxis) for point in points) and len(set(points)) == 20


def test_a_tree_of_elastic_links_is_drawn_with_its_virtual_ones() -> None:
    """A floating elastic trunk that carries two elastic branches at its tip and one at its root."""
    flexible = '<urdf_gibbs><flexible link="{}" length="1" mass_per_length="1" EI_z="100" direction="1 0 0" modes="y={}:1"/></urdf_gibbs>'
    parts = ['<robot name="tree"><link name="trunk"/>', flexible.format("trunk", "clamped-free")]
    for name, x, family in (("a", 1, "pinned-free"), ("b", 1, "polynomial"), ("c", 0, "clamped-clamped")):
        parts.append(
            f'<link name="{name}"/><joint name="j{name}" type="continuous"><parent link="trunk"/><child link="{name}"/>'
            f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>' + flexible.format(name, family)
        )
    for base in ("fixed", "floating"):
        one = ug.load("".join(parts) + "</robot>", base)
        real = [edge for edge in skeleton(one, virtual=False).edges if edge.elastic]
        assert len(real) == 4 * 20 and not any(edge.virtual for edge in real if edge.branch == 0)
        both = skeleton(one)
        assert sum(edge.elastic and edge.virtual for edge in both.edges) >= 20, "the trunk is a virtual link of the second branch"
        assert len(one.view().data["robot"]["skeleton"]["edges"]) >= len(both.edges)
        assert "branches of tree" in one._repr_html_()
        again = pickle.loads(pickle.dumps(one))
        np.testing.assert_allclose(positions(again, both.places, again.neutral()), positions(one, both.places, one.neutral()))
