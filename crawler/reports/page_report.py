"""All that is known of one page of a crawl, as plain JSON values: behind its own view, the terminal, and programs."""

from __future__ import annotations

from typing import Any

from crawler.core.outcomes import Outcome
from crawler.core.traps import Reason
from crawler.core.work import SITEMAP
from crawler.fetching.fetcher import is_html
from crawler.models import Crawl, Page, PageFacts, Trap
from crawler.reports.page_links import links_in, links_out
from crawler.reports.page_ways import brief, path_to, redirects_of
from crawler.reports.traps import REASONS

LINKS = 50  # of either kind, unless somebody asks for others


def page_report(crawl: Crawl, page: Page, *, out_at: int = 0, in_at: int = 0, links: int = LINKS) -> dict[str, Any]:
    """What is known; None stands for what is not. `said` is None when the page was not read: there was no answer, it
    was no success, or it is no HTML. `headers` are lines as they were sent, None where nobody answered."""
    facts = PageFacts.objects.filter(pk=page.pk).first()
    answered = page.http_status is not None
    return {
        **brief(page),
        "crawl": str(crawl.pk),
        "kind": page.kind,
        "content_type": page.content_type or None,
        "bytes": page.bytes if answered else None,
        "elapsed_ms": page.elapsed_ms if page.fetched_at and not page.reused else None,
        "first_byte_ms": facts.first_byte_ms if facts and not page.reused else None,
        "fetched_at": page.fetched_at.isoformat(timespec="milliseconds") if page.fetched_at else None,
        "attempts": page.attempts,
        "deaths": page.deaths,
        "error": page.error or None,
        "reused": page.reused,
        "given_up": page.given_up,
        "depth": page.depth,
        "hops": page.hops,
        "rel": page.rel,
        "path": path_to(page),
        "sitemap": _sitemap(crawl, page),
        "trap": _trap(page),
        "redirects": redirects_of(page),
        "directives": page.directives if answered else None,
        "said": _said(page, facts),
        "headers": facts.headers.splitlines() if facts else None,
        "fields": facts.fields if facts else {},
        "notes": facts.notes if facts else {},
        "kept": facts.kept if facts else {},
        "not_followed": page.not_followed,
        "links_out": links_out(page, out_at, links),
        "links_in": links_in(crawl, page, in_at, links),
    }


def _sitemap(crawl: Crawl, page: Page) -> dict[str, Any]:
    """`linked` is whether a link or a person led to it; both are None when the crawl looked at no sitemap."""
    if not crawl.chosen.uses_sitemaps:
        return {"listed": None, "linked": None, "lastmod": None}
    return {"listed": page.in_sitemap, "linked": page.linked, "lastmod": page.lastmod or None}


def _said(page: Page, facts: PageFacts | None) -> dict[str, Any] | None:
    if facts is None or not _was_read(page):
        return None
    return {
        "title": page.title,
        "description": facts.description,
        "h1": facts.h1,
        "h1_count": facts.h1_count,
        "canonical": facts.canonical,
        "canonicals": facts.canonicals,
        "words": facts.words,
        "insecure": facts.insecure,
        "malformed": facts.malformed or {"number": 0, "links": []},
    }


def _was_read(page: Page) -> bool:
    read = page.outcome in (Outcome.SUCCESS, Outcome.UNCHANGED) and page.kind != SITEMAP
    return read and is_html(page.content_type or "text/html")


def _trap(page: Page) -> dict[str, str] | None:
    trap = Trap.objects.filter(pk=page.trap_id).first() if page.trap_id else None
    return {"reason": REASONS[Reason(trap.reason)], "pattern": trap.pattern} if trap else None
