"""What the papers say: formulations written once over a scalar type."""
