"""The box that looks up the toll of a car on a day, in ten weeks of history.

At fifty expressways the history has about a hundred million rows: too many to load into a database
quickly, but only half a gigabyte as an array by car and day.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from boxcars.kernels.contract import State
from boxcars.kernels.user.operator import Operator, Setup
from boxcars.linear_road.facts import DAYS
from boxcars.linear_road.history import all_vids, toll_history
from boxcars.model.schema import Schema


@dataclass(frozen=True)
class Expenditure(Operator):
    """The toll of a car on a day, if it was on that expressway.

    ``tolls`` is a NumPy file: for each car and day the expressway and the toll.
    """

    tolls: str

    def setup(self, inputs: tuple[Schema, ...]) -> Setup:
        """The output fields."""
        return Setup(fields=dict.fromkeys(("time", "qid", "expenditure"), "int"))

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[pl.DataFrame, State]:
        """Answer each request; one without a row has no answer."""
        found = _load(self.tolls)[train["vid"].to_numpy(), train["day"].to_numpy() - 1]
        kept = [name for name in train.columns if name.startswith("__")]
        answers = train.select("time", "qid", *kept, "xway").with_columns(
            expenditure=pl.Series(found[:, 1].astype(np.int64)),
            there=pl.Series(found[:, 0].astype(np.int64)),
        )
        return answers.filter(pl.col("xway") == pl.col("there")).drop("xway", "there"), state


def write_tolls(file: Path, expressways: float, seed: int) -> None:
    """Write the history of all cars as a NumPy array, which can be memory-mapped."""
    lots = list(all_vids(expressways))
    array = np.lib.format.open_memmap(file, "w+", np.uint8, (int(lots[-1][-1]) + 1, DAYS, 2))
    for lot in lots:
        rows = toll_history(expressways, seed, lot)
        array[lot] = rows.select("xway", "toll").to_numpy().reshape(-1, DAYS, 2)
    array.flush()


@lru_cache(maxsize=2)
def _load(tolls: str) -> np.ndarray:
    return np.asarray(np.load(tolls, mmap_mode="r"))
