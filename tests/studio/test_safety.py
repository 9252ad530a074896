"""Security: tokens, hosts, origins, sizes, and the content security policy."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from boxcars.cli import app as boxcars
from boxcars.model.problem import Wrong
from boxcars.service.guard import LARGEST
from boxcars.studio.api.serve import bind
from tests.studio.server import TOKEN, Served


@pytest.fixture
def open_to_others(tmp_path: Path) -> Iterator[Served]:
    """A studio on a host that others can reach."""
    found = Served(tmp_path, host="0.0.0.0")
    yield found
    found.close()


def raw(served: Served, method: str, path: str, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, b"{}" if method != "GET" else None, named)
    answer = connection.getresponse()
    code, text = answer.status, answer.read()
    connection.close()
    return code, json.loads(text) if text else None


def test_reading_needs_no_token_here_but_changes_do(served: Served) -> None:
    assert raw(served, "GET", "/api/about")[0] == 200
    for method, path in (("POST", "/api/check"), ("PUT", "/api/networks/a.yaml")):
        for authorization in ("", "Bearer wrong", "Bearer ", f"Basic {TOKEN}"):
            code, found = raw(served, method, path, authorization=authorization)
            assert code == 401
            assert found["detail"].startswith("the token is missing or wrong")
    assert raw(served, "POST", f"/api/check?token={TOKEN}")[0] == 401


def test_others_need_the_token_for_everything(open_to_others: Served) -> None:
    assert raw(open_to_others, "GET", "/api/about")[0] == 401
    assert raw(open_to_others, "GET", "/openapi.json")[0] == 401
    right = f"Bearer {TOKEN}"
    assert raw(open_to_others, "GET", "/api/about", authorization=right)[0] == 200
    assert raw(open_to_others, "GET", "/api/about", authorization=right, host="box.lan")[0] == 200
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        connect(f"ws://127.0.0.1:{open_to_others.port}/api/runs/x/watch").recv(5)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7080", "127.0.0.1.evil.example"])
def test_names_that_others_give_to_this_machine_are_refused(served: Served, host: str) -> None:
    code, found = raw(served, "GET", "/api/about", host=host)
    assert (code, "127.0.0.1" in found["detail"]) == (403, True)


def test_pages_of_others_are_refused(served: Served) -> None:
    right = f"Bearer {TOKEN}"
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
        code, _ = raw(served, "POST", "/api/check", authorization=right, origin=origin)
        assert code == 403
    own = f"http://127.0.0.1:{served.port}"
    assert raw(served, "POST", "/api/check", authorization=right, origin=own)[0] == 422
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        connect(
            f"ws://127.0.0.1:{served.port}/api/runs/x/watch",
            additional_headers={"Origin": "https://evil.example"},
        ).recv(5)


def test_requests_are_bounded(served: Served) -> None:
    code, found = raw(served, "GET", "/api/about", content_length=str(LARGEST + 1))
    assert (code, "at most 64 MB" in found["detail"]) == (413, True)
    assert too_long(served) in (413, None)


def too_long(served: Served) -> int | None:
    """The response to an endless request; None if the studio closes the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    chunks = (b" " * 2**20 for _ in range(LARGEST // 2**20 + 2))
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    try:
        connection.request("POST", "/api/check", chunks, headers)
        return connection.getresponse().status
    except ConnectionError:
        return None
    finally:
        connection.close()


def test_headers_that_protect_the_page(served: Served) -> None:
    code, _, headers = served.request("GET", "/")
    assert code == 200
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe-eval" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.usefixtures("page")
def test_answers_are_small_and_kept(served: Served) -> None:
    """Responses are compressed for clients that accept it; files with a hash are cached forever."""
    names = re.findall(r"/assets/[^\"]+\.(?:js|css)", served.request("GET", "/")[1].decode())
    assert len(names) >= 2
    for path in (*names, "/api/palette"):
        _, whole, _ = served.request("GET", path)
        _, packed, headers = served.request("GET", path, accept_encoding="gzip")
        assert headers["content-encoding"] == "gzip"
        assert (gzip.decompress(packed), len(packed) < len(whole) / 2) == (whole, True)
        assert ("immutable" in headers.get("cache-control", "")) == (path in names)
    assert served.request("GET", "/")[2]["cache-control"] == "no-cache"


def test_what_makes_no_sense_is_said(served: Served) -> None:
    code, found = served.call("POST", "/api/check", {"netwrok": {}})
    assert (code, found["detail"]) == (
        422,
        "'network': field required. 'netwrok': extra inputs are not permitted.",
    )
    code, found = served.call("POST", "/api/check", b"{")
    assert (code, found["detail"]) == (422, "the request is not valid JSON.")
    deep = b'{"network": ' + b'{"a": ' * 5000 + b"1" + b"}" * 5001
    code, found = served.call("POST", "/api/check", deep)
    assert 400 <= code < 500
    assert served.refused("GET", "/api/runs/none") == (404, "there is no run 'none'.")


def test_a_port_in_use(served: Served) -> None:
    with pytest.raises(Wrong, match=f"port {served.port} at 127.0.0.1 can't be opened"):
        bind("127.0.0.1", served.port)


def test_the_commands_are_there() -> None:
    names = [command.name for command in boxcars.registered_commands]
    assert {"studio", "test"} <= set(names)


MODULES = """
name: own
modules: [rules_of_studio]
inputs:
  rows: {ts: t, fields: {t: int}}
boxes:
  m: {type: map, in: rows, fields: {t: t, y: in_studio(t)}}
outputs:
  out: {from: m}
"""


def test_modules_are_imported_only_with_permission_and_are_never_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = "import boxcars as bx\n@bx.function\ndef in_studio(x):\n    return x * 2\n"
    (tmp_path / "rules_of_studio.py").write_text(code)
    (tmp_path / "own.yaml").write_text(MODULES)
    for allowed in (False, True):
        studio = Served(tmp_path, allow_code=allowed)
        try:
            found = studio.get("/api/networks/own.yaml")
            assert found["network"]["modules"] == ["rules_of_studio"]
            assert ("rules_of_studio" in sys.modules) is allowed
            assert studio.post("/api/check", {"network": found["network"]})["ok"] is allowed
            kept = {"network": found["network"], "over": found["version"]}
            assert studio.call("PUT", "/api/networks/own.yaml", kept)[0] == 200
        finally:
            studio.close()
        assert "rules_of_studio" in (tmp_path / "own.yaml").read_text()
    sys.modules.pop("rules_of_studio", None)
