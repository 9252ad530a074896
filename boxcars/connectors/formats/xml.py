"""XML elements: ``<call caller="ann" time="7"/>`` or ``<call><caller>ann</caller>...</call>``.

Records are elements of one name, at the top level of a value or directly inside its root, so a
value may be a document or a fragment. An absent attribute or child is null. DOCTYPE and entity
declarations are rejected. Text is UTF-8, unless an XML declaration names another encoding that
extends ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar
from xml.parsers import expat

import polars as pl

from boxcars.connectors.formats.format import Decoded, Encoded, Format
from boxcars.connectors.formats.records import Reasons, Records
from boxcars.connectors.formats.rows import encoded
from boxcars.connectors.formats.texts import parse_fields, unwritten, write
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

ROOT = b"<boxcars>"
"""Wrapped around each value, so that a fragment is a document and a DOCTYPE is invalid."""
END = b"</boxcars>"
DEEPEST = 2
DOCTYPE = "a DOCTYPE is not allowed"

_DECLARATION = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]*?\?>""")
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([\w.-]+)["']""")
_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_FORBIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]"
_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}

Texts = dict[str, str]


class Xml(Format):
    """Elements named by the option ``record``; fields are attributes or children.

    Characters that XML can't represent are written as U+FFFD.

    >>> format = Xml({"caller": Type.STR, "time": Type.INT}, record="call")
    >>> value = b'<calls><call caller="ann" time="7"/><call><time>8</time></call></calls>'
    >>> format.decode(pl.Series([value])).tuples.rows()
    [('ann', 7), (None, 8)]
    >>> format.encode(pl.DataFrame({"caller": ["A&B"], "time": [7]})).data.to_list()
    [b'<call caller="A&amp;B" time="7"/>']
    """

    name = "xml"
    defaults: ClassVar[Mapping[str, object]] = {"record": "record"}

    def check(self) -> None:
        """Raise ``Wrong`` for names that are not valid in XML."""
        self.record: str = self.options["record"]
        for what, name in [("record", self.record), *(("field", name) for name in self.fields)]:
            if not _is_name(name):
                raise Wrong(f"{what} '{name}' is not a valid XML name.")

    def decode(self, data: pl.Series) -> Decoded:
        """Return the tuples in documents or fragments."""
        origin: list[int] = []
        found: list[bytes] = []
        texts: list[Texts] = []
        reasons: Reasons = {}
        for number, value in enumerate(data):
            if value is None:
                continue
            try:
                records = _Parser(self.record, self.fields).parse(value)
            except ValueError as error:
                reasons[len(found)] = str(error)
                records = [(value, {}, "")]
            for record, text, reason in records:
                if reason:
                    reasons[len(found)] = reason
                origin.append(number)
                found.append(record)
                texts.append(text)
        tuples, bad = parse_fields(self._columns(texts), self.fields)
        rows = pl.Series(range(len(found)), dtype=pl.UInt32)
        records_ = Records(
            pl.Series("origin", origin, pl.UInt32), pl.Series(found, dtype=pl.Binary)
        )
        return records_.decoded(tuples, rows, bad | reasons)

    def encode(self, train: pl.DataFrame) -> Encoded:
        """Return an element for each row."""
        texts = pl.DataFrame([write(train[name], t).alias(name) for name, t in self.fields.items()])
        attributes = [_attribute(name, type_) for name, type_ in self.fields.items()]
        element = pl.concat_str(pl.lit(f"<{self.record}"), *attributes, pl.lit("/>"))
        return encoded(train, texts.select(element).to_series(), dict(unwritten(train, texts)))

    def _columns(self, texts: list[Texts]) -> pl.DataFrame:
        columns = {
            name: pl.Series([t.get(name) for t in texts], dtype=pl.String) for name in self.fields
        }
        return pl.DataFrame(columns).with_columns(
            pl.col(name).str.strip_chars(" \t\r\n")
            for name, type_ in self.fields.items()
            if type_ is not Type.STR
        )


class _Parser:
    """Finds the records of one value: the bytes and texts of each, and the reason if invalid."""

    def __init__(self, record: str, fields: Mapping[str, Type]) -> None:
        self.name = record
        self.fields = fields
        self.found: list[tuple[bytes, Texts, str]] = []
        self.depth = -1
        self.record_depth = 0
        self.start = 0
        self.child: str | None = None
        self.texts: Texts = {}
        self.reason = ""

    def parse(self, value: bytes) -> list[tuple[bytes, Texts, str]]:
        """Return the records. Raises ``ValueError`` for a malformed value."""
        declaration = _DECLARATION.match(value)
        body = value[declaration.end() :] if declaration else value
        encoding = _ENCODING.search(declaration.group()) if declaration else None
        self.body = body.removeprefix(b"\xef\xbb\xbf")
        parser = expat.ParserCreate(encoding.group(1).decode() if encoding else "utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._text
        self.parser = parser
        try:
            parser.Parse(ROOT, False)
            parser.Parse(self.body, False)
            parser.Parse(END, True)
        except LookupError as error:
            raise ValueError(f"not XML: {error}") from None
        except expat.ExpatError as error:
            if b"<!DOCTYPE" in self.body:
                raise ValueError(DOCTYPE) from None
            raise ValueError(f"not XML: {expat.errors.messages[error.code]}") from None
        return self.found

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.record_depth:
            if self.depth == self.record_depth + 1 and name in self.fields:
                self.child = name
                self._put(name, "")
        elif name == self.name and 0 < self.depth <= DEEPEST:
            self.record_depth = self.depth
            self.start = self._at()
            self.texts = {}
            self.reason = ""
            for field, text in attributes.items():
                if field in self.fields:
                    self._put(field, text)

    def _put(self, field: str, text: str) -> None:
        if field in self.texts:
            self.reason = f"{field}: given twice"
        self.texts[field] = text

    def _text(self, text: str) -> None:
        if self.child is not None:
            self.texts[self.child] += text

    def _close(self, _name: str) -> None:
        if self.depth == self.record_depth + 1:
            self.child = None
        if self.depth == self.record_depth != 0:
            self.found.append((self.body[self.start : self._end()], self.texts, self.reason))
            self.record_depth = 0
        self.depth -= 1

    def _end(self) -> int:
        """Return the end offset of the record: after its only tag or its closing tag."""
        tag = _TAG.match(self.body, self.start)
        if tag and not tag.group().endswith(b"/>"):
            tag = _TAG.match(self.body, self._at())
        return tag.end() if tag else len(self.body)

    def _at(self) -> int:
        return self.parser.CurrentByteIndex - len(ROOT)


def _attribute(name: str, type_: Type) -> pl.Expr:
    text = pl.col(name)
    if type_ is Type.STR:
        text = text.str.replace_all(_FORBIDDEN, "\ufffd").str.replace_many(_ESCAPES)
    return pl.concat_str(pl.lit(f' {name}="'), text, pl.lit('"')).fill_null("")


def _is_name(name: str) -> bool:
    if not re.fullmatch(r"[\w.-]+", name):
        return False
    try:
        expat.ParserCreate().Parse(f"<{name}/>", True)
    except expat.ExpatError:
        return False
    return True
