"""The table of all pages of a crawl, and the same rows as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from crawler.core.errors import BadInput
from crawler.core.pages.page_field import Sort
from crawler.core.pages.page_fields import SORTED_BY, label
from crawler.core.pages.page_query import MAX_TEXT, PagesQuery, Show, read
from crawler.core.protocol.completion import State
from crawler.exports.formats import FORMATS
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import text
from crawler.reports.links import knows_orphans
from crawler.reports.page_table import (
    MAX_COUNTED,
    Facet,
    TableColumn,
    TablePage,
    chosen,
    columns_of,
    facts_of,
    outcome_facets,
    shown_columns,
    status_facets,
    table_page,
)
from crawler.web.crawl.crawls import visible_crawl
from crawler.web.decorators import page_to_read
from crawler.web.forms.fields import select_of
from crawler.web.forms.sharing import is_locked
from crawler.web.tables.rows import note, page_row

SHOW_LABELS: dict[Show, str] = {
    Show.ALL: "All pages",
    Show.DEAD_LETTERS: "Dead letters",
    Show.ORPHANS: "Orphans",
    Show.LISTED: "Pages in a sitemap",
    Show.SITEMAPS: "Sitemaps",
    Show.EXTERNALS: "Links to other sites",
}


def _orders() -> dict[str, str]:
    """Text in ascending order first, numbers in descending order, each with its opposite."""
    orders = {"": "Found first", f"-{Sort.FOUND}": "Found last"}
    for key, field in sorted(SORTED_BY.items(), key=lambda item: [*Sort].index(item[0])):
        if ordering := field.ordering:
            both = [(str(key), ordering.ascending), (f"-{key}", ordering.descending)]
            orders.update(both if field.is_text else reversed(both))
    return orders


ORDERS = _orders()

COMMON_TYPES = ("text/html", "application/pdf", "image/", "text/css", "application/javascript", "application/json")

Choice = tuple[str, Any]


class PagesForm(forms.Form):
    """Filters, order and columns of the table. The fields are plain text; `core.pages.page_query` validates them."""

    q = forms.CharField(required=False, label="Text in URL or title")
    show = forms.CharField(required=False, label="Show")
    outcome = forms.CharField(required=False, label=label("outcome"))
    status = forms.CharField(required=False, label=label("http_status"))
    depth = forms.CharField(required=False, label=label("depth"))
    type = forms.CharField(required=False, label=label("content_type"))
    sort = forms.CharField(required=False, label="Order")

    def __init__(self, given: QueryDict, crawl: Crawl) -> None:
        super().__init__(given, use_required_attribute=False)
        self._given = given
        self.query: PagesQuery | None = None  # None unless the form is valid
        typed = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
        self.fields["q"].widget = forms.TextInput({**typed, "type": "search", "maxlength": MAX_TEXT})
        self.fields["depth"].widget = forms.TextInput({**typed, "placeholder": "3, or 3+"})
        self.fields["type"].widget = forms.TextInput({**typed, "placeholder": "text/html", "list": "types"})
        self._offer("show", [("" if show is Show.ALL else str(show), name) for show, name in SHOW_LABELS.items()])
        self._offer("outcome", [("", "Any"), *_choices(outcome_facets(crawl))])
        self._offer("status", [("", "Any"), *_choices(status_facets(crawl))])
        self._offer("sort", list(ORDERS.items()))
        self.fields["sort"].widget.attrs["form"] = "filters"  # the template has it above the table
        self._columns = columns_of(crawl)
        self.columns = [(column.name, column.title) for column in self._columns]

    def _offer(self, name: str, choices: list[Choice]) -> None:
        self.fields[name].widget = select_of(choices, self._given.get(name, ""))

    def clean(self) -> dict[str, Any]:
        try:
            query = read(dict(self._given.lists()))
            usual = {column.name for column in self._columns if column.is_default}
            self.query = replace(query, columns=()) if set(query.columns) == usual else query
        except BadInput as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
        return self.cleaned_data


def _choices(groups: Sequence[tuple[str, Sequence[Facet]]]) -> list[Choice]:
    return [(name.capitalize(), [(facet.value, facet.label) for facet in facets]) for name, facets in groups]


@dataclass(frozen=True)
class Head:
    """The head of a column."""

    title: str
    link: str = ""  # the query string that sorts by it; "" = it cannot be
    order: str = ""  # "ascending" or "descending" when the table is sorted by it
    is_number: bool = False


def heads(query: PagesQuery, columns: Sequence[TableColumn]) -> list[Head]:
    """Response and URL, then the chosen columns."""
    fixed = [_head(query, "Response", Sort.STATUS), _head(query, label("url"), Sort.URL)]
    return [*fixed, *(_head(query, column.title, column.sort, column.is_number) for column in columns)]


def _head(query: PagesQuery, title: str, sort: Sort | None, is_number: bool = False) -> Head:
    if sort is None:
        return Head(title, is_number=is_number)
    order = ("descending" if query.descending else "ascending") if sort is query.sort else ""
    return Head(title, f"?{urlencode(query.sorted_by(sort).pairs())}", order, is_number)


def rows(crawl: Crawl, query: PagesQuery, shown: TablePage) -> tuple[list[Head], list[dict[str, object]]]:
    """The heads, and a row for each page."""
    columns = shown_columns(crawl, query.columns)
    facts = facts_of(shown.pages)
    return heads(query, columns), [
        {
            **page_row(page),
            "note": note(page),  # the title has a column of its own
            "cells": [_cell(column, page, facts.get(page.pk)) for column in columns],
        }
        for page in shown.pages
    ]


def _cell(column: TableColumn, page: Page, facts: PageFacts | None) -> dict[str, object]:
    return {
        "title": column.title,
        "text": column.cell(page, facts),
        "is_number": column.is_number,
        "moment": page.fetched_at if column.is_time else None,
    }


def page_links(query: PagesQuery, shown: TablePage) -> dict[str, str]:
    """The query strings of the previous, next, first and last rows; "" where there are none."""
    start, end = query.from_the_start(), query.from_the_end()
    if not shown.pages:
        return {"earlier": "", "later": "", "first": "" if shown.is_first else _to(start), "last": ""}
    ahead, behind = replace(start, before=shown.pages[0].pk), replace(start, after=shown.pages[-1].pk)
    return {
        "first": "" if shown.is_first else _to(start),
        "earlier": "" if shown.is_first else _to(ahead),
        "later": "" if shown.is_last else _to(behind),
        "last": "" if shown.is_last else _to(end),
    }


def _to(query: PagesQuery) -> str:
    return f"?{urlencode(query.pairs())}"


def counted(shown: TablePage) -> str:
    """ "1,170 pages", or "More than 10,000 pages"."""
    return text.counted(shown.count, "page") if shown.is_counted else f"More than {text.counted(shown.count, 'page')}"


FILES = {"csv": "CSV", "jsonl": "JSON lines"}
"""The formats of the rows as a file."""


@page_to_read
def crawl_pages(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The rows of the query string, or the form with its errors."""
    crawl = visible_crawl(request, crawl_id)
    return _page(request, crawl, PagesForm(request.GET, crawl))


@page_to_read
def crawl_pages_export(request: HttpRequest, crawl_id: UUID, export_format: str) -> HttpResponseBase:
    """All rows of the query string in the same order, streamed."""
    crawl = visible_crawl(request, crawl_id)
    if export_format not in FILES:
        raise Http404
    form = PagesForm(request.GET, crawl)
    if not form.is_valid() or form.query is None:
        return _page(request, crawl, form)
    made = FORMATS[export_format]
    pieces = made(crawl, among=chosen(crawl, form.query))
    response = StreamingHttpResponse(pieces, content_type=made.media_type)
    response["Content-Disposition"] = f'attachment; filename="pages-{crawl.id}.{export_format}"'
    return response


def _page(request: HttpRequest, crawl: Crawl, form: PagesForm) -> HttpResponse:
    """The whole page. htmx replaces the table only after a 200, and shows the shortest address of the rows."""
    shown, alone = _shown(request, crawl, form), "HX-Request" in request.headers
    columns = shown_columns(crawl, form.query.columns if form.query else ())
    context = {"crawl": crawl, "form": form, "types": COMMON_TYPES, "chosen": {column.name for column in columns}}
    status = 400 if form.errors and not alone else 200
    response = render(request, "crawler/pages.html", {**context, **shown, "alone": alone}, status=status)
    if alone and form.query:
        response["HX-Push-Url"] = f"{request.path}?{urlencode(form.query.pairs())}".removesuffix("?")
    patch_vary_headers(response, ["HX-Request"])
    return response


def _again(request: HttpRequest, crawl: Crawl, query: PagesQuery, shown: TablePage) -> list[tuple[str, str]]:
    """The filters as the fields of the form that requests these pages again; empty where it is not offered: to users
    who may only look, and for more pages than a request of a browser should wait for."""
    is_few = shown.is_counted and shown.count <= MAX_COUNTED
    if not (shown.pages and is_few) or crawl.state == State.LOADING or is_locked(request.user, crawl):
        return []
    return [("filters", "1"), *replace(query.from_the_start(), columns=()).pairs()]


def _shown(request: HttpRequest, crawl: Crawl, form: PagesForm) -> dict[str, object]:
    """The rows and links to others; nothing for an invalid query."""
    if not form.is_valid() or form.query is None:
        return {}
    query: PagesQuery = form.query
    try:
        shown = table_page(crawl, query)
    except BadInput as error:
        form.add_error(None, error.message)
        return {}
    heads, found = rows(crawl, query, shown)
    return {
        "heads": heads,
        "rows": found,
        "count": counted(shown),
        "page_links": page_links(query, shown),
        "files": [(name, words, urlencode(query.from_the_start().pairs())) for name, words in FILES.items()],
        "narrowed": query.is_narrowed,
        "again": _again(request, crawl, query, shown),
        "unknown": query.show is Show.ORPHANS and not knows_orphans(crawl),
    }
