"""State of kernels: structures whose cost follows new rows, not kept ones."""
