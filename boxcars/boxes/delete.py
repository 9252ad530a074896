"""Delete: remove records from a stored table."""

from __future__ import annotations

from typing import ClassVar

from boxcars.boxes.stored import Changing
from boxcars.sql import Kind


class Delete(Changing, type="delete", icon="⊠"):
    """Remove the records of a stored table that belong to a tuple.

    The first output has the records that were removed: all columns of the table behind the order
    attribute of the tuple, those of one tuple in the order of their values. ``inputs`` has the
    tuples themselves. Nobody has to use either. A column that is called like the order attribute
    leaves with the name of its table before it, such as ``DB_time``.

    Paper: StreamCloud's Delete (thesis, 2.3).

    >>> import boxcars as bx
    >>> net = bx.Network("accidents")
    >>> cleared = net.input("cleared", ts="time", fields={"time": "int", "segment": "int"})
    >>> accidents = net.table("accidents", fields={"segment": "int", "since": "int"})
    >>> over, tuples = cleared.delete("DELETE FROM accidents WHERE segment = input.segment")
    """

    kind: ClassVar[Kind] = Kind.DELETE
