"""Update: change records of a stored table."""

from __future__ import annotations

from typing import ClassVar

from boxcars.boxes.stored import Changing
from boxcars.sql import Kind


class Update(Changing, type="update", icon="⊛"):
    """Update the records of a stored table that match a tuple.

    The first output has the updated records with their new values: the order attribute of the
    tuple, then all columns of the table; the records of one tuple are sorted by value. ``inputs``
    has the tuples themselves. Both outputs are optional. A column with the name of the order
    attribute is prefixed with its table, such as ``DB_time``.

    Paper: StreamCloud's Update (thesis, 2.3), whose definition and example name the outputs in
    opposite order; this follows the example. Aurora's Update (retrospective, 4.1) reports the
    tuple.

    >>> import boxcars as bx
    >>> net = bx.Network("prices")
    >>> fields = {"time": "int", "caller": "str", "eur": "float"}
    >>> calls = net.input("calls", ts="time", fields=fields)
    >>> top = net.table("top", fields={"phone": "str", "price": "float"}, key="phone")
    >>> changed, tuples = calls.update(
    ...     "UPDATE top SET price = input.eur WHERE phone = input.caller AND price < input.eur"
    ... )
    """

    kind: ClassVar[Kind] = Kind.UPDATE
