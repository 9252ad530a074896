"""Kernels: what boxes compute, as pure functions over trains (Arrow batches)."""

from boxcars.kernels.compile_cache import choose_cache

choose_cache()
