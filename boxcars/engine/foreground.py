"""A run in the foreground of a shell: its progress, Ctrl-C, and what is said in the end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boxcars.engine.run import Run, Status

INTERRUPTED = 130
"""The exit code of what Ctrl-C has ended, as shells have it."""


def show_progress(status: Status) -> None:
    """One line on the terminal that is written over and over."""
    read, out = sum(status.read.values()), sum(status.out.values())
    line = f"epoch {status.epoch}: {read:,} tuples in, {out:,} out, {status.seconds:.1f} s"
    print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def wait_for(running: Run) -> Status | None:
    """Wait for a run. Ctrl-C stops it behind its epoch, a second one at once: then None.

    Spark's own handler of Ctrl-C would break the epoch off.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            return running.wait()
        except KeyboardInterrupt:
            print("\nstopping behind this epoch; Ctrl-C again: at once", file=sys.stderr)
            return running.stop()
    except KeyboardInterrupt:
        return None
    finally:
        signal.signal(signal.SIGINT, before)


def report(status: Status, outputs: Iterable[str], sinks: Mapping[str, str], again: bool) -> None:
    """Say what came out: on a terminal all, in a pipe what is not written anywhere."""
    on_terminal, with_rows = sys.stderr.isatty(), "-" in sinks.values()
    if on_terminal:
        print(file=sys.stderr)
    for name in outputs:
        if on_terminal or name not in sinks:
            where = sys.stderr if name in sinks or with_rows else sys.stdout
            print(f"{name}: {status.out.get(name, 0):,} tuples", file=where)
    if on_terminal or status.state != "finished":
        hint = "; run it again to go on" if again and status.state != "finished" else ""
        print(f"{status.state} after epoch {status.epoch}{hint}", file=sys.stderr)
