"""What was found is left after a while, and at once where it would take up memory."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import Batch, PageResult, PageTask, SitemapEntry, Slice, SliceReport
from crawler.fetcher import result_buffer
from crawler.fetcher.job_work import JobWork, RecentWork
from crawler.fetcher.result_buffer import FLUSH_CHARACTERS, ResultBuffer

POLICY = FetchPolicy(user_agent="x", obey_robots=True, delay=0.0, concurrency=1, private_hosts=(), max_body_bytes=1000)
SLICE = Slice("example.com", tuple(PageTask(number, f"http://example.com/{number}", 1) for number in range(3)))
BATCH = Batch(crawl="c", site="example.com", id="b", token="t", policy=POLICY, slices=(SLICE,))
LONG = f"http://example.com/{'x' * (FLUSH_CHARACTERS // 2)}"


def found(number: int, **more: Any) -> PageResult:
    return PageResult(id=number, attempt=1, outcome=Outcome.SUCCESS, **more)


@pytest.mark.parametrize("more", [{"links": (LONG,)}, {"entries": (SitemapEntry(LONG),)}], ids=["links", "a sitemap"])
def test_much_is_left_at_once_and_little_later(more: dict[str, Any]) -> None:
    left: list[list[int]] = []

    def leave(reports: Sequence[SliceReport]) -> None:
        left.append([result.id for report in reports for result in report.results])

    reporter = ResultBuffer(BATCH, JobWork(RecentWork()), leave)
    reporter.add(0, found(0, **more))
    assert left == []
    reporter.add(0, found(1, **more))
    assert left == [[0, 1]]
    reporter.add(0, found(2, **more))
    reporter.flush()
    assert left == [[0, 1], [2]]


def test_a_page_that_has_a_slot_is_left_at_once() -> None:
    left: list[list[int]] = []

    def leave(reports: Sequence[SliceReport]) -> None:
        left.append([result.id for report in reports for result in report.results])

    reporter = ResultBuffer(msgspec.structs.replace(BATCH, id="render-1"), JobWork(RecentWork()), leave)
    reporter.add(0, found(0))
    reporter.add(0, found(1))
    assert left == [[0], [1]]


@pytest.mark.parametrize(("elapsed_ms", "waiting", "is_left"), [(100, 0, True), (100, 4, False), (10, 0, False)])
def test_an_ended_slice_of_a_slow_host_is_left_at_once_if_nothing_follows(
    elapsed_ms: int, waiting: int, is_left: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[SliceReport] = []
    now = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(result_buffer, "time", now)
    job = JobWork(RecentWork())
    job.running = 4
    for number in range(waiting):
        job.schedule.add(0.0, Mock(), number)
    buffer = ResultBuffer(BATCH, job, left.extend)
    now.monotonic = lambda: 0.03
    buffer.add(0, found(0, http_status=200, elapsed_ms=elapsed_ms))
    assert left == []
    buffer.end(0, 0.0, 0)
    assert buffer.is_due() is is_left


@pytest.mark.parametrize("needs_links", [True, False])
def test_links_of_a_slow_host_are_left_after_one_response_only_if_few_pages_wait(
    needs_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(result_buffer, "time", now)
    job = JobWork(RecentWork())
    job.running = 1
    buffer = ResultBuffer(BATCH, job, lambda reports: None, needs_links=lambda: needs_links)
    now.monotonic = lambda: 0.11
    buffer.add(0, found(0, http_status=200, elapsed_ms=100))
    assert buffer.is_due() is needs_links
    now.monotonic = lambda: result_buffer.FLUSH_INTERVAL_S
    assert buffer.is_due()


def test_a_buffer_without_results_is_never_due(monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(result_buffer, "time", now)
    buffer = ResultBuffer(BATCH, JobWork(RecentWork()), lambda reports: None)
    now.monotonic = lambda: 60.0
    assert not buffer.is_due()


def test_buffers_of_a_job_are_flushed_together_unless_one_was_a_moment_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[SliceReport] = []
    now = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(result_buffer, "time", now)
    buffer = ResultBuffer(BATCH, JobWork(RecentWork()), left.extend)
    buffer.add(0, found(0))
    now.monotonic = lambda: result_buffer.FLUSH_TOGETHER_AFTER_S / 2
    buffer.flush_old()
    assert left == []
    now.monotonic = lambda: result_buffer.FLUSH_TOGETHER_AFTER_S
    buffer.flush_old()
    assert len(left) == 1
