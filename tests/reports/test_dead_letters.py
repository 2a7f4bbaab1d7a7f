"""The dead letters of many crawls: the newest first, by cursors, with filters, and counted by their error."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection

from crawler.accounts.permissions import controlled_crawls, visible_crawls
from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl, Page
from crawler.reports.dead_letters import (
    LetterFilter,
    checked,
    counts,
    crawls_with,
    cursor_behind,
    ids_before,
    ids_from,
    letters_of,
    read,
)
from tests.factories import a_crawl, a_group, a_page, a_person

pytestmark = pytest.mark.django_db


def a_letter(crawl: Crawl, url: str, at: float, answer: int | Outcome = Outcome.TIMEOUT) -> Page:
    return a_page(crawl, url, answer, given_up=True, given_up_at=at)


@pytest.fixture
def crawls() -> tuple[Crawl, Crawl]:
    """Two crawls whose pages failed in turn, and a page of the first that is well."""
    first, second = a_crawl(), a_crawl()
    a_letter(first, "https://a.test/1", 10.25)
    a_letter(second, "https://b.test/2", 20.5, 503)
    a_letter(first, "http://a.test/3", 30.125, Outcome.DNS)
    a_letter(second, "https://b.test:8443/4", 30.125)
    a_page(first, "https://a.test/well")
    return first, second


ALL = LetterFilter()


def found(chosen: LetterFilter = ALL) -> list[str]:
    return [page.url[-1] for page in letters_of(Crawl.objects.all(), chosen)]


def test_they_are_of_all_crawls_and_the_newest_comes_first(crawls: object) -> None:
    assert found() == ["4", "3", "2", "1"]


def test_each_filter_selects(crawls: tuple[Crawl, Crawl]) -> None:
    assert found(LetterFilter(outcome="timeout")) == ["4", "1"]
    assert found(LetterFilter(crawl=crawls[0].id)) == ["3", "1"]
    assert found(LetterFilter(since=20.5)) == ["4", "3", "2"]
    assert found(checked("", "A.test", None, None)) == ["3", "1"]
    assert found(checked("", "b.test:8443", None, None)) == ["4"]
    assert found(checked("timeout", "b.test", None, None)) == []


@pytest.mark.parametrize(("outcome", "host"), [("slow", ""), ("", "a b"), ("", "*.test"), ("", "a.test/path")])
def test_a_filter_that_cannot_be_used_is_refused(outcome: str, host: str) -> None:
    with pytest.raises(BadInput):
        checked(outcome, host, uuid4(), None)


def test_cursors_lead_through_all_of_them_and_back(crawls: object) -> None:
    letters = letters_of(Crawl.objects.all(), LetterFilter())
    first = ids_from(letters, None, 2)
    second = ids_from(letters, cursor_behind(*first[-1]), 2)
    assert [page.url[-1] for page in read(first + second)] == ["4", "3", "2", "1"]
    assert ids_from(letters, cursor_behind(*second[-1]), 2) == []
    assert ids_before(letters, cursor_behind(*second[0]), 2) == first
    assert ids_before(letters, cursor_behind(*second[-1]), 1) == second[:1]


def test_a_cursor_holds_when_its_dead_letter_was_retried(crawls: object) -> None:
    letters = letters_of(Crawl.objects.all(), LetterFilter())
    first = ids_from(letters, None, 2)
    Page.objects.filter(id=first[-1][1]).update(given_up=False, given_up_at=0)
    assert [page.url[-1] for page in read(ids_from(letters, cursor_behind(*first[-1]), 9))] == ["2", "1"]


@pytest.mark.parametrize("cursor", ["nonsense", "NDcxMQ", "LTEuLTE"])
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    with pytest.raises(BadInput):
        ids_from(letters_of(Crawl.objects.all(), LetterFilter()), cursor, 2)


def test_they_are_counted_by_error_the_most_first(crawls: object) -> None:
    assert counts(letters_of(Crawl.objects.all(), LetterFilter())) == {"timeout": 2, "5xx": 1, "dns": 1}


def test_the_crawls_with_the_newest_come_first(crawls: tuple[Crawl, Crawl]) -> None:
    a_crawl()
    a_letter(crawls[0], "https://a.test/5", 99)
    assert crawls_with(Crawl.objects.all()) == [*crawls]


def test_a_user_sees_those_of_own_and_shared_crawls_and_controls_fewer() -> None:
    ann, bob = a_person("ann"), a_person("bob")
    editors = a_group("editors", ann)
    own = a_crawl(ann)
    seen = a_crawl(bob, group=editors)
    shared = a_crawl(bob, group=editors, group_controls=True)
    hidden = a_crawl(bob)
    staff = User.objects.create_user("staff", is_staff=True)
    assert {*visible_crawls(ann)} == {own, seen, shared}
    assert {*controlled_crawls(ann)} == {own, shared}
    assert {*visible_crawls(staff)} == {own, seen, shared, hidden}
    assert {*controlled_crawls(staff)} == set()
    assert {*controlled_crawls(a_person("root", superuser=True))} == {own, seen, shared, hidden}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL sorts a table as small as this one")
def test_no_row_is_sorted_for_who_sees_all_crawls() -> None:
    crawls = visible_crawls(a_person(superuser=True))
    plan = letters_of(crawls, ALL).values_list("given_up_at", "id")[:100].explain()
    assert "page_dead_letters" in plan
    assert "TEMP B-TREE" not in plan
