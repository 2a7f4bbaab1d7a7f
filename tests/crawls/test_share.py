"""Sharing a crawl, and keeping it."""

from datetime import timedelta

import pytest

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls.control import keep, share
from crawler.crawls.schedules import add_schedule, run_due
from crawler.models import Crawl
from tests.bench import Bench
from tests.factories import a_crawl, a_group, a_person


def test_a_crawl_is_shared_with_a_group_and_taken_back() -> None:
    ann = a_person("ann")
    group, crawl = a_group("editors", ann), a_crawl(ann)
    assert share(crawl, ann, group, group_controls=True)
    assert not share(crawl, ann, group, group_controls=True)
    crawl.refresh_from_db()
    assert (crawl.group, crawl.group_controls) == (group, True)
    assert share(crawl, ann, None, group_controls=True)
    crawl.refresh_from_db()
    assert (crawl.group, crawl.group_controls) == (None, False)


def test_one_shares_with_no_group_one_is_not_in() -> None:
    ann = a_person("ann")
    crawl = a_crawl(ann)
    with pytest.raises(BadInput, match="not a member of the group others"):
        share(crawl, ann, a_group("others"))
    assert Crawl.objects.get().group is None


def test_it_stays_shared_when_its_owner_leaves_the_group() -> None:
    ann = a_person("ann")
    group = a_group("editors", ann)
    crawl = a_crawl(ann, group=group)
    ann.groups.clear()
    assert share(crawl, ann, group, group_controls=True)


def test_runs_are_shared_as_their_schedule_is(bench: Bench) -> None:
    ann = a_person("ann", superuser=True)  # she alone may go on allowing addresses that are not public
    group = a_group("editors", ann)
    schedule = add_schedule([bench.site.url], CrawlOptions(), "every 1h", owner=ann, allow_private=True)
    share(schedule, ann, group, group_controls=True)
    run_due(schedule.next_at + timedelta(seconds=1))
    run = Crawl.objects.get()
    assert (run.owner, run.group, run.group_controls) == (ann, group, True)


def test_keeping_twice_changes_nothing_the_second_time() -> None:
    crawl = a_crawl()
    assert [keep(crawl, is_kept=kept) for kept in (True, True, False, False)] == [True, False, True, False]
