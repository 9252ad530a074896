"""Diagnostics for ``boxcars doctor``: check a machine and a cluster, and suggest fixes."""
