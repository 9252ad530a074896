"""Networks as Python programs: running a program that builds one, and generating the program.

Reading a ``.py`` file runs it. Files of all other languages are plain data.
"""

from __future__ import annotations

import keyword
import re
import runpy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boxcars.model.arc import MAIN, Arc
from boxcars.model.entities import Node, Output
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Location, NetworkError, Problem
from boxcars.model.reader import Reading
from boxcars.model.superbox import Superbox, Use
from boxcars.model.window import Window


def read(_content: str, path: Path) -> Reading:
    """Run a program and return the one network in its variables."""
    try:
        variables = runpy.run_path(str(path))
    except BoxcarsError as error:
        where = Location(str(path), _line_of(error, path))
        known = error.problems if isinstance(error, NetworkError) else [Problem(str(error))]
        raise NetworkError(replace(p, location=p.location or where) for p in known) from error
    except (Exception, SystemExit) as error:
        where = Location(str(path), _line_of(error, path))
        raise BoxcarsError(f"{where}: {type(error).__name__}: {error}") from error
    every = _networks(variables)
    found = [n for n in every if not any(n.name in m.superboxes for m in every if m is not n)]
    if len(found) != 1:
        names = ", ".join(repr(n.name) for n in found) or "none"
        raise BoxcarsError(f"{path}: expected one network in a variable, found {names}.")
    return Reading(found[0])


def _networks(variables: Mapping[str, Any]) -> list[Network]:
    return list({id(v): v for v in variables.values() if isinstance(v, Network)}.values())


def _line_of(error: BaseException, path: Path) -> int:
    line = getattr(error, "lineno", None) or 1
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return int(line)


def write(net: Network) -> str:
    """Generate the program that builds a network."""
    imports = "".join(f"import {name}\n" for name in net.modules)
    head = f"{imports}import boxcars as bx\n\n"
    return head + "\n".join(_Writer().network(net, "net")) + "\n"


class _Writer:
    """Assigns a variable to each stream, and writes a line for each entity."""

    def __init__(self) -> None:
        self.taken = {"bx", "net"}

    def network(self, net: Network, variable: str) -> Iterator[str]:
        """The lines that build a network in a variable."""
        modules = f", modules={net.modules!r}" if net.modules else ""
        yield f"{variable} = bx.Network({net.name!r}{modules})"
        for name, definition in net.superboxes.items():
            yield from self._superbox(name, definition, variable)
        streams: dict[str, str] = {}
        for name, entity in net.inputs.items():
            streams[name] = self._variable(name)
            given: dict[str, Any] = {"ts": entity.ts, "fields": _types(entity.fields)}
            given |= {"slack": entity.slack} if entity.slack else {}
            given |= {"idle": entity.idle} if entity.idle is not None else {}
            given |= {"clock": entity.clock} if entity.clock != "event" else {}
            yield _assign(streams[name], f"{variable}.input", [name], given)
        for name, table in net.tables.items():
            given = {"fields": _types(table.fields)}
            given |= {"key": list(table.key)} if table.key else {}
            yield _call(f"{variable}.table", [name], given)
        for name in _drawing_order(net):
            streams[name] = self._variable(name)
            yield self._box(net.boxes[name], name, streams, variable)
        for name, output in net.outputs.items():
            yield self._output(name, output, streams, variable)
        for name, point in net.connection_points.items():
            limits = {"time": point.time, "tuples": point.tuples}
            given = {key: value for key, value in limits.items() if value is not None}
            yield _call(f"{_stream(point.arc, streams)}.connection_point", [name], given)

    def _superbox(self, name: str, definition: Superbox, variable: str) -> Iterator[str]:
        body = self._variable(f"{name}_body")
        yield ""
        yield from self.network(definition.body, body)
        yield _call(f"{variable}.superbox", [_Code(body)], dict(definition.params))
        yield ""

    def _box(self, node: Node, name: str, streams: dict[str, str], variable: str) -> str:
        inputs = [_Code(_stream(arc, streams)) for arc in node.inputs]
        if isinstance(node.box, Use):
            positional: list[Any] = [node.box.superbox]
            keywords: dict[str, Any] = dict(node.box.values)
            method = "use"
        else:
            arguments, keywords = node.box.arguments()
            positional = [_Code(_window(a)) if isinstance(a, Window) else a for a in arguments]
            method = node.box.type.replace("-", "_")
        if not inputs:
            if not isinstance(node.box, Use):
                raise BoxcarsError(f"can't write Python: box '{name}' has no input.")
            made = _Code(_call("bx.use", positional, keywords))
            together = {"group": node.group} if node.group else {}
            return _assign(streams[name], f"{variable}.box", [name, made], together)
        last = method == "use" or node.box.arity == (1, None)
        others = positional + inputs[1:] if last else inputs[1:] + positional
        drawn = _call(f"{inputs[0]}.{method}", others, keywords)
        group = f".in_group({node.group!r})" if node.group else ""
        return f"{streams[name]} = {drawn}.named({name!r}){group}"

    def _output(self, name: str, output: Output, streams: Mapping[str, str], variable: str) -> str:
        given: dict[str, Any] = {}
        if output.fields is not None:
            given["fields"] = _types(output.fields)
        if output.qos is not None:
            given["qos"] = output.qos.plain()
        return _call(f"{variable}.output", [name, _Code(_stream(output.source, streams))], given)

    def _variable(self, name: str) -> str:
        word = re.sub(r"\W", "_", name)
        word = f"{word}_" if keyword.iskeyword(word) or word in self.taken else word
        while word in self.taken:
            word += "_"
        self.taken.add(word)
        return word


class _Code(str):
    """Source text that is written verbatim."""

    def __repr__(self) -> str:
        return str(self)


def _drawing_order(net: Network) -> Iterator[str]:
    """The boxes in topological order, and otherwise in the order of the network."""
    done = set(net.inputs)
    waiting = list(net.boxes)
    while waiting:
        ready = next(
            (n for n in waiting if all(a.source in done for a in net.boxes[n].inputs)), None
        )
        if ready is None:
            raise BoxcarsError(
                f"can't write '{net.name}' as Python: the boxes {', '.join(waiting)} form a loop "
                "or have an unknown input. Run boxcars check."
            )
        waiting.remove(ready)
        done.add(ready)
        yield ready


def _stream(arc: Arc, streams: Mapping[str, str]) -> str:
    if arc.source not in streams:
        raise BoxcarsError(f"can't write Python: there is no '{arc.source}'. Run boxcars check.")
    return streams[arc.source] + ("" if arc.port == MAIN else f"[{arc.port!r}]")


def _types(fields: Mapping[str, Any]) -> dict[str, str]:
    return {name: type_.value for name, type_ in fields.items()}


def _window(window: Window) -> str:
    plain = window.plain()
    plain.pop(window.by)
    size: list[Any] = [] if window.by in ("landmark", "runs") else [window.size]
    plain.pop("size", None)
    first = [window.field, *size] if window.by == "value" else size
    return _call(f"bx.{window.by}", first, plain)


def _assign(variable: str, function: str, arguments: list[Any], keywords: dict[str, Any]) -> str:
    return f"{variable} = {_call(function, arguments, keywords)}"


def _call(function: str, arguments: Any, keywords: Mapping[str, Any]) -> str:
    """A call on one line, or with one argument per line if it is too long."""
    odd = (i for i, k in enumerate(keywords) if not k.isidentifier() or keyword.iskeyword(k))
    cut = next(odd, len(keywords))  # the order of keywords must be kept
    items = list(keywords.items())
    parts = [repr(argument) for argument in arguments]
    parts += [f"{key}={value!r}" for key, value in items[:cut]]
    parts += [f"**{dict(items[cut:])!r}"] if items[cut:] else []
    line = f"{function}({', '.join(parts)})"
    if len(line) <= 96:
        return line
    return f"{function}(\n    " + ",\n    ".join(parts) + ",\n)"
