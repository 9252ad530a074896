"""The bucket of each tuple: ``hash(fields) % buckets``, the same on every machine."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.kernels.columns.hashing import hash_columns
from boxcars.model.routing import Routing

Ints = NDArray[np.int64]


def bucket_numbers(train: pl.DataFrame, routing: Routing, buckets: int) -> Ints:
    """The bucket of each tuple of a train; for pairs its row or column of the grid.

    Tuples that may go to any bucket are spread by their values, so that a replay sends each to the
    same bucket: by up to three integer columns, which hash fast, or else by all columns.

    >>> from boxcars.model.types import Type
    >>> train = pl.DataFrame({"who": ["ann", "bob", "ann"]})
    >>> bucket_numbers(train, Routing.key([("who", Type.STR)]), 64).tolist()
    [17, 39, 17]
    """
    if routing.kind == "single":
        return np.zeros(train.height, np.int64)
    if routing.kind == "any":
        integers = [column for column in train.get_columns() if column.dtype.is_integer()]
        columns = integers[:3] or train.get_columns()
    else:
        columns = [
            train[name].cast(type_.dtype)
            for name, type_ in zip(routing.fields, routing.types, strict=True)
        ]
    return hash_columns(columns, train.height) % buckets
