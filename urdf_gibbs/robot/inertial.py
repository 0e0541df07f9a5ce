"""Inertial parameters of the bodies, and a link's inertia changed on the fly: that of its body is merged again."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from urdf_gibbs.arguments import Array, finite, shown, text, triple, within
from urdf_gibbs.errors import ArgumentError, UnknownNameError
from urdf_gibbs.frozen import frozen
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.spatial import NO_INERTIA, Inertia, Mat3, joined, moved

MOST = sys.float_info.max  # kg


def parameters(robot: Robot) -> Array:
    """See Robot.parameters."""
    m, c = robot.mass[:, None, None], robot.centre_of_mass[:, :, None]
    about_origin = robot.inertia + m * ((c * c).sum(axis=1, keepdims=True) * np.eye(3) - c * c.transpose(0, 2, 1))
    entries = about_origin[:, [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return frozen(np.concatenate([robot.mass[:, None], robot.mass[:, None] * robot.centre_of_mass, entries], axis=1))


def with_inertia(robot: Robot, link: str, mass: float | None, centre_of_mass: ArrayLike | None, inertia: ArrayLike | None) -> Robot:
    """See Robot.with_inertia."""
    text(link, "the name of a link", "link")
    if link not in robot._frames:
        raise UnknownNameError("link", link, robot.link_names)
    elastic = {joint.beam.link for joint in robot.joints if joint.beam is not None}
    if link in elastic:
        raise ArgumentError(f'link "{link}" is elastic: its inertia is that of its beam, in <urdf_gibbs>')
    changed = []
    for one in robot.links:
        old = one.inertial or NO_INERTIA
        if one.name == link:
            new_mass = old.mass if mass is None else within(mass, 0.0, MOST, "mass")
            new_centre = old.centre_of_mass if centre_of_mass is None else triple(centre_of_mass, "centre_of_mass")
            tensor = old.inertia if inertia is None else _tensor(inertia)
            one = replace(one, inertial=Inertia(new_mass, new_centre, tensor))
        changed.append(one)
    inertials = {one.name: one.inertial for one in changed}
    body = robot._frames[link][0]
    merged = NO_INERTIA
    for name, (owner, pose) in robot._frames.items():
        own = inertials[name]
        if owner == body and own is not None and name not in elastic:
            merged = joined(merged, moved(pose, own))
    if body < 0:
        return replace(robot, links=tuple(changed), base_inertia=merged)
    masses, centres, inertias = robot.mass.copy(), robot.centre_of_mass.copy(), robot.inertia.copy()
    masses[body], centres[body] = merged.mass, merged.centre_of_mass
    about = np.reshape(merged.inertia, (3, 3))
    inertias[body] = 0.5 * about + 0.5 * about.T
    arrays = {"mass": frozen(masses), "centre_of_mass": frozen(centres), "inertia": frozen(inertias)}
    return replace(robot, links=tuple(changed), **arrays)  # type: ignore[arg-type]


def with_parameters(robot: Robot, values: ArrayLike) -> Robot:
    """A new robot whose bodies have these parameters, shaped as ``robot.parameters``, (nb, 10).

    The link that a joint moves carries all of its body, the links that are fixed to it have a mass of zero. ArgumentError where a number is
    not finite, a mass is negative, or links are elastic.
    """
    shape = robot.parameters.shape
    array = finite(values, shape)
    if array is None:
        raise ArgumentError(f"parameters={shown(values)}, expected {shape} finite numbers")
    if robot.is_flexible:
        raise ArgumentError(f"{robot.name or 'the robot'} has elastic links: parameters of bodies are for rigid links")
    wrong = np.flatnonzero(array[:, 0] < 0.0)
    if len(wrong):
        raise ArgumentError(f"the mass parameters[{wrong[0]}, 0] is {array[wrong[0], 0]:g}, expected 0 or more")
    mass = array[:, 0]
    centre = array[:, 1:4] / np.where(mass > 0.0, mass, 1.0)[:, None]
    if np.any(array[mass == 0.0, 1:4]):
        raise ArgumentError("a body without mass has first moments in parameters, expected none")
    inertia = array[:, [4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(-1, 3, 3)
    c = centre[:, :, None]
    inertia = inertia - mass[:, None, None] * ((c * c).sum(axis=1, keepdims=True) * np.eye(3) - c * c.transpose(0, 2, 1))
    carriers = {joint.child: i for i, joint in enumerate(robot.joints)}
    links = []
    for link in robot.links:
        body = robot._frames[link.name][0]
        if link.name in carriers:
            i = carriers[link.name]
            own = Inertia(float(mass[i]), tuple(centre[i].tolist()), tuple(inertia[i].ravel().tolist()))
            link = replace(link, inertial=own)
        elif body >= 0 and link.inertial is not None:
            link = replace(link, inertial=NO_INERTIA)
        links.append(link)
    arrays = {"mass": frozen(mass.copy()), "centre_of_mass": frozen(centre), "inertia": frozen(inertia)}
    return replace(robot, links=tuple(links), **arrays)  # type: ignore[arg-type]


def _tensor(inertia: ArrayLike) -> Mat3:
    array = finite(inertia, (3, 3))
    if array is None:
        raise ArgumentError(f"inertia={shown(inertia)}, expected (3, 3) finite numbers")
    return tuple(array.ravel().tolist())  # type: ignore[return-value]
