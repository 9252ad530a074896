"""Import the benchmarks of bench/engine, whose data, networks and queries are used here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "engine"))
import equi_join
import map_filter
import mobility
import streamcloud

__all__ = ["equi_join", "map_filter", "mobility", "streamcloud"]
