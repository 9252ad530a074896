"""Loads and sizes of the buckets of a box."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.measure import bucket_load
from boxcars.model.problem import Wrong
from tests.engine.test_run import calls, network


def one_caller(rows: int) -> pl.DataFrame:
    return calls(rows).with_columns(caller=pl.lit("ann"))


@pytest.mark.parametrize("instances", [1, 3])
def test_buckets_add_up_to_their_box(spark: SparkSession, tmp_path: Path, instances: int) -> None:
    running = bx.run(
        network(),
        {"calls": calls(900)},
        epoch_rows=300,
        instances=instances,
        buckets=8,
        checkpoint=tmp_path / "c",
        spark=spark,
    )
    running.wait()
    box = running.stats(held=True).boxes["counts"]
    assert [bucket.bucket for bucket in box.buckets] == list(range(8))
    assert {bucket.instance for bucket in box.buckets} == set(range(instances))
    for kind in ("in_rate", "out_rate"):
        parts = [getattr(bucket, kind) for bucket in box.buckets]
        assert sum(parts) == pytest.approx(getattr(box, kind))
        for number, piece in enumerate(box.pieces):
            own = [getattr(b, kind) for b in box.buckets if b.instance == number]
            assert sum(own) == pytest.approx(getattr(piece, kind))
    assert sum(bucket.queue or 0 for bucket in box.buckets) == box.queue
    rows = sum(bucket.state_rows or 0 for bucket in box.buckets)
    assert box.state_rows <= rows <= box.state_rows + 8 - instances  # a row of the window is shared
    assert all(bucket.state_bytes for bucket in box.buckets)
    assert json.loads(json.dumps(running.stats(held=True).to_plain()))["boxes"]["counts"]["buckets"]
    time = sum((b.cost or 0) * b.in_rate for b in box.buckets)
    assert time == pytest.approx((box.cost or 0) * box.in_rate)


def test_a_hot_key_makes_a_hot_bucket(spark: SparkSession, tmp_path: Path) -> None:
    running = bx.run(
        network(), {"calls": one_caller(500)}, buckets=8, checkpoint=tmp_path / "c", spark=spark
    )
    running.wait()
    box = running.stats(held=True).boxes["counts"]
    busy = [bucket for bucket in box.buckets if bucket.in_rate]
    assert len(busy) == 1
    assert busy[0].selectivity == pytest.approx(box.selectivity)
    heaviest = max(box.buckets, key=lambda bucket: bucket.state_rows or 0)
    assert heaviest is busy[0]
    assert f"{busy[0].bucket} (100 %)" in str(running.stats())


def test_long_trains_are_sampled(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    """The estimates still add up, and are close to the exact counts."""
    found = []
    for sample in (100, 100_000):
        monkeypatch.setattr(bucket_load, "SAMPLE", sample)
        running = bx.run(network(), {"calls": calls(900)}, buckets=4, instances=1, spark=spark)
        running.wait()
        box = running.stats().boxes["counts"]
        rates = np.array([bucket.in_rate for bucket in box.buckets])
        assert rates.sum() == pytest.approx(box.in_rate)
        found.append(rates / rates.sum())
    assert found[0] == pytest.approx(found[1], abs=0.2)


def test_no_bucket_sizes_after_a_run_without_checkpoint(spark: SparkSession) -> None:
    running = bx.run(network(), {"calls": calls(100)}, spark=spark)
    running.wait()
    assert running.stats().boxes["counts"].buckets[0].state_rows is None
    with pytest.raises(Wrong, match="give the run a checkpoint"):
        running.stats(held=True)
