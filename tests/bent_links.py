"""Robots with bent links, drawn independently of the package."""

from __future__ import annotations

from typing import Any

import numpy as np

import urdf_gibbs as ug
from urdf_gibbs.flexible.modes import axial, bending
from urdf_gibbs.view.elastic import elastic_joints

FLAT = "y=clamped-free:2"
SPACE = "y=clamped-free:2 z=clamped-free:1 x=clamped-free:1 torsion=clamped-free:1"
BOX = '<visual><origin xyz="0.5 0 0"/><geometry><box size="1.1 0.06 0.03"/></geometry></visual>'
ROD = '<visual><origin xyz="0.4 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.03" length="0.8"/></geometry></visual>'
LENGTHS = (1.0, 0.8)


def text(modes: str = FLAT, visuals: bool = True, options: str = "") -> str:
    """Two elastic links, the first a box that stands out at both ends, the second a cylinder."""
    parts = ['<robot name="bent"><link name="w"/>']
    for i, visual in enumerate((BOX, ROD)):
        axis = "0 1 0" if modes == SPACE and i else "0 0 1"
        parent, x = ("w", 0) if i == 0 else ("b0", 1)
        parts.append(
            f'<link name="b{i}">{visual if visuals else ""}</link>'
            f'<joint name="q{i}" type="continuous"><parent link="{parent}"/><child link="b{i}"/><origin xyz="{x} 0 0"/><axis xyz="{axis}"/></joint>'
            f'<urdf_gibbs><flexible link="b{i}" length="{LENGTHS[i]}" mass_per_length="1" direction="1 0 0" EI_z="100" EI_y="80" EA="1e5"'
            f' GJ="50" J="1e-4 1e-4 1e-4" elastic_rotary="true" modes="{modes}" {options}/></urdf_gibbs>'
        )
    return "".join(parts) + "</robot>"


def robot(modes: str = FLAT, visuals: bool = True, options: str = "") -> ug.Robot:
    return ug.load(text(modes, visuals, options), "fixed")


def bent(one: ug.Robot, seed: int = 0) -> Any:
    """A configuration whose elastic links are well bent."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, one.nq)
    for i, beam in elastic_joints(one):
        start = one.joints[i].iq
        q[start : start + beam.m] = rng.uniform(-0.2, 0.2, beam.m) * beam.length
    return q


def independent(modes: str, length: float, eta: Any, delta: Any, shortened: bool = False) -> tuple[Any, Any]:
    """rho (n, 3) and theta (n, 3) from the shape functions alone, for beams along x with the modes of these tests."""
    y = [bending("clamped-free", k, length).deflection for k in (1, 2)]
    rho, theta = np.zeros((len(eta), 3)), np.zeros((len(eta), 3))
    rho[:, 0] = eta
    for k in (0, 1):
        rho[:, 1] += delta[k] * y[k].value(eta)
        theta[:, 2] += delta[k] * y[k].slope(eta)
    if modes == SPACE:
        rho[:, 2] += delta[2] * y[0].value(eta)
        theta[:, 1] -= delta[2] * y[0].slope(eta)
        rho[:, 0] += delta[3] * axial("clamped-free", 1, length).value(eta)
        theta[:, 0] += delta[4] * axial("clamped-free", 1, length).value(eta)
    if shortened:
        nodes, weights = np.polynomial.legendre.leggauss(40)
        for n, end in enumerate(eta):
            at = 0.5 * end * (nodes + 1.0)
            slope = delta[0] * y[0].slope(at) + delta[1] * y[1].slope(at)
            rho[n, 0] -= 0.25 * end * float(weights @ slope**2)
    return rho, theta
