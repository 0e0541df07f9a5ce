"""Uses of derivatives: a robot near a state as a linear system, and its linear-quadratic regulator."""
