"""Contact and impact: which points can touch what, and how they rebound."""
