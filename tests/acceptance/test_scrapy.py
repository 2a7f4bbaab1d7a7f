"""Crawls with the engine Scrapy, with real workers and a real Scrapy that dies."""

import email
import os
import signal
import subprocess
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from crawler.core.protocol.counters import adds_up
from tests.postgresql import PostgresStack
from tests.site import Site, page
from tests.stack import Stack
from tools.chaos.processes import children_of

SCRAPY_WORKER = ("rq", "worker", "-w", "crawler.worker.Worker", "scrapy")
PATIENCE = 120.0
SPIDER, FORMS = "tests.capabilities.scrapy.spiders.Broken", "tests.capabilities.scrapy.spiders.Forms"

pytest.importorskip("scrapy", reason="Scrapy is not installed (pip install -r requirements-scrapy.txt)")


def shop(pages: int) -> dict[str, str]:
    """A site of so many pages behind its first one."""
    numbers = range(1, pages + 1)
    return {"/": page(*(f"/{n}" for n in numbers)), **{f"/{n}": page("/", title=f"Page {n}") for n in numbers}}


@pytest.fixture
def with_spiders(stack: Stack) -> Iterator[Stack]:
    """With a worker that manages; Scrapy workers are begun by the tests."""
    before = stack.env
    stack.env = {**stack.env, "CRAWLER_SPIDERS": f"{SPIDER},{FORMS}"}
    stack.start_worker()
    yield stack
    stack.env = before


def start(stack: Stack, site: Site, settings: Any, **options: object) -> Any:
    settings.CRAWLER_SPIDERS = [SPIDER, FORMS]
    return stack.start(f"{site.url}/", engine="scrapy", **options)


def scrapy_of(worker: subprocess.Popen[bytes]) -> list[int]:
    """The processes of Scrapy that this worker has."""
    return [pid for pid in children_of(worker.pid) if b"capabilities.scrapy" in _program(pid)]


def _program(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.long
def test_a_spider_sees_every_page_once_and_the_receipt_counts_its_calls(with_spiders: Stack, settings: Any) -> None:
    check_a_spider_sees_every_page_once(with_spiders, settings)


@pytest.mark.long
def test_a_spider_sees_every_page_once_on_postgresql(postgres_stack: PostgresStack, settings: Any) -> None:
    postgres_stack.env = {**postgres_stack.env, "CRAWLER_SPIDERS": SPIDER}
    postgres_stack.start_worker()
    check_a_spider_sees_every_page_once(postgres_stack, settings)


def check_a_spider_sees_every_page_once(stack: Stack, settings: Any) -> None:
    known = shop(20)
    with Site(known).serving() as site:
        stack.spawn(*SCRAPY_WORKER)
        crawl = start(stack, site, settings, spider=SPIDER)
        receipt = stack.wait_until_finished(crawl, PATIENCE)
        assert receipt["discovered"] == receipt["fetched"] == len(known)
        assert receipt["requests"] == sum(site.hits.values()) == len(known) + 1  # robots.txt
    (called,) = receipt["hooks"]
    assert (called["hook"], called["calls"], called["errors"]) == (SPIDER, len(known), len(known))


@pytest.mark.long
def test_cancelled_while_it_runs_it_asks_for_nothing_more_and_says_so(with_spiders: Stack, settings: Any) -> None:
    known = shop(60)
    with Site(known).serving() as site:
        worker = with_spiders.spawn(*SCRAPY_WORKER)
        crawl = start(with_spiders, site, settings, delay=0.5, notify_emails=["me@example.com"])
        with_spiders.wait_for(lambda: site.hits.total() > 5, PATIENCE)
        assert scrapy_of(worker)
        with_spiders.within(lambda: _control().cancel(crawl))
        before = site.hits.total()
        with_spiders.wait_for(lambda: not scrapy_of(worker), PATIENCE)
        with_spiders.wait_for(lambda: bool(mails(with_spiders)), PATIENCE)
        assert site.hits.total() < before + 10  # of some 26 that its worker had in hand
    receipt = with_spiders.receipt(crawl)
    assert with_spiders.crawl(crawl)["state"] == receipt["state"] == "cancelled"
    assert adds_up(receipt)
    assert receipt["cancelled"] > 0
    assert receipt["discovered"] == len(known)
    assert len(mails(with_spiders)) == 1
    assert with_spiders.left_over() == []


def mails(stack: Stack) -> list[Message]:
    folder = stack.folder / "mail"
    return [email.message_from_bytes(file.read_bytes()) for file in folder.iterdir()] if folder.exists() else []


@pytest.mark.long
def test_one_page_after_another_goes_on_when_scrapy_and_its_worker_are_killed(
    with_spiders: Stack, settings: Any
) -> None:
    known, delay = shop(40), 0.3
    with Site(known).serving() as site:
        worker = with_spiders.spawn(*SCRAPY_WORKER)
        crawl = start(with_spiders, site, settings, delay=delay)
        closed = lambda: sum(row["status"] for row in with_spiders.pages(crawl).values())  # noqa: E731
        with_spiders.wait_for(lambda: closed() > 5, PATIENCE)
        (first,) = scrapy_of(worker)
        os.kill(first, signal.SIGKILL)
        with_spiders.wait_for(lambda: closed() > 15, PATIENCE)
        (second,) = scrapy_of(worker)
        os.kill(worker.pid, signal.SIGKILL)
        with_spiders.wait_for(lambda: not _program(second), PATIENCE)
        with_spiders.spawn(*SCRAPY_WORKER)
        receipt = with_spiders.wait_until_finished(crawl, PATIENCE)
        assert receipt["discovered"] == receipt["fetched"] == len(known)
        assert len(site.out_of_turn(delay)) <= 2  # slow on their way


@pytest.mark.long
def test_a_stock_worker_of_all_queues_does_it_alone(stack: Stack, settings: Any) -> None:
    known = shop(10)
    with Site(known).serving() as site:
        stack.spawn("rq", "worker", "crawl", "fetch", "scrapy")
        crawl = start(stack, site, settings)
        receipt = stack.wait_until_finished(crawl, PATIENCE)
    assert receipt["discovered"] == receipt["fetched"] == len(known)


@pytest.fixture
def two_workers(with_spiders: Stack) -> list[subprocess.Popen[bytes]]:
    """Scrapy workers, each with one batch at a time: of two crawls each has one."""
    with_spiders.env = {**with_spiders.env, "CRAWLER_WORKER_BATCHES": "1"}
    return [with_spiders.spawn(*SCRAPY_WORKER) for _ in range(2)]


@pytest.mark.long
def test_two_workers_together_keep_the_delay_of_a_host(
    with_spiders: Stack, two_workers: list[subprocess.Popen[bytes]], settings: Any
) -> None:
    delay, links = 0.3, [f"/{number}" for number in range(6)]
    pages = {"/": page(), "/search": page(*links), **{link: page() for link in links}}
    with Site(pages).serving() as site:
        crawls = [start(with_spiders, site, settings, spider=FORMS, delay=delay) for _ in range(2)]
        with_spiders.wait_for(lambda: all(scrapy_of(worker) for worker in two_workers), PATIENCE)
        receipts = [with_spiders.wait_until_finished(crawl, PATIENCE) for crawl in crawls]
    assert [receipt["fetched"] for receipt in receipts] == [1 + len(links)] * 2
    assert site.hits["/search"] == 2 * (1 + len(links))  # the POST of each page, which takes turns, too
    assert len(site.out_of_turn(delay)) <= 2  # slow on their way


def _control() -> Any:
    from crawler.crawls import control  # models can be imported once Django is set up

    return control
