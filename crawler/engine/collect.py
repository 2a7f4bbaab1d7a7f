"""Step one of a tick: take in what fetch jobs left. Read, commit, then acknowledge (rule R3)."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from crawler import conf, pages
from crawler.core import retries
from crawler.core.discovery import Discovery, discoveries, with_not_followed
from crawler.core.scope import Scope
from crawler.core.urls import key_of
from crawler.core.work import PageResult, SliceReport, decode_report
from crawler.crashpoints import crash_point
from crawler.engine.desk import Desk
from crawler.engine.remember import confirmed, remember, to_remember
from crawler.pages import Retry

log = logging.getLogger(__name__)

REPORTS_AT_ONCE = 16  # reports a transaction; bounds its time and memory


def collect(desk: Desk) -> int:
    """Take in the oldest reports; how many there were. What a crash leaves: reports that are read again."""
    results = desk.frontier.results
    raw = results.read(REPORTS_AT_ONCE)
    if not raw:
        return 0
    reports = list(_decoded(raw))
    ended = [report for report in reports if report.done and _leased(desk, report)]
    requests = sum(report.requests for report in ended)
    take_in(desk, [result for report in reports for result in report.results], requests)
    crash_point("collect: links remembered")
    _settle(desk, ended)
    crash_point("collect: slices settled")
    results.acknowledge(raw)
    return len(raw)


def _decoded(raw: Iterable[bytes]) -> Iterator[SliceReport]:
    """The reports that can be read. One that cannot (of another version, say) must not stop the crawl: its lease runs
    out, and its pages are asked for again."""
    for line in raw:
        try:
            yield decode_report(line)
        except msgspec.DecodeError:
            log.exception("a report of %s bytes cannot be read and is dropped", len(line))


def _leased(desk: Desk, report: SliceReport) -> tuple[str, tuple[int, ...]] | None:
    """Host and pages of the report's slice; None when it is not leased under this token any more: it was taken back,
    or another tick has settled it."""
    lease = desk.frontier.leases.get(report.batch)
    return lease.slices.get(report.slice) if lease is not None and lease.token == report.token else None


def take_in(desk: Desk, results: Sequence[PageResult], requests: int = 0) -> None:
    """1. Fill in unchanged pages from the memory of answers. 2. Decide per result: retry or close. 3. Look up which
    links may be new. 4. Commit. 5. Only then remember them in the seen-set (rule R2b), what was given up among the dead
    letters, and the answers for later crawls."""
    now = desk.now()
    results, in_vain = confirmed(desk, results)
    closed, again = _decided(results, now)
    closings = [with_not_followed(result, desk.options) for result in closed]
    found = _found(desk, closings)
    learnt = to_remember(desk, closings)
    keys = {url: key_of(url) for url in found}
    unseen = desk.frontier.seen.unseen(list(keys.values()))
    candidates = list(found.values())
    pages.apply(desk.id, closings, again, [candidates[place] for place in unseen], now, requests + in_vain)
    crash_point("collect: committed")
    ordered = list(keys.values())
    desk.frontier.seen.add([ordered[place] for place in unseen])
    desk.frontier.dead.add([result.id for result in closings if retries.is_dead_letter(result)], now)
    remember(desk, learnt)


def _decided(results: Iterable[PageResult], now: float) -> tuple[list[PageResult], list[Retry]]:
    closings: list[PageResult] = []
    again: list[Retry] = []
    for result in results:
        retry = retries.decide(result, conf.max_attempts(), random.random())  # noqa: S311 (jitter, not a secret)
        if retry is None:
            closings.append(result)
        else:
            again.append(Retry(result, now + retry.wait))
    return closings, again


def _found(desk: Desk, closings: Sequence[PageResult]) -> dict[str, Discovery]:
    """URL -> discovery, each once, of those results whose page is still open: the links of a page that is closed were
    stored when it was closed."""
    scope = Scope.of(desk.crawl.start_urls, desk.options)
    places = pages.places(desk.id, [result.id for result in closings])
    found: dict[str, Discovery] = {}
    for result in closings:
        place = places.get(result.id)
        if place is None:
            continue
        for page in discoveries(result, place, scope, desk.options):
            known = found.setdefault(page.url, page)
            if known.outcome is not None and page.outcome is None:
                found[page.url] = page
    return found


def _settle(desk: Desk, reports: Iterable[SliceReport]) -> None:
    """End the slices that are done; their pages that are still open in the table go back to the frontier."""
    for report in reports:
        leased = _leased(desk, report)
        if leased is None:
            continue  # settled by another tick since we looked
        host, ids = leased
        still_open = {page.id: page.due_at for page in pages.open_pages(desk.id, ids).values()}
        desk.frontier.leases.settle(report.batch, report.token, report.slice, host, still_open, report.next_at)
