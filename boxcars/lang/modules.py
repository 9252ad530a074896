"""Imports the modules that a network file names, so that they register their code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from boxcars.model.problem import Wrong
from boxcars.model.reader import Importer


def importer_for(folder: Path | None = None) -> Importer:
    """Return a function that imports modules, also from the folder of the network file.

    The folder is appended to ``sys.path``, so that no file in it hides another module.
    """

    def import_modules(names: Sequence[str]) -> None:
        if folder is not None and str(folder.resolve()) not in sys.path:
            sys.path.append(str(folder.resolve()))
        for name in names:
            try:
                import_module(name)
            except Exception as error:  # the module may raise anything
                what = f"{type(error).__name__}: {error}"
                raise Wrong(f"the module '{name}' can't be imported: {what}.") from None

    return import_modules
