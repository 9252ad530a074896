"""The process of a run: ``boxcars run``, which ends when the studio that started it ends.

The studio keeps the input of the process open. When that closes, however the studio came to its
end, the run stops behind its epoch, and if that takes too long, at once.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

_PATIENCE = 15.0
"""Seconds for the last epoch."""


def main() -> None:
    """Do what ``boxcars`` would do with these arguments."""
    threading.Thread(target=_follow, name="boxcars-parent", daemon=True).start()
    sys.argv[0] = "boxcars"
    runpy.run_module("boxcars.cli", run_name="__main__", alter_sys=True)


def _follow() -> None:
    """Wait for the end of the studio, and end, too."""
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
