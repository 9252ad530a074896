"""The axis of a window: order values to pane numbers, and back."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.model.order import FARTHEST_INT
from boxcars.model.types import Type
from boxcars.model.window import Window

Ints = NDArray[np.int64]
_FARTHEST = float(FARTHEST_INT)
"""The greatest pane number: beyond it floats could not distinguish panes."""


@dataclass(frozen=True)
class Axis:
    """Panes of ``pane`` units from ``origin`` on; windows of ``size`` panes every ``advance``.

    Units are those of the order attribute: microseconds for a timestamp.

    >>> axis = Axis.of(Window("time", size=60, advance=20), Type.INT)
    >>> axis.size, axis.advance, axis.pane_of(pl.Series([0, 19, 20, 61])).tolist()
    (3, 1, [0, 0, 1, 3])
    """

    type: Type
    origin: Fraction
    pane: Fraction
    size: int
    advance: int

    @classmethod
    def of(cls, window: Window, type_: Type) -> Axis:
        """The axis of a window over values of a type."""
        unit = 1_000_000 if type_ is Type.TIMESTAMP else 1
        size, step, origin = (
            Fraction(str(number)) * unit for number in (window.size, window.step, window.origin)
        )
        pane = Fraction(
            gcd(size.numerator * step.denominator, step.numerator * size.denominator),
            size.denominator * step.denominator,
        )
        return cls(type_, origin, pane, int(size / pane), int(step / pane))

    def pane_of(self, values: pl.Series) -> Ints:
        """The pane of each value."""
        if self.type is Type.FLOAT:
            return self._pane_of_floats(values.to_numpy())
        numbers = values.cast(pl.Int64).to_numpy()
        if self.origin.denominator == 1 and self.pane.denominator == 1:
            if self.pane == 1 and self.origin == 0:
                return numbers
            return np.asarray((numbers - int(self.origin)) // int(self.pane))
        return self._pane_of_floats(numbers.astype(np.float64))

    def _pane_of_floats(self, numbers: NDArray[np.float64]) -> Ints:
        """Panes by float arithmetic; a value on a boundary ``j * pane`` belongs to pane ``j``."""
        away, pane = numbers - float(self.origin), float(self.pane)
        number = np.floor(away / pane)
        number -= number * pane > away
        number += (number + 1) * pane <= away
        return np.asarray(np.clip(number, -_FARTHEST, _FARTHEST).astype(np.int64))

    def pane_of_one(self, value: Any) -> int:
        """The pane of one order value."""
        dtype = self.type.dtype
        return int(self.pane_of(pl.Series([value], dtype=dtype))[0])

    def values(self, panes: Ints) -> pl.Series:
        """The order values at which panes start."""
        if self.type is Type.FLOAT:
            return pl.Series(float(self.origin) + panes * float(self.pane))
        if self.pane.denominator == 1 and self.origin.denominator == 1:
            numbers = panes * int(self.pane) + int(self.origin)
        else:
            numbers = np.floor(panes * float(self.pane) + float(self.origin)).astype(np.int64)
        return pl.Series(numbers).cast(self.type.dtype)

    def value(self, pane: int) -> Any:
        """The order value at which a pane starts."""
        return self.values(np.array([pane]))[0]
