"""Derivatives of the dynamics and regressors, as formulations over any scalar."""
