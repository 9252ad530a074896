"""Bundles in a worker: unpacked once for each machine, imported and registered once a process."""

from __future__ import annotations

import importlib
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from zipfile import ZipFile

from boxcars.connectors.formats import converter
from boxcars.expr.functions import function
from boxcars.kernels.aggregates.user import aggregate
from boxcars.kernels.user.imports import keep_named
from boxcars.model.box import register_box
from boxcars.model.own_code import Kind, OwnCode
from boxcars.model.private_folder import private_folder
from boxcars.model.problem import BoxcarsError
from boxcars.own_code.bundle import OBJECTS, Bundle

_REGISTER: Mapping[Kind, Callable[[OwnCode], object]] = {
    "function": lambda own: function(name=own.name, **own.options)(own.thing),
    "aggregate": lambda own: aggregate(name=own.name, **own.options)(own.thing),
    "format": lambda own: converter(own.name)(own.thing),
    "box": lambda own: register_box(own.thing),
    "object": lambda own: keep_named(own.name, own.thing),
}
_loaded: list[Bundle] = []
"""The bundle that this process has loaded last."""


def load_bundle(bundle: Bundle | None) -> None:
    """Make the code of a bundle known to this process, in place of the one before it."""
    if bundle is None or _loaded == [bundle]:
        return
    folder = _unpack(bundle)
    _enter(folder)
    try:
        for packed in pickle.loads((folder / OBJECTS).read_bytes()):
            own: OwnCode = pickle.loads(packed)
            _REGISTER[own.kind](own)
    except ModuleNotFoundError:
        raise  # with the sentence for what executors lack
    except BoxcarsError:
        raise
    except Exception as error:  # whatever the user's modules raise when they are imported
        what = f"{type(error).__name__}: {error}"
        raise BoxcarsError(f"your code can't be loaded by a worker of Spark: {what}") from error
    _loaded[:] = [bundle]


def _unpack(bundle: Bundle) -> Path:
    """The folder with the files of a bundle: the same for all workers of a user on a machine."""
    folder = private_folder("boxcars-code") / bundle.name
    if folder.exists():
        return folder
    try:
        data = Path(bundle.path).read_bytes()
    except OSError as error:
        raise BoxcarsError(f"{bundle.path}: can't be read: {error.strerror}.") from None
    if sha256(data).hexdigest() != bundle.name:
        raise BoxcarsError(f"{bundle.path}: the bundle of your code is damaged: run it again.")
    part = Path(tempfile.mkdtemp(dir=folder.parent))
    with ZipFile(BytesIO(data)) as packed:
        packed.extractall(part)
    with suppress(OSError):  # another worker was first
        part.rename(folder)
    rmtree(part, ignore_errors=True)
    return folder


def _enter(folder: Path) -> None:
    """Import from this folder: modules of the same names that came from elsewhere are forgotten."""
    others = folder.parent
    sys.path[:] = [path for path in sys.path if not Path(path).is_relative_to(others)]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    shipped = {path.name.removesuffix(".py") for path in folder.iterdir()}
    for name in list(sys.modules):
        if name.partition(".")[0] in shipped:
            del sys.modules[name]
