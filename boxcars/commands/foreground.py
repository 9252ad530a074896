"""A run in the foreground of a shell: its progress line, Ctrl-C, and the final report."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from boxcars.commands.losses import loss_lines
from boxcars.engine.exec.compile_progress import compiling_message

if TYPE_CHECKING:
    from boxcars.engine.run import Run
    from boxcars.engine.stats.run_stats import RunStats
    from boxcars.engine.status import Status

_TICK = 0.2
"""Seconds between updates of the progress line."""
_CLEAR = "\r\033[K"


def shows_progress(sinks: Mapping[str, str]) -> bool:
    """Whether to show a progress line: on a terminal to which no results are written."""
    return sys.stderr.isatty() and not (sys.stdout.isatty() and "-" in sinks.values())


def announce(sinks: Mapping[str, str]) -> None:
    """Say that Spark is starting, which takes seconds."""
    if shows_progress(sinks):
        print("starting Spark ...", end="", file=sys.stderr, flush=True)


def progress_line(status: Status, stats: RunStats) -> str:
    """The progress of a run in one line: totals of the checkpoint, rates of this process."""
    if status.compiling is not None:
        return compiling_message(*status.compiling)
    read, out = sum(status.read.values()), sum(output.tuples for output in stats.outputs.values())
    return (
        f"epoch {status.epoch}: {read:,} tuples in ({stats.in_rate:,.0f}/s), "
        f"{out:,} out ({stats.out_rate:,.0f}/s){_latency(stats)}, {status.seconds:.1f} s"
    )


def _latency(stats: RunStats) -> str:
    return "" if stats.p95 is None else f", latency p95 {stats.p95:.2f} s"


def wait_for(running: Run, sinks: Mapping[str, str], say: Callable[[str], None]) -> Status | None:
    """Wait for a run. Ctrl-C finishes the epoch and stops; a second one aborts and returns None.

    SIGTERM acts like Ctrl-C. Spark's own handler would abort the epoch.
    """
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in signals]
    try:
        try:
            return _watch(running) if shows_progress(sinks) else running.wait()
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                print(file=sys.stderr)  # the terminal has echoed ^C
            say("stopping after this epoch; press Ctrl-C again to abort")
            return running.stop()
    except KeyboardInterrupt:
        return None
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _watch(running: Run) -> Status:
    """Wait for a run, updating its progress line."""
    try:
        while (status := running.wait(_TICK)).state in ("running", "waiting"):
            line = progress_line(status, running.stats())
            print(f"{_CLEAR}{line}", end="", file=sys.stderr, flush=True)
        return status
    finally:
        print(_CLEAR, end="", file=sys.stderr, flush=True)


def report(
    running: Run,
    status: Status,
    sinks: Mapping[str, str],
    again: bool,
    say: Callable[[str], None],
) -> None:
    """Report the results: on a terminal all outputs, in a pipe those without a sink.

    Losses are always reported. All counts are totals of the checkpoint.
    """
    on_terminal, with_rows, stats = sys.stderr.isatty(), "-" in sinks.values(), running.stats()
    for name in stats.outputs:
        if on_terminal or name not in sinks:
            tell = say if name in sinks or with_rows else print
            tell(f"{name}: {status.out.get(name, 0):,} tuples")
    if on_terminal or status.state != "finished":
        hint = "; run it again to resume" if again and status.state != "finished" else ""
        line = progress_line(status, stats) if on_terminal else f"epoch {status.epoch}"
        say(f"{status.state} after {line}{hint}")
    for sentence in loss_lines(status):
        say(sentence)
