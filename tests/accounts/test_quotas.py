"""What a person may have, and has."""

from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.accounts import quotas
from crawler.core.access.quotas import Quota, QuotaUse, StorageUse
from crawler.core.errors import OverQuota
from crawler.core.protocol.completion import State
from crawler.storage import sql
from tests.factories import a_crawl, a_finished_crawl, a_person, an_allowance

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_without_settings_there_is_no_limit() -> None:
    assert quotas.quota(a_person().pk) == Quota(0, 0)


def test_the_settings_are_for_everybody_but_superusers(settings: Any) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS, settings.CRAWLER_PAGES_A_DAY = 2, 1000
    assert quotas.quota(a_person().pk) == Quota(2, 1000)
    assert quotas.quota(a_person("root", superuser=True).pk) == Quota(0, 0)


def test_an_allowance_is_for_one_person(settings: Any) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS = 2
    ann = a_person()
    an_allowance(ann, active_crawls=9)
    assert quotas.quota(ann.pk) == Quota(9, 0)


def test_crawls_that_are_over_do_not_count() -> None:
    ann = a_person()
    for state in State:
        a_crawl(ann, state=state)
    a_crawl(a_person("bob"))
    sql.add(ann.pk, 7, NOW.timestamp())
    assert quotas.used(ann.pk, NOW) == QuotaUse(active_crawls=3, pages_today=7, stored=StorageUse(pages=len(State)))


def test_a_claim_is_refused_at_the_limit(settings: Any) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS = 1
    ann = a_person()
    quotas.claim(ann, NOW)
    a_finished_crawl(ann)
    quotas.claim(ann, NOW)
    a_crawl(ann)
    with pytest.raises(OverQuota):
        quotas.claim(ann, NOW)


def test_a_deleted_crawl_frees_what_it_stored(settings: Any) -> None:
    settings.CRAWLER_STORED_PAGES = 12
    ann = a_person()
    a_finished_crawl(ann, discovered=8, kept_bytes=500)
    large = a_finished_crawl(ann, discovered=4, kept_bytes=70)
    assert quotas.stored(ann.pk) == StorageUse(12, 570)
    with pytest.raises(OverQuota, match="Your crawls store 12 pages, and may store 12; delete some"):
        quotas.claim(ann, NOW)
    large.delete()
    quotas.claim(ann, NOW)
    assert (quotas.no_room(ann.pk), quotas.no_room(None)) == ("", "")


def test_the_storage_of_one_person_may_be_larger(settings: Any) -> None:
    settings.CRAWLER_STORED_MB = 1
    ann = a_person()
    a_finished_crawl(ann, kept_bytes=1_000_000)
    line = "crawls keep 1 MB of content, and may keep 1 MB; delete some of these crawls to make room"
    assert quotas.no_room(ann.pk) == f"its owner's {line}"
    with pytest.raises(OverQuota, match=f"Your {line}"):
        quotas.check_room(ann.pk)
    an_allowance(ann, stored_mb=0)
    assert quotas.no_room(ann.pk) == ""


def test_crawls_without_an_owner_have_no_limit(settings: Any) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS = 1
    a_crawl(None)
    quotas.claim(None, NOW)


def test_the_pages_of_yesterday_are_forgiven(settings: Any) -> None:
    settings.CRAWLER_PAGES_A_DAY = 5
    ann = a_person()
    sql.add(ann.pk, 5, NOW.timestamp())
    assert not quotas.has_left(ann.pk, NOW)
    assert quotas.has_left(ann.pk, NOW.replace(day=22, hour=0))
