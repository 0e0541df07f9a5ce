"""Contact points of meshes against SciPy's convex hulls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from urdf_gibbs import load
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.contact.hull import MOST, hull_vertices, telling
from urdf_gibbs.contact.points import resolve_points
from urdf_gibbs.robot.meshes import mesh_folders


def test_vertices_of_a_hull_are_those_that_another_program_finds() -> None:
    random = np.random.default_rng(3)
    cloud = random.normal(size=(60, 3))
    hull = ConvexHull(cloud)
    # Blunt corners may be missed: those found are corners, and the hull loses little
    found = hull_vertices(cloud)
    corners = {tuple(cloud[k]) for k in hull.vertices}
    assert {tuple(x) for x in found} <= corners and len(found) >= len(corners) - 2
    assert ConvexHull(found).volume > 0.999 * hull.volume


def test_of_many_vertices_those_are_taken_whose_hull_loses_the_least() -> None:
    """Against SciPy's hull, in other directions than those that choose: how far any vertex sticks out of the chosen ones."""
    random = np.random.default_rng(4)
    sphere = random.normal(size=(3000, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    some = telling(hull_vertices(sphere), MOST)
    assert len(some) == MOST
    outside = (ConvexHull(some).equations @ np.column_stack([sphere, np.ones(len(sphere))]).T).max()
    assert outside < 0.2  # 32 even points leave 1 - cos 22 deg = 0.07 between them, the worst place of random ones more
    # A long bar with round ends and a small nose: points that are far apart would leave the nose out.
    bar = np.vstack([0.05 * sphere + [x, 0.0, 0.0] for x in (-1.0, 1.0)] + [np.array([[0.0, 0.0, 0.08]])])
    assert (telling(hull_vertices(bar), 12) == [0.0, 0.0, 0.08]).all(axis=1).any()


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "go2_description/urdf/go2.urdf"])
def test_meshes_of_known_robots_are_touched_where_their_hulls_are(name: str) -> None:
    """Their meshes are read by trimesh, their hulls are SciPy's: no vertex sticks out of what can touch by more than 7 mm (6.1 measured)."""
    trimesh = pytest.importorskip("trimesh")
    robot = load(example_robots()[name])
    points, folders = resolve_points(robot, "collision"), mesh_folders(robot)
    seen = 0
    for link in robot.links:
        for shape in link.collisions:
            if shape.geometry.kind != "mesh" or robot.frame(link.name).body < 0:
                continue
            own = [point.position for point in points if point.link == link.name]
            mesh = trimesh.load(folders.find(shape.geometry.filename), force="mesh")
            turn, place = np.reshape(shape.pose[0], (3, 3)), np.array(shape.pose[1])
            in_link = mesh.vertices * shape.geometry.scale @ turn.T + place
            frame = robot.frame(link.name).placement
            x = in_link @ frame[:3, :3].T + frame[:3, 3]
            hull = ConvexHull(own)
            assert len(own) <= MOST * len(link.collisions) and (hull.equations @ np.column_stack([x, np.ones(len(x))]).T).max() < 7e-3, (
                link.name
            )
            seen += 1
    assert seen >= 8
