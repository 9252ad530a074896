"""Simulators: the real driver and controllers over simulated storage, executors and time."""
