"""The page's own view: all that is known of one page of a crawl."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.content.content import ENDINGS, content_of, is_kept
from crawler.content.storage import Gone
from crawler.core.crawl import options
from crawler.core.text.gzip import Broken
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import page_text
from crawler.reports.page_detail import LINKS, page_report
from crawler.web.crawl.control import LONGEST_ID
from crawler.web.crawl.crawls import visible_crawl
from crawler.web.decorators import page
from crawler.web.decorators import page as page_for_people

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
        "tone": page_text.tone(report),
        "answer": page_text.answer(report),
        "unread": page_text.unread(report),
        "report": report,
        "answered": page_text.answered(report),
        "found": page_text.found(report),
        "said": page_text.said(report),
        "fields": page_text.fields(report),
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
        "answer": page_text.answer(page),
        "tone": page_text.tone(page),
    }


def _step(crawl: Crawl, step: Line) -> Line:
    return {**_line(crawl, step), "leads_by": page_text.LEADS_BY[step["leads_by"]]}


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


# The kept content of one page, to be looked at or taken away. It was written by strangers, so none of it is ever run:
# it goes out as plain text, or as a file to be saved, in a sandbox without any rights.

POLICY = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@never_cache
@require_GET
@page
def page_content(request: HttpRequest, crawl_id: UUID, page_id: int, form: str) -> HttpResponse:
    """One form of a page's content as plain text; a WARC, and with `?download` anything, as a file."""
    crawl = visible_crawl(request, crawl_id)
    found = get_object_or_404(Page, pk=page_id, crawl=crawl)
    facts = PageFacts.objects.filter(page_id=found.id).first()
    if facts is None or not is_kept(facts, form):
        raise Http404("This page has no content of this form.")
    try:
        content = content_of(facts, form)
    except (Gone, Broken) as error:
        return _guarded(HttpResponse(f"This cannot be shown: {error}.\n", status=410, content_type="text/plain"))
    return _answer(form, content, found.id, to_save=form == options.WARC or "download" in request.GET)


def _answer(form: str, content: bytes, page_id: int, *, to_save: bool) -> HttpResponse:
    kind = "application/octet-stream" if to_save else "text/plain; charset=utf-8"
    response = _guarded(HttpResponse(content, content_type=kind))
    place = "attachment" if to_save else "inline"
    response["Content-Disposition"] = f'{place}; filename="page-{page_id}.{ENDINGS[form]}"'
    return response


def _guarded(response: HttpResponse) -> HttpResponse:
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
