"""The table of pages as its template shows it: heads that sort, rows with their cells, and the ways on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from crawler.core.pages_query import PagesQuery, Sort
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import words
from crawler.reports.pages_columns import Column, facts_of, shown_columns
from crawler.reports.pages_table import Leaf
from crawler.web.rows import KINDS, page_row


@dataclass(frozen=True)
class Head:
    """The head of a column."""

    title: str
    link: str = ""  # the query string that sorts by it; "" = it cannot be
    order: str = ""  # "ascending" or "descending" when the table is sorted by it
    is_number: bool = False


def heads(query: PagesQuery, columns: Sequence[Column]) -> list[Head]:
    """The answer, the URL, and what was chosen besides."""
    fixed = [_head(query, "Answer", Sort.STATUS), _head(query, "Page", Sort.URL)]
    return [*fixed, *(_head(query, column.title, column.sort, column.is_number) for column in columns)]


def _head(query: PagesQuery, title: str, sort: Sort | None, is_number: bool = False) -> Head:
    if sort is None:
        return Head(title, is_number=is_number)
    order = ("descending" if query.descending else "ascending") if sort is query.sort else ""
    return Head(title, f"?{urlencode(query.sorted_by(sort).pairs())}", order, is_number)


def rows(crawl: Crawl, query: PagesQuery, leaf: Leaf) -> tuple[list[Head], list[dict[str, object]]]:
    """The heads, and a row for each page of the leaf."""
    columns = shown_columns(crawl, query.columns)
    facts = facts_of(leaf.pages)
    return heads(query, columns), [
        {
            **page_row(page),
            "note": _note(page),
            "cells": [_cell(column, page, facts.get(page.pk)) for column in columns],
        }
        for page in leaf.pages
    ]


def _cell(column: Column, page: Page, facts: PageFacts | None) -> dict[str, object]:
    return {
        "title": column.title,
        "text": column.cell(page, facts),
        "is_number": column.is_number,
        "moment": page.fetched_at if column.is_moment else None,
    }


def _note(page: Page) -> str:
    """What there is to say beside the URL; the title has a column of its own."""
    said = page.error or (f"→ {page.redirect_to}" if page.redirect_to else "")
    return ": ".join(filter(None, [KINDS.get(page.kind), said]))


def ways(query: PagesQuery, leaf: Leaf) -> dict[str, str]:
    """The query strings that lead to the rows before and behind these, to the first and to the last; "" where there
    are none."""
    start, end = query.from_the_start(), query.from_the_end()
    if not leaf.pages:
        return {"earlier": "", "later": "", "first": "" if leaf.is_first else _to(start), "last": ""}
    ahead, behind = replace(start, before=leaf.pages[0].pk), replace(start, after=leaf.pages[-1].pk)
    return {
        "first": "" if leaf.is_first else _to(start),
        "earlier": "" if leaf.is_first else _to(ahead),
        "later": "" if leaf.is_last else _to(behind),
        "last": "" if leaf.is_last else _to(end),
    }


def _to(query: PagesQuery) -> str:
    return f"?{urlencode(query.pairs())}"


def counted(leaf: Leaf) -> str:
    """ "1,170 pages", or "More than 10,000 pages"."""
    return words.counted(leaf.count, "page") if leaf.is_counted else f"More than {words.counted(leaf.count, 'page')}"
