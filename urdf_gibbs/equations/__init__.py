"""A robot's equations of motion: for people to read, and as source code."""
