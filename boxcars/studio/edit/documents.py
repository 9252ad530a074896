"""Documents: read networks from files, texts and templates, and write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from boxcars.connectors.files import replacing, writing
from boxcars.draw import FORMATS, draw
from boxcars.draw.picture import output_key
from boxcars.lang import text as plain_text
from boxcars.lang.files import LANGUAGES, read
from boxcars.lang.layout import layout_path, load_layout, save_layout
from boxcars.lang.modules import importer_for
from boxcars.model.deserialize import read_network
from boxcars.model.entities import KINDS
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.reader import Reading
from boxcars.model.serialize import network_to_plain
from boxcars.studio.edit.checking import check_reading, problem_message, read_for_writing, readable
from boxcars.studio.edit.templates import find_template
from boxcars.studio.edit.versions import saving_over, version_of
from boxcars.studio.edit.workspace import NO_CODE, Workspace
from boxcars.studio.wire import messages

_PLAIN = (".yaml", ".yml", ".json")


def open_file(workspace: Workspace, file: str, code: bool) -> messages.Document:
    """Open a network file, as far as it can be read."""
    path = workspace.existing(file)
    version = version_of(path, layout_path(path))  # before reading: detects a save in between
    try:
        reading = read(path, code)
        positions = load_layout(path)
    except BoxcarsError as error:
        raise Wrong(str(error).replace(str(path), file)) from None
    raw = path.read_text(encoding="utf-8") if path.suffix in _PLAIN else ""
    return _document(reading, raw, path.suffix, code, dict(positions), version)


def open_template(name: str) -> messages.Document:
    """Open the network of an application."""
    return _document(Reading(find_template(name).build()), "", ".yaml", False, {})


def read_text(body: messages.ReadText, code: bool) -> messages.Document:
    """Read a network from the text of a file outside the folder."""
    suffix = f".{body.format}"
    if suffix == ".py":
        return _document(_run_program(body, code), "", suffix, code, {})
    importer = importer_for() if code else None
    reading = LANGUAGES[suffix].read(body.text, Path(f"{body.name}{suffix}"), importer)
    return _document(reading, body.text if suffix in _PLAIN else "", suffix, code, {})


def _run_program(body: messages.ReadText, code: bool) -> Reading:
    if not code:
        raise Wrong(NO_CODE)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.py"
        path.write_text(body.text, encoding="utf-8")
        return LANGUAGES[".py"].read(body.text, path, None)


def _document(
    reading: Reading,
    raw: str,
    suffix: str,
    code: bool,
    positions: messages.Positions,
    version: str = "",
) -> messages.Document:
    """Make the document; if reading failed in parts, it shows the file's content unchanged."""
    checked = check_reading(reading, code)
    net = network_to_plain(reading.network)
    if reading.problems and raw:
        net = {"name": reading.network.name} | tidy(plain_text.parse(raw, "text")[0])
    return messages.Document(
        network=net,
        positions=positions,
        format=suffix[1:],
        problems=[problem_message(problem) for problem in checked.problems],
        version=version,
    )


def tidy(plain: Any) -> messages.Plain:
    """Keep only the parts of plain data that have the form of a network.

    >>> tidy({"name": "n", "boxes": {"a": {"type": "map"}, "b": 7}, "inputs": []})
    {'name': 'n', 'boxes': {'a': {'type': 'map'}}}
    """
    found: messages.Plain = {}
    for key, value in plain.items() if isinstance(plain, Mapping) else ():
        if key in KINDS and isinstance(value, Mapping):
            blocks = {
                str(n): dict(block) for n, block in value.items() if isinstance(block, Mapping)
            }
            found[key] = blocks
        elif key == "name":
            found[key] = str(value)
        elif key == "modules" and isinstance(value, list):
            found[key] = [str(name) for name in value]
    return found


def save_file(
    workspace: Workspace, file: str, body: messages.SaveNetwork, code: bool
) -> messages.Document:
    """Save a network; an incomplete one can only be saved as YAML or JSON."""
    path = workspace.path(file)
    reading = read_network(body.network, name=path.stem)
    if path.suffix not in _PLAIN or not reading.problems:
        content = LANGUAGES[path.suffix].write(read_for_writing(body.network))
    else:
        content = _dump(tidy(body.network), path.suffix)
    beside = layout_path(path)
    with saving_over(body.over, path, beside):
        with writing(file), replacing(path) as part:
            part.write_text(content, encoding="utf-8")
        if body.positions:
            save_layout(path, body.positions)
        else:
            beside.unlink(missing_ok=True)
        version = version_of(path, beside)
    return _document(reading, content, path.suffix, code, body.positions, version)


def _dump(plain: messages.Plain, suffix: str) -> str:
    if suffix == ".json":
        return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
    return plain_text.dump(plain)


def write_text(body: messages.WriteNetwork, code: bool) -> messages.Text:
    """Write a network in any language, or as a picture."""
    suffix = f".{body.format}"
    reading = read_network(body.network)
    if suffix in _PLAIN and reading.problems:
        return messages.Text(text=_dump(tidy(body.network), suffix))
    if body.format in FORMATS:
        net = readable(body.network, code)
        shown = {*net.inputs, *net.boxes, *map(output_key, net.outputs)}
        positions = {name: at for name, at in body.positions.items() if name in shown}
        return messages.Text(text=draw(net, body.format, positions))
    return messages.Text(text=LANGUAGES[suffix].write(read_for_writing(body.network)))
