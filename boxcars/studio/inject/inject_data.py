"""The tuples that injectors send: of files, texts, templates and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import polars as pl

from boxcars.connectors.conform import Conformed
from boxcars.connectors.files import read_input
from boxcars.connectors.read.base import Place
from boxcars.connectors.read.rate import RateReader
from boxcars.connectors.read.sources import Rate
from boxcars.expr import Expr
from boxcars.inject import Batch
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.studio.edit.json_rows import from_text
from boxcars.studio.edit.samples import made_up, of_template
from boxcars.studio.edit.templates import find_template
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.wire.inject_messages import Generator, InjectorSource

_CHUNK = 10_000
"""Tuples that are computed at once."""


def words_for(source: InjectorSource) -> str:
    """What an injector sends, in words."""
    if source.template is not None:
        return f"the data of {source.template}"
    if source.file is not None:
        return source.file
    if source.text is not None:
        return source.name or "a text"
    return "computed tuples" if source.generator and source.generator.fields else "made-up tuples"


@dataclass(frozen=True)
class Tuples:
    """What is sent, and of a file or text what is left out since it does not fit the input."""

    batches: Iterator[Batch]
    moved: bool = False
    """Whether its times were moved, to come after those that the run has seen."""
    left_out: int = 0
    reason: str = ""
    """Why the first of them was."""


def tuples_of(
    source: InjectorSource,
    inputs: list[str],
    net: Network,
    workspace: Workspace,
    heads: Mapping[str, int | float],
) -> Tuples:
    """The tuples of a source, checked as far as that can be done before they are sent.

    Those that are made up begin after the ``heads`` of the inputs, for a run takes nothing that is
    older than what it has seen. The times in a file or a text are sent as they are.
    """
    kinds = ("generator", "template", "file", "text")
    given = [kind for kind in kinds if getattr(source, kind) is not None]
    if len(given) != 1:
        raise Wrong(f"give one source: {', '.join(kinds)}.")
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


def _later(
    batches: Iterator[Batch], entities: Mapping[str, Input], heads: Mapping[str, int | float]
) -> Tuples:
    """The same tuples, all as much later as the first of them has to be."""
    order = {name: entity.ts for name, entity in entities.items()}
    first = next(batches, {})
    times = [f[order[n]].to_physical().to_numpy().min() for n, f in first.items() if f.height]
    known = [heads[name] for name in order if name in heads]
    shift = max(known) + 1 - min(times) if known and times else 0
    if shift <= 0:
        return Tuples(chain([first], batches))
    moved = (
        {name: _shifted(frame, order[name], shift) for name, frame in batch.items()}
        for batch in chain([first], batches)
    )
    return Tuples(moved, moved=True)


def _rounds(
    source: InjectorSource, make: Callable[[int], Iterator[Batch]], entities: Mapping[str, Input]
) -> Iterator[Batch]:
    """All the data once, or again and again."""
    order = {name: entity.ts for name, entity in entities.items()}
    return _again_and_again(make, order) if source.endless else make(0)


def _template_rounds(
    source: InjectorSource, entities: Mapping[str, Input]
) -> Callable[[int], Iterator[Batch]]:
    """What gives the data of a template, others each time, if they may be."""
    app = find_template(source.template or "")
    feed = app.feed(source.rows, source.seed)
    first = of_template(app, feed, entities)
    more = 0 if feed.tables else 1  # the records of tables are those of the first round
    return lambda number: (
        of_template(app, app.feed(source.rows, source.seed + more * number), entities)
        if number
        else first
    )


def _fitting(source: InjectorSource, name: str, entity: Input, workspace: Workspace) -> Conformed:
    """The tuples of a file or a text; it is wrong if there is none that fits."""
    if source.file is not None:
        found = read_input(workspace.inside(source.file), entity)
    else:
        text = source.text or ""
        found = from_text(text, "jsonl" if text.lstrip().startswith("{") else "csv", entity)
    if found.tuples.height:
        return found
    if not found.dead.height:
        raise Wrong(f"{words_for(source)}: there are no tuples in it.")
    fields = ", ".join(f"{field}: {type_.value}" for field, type_ in entity.fields.items())
    raise Wrong(
        f"{words_for(source)}: there are no tuples in it that fit the input '{name}' ({fields}). "
        f"The first row: {found.dead['reason'][0]}."
    )


def _again_and_again(
    make: Callable[[int], Iterator[Batch]], order: Mapping[str, str]
) -> Iterator[Batch]:
    """Data without an end: when it begins again, its order values go on behind the last one.

    >>> frame = pl.DataFrame({"t": [5, 6]})
    >>> endless = _again_and_again(lambda _: iter([{"a": frame}]), {"a": "t"})
    >>> [next(endless)["a"]["t"].to_list() for _ in range(3)]
    [[5, 6], [7, 8], [9, 10]]
    """
    last: Any = None
    for number in count():
        shift: Any = None
        for batch in make(number):
            times = [f[order[n]].to_physical().to_numpy() for n, f in batch.items() if f.height]
            if not times:
                continue
            if shift is None:
                shift = 0 if number == 0 else last + 1 - min(each.min() for each in times)
            last = max(each.max() for each in times) + shift
            yield {name: _shifted(frame, order[name], shift) for name, frame in batch.items()}
        if shift is None:
            return


def _shifted(frame: pl.DataFrame, ts: str, shift: Any) -> pl.DataFrame:
    moved = pl.col(ts).to_physical() + shift
    return frame.with_columns(moved.cast(frame.schema[ts])) if shift else frame


def _generated(asked: Generator, name: str, entity: Input) -> Iterator[Batch]:
    """Tuples that are computed from their numbers, or made up."""
    frames = _computed(asked, entity) if asked.fields else made_up(entity, asked.seed, asked.rows)
    first = next(frames)  # what is wrong with an expression is told at once
    return ({name: frame} for frame in chain([first], frames))


def _computed(asked: Generator, entity: Input) -> Iterator[pl.DataFrame]:
    fields = {name: Expr.of(text) for name, text in asked.fields.items()}
    reader = RateReader(Rate(None, asked.rows, fields), entity)
    place = Place(0)
    while not place.ended:
        portion = reader.take(place, _CHUNK)
        for split in portion.splits:
            yield split.read(entity).tuples
        place = portion.place
