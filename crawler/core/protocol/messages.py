"""The messages between manager and fetch jobs: the batch handed out, and the results given back.

They are encoded as msgpack (results list) or as RQ job arguments (plain lists), never as pickled classes.

Workers of two versions of the project read each other's messages while an installation is upgraded. So

1. an unknown field is ignored, and a new one has a default; in a class that is a list, it is the last. The names and
   types of those there are stay;
2. a change that a worker may not ignore, such as another value of an enum, raises VERSION. A worker that gets a newer
   batch hands it back; a manager that reads a newer report reads its head alone, and the pages of the slice that have
   no result are requested again. Neither counts an attempt. A malformed message that is not newer is an error, as ever:
   were its pages requested again without an attempt, that would never end;
3. the fields of the heads (`BatchHead`, `ReportHead`) stay as they are.

`tests/data/messages` has the messages of each version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import field

from crawler import registry
from crawler.core.errors import NewerMessage
from crawler.core.html.page_metadata import NOTHING as NO_FACTS
from crawler.core.html.page_metadata import PageMetadata
from crawler.core.pages.code_calls import CodeCall
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.result_fields import ResultField, extended

VERSION = 3
"""The newest this version of the project understands. Messages without one are older."""

USUAL_VERSION = 1  # that this version of the project sends
SLOT_LANE_VERSION = 2  # of batches whose pages may need a slot lane: an earlier version would take them for empty

PAGE, SITEMAP, EXTERNAL = "page", "sitemap", "external"
"""The kinds of page rows: pages of the site, its sitemaps, and links that leave it (requested once, never followed)."""

Blob = bytes  # a result has a field of the name "bytes"


class SitemapEntry(msgspec.Struct, frozen=True, array_like=True):
    """One URL that a sitemap names."""

    url: str  # normalised
    lastmod: str = ""  # as written
    priority: int | None = None  # 0 (last) to 10 (first); None = not given
    is_sitemap: bool = False


class PageTask(msgspec.Struct, frozen=True, array_like=True):
    """One page to fetch."""

    id: int  # primary key of the page row
    url: str  # normalised
    attempt: int  # 1 for the first
    expires_at: float | None = None  # epoch seconds
    kind: str = PAGE
    etag: str = ""  # of the cached response; "" = none
    last_modified: str = ""  # the same
    lane_reason: str = ""  # why it takes a slot lane; "" = it does not, or not yet
    note: str = ""  # that a capability stored with it; "" = none


class Slice(msgspec.Struct, frozen=True, array_like=True):
    """A few pages of one host, fetched one after the other over one connection."""

    host: str  # host or host:port, as `urls.host_of` gives it
    pages: tuple[PageTask, ...]
    suspects: bool = False  # each page is written into the lease before it is requested, see `core.protocol.retries`


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What one fetch job works on."""

    crawl: str  # UUID
    site: str  # the crawl's name in lists and logs
    id: str
    token: str  # the lease's token
    policy: FetchPolicy
    slices: tuple[Slice, ...]
    version: int = USUAL_VERSION
    needs_slot: bool = field(default=False, name="rendered")  # of a slot lane, whose jobs have a queue of their own

    def to_plain(self) -> dict[str, Any]:
        """Plain lists, dicts and strings, which RQ may pickle and a dashboard can show."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Batch:
        """Raises NewerMessage for one of a newer version, and msgspec.ValidationError for what is none."""
        _check_version(BatchHead.from_plain(plain).version)
        return msgspec.convert(plain, cls)


class BatchHead(msgspec.Struct, frozen=True, kw_only=True):
    """What every version understands of a batch."""

    crawl: str
    site: str
    id: str
    token: str
    version: int = USUAL_VERSION

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> BatchHead:
        """Raises msgspec.ValidationError for what is no batch."""
        return msgspec.convert(plain, cls)


class _PageResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one attempt at a page. `retry_after` and `outcome` are facts; the manager decides what follows."""

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
    fetched_at: float = 0.0  # epoch seconds; 0 when not requested
    retry_after: float | None = None  # seconds the server asked us to wait
    robots_unreachable: bool = False  # robots.txt could not be read, so nothing may be requested now
    error: str = ""  # one line, for users
    directives: str = ""  # "noindex nofollow", by meta robots and X-Robots-Tag
    rels: dict[str, str] = {}  # link -> "nofollow ugc sponsored", of links that always have one of these
    link_keys: Blob = b""  # of `links`, see `core.html.link_codec`
    linkage: Blob = b""  # every link to them, packed, with its anchor text
    not_followed: int = 0  # links skipped because of such a rel, or of a nofollow page
    etag: str = ""
    last_modified: str = ""
    entries: tuple[SitemapEntry, ...] = ()  # of a sitemap
    sitemaps: tuple[str, ...] = ()  # in robots.txt of the page's origin; normalised
    is_hopeless: bool = False  # its host does not respond: not retried
    reused: bool = False  # taken from the cache: nothing was requested
    headers: str = ""  # of the response, one per line, as sent
    first_byte_ms: int = 0  # until the headers were complete
    facts: PageMetadata = NO_FACTS  # metadata of an HTML page
    kept: dict[str, Any] = {}  # content format -> [object, offset, length], or a sentence why it is not kept
    lane_reason: str = field(default="", name="rendering")  # why it took a slot lane
    needs_lane: str = field(default="", name="needs_browser")  # why it is to take one: this is no result yet
    code_calls: tuple[CodeCall, ...] = field(default=(), name="hooks")  # with the page
    certificate_error: str = ""  # why the server's certificate is not trusted, if it was accepted anyway
    process_ended: bool = field(default=False, name="engine_ended")  # one that the worker started, which had the page
    link_notes: dict[str, str] = field(default_factory=dict, name="spider_requests")  # link -> its `PageTask.note`
    barred_links: tuple[str, ...] = field(default=(), name="logout_links")  # of `links`: they are not followed


if TYPE_CHECKING:
    PageResult = _PageResult
else:
    PageResult = extended(_PageResult, registry.entries("result_fields", ResultField), "PageResult")


class SliceReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a fetch job pushes to the results list, once or several times per slice."""

    batch: str
    token: str
    slice: int  # its place in the batch
    host: str
    results: tuple[PageResult, ...]
    next_at: float = 0.0  # epoch seconds before which the host must not be requested again
    requests: int = 0  # for robots.txt, and in no result, because no page was requested after it
    done: bool = False  # the last report of this slice; pages of it without a result were not requested
    version: int = USUAL_VERSION


class ReportHead(msgspec.Struct, frozen=True, kw_only=True):
    """What every version understands of a report."""

    batch: str
    token: str
    slice: int
    host: str
    next_at: float = 0.0
    requests: int = 0
    done: bool = False
    version: int = USUAL_VERSION


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SliceReport)
_head_decoder = msgspec.msgpack.Decoder(ReportHead)


def encode_report(report: SliceReport) -> bytes:
    return _encoder.encode(report)


def decode_report(raw: bytes) -> SliceReport:
    """Raises NewerMessage for one of a newer version, and msgspec.DecodeError for what is none."""
    try:
        report = _decoder.decode(raw)
    except msgspec.ValidationError:
        _check_version(_head_decoder.decode(raw).version)
        raise
    _check_version(report.version)
    return report


def decode_head(raw: bytes) -> SliceReport:
    """A report without its results, whatever version wrote it. Raises msgspec.DecodeError for what is none."""
    return SliceReport(results=(), **msgspec.structs.asdict(_head_decoder.decode(raw)))


def _check_version(version: int) -> None:
    if version > VERSION:
        raise NewerMessage(f"it has version {version}, but this worker supports {VERSION}")
