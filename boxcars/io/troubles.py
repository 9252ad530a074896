"""The log of an input or output: its lines name it, for whoever looks through logs by box."""

from __future__ import annotations

import logging

_log = logging.getLogger("boxcars.io")


def log_of(name: str) -> logging.LoggerAdapter[logging.Logger]:
    """Where an input or output tells of its troubles."""
    return logging.LoggerAdapter(_log, {"fields": {"box": name}})
