"""Tools for users' tests: cases of a network, and invariance to how a stream is split."""
