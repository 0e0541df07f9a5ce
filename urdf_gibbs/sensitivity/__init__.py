"""Derivatives of a whole hybrid motion: the variational equation in flight, saltation matrices at impacts, held contacts and release."""
