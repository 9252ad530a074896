"""Trains through the boxes of a network: what every way to run it has in common."""
