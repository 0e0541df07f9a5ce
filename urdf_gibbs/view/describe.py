"""The data that a page needs to move and explain a robot: joints, links, inertias, branches and contact points, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import plane_rotation
from urdf_gibbs.view.branches import skeleton
from urdf_gibbs.view.contacts import Contact
from urdf_gibbs.view.elastic import OnAxis, beam_data, beam_inertia, elastic_joints, moving_mass
from urdf_gibbs.view.html import packed
from urdf_gibbs.view.inertia import equivalent
from urdf_gibbs.view.motion import Place
from urdf_gibbs.view.palette import BRANCHES
from urdf_gibbs.view.scene import Scene, node

Array = NDArray[np.float64]

MOST_BRANCHES = 200  # with their virtual links drawn; a comb of n teeth has n^2/2 links in all its branches


def robot_data(robot: Robot, scene: Scene, q: Array) -> dict[str, Any]:
    """The robot for the page; placements as 16 numbers row by row, q (nq,) is where it starts."""
    return {
        "name": robot.name,
        "file": robot.file,
        "base": robot.base,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": moving_mass(robot),
        "q": q.tolist(),
        "neutral": robot.neutral().tolist(),
        "joints": [_joint(robot, joint, robot.parent[i], robot.placement[i]) for i, joint in enumerate(robot.joints)],
        "bodies": [[float(m), *c] for m, c in zip(robot.mass, robot.centre_of_mass.tolist(), strict=True)],
        "links": _links(robot, scene),
        "skins": _skins(scene),
        "skeleton": _skeleton(robot),
        "branches": [str(robot.branches[i]) for i in range(min(len(robot.branches), MOST_BRANCHES))],
        "colours": list(BRANCHES),
        "missing": [
            {"link": m.link, "visual": m.visual, "filename": m.filename, "line": m.line, "reason": m.reason} for m in scene.missing
        ],
        "stick": not scene.visible,
    }


def contact_points(contacts: Iterable[Contact]) -> list[dict[str, Any]]:
    """Points that can touch, in the frames of their bodies."""
    return [{"name": one.name, "body": one.place[0], "position": list(one.place[1]), "radius": one.radius} for one in contacts]


def _skins(scene: Scene) -> list[dict[str, Any]]:
    """How the vertices of the visuals of elastic links follow their beams."""
    return [
        {
            "joint": skin.joint,
            "name": skin.name,
            "axis": skin.axis.tolist(),
            "section": packed(skin.section),
            "eta": packed(skin.eta),
            "phi": packed(skin.phi),
            "theta": packed(skin.theta),
        }
        for skin in scene.skins
    ]


def _skeleton(robot: Robot) -> dict[str, Any]:
    """The links of all branches as lines between joint origins and tips: places as (body, point in its frame), edges between them.

    A place on an elastic link is (body at the root, point at rest, elastic joint, its displacements for unit amplitudes).
    """
    lines = skeleton(robot, virtual=len(robot.branches) <= MOST_BRANCHES)
    root = [edge.a for edge in lines.edges]
    places = [_place(robot, place) for place in lines.places]
    edges = [[edge.branch, edge.virtual, edge.a, edge.b, edge.elastic] for edge in lines.edges]
    for i, parent in enumerate(robot.parent):  # from the world to where the robot is fixed to it
        if parent < 0 and i in root and np.any(robot.placement[i][:3, 3]):
            beam = robot.joints[i].beam
            first = next(edge for edge in lines.edges if (edge.a if beam is None else edge.b) == i)
            places.append([-1, [0.0, 0.0, 0.0]])
            if beam is None:
                edges.append([first.branch, False, len(places) - 1, i, False])
            elif beam.root.any():  # the beam itself has its own lines
                places.append([-1, beam.root.tolist()])
                edges.append([first.branch, False, len(places) - 2, len(places) - 1, False])
    return {"places": places, "edges": edges}


def _place(robot: Robot, place: Place) -> list[Any]:
    if isinstance(place, OnAxis):
        return [robot.parent[place.joint], list(place.rest), place.joint, [list(phi) for phi in place.phi]]
    return [place[0], list(place[1])]


def _finite(limit: float) -> float | None:
    return float(limit) if np.isfinite(limit) else None


def _joint(robot: Robot, joint: Joint, parent: int, placement: Array) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": joint.name,
        "type": joint.type,
        "child": joint.child,
        "parent": parent,
        "placement": placement.ravel().tolist(),
        "axis": list(joint.axis),
        "iq": joint.iq,
        "nq": joint.nq,
        "ratio": joint.ratio,
        "offset": joint.offset,
        "master": joint.master,
        **{key: _finite(getattr(joint, key)) for key in ("lower", "upper", "effort", "velocity")},
    }
    if joint.type == "planar":
        data["plane"] = list(plane_rotation(joint.axis))
    if joint.beam is not None:
        data["beam"] = beam_data(robot, joint.beam)
    return data


def _links(robot: Robot, scene: Scene) -> list[dict[str, Any]]:
    moved = {joint.child: i for i, joint in enumerate(robot.joints)}
    records = {link.name: link for link in robot.links}
    beams = {beam.link: (i, beam) for i, beam in elastic_joints(robot)}
    links = []
    for name in robot.link_names:
        frame, record = robot.frame(name), records[name]
        link: dict[str, Any] = {
            "name": name,
            "path": node(name),
            "line": record.line,
            "body": frame.body,
            "placement": frame.placement.ravel().tolist(),
            "joint": moved.get(name, -1),
            "visuals": len(record.visuals),
            "collisions": len(record.collisions),
        }
        inertial = record.inertial
        if name in beams:  # in place of its <inertial>
            link["elastic"] = beams[name][0]
            inertial = beam_inertia(robot, beams[name][1])
        if inertial is not None:
            link |= {"mass": inertial.mass, "com": list(inertial.centre_of_mass)}
            shape = equivalent(inertial)
            if shape is not None:
                link["inertia"] = {
                    "axes": shape.axes.ravel().tolist(),
                    "moments": shape.moments.tolist(),
                    "semi": shape.semi.tolist(),
                    "edges": shape.edges.tolist(),
                    "problem": shape.problem,
                }
        links.append(link)
    return links
