"""THE TABLE: what comes of a response over another transport, where that is not what comes of it over the built-in one.

Libcurl and `http.client` parse the head before or in place of our parser: libcurl refuses some that browsers forgive,
`http.client` reads some that nobody should. docs/http-clients.md shows these rows. Limits, guard, credentials and
redirects have none.
"""

from dataclasses import dataclass

from crawler.core.pages.outcomes import Outcome

CURL, REQUESTS = "curl", "requests"


@dataclass(frozen=True)
class Other:
    """What comes of it over another transport."""

    text: str  # for the documentation
    outcome: Outcome | None = None  # None if it is the same


@dataclass(frozen=True)
class Difference:
    """One kind of response."""

    builtin: str  # what comes of it, for the documentation
    curl: Other | None = None  # None if it is the same
    requests: Other | None = None

    def over(self, http_client: str) -> Other | None:
        return {CURL: self.curl, REQUESTS: self.requests}.get(http_client)

    @property
    def cells(self) -> str:
        texts = [other.text if other else "the same" for other in (self.curl, self.requests)]
        return " | ".join([self.builtin, *texts])


MALFORMED = Other("`malformed`", Outcome.MALFORMED)
OTHER_WORDS = Other("the same in other words")

DIFFERENCES = {
    "a header line without a colon": Difference(
        "the line is dropped", MALFORMED, Other("it and the headers behind it are dropped")
    ),
    "a header that cannot be read before `Content-Length`": Difference(
        "it is dropped",
        MALFORMED,
        Other("the length is dropped, too: the body ends with the connection", Outcome.TIMEOUT),
    ),
    "a header line without a colon and no end": Difference("`too_large`", MALFORMED),
    "a NUL in a header": Difference("it becomes a blank", MALFORMED),
    "two different `Location` headers": Difference("the first counts", MALFORMED),
    "a status line in lower case": Difference("read", Other("read, and the connection is closed"), MALFORMED),
    "a `Content-Length` that is no number": Difference("it is ignored", MALFORMED),
    "a `Content-Length` of thousands of digits": Difference(
        "read", None, Other("it is ignored, so the body ends with the connection", Outcome.TIMEOUT)
    ),
    "a chunk size of more than sixteen digits": Difference("`too_large`", MALFORMED),
    "a status line that cannot be read, or lengths that differ": Difference("`malformed`", OTHER_WORDS, OTHER_WORDS),
    "chunks that cannot be read": Difference("`malformed`", None, OTHER_WORDS),
    "chunks of more than a number can hold": Difference("`malformed`", None, Other("`too_large`", Outcome.TOO_LARGE)),
    "line ends without end before the head": Difference("`too_large`", None, MALFORMED),
    "more than a hundred headers": Difference("`too_large`", None, OTHER_WORDS),
    "a self-signed certificate of another name": Difference(
        'the error says "self-signed"', Other('"not valid for" this name')
    ),
    "a connection that breaks within the status line": Difference(
        'the error says "within the headers"', Other('"before a response arrived"')
    ),
    "half a status line, and then nothing": Difference('the error says "nothing arrived"', Other('"no response"')),
    "nothing: its name has a character such as `$`": Difference("it is asked", MALFORMED),
    "session tickets of TLS without end": Difference(
        "`timeout`", Other("`too_large` after a megabyte", Outcome.TOO_LARGE)
    ),
}


REFUSED = "cannot be read"
UNREADABLE = "a status line that cannot be read, or lengths that differ"
TRAPS = {
    CURL: {
        "/body/zeros": ("a chunk size of more than sixteen digits", REFUSED),
        "/body/negative": ("a `Content-Length` that is no number", REFUSED),
        "/body/two-lengths": (UNREADABLE, REFUSED),
        "/head/nothing-old": (UNREADABLE, REFUSED),
        "/head/words": (UNREADABLE, REFUSED),
        "/head/no-status": (UNREADABLE, REFUSED),
        "/head/controls": ("a NUL in a header", REFUSED),
        "/to/several": ("two different `Location` headers", REFUSED),
        "127.0.0.44": ("a self-signed certificate of another name", "not valid for '127.0.0.44'"),
    },
    REQUESTS: {
        "/body/two-lengths": (UNREADABLE, "unmatching values"),
        "/body/no-chunks": ("chunks that cannot be read", "before the body did"),
        "/body/huge-chunk": ("chunks that cannot be read", "before the body did"),
        "/body/overflow": ("chunks of more than a number can hold", "allowed"),
        "/head/words": (UNREADABLE, "begins with"),
        "/head/no-status": (UNREADABLE, "begins with"),
        "/head/status-2000": (UNREADABLE, "begins with"),
        "/head/blank": ("line ends without end before the head", "begins with"),
        "/head/fold": ("more than a hundred headers", "more than 100 headers"),
        "/head/controls": ("a header that cannot be read before `Content-Length`", "nothing arrived"),
    },
}
"""Path or address of a trap -> the row, and what stands in the error over this transport."""


def of_trap(http_client: str, name: str, usual: str, words: str) -> tuple[str, str]:
    """The outcome of this trap, and what stands in its error, over this transport."""
    traps = TRAPS.get(http_client, {})
    if name not in traps:
        return usual, words
    case, different_words = traps[name]
    return over(http_client, case, Outcome(usual)).value, different_words


def over(http_client: str, case: str, usual: Outcome) -> Outcome:
    """The outcome of such a response over this transport."""
    other = DIFFERENCES[case].over(http_client)
    return usual if other is None or other.outcome is None else other.outcome
