"""Starts a run: opens its checkpoint, sources and sinks, and lays the network out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

from pyspark.sql import SparkSession

from boxcars.connectors.log_context import reporting
from boxcars.control.decisions import Controller, Requests
from boxcars.engine.driver import Driver, StoredTables
from boxcars.engine.endpoints import (
    check_folders_are_new,
    check_names,
    check_sinks_can_finish,
    open_dead,
    open_sinks,
    open_sources,
)
from boxcars.engine.epoch.dead_letters import SINK_NAME
from boxcars.engine.epoch.planner import Planner
from boxcars.engine.exec.compile_progress import forget_compiling
from boxcars.engine.exec.session import choose_python, make_session
from boxcars.engine.exec.spark_job import SparkExecutor
from boxcars.engine.layout.network_text import write_text
from boxcars.engine.layout.pieces import BUCKETS, Shape, make_layout
from boxcars.engine.layout.placement import resumed
from boxcars.engine.run import Run
from boxcars.engine.run_events import RunEvents
from boxcars.engine.state.checkpoint import Checkpoint
from boxcars.engine.state.lease import lease
from boxcars.engine.state.network_upgrade import previous_network
from boxcars.engine.status import Status
from boxcars.events.event_log import EventLog
from boxcars.model.network import Network
from boxcars.model.problem import Wrong
from boxcars.own_code.bundle import keep_bundle
from boxcars.own_code.used import used_in
from boxcars.plan import Strategy
from boxcars.tables.setup import prepare_tables

EPOCH_ROWS = 100_000
"""Rows of each input in an epoch, by default."""


def run(
    net: Network,
    sources: Mapping[str, Any],
    sinks: Mapping[str, Any] | None = None,
    *,
    dead: Any = None,
    tables: Mapping[str, Any] | None = None,
    checkpoint: str | Path | None = None,
    epoch_rows: int = EPOCH_ROWS,
    instances: int | None = None,
    instances_of: Mapping[str, int] | None = None,
    buckets: int = BUCKETS,
    strategy: Strategy = "operator-set-cloud",
    grouped: bool = False,
    modify: bool = False,
    pages: bool = False,
    master: str | None = None,
    code: bool = True,
    durable: bool = True,
    controllers: Sequence[Controller] = (),
    spark: SparkSession | None = None,
    tell: Callable[[Status], None] | None = None,
) -> Run:
    """Run a network on Spark, exactly once.

    A source is a path or :func:`files`, :func:`rate`, :func:`script`, a static or streaming Spark
    DataFrame, or data as for :func:`preview`. A sink is a folder, into which each epoch writes a
    part, a file, ``"-"``, :func:`callback`, or a function of a Spark DataFrame and the epoch
    number. Dead letters, the records that can't become tuples, go to ``dead``, a sink like those of
    outputs; the default is a folder in the checkpoint.

    With a ``checkpoint`` folder a run that was stopped or killed resumes from its last committed
    epoch: the output is the same, byte for byte. Without ``durable`` its files are not synced, so
    that a loss of power may damage it. ``tables`` are given as for :func:`preview`; a
    table without an address is stored in the checkpoint.

    Each subquery runs as ``instances`` parallel instances (default: one for each Spark core);
    ``instances_of`` sets the number for single subqueries; a resumed run without either keeps the
    decisions of the run before. Keys are hashed into ``buckets``, which
    are assigned to instances. All of this may change from one run to the next: the output does not
    depend on it. ``strategy`` decides which boxes run together; with ``grouped``, the boxes of a
    group always do.

    ``controllers`` are asked before each epoch, and may change the number of instances of a
    subquery and the owners of its buckets.

    With ``modify`` a checkpoint may be resumed with a changed network: what did not change keeps
    its state. To compare the two, code in the stored network may run, unless ``code`` is false.
    With ``pages`` a new session serves Spark's web UI, whose address is in the status. ``tell`` is
    called with the status after each epoch.
    """
    if epoch_rows < 1:
        raise Wrong(f"expected epochs of at least one row, got {epoch_rows}.")
    if instances is not None and instances < 1:
        raise Wrong(f"expected at least one instance, got {instances}.")
    checked = net.check().or_raise()
    check_names("input", sources, net.inputs)
    check_names("output", sinks or {}, net.outputs)
    session = cache(lambda: spark or make_session(master, pages=pages))
    if spark is not None:
        choose_python(spark.sparkContext)
    closing: ExitStack[bool | None] = ExitStack()
    with closing:
        folder = Path(checkpoint or closing.enter_context(_temporary())).resolve()
        durable = durable and checkpoint is not None  # a temporary one is never resumed
        closing.enter_context(lease(folder))
        events = RunEvents(EventLog(folder).append, time)
        closing.push(events.ended)
        ledger = Checkpoint.at(folder, durable)
        ledger.claim()
        forget_compiling(folder)
        closing.callback(forget_compiling, folder)
        used = used_in(net)
        text = write_text(net, used)
        last = ledger.last()
        previous = previous_network(ledger, last, text, modify, code)
        addresses = prepare_tables(net, tables or {}, folder, last.epoch if last else 0)
        with reporting(events.note):
            readers = {} if last is not None and last.final else open_sources(net, sources, folder)
            planner = Planner(readers, epoch_rows, checked.network)
            closing.callback(planner.close)
            writers = open_sinks(checked, sinks or {}, folder, session)
            letters = open_dead(dead, folder, session, writers, persistent=checkpoint is not None)
        for writer in (*writers.values(), letters.writer):
            writer.durable = durable
            closing.callback(writer.close)
        check_sinks_can_finish(planner, {**writers, SINK_NAME: letters.writer})
        if last is None and ledger.pending() is None:
            check_folders_are_new({**writers, SINK_NAME: letters.writer})
        number = instances or session().sparkContext.defaultParallelism
        apart = tuple(sorted((instances_of or {}).items()))
        shape = Shape(number, buckets, strategy, grouped, apart)
        make_layout(text, shape)  # raises here, on the driver, if the layout is impossible
        if instances is None and not instances_of:
            shape = resumed(text, shape, last.shape if last is not None else None)
        stored = StoredTables(net.tables, addresses, folder)
        bundle = keep_bundle(used.values(), folder / "code") if used else None
        driver = Driver(
            text,
            previous,
            ledger,
            planner,
            writers,
            letters,
            SparkExecutor(session()),
            shape,
            stored,
            folder,
            bundle,
            durable,
            [requests := Requests(), *controllers],
            events,
        )
        events.started(last, driver.instances)
        return Run(driver, closing.pop_all(), tell, requests, session().sparkContext.uiWebUrl)


def _temporary() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="boxcars-", ignore_cleanup_errors=True)
