"""How one page was found, and where redirects lead from it and to it."""

from __future__ import annotations

from typing import Any

from crawler import table
from crawler.core.urls import key_of
from crawler.core.work import SITEMAP
from crawler.models import Page

MAX_STEPS = 30  # of a path from the start, those next to the page
MAX_HOPS = 20  # a crawl follows ten; others may lie before them or behind
MAX_SOURCES = 50  # pages that redirect here, over however many hops


def brief(page: Page) -> dict[str, Any]:
    """A page in a list: its id, its URL and what came of it."""
    return {"page": page.pk, "url": page.url, "outcome": page.outcome or None, "http_status": page.http_status}


def path_to(page: Page) -> dict[str, Any]:
    """The pages between a start URL and this one: each was first found on the one before it. `leads_by` says how it
    leads to the next: by a "link", a "redirect" or as a "sitemap". `is_whole` is False when there are more before."""
    steps: list[dict[str, Any]] = []
    child = page
    while child.parent_id is not None and len(steps) < MAX_STEPS:
        parent = Page.objects.filter(crawl_id=page.crawl_id, pk=child.parent_id).first()
        if parent is None:
            break
        steps.append({**brief(parent), "leads_by": _leads_by(parent, child)})
        child = parent
    return {"steps": steps[::-1], "is_whole": child.parent_id is None}


def _leads_by(parent: Page, child: Page) -> str:
    if parent.kind == SITEMAP:
        return "sitemap"
    return "redirect" if parent.redirect_to == child.url else "link"


def redirects_of(page: Page) -> dict[str, Any]:
    """`onwards`: the pages a redirect leads to, one after the other, the last with the answer. `is_loop`: they lead
    back. `sources`: the pages whose redirects lead here; those with `hops` 1 directly."""
    onwards, is_loop = _onwards(page)
    return {"onwards": onwards, "is_loop": is_loop, "sources": _sources(page)}


def _onwards(page: Page) -> tuple[list[dict[str, Any]], bool]:
    steps: list[dict[str, Any]] = []
    seen, url = {page.url}, page.redirect_to
    while url and len(steps) < MAX_HOPS:
        if url in seen:
            return steps, True
        seen.add(url)
        target = Page.objects.filter(crawl_id=page.crawl_id, key=key_of(url)).first()
        steps.append(brief(target) if target else {"page": None, "url": url, "outcome": None, "http_status": None})
        url = target.redirect_to if target else ""
    return steps, False


def _sources(page: Page) -> list[dict[str, Any]]:
    """Level by level, for no index leads from a target to its sources: each level reads the crawl's rows once."""
    found: dict[int, dict[str, Any]] = {}
    targets, hops = [page.url], 0
    while targets and hops < MAX_HOPS and len(found) < MAX_SOURCES:
        hops += 1
        rows = table.in_order(page.crawl_id).filter(redirect_to__in=targets).exclude(pk__in=[page.pk, *found])
        level = list(rows[: MAX_SOURCES - len(found)])
        found.update((source.pk, {**brief(source), "hops": hops}) for source in level)
        targets = [source.url for source in level]
    return list(found.values())
