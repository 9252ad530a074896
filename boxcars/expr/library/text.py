"""Text functions. Positions are in characters from 1; regular expressions are those of Rust."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from boxcars.expr.cursor import shorten
from boxcars.expr.functions import Group
from boxcars.model.problem import Wrong

add = Group("text")
_LONGEST = 1_000_000


def _length(text: pl.Expr) -> pl.Expr:
    return text.str.len_chars().cast(pl.Int64)


def _substr(text: pl.Expr, start: pl.Expr, length: pl.Expr | None = None) -> pl.Expr:
    start = start.clip(-(2**40), 2**40)
    first = pl.max_horizontal(start - 1, pl.lit(0))
    if length is None:
        return pl.when(start.is_not_null()).then(text.str.slice(first))
    end = start - 1 + length.clip(-1, 2**40)
    count = pl.max_horizontal(end - first, pl.lit(0))
    return pl.when((length >= 0) & start.is_not_null()).then(text.str.slice(first, count))


def _trim(strip: Callable[..., pl.Expr]) -> Callable[..., pl.Expr]:
    return lambda text, chars=" ": strip(text.str, chars)


def _replace(text: pl.Expr, old: pl.Expr, new: pl.Expr) -> pl.Expr:
    joined = text.str.split(old).list.join(new)
    known = old.is_not_null() & new.is_not_null()
    return pl.when(known & (old == "")).then(text).when(known).then(joined)


def _strpos(text: pl.Expr, part: pl.Expr) -> pl.Expr:
    before = _length(text.str.split(part).list.first())
    found = text.str.contains(part, literal=True)
    return pl.when(part == "").then(1).when(found).then(before + 1).when(found.not_()).then(0)


def _split_part(text: pl.Expr, separator: pl.Expr, index: pl.Expr) -> pl.Expr:
    parts = pl.when(separator == "").then(pl.concat_list(text)).otherwise(text.str.split(separator))
    offset = pl.when(index > 0).then(index - 1).when(index < 0).then(index)
    part = parts.list.get(offset.clip(-(2**31), 2**31), null_on_oob=True).fill_null("")
    known = text.is_not_null() & separator.is_not_null() & offset.is_not_null()
    return pl.when(known).then(part)


def _repeat(text: pl.Expr, count: pl.Expr) -> pl.Expr:
    short = count.clip(0, _LONGEST) * _length(text) <= _LONGEST
    times = pl.when(short & text.is_not_null()).then(count.clip(0, _LONGEST))
    return pl.when(times.is_not_null()).then(text.repeat_by(times.fill_null(0)).list.join(""))


def _pad(left: bool) -> Callable[..., pl.Expr]:
    def build(text: pl.Expr, length: pl.Expr, fill: str = " ") -> pl.Expr:
        if len(fill) != 1:
            raise Wrong(f"the fill must be one character, got '{fill}'.")
        size = pl.when(length <= _LONGEST).then(length.clip(0, _LONGEST))
        padded = (text.str.pad_start if left else text.str.pad_end)(size.fill_null(0), fill)
        return pl.when(size.is_not_null()).then(padded.str.head(size.fill_null(0)))

    return build


def _checked(pattern: str) -> str:
    try:
        pl.select(pl.lit("").str.contains(pattern))
    except pl.exceptions.PolarsError:
        raise Wrong(f"'{shorten(pattern)}' is not a regular expression.") from None
    return pattern


add(
    "length(text: str) -> int",
    "The number of characters.",
    _length,
    ("length('grün')", 4),
    aliases=("char_length", "character_length", "len"),
)
add(
    "octet_length(data: str|bytes) -> int",
    "The number of bytes; for a text, of its UTF-8 encoding.",
    lambda data: data.cast(pl.Binary).bin.size(),
    ("octet_length('grün')", 5),
)
add(
    "lower(text: str) -> str",
    "The text in lower case.",
    lambda t: t.str.to_lowercase(),
    ("lower('Ab')", "ab"),
)
add(
    "upper(text: str) -> str",
    "The text in upper case.",
    lambda t: t.str.to_uppercase(),
    ("upper('Ab')", "AB"),
)
for _name, _where, _strip, _result in (
    ("trim", "both ends", "strip_chars", "a"),
    ("ltrim", "the start", "strip_chars_start", "a  "),
    ("rtrim", "the end", "strip_chars_end", "  a"),
):
    add(
        f"{_name}(text: str, chars?: const str) -> str",
        f"The text without spaces, or other characters, at {_where}.",
        lambda text, chars=" ", strip=_strip: getattr(text.str, strip)(chars),
        (f"{_name}('  a  ')", _result),
        (f"{_name}('a', 'a')", ""),
        aliases=("btrim",) if _name == "trim" else (),
    )
add(
    "substr(text: str, start: int, length?: int) -> str",
    "The substring from a position on, as in Postgres; null for a negative length.",
    _substr,
    ("substr('hello', 2, 3)", "ell"),
    ("substr('hello', 4)", "lo"),
    ("substr('hello', 0, 3)", "he"),
    ("SUBSTRING('hello' FROM 2 FOR 2)", "el"),
    aliases=("substring",),
)
add(
    "left(text: str, n: int) -> str",
    "The first n characters; a negative n omits the last ones.",
    lambda text, n: pl.when(n.is_not_null()).then(text.str.head(n.fill_null(0))),
    ("left('hello', 2)", "he"),
    ("left('hello', -2)", "hel"),
)
add(
    "right(text: str, n: int) -> str",
    "The last n characters; a negative n omits the first ones.",
    lambda text, n: pl.when(n.is_not_null()).then(text.str.tail(n.fill_null(0))),
    ("right('hello', 2)", "lo"),
)
add(
    "replace(text: str, old: str, new: str) -> str",
    "The text with every occurrence of old replaced by new.",
    _replace,
    ("replace('a-b-c', '-', '+')", "a+b+c"),
)
add(
    "concat(text...: str) -> str",
    "Concatenated texts; unlike with ||, null counts as the empty text.",
    lambda *texts: pl.concat_str(texts, ignore_nulls=True),
    ("concat('a', NULL, 'b')", "ab"),
)
add(
    "concat_ws(separator: const str, text...: str) -> str",
    "Texts joined by a separator; nulls are skipped.",
    lambda separator, *texts: pl.concat_str(texts, separator=separator, ignore_nulls=True),
    ("concat_ws('-', 'a', NULL, 'b')", "a-b"),
)
add(
    "starts_with(text: str, part: str) -> bool",
    "Whether a text starts with another.",
    lambda text, part: text.str.starts_with(part),
    ("starts_with('hello', 'he')", True),
)
add(
    "ends_with(text: str, part: str) -> bool",
    "Whether a text ends with another.",
    lambda text, part: text.str.ends_with(part),
    ("ends_with('hello', 'he')", False),
)
add(
    "contains(text: str, part: str) -> bool",
    "Whether a text contains another.",
    lambda text, part: text.str.contains(part, literal=True),
    ("contains('hello', 'ell')", True),
)
add(
    "strpos(text: str, part: str) -> int",
    "The position of the first occurrence of another text, 0 if there is none.",
    _strpos,
    ("strpos('grün', 'n')", 4),
    ("POSITION('x' IN 'grün')", 0),
    aliases=("instr",),
)
add(
    "split_part(text: str, separator: str, n: int) -> str",
    "The n-th part between separators, from the end if n is negative; empty if there is none.",
    _split_part,
    ("split_part('a,b,c', ',', 2)", "b"),
    ("split_part('a,b,c', ',', -1)", "c"),
    ("split_part('a,b,c', ',', 4)", ""),
)
add(
    "reverse(text: str) -> str",
    "The text reversed.",
    lambda text: text.str.reverse(),
    ("reverse('abc')", "cba"),
)
add(
    "repeat(text: str, n: int) -> str",
    "A text repeated n times; null if that exceeds a million characters.",
    _repeat,
    ("repeat('ab', 3)", "ababab"),
)
add(
    "lpad(text: str, length: int, fill?: const str) -> str",
    "The text padded at the start, or truncated at the end, to a length of at most a million.",
    _pad(left=True),
    ("lpad('7', 3, '0')", "007"),
    ("lpad('hello', 2)", "he"),
)
add(
    "rpad(text: str, length: int, fill?: const str) -> str",
    "The text padded or truncated at the end to a length of at most a million.",
    _pad(left=False),
    ("rpad('7', 3, '.')", "7.."),
)
add(
    "regexp_like(text: str, pattern: const str) -> bool",
    "Whether a regular expression matches somewhere in a text.",
    lambda text, pattern: text.str.contains(_checked(pattern)),
    ("regexp_like('abc', '^a.c$')", True),
    aliases=("regexp_matches",),
)
add(
    "regexp_extract(text: str, pattern: const str, group?: const int) -> str",
    "The first match of a regular expression, or of one of its groups; null if there is none.",
    lambda text, pattern, group=0: text.str.extract(f"({_checked(pattern)})", group + 1),
    ("regexp_extract('a12b', '[0-9]+')", "12"),
    ("regexp_extract('k=v', '(.)=(.)', 2)", "v"),
    ("regexp_extract('a', '[0-9]+')", None),
)
add(
    "regexp_replace(text: str, pattern: const str, new: const str) -> str",
    "The text with every match of a regular expression replaced; $1 is its first group.",
    lambda text, pattern, new: text.str.replace_all(_checked(pattern), new),
    ("regexp_replace('a1b2', '[0-9]', '#')", "a#b#"),
)
