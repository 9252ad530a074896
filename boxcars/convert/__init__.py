"""Converters: bytes to tuples and back, in csv, jsonl, xml, binary and formats of your own."""

from boxcars.convert.format import Decoded, Encoded, Format
from boxcars.convert.registry import converter, formats, make_format
from boxcars.convert.rows import RecordFormat

__all__ = ["Decoded", "Encoded", "Format", "RecordFormat", "converter", "formats", "make_format"]
