"""Streams in another order, and values between tuples."""
