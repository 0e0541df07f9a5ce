"""Shooting: the start or the constant torque with which an impact happens at a given place or time."""
