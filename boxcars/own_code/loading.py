"""Loads bundles in a worker: unpacked once on each machine, registered once in each process."""

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
from boxcars.kernels.user.imports import register_named
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
    "object": lambda own: register_named(own.name, own.thing),
}
_loaded: list[Bundle] = []
"""The bundle that this process loaded last."""


def load_bundle(bundle: Bundle | None) -> None:
    """Register the code of a bundle in this process; it replaces the previous bundle."""
    if bundle is None or _loaded == [bundle]:
        return
    folder = _unpack(bundle)
    _enter(folder)
    try:
        for packed in pickle.loads((folder / OBJECTS).read_bytes()):
            own: OwnCode = pickle.loads(packed)
            _REGISTER[own.kind](own)
    except ModuleNotFoundError:
        raise  # the driver explains which module the executors lack
    except BoxcarsError:
        raise
    except Exception as error:  # the user's modules may raise anything on import
        what = f"{type(error).__name__}: {error}"
        raise BoxcarsError(f"a Spark worker can't load your code: {what}") from error
    _loaded[:] = [bundle]


def _unpack(bundle: Bundle) -> Path:
    """Unpack a bundle to a folder that all workers of a user on a machine share."""
    folder = private_folder("boxcars-code") / bundle.name
    if folder.exists():
        return folder
    try:
        data = Path(bundle.path).read_bytes()
    except OSError as error:
        raise BoxcarsError(f"{bundle.path}: can't be read: {error.strerror}.") from None
    if sha256(data).hexdigest() != bundle.name:
        raise BoxcarsError(
            f"{bundle.path}: the bundle of your code is damaged: start the run again."
        )
    part = Path(tempfile.mkdtemp(dir=folder.parent))
    with ZipFile(BytesIO(data)) as packed:
        packed.extractall(part)
    with suppress(OSError):  # another worker was first
        part.rename(folder)
    rmtree(part, ignore_errors=True)
    return folder


def _enter(folder: Path) -> None:
    """Import from this folder; loaded modules with the same names are dropped."""
    others = folder.parent
    sys.path[:] = [path for path in sys.path if not Path(path).is_relative_to(others)]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    shipped = {path.name.removesuffix(".py") for path in folder.iterdir()}
    for name in list(sys.modules):
        if name.partition(".")[0] in shipped:
            del sys.modules[name]
