"""The process of a run: ``boxcars run``, which ends when its studio ends.

The studio keeps the standard input of the process open. When it closes, even because the studio
was killed, the run stops after its epoch, and is killed if that takes too long.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

_PATIENCE = 15.0
"""Seconds for the last epoch before the process is killed."""


def main() -> None:
    """Run the ``boxcars`` command line with the arguments of this process."""
    threading.Thread(target=_follow, name="boxcars-parent", daemon=True).start()
    sys.argv[0] = "boxcars"
    runpy.run_module("boxcars.cli", run_name="__main__", alter_sys=True)


def _follow() -> None:
    """Wait until the studio ends, then end this process."""
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
