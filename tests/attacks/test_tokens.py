"""Tokens are required as documented, and appear in no URL or log."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from boxcars.service.security import Access
from tests.attacks.victim import Victim, until
from tests.studio.server import TOKEN
from tests.studio.server import Served as Studio

CLOSED = [
    ("GET", "/openapi.json"),
    ("GET", "/metrics"),
    ("GET", "/api/status"),
    ("GET", "/api/stats"),
    ("GET", "/api/events"),
    ("GET", "/api/arcs/count"),
    ("GET", "/api/outputs/all"),
    ("POST", "/api/inputs/rows"),
    ("DELETE", "/api/inputs/rows/senders/me"),
    ("POST", "/api/stop"),
    ("GET", "/nothing"),
]


@pytest.fixture(scope="module")
def guarded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    found = Victim(spark, tmp_path_factory.mktemp("guarded"), Access(port=0, token="sesame"))
    yield found
    found.stop()


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_a_run(guarded: Victim, method: str, path: str) -> None:
    for said in ("", "Bearer ", "Bearer wrong", "Basic sesame", "Bearer sesame2", "bearer\tsesame"):
        assert guarded.ask(method, path, authorization=said)[0] == 401
    assert guarded.ask(method, f"{path}?token=sesame")[0] == 401
    if not path.startswith(("/api/stop", "/api/outputs", "/api/arcs")):
        assert guarded.ask(method, path, b"", authorization="Bearer sesame")[0] != 401


def test_probes_reveal_no_tuples(guarded: Victim) -> None:
    """They need no token; a full status would contain dead letters and paths."""
    told = {"authorization": "Bearer sesame"}
    body = b'{"t": "hunter2", "who": "ann"}'
    assert guarded.ask("POST", "/api/inputs/rows", body, **told)[0] == 200
    until(lambda: bool(guarded.run.status().dead), "a dead letter is counted")
    assert "hunter2" in str(guarded.ask("GET", "/api/status", **told)[1])
    for path in ("/health", "/ready"):
        code, said = guarded.ask("GET", path)
        assert (code, list(said)) == (200, ["state"])


def test_websockets_of_a_run(guarded: Victim) -> None:
    url = guarded.access.url.replace("http", "ws")
    for path in ("/api/inputs/rows/feed?sender=me", "/api/outputs/all/tap?token=wrong"):
        with pytest.raises(InvalidStatus, match="401"), connect(url + path):
            pass
    assert guarded.ask("GET", "/health")[0] == guarded.ask("GET", "/ready")[0] == 200
    guarded.client.enqueue("rows", [{"t": 1, "who": "ann"}])


def test_a_description_of_the_studio(tmp_path: Path) -> None:
    served = Studio(tmp_path)
    try:
        for path in ("/openapi.json", "/openapi.json/"):
            assert served.request("GET", path, authorization="")[0] == 401
        assert served.request("GET", "/openapi.json")[0] == 200
        for path in ("/docs", "/redoc"):
            code, body, _ = served.request("GET", path, authorization="")
            assert code == 404 or b"swagger" not in body.lower()
        assert TOKEN not in repr(served.studio.access)
    finally:
        served.close()
