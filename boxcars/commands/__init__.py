"""Implementations of the larger ``boxcars`` commands."""
