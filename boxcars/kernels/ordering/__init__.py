"""Reordering of streams, and interpolation between tuples."""
