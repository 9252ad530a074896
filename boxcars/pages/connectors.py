"""The index of the connectors in ``docs/connectors/``."""

from __future__ import annotations

from pathlib import Path

from boxcars.connectors.systems.connector import Connector, connectors
from boxcars.pages.words import NOTE

FOLDER = "docs/connectors"

_HEAD = f"""# Connectors

<!-- {NOTE} -->

A connector makes an external system a source or a sink, addressed by a URL: `bx.run(net,
{{"calls": "redis://host/calls"}}, {{"alarms": "postgresql://host/db?table=alarms"}})`, or `--source
calls=redis://host/calls` on the command line. In Python each connector is also a class that takes
the address and options: `Redis("redis://host/calls", from_="new")`. `pip install
'boxcars[connectors]'` installs the client libraries; `boxcars connectors` lists the connectors.
"""
_TAIL = """
*Exactly once* holds when the run is killed at any time and resumes from its checkpoint, and when
the server is killed and comes back with everything it has acknowledged. Data that a server
acknowledged and then lost stays lost.

## What they have in common
- **Secrets** come from the environment: `redis://ann:${REDIS_PASSWORD}@host/calls`. They never
  appear in errors or logs.
- **Messages** are JSON objects, one per tuple. `format=csv`, `xml`, `binary` or a [format of your
  own](../how-to/own-functions.md) selects another format, with options such as
  `format.delimiter=;`; `format=arrow` sends and receives whole tables.
- **Dead letters**: a message that cannot be parsed goes to the folder `dead` of the checkpoint,
  with the reason.
- **Back-pressure**: messages are written to the checkpoint before they are acknowledged. If the
  run falls behind, it requests no more, and messages wait in the external system.
- **Reconnection**: a lost source connection is retried until it succeeds, with a backoff from 0.1
  to 10 seconds. A sink is retried for 600 seconds; `patience=60` makes that a minute. Then the
  run fails, and can be resumed from its checkpoint.
- **Configuration errors** are reported when the run starts, in one sentence: connection refused,
  wrong password, no such topic, unknown option.

To connect another system, [add a connector](../how-to/add-a-connector.md) in your own package.
Anything that [Spark reads](../how-to/sources-and-sinks.md) is also a source; programs that talk
to a run directly can [feed and tap it](../how-to/feed-and-tap.md).
"""


def generated_connectors(root: Path) -> dict[Path, str]:
    """The index."""
    return {root / FOLDER / "README.md": index()}


def index() -> str:
    """The built-in connectors: their guarantees, and the servers they were tested against."""
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
