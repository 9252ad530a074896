"""Processes of runs: they are started, listened to, measured and ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_LINES = 2000
"""Lines of the log that are kept at hand."""
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = Path("/proc")


Usage = tuple[float | None, int | None]
"""CPU in cores and memory in bytes, where that is known."""


class Process:
    """``boxcars run`` in a process of its own, with what it says in a file and at hand.

    It writes the address of its port to a file beside its log.
    """

    def __init__(
        self, arguments: Sequence[str], folder: Path, log: Path, environment: Mapping[str, str]
    ) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self._address_file = log.with_name("address")
        self._address_file.unlink(missing_ok=True)
        named = ["--address-file", str(self._address_file.resolve())]
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "boxcars.studio.runs.child", *arguments, *named],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._log = log
        self._usage: tuple[float, float] | None = None
        self._reader = threading.Thread(target=self._listen, name="boxcars-log", daemon=True)
        self._reader.start()

    @property
    def address(self) -> str | None:
        """Where its port is; None until it answers."""
        with suppress(FileNotFoundError):
            return self._address_file.read_text(encoding="utf-8").strip()
        return None

    def _listen(self) -> None:
        """Keep what the process says."""
        assert self._popen.stdout is not None
        with self._log.open("a", encoding="utf-8") as file, self._popen.stdout as said:
            for raw in said:
                line = _COLOUR.sub("", raw.decode("utf-8", "replace")).rstrip()
                self.lines.append(line)
                file.write(f"{line}\n")
                file.flush()

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._popen.poll()

    def wait(self, seconds: float) -> int | None:
        """Wait for its end, and for the last of what it says."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)
        if self.code is not None:
            self._reader.join(2.0)
        return self.code

    def stop(self) -> None:
        """Ask it to end behind the epoch that is under way."""
        with suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, and all that it has started, at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        for pid, _ in _members(self._popen.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self._popen.wait()

    def close(self) -> None:
        """Let go of it, once it has ended."""
        if self._popen.stdin is not None:
            with suppress(OSError):
                self._popen.stdin.close()
        self._reader.join(2.0)

    def usage(self) -> Usage:
        """CPU since the last look, in cores, and memory in bytes, of it and all it has started."""
        measured = measure(self._popen.pid)
        if measured is None:
            return None, None
        seconds, memory = measured
        before, self._usage = self._usage, (monotonic(), seconds)
        if before is None or self._usage[0] <= before[0]:
            return None, memory
        return max(seconds - before[1], 0.0) / (self._usage[0] - before[0]), memory


def measure(session: int) -> tuple[float, int] | None:
    """The seconds of CPU and the bytes of memory of a session, where the system tells."""
    if not (_PROC / "self" / "stat").exists():
        return None
    members = list(_members(session))
    seconds = sum(sum(map(int, fields[11:15])) for _, fields in members) / _TICKS
    return seconds, sum(int(fields[21]) for _, fields in members) * _PAGE


def _members(session: int) -> Iterator[tuple[int, list[str]]]:
    """The processes of a session, with what the system tells of each behind its name."""
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield int(folder.name), fields
