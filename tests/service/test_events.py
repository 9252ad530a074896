"""The route of events: pages, waiting for the next one, and who may read them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from boxcars.events.event import Event, Kind
from boxcars.events.event_log import Page
from boxcars.model.problem import BoxcarsError
from boxcars.service import events
from boxcars.service.client import Client, Refused
from boxcars.service.security import Access
from tests.patience import PATIENCE
from tests.service.test_service import Served, rows


@pytest.fixture
def served(spark: SparkSession, tmp_path: Path) -> Iterator[Served]:
    found = Served(spark, tmp_path, Access(port=0, token="sesame"))
    yield found
    found.stop()


def test_events_as_they_happen(served: Served) -> None:
    page, live = served.client.events()
    assert ([str(event.kind) for event in page.events], live) == (["started"], True)
    assert served.client.events(after=1) == (Page(), True)
    found: list[Page] = []
    waiting = threading.Thread(target=lambda: found.append(served.client.events(1, 60)[0]))
    waiting.start()
    served.client.enqueue("rows", rows(50, 52))
    served.wait_for(2)
    served.client.enqueue("rows", rows(1, 2))
    waiting.join(PATIENCE)
    (late,) = found[0].events
    assert (late.kind, late.box, late.figures) == (Kind.LATE, "rows", {"tuples": 1.0})
    served.run.stop()
    page, live = served.client.events(late.number, 60)
    assert ([str(event.kind) for event in page.events], live) == (["stopped"], False)
    assert served.client.events(page.events[-1].number, 60) == (Page(), False)


def test_a_page_is_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PAGE", 3)
    for number in range(7):
        served.run.event_log.append(Event(time.time(), Kind.RETRIED, "again.", epoch=number))
    found: list[int] = []
    while page := served.client.events(found[-1] if found else 0)[0].events:
        assert len(page) <= 3
        found += [event.number for event in page]
    assert found == list(range(1, 9))


def test_who_may_read_them(served: Served) -> None:
    with pytest.raises(Refused, match="token is missing or wrong"):
        Client(served.access.url, "wrong").events()
    with pytest.raises(Refused, match="'after': input should be greater than or equal to 0"):
        served.client.events(-1)
    with pytest.raises(Refused, match="'seconds': input should be less than or equal to 60"):
        served.client.events(0, 61)


def test_an_address_that_is_not_a_run(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "_call", lambda *_: {"events": [{}], "damaged": 0, "live": True})
    with pytest.raises(BoxcarsError, match="this is not a run"):
        served.client.events()
