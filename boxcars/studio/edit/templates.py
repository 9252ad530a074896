"""The templates: all applications, and the continuous queries of Linear Road.

Two queries of Linear Road look up ten weeks of history in files with their own code, and are left
out. The others use built-in boxes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import polars as pl

from boxcars.apps import App, Feed, apps
from boxcars.apps.app import Chunk
from boxcars.linear_road.facts import SEGMENTS
from boxcars.linear_road.network import build
from boxcars.linear_road.traffic import generate
from boxcars.model.deserialize import read_network
from boxcars.model.network import Network
from boxcars.model.problem import nearest
from boxcars.model.serialize import network_to_plain
from boxcars.studio.wire.errors import Missing

_HISTORY = {"expenditure": "expenditures", "travel-time": "travel_times"}
"""The boxes that query the history, and their outputs."""
_STEP, _DENSITY = 30, 30.0
"""Seconds of traffic per chunk, and the factor by which the road fills faster than in the
benchmark."""
_ROUND, _DRIVE = 5_000, 500_000
"""Tuples until the data of an application repeats, and that of the road: jams take a while."""


@cache
def templates() -> dict[str, App]:
    """Return all templates by name."""
    return {**apps(), _ROAD.name: _ROAD}


def find_template(name: str) -> App:
    """Find a template by name; the error for an unknown one suggests a similar name."""
    if name not in templates():
        raise Missing(f"there is no template '{name}'.{nearest(name, templates())}")
    return templates()[name]


def round_of(app: App) -> int:
    """Return the number of tuples that show what an application does."""
    return _DRIVE if app is _ROAD else _ROUND


def _network() -> Network:
    plain = network_to_plain(build())
    for box, output in _HISTORY.items():
        del plain["boxes"][box], plain["outputs"][output]
    return read_network(plain).network


def _feed(rows: int, seed: int) -> Feed:
    segments = pl.DataFrame({"segment": range(2 * SEGMENTS)})
    return Feed(_chunks(rows, seed), {}, {"segments": segments})


def _chunks(rows: int, seed: int) -> Iterator[Chunk]:
    for frame in generate(1, seed, step=_STEP, density=_DENSITY):
        yield {"road": frame.head(rows)}
        rows -= frame.height
        if rows <= 0:
            return


_ROAD = App(
    name="linear-road",
    family="benchmark",
    sentence="Tolls by traffic, accidents ahead and balances of all cars on an expressway.",
    unit="reports",
    build=_network,
    feed=_feed,
)
