"""Write in-memory data to a file of the checkpoint, so that tasks can read it after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from boxcars.connectors.conform import as_frame
from boxcars.connectors.files import write_table, writing


def store_data(data: Any, path: Path) -> Path:
    """Write data to a file, unless a previous run has done so."""
    if not path.exists():
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_table(as_frame(data).to_arrow(compat_level=pl.CompatLevel.oldest()), path)
    return path
