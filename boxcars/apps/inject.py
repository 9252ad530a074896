"""The load injector of an application: its data as files of folders, at a pace."""

from __future__ import annotations

from pathlib import Path

from boxcars.apps.app import Feed
from boxcars.apps.generate import CHUNK
from boxcars.inject import AsFastAsCanBe, AtRate, Folders, Injector, cut

_BEAT = 0.25
"""Seconds between two files of an input when there is a pace."""


def injector_of(feed: Feed, folders: dict[str, Path], rate: float | None = None) -> Injector:
    """Writes a feed to a folder for each input, ``rate`` tuples a second or as fast as it can."""
    most = CHUNK if rate is None else max(int(rate * _BEAT), 1)
    pace = AsFastAsCanBe() if rate is None else AtRate(rate)
    return Injector(cut(feed.chunks, most), Folders(folders), pace)
