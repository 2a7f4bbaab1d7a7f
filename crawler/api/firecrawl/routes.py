"""Operations compatible with Firecrawl: crawl, its status and errors, cancel, map.

Clients of Firecrawl work with this server's address followed by /api. docs/api.md lists the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from ninja import Query

from crawler.accounts.permissions import visible_crawls
from crawler.api.addresses import address
from crawler.api.callers import ApiRequest
from crawler.api.firecrawl import schemas as shapes
from crawler.api.firecrawl.schemas import status_of
from crawler.api.idempotency import id_to_make
from crawler.api.lookups import crawl_made_before, crawl_named, crawl_watched
from crawler.api.openapi import CRAWL_ID, Operations
from crawler.api.paging import Cursor, Limit, by_id
from crawler.api.problems import Problem
from crawler.core.access.permissions import Right, Scope
from crawler.core.channels import webhook
from crawler.core.errors import BadInput
from crawler.core.html import link_codec
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import FAILURES, SUCCESSES, Outcome
from crawler.core.protocol.completion import State
from crawler.core.protocol.messages import PAGE
from crawler.core.urls.normalise import host_of, parse_user_url, site_of
from crawler.crawls import control
from crawler.crawls.start import start_crawl
from crawler.models import NOT_OVER, Page, PageFacts, PageLinks
from crawler.reports.progress import standing_of
from crawler.storage import queries

ROOT = "/api/v1/crawl"
MAX_CRAWLS_SEARCHED = 200  # the newest
MAX_ERRORS = 1000  # in one response
NO_CONTENT = "Pages include their metadata, and `links` on request; other formats are not available."

router = Operations("firecrawl", tag="Firecrawl")
ON_THE_MAP = [*SUCCESSES, Outcome.LIMIT, ""]  # pages that are there, or may be


@router.on(
    "POST /crawl",
    "Start a crawl",
    Scope.CRAWLS_WRITE,
    shapes.CrawlStarted,
    {"success": True, "id": CRAWL_ID, "url": f"http://127.0.0.1:8000{ROOT}/{CRAWL_ID}", "warning": None},
    sends={"url": "https://example.com/docs/", "limit": 100, "excludePaths": ["^/docs/old/"]},
)
def crawl(request: ApiRequest, body: shapes.CrawlRequest) -> dict[str, Any]:
    """The pages below the path of `url`, or with `crawlEntireDomain` all of its site."""
    _refuse_what_cannot_be(body)
    started = crawl_made_before(request)
    if started is None:
        chosen: dict[str, Any] = {**shapes.options_of(body), webhook.KIND.option: _webhooks(body)}
        started = start_crawl([body.url], CrawlOptions(**chosen), owner=request.user, crawl_id=id_to_make(request))
    other = [name for name in map(_name_of, body.scrapeOptions.formats) if name not in {"links", "markdown"}]
    return {
        "success": True,
        "id": str(started.id),
        "url": request.build_absolute_uri(address("crawl", started.id)),
        "warning": NO_CONTENT if other else None,
    }


@router.on(
    "GET /crawl/active",
    "List crawls under way",
    Scope.CRAWLS_READ,
    shapes.ActiveCrawls,
    {
        "success": True,
        "crawls": [{"id": CRAWL_ID, "url": "https://example.com/", "created_at": "2026-11-21T10:00:00Z"}],
    },
)
def active(request: ApiRequest) -> dict[str, Any]:
    going = visible_crawls(request.user).filter(state__in=NOT_OVER).order_by("-created_at")[:MAX_CRAWLS_SEARCHED]
    crawls = [{"id": str(one.id), "url": one.start_urls[0], "created_at": one.created_at.isoformat()} for one in going]
    return {"success": True, "crawls": crawls}


@router.on(
    "GET /crawl/{uuid:crawl_id}",
    "Get a crawl's status and pages",
    Scope.CRAWLS_READ,
    shapes.CrawlStatus,
    shapes.STATUS_EXAMPLE,
)
def crawl_status(
    request: ApiRequest,
    crawl_id: UUID,
    cursor: Cursor = None,
    limit: Limit = 100,
    links: Annotated[bool, Query(description="Include the addresses that each page links to.")] = False,
) -> dict[str, Any]:
    """The pages that returned 2xx, in the order of their discovery; `next` is the address of more of them. With `links`
    each includes the addresses it links to."""
    found = crawl_watched(request, crawl_id)
    answered = queries.all_rows(found.id).filter(kind=PAGE, outcome__in=SUCCESSES)
    listed = by_id(request, answered, cursor, limit, lambda pages: _documents(pages, with_links=links))
    stands = standing_of(found)
    return {
        "success": True,
        "status": status_of(State(found.state)),
        "total": stands.total,
        "completed": stands.done,
        "next": listed["next"],
        "data": listed["items"],
    }


@router.on(
    "DELETE /crawl/{uuid:crawl_id}",
    "Cancel a crawl",
    Scope.CRAWLS_WRITE,
    shapes.Cancellation,
    {"success": True, "status": "cancelled"},
)
def cancel_crawl(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Its pages stay. To delete it, use DELETE /api/v1/crawls/{id}."""
    found = crawl_named(request, crawl_id, Right.CONTROL)
    if not control.cancel(found.id) and found.state == State.FINISHED:
        raise Problem(409, "It is finished; there is nothing to cancel.")
    return {"success": True, "status": "cancelled"}


@router.on(
    "GET /crawl/{uuid:crawl_id}/errors",
    "List a crawl's errors",
    Scope.CRAWLS_READ,
    shapes.CrawlErrors,
    {
        "errors": [{"id": "4711", "timestamp": None, "url": "https://example.com/slow", "error": "No answer."}],
        "robotsBlocked": ["https://example.com/private/"],
    },
)
def crawl_errors(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """The first thousand pages without a usable response, and pages that robots.txt forbids."""
    pages = queries.all_rows(crawl_named(request, crawl_id).id).filter(kind=PAGE).order_by("id")
    failed = pages.filter(outcome__in=FAILURES)[:MAX_ERRORS]
    blocked = pages.filter(outcome=Outcome.ROBOTS).values_list("url", flat=True)[:MAX_ERRORS]
    return {"errors": [_error_of(page) for page in failed], "robotsBlocked": list(blocked)}


@router.on(
    "POST /map",
    "List the known pages of a site",
    Scope.CRAWLS_READ,
    shapes.MapAnswer,
    {"success": True, "links": ["https://example.com/", "https://example.com/docs/"]},
    sends={"url": "https://example.com/", "search": "docs", "limit": 100},
)
def map_site(request: ApiRequest, body: shapes.MapRequest) -> dict[str, Any]:
    """From your newest crawl of the site, its pages beyond the limits too: nothing is requested now. 404 when there is
    none."""
    site = site_of(host_of(parse_user_url(body.url)))
    newest = visible_crawls(request.user).order_by("-created_at").only("id", "start_urls")[:MAX_CRAWLS_SEARCHED]
    known = next((one for one in newest if any(site_of(host_of(url)) == site for url in one.start_urls)), None)
    if known is None:
        raise Problem(404, f"You have no crawl of {site} yet. Start one, so that its pages can be listed.")
    found = queries.all_rows(known.id).filter(kind=PAGE, outcome__in=ON_THE_MAP)
    if body.search:
        found = found.filter(url__icontains=body.search)
    links = (url for url in found.order_by("id").values_list("url", flat=True).iterator() if _belongs(url, site, body))
    return {"success": True, "links": [url for url, _ in zip(links, range(body.limit), strict=False)]}


def _refuse_what_cannot_be(body: shapes.CrawlRequest) -> None:
    """Options that would change the result are refused; those that only omit something get a warning."""
    if body.allowExternalLinks:
        raise BadInput("allowExternalLinks", "Links to other sites are not followed; leave it out.")
    if body.sitemap == "only":
        raise BadInput("sitemap", "Crawling only sitemaps is not supported; use `include` or `skip`.")


def _webhooks(body: shapes.CrawlRequest) -> tuple[str, ...]:
    if body.webhook is None:
        return ()
    url = body.webhook if isinstance(body.webhook, str) else body.webhook.get("url")
    if not isinstance(url, str):
        raise BadInput("webhook", "A webhook is an address, or an object with `url`.")
    return (url,)


def _name_of(wanted: str | dict[str, Any]) -> str:
    return wanted if isinstance(wanted, str) else str(wanted.get("type"))


def _documents(pages: Sequence[Page], *, with_links: bool) -> list[dict[str, Any]]:
    ids = [page.pk for page in pages]
    described_as = dict(PageFacts.objects.filter(page_id__in=ids).values_list("page_id", "description"))
    rows = PageLinks.objects.filter(page_id__in=ids) if with_links else PageLinks.objects.none()
    packed = dict(rows.values_list("page_id", "packed"))
    return [
        {
            "metadata": {
                "title": page.title,
                "description": described_as.get(page.pk, ""),
                "url": page.url,
                "sourceURL": page.url,
                "statusCode": page.http_status,
                "contentType": page.content_type,
            },
            "links": _targets(bytes(packed.get(page.pk, b"")), page.url) if with_links else None,
        }
        for page in pages
    ]


def _targets(packed: bytes, page: str) -> list[str]:
    """The links of a page, each address once."""
    return list(dict.fromkeys(link.url for link in link_codec.unpacked(packed, page)))


def _error_of(page: Page) -> dict[str, Any]:
    when = page.fetched_at.isoformat() if page.fetched_at else None
    return {"id": str(page.pk), "timestamp": when, "url": page.url, "error": page.error or page.outcome}


def _belongs(url: str, site: str, body: shapes.MapRequest) -> bool:
    host = site_of(host_of(url))
    return host == site or (body.includeSubdomains and host.endswith(f".{site}"))
