"""A PostgreSQL server of our own, on a free port of this machine, for as long as the tests run."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pwd import getpwall, getpwnam

import psycopg
import pytest

from tests.patience import PATIENCE

PASSWORD = "open sesame"
FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
)


def find_programs() -> Path:
    """The folder with initdb and postgres; the links on the path lead there."""
    linked = shutil.which("initdb")
    found = [Path(linked).resolve().parent] if linked else []
    found += [folder for pattern in FOLDERS for folder in sorted(Path("/").glob(pattern[1:]))]
    for folder in found:
        if (folder / "postgres").exists():
            return folder
    pytest.fail("the tests need PostgreSQL: run bin/test, which installs it or says how.")


def user() -> str | None:
    """Who runs the server: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def server() -> Iterator[str]:
    """The address of a running server."""
    programs, who = find_programs(), user()
    folder = Path(tempfile.mkdtemp(prefix="boxcars-postgres-"))
    secret = folder / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    if who is not None:
        account = getpwnam(who)
        for path in (folder, secret):
            os.chown(path, account.pw_uid, account.pw_gid)
    data = str(folder / "data")
    log = (folder / "log").open("w+b")
    made = subprocess.run(
        [
            *(programs / "initdb", "-D", data, "-U", "boxcars", "-E", "UTF8", "--no-sync"),
            *("--locale=C", "--auth=scram-sha-256", f"--pwfile={secret}"),
        ],
        user=who,
        cwd=folder,
        stdout=log,
        stderr=log,
        check=False,
    )
    running = None
    try:
        port = free_port()
        running = made.returncode == 0 and subprocess.Popen(
            [
                *(programs / "postgres", "-D", data, "-p", str(port), "-c", "fsync=off"),
                *("-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"),
            ],
            user=who,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
        address = f"postgresql://boxcars:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/postgres"
        if not running or not wait_for(address, running):
            log.seek(0)
            pytest.fail(f"PostgreSQL does not start:\n{log.read().decode(errors='replace')}")
        yield address
    finally:
        if running:
            running.terminate()
            running.wait(30)
        log.close()
        shutil.rmtree(folder)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(address: str, running: subprocess.Popen[bytes]) -> bool:
    """Whether the server answers before it ends, or half a minute is over."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and running.poll() is None:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return True
    return False
