"""Machine code for one robot: compiled once, kept on disk, called without overhead."""
