"""The dead letters of a crawl: on its page the first few, on a page of their own all of them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl, Page
from crawler.reports.progress import MAX_LISTED
from crawler.web.tables import paging
from tests.factories import a_crawl, a_finished_crawl, a_page


def a_dead_letter(crawl: Crawl, number: int = 0, answer: int | Outcome = 503) -> Page:
    return a_page(crawl, f"https://example.com/{number}", answer, given_up=True, attempts=3)


def test_the_crawls_page_shows_each_with_its_reason_and_its_button(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    letter = a_dead_letter(crawl)
    response = as_ann.get(f"/crawls/{crawl.id}/")
    (row,) = response.context["status"]["lists"]["dead_letters"]
    assert (row["answer"], row["url"], row["tries"]) == ("503", "https://example.com/0", "3 tries")
    assert f'<button name="page" value="{letter.pk}"' in response.content.decode()
    assert "1 page failed at the last attempt." in response.content.decode()


def test_the_crawls_page_shows_the_first_and_counts_all(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    for number in range(MAX_LISTED + 3):
        a_dead_letter(crawl, number)
    status = as_ann.get(f"/crawls/{crawl.id}/status").json()
    assert [row["url"] for row in status["lists"]["dead_letters"]] == [
        f"https://example.com/{n}" for n in range(MAX_LISTED)
    ]
    assert status["texts"]["dead_letters"].startswith(f"{MAX_LISTED + 3} pages failed at the last attempt.")


def test_a_dead_letter_is_not_listed_a_second_time_among_the_errors(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    a_dead_letter(crawl)
    missing = a_page(crawl, "https://example.com/missing", 404)
    lists = as_ann.get(f"/crawls/{crawl.id}/status").json()["lists"]
    assert [row["url"] for row in lists["troubled"]] == [missing.url]


def test_all_of_them_are_listed_page_by_page(as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "ROWS_PER_PAGE", 2)
    crawl = a_crawl(ann)
    for number in range(3):
        a_dead_letter(crawl, number, Outcome.TIMEOUT)
    first = as_ann.get(f"/crawls/{crawl.id}/dead-letters/").content.decode()
    assert "3 pages" in first
    assert "https://example.com/1" in first
    assert "https://example.com/2" not in first
    second = as_ann.get(f"/crawls/{crawl.id}/dead-letters/?page=2").content.decode()
    assert "https://example.com/2" in second
    assert '<input type="hidden" name="back" value="2">' in second
