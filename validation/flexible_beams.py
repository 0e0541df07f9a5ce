"""Elastic links against finite elements: two hinged links in fast motion, and the spin-up of a rotating beam.

    python validation/flexible_beams.py        (needs exudyn; about three minutes)

Ours are assumed modes (clamped-free), the reference is exudyn's ANCF cable elements (flexible_exudyn.py).
"""

from __future__ import annotations

import warnings

import numpy as np
import own_tree  # noqa: F401
from flexible_exudyn import extrapolated, load_exudyn, minimum, spin_up, two_hinged_links
from numpy.typing import NDArray

import urdf_gibbs as ug

Array = NDArray[np.float64]

HINGE = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0"/><axis xyz="0 0 1"/></joint>'
SLIDE = '<joint name="{0}" type="prismatic"><parent link="{1}"/><child link="{2}"/><axis xyz="{3}"/><limit lower="-9" upper="9" effort="0" velocity="9"/></joint>'  # noqa: E501
ELASTIC = (
    '<urdf_gibbs><flexible link="{0}" length="{1}" direction="1 0 0" mass_per_length="{2}" EI_z="{3}" '
    'modes="y=clamped-free:{4}" foreshortening="{5}"/></urdf_gibbs>'
)


def hinged_links(modes: int, free: bool = False, foreshortening: bool = False) -> ug.Robot:
    """Two links of 1 m, 1 kg/m and 1000 N m^2, hinged to each other, the first to the world or to two slides."""
    names = ["world", *(["s1", "s2"] if free else []), "link1", "link2"]
    text = "".join(f'<link name="{name}"/>' for name in names)
    if free:
        text += SLIDE.format("X1", "world", "s1", "1 0 0") + SLIDE.format("X2", "s1", "s2", "0 1 0")
    text += HINGE.format("q1", "s2" if free else "world", "link1", 0) + HINGE.format("q2", "link1", "link2", 1)
    beams = "".join(ELASTIC.format(link, 1.0, 1.0, 1000.0, modes, str(foreshortening).lower()) for link in ("link1", "link2"))
    return ug.load(f'<robot name="hinged">{text}{beams}</robot>')


def links_in_motion(robot: ug.Robot, times: Array) -> Array:
    """x and y of O1, O2 and O3 at these times (n, 6), from the start of flexible_exudyn.py."""
    q, v = np.zeros(robot.nq), np.zeros(robot.nv)
    for name, angle, rate in (("q1", 20.0, 6.0), ("q2", -60.0, -8.0)):
        q[robot.joint(name).iq], v[robot.joint(name).iv] = np.radians(angle), rate
    run = ug.simulate(robot, q, v, float(times[-1]), gravity=(0.0, -9.81, 0.0), rtol=1e-10, atol=1e-12)
    states = run.at(times)[0]
    places = [ug.frame_placement(robot, states, link)[:, :2, 3] for link in ("link1", "link1.tip", "link2.tip")]
    return np.concatenate(places, axis=1)


def rotating_beam(modes: int, foreshortening: bool) -> ug.Robot:
    """Simo and Vu-Quoc's beam: 10 m, 1.2 kg/m, 14,000 N m^2, hinged to the world."""
    links = '<link name="world"/><link name="beam"/>' + HINGE.format("q", "world", "beam", 0)
    beam = ELASTIC.format("beam", 10.0, 1.2, 1.4e4, modes, str(foreshortening).lower())
    return ug.load(f'<robot name="rotating">{links}{beam}</robot>')


def spun_up(robot: ug.Robot, duration: float = 20.0, speed: float = 6.0, rise: float = 15.0) -> tuple[Array, Array]:
    """Times and the deflection of the tip [m], the hinge following omega = speed (t/rise - sin(2 pi t/rise)/(2 pi))."""
    still = (0.0, 0.0, 0.0)
    mass_matrix, bias = robot.kernel("mass_matrix"), robot.kernel("bias", gravity=still)

    def prescribed(t: float, q: Array, v: Array) -> Array:
        """The torque that gives the hinge its acceleration, whatever the beam does."""
        rate = speed / rise * (1.0 - np.cos(2.0 * np.pi * t / rise)) if t < rise else 0.0
        M, h = mass_matrix(q), bias(q, v)
        a = np.concatenate([[rate], np.linalg.solve(M[1:, 1:], -h[1:] - M[1:, 0] * rate)])
        return np.asarray(np.eye(len(v))[0] * (M[0] @ a + h[0]))

    run = ug.simulate(robot, robot.neutral(), None, duration, gravity=still, controller=prescribed, rtol=1e-9, atol=1e-11)
    t = np.linspace(0.0, duration, 2001)
    return t, run.at(t)[0][:, 1:].sum(axis=1)  # each mode is 1 at the tip


def main() -> None:
    load_exudyn()
    warnings.simplefilter("ignore", ug.UrdfWarning)  # slides and elastic links need no <inertial>
    for free in (False, True):
        coarse, fine = (two_hinged_links(not free, elements=24, steps_per_sample=steps) for steps in (25, 50))
        reference = extrapolated(coarse.table, fine.table)
        for modes in (1, 2, 3, 4, 6):
            error = np.abs(links_in_motion(hinged_links(modes, free), fine.time) - reference).max()
            print(f"two links, {'free' if free else 'hinged to the world'}, {modes} modes each: {1e6 * error:.1f} um from finite elements")
    when, deepest = minimum(spin_up("simo-vu-quoc"))
    print(f"spin-up, finite elements: {deepest:.4f} m at {when:.2f} s")
    for modes in (1, 2, 3):
        t, tip = spun_up(rotating_beam(modes, True))
        print(f"spin-up, {modes} modes with foreshortening: {tip.min():.4f} m at {t[tip.argmin()]:.2f} s")
    t, tip = spun_up(rotating_beam(1, False), 12.0)
    print(f"spin-up without foreshortening: {tip[-1]:.0f} m at 12 s, past the speed of 3.8 rad/s at which the beam softens to nothing")


if __name__ == "__main__":
    main()
