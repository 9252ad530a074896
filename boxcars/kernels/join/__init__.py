"""Join and product: tuples of two streams that match."""
