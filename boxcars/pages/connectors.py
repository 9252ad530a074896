"""The index of the connectors in ``docs/connectors/``."""

from __future__ import annotations

from pathlib import Path

from boxcars.connectors.systems.connector import Connector, connectors
from boxcars.pages.words import NOTE

FOLDER = "docs/connectors"

_HEAD = f"""# Connectors

<!-- {NOTE} -->

A system outside is a source or a sink by its address: `bx.run(net, {{"calls":
"redis://host/calls"}}, {{"alarms": "postgresql://host/db?table=alarms"}})`, or `--source
calls=redis://host/calls` on the command line. In Python each is a class, too, which takes the
address and options: `Redis("redis://host/calls", from_="new")`. `pip install
'boxcars[connectors]'` brings the libraries that they need; `boxcars connectors` lists them.
"""
_TAIL = """
*Exactly once* is meant for a run that is killed at any time and goes on from its checkpoint, and
for a server that is killed and comes back with all that it has acknowledged. A server that
forgets what it has acknowledged loses it.

## What they have in common
- **Secrets** come from the environment: `redis://ann:${REDIS_PASSWORD}@host/calls`. They are
  never shown, neither in errors nor in logs.
- **Messages** are JSON objects, one for each tuple. `format=csv`, `xml`, `binary` or a [format of
  your own](../how-to/own-functions.md) makes them something else, with options such as
  `format.delimiter=;`; `format=arrow` sends and takes whole tables.
- **Dead letters**: a message that is no tuple goes to the folder `dead` of the checkpoint, with
  the reason.
- **Back-pressure**: what comes is written to the checkpoint before it is acknowledged. If the run
  falls behind, no more is asked for, and it waits where it is.
- **Reconnection**: a connection that is lost is opened again, with pauses from 0.1 to 10 seconds,
  however long it takes. A sink lets the run wait for 600 seconds; `patience=60` makes that a
  minute. Then the run fails, and can go on from its checkpoint.
- **Mistakes** are told when a run begins, in a sentence: nobody answers, a wrong password, no
  such topic, an option that nobody knows.

Another system? [Add a connector](../how-to/add-a-connector.md), in your own package. Whatever
[Spark reads](../how-to/sources-and-sinks.md) is a source, too; programs that want to talk to a
run themselves [feed and tap it](../how-to/feed-and-tap.md).
"""


def generated_connectors(root: Path) -> dict[Path, str]:
    """The index."""
    return {root / FOLDER / "README.md": index()}


def index() -> str:
    """Our connectors, with what they guarantee and what that was tested against."""
    lines = [
        _HEAD,
        "| | addresses | class in `boxcars.connectors.systems` | source | sink | tested against |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for cls, schemes in connectors().items():
        if cls.__module__.startswith("boxcars.connectors.systems."):
            addresses = ", ".join(f"`{scheme}://`" for scheme in schemes)
            cells = (cls.guarantee_in, cls.guarantee_out, cls.tested)
            texts = " | ".join(cell.replace("``", "`") for cell in cells)
            lines.append(f"| {_title(cls)} | {addresses} | {_class(cls)} | {texts} |")
    return "\n".join(lines) + "\n" + _TAIL


def _title(cls: type[Connector]) -> str:
    return f"[{cls.title}]({cls.__module__.rpartition('.')[2]}.md)"


def _class(cls: type[Connector]) -> str:
    return f"`{cls.__module__.rpartition('.')[2]}.{cls.__name__}`"
