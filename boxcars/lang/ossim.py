"""Reads OSSIM directives (thesis, 7.4) as the network that detects them.

A file has ``<directives>`` or a single ``<directive>``. Names of attributes may be written as OSSIM
does (``plugin_id``) or as the thesis does (``Plugin_Id``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path

from boxcars.lang.ossim_network import translate
from boxcars.lang.ossim_rules import (
    MAX_RELIABILITY,
    Directive,
    Item,
    Match,
    Range,
    Reference,
    Rule,
    Subnet,
)
from boxcars.lang.xmltree import Element, parse
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Location, NetworkError, Problem, Wrong, nearest
from boxcars.model.reader import Reading

HOME: Mapping[str, str] = {"HOME_NET": "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"}
"""Default definitions of the networks that a file may name, as in OSSIM."""
FIELDS: Mapping[str, str] = {
    "plugin_id": "plugin_id",
    "plugin_sid": "plugin_sid",
    "from": "src_ip",
    "to": "dst_ip",
    "port_from": "src_port",
    "port_to": "dst_port",
    "protocol": "protocol",
}
"""The attributes of a rule that are conditions on an event, and their fields."""
_NUMBERS = ("type", "name", "occurrence", "time_out", "reliability")
_KNOWN = (*FIELDS, *_NUMBERS)
_OTHERS = ("sensor", "interface", "filename", "username", "password", "sticky", "sticky_different")
_NO_CONDITION = ("", "any", "none")
_ADDRESSES, _PORTS = ("src_ip", "dst_ip"), ("src_port", "dst_port")
_KINDS = {**dict.fromkeys(_ADDRESSES, "ip"), **dict.fromkeys(_PORTS, "port")}
_REFERENCE = re.compile(r"(\d+):(\w+)", re.ASCII)
_ROOT = re.compile(r"\A\s*(?:<\?xml.*?\?>\s*)?(?:<!--.*?-->\s*)*<directives?[\s/>]", re.S)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def is_ossim(content: str) -> bool:
    """Whether an XML text contains directives.

    >>> is_ossim("<!-- ours --> <directive/>"), is_ossim("<borealis/>")
    (True, False)
    """
    return _ROOT.match(content) is not None


def read(content: str, path: Path, nets: Mapping[str, str] = HOME) -> Reading:
    """Read a file of directives as a network."""
    return translate(read_directives(content, str(path), nets), path.stem)


def read_ossim(
    *paths: str | Path, nets: Mapping[str, str] | None = None, name: str = "directives"
) -> Network:
    """Read the directives of one or more files as a network.

    For example ``read_ossim("smb.xml", nets={"HOME_NET": "192.168.1.0/24"})``.

    ``nets`` defines the networks that the files name. The network is called like the file, or
    ``name`` if there are several.
    """
    found: list[Directive] = []
    for path in map(Path, paths):
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BoxcarsError(f"{path}: can't be read: {error}.") from None
        found += read_directives(content, str(path), {**HOME, **(nets or {})}, found)
    if not found:
        raise Wrong("expected at least one file of directives.")
    return translate(found, Path(paths[0]).stem if len(paths) == 1 else name).network


def read_directives(
    content: str,
    file: str,
    nets: Mapping[str, str] = HOME,
    others: Iterable[Directive] = (),
) -> tuple[Directive, ...]:
    """Parse the directives of a text; raise an error with all their problems.

    ``others`` are the directives read so far: ids must be unique.
    """
    reader = _Reader(file, nets)
    found = tuple(reader.directives(parse(content, file)))
    ids = {directive.id for directive in others}
    for directive in found:
        if directive.id in ids:
            reader.wrong(f"duplicate directive id {directive.id}.", directive.line)
        ids.add(directive.id)
    if reader.problems:
        raise NetworkError(
            sorted(reader.problems, key=lambda p: p.location.line if p.location else 0)
        )
    return found


class _Reader:
    """Converts elements to rules, and collects their problems."""

    def __init__(self, file: str, nets: Mapping[str, str]) -> None:
        self.file = file
        self.nets = nets
        self.problems: list[Problem] = []

    def wrong(self, message: str, line: int) -> None:
        self.problems.append(Problem(message, (), Location(self.file, line)))

    def directives(self, root: Element) -> Iterator[Directive]:
        if root.tag == "directive":
            yield from self.directive(root, 1)
            return
        if root.tag != "directives":
            self.wrong(f"expected <directives>, got <{root.tag}>.", root.line)
            return
        self.only(root, "directive")
        if not root.children:
            self.wrong("<directives> needs at least one <directive>.", root.line)
        for number, element in enumerate(root.all("directive"), 1):
            yield from self.directive(element, number)

    def directive(self, element: Element, number: int) -> Iterator[Directive]:
        """Yield the directive, if it has a rule; the default id is its number in the file."""
        given = self.attributes(element, ("id", "name", "priority"))
        self.only(element, "rule")
        id_ = self.number(given, "id", element, number, 0)
        name = given.get("name") or f"directive {id_}"
        priority = self.number(given, "priority", element, 3, 0, 5)
        roots = list(element.all("rule"))
        if len(roots) != 1:
            message = f"directive {id_} needs exactly one root <rule>, got {len(roots)}."
            self.wrong(message, element.line)
        for root in roots[:1]:
            rule = self.rule(root, 1, 0)
            yield Directive(id_, name, priority, _labelled(rule), self.file, element.line)

    def rule(self, element: Element, level: int, inherited: int) -> Rule:
        """Read a rule and its descendants; ``inherited`` is the reliability of its parent."""
        given = self.attributes(element, _KNOWN, _OTHERS)
        if given.get("type", "detector").lower() != "detector":
            self.wrong(f"expected type 'detector', got '{given['type']}'.", element.line)
        if "plugin_id" not in given:
            self.wrong("<rule> needs 'plugin_id'; ANY matches all plugins.", element.line)
        reliability = self.reliability(given.get("reliability", "+0"), inherited, element.line)
        self.only(element, "rules")
        below = []
        for rules in element.all("rules"):
            self.only(rules, "rule")
            below += [self.rule(child, level + 1, reliability) for child in rules.all("rule")]
        matches = [self.match(key, given[key], level, element) for key in FIELDS if key in given]
        silent = given.get("time_out", "").lower() in _NO_CONDITION
        return Rule(
            label=str(level),
            level=level,
            name=given.get("name") or f"rule {level}",
            matches=tuple(match for match in matches if match.wanted or match.unwanted),
            occurrence=self.number(given, "occurrence", element, 1, 1),
            time_out=None if silent else self.number(given, "time_out", element, 0, 0) or None,
            reliability=reliability,
            children=tuple(below),
            line=element.line,
        )

    def attributes(
        self, element: Element, known: tuple[str, ...], others: tuple[str, ...] = ()
    ) -> dict[str, str]:
        """The attributes in lower case; those in ``others`` must be empty, ANY or NONE."""
        given: dict[str, str] = {}
        for written, value in element.attributes.items():
            name = written.lower()
            if name in others:
                if value.lower() not in _NO_CONDITION:
                    message = f"'{written}' is not supported: omit it, or write ANY."
                    self.wrong(message, element.line)
            elif name not in known:
                hint = nearest(name, known)
                self.wrong(f"<{element.tag}> has no '{written}'.{hint}", element.line)
            else:
                given[name] = value.strip()
        return given

    def only(self, element: Element, tag: str) -> None:
        """Report children of an element that have another tag."""
        for child in element.children:
            if child.tag != tag:
                message = f"expected <{tag}> in <{element.tag}>, got <{child.tag}>."
                self.wrong(message, child.line)

    def number(
        self,
        given: Mapping[str, str],
        name: str,
        element: Element,
        default: int,
        low: int,
        high: int | None = None,
    ) -> int:
        text = given.get(name, str(default))
        found = _whole(text)
        if found is None or found < low or (high is not None and found > high):
            limits = f"from {low} to {high}" if high is not None else f"of at least {low}"
            message = f"'{name}': expected a whole number {limits}, got '{text}'."
            self.wrong(message, element.line)
            return default
        return found

    def reliability(self, text: str, inherited: int, line: int) -> int:
        """Read a reliability: ``3`` is absolute, ``+2`` is added to that of the parent."""
        found = _whole(text.removeprefix("+"))
        if found is None or found > MAX_RELIABILITY:
            message = f"expected a reliability such as '3' or '+2', 10 at most; got '{text}'."
            self.wrong(message, line)
            return inherited
        return min(inherited + found, MAX_RELIABILITY) if text.startswith("+") else found

    def match(self, attribute: str, text: str, level: int, element: Element) -> Match:
        """Read the condition of an attribute: a comma-separated list; ``!`` excludes a value."""
        wanted: list[Item] = []
        unwanted: list[Item] = []
        anything = False
        for part in (part.strip() for part in text.split(",")):
            not_ = part.startswith("!")
            word = part.removeprefix("!").strip()
            if word.lower() == "any":
                if not_:
                    self.wrong(f"'{attribute}' can't be '!ANY': nothing matches.", element.line)
                anything = True
                continue
            try:
                (unwanted if not_ else wanted).extend(self.items(FIELDS[attribute], word, level))
            except Wrong as wrong:
                self.wrong(f"'{attribute}': {wrong}", element.line)
        return Match(FIELDS[attribute], () if anything else tuple(wanted), tuple(unwanted))

    def items(self, field: str, word: str, level: int) -> Iterable[Item]:
        """Read one word of a list; the name of a network may stand for several subnets."""
        if found := _REFERENCE.fullmatch(word):
            return [_reference(field, int(found[1]), found[2], level)]
        if field in _ADDRESSES:
            if word in self.nets:
                return [_address(part.strip(), self.nets) for part in self.nets[word].split(",")]
            return [_address(word, self.nets)]
        if field == "protocol":
            if not word.isalnum():
                raise Wrong(f"expected a protocol such as TCP, got '{word}'.")
            return [word.upper()]
        if field in _PORTS:
            return [_port(word)]
        number = _whole(word)
        if number is None:
            raise Wrong(f"expected a number or ANY, got '{word}'.")
        return [number]


def _reference(field: str, level: int, name: str, own: int) -> Reference:
    """Read ``1:SRC_IP``; the thesis also writes ``1:From``."""
    referred = FIELDS.get(name.lower(), name.lower())
    if referred not in FIELDS.values():
        names = [field.upper() for field in FIELDS.values()]
        raise Wrong(f"there is no field '{name}' to refer to.{nearest(name, names)}")
    if _KINDS.get(referred, referred) != _KINDS.get(field, field):
        raise Wrong(f"'{level}:{name}' is a field of another type.")
    if not 1 <= level < own:
        raise Wrong(
            f"'{level}:{name}' does not refer to an earlier rule: this one has level {own}."
        )
    return Reference(level, referred)


def _address(word: str, nets: Mapping[str, str]) -> str | Subnet:
    try:
        if "/" in word:
            return Subnet(str(ip_network(word, strict=False)))
        return str(ip_address(word))
    except ValueError:
        pass
    if re.fullmatch(r"[A-Za-z_]\w*", word):
        raise Wrong(f"there is no network '{word}'.{nearest(word, nets)}")
    raise Wrong(f"expected an address, a subnet or ANY, got '{word}'.")


def _port(word: str) -> int | Range:
    low, dash, high = word.partition("-")
    ends = [_whole(part.strip()) for part in ((low, high) if dash else (low,))]
    numbers = [end for end in ends if end is not None and end <= 65535]
    if len(numbers) != len(ends) or numbers != sorted(numbers):
        raise Wrong(f"expected a port from 0 to 65535, a range or ANY, got '{word}'.")
    return Range(numbers[0], numbers[1]) if dash else numbers[0]


def _whole(text: str) -> int | None:
    """Parse a whole number of at most 18 digits, without a sign."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _labelled(root: Rule) -> Rule:
    """Label the tree: the level, and a letter if a level has several rules."""
    levels = [rule.level for rule in root.all()]
    seen: dict[int, int] = {}

    def label(rule: Rule) -> Rule:
        number = seen.get(rule.level, 0)
        seen[rule.level] = number + 1
        letter = _letters(number) if levels.count(rule.level) > 1 else ""
        below = tuple(map(label, rule.children))
        return replace(rule, label=f"{rule.level}{letter}", children=below)

    return label(root)


def _letters(number: int) -> str:
    """``a`` to ``z``, then ``aa``, ``ab`` and so on."""
    more, last = divmod(number, len(_LETTERS))
    return (_letters(more - 1) if more else "") + _LETTERS[last]
