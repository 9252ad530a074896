"""Processes of runs: start, log, measure and end them."""

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
"""The number of log lines kept in memory."""
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = Path("/proc")


Usage = tuple[float | None, int | None]
"""CPU in cores and memory in bytes, if known."""


class Process:
    """A ``boxcars run`` process, whose output is logged to a file and kept in memory.

    It writes the address of its port to a file next to its log.
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
        """The address of its port; None until it accepts connections."""
        with suppress(FileNotFoundError):
            return self._address_file.read_text(encoding="utf-8").strip()
        return None

    def _listen(self) -> None:
        """Log the output of the process."""
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
        """Wait for the process to end, and for its last output."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)
        if self.code is not None:
            self._reader.join(2.0)
        return self.code

    def stop(self) -> None:
        """Ask the process to end after the current epoch."""
        with suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and all its children."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        for pid, _ in _members(self._popen.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self._popen.wait()

    def close(self) -> None:
        """Release the pipes of a process that has ended."""
        if self._popen.stdin is not None:
            with suppress(OSError):
                self._popen.stdin.close()
        self._reader.join(2.0)

    def usage(self) -> Usage:
        """Return CPU in cores since the last call, and memory in bytes, including children."""
        measured = measure(self._popen.pid)
        if measured is None:
            return None, None
        seconds, memory = measured
        before, self._usage = self._usage, (monotonic(), seconds)
        if before is None or self._usage[0] <= before[0]:
            return None, memory
        return max(seconds - before[1], 0.0) / (self._usage[0] - before[0]), memory


def measure(session: int) -> tuple[float, int] | None:
    """Return CPU seconds and memory bytes of a session; None without ``/proc``."""
    if not (_PROC / "self" / "stat").exists():
        return None
    members = list(_members(session))
    seconds = sum(sum(map(int, fields[11:15])) for _, fields in members) / _TICKS
    return seconds, sum(int(fields[21]) for _, fields in members) * _PAGE


def _members(session: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the processes of a session, with the fields of ``/proc/PID/stat`` after the name."""
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield int(folder.name), fields
