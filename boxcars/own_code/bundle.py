"""Bundles: the user's code as one file, named by its hash, for workers that only have Boxcars.

Modules are shipped as source files, and imported by the worker. Code from a script or a notebook
has no importable module: it is shipped by value, pickled by cloudpickle.
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
"""The file in a bundle with the pickled objects to register."""
_LARGEST = 32 << 20
"""Bytes; larger code must be installed on the workers."""


@dataclass(frozen=True)
class Bundle:
    """The path of a bundle, and its expected digest."""

    path: str
    name: str


def pack(used: Iterable[OwnCode]) -> bytes:
    """Pack code into the bytes of a bundle."""
    used = tuple(used)
    objects = list(map(_pickled, used))
    modules = {top_of(own.thing) for own in used}
    mentioned = {module.partition(".")[0] for one in objects for module in _modules_in(one)}
    files = {**sources_of(modules | set(filter(is_own, mentioned))), OBJECTS: pickle.dumps(objects)}
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as bundle:
        for name, content in sorted(files.items()):
            bundle.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    if packed.tell() > _LARGEST:
        raise Wrong(
            f"your code and its packages take {packed.tell() >> 20} MB, more than the limit of "
            f"{_LARGEST >> 20} MB: install them on the Spark workers."
        )
    return packed.getvalue()


def keep_bundle(used: Iterable[OwnCode], folder: Path) -> Bundle:
    """Write a bundle to the folder of a run; bundles of earlier runs are removed."""
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
    """Pickle an object to register: by reference if a worker can import it, else by value."""
    with _by_value(getattr(own.thing, "__module__", None)):
        try:
            packed: bytes = cloudpickle.dumps(own)
        except Exception as error:  # whatever an object's own code raises
            raise Wrong(
                f"{own.key} can't be sent to the Spark workers: {error}. "
                "It refers to an object that can't be pickled: create that object inside it."
            ) from None
    return packed


@contextmanager
def _by_value(module: str | None) -> Iterator[None]:
    """Pickle by value if the module of an object has no file."""
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
    """The names of loaded modules that a pickled object refers to."""
    for _, argument, _ in pickletools.genops(pickled):
        if isinstance(argument, str) and argument in sys.modules:
            yield argument
