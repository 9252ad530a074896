"""The bucket registry: which instance owns which bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from boxcars.model.problem import Wrong

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """Buckets as the cells of a grid, for pairs: left tuples go to a row, right ones to a column.

    >>> grid = Grid.of(6)
    >>> grid, grid.row(1).tolist(), grid.column(2).tolist()
    (Grid(rows=2, columns=3), [3, 4, 5], [2, 5])
    """

    rows: int
    columns: int

    @classmethod
    def of(cls, cells: int) -> Grid:
        """The most square grid with this number of cells, for the fewest copies of tuples."""
        rows = next(rows for rows in range(isqrt(cells), 0, -1) if cells % rows == 0)
        return cls(rows, cells // rows)

    def row(self, number: int) -> Ints:
        """The buckets that a left tuple goes to."""
        return np.arange(number * self.columns, (number + 1) * self.columns)

    def column(self, number: int) -> Ints:
        """The buckets that a right tuple goes to."""
        return np.arange(number, self.rows * self.columns, self.columns)


@dataclass(frozen=True, eq=False)
class Registry:
    """The owner of each bucket, as one array of instance numbers.

    >>> registry = Registry.balanced(8, 3)
    >>> registry.owners.tolist(), registry.moved({0: 2}).owners.tolist()
    ([0, 0, 0, 1, 1, 1, 2, 2], [2, 0, 0, 1, 1, 1, 2, 2])
    """

    owners: Ints
    instances: int

    @classmethod
    def balanced(cls, buckets: int, instances: int) -> Registry:
        """Assign contiguous ranges of buckets; their sizes differ by at most one."""
        if not 0 < instances <= buckets:
            raise Wrong(f"can't assign {buckets} buckets to {instances} instances.")
        return cls(np.arange(buckets) * instances // buckets, instances)

    @classmethod
    def tiled(cls, grid: Grid, instances: int) -> Registry:
        """Assign a tile of the grid to each instance, so that a row or column has few owners."""
        tiles = Grid.of(instances)
        if tiles.rows > grid.rows or tiles.columns > grid.columns:
            return cls.balanced(grid.rows * grid.columns, instances)
        down = np.arange(grid.rows) * tiles.rows // grid.rows
        across = np.arange(grid.columns) * tiles.columns // grid.columns
        return cls((down[:, None] * tiles.columns + across).ravel(), instances)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Registry):
            return NotImplemented
        return self.instances == other.instances and np.array_equal(self.owners, other.owners)

    __hash__ = None  # type: ignore[assignment]

    def moved(self, moves: Mapping[int, int]) -> Registry:
        """The registry after moving some buckets to other instances."""
        owners = self.owners.copy()
        for bucket, instance in moves.items():
            if not (0 <= bucket < len(owners) and instance >= 0):
                raise Wrong(f"there is no bucket {bucket} to move to instance {instance}.")
            owners[bucket] = instance
        return Registry(owners, max(self.instances, 1 + int(owners.max())))

    def owned_by(self, instance: int) -> Ints:
        """The buckets of an instance."""
        return np.flatnonzero(self.owners == instance)

    def destinations(self, buckets: Ints) -> Ints:
        """The instances that own some buckets."""
        return self.owners[buckets]


def ranges(registry: Registry, instance: int) -> tuple[tuple[int, int], ...]:
    """The buckets of an instance as ranges of neighbours, first and last.

    >>> ranges(Registry(np.array([0, 0, 1, 0]), 2), 0)
    ((0, 1), (3, 3))
    """
    owned = registry.owned_by(instance)
    parts = np.split(owned, np.flatnonzero(np.diff(owned) != 1) + 1) if len(owned) else []
    return tuple((int(part[0]), int(part[-1])) for part in parts)
