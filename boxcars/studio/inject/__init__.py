"""Injectors: load generators for the inputs of runs."""
