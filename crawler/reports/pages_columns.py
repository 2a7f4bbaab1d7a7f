"""The columns of the table of pages: which there are, which are shown unless others are chosen, and their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from crawler.core.figures import DASH
from crawler.core.pages_query import Sort
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import words

FIELD = "field:"  # before the name of an extraction rule, whose values are a column of their own

Cell = Callable[[Page, PageFacts | None], str]


@dataclass(frozen=True)
class Column:
    """A column beside the answer and the URL, which are always there."""

    name: str  # as the query string has it
    title: str
    cell: Cell
    sort: Sort | None = None  # None = the table cannot be sorted by it
    is_number: bool = False
    is_usual: bool = False
    is_moment: bool = False  # the cell is when the page was fetched


def _title(page: Page, _: PageFacts | None) -> str:
    return page.title


def _type(page: Page, _: PageFacts | None) -> str:
    return page.content_type


def _depth(page: Page, _: PageFacts | None) -> str:
    return words.count(page.depth)


def _size(page: Page, _: PageFacts | None) -> str:
    return words.size(page.bytes) if page.http_status else ""


def _time(page: Page, _: PageFacts | None) -> str:
    if page.reused:
        return "not asked"
    return f"{page.elapsed_ms:,} ms" if page.elapsed_ms or page.http_status else ""


def _first_byte(page: Page, facts: PageFacts | None) -> str:
    return f"{facts.first_byte_ms:,} ms" if facts and not page.reused else ""


def _attempts(page: Page, _: PageFacts | None) -> str:
    return words.count(page.attempts)


def _fetched(page: Page, _: PageFacts | None) -> str:
    return f"{page.fetched_at:%Y-%m-%d %H:%M:%S} UTC" if page.fetched_at else ""


def _words(_: Page, facts: PageFacts | None) -> str:
    return words.count(facts.words) if facts and facts.words else ""


def _description(_: Page, facts: PageFacts | None) -> str:
    return facts.description if facts else ""


def _heading(_: Page, facts: PageFacts | None) -> str:
    return facts.h1 if facts else ""


def _canonical(_: Page, facts: PageFacts | None) -> str:
    return facts.canonical if facts else ""


def _directives(page: Page, _: PageFacts | None) -> str:
    return page.directives


def _sitemap(page: Page, _: PageFacts | None) -> str:
    return "yes" if page.in_sitemap else "no"


COLUMNS = (
    Column("title", "Title", _title, sort=Sort.TITLE, is_usual=True),
    Column("depth", "Depth", _depth, sort=Sort.DEPTH, is_number=True, is_usual=True),
    Column("time", "Time", _time, sort=Sort.TIME, is_number=True, is_usual=True),
    Column("size", "Size", _size, sort=Sort.SIZE, is_number=True, is_usual=True),
    Column("type", "Type", _type),
    Column("first-byte", "First byte", _first_byte, is_number=True),
    Column("attempts", "Tries", _attempts, is_number=True),
    Column("fetched", "Fetched", _fetched, is_moment=True),
    Column("words", "Words", _words, is_number=True),
    Column("description", "Description", _description),
    Column("h1", "Heading", _heading),
    Column("canonical", "Canonical address", _canonical),
    Column("directives", "Directives", _directives),
    Column("sitemap", "In a sitemap", _sitemap),
)


def columns_of(crawl: Crawl) -> tuple[Column, ...]:
    """All columns this crawl's table can have: those above, and one for each of its extraction rules."""
    return (*COLUMNS, *(Column(FIELD + name, name, partial(_field, name)) for name in field_names(crawl)))


def shown_columns(crawl: Crawl, chosen: Sequence[str]) -> list[Column]:
    """The chosen ones as far as there are such columns, else the usual ones; always in the same order."""
    known = columns_of(crawl)
    return [column for column in known if column.name in chosen] or [column for column in known if column.is_usual]


def field_names(crawl: Crawl) -> list[str]:
    """The names of the crawl's extraction rules."""
    return [str(rule["name"]) for rule in crawl.options.get("fields", ())]


def facts_of(pages: Sequence[Page]) -> dict[int, PageFacts]:
    """What these pages said of themselves, as far as it is known."""
    return PageFacts.objects.in_bulk([page.pk for page in pages])


def value_words(value: Any) -> str:
    """An extracted value as text: several are separated by commas, and a dash stands for none."""
    match value:
        case None:
            return DASH
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(value_words, value)) or DASH
        case _:
            return str(value)


def _field(name: str, _: Page, facts: PageFacts | None) -> str:
    return value_words(facts.fields.get(name)) if facts else ""
