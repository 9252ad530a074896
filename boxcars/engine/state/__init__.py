"""State: checkpoints, and their upgrade to a changed network."""
