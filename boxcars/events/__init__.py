"""Events of a run: what happened, when and why, as plain data."""
