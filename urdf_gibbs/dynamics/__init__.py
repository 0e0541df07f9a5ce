"""The formulations of the papers and our own, written once over any scalar type."""
