"""A paused crawl takes in what is on its way and hands out nothing; resumed, it goes on to its end."""

from __future__ import annotations

import pytest

from crawler.engine.control import pause, resume
from crawler.models import Page
from tests.engine.conftest import Bench
from tests.site import page

PAGES = {"/": page("/a", "/b"), "/a": page(), "/b": page()}


@pytest.mark.site(PAGES)
def test_what_is_on_its_way_is_taken_in_and_nothing_else_is_asked_for(bench: Bench) -> None:
    bench.start()
    bench.work("crawl", at_most=1)
    assert pause(bench.crawl.id)
    bench.work()
    assert bench.state() == "paused"
    assert bench.site.hits == {"/robots.txt": 1, "/": 1}
    assert Page.objects.filter(status=Page.OPEN).count() == 2


@pytest.mark.site(PAGES)
def test_resumed_it_goes_on_to_its_end(bench: Bench) -> None:
    bench.start()
    pause(bench.crawl.id)
    bench.work()
    assert resume(bench.crawl.id)
    bench.work()
    assert bench.state() == "finished"
    assert bench.site.hits == {"/robots.txt": 1, "/": 1, "/a": 1, "/b": 1}


def test_repeating_either_changes_nothing(bench: Bench) -> None:
    bench.start()
    assert [pause(bench.crawl.id), pause(bench.crawl.id)] == [True, False]
    assert [resume(bench.crawl.id), resume(bench.crawl.id)] == [True, False]


def test_a_finished_crawl_stays_finished(bench: Bench) -> None:
    bench.start()
    bench.work()
    assert not pause(bench.crawl.id)
    assert not resume(bench.crawl.id)
    assert bench.state() == "finished"
