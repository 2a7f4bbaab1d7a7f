"""What a host's robots.txt asks of us (RFC 9309), and what its absence means."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

MAX_BYTES = 512_000  # read of a robots.txt; RFC 9309, 2.5 asks for at least 500 kibibytes

_ANYONE = "*"
_LINE_END = re.compile("\r\n|\r|\n")
_MISSPELT = {
    **dict.fromkeys(("dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    **dict.fromkeys(("useragent", "user agent"), "user-agent"),
    "site-map": "sitemap",
}
_UNRESERVED = "A-Za-z0-9._~-"  # its "-" comes last in a character class and means itself there
_KEPT = ":/?#@!&()+,;=" + _UNRESERVED
_TO_TIDY_IN_RULE = re.compile(f"%[0-9A-Fa-f]{{2}}|[^*{_KEPT}]")
_TO_TIDY_IN_URL = re.compile(f"%[0-9A-Fa-f]{{2}}|[^\x80-\U0010ffff{_KEPT}]")  # what is not ASCII is not normalised
_IS_UNRESERVED = re.compile(f"[{_UNRESERVED}]")
_QUERY_TEXT = {"%2F": "/", "%3A": ":", "%3F": "?", "%40": "@"}  # delimiters of a path, without a meaning in a query
_IN_QUERY = re.compile("|".join(_QUERY_TEXT))


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
    - 5xx, no response, and what is no final status: unreachable, "the crawler MUST assume complete disallow" (2.3.1.4).
    """
    match (http_status or 0) // 100:
        case 2:
            return RobotsAnswer.PARSE
        case 3 | 4:
            return RobotsAnswer.ALLOW_ALL
        case _:
            return RobotsAnswer.UNREACHABLE


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or disallow line."""

    allow: bool
    parts: tuple[str, ...]  # what stands between the "*", in comparable form
    anchored: bool  # ended with "$"

    @property
    def length(self) -> int:
        """Octets of the pattern: the more, the more specific (RFC 9309, 2.2.2)."""
        return sum(map(len, self.parts)) + len(self.parts) - 1 + self.anchored

    def matches(self, target: str) -> bool:
        """Whether the pattern fits this path and query in comparable form.

        Each part is taken at its first occurrence, which leaves the most room for the next: no backtracking.
        """
        first, *others = self.parts
        if not target.startswith(first):
            return False
        if not others:
            return not self.anchored or target == first
        position = len(first)
        for part in others[:-1]:
            found = target.find(part, position)
            if found == -1:
                return False
            position = found + len(part)
        if self.anchored:
            return len(target) - len(others[-1]) >= position and target.endswith(others[-1])
        return target.find(others[-1], position) != -1


@dataclass(frozen=True, slots=True)
class Group:
    """What is asked of one crawler, all groups that name it taken together (RFC 9309, 2.2.1)."""

    rules: tuple[Rule, ...] = ()  # the most specific first, and allow before disallow among equals
    crawl_delay: float | None = None  # seconds; not part of the RFC


@dataclass(frozen=True, slots=True)
class Rules:
    """One robots.txt, parsed. To keep it, keep its text."""

    groups: Mapping[str, Group]  # by product token in lower case; "*" for everyone not named
    sitemaps: tuple[str, ...]  # as written, each once

    def allows(self, url: str, user_agent_token: str) -> bool:
        """Whether the crawler of this product token ("examplebot", or "examplebot/1.0") may fetch the normalised `url`.

        The most specific matching rule decides, allow wins a tie, and what nothing matches is allowed.
        """
        target = _comparable(url[url.index("/", 8) :], _TO_TIDY_IN_URL)
        if target == "/robots.txt":  # "implicitly allowed" (2.2.2)
            return True
        rules = self._group(user_agent_token).rules
        return next((rule.allow for rule in rules if rule.matches(target)), True)

    def crawl_delay(self, user_agent_token: str) -> float | None:
        """Seconds the host wants between two requests of this crawler, if it says so."""
        return self._group(user_agent_token).crawl_delay

    def _group(self, user_agent_token: str) -> Group:
        return self.groups.get(_token(user_agent_token)) or self.groups.get(_ANYONE) or Group()


@dataclass(slots=True)
class _Draft:
    """A group while it is being read."""

    rules: list[Rule] = field(default_factory=list)
    crawl_delay: float | None = None

    def finished(self) -> Group:
        ordered = sorted(self.rules, key=lambda rule: (-rule.length, not rule.allow))
        return Group(tuple(ordered), self.crawl_delay)


def parse(text: str | bytes) -> Rules:
    """The rules of a robots.txt; lines that make no sense are passed over, and it never raises.

    1. Consecutive user-agent lines open a group. Only an allow or disallow line ends them: neither blank lines nor
       records the RFC does not know do (2.2.4, "MUST NOT interfere").
    2. Groups that name the same crawler are one.
    3. Rules before the first user-agent line belong to nobody.
    4. A crawl-delay belongs to the crawlers named so far; the first one given counts.
    """
    drafts: dict[str, _Draft] = {}
    named: list[_Draft] = []  # whom the next rule is for
    naming = False  # the last record of the RFC was a user-agent line
    sitemaps: dict[str, None] = {}
    for key, value in _records(text):
        match key:
            case "user-agent":
                named = [*named, *_drafts_of(drafts, value)] if naming else _drafts_of(drafts, value)
                naming = True
            case "allow" | "disallow":
                naming = False
                _add_rule(named, key, value)
            case "crawl-delay":
                _add_delay(named, value)
            case "sitemap" if value:
                sitemaps[value] = None
    return Rules({token: draft.finished() for token, draft in drafts.items()}, tuple(sitemaps))


def _records(text: str | bytes) -> Iterator[tuple[str, str]]:
    """Key in lower case, and value of each line that has both; misspellings that are common are understood."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    lines = _LINE_END.split(raw[:MAX_BYTES].decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    if len(raw) > MAX_BYTES:
        lines.pop()  # half a rule is another rule
    for line in lines:
        content = line.partition("#")[0].strip()
        key, colon, value = content.partition(":")
        if not colon:  # "disallow /" is understood as it is meant
            words = content.split()
            if len(words) != 2:
                continue
            key, value = words
        name = key.strip().lower()
        yield _MISSPELT.get(name, name), value.strip()


def _drafts_of(drafts: dict[str, _Draft], value: str) -> list[_Draft]:
    token = _token(value)
    return [drafts.setdefault(token, _Draft())] if token else []


def _token(value: str) -> str:
    """The product token of "ExampleBot/1.0 (comment)" in lower case: compared as a whole, whatever the case (2.2.1)."""
    words = value.split("/", 1)[0].split()
    return words[0].lower() if words else ""


def _add_rule(named: list[_Draft], key: str, value: str) -> None:
    if not named or not value:  # an empty pattern matches nothing
        return
    rule = _rule(allow=key == "allow", pattern=value)
    for draft in named:
        draft.rules.append(rule)


def _rule(*, allow: bool, pattern: str) -> Rule:
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    anchored = pattern.endswith("$")
    comparable = _comparable(pattern.removesuffix("$"), _TO_TIDY_IN_RULE)
    return Rule(allow, tuple(re.split(r"\*+", comparable)), anchored)


def _comparable(text: str, to_tidy: re.Pattern[str]) -> str:
    """Path and query in the form in which rules and URLs are compared (2.2.2).

    Unreserved characters stand for themselves; everything without a meaning in a URL is encoded, in upper case. So are
    "$" and a URL's "*": "%24" and "%2A" in a rule match them verbatim (2.2.3). "/foo?bar=https://foo.bar" is the
    same as "/foo?bar=https%3A%2F%2Ffoo.bar".
    """
    path, mark, query = to_tidy.sub(_tidied, text).partition("?")
    return path + mark + _IN_QUERY.sub(lambda match: _QUERY_TEXT[match[0]], query)


def _tidied(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return "".join(f"%{octet:02X}" for octet in found.encode("utf-8", "surrogateescape"))
    character = chr(int(found[1:], 16))
    return character if _IS_UNRESERVED.match(character) else found.upper()


def _add_delay(named: list[_Draft], value: str) -> None:
    try:
        seconds = float(value)
    except ValueError:
        return
    if not math.isfinite(seconds) or seconds < 0:
        return
    for draft in named:
        if draft.crawl_delay is None:
            draft.crawl_delay = seconds
