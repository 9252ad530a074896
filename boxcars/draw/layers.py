"""Layered layout: items in columns along the arrows, with few crossings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from boxcars.draw.picture import Picture

Link = tuple[str, str]
_SWEEPS = 6
"""Passes that sort the columns."""
_PULLS = 24
"""Passes that align items with their neighbours."""


@dataclass(frozen=True)
class Layers:
    """Columns from left to right. An arrow across several columns passes through *bends* in them.

    ``routes`` has for each arrow (source, target) the keys on its route, both ends included.
    """

    columns: tuple[tuple[str, ...], ...]
    routes: Mapping[Link, tuple[str, ...]]

    @property
    def links(self) -> list[Link]:
        """The steps of all routes, each between adjacent columns."""
        steps = {(a, b): None for route in self.routes.values() for a, b in pairwise(route)}
        return list(steps)


def is_bend(key: str) -> bool:
    """Whether a key is a bend of an arrow, not an item."""
    return key.startswith("~")


def find_layers(picture: Picture) -> Layers:
    """Put every item right of its inputs, and sort the columns so that few arrows cross."""
    links = list(dict.fromkeys((arrow.source, arrow.target) for arrow in picture.arrows))
    ranks = _ranks(picture.items, links)
    columns: list[list[str]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    for key, rank in ranks.items():
        columns[rank].append(key)
    routes = {}
    for number, (source, target) in enumerate(links):
        between = range(ranks[source] + 1, ranks[target])
        bends = {rank: f"~{number}.{rank}" for rank in between}
        for rank, bend in bends.items():
            columns[rank].append(bend)
        routes[source, target] = (source, *bends.values(), target)
    layers = Layers(tuple(map(tuple, columns)), routes)
    return Layers(_sort(layers.columns, layers.links), routes)


def _ranks(items: Iterable[str], links: Sequence[Link]) -> dict[str, int]:
    """Return the length of the longest path to each item; a loop is cut where it is found."""
    before: dict[str, list[str]] = {key: [] for key in items}
    for source, target in links:
        before[target].append(source)
    ranks: dict[str, int] = {}
    busy: set[str] = set()

    for key in before:
        waiting = [key]
        while waiting:
            top = waiting[-1]
            ahead = [] if top in busy else [s for s in before[top] if s not in busy]
            busy.add(top)
            waiting += reversed(ahead)
            if not ahead:
                waiting.pop()
                last = max((ranks.get(source, -1) for source in before[top]), default=-1)
                ranks.setdefault(top, last + 1)
    return ranks


def _sort(columns: Sequence[Sequence[str]], links: Sequence[Link]) -> tuple[tuple[str, ...], ...]:
    """Sort each column by the mean index of its neighbours, in alternating directions."""
    found = [list(column) for column in columns]
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for source, target in links:
        before.setdefault(target, []).append(source)
        after.setdefault(source, []).append(target)
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        order = range(1, len(found)) if forth else range(len(found) - 2, -1, -1)
        neighbours = before if forth else after
        for number in order:
            other = found[number - 1 if forth else number + 1]
            rows = {key: index for index, key in enumerate(other)}
            own = {key: index for index, key in enumerate(found[number])}
            found[number].sort(
                key=lambda key, rows=rows, own=own, near=neighbours: _mean(  # type: ignore[misc]
                    [rows[n] for n in near.get(key, ()) if n in rows], own[key]
                )
            )
    return tuple(map(tuple, found))


def _mean(rows: list[int], default: int) -> float:
    return fmean(rows) if rows else float(default)


def spread(layers: Layers, gap: Mapping[str, float]) -> dict[str, float]:
    """Return a y coordinate per key, near its neighbours, with the gaps within columns kept."""
    heights = {
        key: sum(gap[k] for k in column[:index])
        for column in layers.columns
        for index, key in enumerate(column)
    }
    near: dict[str, list[str]] = {}
    for source, target in layers.links:
        near.setdefault(source, []).append(target)
        near.setdefault(target, []).append(source)
    for sweep in range(_PULLS):
        columns = layers.columns if sweep % 2 == 0 else layers.columns[::-1]
        for column in columns:
            wanted = [fmean([heights[n] for n in near.get(k, [k])]) for k in column]
            heights |= dict(zip(column, _apart(wanted, [gap[k] for k in column]), strict=True))
    lowest = min(heights.values(), default=0)
    return {key: height - lowest for key, height in heights.items()}


def _apart(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return heights near the wanted ones but at least a gap apart: colliding blocks are merged."""
    blocks: list[list[float]] = []
    offset = 0.0
    offsets = []
    for want, gap in zip(wanted, gaps, strict=True):
        offsets.append(offset)
        blocks.append([want - offset, 1.0])
        offset += gap
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, weight = blocks.pop()
            other, more = blocks.pop()
            blocks.append([(mean * weight + other * more) / (weight + more), weight + more])
    flat = [mean for mean, weight in blocks for _ in range(int(weight))]
    return [base + offset for base, offset in zip(flat, offsets, strict=True)]
