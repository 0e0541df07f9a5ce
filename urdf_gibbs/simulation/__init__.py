"""Motion in time: trajectories with their impacts and contact phases."""
