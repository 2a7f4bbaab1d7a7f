"""The views of pages: one page with its content, lists of dead letters, orphans and traps, and exports."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from crawler.accounts.permissions import visible_crawls
from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput
from crawler.core.pages import content_formats
from crawler.core.pages.content_formats import PDF, PICTURES
from crawler.core.text.gzip import Broken
from crawler.core.urls.normalise import href_of
from crawler.crawls.retry import release
from crawler.exports.formats import FORMATS, file_name, formats_for
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import page_detail as page_text
from crawler.reports import text, traps
from crawler.reports.links import dead_letters, knows_orphans, orphans
from crawler.reports.page_detail import LINKS, page_report
from crawler.reports.page_parts import sections
from crawler.reports.text import Reply
from crawler.storage.additions import NOT_AGAIN
from crawler.storage.content.kept import content_of, ending_of, is_kept, media_type_of
from crawler.storage.content.objects import ObjectMissing
from crawler.web.crawl.control import LONGEST_ID, answered, page_ids
from crawler.web.crawl.crawls import crawl_for, visible_crawl
from crawler.web.decorators import page_to_post, page_to_read
from crawler.web.forms.sharing import is_locked
from crawler.web.tables.paging import paged
from crawler.web.tables.rows import dead_letter_row, page_row, trap_row

Fields = dict[str, Any]


@page_to_read
def page_detail(request: HttpRequest, crawl_id: UUID, page_id: int) -> HttpResponse:
    """One page. `out` and `in` are the numbers of the shown parts of its lists of links, from 1 on."""
    crawl = visible_crawl(request, crawl_id)
    page = get_object_or_404(Page.objects.filter(crawl=crawl), pk=page_id)
    out_part, in_part = (_part(request.GET.get(name, "")) for name in ("out", "in"))
    report = page_report(crawl, page, out_at=(out_part - 1) * LINKS, in_at=(in_part - 1) * LINKS, links=LINKS)
    context = {
        "crawl": crawl,
        "page": page,
        "href": href_of(page.url),
        "title": page.title or page.url,
        "may_ask_again": _may_ask_again(page) and not is_locked(request.user, crawl),
        "tone": text.tone(report["outcome"]),
        "answer": page_text.answer(report),
        "unread": page_text.unread(report),
        "report": report,
        "answered": page_text.answered(report),
        "found": page_text.found(report),
        "said": page_text.said(report),
        "parts": [*sections(crawl, page, report)],
        "meta": page_text.meta(report),
        "insecure": report["said"]["insecure"] if report["said"] else [],
        "malformed": report["said"]["malformed"] if report["said"] else {},
        "headers": "\n".join(report["headers"] or []),
        "path": [_step(crawl, step) for step in report["path"]["steps"]],
        "onwards": [_line(crawl, step) for step in report["redirects"]["onwards"]],
        "sources": [{**_line(crawl, step), "hops": step["hops"]} for step in report["redirects"]["sources"]],
        "links_out": [_line(crawl, link) for link in report["links_out"]["links"]],
        "links_in": [{**link, "address": _address(crawl, link["page"])} for link in report["links_in"]["links"]],
        "out_ways": _ways(out_part, report["links_out"]["number"], "out", in_part, "in"),
        "in_ways": _ways(in_part, report["links_in"]["number"], "in", out_part, "out"),
    }
    return render(request, "crawler/page.html", context)


def _may_ask_again(page: Page) -> bool:
    """A dead letter has a button of its own."""
    return page.status == Page.CLOSED and not page.given_up and page.outcome not in NOT_AGAIN


def _line(crawl: Crawl, page: Fields) -> Fields:
    """A page in a list, with the address of its view and its outcome."""
    return {
        **page,
        "address": _address(crawl, page["page"]),
        "href": href_of(page["url"]),
        "answer": page_text.answer(page),
        "tone": text.tone(page["outcome"]),
    }


def _step(crawl: Crawl, step: Fields) -> Fields:
    return {**_line(crawl, step), "leads_by": page_text.LEADS_BY[step["leads_by"]]}


def _address(crawl: Crawl, page_id: int | None) -> str:
    return reverse("page-detail", args=[crawl.pk, page_id]) if page_id else ""


def _part(typed: str) -> int:
    """The number of a part; 1 for an invalid one."""
    return int(typed) if typed.isdecimal() and len(typed) <= LONGEST_ID and int(typed) > 0 else 1


def _ways(part: int, links: int, name: str, other_part: int, other: str) -> Fields:
    """The query strings of the parts before and after; the other list does not move."""
    last = max(1, -(-links // LINKS))
    beside = f"&{other}={other_part}" if other_part > 1 else ""
    return {
        "number": part,
        "last": last,
        "earlier": f"?{name}={min(part - 1, last)}{beside}#links-{name}" if part > 1 else "",
        "later": f"?{name}={part + 1}{beside}#links-{name}" if part < last else "",
    }


# Kept content is untrusted, so the browser must not run it: it is sent as plain text, as an image that Chromium drew of
# it, or as a download, in a sandbox. A PDF is always a download, since browsers show none in a sandbox.

POLICY = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@page_to_read
def page_content(request: HttpRequest, crawl_id: UUID, page_id: int, form: str) -> HttpResponse:
    """One form of a page's content as plain text or as an image; a WARC, a PDF, and with `?download` any form, as a
    file."""
    crawl = visible_crawl(request, crawl_id)
    found = get_object_or_404(Page, pk=page_id, crawl=crawl)
    facts = PageFacts.objects.filter(page_id=found.id).first()
    if facts is None or not is_kept(facts, form):
        raise Http404("This page has no content in this format.")
    try:
        content = content_of(facts, form)
    except (ObjectMissing, Broken) as error:
        return _guarded(HttpResponse(f"This cannot be shown: {error}.\n", status=410, content_type="text/plain"))
    to_save = form in (content_formats.WARC, PDF) or "download" in request.GET
    kind = media_type_of(form, crawl)
    if to_save and form not in PICTURES:
        kind = "application/octet-stream"
    response = _guarded(HttpResponse(content, content_type=kind))
    place = "attachment" if to_save else "inline"
    response["Content-Disposition"] = f'{place}; filename="page-{found.id}.{ending_of(form, crawl)}"'
    return response


def _guarded(response: HttpResponse) -> HttpResponse:
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


@page_to_read
def crawl_dead_letters(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each dead letter with its reason and a button to retry it; one button for all of them."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    letters = paged(request, dead_letters(crawl), dead_letter_row)
    return render(
        request, "crawler/dead_letters.html", {"crawl": crawl, "locked": is_locked(request.user, crawl)} | letters
    )


@page_to_read
def crawl_orphans(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each orphan with its outcome; while the crawl runs, the current ones."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    context = {"crawl": crawl, "knows": knows_orphans(crawl), "over": crawl.is_over}
    return render(request, "crawler/orphans.html", context | paged(request, orphans(crawl), page_row))


MAX_TRAPS = 200  # on a page; a crawl with more needs other rules


@page_to_read
def crawl_traps(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Each trap with its reason, some of its pages, and a button to release it; one button for all of them."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    found = traps.traps_of(crawl, MAX_TRAPS)
    context = {
        "crawl": crawl,
        "locked": is_locked(request.user, crawl),
        "summary": traps.summary(crawl),
        "rows": [trap_row(caught) for caught in found],
        "more": len(found) == MAX_TRAPS,
    }
    return render(request, "crawler/traps.html", context)


@page_to_post
def crawl_release_traps(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Release the traps named by `trap` (ids), or all without `trap`."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    ids = page_ids(request.POST.getlist("trap")) if "trap" in request.POST else None
    view = "crawl-traps" if "back" in request.POST else "crawl-detail"
    return answered(request, reverse(view, args=[crawl.id]), lambda: _released(crawl, ids))


def _released(crawl: Crawl, trap_ids: list[int] | None) -> Reply:
    done = release(crawl.id, trap_ids)
    return traps.to_release(done.traps, done.pages, done.left_out)


@page_to_read
def crawl_exports(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """Every format with its description."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    return _page(request, crawl)


@page_to_read
def crawl_export(request: HttpRequest, crawl_id: UUID, export_format: str) -> HttpResponseBase:
    """A streamed download; of a running crawl, the current state. `?externals` gives links to other sites in place of
    the pages. When the export is impossible, the page of all formats says why."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    if export_format not in FORMATS:
        raise Http404
    made, externals = FORMATS[export_format], "externals" in request.GET
    try:
        pieces = made(crawl, externals=externals)
    except BadInput as error:
        return _page(request, crawl, trouble=str(error), status=400)
    response = StreamingHttpResponse(pieces, content_type=made.media_type)
    name = file_name(crawl, export_format, externals=externals)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _page(request: HttpRequest, crawl: Crawl, *, trouble: str = "", status: int = 200) -> HttpResponse:
    context = {
        "crawl": crawl,
        "formats": list(formats_for(crawl).items()),
        "has_externals": crawl.chosen.externals != "ignore",
        "trouble": trouble,
    }
    return render(request, "crawler/exports.html", context, status=status)
