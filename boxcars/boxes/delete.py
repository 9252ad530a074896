"""Delete: remove records from a stored table."""

from __future__ import annotations

from typing import ClassVar

from boxcars.boxes.stored import Changing
from boxcars.sql import Kind


class Delete(Changing, type="delete", icon="⊠"):
    """Delete the records of a stored table that match a tuple.

    The first output has the deleted records: the order attribute of the tuple, then all columns of
    the table; the records of one tuple are sorted by value. ``inputs`` has the tuples themselves.
    Both outputs are optional. A column with the name of the order attribute is prefixed with its
    table, such as ``DB_time``.

    Paper: StreamCloud's Delete (thesis, 2.3).

    >>> import boxcars as bx
    >>> net = bx.Network("accidents")
    >>> cleared = net.input("cleared", ts="time", fields={"time": "int", "segment": "int"})
    >>> accidents = net.table("accidents", fields={"segment": "int", "since": "int"})
    >>> over, tuples = cleared.delete("DELETE FROM accidents WHERE segment = input.segment")
    """

    kind: ClassVar[Kind] = Kind.DELETE
