"""Crawls that were over for long enough are deleted, a few at a time; the others are not."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from redis import Redis

from crawler.core.protocol.completion import State
from crawler.crawls import delete
from crawler.crawls.reconcile import scan
from crawler.models import Crawl, LinkIndex, Page
from crawler.queueing.duties import STEPS_PER_SCAN
from tests.factories import a_crawl, a_finished_crawl, a_page

NOW = timezone.now()


def an_old_crawl(days: float = 31, **fields: Any) -> Crawl:
    """A crawl of three pages that ended so many days ago."""
    finished_at = NOW - timedelta(days=days)
    return a_finished_crawl(**{"created_at": finished_at, "finished_at": finished_at, **fields})


@pytest.fixture(autouse=True)
def _thirty_days(settings: Any) -> None:
    settings.CRAWLER_KEEP_DAYS = 30


def test_a_crawl_whose_time_is_up_is_deleted_with_its_pages(real_redis: Redis) -> None:
    crawl = an_old_crawl()
    a_page(crawl)
    LinkIndex.objects.create(crawl=crawl, moment="", bucket=0, last_page=1, packed=b"")
    assert delete.delete_past_retention(NOW) == 1
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()
    assert not LinkIndex.objects.exists()
    assert [key for key in real_redis.scan_iter(f"*{crawl.id}*") if b":deleted" not in key] == []


@pytest.mark.parametrize(
    "fields",
    [{"days": 29}, {"keep": True}, {"state": State.RUNNING, "finished_at": None}, {"state": State.PAUSED}],
    ids=["young", "kept", "running", "reopened"],
)
def test_others_stay(fields: dict[str, Any]) -> None:
    an_old_crawl(**fields)
    assert delete.delete_past_retention(NOW) == 0
    assert Crawl.objects.exists()


def test_without_the_setting_all_stay(settings: Any) -> None:
    settings.CRAWLER_KEEP_DAYS = 0
    an_old_crawl(days=10_000)
    assert delete.delete_past_retention(NOW) == 0


def test_what_a_run_at_work_is_compared_with_stays_until_that_is_over() -> None:
    previous = an_old_crawl()
    following = a_crawl(previous=previous)
    assert delete.delete_past_retention(NOW) == 0
    Crawl.objects.filter(pk=following.pk).update(state=State.FINISHED, finished_at=NOW)
    assert delete.delete_past_retention(NOW) == 1
    following.refresh_from_db()
    assert following.previous is None


def test_the_oldest_go_first_a_few_at_a_time() -> None:
    crawls = [an_old_crawl(days=100 - number) for number in range(5)]
    assert delete.delete_past_retention(NOW) == delete.CRAWLS_PER_SWEEP
    assert set(Crawl.objects.all()) == set(crawls[delete.CRAWLS_PER_SWEEP :])
    assert delete.delete_past_retention(NOW) == 2
    assert delete.delete_past_retention(NOW) == 0


def test_a_large_crawl_is_deleted_in_steps_by_reconcile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "DELETE_ROWS_PER_TRANSACTION", 1)
    crawl = an_old_crawl()
    for number in range(delete.DELETE_STEPS_PER_CALL + 3):
        a_page(crawl, f"https://example.com/{number}")
    delete.delete_past_retention(NOW)
    assert Page.objects.count() == 3
    scan()
    assert not Crawl.objects.exists()


def test_a_scan_takes_no_more_steps_for_several_deletions_than_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete, "DELETE_ROWS_PER_TRANSACTION", 1)
    monkeypatch.setattr(delete, "DELETE_STEPS_PER_CALL", 0)
    for crawl in (an_old_crawl(), an_old_crawl()):
        for number in range(STEPS_PER_SCAN):
            a_page(crawl, f"https://example.com/{number}")
    delete.delete_past_retention(NOW)
    scan()
    assert Page.objects.count() == STEPS_PER_SCAN
    for _ in range(2):
        scan()
    assert not Crawl.objects.exists()


def test_a_step_is_as_large_as_its_time_allows() -> None:
    assert delete.rows_of_next_step(1000, 0.2) == 500
    assert delete.rows_of_next_step(1000, 0.08) == 1250
    assert delete.rows_of_next_step(1000, 0.0) == 2000
    assert delete.rows_of_next_step(4000, 0.01) == delete.DELETE_ROWS_PER_TRANSACTION
    assert delete.rows_of_next_step(200, 60.0) == delete.LEAST_STEP_ROWS


def test_sessions_that_have_run_out_are_forgotten() -> None:
    Session.objects.create(session_key="a", session_data="", expire_date=NOW - timedelta(days=1))
    delete.forget_expired(NOW)
    assert not Session.objects.exists()
