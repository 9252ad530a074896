"""Connectors to external systems, one module each, and their shared code."""
