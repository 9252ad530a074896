"""The tuples that injectors send: from files, texts, templates and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
import polars as pl

from boxcars.connectors.conform import Conformed
from boxcars.connectors.files import read_input
from boxcars.connectors.read.base import Offset
from boxcars.connectors.read.rate import RateReader
from boxcars.connectors.read.sources import Rate
from boxcars.expr import Expr
from boxcars.inject import Batch
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.studio.edit.json_rows import from_text
from boxcars.studio.edit.samples import of_template, random_tuples
from boxcars.studio.edit.templates import find_template
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.wire.inject_messages import Generator, InjectorSource

_CHUNK = 10_000
"""Tuples computed at a time."""


def source_label(source: InjectorSource) -> str:
    """Describe the source of an injector."""
    if source.template is not None:
        return f"the data of {source.template}"
    if source.file is not None:
        return source.file
    if source.text is not None:
        return source.name or "pasted text"
    return "computed tuples" if source.generator and source.generator.fields else "generated tuples"


@dataclass(frozen=True)
class Tuples:
    """The batches to send, and the rows of a file or text that do not fit the input."""

    batches: Iterator[Batch]
    moved: bool = False
    """Whether the times were shifted past those that the run has seen."""
    left_out: int = 0
    reason: str = ""
    """Why the first of these rows does not fit."""


def tuples_of(
    source: InjectorSource,
    inputs: list[str],
    net: Network,
    workspace: Workspace,
    heads: Mapping[str, int | float],
) -> Tuples:
    """Open the tuples of a source, checked as far as possible before they are sent.

    The times of generated tuples are shifted past the ``heads`` of the inputs, because older tuples
    would be late. The times in a file or a text are not changed.
    """
    kinds = ("generator", "template", "file", "text")
    given = [kind for kind in kinds if getattr(source, kind) is not None]
    if len(given) != 1:
        raise Wrong(f"give exactly one source: {', '.join(kinds)}.")
    entities = {name: net.inputs[name] for name in inputs}
    try:
        if source.generator is not None:
            made = _generated(source.generator, inputs[0], entities[inputs[0]])
            return _later(made, entities, heads)
        if source.template is not None:
            made = _rounds(source, _template_rounds(source, entities), entities)
            return _later(made, entities, heads)
        (name,) = inputs
        found = _fitting(source, name, entities[name], workspace)
    except BoxcarsError as error:
        raise Wrong(str(error).replace(f"{workspace.folder}/", "")) from None
    batches = _rounds(source, lambda _number: iter([{name: found.tuples}]), entities)
    reason = str(found.dead["reason"][0]) if found.dead.height else ""
    return Tuples(batches, False, found.dead.height, reason)


def order_fields(entities: Mapping[str, Input]) -> dict[str, str]:
    """The order attributes in the data of inputs; one that the run stamps has none."""
    return {name: entity.ts for name, entity in entities.items() if not entity.stamped}


def _later(
    batches: Iterator[Batch], entities: Mapping[str, Input], heads: Mapping[str, int | float]
) -> Tuples:
    """Shift the times of all tuples so that the first is after the heads."""
    order = order_fields(entities)
    first = next(batches, {})
    times = [each.min() for each in _times(first, order)]
    known = [heads[name] for name in order if name in heads]
    shift = max(known) + 1 - min(times) if known and times else 0
    if shift <= 0:
        return Tuples(chain([first], batches))
    moved = (
        {name: _shifted(frame, order.get(name), shift) for name, frame in batch.items()}
        for batch in chain([first], batches)
    )
    return Tuples(moved, moved=True)


def _rounds(
    source: InjectorSource, make: Callable[[int], Iterator[Batch]], entities: Mapping[str, Input]
) -> Iterator[Batch]:
    """Yield the data once, or endlessly."""
    order = order_fields(entities)
    if source.endless and not order:
        return chain.from_iterable(map(make, count()))
    return _repeated(make, order) if source.endless else make(0)


def _template_rounds(
    source: InjectorSource, entities: Mapping[str, Input]
) -> Callable[[int], Iterator[Batch]]:
    """Return a function that yields a round of a template's data, with a new seed each time."""
    app = find_template(source.template or "")
    feed = app.feed(source.rows, source.seed)
    first = of_template(app, feed, entities)
    more = 0 if feed.tables else 1  # stored tables have the records of the first round
    return lambda number: (
        of_template(app, app.feed(source.rows, source.seed + more * number), entities)
        if number
        else first
    )


def _fitting(source: InjectorSource, name: str, entity: Input, workspace: Workspace) -> Conformed:
    """Read the tuples of a file or a text; raises if none fits the input."""
    if source.file is not None:
        found = read_input(workspace.inside(source.file), entity)
    else:
        text = source.text or ""
        found = from_text(text, "jsonl" if text.lstrip().startswith("{") else "csv", entity)
    if found.tuples.height:
        return found
    if not found.dead.height:
        raise Wrong(f"{source_label(source)}: it contains no tuples.")
    fields = ", ".join(f"{field}: {type_.value}" for field, type_ in entity.fields.items())
    raise Wrong(
        f"{source_label(source)}: no row fits the input '{name}' ({fields}). "
        f"The first row: {found.dead['reason'][0]}."
    )


def _repeated(make: Callable[[int], Iterator[Batch]], order: Mapping[str, str]) -> Iterator[Batch]:
    """Repeat the data endlessly; its order values continue after the last one.

    >>> frame = pl.DataFrame({"t": [5, 6]})
    >>> endless = _repeated(lambda _: iter([{"a": frame}]), {"a": "t"})
    >>> [next(endless)["a"]["t"].to_list() for _ in range(3)]
    [[5, 6], [7, 8], [9, 10]]
    """
    last: Any = None
    for number in count():
        shift: Any = None
        for batch in make(number):
            times = _times(batch, order)
            if not times:
                continue
            if shift is None:
                shift = 0 if number == 0 else last + 1 - min(each.min() for each in times)
            last = max(each.max() for each in times) + shift
            yield {name: _shifted(frame, order.get(name), shift) for name, frame in batch.items()}
        if shift is None:
            return


def _times(batch: Batch, order: Mapping[str, str]) -> list[np.ndarray]:
    """The order values of each input in a batch, as numbers."""
    found = ((frame, order.get(name)) for name, frame in batch.items() if frame.height)
    return [frame[ts].to_physical().to_numpy() for frame, ts in found if ts is not None]


def _shifted(frame: pl.DataFrame, ts: str | None, shift: Any) -> pl.DataFrame:
    if not shift or ts is None:
        return frame
    return frame.with_columns((pl.col(ts).to_physical() + shift).cast(frame.schema[ts]))


def _generated(asked: Generator, name: str, entity: Input) -> Iterator[Batch]:
    """Yield tuples computed from their row numbers, or random ones."""
    frames = (
        _computed(asked, entity) if asked.fields else random_tuples(entity, asked.seed, asked.rows)
    )
    first = next(frames)  # reports an invalid expression immediately
    return ({name: frame} for frame in chain([first], frames))


def _computed(asked: Generator, entity: Input) -> Iterator[pl.DataFrame]:
    fields = {name: Expr.of(text) for name, text in asked.fields.items()}
    reader = RateReader(Rate(None, asked.rows, fields), entity)
    offset = Offset(0)
    while not offset.ended:
        portion = reader.take(offset, _CHUNK)
        for split in portion.splits:
            yield split.read(entity).tuples
        offset = portion.offset
