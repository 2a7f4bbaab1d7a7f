"""Schedules: each time begins one run, linked to the one before, or leaves a word why not."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from redis import RedisError

from crawler.core.errors import BadInput, RefusedAddress
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.crawls import schedules
from crawler.crawls.control import cancel
from crawler.crawls.delete import delete
from crawler.crawls.schedules import (
    NOT_ACTIVE,
    NOT_PUBLIC,
    add_schedule,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    run_due,
    why_not_again,
)
from crawler.crawls.start import start_crawl
from crawler.models import Crawl, Page, Schedule
from crawler.queueing import queues
from tests.conftest import free_port
from tests.factories import a_person

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SITE = "http://127.0.0.1:8/"
HOUR = timedelta(hours=1)


def a_schedule(rule: str = "every 1h", **fields: Any) -> Schedule:
    """A schedule of a site on this machine that is due at noon."""
    options = CrawlOptions(max_pages=5, private_hosts=("*",))
    values = {"start_urls": [SITE], "options": options.to_plain(), "rule": rule, "next_at": NOON} | fields
    return Schedule.objects.create(**values)


def fresh(schedule: Schedule) -> Schedule:
    schedule.refresh_from_db()
    return schedule


def end_runs() -> None:
    Crawl.objects.update(state=State.FINISHED)


def test_a_run_begins_when_its_time_has_come() -> None:
    schedule = a_schedule()
    assert run_due(NOON - timedelta(seconds=1)) == 0
    assert run_due(NOON) == 1
    run = Crawl.objects.get()
    assert (run.schedule, run.previous, run.state) == (schedule, None, State.RUNNING)
    assert (run.start_urls, run.chosen.max_pages, run.chosen.private_hosts) == ([SITE], 5, ("*",))
    assert Page.objects.filter(crawl=run, url=SITE, status=Page.OPEN).count() == 1
    assert queues.is_idle() is False  # its manager was woken
    assert fresh(schedule).next_at == NOON + HOUR


def test_each_run_is_linked_to_the_one_before() -> None:
    schedule = a_schedule()
    for number in range(3):
        run_due(NOON + number * HOUR)
        end_runs()
    first, second, third = Crawl.objects.order_by("created_at")
    assert (first.previous, second.previous, third.previous) == (None, first, second)
    assert {run.schedule for run in (first, second, third)} == {schedule}


def test_times_that_were_missed_begin_one_run() -> None:
    schedule = a_schedule()
    assert run_due(NOON + timedelta(days=4, minutes=20)) == 1
    assert fresh(schedule).next_at == NOON + timedelta(days=4, hours=1)
    assert run_due(NOON + timedelta(days=4, minutes=20)) == 0


def test_two_clocks_that_saw_the_same_schedule_begin_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = a_schedule()
    drafted = schedules.draft

    def with_another_clock_between(*given: Any, **more: Any) -> Crawl:
        monkeypatch.setattr(schedules, "draft", drafted)
        assert run_due(NOON) == 1
        return drafted(*given, **more)

    monkeypatch.setattr(schedules, "draft", with_another_clock_between)
    assert run_due(NOON) == 0
    assert Crawl.objects.filter(schedule=schedule).count() == 1


def test_a_run_is_left_out_while_the_one_before_goes_on() -> None:
    schedule = a_schedule()
    run_due(NOON)
    assert run_due(NOON + HOUR) == 0
    assert fresh(schedule).last_error == schedules.PREVIOUS_RUNNING_MESSAGE
    assert schedule.next_at == NOON + 2 * HOUR
    end_runs()
    assert run_due(NOON + 2 * HOUR) == 1
    assert fresh(schedule).last_error == ""


def test_a_site_that_cannot_be_begun_is_recorded_and_tried_the_next_time() -> None:
    schedule = a_schedule(options=CrawlOptions().to_plain())  # without leave for this machine's addresses
    assert run_due(NOON) == 0
    assert "is refused" in fresh(schedule).last_error
    assert (schedule.next_at, schedule.enabled) == (NOON + HOUR, True)
    assert not Crawl.objects.exists()


def test_a_schedule_of_an_account_that_is_not_active_begins_nothing() -> None:
    schedule = a_schedule(owner=a_person("root", superuser=True))
    User.objects.update(is_active=False)
    assert run_due(NOON) == 0
    assert fresh(schedule).last_error == NOT_ACTIVE
    assert not Crawl.objects.exists()
    User.objects.update(is_active=True)
    assert run_due(NOON + HOUR) == 1


def test_who_is_no_superuser_any_more_begins_no_crawl_of_private_addresses() -> None:
    schedule = a_schedule(owner=a_person("root", superuser=True))
    User.objects.update(is_superuser=False)
    assert run_due(NOON) == 0
    assert fresh(schedule).last_error == NOT_PUBLIC
    assert not Crawl.objects.exists()


def test_private_addresses_that_the_settings_allow_are_for_everybody(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]
    a_schedule(owner=a_person("ann"), options=CrawlOptions().to_plain())
    assert run_due(NOON) == 1


def test_one_that_cannot_be_begun_does_not_stop_the_others() -> None:
    a_schedule(options=CrawlOptions().to_plain())
    a_schedule()
    assert run_due(NOON) == 1


def test_an_unreadable_rule_is_disabled() -> None:
    schedule = a_schedule("0 0 30 2 *")
    assert run_due(NOON) == 0
    assert fresh(schedule).enabled is False
    assert "never run" in schedule.last_error


def test_without_redis_the_time_has_not_come_yet(settings: Any) -> None:
    schedule, there = a_schedule(), settings.REDIS_URL
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    with pytest.raises(RedisError):
        run_due(NOON)
    settings.REDIS_URL = there
    assert fresh(schedule).next_at == NOON
    assert run_due(NOON) == 1


def test_a_deleted_run_leaves_the_next_one_without_one_before() -> None:
    a_schedule()
    run_due(NOON)
    end_runs()
    first = Crawl.objects.get()
    run_due(NOON + HOUR)
    delete(first.id)
    assert Crawl.objects.get().previous is None


def test_a_schedule_that_is_removed_leaves_its_runs() -> None:
    schedule = a_schedule()
    run_due(NOON)
    assert remove_schedule(schedule.id)
    assert not remove_schedule(schedule.id)
    assert Crawl.objects.get().schedule is None


def test_a_paused_schedule_begins_nothing_and_makes_up_for_nothing() -> None:
    schedule = a_schedule(next_at=timezone.now() - timedelta(days=2))
    assert pause_schedule(schedule.id)
    assert not pause_schedule(schedule.id)
    assert run_due(timezone.now()) == 0
    assert resume_schedule(schedule.id)
    assert not resume_schedule(schedule.id)
    assert timezone.now() < fresh(schedule).next_at < timezone.now() + HOUR


def test_a_schedule_can_begin_with_its_first_run() -> None:
    run = start_crawl([SITE], CrawlOptions(max_depth=2), "every  6h ", allow_private=True)
    schedule = Schedule.objects.get()
    assert (run.schedule, run.chosen.max_depth, run.discovered) == (schedule, 2, 1)
    assert schedule.rule == "every 6h"
    assert timezone.now() + 5 * HOUR < schedule.next_at <= timezone.now() + 6 * HOUR
    cancel(run.id)
    assert run_due(schedule.next_at) == 1
    assert Crawl.objects.get(previous=run).chosen == run.chosen


def test_adding_one_begins_nothing() -> None:
    schedule = add_schedule([SITE], CrawlOptions(), "0 3 * * *", allow_private=True)
    assert not Crawl.objects.exists()
    assert (schedule.next_at.hour, schedule.next_at.minute) == (3, 0)


@pytest.mark.parametrize("make", [add_schedule, start_crawl])
@pytest.mark.parametrize(
    ("rule", "options", "refused"),
    [("0 0 30 2 *", {}, BadInput), ("every 6h", {"max_pages": 0}, BadInput), ("every 6h", {}, RefusedAddress)],
)
def test_bad_input_makes_nothing(
    make: Callable[..., object], rule: str, options: dict[str, Any], refused: type[BadInput]
) -> None:
    with pytest.raises(refused):
        make([SITE], CrawlOptions(**options), rule)
    assert not Schedule.objects.exists()
    assert not Crawl.objects.exists()


@pytest.mark.parametrize(
    ("is_active", "is_superuser", "every_address", "why"),
    [
        (True, False, False, ""),
        (True, True, True, ""),
        (True, False, True, NOT_PUBLIC),
        (False, False, False, NOT_ACTIVE),
        (False, True, True, NOT_ACTIVE),
    ],
)
def test_a_schedule_goes_on_while_its_owner_could_make_it(
    is_active: bool, is_superuser: bool, every_address: bool, why: str
) -> None:
    assert why_not_again(is_active=is_active, is_superuser=is_superuser, every_address=every_address) == why
