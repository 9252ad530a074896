"""Sources: readers that plan the rows of an input, epoch by epoch."""
