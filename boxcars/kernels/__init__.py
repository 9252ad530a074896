"""The work of the boxes: pure functions over trains."""

from boxcars.kernels.compiling import choose_cache

choose_cache()
