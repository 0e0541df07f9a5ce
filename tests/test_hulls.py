"""Convex hulls of shapes against closed forms and trimesh, and what the checks by physics make of them."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import urdf_gibbs as ug
from urdf_gibbs.lint.hulls import hull_of
from urdf_gibbs.robot.spatial import rotation_from_rpy

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def robot(link: str, joint: str = "") -> str:
    return (
        f'<robot name="r"><link name="base"/>\n<link name="b">{link}</link>\n<joint name="j" type="continuous"><parent link="base"/>'
        f'<child link="b"/><axis xyz="0 1 0"/>{joint}</joint></robot>'
    )


def inertial(mass: float, moments: tuple[float, float, float], centre: str = "0 0 0") -> str:
    xx, yy, zz = (mass * x for x in moments)
    return f'<inertial><origin xyz="{centre}"/><mass value="{mass}"/><inertia ixx="{xx!r}" iyy="{yy!r}" izz="{zz!r}" ixy="0" ixz="0" iyz="0"/></inertial>'


def codes(text: str) -> dict[str, str]:
    return {finding.code: finding.severity for finding in ug.check(text) if finding.code != "no-inertial"}


def test_a_box_has_its_closed_form_wherever_it_stands() -> None:
    sides = np.array([0.2, 0.5, 1.1])
    hull = hull_of(0.5 * CUBE * sides)
    assert hull is not None
    pose = (rotation_from_rpy(0.3, -0.7, 1.9), (1.0, -2.0, 3.0))
    turn = np.reshape(pose[0], (3, 3))
    moved = hull.moved(pose)
    assert moved.volume == pytest.approx(sides.prod(), rel=1e-12)
    assert moved.centre == pytest.approx(pose[1], abs=1e-12)
    assert np.abs(moved.spread - turn @ np.diag(sides**2 / 12.0) @ turn.T).max() < 1e-14
    assert moved.outside(turn @ [0.1 + 0.25, 0.0, 0.0] + pose[1]) == pytest.approx(0.25, abs=1e-12)
    assert moved.outside(np.array(pose[1])) == pytest.approx(-0.1, abs=1e-12)
    assert moved.box == pytest.approx(hull.box_at(pose), abs=1e-12)


def test_volume_and_spread_are_those_of_trimesh() -> None:
    """Of the hull of random points, by its own integrals over the surface."""
    points = np.random.default_rng(4).normal(size=(60, 3)) * [1.0, 0.3, 2.0] + [5.0, -1.0, 0.2]
    hull = hull_of(points)
    peer = trimesh.Trimesh(points).convex_hull
    assert hull is not None
    tensor = peer.moment_inertia
    assert hull.volume == pytest.approx(peer.volume, rel=1e-10)
    assert hull.centre == pytest.approx(peer.center_mass, rel=1e-10)
    assert hull.volume * hull.spread == pytest.approx(0.5 * np.trace(tensor) * np.eye(3) - tensor, rel=1e-9)


@pytest.mark.parametrize("points", [CUBE[:3], CUBE * [1.0, 1.0, 0.0], CUBE * 1e-12, np.full((9, 3), np.nan)])
def test_what_has_no_volume_has_no_hull(points: np.ndarray[Any, Any]) -> None:
    assert hull_of(points) is None


SHAPES = {  # with the moments of the solid for 1 kg
    '<box size="0.3 0.2 0.1"/>': (0.05 / 12, 0.10 / 12, 0.13 / 12),
    '<cylinder radius="0.05" length="0.3"/>': (0.0025 / 4 + 0.09 / 12, 0.0025 / 4 + 0.09 / 12, 0.0025 / 2),
    '<sphere radius="0.1"/>': (0.004, 0.004, 0.004),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_solid_itself_is_never_doubted_and_the_largest_of_its_shape_hardly(shape: str) -> None:
    """Two point masses at the ends of the shape have the largest inertia; 2.5 times as far apart are warned of, a hundredth is too small."""
    xx, yy, zz = SHAPES[shape]
    visual = f"<visual><geometry>{shape}</geometry></visual>"
    mass = 2.0
    assert codes(robot(inertial(mass, (xx, yy, zz)) + visual)) == {}
    half = {"<b": 0.15, "<c": 0.15, "<s": 0.1}[shape[:2]]
    ends = {"<b": (0.0, half**2, half**2), "<c": (half**2, half**2, 0.0), "<s": (half**2, half**2, 0.0)}[shape[:2]]
    assert "inertia-too-large" not in codes(robot(inertial(mass, ends) + visual))
    far = tuple(2.5**2 * x for x in ends)
    assert codes(robot(inertial(mass, far) + visual))["inertia-too-large"] == "warning"
    near = tuple(0.009 * x for x in SHAPES[shape])
    assert codes(robot(inertial(mass, near) + visual))["inertia-too-small"] == "warning"


def test_a_turned_inertia_is_measured_along_its_own_axes() -> None:
    """A rod along x in a box along x; the same rod told along z does not fit."""
    rod = (0.0001, 0.3**2 / 12, 0.3**2 / 12)
    box = '<visual><geometry><box size="0.3 0.04 0.04"/></geometry></visual>'
    assert codes(robot(inertial(0.8, rod) + box)) == {}
    assert "inertia-too-large" in codes(robot(inertial(0.8, rod[::-1]) + box))
    turned = box.replace("<visual>", '<visual><origin rpy="0 1.5707963267948966 0"/>')
    assert codes(robot(inertial(0.8, rod[::-1]) + turned)) == {}


@pytest.mark.parametrize(("z", "severity"), [(0.1, None), (0.103, None), (0.13, "note"), (0.2, "warning")])
def test_a_centre_of_mass_may_be_on_the_surface(z: float, severity: str | None) -> None:
    box = '<visual><geometry><box size="0.2 0.2 0.2"/></geometry></visual>'
    assert codes(robot(inertial(1.0, (0.0067, 0.0067, 0.0067), f"0 0 {z}") + box)).get("centre-outside") == severity


def test_units_that_would_fit_are_named() -> None:
    box = '<visual><geometry><box size="0.2 0.2 0.2"/></geometry></visual>'
    solid = 0.04 / 6
    for unit, factor in {"g mm2": 1e-9, "kg mm2": 1e-6, "kg cm2": 1e-4}.items():
        found = [one for one in ug.check(robot(inertial(1.0, (solid / factor,) * 3) + box)) if one.code == "inertia-too-large"]
        assert [unit in one.expected for one in found] == [True], unit
    heavy = [one for one in ug.check(robot(inertial(8000.0, (solid / 1000,) * 3) + box)) if one.code == "density"]
    assert ["grams" in one.expected for one in heavy] == [True]


def test_without_the_packages_for_shapes_a_note_says_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = robot(inertial(1.0, (9.0, 9.0, 9.0)) + '<visual><geometry><box size="0.2 0.2 0.2"/></geometry></visual>')
    assert "inertia-too-large" in codes(text)
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in ("scipy", "trimesh") else found(name, *rest))
    (note,) = [one for one in ug.check(text) if one.code == "shapes-skipped"]
    assert note.severity == "note" and "scipy, trimesh" in note.value and "urdf-gibbs[check]" in note.expected
    assert "density" not in codes(text)


def test_one_mesh_of_a_thousand_links_is_read_once_and_they_are_checked_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 s of CPU for 1,000 links with 10,000 corners each; 30 s would be a reading for each link."""
    trimesh.creation.icosphere(subdivisions=5, radius=0.05).export(tmp_path / "ball.stl")
    ball = '<geometry><mesh filename="ball.stl"/></geometry>'
    small = ball.replace("/></", ' scale="0.9 0.9 0.9"/></')
    link = f"{inertial(0.5, (0.001, 0.001, 0.001))}<visual>{ball}</visual><collision>{small}</collision>"
    links = "".join(f'<link name="l{i}">{link}</link>' for i in range(1001))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/><origin xyz="0.1 0 0"/><axis xyz="0 {i % 2} {1 - i % 2}"/></joint>'
        for i in range(1, 1001)
    )
    (tmp_path / "chain.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    opened, read = [], Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (opened.append(path.name), read(path))[1])
    start = time.process_time()
    assert codes(str(tmp_path / "chain.urdf")) == {}
    assert time.process_time() - start < 15.0
    assert opened == ["ball.stl"]


def test_a_mesh_that_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "cut.stl").write_bytes(bytes(80) + (1000).to_bytes(4, "little") + bytes(100))
    visual = '<visual><geometry><mesh filename="cut.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(robot(inertial(1.0, (0.1, 0.1, 0.1)) + visual + visual))
    (found,) = [one for one in ug.check(tmp_path / "r.urdf") if one.code == "mesh-unreadable"]
    assert "1000 triangles" in found.expected and found.line == 2
