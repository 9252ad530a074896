"""The HTTP service of a run: one port to feed, read, monitor and stop it."""
