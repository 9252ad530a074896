"""Columns: keys, hashes, ranks, slices and folds over them."""
