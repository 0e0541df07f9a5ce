"""Uses of derivatives: a robot near a state as a linear system, its linear-quadratic regulator, and shooting."""
