"""Private servers on free local ports, which a test can kill and restart."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.postgres import find_programs, free_port, user

PASSWORD = "open%sesame"
"""Contains a character that URLs must escape."""


class Server:
    """A program that listens on a port, with a data folder."""

    user: str | None = None
    """The user that runs it, if not the current one."""
    killer = signal.SIGKILL

    def __init__(self, command: Callable[[Path, int], list[str]]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="boxcars-server-"))
        self.port = free_port()
        self._command = command(self.folder, self.port)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self.folder, stdout=log, stderr=log, user=self.user
            )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        words = (self.folder / "log").read_text(errors="replace")
        pytest.fail(f"{self._command[0]} does not start:\n{words}")

    def kill(self) -> None:
        """Kill it."""
        if self.process is not None:
            self.process.send_signal(self.killer)
            self.process.wait(30)
            self.process = None

    def close(self) -> None:
        """End it, and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(Server):
    """PostgreSQL, which refuses to run as root."""

    user = user()
    killer = signal.SIGQUIT  # immediately, with all its processes

    def __init__(self) -> None:
        super().__init__(self._make)

    def _make(self, folder: Path, port: int) -> list[str]:
        programs, secret = find_programs(), folder / "password"
        secret.write_text(PASSWORD)
        if self.user is not None:
            for path in (folder, secret):
                shutil.chown(path, self.user)
        subprocess.run(
            [
                *(programs / "initdb", "-D", folder / "data", "-U", "ann", "-E", "UTF8"),
                *("--no-sync", "--auth=scram-sha-256", f"--pwfile={secret}"),
            ],
            user=self.user,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        options = ("listen_addresses=127.0.0.1", "fsync=off", f"unix_socket_directories={folder}")
        settings = [word for option in options for word in ("-c", option)]
        command = [programs / "postgres", "-D", folder / "data", "-p", port, *settings]
        return [str(word) for word in command]


@contextmanager
def serving(command: Callable[[Path, int], list[str]]) -> Iterator[Server]:
    """A started server."""
    with running(Server(command)) as server:
        yield server


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """A server while it runs."""
    try:
        server.start()
        yield server
    finally:
        server.close()


def freeze(process: subprocess.Popen[bytes] | None) -> None:
    """Freeze a program with SIGSTOP; SIGCONT resumes it."""
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def program(name: str) -> str:
    """The path of a program; Debian has some of them in sbin."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.fail(f"the tests need {name}: run bin/test, which installs it or says how.")
    return found


def redis(folder: Path, port: int) -> list[str]:
    """Redis that persists everything before it answers."""
    settings = {
        "port": str(port),
        "bind": "127.0.0.1",
        "dir": str(folder),
        "requirepass": PASSWORD,
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
    }
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    return [program("redis-server"), *words]


def redis_tls(folder: Path, port: int) -> list[str]:
    """Redis with TLS."""
    cert, key = certificate(folder)
    ports = ["--port", "0", "--bind", "127.0.0.1", "--tls-port", str(port)]
    files = ["--tls-cert-file", str(cert), "--tls-key-file", str(key)]
    others = ["--tls-ca-cert-file", str(cert), "--tls-auth-clients", "no", "--save", ""]
    return [program("redis-server"), *ports, *files, *others]


def nats(folder: Path, port: int) -> list[str]:
    """NATS with JetStream, and a user."""
    config = folder / "nats.conf"
    config.write_text(
        f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{folder}/store" }}\n'
        f'authorization {{ user: ann, password: "{PASSWORD}" }}\n'
    )
    return [program("nats-server"), "-c", str(config)]


def nats_tls(folder: Path, port: int) -> list[str]:
    """NATS with JetStream and TLS."""
    cert, key = certificate(folder)
    config = folder / "nats.conf"
    config.write_text(
        f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{folder}/store" }}\n'
        f'tls {{ cert_file: "{cert}", key_file: "{key}" }}\nauthorization {{ token: "geheim" }}\n'
    )
    return [program("nats-server"), "-c", str(config)]


def mosquitto_tls(folder: Path, port: int) -> list[str]:
    """Mosquitto with TLS."""
    cert, key = certificate(folder)
    folder.chmod(0o777)
    config = folder / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\ncertfile {cert}\nkeyfile {key}\n"
    )
    return [program("mosquitto"), "-c", str(config)]


def mosquitto(folder: Path, port: int) -> list[str]:
    """Mosquitto with immediate persistence, and a user."""
    secret = folder / "passwords"
    subprocess.run(
        [program("mosquitto_passwd"), "-b", "-c", str(secret), "ann", PASSWORD],
        check=True,
        capture_output=True,
    )
    secret.chmod(0o644)
    folder.chmod(0o777)  # as root it becomes another user
    config = folder / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {secret}\n"
        f"persistence true\npersistence_location {folder}/\n"
        "autosave_interval 1\nautosave_on_changes true\nmax_queued_messages 0\n"
    )
    config.chmod(0o644)
    return [program("mosquitto"), "-c", str(config)]


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for this machine, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", cert),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
        ],
        check=True,
        capture_output=True,
    )
    key.chmod(0o644)
    return cert, key
