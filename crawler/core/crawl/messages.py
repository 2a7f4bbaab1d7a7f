"""The messages between manager and fetch jobs: the batch handed out, and the results given back.

They travel as msgpack (results list) or as RQ job arguments (plain lists), never as pickled classes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from crawler.core.crawl.outcomes import Outcome
from crawler.core.extraction.rules import FieldRule
from crawler.core.html.page_metadata import NOTHING as NO_FACTS
from crawler.core.html.page_metadata import Facts

USUAL_PRIORITY = 5  # of 0 (last) to 10 (first)
PAGE, SITEMAP, EXTERNAL = "page", "sitemap", "external"
"""The kinds of page rows: pages of the site, its sitemaps, and links that leave it (asked once, never followed)."""


Blob = bytes  # a result has a field of the name "bytes"


class SitemapEntry(msgspec.Struct, frozen=True, array_like=True):
    """One URL that a sitemap names."""

    url: str  # normalised
    lastmod: str = ""  # as written
    priority: int | None = None  # 0 (last) to 10 (first); None = not said
    is_sitemap: bool = False


class FetchPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a fetch job must know about its crawl's options; carried with the batch, so it needs no database."""

    user_agent: str
    obey_robots: bool
    delay: float  # seconds between two requests to one host, at least
    concurrency: int  # connections to one host at a time, over all workers
    private_hosts: tuple[str, ...]  # host, host:port or CIDR that may be asked although not public; "*" = all
    max_body_bytes: int
    per_minute: float | None = None  # requests a minute to one host, at most
    throttle: bool = True  # ask a host less often while it is slow or in trouble
    sitemaps: bool = False  # report the sitemaps that robots.txt names
    own_hosts: tuple[str, ...] = ()  # hosts credentials may be sent to, see `core.urls.crawl_scope`
    sealed: str = ""  # the crawl's credentials and proxy, encrypted; "" = none
    sketches: bool = False  # make one of each page's text, see `core.html.simhash`
    fields: tuple[FieldRule, ...] = ()  # what is read from each page
    keep: tuple[str, ...] = ()  # forms in which content is kept, of `core.crawl.options`


class PageTask(msgspec.Struct, frozen=True, array_like=True):
    """One page to fetch."""

    id: int  # primary key of the page row
    url: str  # normalised
    attempt: int  # 1 for the first time it is asked for
    expires_at: float | None = None  # epoch seconds after which it is not asked for any more
    kind: str = PAGE
    etag: str = ""  # of the remembered answer; "" = none
    last_modified: str = ""  # the same


class Slice(msgspec.Struct, frozen=True, array_like=True):
    """A few pages of one host, fetched one after the other over one connection."""

    host: str  # host or host:port, as `urls.host_of` gives it
    pages: tuple[PageTask, ...]
    suspects: bool = False  # each page is noted in the lease before it is asked for, see `core.crawl.retries`


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What one fetch job works on."""

    crawl: str  # UUID
    site: str  # the crawl's name for people
    id: str
    token: str  # the lease's token
    policy: FetchPolicy
    slices: tuple[Slice, ...]

    def to_plain(self) -> dict[str, Any]:
        """Plain lists, dicts and strings: what RQ may pickle and a dashboard can show."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Batch:
        return msgspec.convert(plain, cls)


class PageResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of asking for one page once. `retry_after` and `outcome` are facts; what follows from them is the
    manager's decision."""

    id: int
    attempt: int
    outcome: Outcome
    http_status: int | None = None
    content_type: str = ""  # media type in lower case, without parameters
    title: str = ""
    redirect_to: str = ""  # normalised target of a 3xx with a usable Location
    links: tuple[str, ...] = ()  # normalised http(s) URLs, each once, in order of appearance
    bytes: int = 0  # body bytes read, after transfer decoding
    elapsed_ms: int = 0
    requests: int = 0  # HTTP requests made for it, those for robots.txt included
    fetched_at: float = 0.0  # seconds since the epoch; 0 when never asked for
    retry_after: float | None = None  # seconds the server asked us to wait
    robots_unreachable: bool = False  # robots.txt could not be had, so nothing may be asked for now
    error: str = ""  # one line for a person
    directives: str = ""  # "noindex nofollow", by meta robots and X-Robots-Tag
    rels: dict[str, str] = {}  # link -> "nofollow ugc sponsored", of those that are never linked to without any
    link_keys: Blob = b""  # of `links`, see `core.html.link_codec`
    linkage: Blob = b""  # every link to them, packed, with the words it is written with
    not_followed: int = 0  # links left out because of such a rel, or a nofollow page
    etag: str = ""
    last_modified: str = ""
    entries: tuple[SitemapEntry, ...] = ()  # what a sitemap names
    sitemaps: tuple[str, ...] = ()  # what robots.txt of the page's origin names as sitemaps; normalised
    is_hopeless: bool = False  # its host does not answer: another try is not worth it
    reused: bool = False  # the answer was remembered: nothing was asked for
    headers: str = ""  # of the response, one a line, as sent
    first_byte_ms: int = 0  # until they were complete
    facts: Facts = NO_FACTS  # what an HTML page says of itself
    kept: dict[str, Any] = {}  # form -> [object, offset, length], or a sentence why it is not kept


class SliceReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a fetch job leaves on the results list, once or several times a slice."""

    batch: str
    token: str
    slice: int  # its place in the batch
    host: str
    results: tuple[PageResult, ...]
    next_at: float = 0.0  # seconds since the epoch before which the host must not be asked again
    requests: int = 0  # made for robots.txt and not told in any result, because no page was asked for behind it
    done: bool = False  # the last report of this slice; pages of it without a result were not asked for


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SliceReport)


def encode_report(report: SliceReport) -> bytes:
    return _encoder.encode(report)


def decode_report(raw: bytes) -> SliceReport:
    return _decoder.decode(raw)
