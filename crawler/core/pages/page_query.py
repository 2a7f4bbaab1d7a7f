"""The query string of the page table: filters, order and position; and the cursors of long lists."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.pages.page_field import Sort

OPEN = "open"  # the outcome of a page that has none yet
MAX_TEXT = 200  # characters of a search
MAX_COLUMNS = 100

_CODE = re.compile(r"[1-5][0-9][0-9]", re.ASCII)
_CLASS = re.compile(r"[1-5]xx", re.ASCII)
_DEPTH = re.compile(r"([0-9]{1,9})(\+?)", re.ASCII)
_PAGE_ID = re.compile(r"[0-9]{1,18}", re.ASCII)  # the table's keys have no more digits


class Show(StrEnum):
    """Which rows there are to choose from."""

    ALL = "all"  # the pages a receipt counts
    DEAD_LETTERS = "dead-letters"
    ORPHANS = "orphans"
    LISTED = "in-sitemap"  # pages a sitemap names
    SITEMAPS = "sitemaps"
    EXTERNALS = "externals"  # links that leave the site, checked or only recorded


@dataclass(frozen=True)
class Span:
    """Numbers from `least` to `most`, both included."""

    least: int
    most: int | None  # None = no end


@dataclass(frozen=True)
class PagesQuery:
    """A query. A page must match all filters."""

    text: str = ""  # part of the URL or the title; the case of ASCII letters is ignored
    show: Show = Show.ALL
    outcome: str = ""  # an outcome, a category of outcomes, or OPEN
    status: str = ""  # "404", or "4xx"
    depth: str = ""  # "3", or "3+" for three and more
    content_type: str = ""  # prefix of the media type
    sort: Sort = Sort.FOUND
    descending: bool = False
    columns: tuple[str, ...] = ()  # names of columns; none = the default ones
    after: int | None = None  # only rows after that of the page with this id
    before: int | None = None  # only rows before that page, the nearest; never with `after`
    at_end: bool = False  # the last rows; never with either

    @property
    def outcomes(self) -> tuple[str, ...] | None:
        """The outcomes to select, as the table has them, "" for an open page; None = any."""
        if not self.outcome:
            return None
        if self.outcome == OPEN:
            return ("",)
        if self.outcome in set(Category):
            return tuple(outcome.value for outcome in Outcome if outcome.category == self.outcome)
        return (self.outcome,)

    @property
    def statuses(self) -> Span | None:
        if not self.status:
            return None
        if self.status.isdecimal():
            return Span(int(self.status), int(self.status))
        first = int(self.status[0]) * 100
        return Span(first, first + 99)

    @property
    def depths(self) -> Span | None:
        if not self.depth:
            return None
        least = int(self.depth.rstrip("+"))
        return Span(least, None if self.depth.endswith("+") else least)

    @property
    def mark(self) -> int | None:
        """The id of the page where the list continues; None = from the start, or the end."""
        return self.after if self.before is None else self.before

    @property
    def is_narrowed(self) -> bool:
        """Whether it selects less than all pages that a receipt counts."""
        return self.show is not Show.ALL or any((self.text, self.outcome, self.status, self.depth, self.content_type))

    @property
    def order(self) -> str:
        """The order in the query string: "-size" is by size, the largest first."""
        return f"-{self.sort}" if self.descending else str(self.sort)

    def from_the_start(self) -> PagesQuery:
        """The same, without a position."""
        return replace(self, after=None, before=None, at_end=False)

    def from_the_end(self) -> PagesQuery:
        """The same, from the last row backwards."""
        return replace(self, after=None, before=None, at_end=True)

    def sorted_by(self, sort: Sort) -> PagesQuery:
        """The same in this order, or in the opposite one if it has this order already."""
        turned = sort is self.sort and not self.descending
        return replace(self.from_the_start(), sort=sort, descending=turned)

    def pairs(self) -> list[tuple[str, str]]:
        """The query string: names and values, without the defaults."""
        pairs = [
            ("q", self.text),
            ("show", "" if self.show is Show.ALL else str(self.show)),
            ("outcome", self.outcome),
            ("status", self.status),
            ("depth", self.depth),
            ("type", self.content_type),
            ("sort", "" if self.order == Sort.FOUND else self.order),
            *(("column", column) for column in self.columns),
            ("after", "" if self.after is None else str(self.after)),
            ("before", "" if self.before is None else str(self.before)),
            ("end", "1" if self.at_end else ""),
        ]
        return [(name, value) for name, value in pairs if value]


def read(given: Mapping[str, Sequence[str]]) -> PagesQuery:
    """The query in these parameters. Of several values the last counts; unknown names are ignored.

    BadInput names the first invalid one.
    """
    typed = {name: values[-1].replace("\0", "").strip() for name, values in given.items() if values}
    sort, descending = _order(typed.get("sort", ""))
    query = PagesQuery(
        text=_text(typed.get("q", "")),
        show=_show(typed.get("show", "")),
        outcome=_outcome(typed.get("outcome", "").lower()),
        status=_status(typed.get("status", "").lower()),
        depth=_depth(typed.get("depth", "")),
        content_type=typed.get("type", "").lower()[:MAX_TEXT],
        sort=sort,
        descending=descending,
        columns=tuple(dict.fromkeys(filter(None, given.get("column", ()))))[:MAX_COLUMNS],
        after=_page_id("after", typed.get("after", "")),
        before=_page_id("before", typed.get("before", "")),
        at_end=bool(typed.get("end")),
    )
    if [query.after is not None, query.before is not None, query.at_end].count(True) > 1:
        raise BadInput("after", "Choose one of `after`, `before` and `end`.")
    return query


def _text(typed: str) -> str:
    if len(typed) > MAX_TEXT:
        raise BadInput("q", f"The search text can have at most {MAX_TEXT} characters, not {len(typed)}.")
    return typed


def _show(typed: str) -> Show:
    if typed and typed not in set(Show):
        raise BadInput("show", f"Choose what to show from {_listed(Show)}; not {typed!r}.")
    return Show(typed) if typed else Show.ALL


def _outcome(typed: str) -> str:
    if typed and typed not in {OPEN, *Category, *Outcome}:
        known = dict.fromkeys([OPEN, *map(str, Category), *map(str, Outcome)])
        raise BadInput("outcome", f"The outcome can be {', '.join(known)}; not {typed!r}.")
    return typed


def _status(typed: str) -> str:
    if typed and not (_CODE.fullmatch(typed) or _CLASS.fullmatch(typed)):
        raise BadInput("status", f"The status must be a code such as 404 or a class such as 4xx, not {typed!r}.")
    return typed


def _depth(typed: str) -> str:
    if not typed:
        return ""
    match = _DEPTH.fullmatch(typed)
    if match is None:
        raise BadInput("depth", f"The depth must be a number such as 3, or 3+ for three and more, not {typed!r}.")
    return f"{int(match[1])}{match[2]}"


def _order(typed: str) -> tuple[Sort, bool]:
    name = typed.removeprefix("-")
    if not typed:
        return Sort.FOUND, False
    if name not in set(Sort):
        raise BadInput("sort", f"The order can be {_listed(Sort)}, with - before it for the opposite; not {typed!r}.")
    return Sort(name), typed.startswith("-")


def _page_id(name: str, typed: str) -> int | None:
    if typed and not _PAGE_ID.fullmatch(typed):
        raise BadInput(name, f"The cursor must be the id of a page, not {typed!r}.")
    return int(typed) if typed else None


def _listed(values: type[StrEnum]) -> str:
    return ", ".join(values)


# Cursors: the position where the next page of a long list begins, opaque to clients.

MAX_KEY = 2**63 - 1  # of the tables
MAX_NUMBER = 2**64 - 1  # half of a UUID
_UNUSABLE = "This cursor cannot be used. Use `next` of the previous page, or leave it out to start again."
_DIGITS = re.compile(r"[0-9]{1,20}")


def cursor_of(*numbers: int) -> str:
    """The cursor that encodes these numbers, none of them negative."""
    plain = ".".join(map(str, numbers)).encode()
    return base64.urlsafe_b64encode(plain).decode().rstrip("=")


def numbers_of(cursor: str, count: int) -> tuple[int, ...]:
    """The numbers in a cursor; BadInput ("cursor") when it does not contain `count` of them."""
    try:
        plain = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError):
        raise BadInput("cursor", _UNUSABLE) from None
    parts = plain.split(".")
    if len(parts) != count or not all(_DIGITS.fullmatch(part) and int(part) <= MAX_NUMBER for part in parts):
        raise BadInput("cursor", _UNUSABLE)
    return tuple(map(int, parts))
