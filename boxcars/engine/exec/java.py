"""Java for a run: Spark's gateway process, started with its chatter kept apart from its errors."""

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
"""The oldest Java that Spark 4 runs on."""

_CHATTER = re.compile(r"(WARNING|NOTE): (Using incubator modules|Picked up)|Picked up _?JAVA")
"""Lines that Java prints at every start, about options that Spark's launcher or the system set."""
_launch: Callable[..., Any] = launch_gateway
_KEPT = 20
"""Lines of output that are kept, to say why Java did not start."""


class JavaOutput:
    """What the Java process prints: chatter is dropped, the rest goes on to ``stderr``.

    Until Java is up everything is kept back instead: if it does not start, one sentence says why.
    """

    def __init__(self) -> None:
        self._last: deque[str] = deque(maxlen=_KEPT)
        self._up = threading.Event()

    def read(self, stream: Iterable[str]) -> None:
        """Take lines until the process closes its output."""
        for line in stream:
            if _CHATTER.match(line):
                continue
            self._last.append(line.rstrip())
            if self._up.is_set():
                self._pass_on()

    def started(self) -> None:
        """Java is up: pass on what it has said and will say."""
        self._up.set()
        self._pass_on()

    def why(self) -> str:
        """The first line that says what went wrong."""
        return next((_without_place(line) for line in self._last if line.strip()), "")

    def _pass_on(self) -> None:
        while self._last:
            print(self._last.popleft(), file=sys.stderr, flush=True)


def _without_place(line: str) -> str:
    """A complaint of a shell script without the script's own name and line.

    >>> _without_place("/spark/bin/spark-class: line 71: /no/java: No such file or directory")
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
    logging.getLogger().addFilter(_not_py4j)
    output.started()


def _not_py4j(record: logging.LogRecord) -> bool:
    """Leave out stack traces of py4j about a lost Java: the call that needed it fails and says so.

    py4j logs them by the root logger, so this filter on it meets nothing that others log.
    """
    return "py4j" not in Path(record.pathname).parts


def _pipe() -> tuple[IO[str], IO[bytes]]:
    """A pipe: the end that we read as text, and the end that the process writes to."""
    reading, writing = os.pipe()
    return os.fdopen(reading, encoding="utf-8", errors="replace"), os.fdopen(writing, "wb")
