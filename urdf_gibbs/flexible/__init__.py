"""Elastic links: shape functions, and the constants of a beam that the formulations read (Shafei 2017, S17)."""
