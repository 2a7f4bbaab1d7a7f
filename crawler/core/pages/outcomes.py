"""The outcomes: how a page can close. Each is one entry; every other list of outcomes is derived from these."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Any

import msgspec


class Category(StrEnum):
    """What a page is counted as. The value is the field of the receipt."""

    FETCHED = "fetched"  # a response arrived, whatever its status
    FAILED = "failed"  # requested, but no usable response arrived
    SKIPPED = "skipped"  # not requested, for a stated reason
    CANCELLED = "cancelled"  # not requested, because a user stopped the crawl

    @property
    def is_requested(self) -> bool:
        return self in (Category.FETCHED, Category.FAILED)


class Tone(StrEnum):
    """How serious an outcome is. The value is the CSS class that gives its color on pages."""

    GOOD = "good"
    NEUTRAL = "calm"
    WARNING = "warn"
    ERROR = "bad"


class Cause(Enum):
    """What made the page close like this."""

    PAGE = "page"  # the page, or a rule about it
    HOST = "host"  # its host: the other pages of this host would close alike
    LIMIT = "limit"  # a limit of the crawl, which says nothing about the page
    CRAWL = "crawl"  # another decision of the crawl or its user, which says nothing about the page


class Retry(Enum):
    """Whether another attempt may have a better outcome."""

    NEVER = "never"
    BY_STATUS = "by status"  # if the HTTP status is one of `retries.TRANSIENT_STATUSES`
    ALWAYS = "always"  # and the host gets fewer requests for a while


class OutcomeEntry(msgspec.Struct, frozen=True):
    """All there is to say about an outcome."""

    value: str  # in the table, exports, API and receipt
    category: Category
    tone: Tone
    label: str  # in lists and on pages
    description: str  # in docs/exports.md
    cause: Cause = Cause.PAGE
    retry: Retry = Retry.NEVER
    is_unresponsive: bool = False  # one of the failures after which the crawl gives the host up


class Outcome(StrEnum):
    """How a page closed. The value is what the table, the export and the receipt show."""

    entry: OutcomeEntry
    _value_: str

    SUCCESS = OutcomeEntry("2xx", Category.FETCHED, Tone.GOOD, "OK", "a response with a status of 200-299")
    REDIRECT = OutcomeEntry(
        "3xx",
        Category.FETCHED,
        Tone.NEUTRAL,
        "redirect",
        "a response with a status of 300-399; its target is a page of its own",
    )
    CLIENT_ERROR = OutcomeEntry(
        "4xx",
        Category.FETCHED,
        Tone.WARNING,
        "client error",
        "a response with a status of 400-499",
        retry=Retry.BY_STATUS,
    )
    SERVER_ERROR = OutcomeEntry(
        "5xx",
        Category.FETCHED,
        Tone.ERROR,
        "server error",
        "a response with a status of 500-599",
        retry=Retry.BY_STATUS,
    )
    UNCHANGED = OutcomeEntry(
        "unchanged",
        Category.FETCHED,
        Tone.GOOD,
        "unchanged",
        "a 304 to a conditional request: the cached response is still valid",
    )

    DNS = OutcomeEntry(
        "dns",
        Category.FAILED,
        Tone.ERROR,
        "host name not found",
        "the host name does not resolve",
        Cause.HOST,
        is_unresponsive=True,
    )
    CONNECT = OutcomeEntry(
        "connect",
        Category.FAILED,
        Tone.ERROR,
        "no connection",
        "the connection was refused, reset or never established",
        Cause.HOST,
        Retry.ALWAYS,
        is_unresponsive=True,
    )
    TLS = OutcomeEntry(
        "tls", Category.FAILED, Tone.ERROR, "no secure connection", "no secure TLS connection", Cause.HOST
    )
    TIMEOUT = OutcomeEntry(
        "timeout",
        Category.FAILED,
        Tone.ERROR,
        "timed out",
        "connecting, reading or the whole exchange took too long",
        Cause.HOST,
        Retry.ALWAYS,
        is_unresponsive=True,
    )
    TOO_LARGE = OutcomeEntry(
        "too_large", Category.FAILED, Tone.ERROR, "too large", "headers or body exceed the limit; nothing is parsed"
    )
    MALFORMED = OutcomeEntry(
        "malformed", Category.FAILED, Tone.ERROR, "not usable HTTP", "the response is not usable HTTP"
    )
    CRASHED = OutcomeEntry(
        "crashed", Category.FAILED, Tone.ERROR, "crashed the worker", "each attempt crashed its worker"
    )
    LOST = OutcomeEntry(
        "lost",
        Category.FAILED,
        Tone.ERROR,
        "lost with its worker",
        "its worker died, and the crawl acknowledges pages early: it is retried only on demand",
        Cause.CRAWL,
    )

    ROBOTS = OutcomeEntry(  # could not be read: RFC 9309, 2.3.1.4
        "robots",
        Category.SKIPPED,
        Tone.NEUTRAL,
        "forbidden by robots.txt",
        "robots.txt forbids it or could not be fetched",
    )
    LIMIT = OutcomeEntry(
        "limit",
        Category.SKIPPED,
        Tone.NEUTRAL,
        "beyond the limit",
        "beyond a limit of the crawl, such as pages or depth",
        Cause.LIMIT,
    )
    TRAP = OutcomeEntry(
        "trap", Category.SKIPPED, Tone.NEUTRAL, "endless series", "part of an endless series", Cause.CRAWL
    )
    PRIVATE_ADDRESS = OutcomeEntry(
        "private_address",
        Category.SKIPPED,
        Tone.NEUTRAL,
        "address or port not allowed",
        "the host has an address that is not public",
        Cause.HOST,
    )
    TOO_MANY_REDIRECTS = OutcomeEntry(
        "too_many_redirects", Category.SKIPPED, Tone.NEUTRAL, "too many redirects", "the eleventh redirect in a row"
    )
    EXPIRED = OutcomeEntry(
        "expired", Category.SKIPPED, Tone.NEUTRAL, "expired", "its deadline passed before it was requested", Cause.LIMIT
    )
    EXCLUDED = OutcomeEntry(
        "excluded",
        Category.SKIPPED,
        Tone.NEUTRAL,
        "excluded",
        "excluded by a pattern that was changed while the crawl ran",
        Cause.CRAWL,
    )
    EXTERNAL = OutcomeEntry(
        "external",
        Category.SKIPPED,
        Tone.NEUTRAL,
        "leaves the site",
        "a link to another site, only recorded; in no total of the crawl",
    )

    CANCELLED = OutcomeEntry(
        "cancelled",
        Category.CANCELLED,
        Tone.NEUTRAL,
        "cancelled",
        "the crawl was cancelled while the page was open",
        Cause.CRAWL,
    )

    def __new__(cls, entry: Any) -> Outcome:  # not OutcomeEntry: mypy would refuse Outcome("2xx"), which is a look-up
        outcome = str.__new__(cls, entry.value)
        outcome._value_ = entry.value
        outcome.entry = entry
        return outcome

    @property
    def category(self) -> Category:
        return self.entry.category

    @property
    def label(self) -> str:
        return self.entry.label

    @property
    def tone(self) -> Tone:
        return self.entry.tone

    @property
    def is_error(self) -> bool:
        """Whether something went wrong: an error status, or no usable response."""
        return self.tone in (Tone.WARNING, Tone.ERROR)


SUCCESSES = tuple(outcome for outcome in Outcome if outcome.tone is Tone.GOOD)
"""The page is there: a response arrived, or the cached one holds."""

ERRORS = tuple(outcome for outcome in Outcome if outcome.is_error)
FAILURES = tuple(outcome for outcome in ERRORS if outcome.category is Category.FAILED)
ERROR_RESPONSES = tuple(outcome for outcome in ERRORS if outcome.category is Category.FETCHED)

USABLE = tuple(outcome for outcome in Outcome if outcome.category is Category.FETCHED and not outcome.is_error)
"""The response leads on: to the links of the page, or to the target of a redirect."""

HOST_FAILURES = tuple(outcome for outcome in Outcome if outcome.entry.cause is Cause.HOST)
LIMITED = tuple(outcome for outcome in Outcome if outcome.entry.cause is Cause.LIMIT)

UNJUDGED = tuple(outcome for outcome in Outcome if outcome.entry.cause in (Cause.LIMIT, Cause.CRAWL))
"""Nothing is known about the page: it may be as it was in an earlier crawl."""

STATUS_TONES = {outcome.value[0]: outcome.tone for outcome in Outcome if outcome.value.endswith("xx")}
"""First digit of an HTTP status -> tone."""


def of_status(http_status: int) -> Outcome:
    """The outcome of a final response with this status code; anything outside 200-599 is malformed."""
    match http_status // 100:
        case 2:
            return Outcome.SUCCESS
        case 3:
            return Outcome.REDIRECT
        case 4:
            return Outcome.CLIENT_ERROR
        case 5:
            return Outcome.SERVER_ERROR
        case _:
            return Outcome.MALFORMED
