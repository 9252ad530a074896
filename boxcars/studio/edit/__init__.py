"""Editing networks: documents, checks, completion, palette, tests."""
