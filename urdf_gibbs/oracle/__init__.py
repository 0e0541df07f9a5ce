"""Pinocchio looks on from outside: it reads the same file with its own parser and says what the dynamics should be."""
