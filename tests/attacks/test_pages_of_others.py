"""Another page in a browser can neither feed, read nor stop a run, under any host name."""

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.attacks.victim import Victim

EVIL = ("https://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost:3000")
REQUESTS = [
    ("POST", "/api/stop"),
    ("POST", "/api/inputs/rows"),
    ("GET", "/api/outputs/all"),
    ("GET", "/api/arcs/count"),
    ("GET", "/api/stats"),
    ("GET", "/api/events"),
    ("GET", "/metrics"),
    ("GET", "/health"),
    ("GET", "/openapi.json"),
    ("DELETE", "/api/inputs/rows/senders/me"),
]
SOCKETS = ["/api/inputs/rows/feed?sender=evil", "/api/outputs/all/tap"]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_cross_site_requests(victim: Victim, method: str, path: str) -> None:
    body = b"" if method == "POST" else None
    for origin in EVIL:
        code, found = victim.ask(method, path, body, origin=origin, content_type="text/plain")
        assert (code, found["detail"]) == (
            403,
            "this run rejects requests from other web pages.",
        )
    for site in ("cross-site", "same-site"):  # a browser says no origin where it loads a picture
        code, _ = victim.ask(method, path, body, sec_fetch_site=site, sec_fetch_mode="no-cors")
        assert code == 403


@pytest.mark.parametrize(("method", "path"), REQUESTS)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7070", "127.0.0.1.evil.example", ""]
)
def test_dns_rebinding(victim: Victim, method: str, path: str, host: str) -> None:
    code, found = victim.ask(method, path, b"" if method == "POST" else None, host=host)
    assert (code, "127.0.0.1 and localhost" in found["detail"]) == (403, True)


@pytest.mark.parametrize("path", SOCKETS)
def test_cross_site_websockets(victim: Victim, path: str) -> None:
    url = victim.access.url.replace("http", "ws") + path
    headers = [{"Origin": origin} for origin in EVIL]
    for header in [*headers, {"Sec-Fetch-Site": "cross-site"}]:
        with pytest.raises(InvalidStatus, match="403"), connect(url, additional_headers=header):
            pass
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://evil.example{path}", sock=victim.talk())


def test_links_and_the_browser_of_the_user_are_allowed(victim: Victim) -> None:
    visit = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert victim.ask("GET", "/health", **visit)[0] == 200
    assert victim.ask("GET", "/api/stats", **visit)[0] == 403
    assert victim.ask("GET", "/api/stats", sec_fetch_site="none")[0] == 200
    own = {"origin": victim.access.url, "sec_fetch_site": "same-origin"}
    assert victim.ask("GET", "/api/stats", **own)[0] == 200


def test_programs_need_no_origin(victim: Victim) -> None:
    """The client, Prometheus and curl send none, under either name of this machine."""
    for host in ("127.0.0.1", f"localhost:{victim.access.port}", "[::1]:7070"):
        assert victim.ask("GET", "/metrics", host=host)[0] == 200
    assert victim.client.status()["state"] in ("running", "waiting")
