r"""Comma-separated values, one record per line.

Strict as RFC 4180: quotes surround a value, and are doubled inside it. In str and bytes fields an
unquoted empty text is null and a quoted one is empty. A message can't contain a line break, because
a reader of lines would take part of a text for a record: such a line decodes as two corrupt ones,
and such a tuple can't be encoded. In a file, line breaks are quoted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv as arrow_csv

from boxcars.connectors.formats.format import Decoded, Encoded, Format
from boxcars.connectors.formats.records import Reasons, Records, block_size, utf8
from boxcars.connectors.formats.rows import encoded
from boxcars.connectors.formats.texts import parse_fields, unwritten, where, write
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

BROKEN = "a CSV record can't hold a line break"
MISQUOTED = "a quote is not closed or is inside an unquoted value"
BLANK = "a CSV record of a single null would be a blank line"
BOM = "\ufeff"
QUOTABLE = (Type.STR, Type.BYTES)
"""Types for which a quoted empty text is a value, and an unquoted one is null."""


class Csv(Format):
    r"""Lines of values. ``null`` is the text for null in fields that are not str or bytes.

    With ``header`` each message starts with a line of column names; columns that are not fields are
    ignored, and ``encode`` writes a header for each row, so that every message is self-contained.
    With ``breaks`` a quoted value may contain line breaks, as in a file.

    >>> format = Csv({"caller": Type.STR, "time": Type.INT})
    >>> format.decode(pl.Series([b'ann,7\n"b, c",8\n'])).tuples.rows()
    [('ann', 7), ('b, c', 8)]
    >>> format.encode(pl.DataFrame({"caller": ["b, c", None], "time": [8, None]})).data.to_list()
    [b'"b, c",8\n', b',\n']
    """

    name = "csv"
    defaults: ClassVar[Mapping[str, object]] = {
        "delimiter": ",",
        "quote": '"',
        "header": False,
        "null": "",
        "breaks": False,
    }

    def check(self) -> None:
        """Raise ``Wrong`` if the delimiter or quote is not a single ASCII character."""
        self.delimiter: str = self.options["delimiter"]
        self.quote: str = self.options["quote"]
        self.null: str = self.options["null"]
        for name in ("delimiter", "quote"):
            mark = self.options[name]
            if len(mark) != 1 or not mark.isascii() or mark in "\r\n\0":
                raise Wrong(f"option '{name}' of format 'csv' must be one character, got {mark!r}.")
        if self.delimiter == self.quote:
            raise Wrong("options 'delimiter' and 'quote' of format 'csv' must differ.")
        if "\n" in self.null or "\r" in self.null:
            raise Wrong("option 'null' of format 'csv' can't hold a line break.")

    def decode(self, data: pl.Series) -> Decoded:
        """Return the tuples in lines."""
        if self.options["header"]:
            data = _with_newlines(data)
        records = Records.lines(data)
        if self.options["breaks"]:
            records = self._with_breaks(data, records)
        reasons: Reasons = {}
        if not self.options["header"]:
            text = self._well_formed(records.text(reasons), reasons)
            return records.decoded(*self._read(records, text, list(self.fields), reasons), reasons)
        records, headers = _split_headers(records)
        text = self._well_formed(records.text(reasons), reasons)
        parts = []
        for header in headers.unique(maintain_order=True):
            part = where(headers == pl.Series([header]), text)
            names, reason = self._columns(header)
            if reason:
                reasons.update(dict.fromkeys(part.is_not_null().arg_true(), reason))
            else:
                parts.append(self._read(records, part, names, reasons))
        return records.decoded(*_merged(parts, self.dtypes), reasons)

    def encode(self, train: pl.DataFrame) -> Encoded:
        """Return a line for each row."""
        texts = pl.DataFrame([write(train[name], t).alias(name) for name, t in self.fields.items()])
        reasons = dict(unwritten(train, texts))
        for name, type_ in self.fields.items():
            self._refuse(name, type_, texts[name], reasons)
        if len(self.fields) == 1:
            blank = texts.to_series().is_null() & (self._null_of(*self.fields.values()) == "")
            reasons.update(dict.fromkeys(blank.arg_true(), BLANK))
        cells = [self._cell(name, type_) for name, type_ in self.fields.items()]
        head = self._line(self.fields) if self.options["header"] else ""
        line = pl.concat_str(
            pl.lit(head), pl.concat_str(cells, separator=self.delimiter), pl.lit("\n")
        )
        return encoded(train, texts.select(line).to_series(), reasons)

    def _with_breaks(self, data: pl.Series, records: Records) -> Records:
        """Merge records that a quoted line break has split.

        Only if the merged record is well-formed: a stray quote must not spoil the following lines.
        """
        if not self._odd(utf8(records.data)).any():
            return records
        grammar = re.compile(self._grammar.replace("\\x{", "\\x").replace("}", ""))
        origin: list[int] = []
        found: list[bytes] = []
        for number, value in enumerate(data):
            joined = self._joined((value or b"").split(b"\n"), grammar)
            found += joined
            origin += [number] * len(joined)
        return Records(
            pl.Series("origin", origin, pl.UInt32), pl.Series("record", found, pl.Binary)
        )

    def _odd(self, text: pl.Series) -> pl.Series:
        """Return a mask of the lines with an odd number of quotes."""
        return (text.str.count_matches(self.quote, literal=True) % 2 == 1).fill_null(value=False)

    def _joined(self, lines: list[bytes], grammar: re.Pattern[str]) -> list[bytes]:
        """Return the lines of a message without blank ones, merging those of one record."""
        quote = self.quote.encode()
        odd = [row for row, line in enumerate(lines) if line.count(quote) % 2]
        found, at = [], 0
        for first, last in pairwise(odd):
            whole = b"\n".join(lines[first : last + 1]).removesuffix(b"\r")
            if first >= at and grammar.fullmatch(whole.decode(errors="replace")):
                found += [*lines[at:first], whole]
                at = last + 1
        ends = (line.removesuffix(b"\r") for line in [*found, *lines[at:]])
        return [line for line in ends if line]

    def _well_formed(self, text: pl.Series, reasons: Reasons) -> pl.Series:
        """Return the text; null, with a reason, where a parser would read into the next line."""
        broken = text.str.contains("\r", literal=True).fill_null(value=False)
        quoted = text.str.contains(self.quote, literal=True).fill_null(value=False)
        if self.options["breaks"]:
            broken &= ~quoted  # allowed in quotes, which the grammar checks
        quoted &= ~broken
        reasons.update(dict.fromkeys(broken.arg_true(), BROKEN))
        if quoted.any():
            rows = quoted.arg_true()
            misquoted = rows.filter(~text.gather(rows).str.contains(self._grammar))
            reasons.update(dict.fromkeys(misquoted, MISQUOTED))
        return text.scatter(list(reasons), None) if reasons else text

    @property
    def _grammar(self) -> str:
        quote, delimiter = (f"\\x{{{ord(mark):02x}}}" for mark in (self.quote, self.delimiter))
        cell = f"(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{quote}{delimiter}\r\n]*)"
        return f"^{cell}(?:{delimiter}{cell})*$"

    def _read(
        self, records: Records, text: pl.Series, names: Sequence[str], reasons: Reasons
    ) -> tuple[pl.DataFrame, pl.Series]:
        """Return the tuples of the lines that are not null, and their row numbers."""
        rows = text.is_not_null().arg_true()
        if not len(rows):
            return pl.DataFrame(schema=self.dtypes), rows
        wrong: Reasons = {}
        texts = self._columns_of(records, text.drop_nulls(), names, wrong)
        reasons.update({rows[line]: reason for line, reason in wrong.items()})
        if wrong:
            rows = pl.Series(np.delete(rows.to_numpy(), list(wrong)))
        tuples, bad = parse_fields(self._with_nulls(texts), self.fields)
        reasons.update({rows[row]: reason for row, reason in bad.items()})
        return tuples, rows

    def _columns_of(
        self, records: Records, lines: pl.Series, names: Sequence[str], wrong: Reasons
    ) -> pl.DataFrame:
        """Return the columns as text; lines with too few or too many values are skipped."""

        def skip(row: arrow_csv.InvalidRow) -> str:
            wrong[row.number - 1] = f"{row.actual_columns} values instead of {row.expected_columns}"
            return "skip"

        labels = [name if name in self.fields else f"__{i}" for i, name in enumerate(names)]
        table = arrow_csv.read_csv(
            pa.BufferReader(records.joined(lines)),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=labels, block_size=block_size(lines)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                quote_char=self.quote,
                ignore_empty_lines=False,
                newlines_in_values=self.options["breaks"],
                invalid_row_handler=skip,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(self.fields),
                column_types=dict.fromkeys(self.fields, pa.large_string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        return pl.DataFrame(table)

    def _with_nulls(self, texts: pl.DataFrame) -> pl.DataFrame:
        """Replace the null text by null, in fields that are not str or bytes."""
        if self.null == "":
            others = [name for name, type_ in self.fields.items() if type_ not in QUOTABLE]
            return texts.with_columns(pl.col(others).replace("", None))
        filled = (pl.col(n).fill_null("") for n, t in self.fields.items() if t not in QUOTABLE)
        return texts.with_columns(pl.when(column != self.null).then(column) for column in filled)

    def _columns(self, header: bytes) -> tuple[list[str], str]:
        """Return the names in a header, and the reason if it is invalid."""
        try:
            line = header.decode().removeprefix(BOM)
            reader = csv.reader([line], delimiter=self.delimiter, quotechar=self.quote, strict=True)
            names = next(reader)
        except (UnicodeDecodeError, csv.Error) as error:
            return [], f"the header is not a line of CSV: {error}"
        for name in self.fields:
            if names.count(name) != 1:
                times = "no" if name not in names else "more than one"
                return [], f"{name}: the header has {times} such column"
        return names, ""

    def _null_of(self, type_: Type) -> str:
        return "" if type_ in QUOTABLE else self.null

    def _refuse(self, name: str, type_: Type, text: pl.Series, reasons: Reasons) -> None:
        """Add reasons for the rows whose text could not be read back."""
        if type_ in QUOTABLE and self.options["breaks"]:
            return
        if type_ in QUOTABLE:
            wrong, why = text.str.contains("[\r\n]"), BROKEN
        else:
            wrong, why = text == self.null, f"its text is {self.null!r}, which means null"
        for row in wrong.fill_null(value=False).arg_true():
            reasons.setdefault(row, f"{name}: {why}")

    def _cell(self, name: str, type_: Type) -> pl.Expr:
        text = pl.col(name)
        quoted = pl.concat_str(
            pl.lit(self.quote),
            text.str.replace_all(self.quote, self.quote * 2, literal=True),
            pl.lit(self.quote),
        )
        marks = [self.quote, self.delimiter, "\r", "\n"]
        special = text.str.contains_any(marks) | (text == "")
        null = self._line([self._null_of(type_)]) if self._null_of(type_) else ""
        return pl.when(special).then(quoted).otherwise(text).fill_null(null.rstrip("\n"))

    def _line(self, values: Iterable[str]) -> str:
        out = io.StringIO()
        writer = csv.writer(
            out, delimiter=self.delimiter, quotechar=self.quote, lineterminator="\n"
        )
        writer.writerow(values)
        return out.getvalue()


def _with_newlines(data: pl.Series) -> pl.Series:
    r"""Replace line ends of old Macs, \r alone, by \n.

    >>> _with_newlines(pl.Series([b"t,x\r1,2\r", b"t\r\n1\r\n"])).to_list()
    [b't,x\n1,2\n', b't\r\n1\r\n']
    """
    returns = data.bin.contains(b"\r").fill_null(value=False)
    rows = [row for row in returns.arg_true() if _only_returns(data[row])]
    if not rows:
        return data
    found = (data[row].replace(b"\r\n", b"\n").replace(b"\r", b"\n") for row in rows)
    return data.scatter(rows, pl.Series(list(found), dtype=pl.Binary))


def _only_returns(value: bytes) -> bool:
    """Whether all line ends inside a value are a lone carriage return."""
    first = value.find(b"\n")
    inside = value if first < 0 else value[:first].rstrip(b"\r")
    return b"\r" in inside.rstrip(b"\r") and (first < 0 or not value[first:].strip(b"\r\n"))


def _split_headers(records: Records) -> tuple[Records, pl.Series]:
    """Return the records without the header of each value, and the header for each record."""
    first = (records.origin != records.origin.shift()).fill_null(value=True)
    headers = where(first, records.data).forward_fill().filter(~first)
    return Records(records.origin.filter(~first), records.data.filter(~first)), headers


def _merged(
    parts: Sequence[tuple[pl.DataFrame, pl.Series]], dtypes: Mapping[str, pl.DataType]
) -> tuple[pl.DataFrame, pl.Series]:
    """Merge the tuples of lines with different headers, in the order of the lines."""
    if not parts:
        return pl.DataFrame(schema=dtypes), pl.Series(dtype=pl.UInt32)
    rows = pl.concat([rows for _, rows in parts])
    order = rows.arg_sort()
    return pl.concat([tuples for tuples, _ in parts])[order], rows.gather(order)
