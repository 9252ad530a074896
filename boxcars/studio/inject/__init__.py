"""Injectors: load for the inputs of runs."""
