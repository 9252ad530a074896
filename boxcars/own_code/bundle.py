"""Bundles: the user's code as one file, named by its content, for workers that have only Boxcars.

Modules travel as their source files and are imported by the worker. What was typed into a script or
a notebook has no module to import: it travels by value, as cloudpickle packs it.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pyspark import cloudpickle as untyped_cloudpickle

from boxcars.connectors.files import replacing, writing
from boxcars.model.own_code import OwnCode
from boxcars.model.problem import Wrong
from boxcars.own_code.sources import is_own, sources_of, top_of

cloudpickle: Any = untyped_cloudpickle

OBJECTS = "__boxcars__.pickle"
"""The file in a bundle that says what to register."""
_LARGEST = 32 << 20
"""Bytes of a bundle: what is larger had better be installed."""


@dataclass(frozen=True)
class Bundle:
    """Where a bundle is, and the digest that it must have."""

    path: str
    name: str


def pack(used: Iterable[OwnCode]) -> bytes:
    """Code as the bytes of a bundle."""
    used = tuple(used)
    objects = list(map(_pickled, used))
    homes = {top_of(own.thing) for own in used}
    beside = {module.partition(".")[0] for one in objects for module in _modules_in(one)}
    files = {**sources_of(homes | set(filter(is_own, beside))), OBJECTS: pickle.dumps(objects)}
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as bundle:
        for name, content in sorted(files.items()):
            bundle.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    if packed.tell() > _LARGEST:
        raise Wrong(
            f"your code and the packages beside it take {packed.tell() >> 20} MB, more than "
            f"{_LARGEST >> 20}: install them on the workers of Spark."
        )
    return packed.getvalue()


def keep_bundle(used: Iterable[OwnCode], folder: Path) -> Bundle:
    """Write a bundle to the folder of a run; what earlier runs left there is removed."""
    data = pack(used)
    name = sha256(data).hexdigest()
    path = folder / f"{name}.zip"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.zip"):
            old.unlink()
    with writing(path), replacing(path) as part:
        part.write_bytes(data)
    return Bundle(str(path), name)


def _pickled(own: OwnCode) -> bytes:
    """What to register: by reference where a worker can import it, else by value."""
    with _by_value(getattr(own.thing, "__module__", None)):
        try:
            packed: bytes = cloudpickle.dumps(own)
        except Exception as error:  # whatever an object's own code raises
            raise Wrong(
                f"{own.key} can't be sent to the workers of Spark: {error}. "
                "It refers to something that can't be copied: make that inside of it."
            ) from None
    return packed


@contextmanager
def _by_value(module: str | None) -> Iterator[None]:
    """Pack by value what comes from a module that has no file."""
    found = sys.modules.get(module or "")
    if found is None or module == "__main__" or getattr(found, "__file__", None):
        yield
        return
    cloudpickle.register_pickle_by_value(found)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(found)


def _modules_in(pickled: bytes) -> Iterator[str]:
    """The names of loaded modules that a pickled object mentions."""
    for _, argument, _ in pickletools.genops(pickled):
        if isinstance(argument, str) and argument in sys.modules:
            yield argument
