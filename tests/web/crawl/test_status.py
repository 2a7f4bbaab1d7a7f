"""What the crawl page and its JSON say in each state."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone
from redis import Redis
from rq import Queue, SimpleWorker
from syrupy.assertion import SnapshotAssertion

from crawler import clock
from crawler.capabilities.scrapy.options import SCRAPY
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.scaling import Steady
from crawler.core.protocol.completion import State
from crawler.frontier.autoscalers import Membership
from crawler.frontier.workload import ShownFigure, store_figure
from crawler.models import Crawl, Delivery
from crawler.reports import workforce
from crawler.reports.explanation import AUTOSCALED
from crawler.reports.receipt import receipt_of
from crawler.web.crawl.status import NO_WORKER, status_of, summary_of
from tests.factories import SITE, a_cancelled_crawl, a_crawl, a_delivery, a_finished_crawl, a_page
from tests.text_files import listed

pytestmark = pytest.mark.django_db


NOW = 1_800_000_000.0
BEFORE: dict[str, Any] = {"round_began_at": timezone.now() - timedelta(minutes=1)}
"""Of a crawl that was not started just now."""


def status(crawl: Crawl, now: float | None = None) -> dict[str, Any]:
    return status_of(crawl, time.time() if now is None else now, in_full=True)


def crawls() -> Iterator[tuple[str, Crawl]]:
    """One in each state that the page has words of its own for."""
    moving = {"discovered": 200, "outcomes": {"2xx": 150}, "samples": [[NOW - 5, 200, 100]]}
    limited: dict[str, Any] = {"options": CrawlOptions(max_pages=40), "discovered": 457}
    some_limit = {"discovered": 10, "outcomes": {"2xx": 5, "dns": 2, "robots": 2, "limit": 1}}
    errors = {"2xx": 4, "3xx": 1, "4xx": 2, "5xx": 1, "timeout": 1, "robots": 1}
    yield "just begun", a_crawl()
    yield "running", a_crawl(**moving)
    yield "paused", a_crawl(**moving, state=State.PAUSED)
    yield "running with a page limit", a_crawl(**limited, outcomes={"2xx": 12}, samples=[[NOW - 4, 300, 4, 4]])
    yield "finished", a_finished_crawl()
    yield "finished, a limit was reached", a_finished_crawl(**some_limit)
    yield (
        "finished, its page limit was reached",
        a_finished_crawl(**limited, outcomes={"2xx": 40, "limit": 417}, limits={"pages": 417}),
    )
    yield (
        "finished, its deadline passed",
        a_finished_crawl(
            options=CrawlOptions(deadline=7200.0), outcomes={"2xx": 1, "expired": 2}, limits={"deadline": 2}
        ),
    )
    now = timezone.now()
    pauses = {"created_at": now - timedelta(minutes=65), "finished_at": now, "idle_seconds": 62 * 60 - 3}
    yield "finished after pauses", a_finished_crawl(**pauses)
    yield "finished with errors", a_finished_crawl(discovered=10, outcomes=errors)
    yield "cancelled", a_cancelled_crawl()
    yield "its list was not begun", a_crawl(state=State.LOADING, source="urls.csv")
    read = {"lines": 12_000, "taken": 11_000, "duplicates": 900, "invalid": 100, "examples": []}
    yield "its list is being read", a_crawl(state=State.LOADING, source="urls.csv", source_report=read)
    yield "finished over a list", a_finished_crawl(source="urls.csv", source_report=read)
    memory = CrawlOptions(revisit=True, response_ttl=60.0)
    a_page(remembered := a_finished_crawl(options=memory, outcomes={"2xx": 1, "unchanged": 2}), reused=True)
    yield "finished, pages came from memory", remembered


def crawls_with_pages() -> Iterator[tuple[str, Crawl]]:
    crawl = a_crawl()
    a_page(crawl, "https://example.com/a", title="A", elapsed_ms=1234, bytes=14600)
    a_page(crawl, "https://example.com/old", 301, redirect_to="https://example.com/new")
    a_page(crawl, "https://example.com/slow", Outcome.TIMEOUT, error="No answer within 10 s.")
    a_page(crawl, "https://example.com/map.xml", kind="sitemap", title="")
    a_page(crawl, "https://elsewhere.example/", 404, kind="external", error="gone")
    yield "pages of each kind", crawl
    nothing: list[tuple[int | Outcome, str]] = [
        (404, ""),
        (500, ""),
        (Outcome.DNS, "No such host."),
        (Outcome.ROBOTS, ""),
    ]
    for answer, error in nothing:
        crawl = a_finished_crawl(discovered=1, outcomes={"4xx": 1}, statuses={"404": 1})
        a_page(crawl, SITE, answer, error=error)
        yield f"the start URL gave nothing: {answer}", crawl
    crawl = a_finished_crawl(start_urls=[SITE, "https://other.example/"])
    a_page(crawl, SITE)
    a_page(crawl, "https://other.example/", 404)
    yield "one of two start URLs gave nothing", crawl


def crawls_with_notices() -> Iterator[tuple[str, Crawl]]:
    options = CrawlOptions(notify_emails=("me@example.com",), notify_webhooks=("https://example.com/h",))
    yield "running", a_crawl(options=options)
    a_delivery(again := a_crawl(round=2, options=options), state=Delivery.DELIVERED)
    yield "running again", again
    a_delivery(ended := a_finished_crawl(), state=Delivery.GIVEN_UP, attempts=8, error="The webhook returned 500.")
    yield "given up", ended


def shown(crawl: Crawl) -> Iterator[str]:
    """All that the page shows, and the line of the list of crawls; without what is empty."""
    found, line = status(crawl, NOW), summary_of(crawl, NOW)
    yield f"{found['title']} [{found['bar']['value']} of {found['bar']['max']}]"
    yield f"can: {', '.join(verb for verb, can in found['can'].items() if can)}"
    yield f"over: {found['over']}, settled: {found['settled']}"
    yield from (f"{name}: {text}" for name, text in found["texts"].items() if text and name != "receipt_json")
    for name, rows in found["lists"].items():
        yield from (
            f"{name}: {' | '.join(value for key, value in row.items() if value and key != 'key')}" for row in rows
        )
    yield f"in the list: {' | '.join(f'{name}={value}' for name, value in line.items() if value and name != 'crawl')}"


@pytest.mark.parametrize("made", [crawls, crawls_with_pages, crawls_with_notices], ids=lambda made: made.__name__)
def test_the_page_shows(
    made: Callable[[], Iterator[tuple[str, Crawl]]], golden: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "shared", SimpleNamespace(epoch_seconds=lambda: NOW))
    assert listed({name: shown(crawl) for name, crawl in made()}) == golden


def alerts(crawl: Crawl) -> list[str]:
    return [row["text"] for row in status(crawl)["lists"]["alerts"]]


def test_the_receipts_table_adds_up() -> None:
    crawl = a_finished_crawl(discovered=10, outcomes={"2xx": 5, "dns": 2, "robots": 2, "limit": 1})
    rows = status(crawl)["lists"]["receipt"]
    parts = sum(int(row["number"]) for row in rows if row["tone"] == "part")
    (total,) = (row for row in rows if row["tone"] == "sum")
    assert parts == int(total["number"]) == 10


def test_only_a_crawl_that_is_over_has_a_receipt() -> None:
    finished = a_finished_crawl()
    assert status(finished)["progress"]["receipt"] == receipt_of(finished)
    assert json.loads(status(finished)["texts"]["receipt_json"])["id"] == str(finished.id)
    assert status(a_crawl())["texts"]["receipt_json"] == ""


def test_a_receipt_names_its_engine_if_that_is_scrapy() -> None:
    through_scrapy, usual = a_finished_crawl(options=CrawlOptions(engine=SCRAPY)), a_finished_crawl()
    row = {"name": "engine", "number": "Scrapy", "tone": "more"}
    assert row in status(through_scrapy)["lists"]["receipt"]
    assert receipt_of(through_scrapy)["engine"] == SCRAPY
    assert "engine" not in {row["name"] for row in status(usual)["lists"]["receipt"]} | set(receipt_of(usual))


def test_a_start_url_that_was_cancelled_is_no_trouble() -> None:
    crawl = a_cancelled_crawl()
    a_page(crawl, SITE, Outcome.CANCELLED, error="the crawl was cancelled")
    assert alerts(crawl) == []


@pytest.mark.parametrize(
    ("state", "settled"), [(Delivery.PENDING, False), (Delivery.DELIVERED, True), (Delivery.GIVEN_UP, True)]
)
def test_the_page_goes_on_until_every_notice_is_settled(state: str, settled: bool) -> None:
    crawl = a_finished_crawl()
    a_delivery(crawl, state=state)
    assert status(crawl)["settled"] is settled


def test_a_crawl_that_moved_a_moment_ago_has_a_worker_whatever_rq_lists(real_redis: object) -> None:
    now = time.time()
    assert alerts(a_crawl(samples=[[now - 1, 10, 5]])) == []


@pytest.mark.parametrize(
    "sample",
    [
        [time.time() - 60, 10, 5],  # it stands still
        [time.time() + 60, 1, 0],  # no worker has done anything yet
    ],
)
def test_without_a_worker_the_page_says_how_to_start_one(sample: list[float], real_redis: object) -> None:
    crawl = a_crawl(samples=[sample], **BEFORE)
    assert alerts(crawl) == ["No worker is running, so nothing is fetched. Start one: bin/worker"]


def test_a_crawl_that_was_started_just_now_may_have_workers_that_start_too(real_redis: object) -> None:
    assert alerts(a_crawl()) == []


@pytest.mark.parametrize("age", [1, 60])
def test_a_figure_of_before_the_crawl_says_nothing_of_its_workers(
    workers: Callable[[int], None], real_redis: Redis, age: float
) -> None:
    workers(1)
    store_figure(real_redis, ShownFigure(Steady(0), time.time() - age))
    assert status(a_crawl())["texts"]["workers"] == "1 of 1 useful worker runs."


def test_no_worker_is_called_idle_while_pages_close(workers: Callable[[int], None], real_redis: Redis) -> None:
    workers(1)
    store_figure(real_redis, ShownFigure(Steady(0), time.time()))
    moving = a_crawl(samples=[[time.time() - 1, 10, 5]], **BEFORE)
    assert status(moving)["texts"]["workers"] == "1 worker runs."


def test_the_workers_are_counted_once_for_all_that_is_said_of_them(
    workers: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    workers(1)
    counts = iter([1, 0, 0])
    monkeypatch.setattr(workforce, "live_workers", lambda: next(counts))
    seen = status(a_crawl(**BEFORE))
    assert seen["lists"]["alerts"] == []
    assert seen["texts"]["workers"].startswith("1 ")


def test_the_responses_add_up_to_the_pages_beside_them() -> None:
    crawl = a_crawl(discovered=6, outcomes={"2xx": 3, "4xx": 1, "dns": 1}, statuses={"200": 3, "404": 1})
    seen = status(crawl)
    answered = sum(int(bar["number"]) for bar in seen["lists"]["answers"])
    assert answered == seen["progress"]["closed"] == 5


@pytest.fixture
def workers(real_redis: Redis) -> Iterator[Callable[[int], None]]:
    """Makes RQ list so many workers."""
    listed_by_rq = list[SimpleWorker]()

    def start(number: int) -> None:
        for _ in range(number):
            worker = SimpleWorker([Queue(name, connection=real_redis) for name in ("crawl", "fetch")])
            worker.register_birth()
            listed_by_rq.append(worker)

    yield start
    for worker in listed_by_rq:
        worker.register_death()


@pytest.mark.parametrize(
    ("running", "wanted", "said"),
    [
        (3, 5, "3 of 5 useful workers run."),
        (1, 2, "1 of 2 useful workers runs."),
        (1, 1, "1 of 1 useful worker runs."),
        (2, 1, "2 workers run; 1 would be enough."),
        (1, 0, "No work for a worker now; 1 worker is ready."),
    ],
)
def test_a_running_crawl_says_how_many_useful_workers_run(
    workers: Callable[[int], None], real_redis: Redis, running: int, wanted: int, said: str
) -> None:
    workers(running)
    store_figure(real_redis, ShownFigure(Steady(wanted), time.time()))
    assert status(a_crawl(**BEFORE))["texts"]["workers"] == said
    assert status(a_finished_crawl())["texts"]["workers"] == ""


def test_while_no_worker_runs_the_page_says_only_that(real_redis: Redis) -> None:
    assert status(a_crawl())["texts"]["workers"] == ""
    assert status(a_crawl(samples=[[time.time() - 1, 10, 5]]))["texts"]["workers"] == ""  # RQ lists none


def test_while_an_autoscaler_starts_the_first_worker_nobody_is_told_to_start_one(real_redis: Redis) -> None:
    crawl = a_crawl(**BEFORE)
    assert alerts(crawl) == [NO_WORKER]
    Membership(0, 1).beat(real_redis)
    assert alerts(crawl) == [AUTOSCALED]
