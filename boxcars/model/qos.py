"""Quality of service: the utility of an output by latency, loss and value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from boxcars.model.problem import Wrong, nearest

Graph = tuple[tuple[float, float], ...]
"""A piecewise linear utility: points (x, utility), utility between 0 and 1."""


@dataclass(frozen=True)
class Qos:
    """The utility graphs of an output, as in Aurora; utilities are between 0 and 1.

    ``latency`` is in seconds, ``loss`` is the share of tuples delivered, ``value`` is over the
    field ``value_field`` of the output.

    >>> Qos.from_plain({"latency": [[1, 1], [5, 0]]}).latency
    ((1.0, 1.0), (5.0, 0.0))
    """

    latency: Graph = ()
    loss: Graph = ()
    value: Graph = ()
    value_field: str | None = None

    def worth(self, values: Iterable[float]) -> np.ndarray:
        """Return the utility of tuples by their values; NaN has utility 0.

        >>> Qos(value=((0, 1), (10, 0)), value_field="x").worth([-5, 2, 99]).tolist()
        [1.0, 0.8, 0.0]
        """
        points, utilities = zip(*self.value, strict=True)
        found: np.ndarray = np.nan_to_num(np.interp(np.asarray(values, float), points, utilities))
        return found

    def plain(self) -> dict[str, object]:
        """Return the specification as in a network file."""
        plain: dict[str, object] = {
            name: [list(point) for point in graph]
            for name in ("latency", "loss", "value")
            if (graph := getattr(self, name))
        }
        return plain | ({"value_field": self.value_field} if self.value_field else {})

    @classmethod
    def from_plain(cls, plain: object) -> Self:
        """Parse the output of :meth:`plain`."""
        names = ("latency", "loss", "value", "value_field")
        if not isinstance(plain, Mapping):
            raise Wrong(f"expected utilities such as {{latency: [[1, 1], [5, 0]]}}, got {plain!r}.")
        for key in plain:
            if key not in names:
                raise Wrong(f"a QoS specification has no '{key}'.{nearest(key, names)}")
        field = plain.get("value_field")
        return cls(
            latency=_graph("latency", plain.get("latency", ())),
            loss=_graph("loss", plain.get("loss", ())),
            value=_graph("value", plain.get("value", ())),
            value_field=None if field is None else str(field),
        )

    def problems(self, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield the problems for an output with these fields: (parameter, sentence)."""
        for name in ("latency", "loss", "value"):
            graph: Graph = getattr(self, name)
            if any(left[0] >= right[0] for left, right in pairwise(graph)):
                yield name, "the x values of the points must increase."
            if any(not 0 <= utility <= 1 for _, utility in graph):
                yield name, "a utility is between 0 and 1."
        if bool(self.value) != (self.value_field is not None):
            yield "value", "value and value_field must be given together."
        elif self.value_field and fields and self.value_field not in fields:
            hint = nearest(self.value_field, fields)
            yield "value_field", f"unknown field '{self.value_field}'.{hint}"


def _graph(name: str, plain: object) -> Graph:
    try:
        if isinstance(plain, Sequence) and not isinstance(plain, str):
            return tuple((float(x), float(y)) for x, y in plain)
    except (TypeError, ValueError):
        pass
    raise Wrong(f"{name}: expected points such as [[1, 1], [5, 0]], got {plain!r}.")
