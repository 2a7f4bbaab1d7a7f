"""What was chosen for a crawl is changed while real workers are at it: by the command, and by a PATCH of the API."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command

from crawler.core.protocol.counters import adds_up
from tests.site import Reply, Site, lateness, page
from tests.stack import Stack

WORKERS = 1
KEPT = tuple(f"/kept/{number}" for number in range(20))
ARCHIVE = tuple(f"/archive/{number}" for number in range(20))
PAGES = {"/": page(*KEPT, *ARCHIVE), **dict.fromkeys((*KEPT, *ARCHIVE), page())}
DELAY_S = 8.0  # with it a crawl would last for minutes; pages that are handed out keep it


def outcomes(crew: Stack, crawl: UUID) -> dict[str, int]:
    return dict(json.loads(crew.crawl(crawl)["outcomes"]))


def patched(crew: Stack, crawl: UUID, **options: Any) -> Any:
    """As a program with a token does it."""

    def call() -> Any:
        from django.contrib.auth.models import User

        from crawler.core.access.permissions import Scope
        from tests.api.calling import Caller, a_token

        user, _ = User.objects.get_or_create(username="root", is_superuser=True, is_staff=True)
        return Caller(a_token(user, Scope.CRAWLS_WRITE)).patch(f"/crawls/{crawl}", options).json()

    return crew.within(call)


@pytest.mark.long
def test_a_slow_crawl_is_quickened_and_its_archive_left_out_by_the_command(crew: Stack) -> None:
    with Site(PAGES).serving() as site:
        crawl = crew.start(f"{site.url}/", delay=DELAY_S, obey_robots=False, priorities=["/kept/=9"])
        crew.wait_for(lambda: outcomes(crew, crawl) == {"2xx": 1})
        crew.run("python", "manage.py", "change", str(crawl), "--delay", "0", "--exclude", "/archive/")
        receipt = crew.wait_until_finished(crawl)
    assert adds_up(receipt)
    assert outcomes(crew, crawl) == {"2xx": 21, "excluded": 20}
    assert not any(path.startswith("/archive/") for path in site.hits)


@pytest.mark.long
def test_a_page_limit_is_lowered_by_patch_and_what_it_left_out_comes_back_on_demand(crew: Stack) -> None:
    with Site(PAGES).serving() as site:
        crawl = crew.start(f"{site.url}/", delay=DELAY_S, obey_robots=False)
        crew.wait_for(lambda: outcomes(crew, crawl) == {"2xx": 1})
        told = patched(crew, crawl, max_pages=1, delay=0.0)
        assert told["after"] == {"max_pages": 1, "delay": 0.0}
        receipt = crew.wait_until_finished(crawl)
        assert adds_up(receipt)
        limited = outcomes(crew, crawl)["limit"]
        assert receipt["fetched"] + limited == len(PAGES)
        assert "Limit reached: 1 page at most" in receipt["ended_message"]
        patched(crew, crawl, max_pages=None)
        crew.run("python", "manage.py", "again", str(crawl), "--outcome", "limit")
        crew.wait_for(lambda: crew.crawl(crawl)["round"] == 2 and crew.crawl(crawl)["state"] == "finished")
    assert outcomes(crew, crawl) == {"2xx": len(PAGES)}
    assert max(site.hits.values()) == 1


THINKING_S = 0.1
MANY = tuple(f"/{number}" for number in range(120))
SLOW = {"/": page(*MANY), **dict.fromkeys(MANY, Reply(page(), after=THINKING_S))}
CONNECTIONS = 4
LAST = 20  # pages: fewer than are left when all that were handed out before a change have been requested


def moments_around_change(crew: Stack, *options: str) -> tuple[list[float], list[float]]:
    """When a crawl over four connections requested its pages: until it was changed, and from then on."""
    with Site(SLOW).serving() as site:
        crawl = crew.start(f"{site.url}/", concurrency=CONNECTIONS, obey_robots=False)
        crew.wait_for(lambda: site.hits.total() > len(MANY) // 4)
        crew.within(lambda: call_command("change", str(crawl), *options))
        before = site.hits.total()
        receipt = crew.wait_until_finished(crawl)
        moments = sorted(request.at for request in site.requests)
    assert adds_up(receipt)
    assert len(moments) == receipt["fetched"] == len(SLOW)
    return moments[:before], moments[before:]


@pytest.mark.long
def test_fewer_connections_hold_from_the_next_batch_on(crew: Stack) -> None:
    before, after = moments_around_change(crew, "--concurrency", "1")
    assert at_a_time(before[4:]) == CONNECTIONS
    assert at_a_time(after[-LAST:]) == 1


@pytest.mark.long
def test_fewer_requests_a_minute_hold_from_the_next_batch_on(crew: Stack) -> None:
    delay = 0.25
    before, after = moments_around_change(crew, "--per-minute", str(60 / delay))
    assert out_of_turn(before[-LAST:], delay) > LAST // 2
    assert out_of_turn(after[-LAST:], delay) <= LAST // 4  # slow on their way


def at_a_time(moments: Sequence[float]) -> int:
    """How many requests the site worked on at a time, at most."""
    return max(sum(1 for other in moments if moment <= other < moment + THINKING_S * 0.9) for moment in moments)


def out_of_turn(moments: Sequence[float], delay: float) -> int:
    return sum(late > delay * 0.4 for late in lateness(moments, delay))
