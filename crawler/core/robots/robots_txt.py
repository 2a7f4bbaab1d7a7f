"""The parser of robots.txt (RFC 9309), its rules for a crawler, and the meaning of a missing file."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain

import msgspec

from crawler.core.robots.rules import Rule, rule_of, target_of

MAX_BYTES = 512_000  # read of a robots.txt; RFC 9309, 2.5 asks for at least 500 kibibytes

_ANYONE = "*"
_LINE_END = re.compile("\r\n|\r|\n")
_MISSPELT = {
    **dict.fromkeys(("dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    **dict.fromkeys(("useragent", "user agent"), "user-agent"),
    "site-map": "sitemap",
}
_RATE = re.compile(r"([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*([smhd]?)(?![0-9a-z])", re.IGNORECASE)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}  # seconds
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # https://mimesniff.spec.whatwg.org/#binary-data-byte
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HTML = frozenset({"text/html", "application/xhtml+xml"})


class RobotsAnswer(Enum):
    """What the answer to the request for robots.txt means."""

    PARSE = "parse"  # its text is the rules
    ALLOW_ALL = "allow_all"  # there are no rules
    UNREACHABLE = "unreachable"  # nothing may be fetched for now; ask again later


def verdict_of_status(http_status: int | None) -> RobotsAnswer:
    """What the final status of the request for robots.txt means; None when no response arrived.

    - 2xx: the rules (RFC 9309, 2.3.1.1).
    - 3xx: more redirects than we follow, which "MAY" be taken for unavailable (2.3.1.2).
    - 4xx: unavailable, "the crawler MAY access any resources on the server" (2.3.1.3). That includes 429: the RFC makes
      no exception, and a host that asks for patience gets it from the answers to its pages.
    - 5xx, no response, and no final status: unreachable, "the crawler MUST assume complete disallow" (2.3.1.4).
    """
    match (http_status or 0) // 100:
        case 2:
            return RobotsAnswer.PARSE
        case 3 | 4:
            return RobotsAnswer.ALLOW_ALL
        case _:
            return RobotsAnswer.UNREACHABLE


class RobotsGroup(msgspec.Struct, frozen=True):
    """The rules for one crawler: all groups that name it, merged (RFC 9309, 2.2.1)."""

    rules: tuple[Rule, ...] = ()  # the most specific first, and allow before disallow among equals
    crawl_delay: float | None = None  # seconds; not part of the RFC
    request_gap: float | None = None  # seconds between two requests, by Request-rate; not part of the RFC


class RobotsRules(msgspec.Struct, frozen=True):
    """A parsed robots.txt. To store it, store its text."""

    groups: Mapping[str, RobotsGroup]  # by product token in lower case; "*" for every other crawler
    sitemaps: tuple[str, ...]  # as written, each once

    def deciding(self, url: str, user_agent_token: str) -> Rule | None:
        """The rule that decides about the normalised `url` for the crawler of this product token ("examplebot", or
        "examplebot/1.0"): the most specific that matches; allow wins a tie. None when no rule matches."""
        target = target_of(url)
        if target == "/robots.txt":  # "implicitly allowed" (2.2.2)
            return None
        return next((rule for rule in self._group(user_agent_token).rules if rule.matches(target)), None)

    def allows(self, url: str, user_agent_token: str) -> bool:
        """Whether the crawler of this product token may fetch the normalised `url`; without a matching rule it may."""
        rule = self.deciding(url, user_agent_token)
        return rule is None or rule.allow

    def crawl_delay(self, user_agent_token: str) -> float | None:
        """The Crawl-delay for this crawler in seconds, if there is one."""
        return self._group(user_agent_token).crawl_delay

    def request_gap(self, user_agent_token: str) -> float | None:
        """Seconds between two requests by the Request-rate, if there is one. One for some hours of the day is applied
        all day."""
        return self._group(user_agent_token).request_gap

    def delay(self, user_agent_token: str) -> float | None:
        """Seconds between two requests: the longer of Crawl-delay and Request-rate."""
        group = self._group(user_agent_token)
        return max((delay for delay in (group.crawl_delay, group.request_gap) if delay is not None), default=None)

    def _group(self, user_agent_token: str) -> RobotsGroup:
        return self.groups.get(_token(user_agent_token)) or self.groups.get(_ANYONE) or RobotsGroup()


class _Record(msgspec.Struct, frozen=True):
    """One line with a key and a value."""

    line: int  # from 1
    source: str  # the line without its comment
    key: str  # in lower case
    value: str


@dataclass(slots=True)
class _GroupLines:
    """User-agent lines and the rules after them; shared by all crawlers they name."""

    rules: list[Rule] = field(default_factory=list)
    crawl_delays: list[float] = field(default_factory=list)
    request_gaps: list[float] = field(default_factory=list)


class _Part(msgspec.Struct, frozen=True):
    """The part of such lines for one crawler: all rules, and the delays after its name."""

    lines: _GroupLines
    delays_before: int
    gaps_before: int

    @property
    def crawl_delay(self) -> float | None:
        return _at(self.lines.crawl_delays, self.delays_before)

    @property
    def request_gap(self) -> float | None:
        return _at(self.lines.request_gaps, self.gaps_before)

    @property
    def says_something(self) -> bool:
        return bool(self.lines.rules) or self.crawl_delay is not None or self.request_gap is not None


def _at(values: Sequence[float], place: int) -> float | None:
    return values[place] if place < len(values) else None


class _Groups(Mapping[str, RobotsGroup]):
    """Builds a group on access: ten thousand names before as many rules would make a hundred million rules."""

    def __init__(self, parts: Mapping[str, Sequence[_Part]]) -> None:
        self._parts = parts
        self._made: dict[str, RobotsGroup] = {}

    def __getitem__(self, token: str) -> RobotsGroup:
        if token not in self._made:
            self._made[token] = _group_of(self._parts[token])
        return self._made[token]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _group_of(parts: Sequence[_Part]) -> RobotsGroup:
    rules = sorted(
        chain.from_iterable(part.lines.rules for part in parts), key=lambda rule: (-rule.length, not rule.allow)
    )
    return RobotsGroup(
        tuple(rules),
        next((delay for part in parts if (delay := part.crawl_delay) is not None), None),
        next((gap for part in parts if (gap := part.request_gap) is not None), None),
    )


def parse(text: str | bytes) -> RobotsRules:
    """The rules of a robots.txt; invalid lines are ignored, and it never raises.

    1. Consecutive user-agent lines open a group. Only an allow or disallow line ends them: neither blank lines nor
       records the RFC does not know do (2.2.4, "MUST NOT interfere").
    2. Groups that name the same crawler are one.
    3. Rules before the first user-agent line apply to no crawler.
    4. A Crawl-delay or a Request-rate applies to the crawlers named so far; the first one counts.
    """
    parts, sitemaps = _read(text)
    return RobotsRules(_Groups(parts), tuple(sitemaps))


def _read(text: str | bytes) -> tuple[dict[str, list[_Part]], list[str]]:
    """The rules by product token, and the sitemaps."""
    parts: dict[str, list[_Part]] = {}
    lines = _GroupLines()  # that the next rule belongs to; the first ones apply to no crawler
    naming = False  # the last record of the RFC was a user-agent line
    sitemaps: dict[str, None] = {}
    for record in _records(text):
        match record.key:
            case "user-agent":
                lines = lines if naming else _GroupLines()
                _name(parts, lines, record.value)
                naming = True
            case "allow" | "disallow":
                naming = False
                _add_rule(lines, record)
            case "crawl-delay":
                _add_delay(lines, record.value)
            case "request-rate":
                _add_rate(lines, record.value)
            case "sitemap" if record.value:
                sitemaps[record.value] = None
    return parts, list(sitemaps)


class ForeignFile(Enum):
    """What a server sends in place of a text file."""

    HTML = "html"
    BINARY = "binary"


class Oddity(msgspec.Struct, frozen=True):
    """What is wrong with a robots.txt."""

    is_truncated: bool  # it is longer than MAX_BYTES
    foreign: ForeignFile | None  # None = it is a text file
    has_rules: bool  # whether this other file has lines that read like rules


def oddity_of(body: bytes, media_type: str) -> Oddity | None:
    """What is wrong with a robots.txt; None if nothing is. `media_type` is in lower case. Valid lines count anyway:
    "the parseable rules" MUST be used (RFC 9309, 2.3.1.1)."""
    is_truncated, foreign = len(body) > MAX_BYTES, _foreign(body, media_type)
    if not is_truncated and foreign is None:
        return None
    return Oddity(is_truncated, foreign, foreign is not None and _has_rules(body))


def _foreign(body: bytes, media_type: str) -> ForeignFile | None:
    """What it is instead of a text file. Many servers send every file as HTML, so the media type counts only for a file
    without rules."""
    text = _decoded(body[:MAX_BYTES])
    if text.lstrip().startswith("<") or (media_type in _HTML and text.strip() and not _has_rules(body)):
        return ForeignFile.HTML
    if not body.startswith(_UTF_16) and _BINARY.search(body):
        return ForeignFile.BINARY
    return None


def _has_rules(body: bytes) -> bool:
    parts, sitemaps = _read(body)
    return bool(sitemaps) or any(part.says_something for crawler in parts.values() for part in crawler)


def _decoded(raw: bytes) -> str:
    """The text without its byte order mark. RFC 9309, 2.3 asks for UTF-8; UTF-16 is read if it has one."""
    if raw.startswith(_UTF_16):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _records(text: str | bytes) -> Iterator[_Record]:
    """The lines with a key and a value; common misspellings are accepted."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    lines = _LINE_END.split(_decoded(raw[:MAX_BYTES]))
    if len(raw) > MAX_BYTES and raw[MAX_BYTES] not in b"\r\n":
        lines.pop()  # half a rule is another rule
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0].strip()
        key, colon, value = content.partition(":")
        if not colon:  # "disallow /" without its colon
            words = content.split()
            if len(words) != 2:
                continue
            key, value = words
        name = key.strip().lower()
        yield _Record(number, content, _MISSPELT.get(name, name), value.strip())


def _name(parts: dict[str, list[_Part]], lines: _GroupLines, value: str) -> None:
    """From here on these lines apply to the crawler of this name; of a repeated name the first one counts."""
    token = _token(value)
    known = parts.setdefault(token, []) if token else []
    if not known or known[-1].lines is not lines:
        known.append(_Part(lines, len(lines.crawl_delays), len(lines.request_gaps)))


def _token(value: str) -> str:
    """The product token of "ExampleBot/1.0 (comment)" in lower case: compared as a whole, ignoring case (2.2.1)."""
    words = value.split("/", 1)[0].split()
    return words[0].lower() if words else ""


def _add_rule(lines: _GroupLines, record: _Record) -> None:
    if record.value:  # an empty pattern matches nothing
        allow = record.key == "allow"
        lines.rules.append(rule_of(allow=allow, pattern=record.value, line=record.line, source=record.source))


def _add_delay(lines: _GroupLines, value: str) -> None:
    try:
        seconds = float(value)
    except ValueError:
        return
    if math.isfinite(seconds) and seconds >= 0:
        lines.crawl_delays.append(seconds)


def _add_rate(lines: _GroupLines, value: str) -> None:
    """ "1/10" is a page in ten seconds, "100/15m" a hundred in fifteen minutes."""
    found = _RATE.match(value)
    if found is not None and int(found[1]) > 0:
        lines.request_gaps.append(int(found[2]) * _UNITS[found[3].lower()] / int(found[1]))
