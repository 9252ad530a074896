"""Records for the stored tables of a run, as files for ``boxcars run``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boxcars.connectors.files import write_table, writing
from boxcars.engine.preview import to_arrow
from boxcars.model.network import Network
from boxcars.model.problem import Wrong
from boxcars.studio.edit.json_rows import from_rows
from boxcars.studio.wire.messages import Row


def table_files(
    tables: Mapping[str, str | list[Row]], net: Network, folder: Path, here: Path
) -> dict[str, str]:
    """Return the address of the records of each table: the given one, or a new file in the folder.

    ``here`` is the path of the folder relative to the run's working directory.
    """
    found = {}
    for name, given in tables.items():
        if isinstance(given, str):
            found[name] = given
            continue
        read = from_rows(given, net.tables[name])
        if read.dead.height:
            raise Wrong(f"table '{name}': a record can't be read: {read.dead['reason'][0]}.")
        with writing(folder):
            (folder / "tables").mkdir(exist_ok=True)
        write_table(to_arrow(read.tuples), folder / "tables" / f"{name}.parquet")
        found[name] = f"{here}/tables/{name}.parquet"
    return found
