"""Identification: the inertial parameters of a robot from measured motions and forces, and what such data can tell at all."""

from __future__ import annotations

from urdf_gibbs.identification.base_parameters import BaseParameters, base_parameters
from urdf_gibbs.identification.identify import identify
from urdf_gibbs.identification.result import Identification

__all__ = ["BaseParameters", "Identification", "base_parameters", "identify"]
