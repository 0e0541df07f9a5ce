"""Pinocchio as an independent reference: it reads the same file with its own parser and computes the dynamics."""
