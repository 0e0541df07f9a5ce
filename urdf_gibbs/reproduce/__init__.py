"""The claims of three papers, next to what this package measures."""
