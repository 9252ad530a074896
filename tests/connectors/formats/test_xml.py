from __future__ import annotations

import polars as pl
import pytest

from boxcars.connectors.formats.xml import DOCTYPE, Xml
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

CALL = {"caller": Type.STR, "time": Type.INT}
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><record caller="&b;"/>'


@pytest.mark.parametrize(
    "value",
    [
        b'<record caller="ann" time="7"/>',
        b"<record><time> 7 </time><caller>a<!-- -->n<![CDATA[n]]></caller></record>",
        b'<?xml version="1.0" encoding="UTF-8"?>\n<r><record time="7" caller="a&#110;n"/></r>',
        b'\xef\xbb\xbf<r>text<x time="9"/><record x="1" time="7"><caller>ann</caller></record></r>',
        b'<a><b><record time="1"/></b><record caller="ann" time="7"><record/></record></a>',
    ],
)
def test_ways_to_write_a_record(value: bytes) -> None:
    decoded = Xml(CALL).decode(pl.Series([value]))
    assert decoded.tuples.rows() == [("ann", 7)]
    assert decoded.dead.is_empty()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (BOMB, DOCTYPE),
        (b'<record time="1">', "not XML: mismatched tag"),
        (b"</boxcars><boxcars>", "not XML: junk after document element"),
        (b"<record caller='&nope;'/>", "not XML: undefined entity"),
        (b"<record caller='\xff'/>", "not XML: not well-formed (invalid token)"),
        (
            b"<?xml version='1.0' encoding='klingon'?><record/>",
            "not XML: unknown encoding: klingon",
        ),
        (b"<record time='x'/>", "time: 'x' is not an int"),
        (b"<record time=''/>", "time: '' is not an int"),
        (b"<record time='1'><time>1</time></record>", "time: given twice"),
    ],
)
def test_reasons(value: bytes, reason: str) -> None:
    decoded = Xml(CALL).decode(pl.Series([b"<record/>", value]))
    assert decoded.dead.rows() == [(1, value, reason)]
    assert decoded.origin.to_list() == [0]


def test_the_bytes_of_a_corrupt_record_among_good_ones() -> None:
    value = b"<r><record time='1'/><record caller='>' time='x'><caller/></record > <record/></r>"
    decoded = Xml(CALL).decode(pl.Series([value]))
    assert decoded.dead["record"].to_list() == [b"<record caller='>' time='x'><caller/></record >"]
    assert decoded.tuples.rows() == [(None, 1), (None, None)]


def test_encode() -> None:
    train = pl.DataFrame({"caller": ['<a> & "b"\n', None, "\0\ufffe"], "time": [1, None, 3]})
    assert Xml(CALL, record="call").encode(train).data.to_list() == [
        b'<call caller="&lt;a&gt; &amp; &quot;b&quot;&#10;" time="1"/>',
        b"<call/>",
        '<call caller="\ufffd\ufffd" time="3"/>'.encode(),
    ]


def test_names_must_be_names() -> None:
    with pytest.raises(Wrong, match=r"^record 'a b' is not a valid XML name\.$"):
        Xml(CALL, record="a b")
    with pytest.raises(Wrong, match=r"^field '1st' is not a valid XML name\.$"):
        Xml({"1st": Type.INT})
