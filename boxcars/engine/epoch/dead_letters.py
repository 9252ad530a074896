"""Dead letters of a run: each piece of an epoch stages its own, and they leave with the epoch.

They are delivered after the epoch is committed, like the rows of an output. Only the staged files
that a piece reports are delivered: so a replayed epoch, which may have other pieces, has each
letter once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from io import BytesIO
from pathlib import Path
from zlib import crc32

import polars as pl

from boxcars.connectors.conform import DEAD_LETTERS
from boxcars.connectors.documents import CHANGED, damaged
from boxcars.connectors.files import replacing, write_table, writing
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
    return _stage(pl.concat(letters), _staging_folder(Path(folder)), f"{epoch:08d}-{piece:04d}")


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
        start = f"{epoch:08d}-output-{crc32(output.encode()):08x}"
        return _stage(named, self._folder, start), count_reasons(named)

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
            found = pl.concat([_staged(self._folder / name) for name in sorted(names)])
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


def _stage(letters: pl.DataFrame, folder: Path, start: str) -> str:
    """Write letters to a file whose name ends in its checksum; return the name.

    The manifest has the name, so what is delivered is what was committed.
    """
    data = BytesIO()
    letters.write_parquet(data)
    name = f"{start}-{crc32(data.getbuffer()):08x}.parquet"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / name) as part:
            part.write_bytes(data.getbuffer())
    return name


def _staged(path: Path) -> pl.DataFrame:
    """Read staged letters; raises if they are not as they were written."""
    data = path.read_bytes()
    if not path.stem.endswith(f"-{crc32(data):08x}"):
        raise damaged(str(path), CHANGED)
    return pl.read_parquet(data)


def _write(letters: pl.DataFrame, folder: Path, name: str) -> None:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_table(letters.to_arrow(compat_level=pl.CompatLevel.oldest()), folder / name)
