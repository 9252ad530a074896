"""Translates directives to boxes: the thesis' template (7.4.2), with events counted by clone.

Events that match any rule are numbered within their second, so that time and number identify each
event and order events of the same second. A rule is then::

    events ──filter──┐
                     ├─join──aggregate──filter──┬─map── alarms
    clones ──────────┘                          └─map── clones of its children

A clone is a tuple: the time and number of its event, its *trail* (the events that fired the rules
so far, which identify it), and the fields that later rules refer to. The join pairs each clone with
the events that it waits for. The aggregate counts them by trail and fires once, at the number that
the rule asks for: then the clone moves on to the next rules. The root has no clones to join.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from boxcars.lang.ossim_rules import Directive, Item, Match, Range, Reference, Rule, Subnet
from boxcars.model.deserialize import read_network
from boxcars.model.problem import Location, Path
from boxcars.model.reader import Reading

EVENT = {
    "time": "int",
    "plugin_id": "int",
    "plugin_sid": "int",
    "src_ip": "str",
    "src_port": "int",
    "dst_ip": "str",
    "dst_port": "int",
    "protocol": "str",
}
"""The fields of an event; the thesis' Table 7.4 calls them Time, Pid, Sid, IP_A, P_A, IP_B, P_B."""
ONCE = 1_000_000_000
"""An advance that is never reached: only the first window of a clone is ever full."""

_ROOM = 24
_KIND = ("plugin_id", "plugin_sid")
_NARROWED = (*_KIND, "src_port", "dst_port")
_SHOWN = ("src_ip", "src_port", "dst_ip", "dst_port", "protocol")
_ADDRESSES = ("src_ip", "dst_ip")
_OWN = [field for field in EVENT if field != "time"]


def translate(directives: Sequence[Directive], name: str) -> Reading:
    """Translate directives to a network with one input ``events`` and one output ``alarms``."""
    drawing = _Drawing()
    directives = [replace(each, rule=_narrowed(each.rule, ())) for each in directives]
    numbered = drawing.numbered([rule for d in directives for rule in d.rule.all()])
    prefixes = _prefixes(directives)
    alarms = [
        arc
        for directive, prefix in zip(directives, prefixes, strict=True)
        for arc in _Template(drawing, directive, prefix, numbered).rule(directive.rule, None)
    ]
    if len(alarms) > 1:
        alarms = [drawing.box("alarms", "union", alarms)]
    plain = {
        "name": re.sub(r"[^\w-]", "-", name),
        "inputs": {"events": {"ts": "time", "fields": EVENT}},
        "boxes": drawing.boxes,
        "outputs": {"alarms": {"from": alarms[0]}},
    }
    return read_network(plain, drawing.source, name=name)


class _Drawing:
    """The boxes so far, as plain data, and their lines in the file."""

    def __init__(self) -> None:
        self.boxes: dict[str, dict[str, Any]] = {}
        self.source: dict[Path, Location] = {}

    def box(self, name: str, type_: str, inputs: list[str], **params: Any) -> str:
        reads = inputs[0] if len(inputs) == 1 else inputs
        self.boxes[name] = {"type": type_, "in": reads, **params}
        return name

    def numbered(self, rules: Iterable[Rule]) -> str:
        """Add boxes that number relevant events within their second, from 1, as ``place``."""
        kinds = list(dict.fromkeys(_all(_constants(rule, _KIND)) for rule in rules))
        arc = "events"
        if "" not in kinds:
            arc = self.box("relevant", "filter", [arc], where=[_any(kinds)])
        arc = self.box("seconds", "map", [arc], fields={"second": "time"}, keep=True)
        fields = {"place": "count()", **{field: f"last({field})" for field in _OWN}}
        window = {"time": 1, "advance": 0}
        return self.box("places", "aggregate", [arc], window=window, by=["second"], fields=fields)


class _Template:
    """Adds the boxes for the rules of a directive."""

    def __init__(self, drawing: _Drawing, directive: Directive, prefix: str, events: str) -> None:
        self.drawing, self.directive, self.prefix, self.events = drawing, directive, prefix, events

    def rule(self, rule: Rule, clones: str | None) -> Iterator[str]:
        """Add a rule and its descendants; yield the arcs with their alarms."""
        events = self._wanted(rule)
        fired = self._root(rule, events) if clones is None else self._child(rule, events, clones)
        fixed = {
            "directive": str(self.directive.id),
            "name": _text(self.directive.name),
            "priority": str(self.directive.priority),
            "rule": _text(rule.label),
            "level": str(rule.level),
            "message": _text(rule.name),
            "reliability": str(rule.reliability),
        }
        trail = _trail(rule)
        shown = {field: field for field in _SHOWN}
        alarm = {"time": "time", **fixed, **shown, "trail": trail}
        yield self._box(rule, "alarms", "map", [fired], fields=alarm)
        if rule.children:
            kept = {r.name: r.field if r.level == rule.level else r.name for r in rule.remembered()}
            clone = {"time": "time", "place": "place", "trail": trail, **kept}
            below = self._box(rule, "clones", "map", [fired], fields=clone)
            for child in rule.children:
                yield from self.rule(child, below)

    def _box(self, rule: Rule, what: str, type_: str, inputs: list[str], **params: Any) -> str:
        name = f"{self.prefix}_rule{rule.label}_{what}"
        self.drawing.source["boxes", name] = Location(self.directive.file, rule.line)
        return self.drawing.box(name, type_, inputs, **params)

    def _wanted(self, rule: Rule) -> str:
        """Filter the events of a rule; subnets are tested last, because they are expensive."""
        subnets = [
            match.field
            for match in _constants(rule, _ADDRESSES)
            if any(isinstance(item, Subnet) for item in (*match.wanted, *match.unwanted))
        ]
        cheap = _all(_constants(rule, [field for field in _OWN if field not in subnets]))
        expensive = _all(_constants(rule, subnets))
        arc = self.events
        if cheap:
            arc = self._box(rule, "events", "filter", [arc], where=[cheap])
        if expensive:
            arc = self._box(rule, "addresses", "filter", [arc], where=[expensive])
        return arc

    def _root(self, rule: Rule, events: str) -> str:
        """Add a root rule; if it needs several events, windows start at every event of a group."""
        if rule.occurrence == 1:
            return events
        by = [r.field for r in rule.remembered() if r.level == 1] or list(_ADDRESSES)
        fields = {"first": "first(time)"}
        fields |= {field: f"last({field})" for field in _needed(rule) if field not in by}
        window = {"tuples": rule.occurrence, "advance": 1, **_timeout_after(rule.wait)}
        counted = self._box(
            rule, "count", "aggregate", [events], window=window, by=by, fields=fields
        )
        in_time = f"time - first <= {rule.wait}"
        return self._box(rule, "in_time", "filter", [counted], where=[in_time])

    def _child(self, rule: Rule, events: str, clones: str) -> str:
        """Add a child rule: join clones with their events, and fire at the number it asks for."""
        several = rule.occurrence > 1
        reach = rule.wait * (2 if several else 1)
        relative = [match.relative for match in rule.matches if match.relative]
        later = "(right.time > left.time OR right.place > left.place)"
        on = " AND ".join([*(_condition(match, "right.") for match in relative), later])
        keyed = any(_is_key(match) for match in relative)
        # At equal times clones come first, so no event has to be retained for a later clone.
        pairs = self._box(
            rule,
            "pairs",
            "join" if keyed else "product",
            [clones, events],
            on=on,
            window={"time": reach + 1},
            right={"time": 1},
        )
        fields = {"began": "first(left_time)", "first": "first(right_time)"}
        fields |= {field: f"last(right_{field})" for field in _needed(rule)}
        kept = [r.name for r in rule.remembered() if r.level < rule.level]
        fields |= {name: f"last(left_{name})" for name in kept}
        window = {"tuples": rule.occurrence, "advance": ONCE, **_timeout_after(reach)}
        counted = self._box(
            rule, "count", "aggregate", [pairs], window=window, by=["left_trail"], fields=fields
        )
        if not several:
            return counted
        in_time = f"first - began <= {rule.wait} AND time - first <= {rule.wait}"
        return self._box(rule, "in_time", "filter", [counted], where=[in_time])


def _needed(rule: Rule) -> list[str]:
    """The fields of the firing event that alarms show or descendants refer to."""
    referred = [r.field for r in rule.remembered() if r.level == rule.level]
    return ["place", *dict.fromkeys([*_SHOWN, *referred])]


def _trail(rule: Rule) -> str:
    """The events that fired the rules so far, by time and number: ``100.1 112.1``."""
    own = "CAST(time AS str) || '.' || CAST(place AS str)"
    return own if rule.level == 1 else f"left_trail || ' ' || {own}"


def _timeout_after(seconds: int) -> dict[str, Any]:
    """Window options that drop a group after a time without events, with no result."""
    return {"timeout": seconds, "obsolete": "drop"}


def _prefixes(directives: Sequence[Directive]) -> list[str]:
    """Prefixes of the box names of each directive: its name, shortened.

    >>> rule = Rule("1", 1, "share", ())
    >>> _prefixes([Directive(7, "SMB: a harmful file", 3, rule), Directive(8, "7 × 7", 3, rule)])
    ['smb_a_harmful_file', 'directive_7_7']
    """
    short = [_shortened(directive.name) for directive in directives]
    return [
        name if short.count(name) == 1 else f"{name}_{directive.id}"
        for name, directive in zip(short, directives, strict=True)
    ]


def _shortened(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", name.lower())
    while len("_".join(words)) > _ROOM and len(words) > 1:
        words.pop()
    short = "_".join(words)[:_ROOM]
    return short if short[:1].isalpha() else f"directive_{short}".rstrip("_")


def _narrowed(rule: Rule, before: tuple[Rule, ...]) -> Rule:
    """Add the conditions that references imply, so that fewer events reach the join.

    An event whose sid must be ``1:PLUGIN_SID`` has one of the sids of the first rule.
    """
    implied = [
        replace(known, field=match.field)
        for match in rule.matches
        if match.field in _NARROWED
        for item in (match.wanted if _is_key(match) else ())
        if isinstance(item, Reference)
        for known in _constants(before[item.level - 1], [item.field])
    ]
    narrow = replace(rule, matches=(*rule.matches, *implied))
    path = (*before, narrow)
    return replace(narrow, children=tuple(_narrowed(child, path) for child in rule.children))


def _constants(rule: Rule, fields: Iterable[str]) -> list[Match]:
    """The conditions of a rule on some fields that do not refer to earlier events."""
    wanted = set(fields)
    parts = (match.constant for match in rule.matches if match.field in wanted)
    return [part for part in parts if part is not None]


def _all(matches: Iterable[Match]) -> str:
    return " AND ".join(_condition(match, "") for match in matches)


def _any(conditions: Sequence[str]) -> str:
    return " OR ".join(f"({each})" for each in conditions) if len(conditions) > 1 else conditions[0]


def _is_key(match: Match) -> bool:
    """Whether a field must equal one field of an earlier event."""
    return len(match.wanted) == 1 and isinstance(match.wanted[0], Reference)


def _condition(match: Match, side: str) -> str:
    """Write a match as an expression.

    >>> _condition(Match("dst_port", (80, Range(8000, 8080)), (8001,)), "")
    '(dst_port BETWEEN 8000 AND 8080 OR dst_port = 80) AND NOT (dst_port = 8001)'
    """
    field = f"{side}{match.field}"
    terms = []
    if match.wanted:
        alternatives = list(_alternatives(match.wanted, field))
        one = len(alternatives) == 1
        terms.append(alternatives[0] if one else f"({' OR '.join(alternatives)})")
    if match.unwanted:
        terms.append(f"NOT ({' OR '.join(_alternatives(match.unwanted, field))})")
    return " AND ".join(terms)


def _alternatives(items: Iterable[Item], field: str) -> Iterator[str]:
    """The conditions for a field to be one of the items; plain values last, as one list."""
    values = []
    for item in items:
        match item:
            case Reference():
                yield f"left.{item.name} = {field}"
            case Subnet(network):
                yield f"in_subnet({field}, {_text(network)})"
            case Range(low, high):
                yield f"{field} BETWEEN {low} AND {high}"
            case _:
                values.append(_text(item) if isinstance(item, str) else str(item))
    if len(values) == 1:
        yield f"{field} = {values[0]}"
    elif values:
        yield f"{field} IN ({', '.join(values)})"


def _text(value: str) -> str:
    """Write a string as SQL literal."""
    return "'" + value.replace("'", "''") + "'"
