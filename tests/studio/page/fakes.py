"""A fake run: the test decides what it reports to the page."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Route, WebSocketRoute

from tests.studio.page.browser import Person
from tests.studio.page.networks import NO_HISTORY, fake_injector, fake_run, fake_stats


class FakeRun:
    """A fake run; ``asked`` has the requests of the page."""

    def __init__(self, person: Person, **known: Any) -> None:
        self._run = fake_run() | known
        self._socket: WebSocketRoute | None = None
        self.asked: list[tuple[str, str, Any]] = []
        self.refusal: str | None = None
        page = person.page
        page.route("**/api/runs", lambda route: route.fulfill(json=self._known()))
        page.route("**/api/runs/busy", self._answer)
        page.route("**/api/runs/busy/modify", self._answer)
        page.route("**/api/runs/busy/history*", lambda route: route.fulfill(json=NO_HISTORY))
        page.route("**/api/runs/busy/injectors", lambda r: r.fulfill(json=[fake_injector()]))
        page.route("**/api/runs/busy/arcs/*", lambda r: r.fulfill(json={"rows": [{"kmh": 7}]}))
        page.route_web_socket("**/api/runs/busy/watch*", self._open)

    def _known(self) -> list[dict[str, Any]]:
        return [self._run]

    def _answer(self, route: Route) -> None:
        """Record a request, and answer it; with a refusal, if one is set."""
        request = route.request
        self.asked.append((request.method, request.url.rpartition("/")[2], request.post_data_json))
        if self.refusal is not None:
            route.fulfill(status=409, json={"detail": self.refusal})
        elif request.method == "DELETE":
            route.fulfill(status=204)
        else:
            route.fulfill(json=self._run)

    def _open(self, socket: WebSocketRoute) -> None:
        self._socket = socket
        self.tell({"type": "status", "run": self._run})
        self.tell({"type": "stats", "stats": fake_stats(1)})

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to the page."""
        assert self._socket is not None
        self._socket.send(json.dumps(message))

    def find(self, *phones: int) -> None:
        """Send results."""
        rows = [{"phone": phone, "speed": 900} for phone in phones]
        outputs = {"frauds": {"epoch": 1, "rows": rows, "total": len(rows)}}
        self.tell({"type": "rows", "outputs": outputs})

    def happen(self, *events: dict[str, Any]) -> None:
        """Send events."""
        self.tell({"type": "events", "events": list(events)})

    def measure(self, number: int) -> None:
        """Send statistics in which all rates and counts are this number."""
        self.tell({"type": "stats", "stats": fake_stats(number)})

    def end(self, state: str, sentence: str) -> None:
        """End the run."""
        self._run |= {"state": state, "sentence": sentence, "ended": 2.0}
        self.tell({"type": "status", "run": self._run})
