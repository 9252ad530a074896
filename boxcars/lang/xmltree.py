"""XML as a small tree with line numbers; DOCTYPE, entities and external files are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from boxcars.model.problem import Location, NetworkError, Problem, Wrong

_MAX_DEPTH = 60
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Element:
    """An element with its attributes and its children."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""
    line: int = 0

    def __getitem__(self, attribute: str) -> str:
        return self.attributes[attribute]

    def get(self, attribute: str, default: str = "") -> str:
        """An attribute, or the default if it is missing."""
        return self.attributes.get(attribute, default)

    def all(self, tag: str) -> Iterator[Element]:
        """The children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def add(self, tag: str, **attributes: object) -> Element:
        """Append a child; an attribute that is None is left out."""
        given = {k.replace("_", "-"): str(v) for k, v in attributes.items() if v is not None}
        self.children.append(Element(tag, given))
        return self.children[-1]


def parse(content: str, file: str) -> Element:
    """Parse an XML text; return its root."""
    parser = expat.ParserCreate()
    parser.buffer_text = True  # deliver a text in one call, not line by line
    parser.buffer_size = 2**20
    root = Element("")
    stack = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, line=parser.CurrentLineNumber)
        if len(stack) > _MAX_DEPTH:
            where = Location(file, element.line)
            raise NetworkError([Problem("this is nested too deeply.", (), where)])
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        stack[-1].text += text

    def doctype(*_: object) -> None:
        where = Location(file, parser.CurrentLineNumber)
        raise NetworkError([Problem("a DOCTYPE is not allowed here: remove it.", (), where)])

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        where = Location(file, error.lineno)
        raise NetworkError([Problem(f"invalid XML: {what}.", (), where)]) from None
    return root.children[0]


def render(element: Element, indent: str = "") -> str:
    """Write an element, one line for each; an element with text has no children."""
    attributes = "".join(f" {k}={_quoted(v)}" for k, v in element.attributes.items())
    if element.text:
        text = escape(_allowed(element.text))
        return f"{indent}<{element.tag}{attributes}>{text}</{element.tag}>\n"
    if not element.children:
        return f"{indent}<{element.tag}{attributes}/>\n"
    inside = "".join(render(child, indent + "  ") for child in element.children)
    return f"{indent}<{element.tag}{attributes}>\n{inside}{indent}</{element.tag}>\n"


def _quoted(value: str) -> str:
    return quoteattr(_allowed(value))


def _allowed(value: str) -> str:
    if found := _FORBIDDEN.search(value):
        raise Wrong(
            f"XML can't represent the character {found[0]!r} in {value!r}: use YAML instead."
        )
    return value
