"""One epoch: its planner, its pieces, and the messages between them."""
