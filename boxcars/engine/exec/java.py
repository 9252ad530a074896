"""Starts Spark's Java gateway process, and separates its routine output from its errors."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

NEEDED = 17
"""The oldest Java version that Spark 4 supports."""

_CHATTER = re.compile(r"(WARNING|NOTE): (Using incubator modules|Picked up)|Picked up _?JAVA")
"""Lines that Java prints at every start, about options that Spark's launcher or the system set."""
_launch: Callable[..., Any] = launch_gateway
_KEPT = 20
"""Last lines of output that are retained to explain why Java did not start."""


class JavaOutput:
    """Output of the Java process: routine lines are dropped, the rest goes to ``stderr``.

    Until Java is up the output is buffered: if it does not start, one sentence says why.
    """

    def __init__(self) -> None:
        self._last: deque[str] = deque(maxlen=_KEPT)
        self._up = threading.Event()

    def read(self, stream: Iterable[str]) -> None:
        """Read lines until the process closes its output."""
        for line in stream:
            if _CHATTER.match(line):
                continue
            self._last.append(line.rstrip())
            if self._up.is_set():
                self._pass_on()

    def started(self) -> None:
        """Java is up: forward the buffered lines, and all that follow."""
        self._up.set()
        self._pass_on()

    def why(self) -> str:
        """The first line that says what went wrong."""
        return next((_without_script_name(line) for line in self._last if line.strip()), "")

    def _pass_on(self) -> None:
        while self._last:
            print(self._last.popleft(), file=sys.stderr, flush=True)


def _without_script_name(line: str) -> str:
    """Strip the name and line number of the script from a shell error.

    >>> _without_script_name("/spark/bin/spark-class: line 71: /no/java: No such file or directory")
    '/no/java: No such file or directory'
    """
    return re.sub(r"^\S+: line \d+: ", "", line.strip())


def start_java(conf: SparkConf) -> None:
    """Start the Java process of this Python process, unless it has one.

    Raises OSError with a sentence if it can't be started.
    """
    if SparkContext._gateway is not None:
        return
    output = JavaOutput()
    reading, process_end = _pipe()
    thread = threading.Thread(target=output.read, args=(reading,), name="java-output", daemon=True)
    thread.start()
    try:
        with process_end:
            gateway = _launch(conf, popen_kwargs={"stderr": process_end})
    except Exception as error:
        thread.join()
        raise OSError(output.why() or str(error).partition("\n")[0]) from None
    SparkContext._ensure_initialized(gateway=gateway)
    logging.getLogger().addFilter(_is_not_py4j)
    output.started()


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Filter out py4j's stack traces about a lost Java process: the failing call reports it.

    py4j logs to the root logger, so this filter sees only records that are logged there directly.
    """
    return "py4j" not in Path(record.pathname).parts


def _pipe() -> tuple[IO[str], IO[bytes]]:
    """Open a pipe; return the read end as text, and the write end for the process."""
    reading, writing = os.pipe()
    return os.fdopen(reading, encoding="utf-8", errors="replace"), os.fdopen(writing, "wb")
