"""Untrusted text is escaped: no terminal control, no forged log lines, no injected headers."""

import json
import logging
import socket
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from boxcars.cli import app
from boxcars.commands.show_preview import deliver
from boxcars.connectors.systems import webhook
from boxcars.connectors.systems.connector import connect
from boxcars.connectors.write.terminal import print_rows
from boxcars.model.problem import BoxcarsError, Problem, Wrong
from boxcars.model.schema import Schema
from boxcars.service.logs import LogKind, RunLog
from tests.attacks.payloads import plain_network

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\x08\r"


def is_plain(text: str) -> bool:
    return not set(text) & set("\x1b\x07\x9b\u202e\x08\r")


def test_errors() -> None:
    for said in (Problem(STEERING, ("boxes", STEERING)), Wrong(STEERING), BoxcarsError(STEERING)):
        assert is_plain(str(said)), repr(str(said))
        assert "\\x1b" in str(said)


@pytest.mark.parametrize("command", [("check",), ("describe", "twice"), ("draw",), ("diff", "b")])
def test_commands(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text(json.dumps(plain_network(f"price + '{STEERING}'")))
    Path("b.json").write_text(json.dumps(plain_network("price")))
    rest = [f"{name}.json" if name == "b" else name for name in command[1:]]
    done = CliRunner().invoke(app, [command[0], "a.json", *rest])
    said = done.output + str(done.exception or "")
    assert "x1b" in said or command == ("draw",)
    assert is_plain(said.replace("\n", ""))


def test_rows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"who": [STEERING], "bytes": [STEERING.encode()]})
    deliver("out", table, "-")
    monkeypatch.setenv("TERM", "dumb")  # otherwise the table has colors
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    print_rows("out", table)
    assert is_plain(capsys.readouterr().out.replace("\n", ""))


def test_logs(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in LogKind:
        RunLog(kind, "net")
        logging.getLogger("boxcars.connectors").warning("lost: %s\nforged: all is well", STEERING)
        (line,) = capsys.readouterr().err.splitlines()
        assert is_plain(line)


class TestWebhooks:
    SCHEMA = Schema.of({"t": "int"}, ts="t")

    @pytest.mark.parametrize(
        "option",
        [
            "header.x=a%0d%0aevil:%20b",
            "header.a%0ab=c",
            "header.x=%00",
            "token=a%0d%0ab",
            "header.=x",
        ],
    )
    def test_headers(self, option: str) -> None:
        with pytest.raises(Wrong, match="can't be sent"):
            connect(f"http://127.0.0.1:9/x?{option}").delivery(self.SCHEMA, "home")

    def test_an_endless_response(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(webhook, "_ANSWER", 1000)
        with socket.create_server(("127.0.0.1", 0)) as server:

            def answer() -> None:
                talk, _ = server.accept()
                with talk:
                    talk.recv(65_536)
                    talk.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                    try:
                        while True:
                            talk.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
                    except OSError:
                        return

            thread = threading.Thread(target=answer)
            thread.start()
            port = server.getsockname()[1]
            delivery = connect(f"http://127.0.0.1:{port}/x").delivery(self.SCHEMA, "home")
            delivery.open()
            delivery.deliver(pa.table({"t": [1]}), 1)
            delivery.close()
            thread.join()
