"""The index of the applications in ``docs/apps/``, and the pictures of their networks."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from boxcars.apps import apps
from boxcars.draw import draw
from boxcars.pages.words import NOTE

FOLDER, PICTURES = "docs/apps", "docs/img/apps"

_HEAD = f"""# The applications of the papers

<!-- {NOTE} -->

Each application is a network of ordinary boxes, with a data generator that plants known cases and
near misses. `boxcars apps` lists them; `boxcars apps NAME` runs one on Spark, reports what it found
and compares it with what was planted. The code is in `boxcars/apps/`; `--out FOLDER` saves the
network, the data and the results.
"""


def generated_apps(root: Path) -> dict[Path, str]:
    """The index, and a picture for each application."""
    pictures = {
        root / PICTURES / f"{app.name}.svg": draw(app.build(), "svg") for app in apps().values()
    }
    return {root / FOLDER / "README.md": index(), **pictures}


def index() -> str:
    """All applications by family, with one sentence each."""
    lines = [_HEAD]
    for family, members in groupby(apps().values(), lambda app: app.family):
        lines.append(f"## {family[0].upper()}{family[1:]}")
        lines += [f"- [{app.name}]({app.name}.md): {app.sentence}" for app in members]
        lines.append("")
    return "\n".join(lines)
