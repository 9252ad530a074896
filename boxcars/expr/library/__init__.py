"""Built-in functions; importing a module registers its functions."""

from boxcars.expr.library import geometry, hashing, logic, math, network, text, time

__all__ = ["geometry", "hashing", "logic", "math", "network", "text", "time"]
