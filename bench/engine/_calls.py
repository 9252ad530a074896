"""Call records for the experiments of the thesis: phones, times, positions and prices."""

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.apps.calls import FIELDS

RATE = 555
"""Calls per second."""


def calls(rows: int, keys: int, number: int) -> pl.DataFrame:
    """The calls of one file."""
    rng = np.random.default_rng(number)
    coordinates = ("caller_x", "caller_y", "callee_x", "callee_y")
    return pl.DataFrame(
        {
            "caller": rng.integers(0, keys, rows).astype(str),
            "callee": rng.integers(0, keys, rows).astype(str),
            "time": np.arange(number * rows, (number + 1) * rows) // RATE,
            "duration": rng.integers(1, 600, rows),
            "price": rng.random(rows) * 10,
            **{name: rng.random(rows) * 1e4 for name in coordinates},
        }
    )


def input_of(net: bx.Network, name: str = "calls") -> bx.Stream:
    """Calls as an input of a network."""
    return net.input(name, ts="time", fields=FIELDS)
