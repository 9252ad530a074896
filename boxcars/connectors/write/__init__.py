"""Sinks: writers that deliver the parts of an output, each epoch exactly once."""
