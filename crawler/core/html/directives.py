"""What a page asks of crawlers beside robots.txt: meta robots, X-Robots-Tag, and rel on its links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

NOINDEX, NOFOLLOW = "noindex", "nofollow"
MAX_RECORDED = 500  # characters
MAX_SAID = 100_000  # characters of one meta element that are read
MAX_WORDS = 10_000  # that are read of one page, about

_EVERYONE = "robots"
_NONE = (NOINDEX, NOFOLLOW)
_OPPOSITES = frozenset({"all", "index", "follow"})  # what is so anyway; the stricter word wins beside it
_WITH_VALUE = frozenset({"max-snippet", "max-image-preview", "max-video-preview"})
_UNTIL = "unavailable_after"
_RELATIONS = ("nofollow", "ugc", "sponsored")
_TOKEN = re.compile(
    rf"""({_UNTIL})\s*:\s*([^,]*(?:,\s*[0-9][^,]*)?)  # a date, which may have a comma behind its day of the week
        |([^\s,:]+)\s*:\s*([^\s,]*)  # max-snippet:20, or googlebot: noindex
        |([^\s,:]+)""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Directives:
    """What a page asks for, everything said of it taken together."""

    noindex: bool = False
    nofollow: bool = False
    text: str = ""  # for the record, separated by blanks: "noindex nofollow" first, then the others as they came


NOTHING = Directives()


def directives_of(metas: Iterable[tuple[str, str]], headers: Iterable[str], user_agent_token: str) -> Directives:
    """What the meta elements (name, content) and the values of X-Robots-Tag headers ask of the crawler of this product
    token.

    1. Names are compared in any case. What is said to all crawlers counts, and what is said to ours; the rest does not.
    2. "none" is "noindex nofollow"; "all", "index" and "follow" are what is so anyway.
    3. Other words are kept for the record. `unavailable_after` is one of them: it speaks of a search index.
    4. Beyond MAX_SAID and MAX_WORDS nobody says anything that is meant.
    """
    ours = (_EVERYONE, user_agent_token.lower())
    said: dict[str, None] = {}
    for name, content in metas:
        if name.strip().lower() in ours and len(said) < MAX_WORDS:
            said.update(dict.fromkeys(_words_of_meta(content[:MAX_SAID])))
    for value in headers:
        said.update(dict.fromkeys(_words_of_header(value, ours)))
    return _recorded(said) if said else NOTHING


def recorded(text: str, word: str) -> bool:
    """Whether this word stands in the text of a record (`Directives.text`)."""
    return word in text.split()


def rel_of(value: str) -> str:
    """Of a rel attribute, what keeps crawlers from following: some of "nofollow ugc sponsored", in that order."""
    words = value.lower().split()
    return " ".join([relation for relation in _RELATIONS if relation in words])


def _recorded(said: Iterable[str]) -> Directives:
    words = {word: None for one in said for word in (_NONE if one == "none" else (one,)) if word not in _OPPOSITES}
    first = [word for word in _NONE if word in words]
    text = " ".join([*first, *(word for word in words if word not in _NONE)])
    return Directives(NOINDEX in words, NOFOLLOW in words, _cut(text))


def _cut(text: str) -> str:
    """As many whole words as may be recorded: of a longer one, what is left could be a directive nobody gave."""
    if len(text) <= MAX_RECORDED:
        return text
    return text[: MAX_RECORDED + 1].rpartition(" ")[0] or text[:MAX_RECORDED]


def _words_of_meta(content: str) -> Iterator[str]:
    for until, date, key, value, word in _TOKEN.findall(content):
        yield _word(until or key or word, date or value)


def _words_of_header(header: str, ours: tuple[str, ...]) -> Iterator[str]:
    """ "noindex, otherbot: nofollow, noarchive" says noindex to all, and the rest to otherbot alone."""
    meant = True
    for until, date, key, value, word in _TOKEN.findall(header):
        names_crawler = key and key.lower() not in _WITH_VALUE
        if names_crawler:
            meant = key.lower().partition("/")[0] in ours
        if meant and (value or not names_crawler):
            yield _word(value, "") if names_crawler else _word(until or key or word, date or value)


def _word(name: str, value: str) -> str:
    """Lower case, without blanks: a record is read word by word."""
    return f"{name}:{'_'.join(value.split())}".lower() if value else name.lower()


# What can be wrong with the canonical address that a page names (RFC 6596).


class Conflict(StrEnum):
    """How a canonical address contradicts itself; the value stands in files."""

    SEVERAL = "several"  # the page names more than one
    TO_ERROR = "to_error"  # it leads to an error, or to nothing
    TO_REDIRECT = "to_redirect"
    TO_FORBIDDEN = "to_forbidden"  # robots.txt keeps search engines from it
    TO_NOINDEX = "to_noindex"
    LOOP = "loop"  # the page it names leads back to this one
    CHAIN = "chain"  # the page it names names yet another


def follows(url: str, elsewhere: Mapping[str, str]) -> Conflict | None:
    """What comes of a page that names another; `elsewhere` has what each such page names."""
    seen = {url}
    here = elsewhere[url]
    hops = 1
    while here in elsewhere and here not in seen:
        seen.add(here)
        here = elsewhere[here]
        hops += 1
    if here == url:
        return Conflict.LOOP
    return Conflict.CHAIN if hops > 1 else None
