"""Call records for the experiments of the thesis: phones, times, places and prices."""

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.apps.calls import FIELDS

RATE = 555
"""Calls a second."""


def calls(rows: int, keys: int, number: int) -> pl.DataFrame:
    """The calls of one file of many."""
    rng = np.random.default_rng(number)
    places = ("caller_x", "caller_y", "callee_x", "callee_y")
    return pl.DataFrame(
        {
            "caller": rng.integers(0, keys, rows).astype(str),
            "callee": rng.integers(0, keys, rows).astype(str),
            "time": np.arange(number * rows, (number + 1) * rows) // RATE,
            "duration": rng.integers(1, 600, rows),
            "price": rng.random(rows) * 10,
            **{place: rng.random(rows) * 1e4 for place in places},
        }
    )


def input_of(net: bx.Network, name: str = "calls") -> bx.Stream:
    """Calls as an input of a network."""
    return net.input(name, ts="time", fields=FIELDS)
