"""What a person's crawls asked for is counted with the rows that change, once."""

from datetime import date

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page, Usage
from crawler.storage import additions, sql, writer
from tests.factories import a_crawl, a_page, a_person

pytestmark = pytest.mark.django_db

NOW = 1_000_000.0  # 12 January 1970
DAY = date(1970, 1, 12)


@pytest.fixture
def crawl() -> Crawl:
    """Of ann, with three pages open."""
    crawl = a_crawl(a_person("ann"), discovered=3)
    for name in "abc":
        a_page(crawl, f"https://example.com/{name}", status=Page.OPEN, outcome="", http_status=None)
    return crawl


def results(crawl: Crawl, *outcomes: Outcome) -> list[PageResult]:
    ids = Page.objects.filter(crawl=crawl).order_by("id").values_list("id", flat=True)
    return [PageResult(id=page, attempt=1, outcome=outcome) for page, outcome in zip(ids, outcomes, strict=False)]


def counted(crawl: Crawl) -> int:
    assert crawl.owner_id is not None
    return sql.pages_on(crawl.owner_id, DAY)


def test_pages_that_were_asked_for_count(crawl: Crawl) -> None:
    closed = results(crawl, Outcome.CLIENT_ERROR, Outcome.TIMEOUT, Outcome.ROBOTS)
    writer.apply(crawl.id, closed, [], [], NOW)
    assert counted(crawl) == 2


def test_results_read_twice_count_once(crawl: Crawl) -> None:
    for _ in range(2):
        writer.apply(crawl.id, results(crawl, Outcome.SUCCESS), [], [], NOW)
    assert counted(crawl) == 1


def test_what_a_cancel_closes_does_not_count(crawl: Crawl) -> None:
    writer.close_rest(crawl.id, Outcome.CANCELLED, "", NOW)
    assert not Usage.objects.exists()


def test_dead_letters_sent_again_are_not_given_back(crawl: Crawl) -> None:
    writer.apply(crawl.id, results(crawl, Outcome.TIMEOUT), [], [], NOW)
    Page.objects.filter(outcome=Outcome.TIMEOUT).update(given_up=True)
    assert additions.reopen(crawl.id, None, NOW) == 1
    writer.apply(crawl.id, results(crawl, Outcome.TIMEOUT), [], [], NOW)
    assert counted(crawl) == 2


def test_what_is_rolled_back_is_not_counted(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*args: object) -> None:
        raise RuntimeError("in the middle of the transaction")

    monkeypatch.setattr(writer, "crash_point", dies)
    with pytest.raises(RuntimeError):
        writer.apply(crawl.id, results(crawl, Outcome.SUCCESS), [], [], NOW)
    assert not Usage.objects.exists()


def test_days_and_people_are_kept_apart(crawl: Crawl) -> None:
    bob = a_person("bob")
    sql.add(bob.pk, 5, NOW)
    sql.add(bob.pk, 2, NOW + 86400)
    writer.apply(crawl.id, results(crawl, Outcome.SUCCESS), [], [], NOW)
    assert sorted(Usage.objects.values_list("user__username", "pages")) == [("ann", 1), ("bob", 2), ("bob", 5)]


def test_crawls_of_nobody_are_not_counted() -> None:
    crawl = a_crawl(None)
    a_page(crawl, status=Page.OPEN, outcome="", http_status=None)
    writer.apply(crawl.id, results(crawl, Outcome.SUCCESS), [], [], NOW)
    assert not Usage.objects.exists()


def test_what_is_older_than_a_year_is_forgotten() -> None:
    ann = a_person("ann")
    for now in (NOW, NOW + 86400):
        sql.add(ann.pk, 1, now)
    sql.delete_before(date(1970, 1, 13))
    assert [row.day for row in Usage.objects.all()] == [date(1970, 1, 13)]
