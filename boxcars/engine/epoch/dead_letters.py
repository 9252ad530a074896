"""Dead letters of a run: each piece of an epoch stages its own, and they leave with the epoch.

They are delivered before the epoch is committed, like the rows of an output. Only the staged files
that a piece reports are delivered: so a replayed epoch, which may have other pieces, has each
letter once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from zlib import crc32

import polars as pl

from boxcars.connectors.conform import DEAD_LETTERS
from boxcars.connectors.files import write_table, writing
from boxcars.connectors.write.base import SinkWriter
from boxcars.connectors.write.writers import FileWriter
from boxcars.engine.measure.dead_letter_reasons import DeadReasons, count_reasons
from boxcars.model.schema import Schema

LETTERS = Schema.of({"epoch": "int", "source": "str", "record": "bytes", "reason": "str"}, "epoch")
"""Columns of a dead letter: epoch, input or box, the bytes of the record, and the reason."""
SINK_NAME = "dead letters"
"""Name of their sink in messages, where an output has its own name."""


def stage_letters(folder: str, epoch: int, piece: int, letters: Sequence[pl.DataFrame]) -> str:
    """Write the letters of a piece, if it has any; return the name of the file."""
    if not letters:
        return ""
    name = f"{epoch:08d}-{piece:04d}.parquet"
    _write(pl.concat(letters), _staging_folder(Path(folder)), name)
    return name


def reasons_of(letters: Sequence[pl.DataFrame]) -> DeadReasons:
    """Count dead letters by reason."""
    return count_reasons(pl.concat(letters)) if letters else {}


class DeadLetters:
    """The sink of dead letters, and the staging folder for it in the checkpoint.

    ``target`` is the location of the sink for messages, or empty.
    """

    def __init__(self, folder: Path, writer: SinkWriter, target: str) -> None:
        self._folder, self.writer, self._target = _staging_folder(folder), writer, target

    @property
    def where(self) -> str:
        """Location of the letters for messages; a single file appears when the run has finished."""
        if isinstance(self.writer, FileWriter) and not self.writer.complete:
            return f"{self.writer.folder}, and in {self._target} when the run has finished"
        return self._target

    def put_refused(
        self, epoch: int, output: str, letters: pl.DataFrame
    ) -> tuple[str, DeadReasons]:
        """Stage rows that the sink of an output can't store; return the file and the reasons."""
        if letters.is_empty():
            return "", {}
        named = letters.select(pl.lit(f"output {output}").alias("source"), *DEAD_LETTERS)
        name = f"{epoch:08d}-output-{crc32(output.encode()):08x}.parquet"
        _write(named, self._folder, name)
        return name, count_reasons(named)

    def deliver(self, epoch: int, names: Collection[str], inputs: Collection[str]) -> None:
        """Deliver the letters of an epoch as one part.

        Letters of inputs keep their arrival order. A box may run on several instances, so letters
        of boxes are sorted by their bytes to be deterministic. If the staged files are gone, they
        were delivered before a crash.
        """
        part = f"part-{epoch:08d}.parquet"
        if not all((self._folder / name).exists() for name in names):
            return
        if names:
            found = pl.concat([pl.read_parquet(self._folder / name) for name in sorted(names)])
            of_input = pl.col("source").is_in(list(inputs))
            from_inputs = found.filter(of_input).sort("source", maintain_order=True)
            others = found.filter(~of_input).sort("source", "record", "reason")
            letters = pl.concat([from_inputs, others]).select(
                pl.lit(epoch, pl.Int64).alias("epoch"), "*"
            )
            _write(letters.select(list(LETTERS.fields)), self.writer.folder, part)
        else:
            (self.writer.folder / part).unlink(missing_ok=True)
        self.writer.deliver(epoch)

    def forget(self, epoch: int) -> None:
        """Remove the staged files of a committed epoch."""
        for path in self._folder.glob("*.parquet"):
            if path.name < f"{epoch + 1:08d}":
                path.unlink(missing_ok=True)


def _staging_folder(folder: Path) -> Path:
    return folder / "letters"


def _write(letters: pl.DataFrame, folder: Path, name: str) -> None:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_table(letters.to_arrow(compat_level=pl.CompatLevel.oldest()), folder / name)
