"""Previews step by step, with a look at arcs and states."""
