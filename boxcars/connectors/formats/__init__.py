"""Formats that convert bytes to tuples and back: csv, jsonl, xml, binary, and registered ones."""

from boxcars.connectors.formats.format import Decoded, Encoded, Format
from boxcars.connectors.formats.registry import converter, formats, make_format
from boxcars.connectors.formats.rows import RecordFormat

__all__ = ["Decoded", "Encoded", "Format", "RecordFormat", "converter", "formats", "make_format"]
