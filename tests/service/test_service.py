"""The HTTP service of a run: feed, read, monitor and stop it, with access control."""

import json
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect as open_socket

import boxcars as bx
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.client import Client, Refused
from boxcars.service.security import Access
from boxcars.service.server import Server
from boxcars.service.wire import ARROW, table_to_bytes
from tests.connectors.systems import servers
from tests.patience import PATIENCE

_FORMATS = Path(__file__).parents[1] / "golden" / "formats_api.json"
GOLDEN = {v["id"]: v for v in json.loads(_FORMATS.read_text(encoding="utf-8"))["vectors"]}
FIELDS = {"t": "int", "who": "str"}


def network() -> bx.Network:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields=FIELDS)
    net.output("all", rows)
    net.output("counts", rows.aggregate(bx.time(10), by="who", n="count()").named("count"))
    return net


def rows(first: int, stop: int) -> pa.Table:
    return pa.table({"t": list(range(first, stop)), "who": ["ann"] * (stop - first)})


class Served:
    """A run with a service, and a client of it."""

    def __init__(self, spark: SparkSession, folder: Path, access: Access) -> None:
        self.spark, self.folder, self.access = spark, folder, access
        self.start()

    def start(self) -> None:
        self.run = bx.run(
            network(),
            {"rows": "enqueue://"},
            {"all": "dequeue://", "counts": "dequeue://"},
            checkpoint=self.folder / "c",
            spark=self.spark,
        )
        self.server = Server(self.run, self.access).__enter__()
        self.access = self.server.access
        self.client = Client(self.access.url, self.access.token)

    def wait_for(self, tuples: int) -> None:
        until = time.monotonic() + PATIENCE
        while self.client.status()["read"] != {"rows": tuples}:
            assert time.monotonic() < until, "this takes too long"

    def stop(self) -> None:
        self.run.stop()
        self.server.close()

    def call(self, path: str, data: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.access.url + path, data, named)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


@pytest.fixture
def served(spark: SparkSession, tmp_path: Path) -> Iterator[Served]:
    found = Served(spark, tmp_path, Access(port=0))
    yield found
    found.stop()


def take(client: Client, output: str, number: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for _, table in client.dequeue(output):
        found += table.to_pylist()
        if len(found) >= number:
            return found
    return found


def test_enqueue_and_dequeue(served: Served) -> None:
    served.client.enqueue("rows", rows(0, 30), batch=7)
    served.client.enqueue("rows", [{"t": 30, "who": "bob"}])
    assert [row["t"] for row in take(served.client, "all", 30)] == list(range(30))
    assert take(served.client, "counts", 3)[0] == {"who": "ann", "t": 0, "n": 10}
    served.wait_for(31)
    stats = served.client.stats()
    assert (stats.boxes["rows"].tuples_in, stats.boxes["rows"].queue) == (30, 1)
    own = served.run.stats()
    assert bx.RunStats.from_plain(json.loads(json.dumps(own.to_plain()))) == own


def test_the_calls_of_aurora_to_a_running_network(served: Served) -> None:
    """start, enqueue, dequeue, getPerfStats and shutdown; tests/test_golden.py has the others."""
    methods = set(GOLDEN["fmt-01-aurora-api"]["expected"]["methods"])
    assert methods >= {"start", "enqueue", "dequeue", "getPerfStats", "shutdown"}
    assert served.client.status()["state"] in ("running", "waiting")
    served.client.enqueue("rows", rows(0, 11))
    assert [row["t"] for row in take(served.client, "all", 10)] == list(range(10))
    stats = served.client.stats()
    assert (stats.outputs["all"].tuples, stats.outputs["counts"].tuples) == (10, 1)
    assert served.client.stop()["state"] == "stopped"


def test_the_statistics_of_the_monitor(served: Served) -> None:
    """Each figure that StreamCloud's monitor shows for an operator, over its instances."""
    served.client.peek("count", 0)
    served.client.enqueue("rows", rows(0, 1000))
    assert len(served.client.peek("count", 20)) == 20
    box = served.client.stats().boxes["count"]
    shown = {
        "Input Stream Rate (t/s)": box.in_rate,
        "Output Stream Rate (t/s)": box.out_rate,
        "Cost (fraction of instance processing time)": box.share,
        "Queue Length (tuples)": box.queue,
        "CPU": box.cpu,
        "Size (instances)": len(box.pieces),
    }
    assert list(shown) == GOLDEN["fmt-08-monitor-stats"]["expected"]["stats"]
    assert 0 < box.out_rate < box.in_rate
    assert box.share == 1  # nothing else is in its subquery
    assert 0 < box.cpu <= len(box.pieces) == 2
    assert box.cpu == pytest.approx(sum(piece.cpu for piece in box.pieces))
    assert box.queue == 0


def test_exactly_once_across_a_restart_of_the_service(served: Served) -> None:
    found: list[int] = []

    def read() -> None:
        for _, table in served.client.dequeue("all"):
            found.extend(table["t"].to_pylist())
            if len(found) >= 199:
                return

    reader = threading.Thread(target=read)
    reader.start()
    with served.client.feed("rows", batch=5) as feed:
        for first in range(0, 200, 20):
            feed.send(rows(first, first + 20))
            if first == 100:
                served.stop()
                served.start()
    reader.join(60)
    assert found == list(range(199))


def test_a_sender_waits_for_a_stopping_run_to_resume(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    met, lost = threading.Event(), Client.lost

    def note(client: Client, error: Exception, until: float) -> None:
        met.set()
        lost(client, error, until)

    monkeypatch.setattr(Client, "lost", note)
    with served.client.feed("rows", batch=5) as feed:
        served.run.stop()  # its service is still up
        sending = threading.Thread(target=feed.send, args=(rows(0, 20),))
        sending.start()
        hearing = threading.Thread(target=feed.flush)
        sending.join(60)
        hearing.start()
        assert met.wait(60)
        served.server.close()
        served.start()
        hearing.join(60)
        assert not hearing.is_alive()
    assert [row["t"] for row in take(served.client, "all", 19)] == list(range(19))


def test_lines_and_tables_over_http(served: Served) -> None:
    lines = b'{"t": 1, "who": "ann"}\n{"t": 2, "who": "bob"}\n'
    for _ in range(2):  # the second one is a duplicate
        code, body = served.call("/api/inputs/rows?sender=me&number=1", lines)
        assert (code, json.loads(body)) == (200, {"kept": 1})
    code, _ = served.call("/api/inputs/rows", table_to_bytes(rows(3, 6)), content_type=ARROW)
    assert code == 200
    assert [row["t"] for row in take(served.client, "all", 4)] == [1, 2, 3, 4]
    code, body = served.call("/api/inputs/rows", b"no arrow", content_type=ARROW)
    assert (code, "not a valid Arrow stream" in body.decode()) == (400, True)
    code, body = served.call("/api/inputs/raws", b"x")
    assert (code, json.loads(body)["detail"]) == (404, "this run has no enqueue:// input 'raws'.")


def test_server_sent_events(served: Served) -> None:
    served.client.enqueue("rows", rows(0, 5))
    url = f"{served.access.url}/api/outputs/all"
    with urllib.request.urlopen(url, timeout=20) as stream:
        number, data = stream.readline().decode(), stream.readline().decode()
    assert number.startswith("id: ")
    assert [row["t"] for row in json.loads(data.removeprefix("data: "))] == [0, 1, 2, 3]


def test_invalid_batches_are_rejected(served: Served) -> None:
    url = served.access.url.replace("http", "ws") + "/api/inputs/rows/feed?sender=x"
    for garbage in (b"", b"B123", b"S\x00\x01", b"?"):
        with open_socket(url) as talk:
            talk.send(garbage)
            with pytest.raises(ConnectionClosedError, match="1008"):
                list(talk)
    with pytest.raises(Refused, match="no such input or output"):
        served.client.enqueue("raws", rows(0, 1))


def test_health_and_metrics(served: Served) -> None:
    served.client.enqueue("rows", rows(0, 100))
    served.wait_for(100)
    assert [served.call(path)[0] for path in ("/health", "/ready")] == [200, 200]
    families = {
        family.name: family
        for family in text_string_to_metric_families(served.call("/metrics")[1].decode())
    }
    (entered,) = [
        sample.value
        for sample in families["boxcars_box_tuples_in"].samples
        if sample.labels["box"] == "rows"
    ]
    assert entered == 99  # one is in the queue
    assert {s.labels["box"] for s in families["boxcars_bucket_in_rate"].samples} == {"count"}
    assert families["boxcars_output_latency_seconds"].samples
    dashboard = (Path(__file__).parents[2] / "deploy/grafana.json").read_text()
    known = {sample.name for family in families.values() for sample in family.samples}
    assert set(re.findall(r"boxcars_\w+", dashboard)) <= known | {"boxcars_box_late_total"}
    assert served.client.stop()["state"] == "stopped"
    assert [served.call(path)[0] for path in ("/health", "/ready")] == [200, 503]


def test_an_invalid_request(served: Served) -> None:
    """The response is a sentence, as for all other errors."""
    code, said = served.call("/api/inputs/rows?number=x", b"")
    assert code == 422
    assert json.loads(said)["detail"].startswith("'number': input should be a valid integer")


class TestAccess:
    def test_a_token(self, spark: SparkSession, tmp_path: Path) -> None:
        served = Served(spark, tmp_path, Access(port=0, token="sesame"))
        for path in ("/api/stats", "/metrics", "/api/outputs/all"):
            assert served.call(path)[0] == 401
        assert served.call("/api/stop", b"")[0] == 401
        assert served.call("/api/stats", authorization="Bearer sesame")[0] == 200
        assert served.call("/health")[0] == 200
        served.client.enqueue("rows", rows(0, 1))
        stranger = Client(served.access.url, "wrong")
        for act in (lambda: stranger.enqueue("rows", rows(0, 1)), stranger.stats):
            with pytest.raises(Refused, match="token is missing or wrong"):
                act()
        served.stop()

    def test_tls(self, spark: SparkSession, tmp_path: Path) -> None:
        cert, key = servers.certificate(tmp_path)
        served = Served(spark, tmp_path, Access(port=0, token="sesame", cert=cert, key=key))
        try:
            assert served.access.url.startswith("https://")
            trusting = Client(served.access.url, "sesame", ssl.create_default_context(cafile=cert))
            trusting.enqueue("rows", rows(0, 5))
            assert [row["t"] for row in take(trusting, "all", 4)] == [0, 1, 2, 3]
            with pytest.raises(BoxcarsError, match="certificate verify failed"):
                Client(served.access.url, "sesame").status()
            plain = Client(served.access.url.replace("https", "http"), "sesame")
            with pytest.raises(BoxcarsError, match="the run can't be reached"):
                plain.status()
        finally:
            served.stop()

    def test_an_invalid_certificate(self, tmp_path: Path) -> None:
        (tmp_path / "cert.pem").write_text("no certificate")
        with pytest.raises(Wrong, match=r"cert\.pem: the certificate can't be read"):
            Access(port=0, cert=tmp_path / "cert.pem")

    def test_no_remote_access_without_a_token(self) -> None:
        with pytest.raises(
            Wrong, match="would be open to other machines on 0.0.0.0: set BOXCARS_TOKEN"
        ):
            Access("0.0.0.0")
        assert "sesame" not in repr(Access(token="sesame"))

    def test_a_port_in_use(self, served: Served) -> None:
        with pytest.raises(Wrong, match="can't be opened"):
            Server(served.run, Access(port=served.access.port))

    def test_an_unreachable_run(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        with pytest.raises(BoxcarsError, match="the run can't be reached"):
            Client(f"http://127.0.0.1:{port}").status()


def test_readers_learn_that_the_run_has_ended(served: Served) -> None:
    served.client.enqueue("rows", rows(0, 5))
    served.run.feeds["rows"].finish()
    found = [t for _, table in served.client.dequeue("all") for t in table["t"].to_pylist()]
    assert found == list(range(5))
    with pytest.raises(Refused, match="accepts no more tuples"):
        served.client.enqueue("rows", rows(5, 6))
