"""The readable state of a box: the tuples in its windows, without internal columns."""

from __future__ import annotations

import re

import polars as pl

from boxcars.boxes.aggregate import Aggregate
from boxcars.expr import call
from boxcars.kernels.contract import State
from boxcars.model.box import Box
from boxcars.model.schema import HIDDEN
from boxcars.studio.edit.json_rows import plain_rows
from boxcars.studio.wire.run_messages import StateTable

_ARGUMENT = re.compile(rf"{HIDDEN}(?P<partial>p?)(?P<function>\d+)\.(?P<argument>\d+)")
_BOOKKEEPING = "hash"
"""A part of a state with this column is an index, which is not shown."""


def state_tables(box: Box, state: State, most: int) -> list[StateTable]:
    """Return the non-empty parts of a state, with the first rows of each.

    Old and new tuples that the engine stores separately (``tuples``, ``tuples.0``) are one part.
    """
    parts: dict[str, list[pl.DataFrame]] = {}
    for name, frame in state.items():
        if frame.height and _BOOKKEEPING not in frame.columns:
            shown = _readable(box, frame)
            if shown.width:
                parts.setdefault(re.sub(r"\.\d+$", "", name), []).append(shown)
    return [_table(name, frames, most) for name, frames in parts.items()]


def _table(name: str, frames: list[pl.DataFrame], most: int) -> StateTable:
    frame = pl.concat(frames, how="diagonal")
    return StateTable(
        name=name, columns=frame.columns, rows=plain_rows(frame[:most]), total=frame.height
    )


def _readable(box: Box, frame: pl.DataFrame) -> pl.DataFrame:
    """Select the columns that are meaningful to users, under readable names."""
    names: dict[str, str] = {}
    for column in frame.columns:
        meant = _meaning(box, column)
        if meant and meant not in names.values():
            names[column] = meant
    return frame.select(list(names)).rename(names)


def _meaning(box: Box, column: str) -> str:
    """Return the readable name of a column; empty if it is internal."""
    if not column.startswith(HIDDEN):
        return column
    match = _ARGUMENT.fullmatch(column)
    if match is None or not isinstance(box, Aggregate):
        return ""
    name, function = list(box.fields.items())[int(match["function"])]
    if match["partial"]:
        return f"{name} so far"
    called = call(function)
    arguments = called[1] if called else ()
    number = int(match["argument"])
    return str(arguments[number]) if number < len(arguments) else ""
