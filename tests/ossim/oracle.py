"""The reference interpreter of directives: one event at a time, with explicit clones.

Written from the definition in docs/how-to/ossim-directives.md; it reads the XML itself and shares
nothing with the translation.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any
from xml.etree import ElementTree

Event = dict[str, Any]
ATTRIBUTES = {
    "plugin_id": "plugin_id",
    "plugin_sid": "plugin_sid",
    "from": "src_ip",
    "to": "dst_ip",
    "port_from": "src_port",
    "port_to": "dst_port",
    "protocol": "protocol",
}
NETS = {"HOME_NET": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]}


@dataclass
class Rule:
    level: int
    asks: dict[str, list[str]]
    occurrence: int
    time_out: int
    reliability: int
    parent: "Rule | None"
    children: list["Rule"] = field(default_factory=list)
    label: str = ""

    def tree(self) -> Iterator["Rule"]:
        yield self
        for child in self.children:
            yield from child.tree()


@dataclass
class Clone:
    rule: Rule
    made: int
    story: list[Event]
    """The events that fired the rules before."""
    count: int = 0
    first: int = 0


class Directive:
    """The life of one directive."""

    def __init__(self, root: ElementTree.Element, number: int) -> None:
        given = {name.lower(): value for name, value in root.attrib.items()}
        self.id = int(given.get("id", number))
        (first,) = root.findall("rule")
        self.root = self.rule(first, None)
        for level in {rule.level for rule in self.root.tree()}:
            peers = [rule for rule in self.root.tree() if rule.level == level]
            for letter, rule in zip("abcdefghijklmnopqrstuvwxyz", peers, strict=False):
                rule.label = f"{level}{letter if len(peers) > 1 else ''}"
        self.clones: list[Clone] = []
        self.recent: dict[tuple[Any, ...], list[Event]] = {}
        self.alarms: list[dict[str, Any]] = []

    def rule(self, element: ElementTree.Element, parent: Rule | None) -> Rule:
        given = {name.lower(): value for name, value in element.attrib.items()}
        text = given.get("reliability", "+0")
        before = parent.reliability if parent else 0
        reliability = min(before + int(text), 10) if text.startswith("+") else int(text)
        asks = {ATTRIBUTES[a]: given[a].split(",") for a in ATTRIBUTES if a in given}
        time_out = given.get("time_out", "None")
        rule = Rule(
            parent.level + 1 if parent else 1,
            asks,
            int(given.get("occurrence", 1)),
            3600 if time_out in ("None", "0") else int(time_out),
            reliability,
            parent,
        )
        rule.children = [self.rule(e, rule) for rules in element for e in rules]
        return rule

    def take(self, event: Event) -> None:
        """Offer the event to each waiting clone, in the order of their creation."""
        for clone in list(self.clones):
            since = clone.first if clone.count else clone.made
            if event["time"] - since > clone.rule.time_out:
                self.clones.remove(clone)
            elif matches(clone.rule, event, clone.story):
                clone.first = clone.first if clone.count else event["time"]
                clone.count += 1
                if clone.count == clone.rule.occurrence:
                    self.clones.remove(clone)
                    self.fire(clone.rule, event, clone.story)
        if matches(self.root, event, []):
            self.begin(event)

    def begin(self, event: Event) -> None:
        """The root counts the events that agree in the fields that other rules refer to."""
        below = [rule for rule in self.root.tree() if rule.level > 1]
        words = [w.strip("!") for rule in below for ask in rule.asks.values() for w in ask]
        agree = {w.split(":")[1].lower() for w in words if w.startswith("1:")}
        key = tuple(event[name] for name in sorted(agree or {"src_ip", "dst_ip"}))
        recent = self.recent.setdefault(key, [])
        recent.append(event)
        first = recent[-self.root.occurrence :][0]
        enough = len(recent) >= self.root.occurrence
        if enough and event["time"] - first["time"] <= self.root.time_out:
            self.fire(self.root, event, [])
        elif self.root.occurrence == 1:
            raise AssertionError("one event is always in time")

    def fire(self, rule: Rule, event: Event, story: list[Event]) -> None:
        story = [*story, event]
        names = ("src_ip", "src_port", "dst_ip", "dst_port", "protocol")
        self.alarms.append(
            {
                "time": event["time"],
                "directive": self.id,
                "rule": rule.label,
                "level": rule.level,
                "reliability": rule.reliability,
                **{name: event[name] for name in names},
                "trail": " ".join(f"{e['time']}.{e['place']}" for e in story),
            }
        )
        self.clones += [Clone(child, event["time"], story) for child in rule.children]


def matches(rule: Rule, event: Event, story: list[Event]) -> bool:
    return all(fits(event[name], words, story) for name, words in rule.asks.items())


def fits(value: Any, words: list[str], story: list[Event]) -> bool:
    """Whether a value is one of the words, and none of those after a ``!``."""
    if words == ["ANY"]:
        return True
    if value is None:
        return False
    wanted = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!")]
    if any(undecided(word, story) for word in unwanted):
        return False
    if any(is_one(value, word, story) for word in unwanted):
        return False
    return not wanted or "ANY" in wanted or any(is_one(value, word, story) for word in wanted)


def referred(word: str, story: list[Event]) -> Any:
    level, _, name = word.partition(":")
    return story[int(level) - 1][name.lower()]


def is_reference(word: str) -> bool:
    return word.partition(":")[0].isdigit() and word.rpartition(":")[2][:1].isupper()


def undecided(word: str, story: list[Event]) -> bool:
    return is_reference(word) and referred(word, story) is None


def is_one(value: Any, word: str, story: list[Event]) -> bool:
    if word in NETS:
        return any(is_one(value, net, story) for net in NETS[word])
    if is_reference(word):
        return bool(value == referred(word, story))
    if "/" in word:
        return ip_address(value) in ip_network(word)
    if isinstance(value, int):
        low, _, high = word.partition("-")
        return int(low) <= value <= int(high or low)
    return bool(value == word)


def interpret(texts: Iterable[str], events: Iterable[Event]) -> list[dict[str, Any]]:
    """The alarms of some files, in the order of the network's output."""
    directives = []
    for text in texts:
        root = ElementTree.fromstring(text)
        found = [root] if root.tag == "directive" else root.findall("directive")
        directives += [Directive(element, n) for n, element in enumerate(found, 1)]
    kinds = [
        [(name, words) for name in ("plugin_id", "plugin_sid") for words in looked_for(rule, name)]
        for directive in directives
        for rule in directive.root.tree()
    ]
    now, place = None, 0
    for event in events:
        if not any(all(looks_for(event[n], words) for n, words in k) for k in kinds):
            continue
        now, place = event["time"], place + 1 if event["time"] == now else 1
        for directive in directives:
            directive.take({**event, "place": place})
    position = {
        (directive.id, rule.label): n
        for n, (directive, rule) in enumerate((d, r) for d in directives for r in d.root.tree())
    }
    alarms = [alarm for directive in directives for alarm in directive.alarms]
    return sorted(alarms, key=lambda a: (a["time"], position[a["directive"], a["rule"]]))


def looked_for(rule: Rule, name: str) -> list[list[str]]:
    """The conditions of a rule, and of the rule it refers to."""
    words = rule.asks.get(name, ["ANY"])
    wanted = [word for word in words if not word.startswith("!")]
    if len(wanted) != 1 or not is_reference(wanted[0]):
        return [words]
    above = rule
    while above.level > int(wanted[0].partition(":")[0]):
        assert above.parent is not None
        above = above.parent
    return [words, *looked_for(above, name)]


def looks_for(value: Any, words: list[str]) -> bool:
    """Whether a value may match, for any values of references."""
    if any(is_reference(word) for word in words if not word.startswith("!")):
        words = [word for word in words if word.startswith("!")]
    fixed = [word for word in words if not is_reference(word.strip("!"))]
    return not fixed or fits(value, fixed, [])
