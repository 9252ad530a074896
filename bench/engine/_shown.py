"""Write the results of an experiment as JSON and SVG to bench-results/."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boxcars.draw.bars import Bar, Panel, plot

RESULTS = Path("bench-results")


def keep(
    name: str, rows: Sequence[Mapping[str, Any]], panels: Sequence[Panel], title: str, note: str
) -> None:
    """Write NAME.json and NAME.svg."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (RESULTS / f"{name}.svg").write_text(plot(panels, note, title), encoding="utf-8")
    print(f"  wrote {name}.json and {name}.svg in {RESULTS}")


def panel(title: str, values: Mapping[str, float]) -> Panel:
    """Bars by name; the first one is highlighted."""
    return Panel(title, [Bar(name, value) for name, value in values.items()])
