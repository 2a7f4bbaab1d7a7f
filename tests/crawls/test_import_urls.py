"""A list becomes a whole crawl or none, however long it is and whatever happens meanwhile."""

import gzip
import os
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import BytesIO, RawIOBase
from itertools import islice
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now

from crawler import clock
from crawler.core.errors import BadInput, LoadStopped, OverQuota, ServiceDown
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.core.url_lists.entries import Invalid, ListReport
from crawler.core.url_lists.reader import ColumnChoice
from crawler.crawls import import_urls
from crawler.crawls.control import cancel, pause
from crawler.crawls.delete import delete
from crawler.crawls.import_urls import LOADER_TIMEOUT, load_list
from crawler.crawls.reconcile import scan
from crawler.models import Crawl, Notice, Page
from tests.factories import a_person

HOST = "http://127.0.0.1:8801"
LINES_PER_TRANSACTION = 500
MANY = 3 * LINES_PER_TRANSACTION


@pytest.fixture(autouse=True)
def short_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_urls, "LINES_PER_TRANSACTION", LINES_PER_TRANSACTION)


def numbered(number: int) -> bytes:
    return b"".join(b"%s/%d\n" % (HOST.encode(), page) for page in range(number))


def loaded(data: bytes, name: str = "urls.txt", **more: Any) -> Crawl:
    return load_list(BytesIO(data), name, CrawlOptions(), allow_private=True, **more)


class Endless(RawIOBase):
    """A list that is made while it is read, so that only what reads it can take up memory."""

    def __init__(self, lines: int) -> None:
        self._lines = iter(range(lines))

    def read(self, size: int = -1, /) -> bytes:
        return b"".join(b"%s/%d\n" % (HOST.encode(), page) for page in islice(self._lines, 1000))


class Broken(BytesIO):
    """A file on a disk that fails after some bytes."""

    def read1(self, size: int | None = -1, /) -> bytes:
        piece = super().read1(size)
        if not piece:
            raise OSError(5, "Input/output error")
        return piece


def then(act: Callable[[Crawl], object]) -> import_urls.OnChunk:
    """Do this once the first lines are in the table."""

    def on_chunk(report: ListReport, invalid: Sequence[Invalid]) -> None:
        if report.lines == import_urls.LINES_PER_TRANSACTION:
            act(Crawl.objects.get())

    return on_chunk


def test_a_list_becomes_a_running_crawl_with_a_report_that_adds_up() -> None:
    crawl = loaded(f"# mine\n{HOST}/a\nnonsense\n{HOST}/b\n{HOST}/a#again\n".encode())
    assert (crawl.state, crawl.start_urls, crawl.source, crawl.discovered) == (
        State.RUNNING,
        [f"{HOST}/a"],
        "urls.txt",
        2,
    )
    why = "'nonsense' is not a web address; enter one such as https://example.com/."
    assert crawl.source_report == {
        "lines": 4,
        "taken": 2,
        "invalid": 1,
        "duplicates": 1,
        "examples": [{"line": 3, "text": "nonsense", "why": why}],
    }
    assert crawl.site == "urls.txt (2 URLs)"
    assert not crawl.chosen.recursive


def test_the_start_is_notified_once_the_whole_list_is_read() -> None:
    options = CrawlOptions(notify_emails=("me@example.com",), notify_events=("crawl.started",))
    load_list(BytesIO(numbered(MANY)), "urls.txt", options, allow_private=True)
    notice = Notice.objects.get()
    assert (notice.event, notice.receipt["state"], notice.receipt["discovered"]) == ("crawl.started", "running", MANY)


def test_pages_keep_the_order_of_the_list_and_their_priorities() -> None:
    crawl = loaded(f"url,priority\n{HOST}/a,1\n{HOST}/b,\n{HOST}/c,10\n{HOST}/a,9\n".encode(), "urls.csv")
    rows = Page.objects.order_by("id").values_list("url", "priority", "depth", "parent_id")
    assert list(rows) == [(f"{HOST}/a", 1, 0, None), (f"{HOST}/b", 5, 0, None), (f"{HOST}/c", 10, 0, None)]
    assert {10, 5, 1} <= set(crawl.priorities)


def test_pages_keep_the_times_and_further_values_of_their_line() -> None:
    later = clock.epoch_seconds() + 3600
    rows = [f"{HOST}/a,30m,{later:.0f},4711", f"{HOST}/b,,1000,", f"{HOST}/c,9,,\u2603", f"{HOST}/a,,,twice"]
    data = "\n".join(["url,ttl,not_before,customer", *rows]).encode()
    load_list(BytesIO(data), "urls.csv", CrawlOptions(page_ttl=60.0, deadline=1200.0), allow_private=True)
    a, b, c = Page.objects.order_by("id")
    assert (a.due_at, b.due_at, c.due_at) == (round(later), 0, 0)  # one that is past does not count
    assert (a.meta, b.meta, c.meta) == ({"customer": "4711"}, None, {"customer": "\u2603"})
    began = Crawl.objects.get().round_began_at.timestamp()
    assert a.expires_at == pytest.approx(began + 1200)  # the deadline comes before its own time
    assert b.expires_at == pytest.approx(began + 60, abs=20)
    assert c.expires_at == pytest.approx(began + 9, abs=20)
    assert c.expires_at < b.expires_at - 40


def test_duplicates_are_found_across_the_whole_list() -> None:
    crawl = loaded(gzip.compress(numbered(MANY) + numbered(7)), "urls.txt.gz")
    assert (crawl.source_report["taken"], crawl.source_report["duplicates"]) == (MANY, 7)
    assert Page.objects.count() == MANY


def test_progress_is_reported_with_the_invalid_lines() -> None:
    told: list[tuple[int, int]] = []

    def on_chunk(report: ListReport, invalid: Sequence[Invalid]) -> None:
        told.append((report.lines, len(invalid)))

    loaded(b"a.b\n" + b"nonsense\n" * import_urls.LINES_PER_TRANSACTION, on_chunk=on_chunk)
    assert told == [
        (import_urls.LINES_PER_TRANSACTION, import_urls.LINES_PER_TRANSACTION - 1),
        (import_urls.LINES_PER_TRANSACTION + 1, 1),
    ]


def peak_of(lines: int) -> int:
    """Bytes that reading a list of so many lines takes at most, beside the database's own cache."""
    tracemalloc.start()
    try:
        load_list(Endless(lines), "urls.txt", CrawlOptions(), allow_private=True)  # type: ignore[arg-type]  # it is read
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_list_five_times_as_long_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_urls, "LINES_PER_TRANSACTION", 1000)
    peak_of(1000)  # imports, caches
    the_lines_themselves = 8000 * sys.getsizeof(f"{HOST}/page-10000")
    assert peak_of(10_000) - peak_of(2000) < the_lines_themselves / 2


def test_hosts_of_a_list_are_not_resolved() -> None:
    assert load_list(BytesIO(b"http://no-such-host.invalid/\n"), "-", CrawlOptions()).discovered == 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (CrawlOptions(sitemaps=True), "sitemaps"),
        (CrawlOptions(max_depth=2), "max_depth"),
        (CrawlOptions(include=("/docs/",)), "include"),
        (CrawlOptions(max_pages=0), "max_pages"),
        (CrawlOptions(notify_webhooks=("http://no-such-host.invalid/",)), "notify_webhooks"),
    ],
)
def test_options_that_cannot_be_used_with_a_list_are_refused(options: CrawlOptions, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_list(BytesIO(numbered(1)), "urls.txt", options, allow_private=True)
    assert refused.value.field == field
    assert not Crawl.objects.exists()


@pytest.mark.parametrize(
    ("data", "name", "columns", "field"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "cat.png", None, "list"),
        (b"", "urls.txt", None, "list"),
        (b"nothing\nof use\n", "urls.txt", None, "list"),
        (numbered(1), "urls.csv", ColumnChoice(url="page"), "list_column"),
        (gzip.compress(numbered(MANY), mtime=0)[:-20], "urls.txt.gz", None, "list"),  # far behind its beginning
    ],
)
def test_of_what_is_no_list_nothing_is_left(data: bytes, name: str, columns: ColumnChoice | None, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        loaded(data, name, columns=columns)
    assert refused.value.field == field
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_a_list_that_unpacks_to_more_than_the_limit_is_refused(settings: Any) -> None:
    settings.CRAWLER_LIST_MB = 0.1
    small = gzip.compress(numbered(5_000))
    with pytest.raises(BadInput, match="larger than 100,000 bytes after decompression"):
        loaded(small, "urls.txt.gz")
    assert not Crawl.objects.exists()
    settings.CRAWLER_LIST_MB = 0
    assert loaded(small, "urls.txt.gz").discovered == 5_000


def test_a_list_beyond_what_its_owner_may_store_is_not_imported(settings: Any) -> None:
    settings.CRAWLER_STORED_PAGES, settings.CRAWLER_PRIVATE_HOSTS = 10, ["127.0.0.1"]
    with pytest.raises(OverQuota, match="may store 10; delete some"):
        load_list(BytesIO(numbered(MANY)), "urls.txt", CrawlOptions(), owner=a_person())
    assert not Crawl.objects.exists()


def test_of_a_list_whose_disk_fails_nothing_is_left() -> None:
    with pytest.raises(BadInput, match=r"urls.txt cannot be read to its end: Input/output error"):
        load_list(Broken(numbered(MANY)), "urls.txt", CrawlOptions(), allow_private=True)
    assert not Crawl.objects.exists()


def test_an_interruption_leaves_nothing() -> None:
    def interrupt(crawl: Crawl) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loaded(numbered(MANY), on_chunk=then(interrupt))
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_without_redis_nothing_is_made(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(ServiceDown, match="Redis"):
        loaded(numbered(1))
    assert not Crawl.objects.exists()


def test_a_redis_that_goes_away_at_the_very_end_costs_nothing(settings: Any, redis_url: str) -> None:
    def lose(crawl: Crawl) -> None:
        settings.REDIS_URL = "redis://127.0.0.1:1/0"

    crawl = loaded(numbered(import_urls.LINES_PER_TRANSACTION), on_chunk=then(lose))
    assert crawl.state == State.RUNNING
    settings.REDIS_URL = redis_url
    assert scan().woken == 1


def test_nothing_is_handed_out_while_a_list_is_read(real_redis: Any) -> None:
    def look(crawl: Crawl) -> None:
        assert scan().running == 0
        assert not pause(crawl.id)
        assert crawl.state == State.LOADING
        assert not real_redis.keys("*manage*")

    loaded(numbered(MANY), on_chunk=then(look))
    assert scan().running == 1


def test_a_crawl_can_be_cancelled_while_its_list_is_read() -> None:
    with pytest.raises(LoadStopped, match="cancelled or deleted"):
        loaded(numbered(MANY), on_chunk=then(lambda crawl: cancel(crawl.id)))
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.outcomes) == (State.CANCELLED, {"cancelled": import_urls.LINES_PER_TRANSACTION})
    assert Notice.objects.get().receipt["cancelled"] == import_urls.LINES_PER_TRANSACTION


def test_a_crawl_can_be_deleted_while_its_list_is_read() -> None:
    with pytest.raises(LoadStopped, match="cancelled or deleted"):
        loaded(numbered(MANY), on_chunk=then(lambda crawl: delete(crawl.id)))
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def silent_for(crawl: Crawl, silence: timedelta) -> None:
    Crawl.objects.filter(id=crawl.id).update(state=State.LOADING, loaded_at=Now() - silence)


def test_a_crawl_whose_loader_died_is_discarded_by_reconcile() -> None:
    silent_for(loaded(numbered(3)), LOADER_TIMEOUT + timedelta(seconds=1))
    scan()
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_a_loader_that_gave_a_sign_of_life_in_time_is_left_alone() -> None:
    silent_for(loaded(numbered(3)), LOADER_TIMEOUT - timedelta(seconds=10))
    scan()
    assert Crawl.objects.get().discovered == 3


def test_a_loader_taken_for_dead_stops_when_it_comes_back() -> None:
    def oversleep(crawl: Crawl) -> None:
        silent_for(crawl, 2 * LOADER_TIMEOUT)
        scan()

    with pytest.raises(LoadStopped):
        loaded(numbered(MANY), on_chunk=then(oversleep))
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_a_pipe_that_is_slow_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_urls, "HEARTBEAT_INTERVAL_S", 0.01)
    monkeypatch.setattr(import_urls, "LINES_PER_TRANSACTION", 5000)  # more than is read at a time
    reading, writing = os.pipe()
    silent = threading.Event()

    def fall_silent(crawl: Crawl) -> None:
        silent_for(crawl, LOADER_TIMEOUT / 2)
        silent.set()

    def write() -> bool:
        """Whether a sign of life came between the two parts."""
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(numbered(import_urls.LINES_PER_TRANSACTION))
            pipe.flush()
            silent.wait(30)
            came = any(Crawl.objects.filter(loaded_at__gt=Now() - LOADER_TIMEOUT / 4).exists() for _ in tries(30))
            pipe.write(numbered(import_urls.LINES_PER_TRANSACTION + 1))
        connection.close()
        return came

    with ThreadPoolExecutor() as pool, os.fdopen(reading, "rb") as stream:
        writer = pool.submit(write)
        crawl = load_list(stream, "-", CrawlOptions(), allow_private=True, on_chunk=then(fall_silent))
        assert writer.result()
    assert crawl.discovered == import_urls.LINES_PER_TRANSACTION + 1


def tries(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.01)
