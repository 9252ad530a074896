"""The layout of a run: a network as pieces and stages."""
