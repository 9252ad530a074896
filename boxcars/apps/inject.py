"""The load injector of an application: writes its data as files, at a rate."""

from __future__ import annotations

from pathlib import Path

from boxcars.apps.app import Feed
from boxcars.apps.generate import CHUNK
from boxcars.inject import AtRate, Folders, Injector, Unthrottled, cut

_BEAT = 0.25
"""Seconds between two files of an input, if there is a rate."""


def injector_of(feed: Feed, folders: dict[str, Path], rate: float | None = None) -> Injector:
    """Write a feed to a folder per input, at ``rate`` tuples per second or as fast as possible."""
    most = CHUNK if rate is None else max(int(rate * _BEAT), 1)
    pace = Unthrottled() if rate is None else AtRate(rate)
    return Injector(cut(feed.chunks, most), Folders(folders), pace)
