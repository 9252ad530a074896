"""The service of a run: one port to feed it, to tap it, to watch it and to stop it."""
