"""Identification: the inertial parameters of a robot from measured motions and forces, and what such data can tell at all."""
