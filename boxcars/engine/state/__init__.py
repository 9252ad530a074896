"""State: checkpoints, loading it for an instance, and upgrading it to a changed network."""
