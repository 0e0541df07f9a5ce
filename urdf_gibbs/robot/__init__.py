"""From a URDF to an immutable robot: reading, lint, tree, branches."""
