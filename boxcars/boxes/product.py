"""Product: match the tuples of two streams by any predicate."""

from __future__ import annotations

from boxcars.boxes.join import Matching


class Product(Matching, type="product", icon="×"):
    """Match each tuple with nearby tuples of the other stream, by any predicate.

    It is a join without the required equality, and slower: every tuple is compared with every tuple
    in the window of the other side. A band join is a product with a term such as ``abs(left.x -
    right.x) < 5``.

    Paper: StreamCloud's Cartesian Product (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> fields = {"t": "int", "x": "float"}
    >>> here, there = (net.input(name, ts="t", fields=fields) for name in ("here", "there"))
    >>> near = here.product(there, on="abs(left.x - right.x) < 15", window=bx.time(60))
    """

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """No fields need to be equal."""
        return ()
