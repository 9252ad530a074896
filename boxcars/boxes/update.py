"""Update: change records of a stored table."""

from __future__ import annotations

from typing import ClassVar

from boxcars.boxes.stored import Changing
from boxcars.sql import Kind


class Update(Changing, type="update", icon="⊛"):
    """Change the records of a stored table that belong to a tuple.

    The first output has the records that were changed, as they are afterwards: all columns of the
    table behind the order attribute of the tuple, those of one tuple in the order of their values.
    ``inputs`` has the tuples themselves. Nobody has to use either. A column that is called like
    the order attribute leaves with the name of its table before it, such as ``DB_time``.

    Paper: StreamCloud's Update (thesis, 2.3), whose definition and example name the outputs the
    other way round; this is the example. Aurora's Update (retrospective, 4.1) reports the tuple.

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
