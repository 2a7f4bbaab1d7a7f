"""The pictures of a crawl, and how seldom its pages are counted for them."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from redis import Redis

from crawler import clock
from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl
from crawler.reports.progress import CHEAP
from crawler.web.crawl.crawl_summary import answer_bars, depth_bars, quick_figures
from tests.factories import a_crawl, a_crawl_with_a_queue, a_finished_crawl, a_page

NOW = 1_800_000_000.0
PART = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    cache.clear()


def part_of(browser: Client, crawl: Crawl) -> str:
    return browser.get(reverse("crawl-figures", args=[crawl.pk]), **PART).content.decode()


def test_the_crawls_page_draws_its_speed_with_a_sentence_for_those_who_do_not_see_it(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann, samples=[[NOW, 1, 0], [NOW + 1, 50, 30], [NOW + 3, 90, 80]])
    html = as_ann.get(f"/crawls/{crawl.id}/").content.decode()
    assert '<polyline class="line" points="' in html
    assert "Pages closed a second, over 2.0 s: 30.0/s at most, 25.0/s at last." in html


@pytest.mark.django_db
def test_answers_are_statuses_and_the_reasons_why_there_is_none() -> None:
    crawl = a_finished_crawl(
        discovered=20, outcomes={"2xx": 10, "4xx": 5, "dns": 2, "robots": 3}, statuses={"200": 10, "404": 5}
    )
    bars = [(bar["name"], bar["number"], bar["share"], bar["tone"]) for bar in answer_bars(crawl)]
    assert bars == [
        ("200", "10", 100.0, "good"),
        ("404", "5", 50.0, "warn"),
        ("host name not found", "2", 20.0, "bad"),
        ("forbidden by robots.txt", "3", 30.0, "calm"),
    ]


def test_every_depth_has_a_bar_and_the_very_deep_ones_share_one() -> None:
    assert [bar["name"] for bar in depth_bars({0: 1, 2: 4})] == ["0", "1", "2"]
    bars = depth_bars({0: 1, 40: 2, 50: 3})
    assert (bars[-1]["name"], bars[-1]["number"], len(bars)) == ("16 and more", "5", 17)


def test_hosts_are_told_apart_by_their_ports_and_count_their_errors(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    a_page(crawl, "https://a.example/1", bytes=1000, elapsed_ms=10)
    a_page(crawl, "https://a.example/2", 404, bytes=3000, elapsed_ms=30)
    a_page(crawl, "https://a.example:8443/", Outcome.DNS)
    a_page(crawl, "https://elsewhere.example/", kind="external")
    response = as_ann.get(reverse("crawl-figures", args=[crawl.pk]), **PART)
    assert response.context["figures"]["hosts"] == [
        {"name": "a.example", "pages": "2", "open": "0", "errors": "1", "time": "20 ms", "size": "4.0 kB"},
        {"name": "a.example:8443", "pages": "1", "open": "0", "errors": "1", "time": "0 ms", "size": "0 B"},
    ]


def counts(browser: Client, crawl: Crawl) -> bool:
    """Whether the table is read to answer."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as asked:
        part_of(browser, crawl)
    return any("GROUP BY" in query["sql"] for query in asked)


def test_it_is_counted_again_when_it_is_over_and_then_no_more(
    as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = a_crawl(ann)
    part_of(as_ann, crawl)
    Crawl.objects.filter(pk=crawl.pk).update(state="finished")
    assert counts(as_ann, crawl)
    later = clock.epoch_seconds() + 3600
    monkeypatch.setattr(clock, "shared", SimpleNamespace(epoch_seconds=lambda: later))
    assert not counts(as_ann, crawl)


def test_a_running_crawl_is_counted_once_in_a_while_however_often_somebody_looks(
    as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = a_crawl(ann)
    assert [counts(as_ann, crawl) for _ in range(3)] == [True, False, False]
    later = clock.epoch_seconds() + 60
    monkeypatch.setattr(clock, "shared", SimpleNamespace(epoch_seconds=lambda: later))
    assert counts(as_ann, crawl)


@pytest.mark.django_db
def test_the_page_of_a_large_crawl_does_not_wait_for_the_count() -> None:
    assert quick_figures(a_crawl(discovered=CHEAP + 1), NOW)["counted"] is None
    assert quick_figures(a_crawl(discovered=CHEAP), NOW)["counted"] is not None


def test_a_page_that_has_no_count_yet_asks_for_it(as_ann: Client, ann: User) -> None:
    html = as_ann.get(f"/crawls/{a_crawl(ann, discovered=CHEAP + 1).id}/").content.decode()
    assert "Counting the pages." in html
    assert 'hx-trigger="every ' in html


def test_while_somebody_else_counts_the_last_count_is_shown_and_asked_for_again(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    a_page(crawl)
    part_of(as_ann, crawl)
    Crawl.objects.filter(pk=crawl.pk).update(state="finished")
    cache.add(f"breakdown:{crawl.pk}:busy", True)
    html = part_of(as_ann, crawl)
    assert "example.com" in html
    assert 'hx-trigger="every ' in html


def test_an_open_page_whose_reader_was_logged_out_says_so_in_its_part(client: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    address = reverse("crawl-figures", args=[crawl.pk])
    told: dict[str, Any] = {**PART, "HTTP_HX_CURRENT_URL": f"http://testserver/crawls/{crawl.pk}/"}
    response = client.get(address, **told)
    assert response.status_code == 286  # htmx asks no more
    assert f'href="/login/?next=/crawls/{crawl.pk}/"' in response.content.decode()


def test_the_card_of_the_queue_has_its_rates_and_the_age_of_its_oldest_page(
    as_ann: Client, ann: User, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(clock, "epoch_seconds", lambda: now)
    html = part_of(as_ann, a_crawl_with_a_queue(real_redis, now, ann))
    card = BeautifulSoup(html, "html.parser").find("section", {"aria-labelledby": "queue-title"})
    assert card is not None
    rows = [[cell.text for cell in row.find_all(["th", "td"])] for row in card.find_all("tr")]
    assert rows == [
        ["Pages a minute", "Last minute", "5 minutes"],
        ["In", "300", "120"],
        ["Out", "90", "48"],
        ["Retried", "3.0", "1.6"],
        ["Dead letters", "1.0", "0.4"],
    ]
    assert "Oldest page that is due: 1 min 30 s" in card.text
