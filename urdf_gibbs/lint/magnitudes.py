"""Numbers that no robot has, in any unit: they overflow in the checks by physics, which are left out then."""

from __future__ import annotations

from collections.abc import Iterable

from urdf_gibbs.robot.urdf import Link, Urdf

MOST = 1e15


def check_magnitudes(urdf: Urdf) -> bool:
    """Whether there are such numbers in masses, inertias, places and sizes; each link and joint with one gets a warning."""
    found = False
    for link in urdf.links:
        found |= _told(urdf, link.line, f'link "{link.name}"', _numbers(link))
    for joint in urdf.joints:
        found |= _told(urdf, joint.line, f'joint "{joint.name}" <origin>', joint.pose[1])
    return found


def _numbers(link: Link) -> Iterable[float]:
    if link.inertial is not None:
        yield link.inertial.mass
        yield from link.inertial.centre_of_mass
        yield from link.inertial.inertia
    for shape in (*link.visuals, *link.collisions):
        yield from (*shape.pose[1], *shape.geometry.size, *shape.geometry.scale)


def _told(urdf: Urdf, line: int, what: str, numbers: Iterable[float]) -> bool:
    largest = max(map(abs, numbers), default=0.0)
    if largest <= MOST:
        return False
    urdf.findings.warning("large-number", line, what, f"{largest:g}", f"at most {MOST:g} in SI units; the checks by physics are left out")
    return True
