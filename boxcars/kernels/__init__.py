"""The work of the boxes: pure functions over trains."""
