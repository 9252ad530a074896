"""The studio's terminal output: sentences only, whatever browsers and Ctrl-C do."""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from boxcars.studio.api.server_log import install_filter
from tests.studio.page.browser import chromium
from tests.studio.server import TOKEN

UNFINISHED = (
    "POST /api/check HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
)


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_with_browsers_and_requests_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Pressed once or twice: the studio prints that it is closed, and nothing else."""
    monkeypatch.setenv("BOXCARS_TOKEN", TOKEN)
    command = [sys.executable, "-m", "boxcars.cli", "studio", "--no-open", str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1].partition("/#")[0]
            host = urlsplit(url).netloc
            with chromium(url) as person:
                person.open_template("high-mobility")
                with pytest.raises(ConnectionClosedError, match="there is no run 'none'"):
                    watch_nothing(host)
                name, _, port = host.partition(":")
                with socket.create_connection((name, int(port))) as unfinished:
                    unfinished.sendall(UNFINISHED.format(host=host, token=TOKEN).encode())
                    person.page.reload()  # by then the request has come
                    for _ in range(times):
                        process.send_signal(signal.SIGINT)
                        if times > 1:
                            person.page.wait_for_timeout(700)
                    _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said == "the studio is closed.\n"


def watch_nothing(host: str) -> None:
    with connect(f"ws://{host}/api/runs/none/watch?token={TOKEN}") as watching:
        watching.recv(10)


def test_an_unexpected_error(caplog: pytest.LogCaptureFixture) -> None:
    """It is reported in one line, with its location."""
    install_filter()
    logger = logging.getLogger("uvicorn.error")
    logger.propagate = True
    with caplog.at_level(logging.ERROR, "uvicorn.error"):
        try:
            raise ValueError("a\nlong story")
        except ValueError:
            logger.exception("Exception in ASGI application")
        logger.error("Traceback (most recent call last)\n  ...\nTypeError: no such thing\n")
        logger.error("Traceback (most recent call last)\n  ...\nasyncio.CancelledError\n")
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("a request failed in test_server_log.py line ")
    assert "with ValueError: a long story. This is a bug in Boxcars" in first
    assert second == "TypeError: no such thing"
    assert "Traceback" not in caplog.text
