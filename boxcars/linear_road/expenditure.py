"""The box that looks up what a car paid on a day, in ten weeks of history.

At fifty expressways that are some hundred million rows: too many for a database to be loaded in
the time of a coffee, but only half a gigabyte as an array by car and day.
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

    ``tolls`` is a file of numpy: for each car and day the expressway and the toll.
    """

    tolls: str

    def setup(self, inputs: tuple[Schema, ...]) -> Setup:
        """What leaves."""
        return Setup(fields=dict.fromkeys(("time", "qid", "expenditure"), "int"))

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[pl.DataFrame, State]:
        """Each request by itself; one without a row has no answer."""
        found = _load(self.tolls)[train["vid"].to_numpy(), train["day"].to_numpy() - 1]
        kept = [name for name in train.columns if name.startswith("__")]
        answers = train.select("time", "qid", *kept, "xway").with_columns(
            expenditure=pl.Series(found[:, 1].astype(np.int64)),
            there=pl.Series(found[:, 0].astype(np.int64)),
        )
        return answers.filter(pl.col("xway") == pl.col("there")).drop("xway", "there"), state


def write_tolls(file: Path, expressways: float, seed: int) -> None:
    """Write the history of all cars as an array of numpy, which can be mapped into memory."""
    lots = list(all_vids(expressways))
    array = np.lib.format.open_memmap(file, "w+", np.uint8, (int(lots[-1][-1]) + 1, DAYS, 2))
    for lot in lots:
        rows = toll_history(expressways, seed, lot)
        array[lot] = rows.select("xway", "toll").to_numpy().reshape(-1, DAYS, 2)
    array.flush()


@lru_cache(maxsize=2)
def _load(tolls: str) -> np.ndarray:
    return np.asarray(np.load(tolls, mmap_mode="r"))
