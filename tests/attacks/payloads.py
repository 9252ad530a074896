"""Payloads for network files: expressions that run code as soon as they are deserialized."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any

from boxcars.lang.files import dumps
from boxcars.model.deserialize import read_network

SPRUNG = Path("sprung")
"""The file that exists once code has run, in the folder of the test."""


class Trap:
    """An object that runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, ("__import__('pathlib').Path('sprung').touch()",)


def pickled() -> list[int]:
    """A pickle as Polars stores one: after the Python version."""
    return [1, *sys.version_info[1:3], *pickle.dumps(Trap())]


STORED = {
    "a pickle that renames": {
        "RenameAlias": {"function": {"Map": pickled()}, "expr": {"Column": "price"}}
    },
    "a pickle that names fields": {
        "Function": {
            "input": [{"Column": "price"}],
            "function": {"StructExpr": {"MapFieldNames": pickled()}},
        }
    },
    "a plugin": {
        "Function": {
            "input": [{"Column": "price"}],
            "function": {
                "FfiPlugin": {"flags": "", "lib": "./evil.so", "symbol": "f", "kwargs": []}
            },
        }
    },
    "an anonymous function": {
        "AnonymousFunction": {"input": [{"Column": "price"}], "function": pickled()}
    },
    "nothing bad": {"Column": "price"},
}
"""Stored expressions, by their effect."""


def text_of(what: str) -> str:
    """The text of a stored expression."""
    return "polars:" + json.dumps(STORED[what])


def plain_network(expression: str) -> dict[str, Any]:
    """A network that evaluates an expression."""
    return {
        "name": "trap",
        "inputs": {"calls": {"ts": "time", "fields": {"time": "int", "price": "float"}}},
        "boxes": {
            "twice": {"type": "map", "in": "calls", "fields": {"time": "time", "p": expression}}
        },
        "outputs": {"twice": {"from": "twice"}},
    }


def with_superbox(head: str, tail: str) -> dict[str, Any]:
    """The same in a superbox, which concatenates the expression from two halves."""
    inner = plain_network(f"{head}$rest")
    del inner["name"]
    definition = {"params": {"rest": None}, **inner}
    outer = plain_network("")
    outer["boxes"] = {"twice": {"type": "hidden", "in": "calls", "rest": tail}}
    return {**outer, "superboxes": {"hidden": definition}}


def written(plain: dict[str, Any], language: str) -> str:
    """A network as text."""
    return dumps(read_network(plain).network, language)
