"""The work of the boxes: pure functions over trains."""

from boxcars.kernels.compile_cache import choose_cache

choose_cache()
