"""Step one of a tick: take in what fetch jobs left. Read, commit, then acknowledge (rule R3)."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from crawler import conf
from crawler.core.crawl import retries
from crawler.core.crawl.discovery import Discovery, Place, discoveries, suspected, with_not_followed, with_tidied_keys
from crawler.core.crawl.messages import PageResult, SliceReport, decode_report
from crawler.core.sitemaps.entries import followed, named_by_robots
from crawler.core.urls.crawl_scope import Scope
from crawler.crashpoints import crash_point
from crawler.manager.context import Desk, learn_paces, waiting
from crawler.manager.response_cache import confirmed, remember, to_remember
from crawler.notices.outbox import teller_of
from crawler.storage import queries, writer
from crawler.storage.writer import Retry

log = logging.getLogger(__name__)

REPORTS_AT_ONCE = 256  # reports read at a time
PAGES_AT_ONCE = 256  # results a transaction, about; bounds its time and memory
LINKS_AT_ONCE = 20_000  # the same
LISTED_AT_ONCE = 5_000  # pages of sitemaps a transaction, for the same reason

Between = Callable[[], object]
"""Called between two transactions, so that whoever holds a lock can show that he lives."""


def nothing() -> None:
    """There is nothing to be done in between."""


def collect(desk: Desk, between: Between = nothing) -> int:
    """Take in the oldest reports; how many there were. What a crash leaves: reports that are read again."""
    results = desk.frontier.results
    oldest = results.read(REPORTS_AT_ONCE)
    if not oldest:
        return 0
    raw, reports = _a_load_of(oldest)
    done = [report for report in reports if report.done]
    ended = _still_leased(desk, done)
    requests = sum(report.requests for report, _, _ in ended)
    take_in(desk, [result for report in reports for result in report.results], requests, between)
    crash_point("collect: links remembered")
    _settle(desk, done)
    crash_point("collect: slices settled")
    results.acknowledge(raw)
    return len(raw)


def _a_load_of(oldest: Sequence[bytes]) -> tuple[list[bytes], list[SliceReport]]:
    """As many of the oldest reports as one transaction should take in, and those of them that can be read. One that
    cannot (of another version, say) must not stop the crawl: its lease runs out, and its pages are asked for again."""
    raw, reports = list[bytes](), list[SliceReport]()
    pages = links = 0
    for line in oldest:
        if pages >= PAGES_AT_ONCE or links >= LINKS_AT_ONCE:
            break
        raw.append(line)
        try:
            reports.append(decode_report(line))
        except msgspec.DecodeError:
            log.exception("a report of %s bytes cannot be read and is dropped", len(line))
            continue
        pages += len(reports[-1].results)
        links += sum(len(result.links) + len(result.entries) for result in reports[-1].results)
    return raw, reports


def _still_leased(desk: Desk, reports: Sequence[SliceReport]) -> list[tuple[SliceReport, str, tuple[int, ...]]]:
    """Those reports whose slice is leased under their token, with its lane and pages. The others' slices were taken
    back, or another tick has settled them."""
    leases = desk.frontier.leases.of({report.batch for report in reports})
    found = []
    for report in reports:
        lease = leases.get(report.batch)
        part = lease.slices.get(report.slice) if lease is not None and lease.token == report.token else None
        if part is not None:
            found.append((report, *part))
    return found


def take_in(desk: Desk, results: Sequence[PageResult], requests: int = 0, between: Between = nothing) -> None:
    """1. Fill in unchanged pages from the memory of answers. 2. Decide per result: retry or close. 3. Look up which
    links may be new. 4. Commit. 5. Only then remember them in the seen-set (rule R2b), what was given up among the dead
    letters, and the answers for later crawls. With a long sitemap there are several commits, and `between` is called
    after each but the last."""
    now = desk.now()
    results, in_vain = confirmed(desk, results)
    closed, again = _decided(results, now)
    scope = Scope.of(desk.crawl.start_urls, desk.options)
    closings = [with_tidied_keys(with_not_followed(result, desk.options), scope) for result in closed]
    places = queries.places(desk.id, [result.id for result in closings])
    found = _found(desk, scope, closings, results, places)
    learnt = to_remember(desk, closings)
    unseen = _worth_telling(desk, found)
    unseen = _without_long_lists(desk, unseen, found, now, between)
    new = _suspected(desk, [found[fact] for fact in unseen], places)
    told = teller_of(desk.options, closings)
    rewind = desk.frontier.window.rewind  # before the commit: should we die behind it, they flow in all the same
    applied = writer.apply(desk.id, closings, again, new, now, requests + in_vain, told, rewind)
    crash_point("collect: committed")
    if applied.is_over:
        return  # somebody cancelled it meanwhile: what it led to is not in the table (rule R2b)
    desk.frontier.seen.add([fact for fact in unseen if fact not in applied.left_out])
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
            again.append(Retry(result, now + retry.wait, retry.put_off))
    return closings, again


def _found(
    desk: Desk,
    scope: Scope,
    closings: Sequence[PageResult],
    results: Sequence[PageResult],
    places: Mapping[int, Place],
) -> dict[bytes, Discovery]:
    """Fact -> discovery, each once, of those closings whose page is still open and so has a place: the links of a page
    that is closed were stored when it was closed. What robots.txt names counts whatever came of the page it was told
    with."""
    found = {sitemap.fact: sitemap for sitemap in named_by_robots(results, scope)}
    told = set[str]()
    for result in closings:
        place = places.get(result.id)
        if place is None:
            continue
        for page in chain(discoveries(result, place, scope, desk.options, told), followed(result, place, scope)):
            known = found.setdefault(page.fact, page)
            if known.outcome is not None and page.outcome is None:
                found[page.fact] = page
    return found


def _worth_telling(desk: Desk, found: Mapping[bytes, Discovery]) -> list[bytes]:
    """The facts that may be news to the table. With a depth limit, a redirect to a known page may be: see
    `pages.apply`. Then that page may stand behind the window's cursor, so the window is filled from the beginning."""
    facts = list(found)
    unseen = [facts[place] for place in desk.frontier.seen.unseen(facts)]
    if desk.options.max_depth is None:
        return unseen
    redirected = [fact for fact, page in found.items() if page.hops]
    if redirected:
        desk.frontier.window.rewind()
    return list(dict.fromkeys([*unseen, *redirected]))


def _without_long_lists(
    desk: Desk, unseen: list[bytes], found: Mapping[bytes, Discovery], now: float, between: Between
) -> list[bytes]:
    """A sitemap may name 50,000 pages. Insert most of them beforehand, LISTED_AT_ONCE in a transaction, while its own
    row is still open; whoever dies in between leaves a report that is read again. Answers what is left to do."""
    listed = [fact for fact in unseen if found[fact].in_sitemap]
    early = listed[: max(0, len(listed) - 1) // LISTED_AT_ONCE * LISTED_AT_ONCE]
    for at in range(0, len(early), LISTED_AT_ONCE):
        part = early[at : at + LISTED_AT_ONCE]
        applied = writer.apply(desk.id, (), (), [found[fact] for fact in part], now)
        crash_point("collect: committed")
        desk.frontier.seen.add(() if applied.is_over else part)
        between()
    done = frozenset(early)
    return [fact for fact in unseen if fact not in done]


def _suspected(desk: Desk, new: list[Discovery], places: Mapping[int, Place]) -> list[Discovery]:
    """The same, with what their URLs are suspected of. "Today" is the day the crawl was started, so that what is judged
    again after a death is judged alike."""
    if not desk.options.traps:
        return new
    today, nowhere = desk.crawl.created_at.date(), Place(0, 0)
    return [suspected(page, places.get(page.parent_id or 0, nowhere).url, today) for page in new]


def _settle(desk: Desk, done: Sequence[SliceReport]) -> None:
    """End the slices that are done; their pages that are still open in the table go back to the frontier."""
    ended = _still_leased(desk, done)  # anew: another tick may have settled some since we looked
    still_open = queries.open_pages(desk.id, [page for _, _, ids in ended for page in ids])
    learn_paces(desk, [report.host for report, _, _ in ended])
    with desk.frontier.redis.pipeline(transaction=False) as pipe:
        for report, lane, ids in ended:
            rest = [waiting(still_open[page]) for page in ids if page in still_open]
            desk.frontier.leases.settle(report.batch, report.token, report.slice, lane, rest, report.next_at, pipe)
        pipe.execute()
