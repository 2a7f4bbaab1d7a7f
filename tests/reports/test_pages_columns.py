"""The columns of the table of pages, and what it can be narrowed to."""

from __future__ import annotations

import pytest

from crawler.core.facts import Facts
from crawler.models import Crawl
from crawler.reports.pages_columns import FIELD, columns_of, facts_of, shown_columns, value_words
from crawler.reports.pages_facets import outcome_facets, status_facets
from tests.exports.factories import make_crawl, make_page
from tests.reports.pages import read_page

pytestmark = pytest.mark.django_db


def test_the_usual_columns_are_shown_unless_others_are_chosen() -> None:
    crawl = make_crawl()
    assert [column.name for column in shown_columns(crawl, ())] == ["title", "depth", "time", "size"]
    assert [column.name for column in shown_columns(crawl, ("words", "size"))] == ["size", "words"]
    assert [column.name for column in shown_columns(crawl, ("nonsense",))] == ["title", "depth", "time", "size"]


def test_every_column_has_a_cell_for_every_page() -> None:
    crawl = make_crawl()
    pages = [make_page(crawl, "http://site.test/a"), read_page(crawl, "http://site.test/b", reused=True)]
    facts = facts_of(pages)
    for column in columns_of(crawl):
        assert all(isinstance(column.cell(page, facts.get(page.pk)), str) for page in pages)


def test_each_extraction_rule_is_a_column() -> None:
    crawl = Crawl(options={"fields": [{"name": "price"}, {"name": "tags"}]})
    crawl.start_urls = ["http://site.test/"]
    crawl.save()
    page = read_page(crawl, "http://site.test/", facts=Facts(fields={"price": 9.5, "tags": ["a", None]}))
    price, tags = shown_columns(crawl, (f"{FIELD}price", f"{FIELD}tags"))
    kept = facts_of([page])[page.pk]
    assert (price.title, price.cell(page, kept), tags.cell(page, kept)) == ("price", "9.5", "a, –")  # noqa: RUF001


def test_a_value_is_told_as_text() -> None:
    assert [value_words(value) for value in (True, 3, [], ["a", "b"])] == ["yes", "3", "–", "a, b"]  # noqa: RUF001


def test_what_can_be_chosen_is_counted_by_the_crawl() -> None:
    outcomes = {"2xx": 5, "4xx": 2, "timeout": 1, "robots": 0}
    crawl = make_crawl(discovered=10, outcomes=outcomes, statuses={"200": 5, "404": 1, "410": 1})
    assert [(name, [facet.label for facet in facets]) for name, facets in outcome_facets(crawl)] == [
        ("fetched", ["All fetched (7)", "OK (5)", "client error (2)"]),
        ("failed", ["timed out (1)"]),
        ("open", ["open (2)"]),
    ]
    assert [facet.label for _, facets in status_facets(crawl) for facet in facets] == [
        "All 2xx (5)",
        "200 (5)",
        "All 4xx (2)",
        "404 (1)",
        "410 (1)",
    ]
