"""Positions of boxes on the canvas, in a file next to the network file.

``calls.yaml`` has its positions in ``calls.layout.json``, so that moving a box does not change the
network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from boxcars.connectors.files import replacing, writing
from boxcars.model.problem import BoxcarsError

Layout = Mapping[str, tuple[float, float]]
"""The position (x, y) of each input, box and output (outputs as ``-> name``)."""


def layout_path(network: str | Path) -> Path:
    """The file with the positions of a network.

    >>> layout_path("nets/calls.yaml").name
    'calls.layout.json'
    """
    return Path(network).with_suffix(".layout.json")


def load_layout(network: str | Path) -> Layout:
    """Load the positions of a network; empty if they were never saved."""
    path = layout_path(network)
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): (float(x), float(y)) for name, (x, y) in data.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        raise BoxcarsError(
            f'{path}: expected positions such as {{"fast": [120, 40]}}; fix or remove the file.'
        ) from None


def save_layout(network: str | Path, layout: Layout) -> None:
    """Save the positions next to the network, one line for each box, sorted by name."""
    lines = [f"  {json.dumps(name)}: {json.dumps(list(xy))}" for name, xy in sorted(layout.items())]
    path = layout_path(network)
    with writing(path), replacing(path) as part:
        part.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
