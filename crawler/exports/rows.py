"""What one line of an export holds, whatever the format: the pages of a crawl as plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.db.models import Q, QuerySet

from crawler.core.directives import NOINDEX
from crawler.core.outcomes import Outcome
from crawler.core.work import EXTERNAL
from crawler.models import Crawl, Page

CHUNK = 1000  # pages in memory at a time; also the most parameters one look for parents needs

KEYS = (
    "url",
    "status",
    "outcome",
    "http_status",
    "content_type",
    "title",
    "depth",
    "parent",
    "redirect_to",
    "bytes",
    "elapsed_ms",
    "attempts",
    "fetched_at",
    "error",
    "directives",
    "rel",
    "not_followed",
    "reused",
    "kind",
    "in_sitemap",
    "linked",
    "lastmod",
)
"""The keys of a row, in the order of a table's columns: the page's fields of those names, and the URL of its parent."""

_NOINDEX = Q(directives=NOINDEX) | Q(directives__startswith=f"{NOINDEX} ")  # it comes first in a record
_FIELDS = tuple("parent_id" if key == "parent" else key for key in KEYS)


def rows(crawl: Crawl, *, externals: bool = False, among: QuerySet[Page] | None = None) -> Iterator[dict[str, Any]]:
    """One row a page, in the order the pages were discovered; memory stays bounded however many there are. They are
    those the receipt counts, so links that leave the site are among them only when they were asked for; with
    `externals` there are those links in place of the pages, asked for or only recorded; with `among` there are these
    rows alone, in their order.

    One query streams the pages, and one for each CHUNK of them finds the parents' URLs. `parent`, `outcome`,
    `http_status`, `redirect_to` and `fetched_at` are None where there is none; `fetched_at` is ISO 8601 in UTC. A crawl
    that obeys noindex has no rows of pages that ask to be left out.
    """
    found = Page.objects.filter(crawl=crawl)
    chosen = found.filter(kind=EXTERNAL) if externals else found.exclude(outcome=Outcome.EXTERNAL)
    if crawl.chosen.obey_noindex:
        chosen = chosen.exclude(_NOINDEX)
    ordered = chosen.order_by("id")
    if among is not None:
        ordered = among.exclude(_NOINDEX) if crawl.chosen.obey_noindex else among
    pages = ordered.values(*_FIELDS).iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        parents = _urls(page["parent_id"] for page in chunk)
        yield from (_row(page, parents) for page in chunk)


def _urls(page_ids: Iterable[int | None]) -> dict[int, str]:
    wanted = {page_id for page_id in page_ids if page_id is not None}
    return dict(Page.objects.filter(id__in=wanted).values_list("id", "url"))


def _row(page: dict[str, Any], parents: dict[int, str]) -> dict[str, Any]:
    row = dict(zip(KEYS, page.values(), strict=True))
    row["parent"] = parents.get(page["parent_id"])
    row["outcome"] = page["outcome"] or None
    row["redirect_to"] = page["redirect_to"] or None
    row["fetched_at"] = page["fetched_at"].isoformat(timespec="milliseconds") if page["fetched_at"] else None
    return row
