"""The page's own view: all that is known of one page of a crawl."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.models import Crawl, Page
from crawler.reports import page_words
from crawler.reports.page_report import LINKS, page_report
from crawler.web.control import LONGEST_ID
from crawler.web.crawls import visible_crawl
from crawler.web.shell import page as page_for_people

Line = dict[str, Any]


@never_cache
@require_GET
@page_for_people
def page_detail(request: HttpRequest, crawl_id: UUID, page_id: int) -> HttpResponse:
    """Its links stand on leaves: `out` and `in` are the numbers of those that are shown, from 1 on."""
    crawl = visible_crawl(request, crawl_id)
    page = get_object_or_404(Page.objects.filter(crawl=crawl), pk=page_id)
    out_leaf, in_leaf = (_leaf(request.GET.get(name, "")) for name in ("out", "in"))
    report = page_report(crawl, page, out_at=(out_leaf - 1) * LINKS, in_at=(in_leaf - 1) * LINKS, links=LINKS)
    context = {
        "crawl": crawl,
        "page": page,
        "href": _href(page.url),
        "title": page.title or page.url,
        "tone": page_words.tone(report),
        "answer": page_words.answer(report),
        "unread": page_words.unread(report),
        "report": report,
        "answered": page_words.answered(report),
        "found": page_words.found(report),
        "said": page_words.said(report),
        "fields": page_words.fields(report),
        "insecure": report["said"]["insecure"] if report["said"] else [],
        "malformed": report["said"]["malformed"] if report["said"] else {},
        "kept": _kept(crawl, page, report["kept"]),
        "headers": "\n".join(report["headers"] or []),
        "path": [_step(crawl, step) for step in report["path"]["steps"]],
        "onwards": [_line(crawl, step) for step in report["redirects"]["onwards"]],
        "sources": [{**_line(crawl, step), "hops": step["hops"]} for step in report["redirects"]["sources"]],
        "links_out": [_line(crawl, link) for link in report["links_out"]["links"]],
        "links_in": [{**link, "address": _address(crawl, link["page"])} for link in report["links_in"]["links"]],
        "out_ways": _ways(out_leaf, report["links_out"]["number"], "out", in_leaf, "in"),
        "in_ways": _ways(in_leaf, report["links_in"]["number"], "in", out_leaf, "out"),
    }
    return render(request, "crawler/page.html", context)


def _line(crawl: Crawl, page: Line) -> Line:
    """A page in a list: where its own view is, and what came of it."""
    return {
        **page,
        "address": _address(crawl, page["page"]),
        "href": _href(page["url"]),
        "answer": page_words.answer(page),
        "tone": page_words.tone(page),
    }


def _step(crawl: Crawl, step: Line) -> Line:
    return {**_line(crawl, step), "leads_by": page_words.LEADS_BY[step["leads_by"]]}


def _address(crawl: Crawl, page_id: int | None) -> str:
    return reverse("page-detail", args=[crawl.pk, page_id]) if page_id else ""


def _href(url: str) -> str:
    """The URL where it can be opened: nothing but a web address can."""
    return url if url.startswith(("http://", "https://")) else ""


def _kept(crawl: Crawl, page: Page, kept: Line) -> list[tuple[str, str, str]]:
    """The forms its content was to be kept in, each with the address it can be had at, or why it was not kept."""
    return [
        (form, reverse("page-content", args=[crawl.pk, page.pk, form]), "")
        if isinstance(place, list)
        else (form, "", str(place))
        for form, place in kept.items()
    ]


def _leaf(typed: str) -> int:
    """What is no number of a leaf is the first."""
    return int(typed) if typed.isdecimal() and len(typed) <= LONGEST_ID and int(typed) > 0 else 1


def _ways(leaf: int, links: int, name: str, other_leaf: int, other: str) -> Line:
    """The query strings of the leaves before and behind; the other list stays where it is."""
    last = max(1, -(-links // LINKS))
    beside = f"&{other}={other_leaf}" if other_leaf > 1 else ""
    return {
        "number": leaf,
        "last": last,
        "earlier": f"?{name}={min(leaf - 1, last)}{beside}#links-{name}" if leaf > 1 else "",
        "later": f"?{name}={leaf + 1}{beside}#links-{name}" if leaf < last else "",
    }
