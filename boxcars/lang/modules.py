"""Modules that a network file names: they are imported so that what they register is known."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from boxcars.model.problem import Wrong
from boxcars.model.serialize import Importer


def importer_for(folder: Path | None = None) -> Importer:
    """Imports modules, also those that lie in the folder of the network file.

    The folder comes last where Python looks, so that no file in it hides a module of another.
    """

    def import_modules(names: Sequence[str]) -> None:
        if folder is not None and str(folder.resolve()) not in sys.path:
            sys.path.append(str(folder.resolve()))
        for name in names:
            try:
                import_module(name)
            except Exception as error:  # whatever the module raises
                what = f"{type(error).__name__}: {error}"
                raise Wrong(f"the module '{name}' can't be imported: {what}.") from None

    return import_modules
