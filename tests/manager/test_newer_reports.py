"""A tick reads reports of a later version of the project: what it does not understand is requested again, and nothing
is counted against it."""

from typing import Any

import msgspec
import pytest

from crawler.core.protocol.messages import VERSION
from crawler.manager.tick import manage
from crawler.models import Page
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import page

SITE = {"/": page("/a"), "/a": page()}
NEWER: list[dict[str, Any]] = [
    {"version": VERSION + 1},
    {"version": VERSION + 1, "results": [{"id": 1, "attempt": 1, "outcome": "an outcome of a later version"}]},
]


def rewrite_reports(bench: Bench, change: dict[str, Any]) -> None:
    """The reports that wait become those of a later version."""
    redis, key = bench.context.frontier.redis, bench.context.frontier.keys.results
    reports = [msgspec.msgpack.decode(raw) | change for raw in bench.context.frontier.results.read(99)]
    assert reports
    redis.delete(key)
    redis.rpush(key, *map(msgspec.msgpack.encode, reports))


@pytest.mark.site(SITE)
@pytest.mark.parametrize("change", NEWER, ids=["a newer version", "an unknown value"])
def test_however_often_its_page_is_requested_again_and_does_not_fail(bench: Bench, change: dict[str, Any]) -> None:
    bench.start()
    for times in (1, 2, 3, 4):
        bench.work("crawl")
        bench.work("fetch", at_most=1)
        assert bench.site.hits["/"] == times
        rewrite_reports(bench, change)
    bench.work()
    assert bench.state() == "finished"
    receipt = receipt_of(bench.crawl)
    assert (receipt["fetched"], receipt["failed"], receipt["retries"]) == (2, 0, 0)
    assert set(Page.objects.values_list("attempts", "deaths", "died_with")) == {(1, 0, "")}


@pytest.mark.site(SITE)
@pytest.mark.parametrize("change", NEWER, ids=["a newer version", "an unknown value"])
def test_its_slice_is_over_at_once(bench: Bench, change: dict[str, Any]) -> None:
    bench.fetch_first_page()
    before = {lease.batch for lease, _ in bench.context.frontier.leases.all()}
    rewrite_reports(bench, change)
    manage(bench.crawl.id)
    assert before.isdisjoint(lease.batch for lease, _ in bench.context.frontier.leases.all())
    assert bench.context.frontier.results.read(9) == []
