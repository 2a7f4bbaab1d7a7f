"""THE TABLE: what comes of a response over libcurl, where that is not what comes of it over the built-in transport.

Libcurl parses the head before our parser sees it, and refuses some that browsers forgive. docs/decisions/http.md shows
these rows. Limits, guard, credentials and redirects have none.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.core.crawl.outcomes import Outcome


@dataclass(frozen=True)
class Difference:
    """One kind of response."""

    builtin: str  # what comes of it, for the documentation
    curl: str
    outcome: Outcome | None = None  # over libcurl; None if it is the same


DIFFERENCES = {
    "a header line without a colon": Difference("the line is dropped", "`malformed`", Outcome.MALFORMED),
    "a NUL in a header": Difference("it becomes a blank", "`malformed`", Outcome.MALFORMED),
    "two different `Location` headers": Difference("the first counts", "`malformed`", Outcome.MALFORMED),
    "a status line in lower case": Difference("read", "read, and the connection is closed"),
    "a `Content-Length` that is no number": Difference("it is ignored", "`malformed`", Outcome.MALFORMED),
    "a chunk size of more than sixteen digits": Difference("`too_large`", "`malformed`", Outcome.MALFORMED),
    "a status line that cannot be read, or lengths that differ": Difference("`malformed`", "the same in other words"),
    "a self-signed certificate of another name": Difference(
        'the error says "self-signed"', '"not valid for" this name'
    ),
    "a connection that breaks within the status line": Difference(
        'the error says "within the headers"', '"before an answer came"'
    ),
    "session tickets of TLS without end": Difference("`timeout`", "`too_large` after a megabyte", Outcome.TOO_LARGE),
}


REFUSED = "cannot be read"
TRAPS = {
    "/body/zeros": ("a chunk size of more than sixteen digits", "too_large", REFUSED),
    "/body/negative": ("a `Content-Length` that is no number", "2xx", REFUSED),
    "/body/two-lengths": ("a status line that cannot be read, or lengths that differ", "malformed", REFUSED),
    "/head/nothing-old": ("a status line that cannot be read, or lengths that differ", "malformed", REFUSED),
    "/head/words": ("a status line that cannot be read, or lengths that differ", "malformed", REFUSED),
    "/head/no-status": ("a status line that cannot be read, or lengths that differ", "malformed", REFUSED),
    "/head/controls": ("a NUL in a header", "2xx", REFUSED),
    "/to/several": ("two different `Location` headers", "3xx", REFUSED),
    "127.0.0.44": ("a self-signed certificate of another name", "tls", "not valid for '127.0.0.44'"),
}
"""Path or address of a trap -> the row, the outcome of its own table, and what stands in the error over libcurl."""


def of_trap(http_client: str, name: str, usual: str, words: str) -> tuple[str, str]:
    """The outcome of this trap, and what stands in its error, over this transport."""
    if http_client != "curl" or name not in TRAPS:
        return usual, words
    case, expected, different_words = TRAPS[name]
    assert expected == usual
    return over(http_client, case, Outcome(usual)).value, different_words


def over(http_client: str, case: str, usual: Outcome) -> Outcome:
    """The outcome of such a response over this transport."""
    different = DIFFERENCES[case].outcome if http_client == "curl" else None
    return usual if different is None else different
