"""State of kernels: structures whose cost depends on new rows, not on stored ones."""
