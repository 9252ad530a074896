"""Raw records, before they are decoded to tuples or dead letters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from boxcars.connectors.formats.format import Decoded, letters

NEWLINE, RETURN = 10, 13
BLOCK = 1 << 22

Ints = npt.NDArray[np.int64]

Reasons = dict[int, str]
"""The reason why a record is invalid, by its index; valid records are absent."""


@dataclass(frozen=True)
class Records:
    """The raw records of a series, in order: their bytes, and the index of the value of each.

    ``raw`` is one buffer with all bytes, if it consists of exactly these records as complete lines;
    then a parser can read it directly.
    """

    origin: pl.Series
    data: pl.Series
    raw: pa.Buffer | None = None

    @classmethod
    def lines(cls, data: pl.Series) -> Records:
        r"""Split each value into lines, without line ends and blank lines.

        >>> Records.lines(pl.Series([b"a\nb\r\n\n", None, b"c"])).data.to_list()
        [b'a', b'b', b'c']
        """
        raw, offsets = flat(data)
        values = np.frombuffer(raw, np.uint8)
        newlines = np.flatnonzero(values == NEWLINE) + 1
        ends = offsets[1:][offsets[1:] > offsets[:-1]]
        open_ends = ends[values[ends - 1] != NEWLINE]
        cuts = np.sort(np.concatenate((newlines, open_ends)), kind="stable")
        starts = np.concatenate((cuts[:0], [0], cuts))[:-1]
        stops = cuts - (values[cuts - 1] == NEWLINE)
        stops -= (stops > starts) & (values[stops - 1] == RETURN)
        full = stops > starts
        return cls(
            pl.Series("origin", np.searchsorted(offsets[1:], cuts[full]), pl.UInt32),
            slices(raw, starts[full], stops[full]),
            raw if not len(open_ends) and full.all() else None,
        )

    def __len__(self) -> int:
        return len(self.data)

    def text(self, reasons: Reasons) -> pl.Series:
        """Return the records as text; null, with a reason, where a record is not UTF-8."""
        text = utf8(self.data)
        reasons.update(dict.fromkeys(text.is_null().arg_true(), "not UTF-8"))
        return text

    def joined(self, text: pl.Series) -> pa.Buffer:
        """Return the lines of ``text``, all or some of the records, as one buffer for a parser."""
        if self.raw is not None and len(text) == len(self):
            return self.raw
        return flat((text + "\n").cast(pl.Binary))[0]

    def decoded(self, tuples: pl.DataFrame, rows: pl.Series, reasons: Reasons) -> Decoded:
        """Return the tuples of valid records, and dead letters for the others.

        ``rows`` is the index of the record of each tuple.
        """
        if not reasons:
            return Decoded(tuples, self.origin.gather(rows), letters([], [], []))
        dead = pl.Series(sorted(reasons), dtype=pl.UInt32)
        good = np.ones(len(self), dtype=bool)
        good[dead.to_numpy()] = False
        kept = pl.Series(good[rows.to_numpy()], dtype=pl.Boolean)
        return Decoded(
            tuples.filter(kept),
            self.origin.gather(rows.filter(kept)),
            letters(
                self.origin.gather(dead),
                self.data.gather(dead),
                pl.Series([reasons[row] for row in dead], dtype=pl.String),
            ),
        )


def flat(data: pl.Series) -> tuple[pa.Buffer, Ints]:
    """Return all bytes of a Binary series as one buffer, and the offsets; null is empty."""
    array = data.rechunk().fill_null(b"").to_arrow()
    _, offsets, values = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    if values is None or not len(array):
        return pa.py_buffer(b""), np.zeros(len(array) + 1, np.int64)
    return values.slice(ends[0], ends[-1] - ends[0]), ends - ends[0]


def utf8(data: pl.Series) -> pl.Series:
    r"""Return the text of bytes; null where they are not UTF-8.

    >>> utf8(pl.Series([b"a", b"\xff"])).to_list()
    ['a', None]
    """
    try:
        return data.cast(pl.String)
    except pl.exceptions.ComputeError:
        return pl.Series(data.name, [_text(value) for value in data], pl.String)


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def slices(raw: pa.Buffer, starts: Ints, stops: Ints) -> pl.Series:
    """Return slices of a buffer as a Binary series; they are in order and do not overlap."""
    if not len(starts):
        return pl.Series("record", [], pl.Binary)
    offsets = np.concatenate((starts, stops[-1:])).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), raw]
    pieces = pl.Series("record", pa.Array.from_buffers(pa.large_binary(), len(starts), buffers))
    frame = pl.DataFrame({"record": pieces, "length": stops - starts})
    return frame.select(pl.col("record").bin.head(pl.col("length"))).to_series()


def block_size(lines: pl.Series) -> int:
    """Block size for a parser, in bytes: not smaller than the longest line."""
    longest = lines.str.len_bytes().max()
    return max(BLOCK, longest + 2 if isinstance(longest, int) else 0)
