"""Editing a network: documents, checks, completion, palette, plans."""
