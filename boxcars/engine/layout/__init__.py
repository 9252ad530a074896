"""The layout of a run: a network split into pieces and stages."""
