"""The columns of the table of pages, and what it can be narrowed to."""

from datetime import UTC, datetime

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.html.page_metadata import PageMetadata
from crawler.models import Crawl, Page
from crawler.reports.page_table import (
    FIELD,
    columns_of,
    facts_of,
    outcome_facets,
    shown_columns,
    status_facets,
    value_words,
)
from tests.factories import make_crawl, make_page
from tests.reports.pages import read_page
from tests.text_files import listed

pytestmark = pytest.mark.django_db


def test_the_usual_columns_are_shown_unless_others_are_chosen() -> None:
    crawl = make_crawl()
    assert [column.name for column in shown_columns(crawl, ())] == ["title", "depth", "time", "size"]
    assert [column.name for column in shown_columns(crawl, ("words", "size"))] == ["size", "words"]
    assert [column.name for column in shown_columns(crawl, ("nonsense",))] == ["title", "depth", "time", "size"]


def test_each_column_tells_what_is_known_of_a_page_and_nothing_else(golden: SnapshotAssertion) -> None:
    """Of a page nobody asked for yet, of one that answered, and of one whose answer was remembered."""
    pages = three_pages()
    facts, columns = facts_of(pages), columns_of(pages[0].crawl)
    cells = {column.name: [column.cell(page, facts.get(page.pk)) for page in pages] for column in columns}
    assert "".join(f"{name}: {' | '.join(told)}\n" for name, told in cells.items()) == golden


def three_pages() -> list[Page]:
    crawl = make_crawl(options={"fields": [{"name": "price", "selector": "p", "type": "number"}]})
    said = PageMetadata(
        description="All we have.",
        h1="Our kettles",
        canonical="http://site.test/kettles",
        words=1412,
        fields={"price": 9.5},
    )
    answered = read_page(
        crawl,
        "http://site.test/b",
        title="Kettles",
        depth=1200,
        bytes=18_204,
        elapsed_ms=1041,
        attempts=2,
        fetched_at=datetime(2026, 3, 12, 9, 30, tzinfo=UTC),
        directives="noindex nofollow",
        in_sitemap=True,
        facts=said,
    )
    remembered = read_page(crawl, "http://site.test/c", title="Pots", depth=1, reused=True)
    return [make_page(crawl, "http://site.test/a"), answered, remembered]


def test_each_extraction_rule_is_a_column() -> None:
    crawl = Crawl(options={"fields": [{"name": "price"}, {"name": "tags"}]})
    crawl.start_urls = ["http://site.test/"]
    crawl.save()
    page = read_page(crawl, "http://site.test/", facts=PageMetadata(fields={"price": 9.5, "tags": ["a", None]}))
    price, tags = shown_columns(crawl, (f"{FIELD}price", f"{FIELD}tags"))
    kept = facts_of([page])[page.pk]
    assert (price.title, price.cell(page, kept), tags.cell(page, kept)) == ("price", "9.5", "a, –")  # noqa: RUF001


def test_a_value_is_told_as_text() -> None:
    assert [value_words(value) for value in (True, 3, [], ["a", "b"])] == ["yes", "3", "–", "a, b"]  # noqa: RUF001


def test_what_can_be_chosen_is_counted_by_the_crawl(golden: SnapshotAssertion) -> None:
    outcomes = {"2xx": 5, "4xx": 2, "timeout": 1, "robots": 0}
    crawl = make_crawl(discovered=10, outcomes=outcomes, statuses={"200": 5, "404": 1, "410": 1})
    groups = [*outcome_facets(crawl), *status_facets(crawl)]
    assert listed({name: [facet.label for facet in facets] for name, facets in groups}) == golden
