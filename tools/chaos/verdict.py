"""What the evidence of a run says, held against what is expected: lost, twice, early, stuck, left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlsplit

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness import host_rules
from tools.chaos.disturbances import KINDS, InBrowsers, Kind
from tools.chaos.evidence import Evidence
from tools.chaos.expected import Expected
from tools.chaos.processes import Role
from tools.chaos.shop import times_rendered

MAX_RENDERED_PAGES = 4  # of a batch; see docs/rendering.md
REFETCH_SHARE = 0.05  # of the pages may be asked for once more than needed, whatever happened


@dataclass(frozen=True)
class Verdict:
    """Each is a list of sentences, empty when all is well."""

    lost: tuple[str, ...]  # pages that are missing, open, or closed otherwise than undisturbed
    twice: tuple[str, ...]  # pages that closed more than once, were opened again, or deleted
    early: tuple[str, ...]  # finished was said while something was missing
    stuck: tuple[str, ...]  # what did not happen in time
    told: tuple[str, ...]  # what is wrong with the notices
    left: tuple[str, ...]  # what was left behind
    counted: tuple[str, ...]  # numbers that do not add up
    blamed: tuple[str, ...]  # pages that deaths are counted against although they were not in hand
    refetched: int  # requests beyond those of the undisturbed run
    allowed: int
    rendered_again: int = 0  # times that a page was rendered once more
    allowed_again: int = 0

    @property
    def wasteful(self) -> bool:
        return self.refetched > self.allowed or self.rendered_again > self.allowed_again

    @property
    def faults(self) -> list[str]:
        named = {
            "lost": self.lost,
            "twice": self.twice,
            "early": self.early,
            "stuck": self.stuck,
            "told": self.told,
            "left": self.left,
            "counted": self.counted,
            "blamed": self.blamed,
        }
        found = [f"{name}: {what}" for name, sentences in named.items() for what in sentences]
        if self.refetched > self.allowed:
            found.append(f"refetched: {self.refetched} requests too many, {self.allowed} are allowed")
        if self.rendered_again > self.allowed_again:
            found.append(f"rendered: {self.rendered_again} times too many, {self.allowed_again} are allowed")
        return found


def judge(evidence: Evidence, expected: Expected, batch_pages: int) -> Verdict:
    """`batch_pages`: pages of one host that may be in hand at a time. Of a crawl that is stuck, only that is said which
    is wrong already."""
    resets = sum(KINDS[struck.kind].resets for struck in evidence.struck) + evidence.hook_kills
    allowed = int(REFETCH_SHARE * len(expected.pages)) + resets * batch_pages
    stuck = tuple(_stuck(evidence))
    return Verdict(
        lost=() if stuck else (*_lost(evidence, expected), *_lost_with_workers(evidence, resets * batch_pages)),
        twice=(*_twice(evidence), *_opened_again(evidence)),
        early=tuple(_early(evidence, expected)),
        stuck=stuck,
        told=() if stuck else tuple(_told(evidence)),
        left=() if stuck else tuple(_left(evidence)),
        counted=() if stuck else (*_counted(evidence, expected), *_logged_in(evidence, expected, resets)),
        blamed=() if stuck else tuple(_blamed(evidence)),
        refetched=(Counter(evidence.hits) - Counter(expected.hits)).total(),
        allowed=allowed,
        rendered_again=sum(max(0, times - 1) for times in times_rendered(evidence.hits, expected.shown).values()),
        allowed_again=sum(_may_be_rendered_again(evidence, KINDS[struck.kind]) for struck in evidence.struck),
    )


def _may_be_rendered_again(evidence: Evidence, kind: Kind) -> int:
    """How many pages browser workers had, at most, that this may have cost."""
    match kind.in_browsers:
        case _ if not kind.resets:
            return 0
        case InBrowsers.UNDER_WAY:
            return evidence.places
        case InBrowsers.ONE_WORKER:
            return evidence.places * MAX_RENDERED_PAGES
        case InBrowsers.ALL:
            return evidence.crew.count(Role.BROWSER) * evidence.places * MAX_RENDERED_PAGES
    assert_never(kind.in_browsers)


def batch_pages() -> int:
    """Pages of one batch, at most, where all pages are of one host without a delay. Django must be set up."""
    from crawler.manager.dispatch import MAX_PAGES_PER_BATCH  # it imports models

    slices = min(host_rules.MAX_SLICES_PER_BATCH, host_rules.slices_at_once(0.0, CrawlOptions().concurrency))
    return min(slices * host_rules.MAX_SLICE_PAGES, MAX_PAGES_PER_BATCH - 1 + host_rules.MAX_SLICE_PAGES)


def _lost(evidence: Evidence, expected: Expected) -> Iterator[str]:
    for url, page in expected.pages.items():
        found = evidence.pages.get(url)
        if found is None:
            yield f"{url} is missing"
        elif found != page:
            yield f"{url} is {found[0] or 'open'} ({found[1]}), not {page[0]} ({page[1]})"
    for url in evidence.pages.keys() - expected.pages.keys():
        yield f"{url} is there and should not be"
    for url in expected.shown.keys() | evidence.shown.keys():
        found, wanted = evidence.shown.get(url), expected.shown.get(url)
        if found != wanted:
            yield f"{url} was rendered as {found}, not {wanted}"
    for url, title in expected.titles.items():
        if url in evidence.pages and evidence.titles.get(url) != title:
            yield f"{url} was stored as {evidence.titles.get(url)!r}, not {title!r}"
    if evidence.knocks:
        yield f"{evidence.knocks} connections reached the address that no page may reach"


def _lost_with_workers(evidence: Evidence, allowed: int) -> Iterator[str]:
    """A crawl that acknowledges early may lose what dead workers had, and says how much that was."""
    if len(evidence.lost) > allowed:
        yield f"{len(evidence.lost)} pages were lost with their workers, which had {allowed} at most"
    if evidence.receipt.get("lost", 0) != len(evidence.lost):
        yield f"the receipt says that {evidence.receipt.get('lost')} pages were lost, not {len(evidence.lost)}"


def _twice(evidence: Evidence) -> Iterator[str]:
    closed, opened = Counter[str](), evidence.opened
    for closing in evidence.closings:
        if closing.new == 1:
            closed[closing.url] += 1
        elif closing.new is None:
            yield f"{closing.url} was deleted"
    for url, times in closed.items():
        if times > 1 + opened[urlsplit(url).path]:
            yield f"{url} was closed {times} times"
    for url, (outcome, _) in evidence.pages.items():
        if outcome and not closed[url]:
            yield f"{url} is closed and nobody saw it close"


def _opened_again(evidence: Evidence) -> Iterator[str]:
    """Only what a user asked for again is opened, as often as the user was told, and it is requested again."""
    opened = evidence.opened
    named, by_filter = evidence.user.may_have_opened() if evidence.user else (Counter[str](), 0)
    for path, times in opened.items():
        if times > named[path] + by_filter:
            yield f"{path} was opened again {times} times"
        requested = any(urlsplit(url).path == path and status for url, (_, status) in evidence.pages.items())
        if requested and evidence.hits.get(path, 0) <= times:
            yield f"{path} was opened again {times} times, and asked for {evidence.hits.get(path, 0)} times in all"
    if evidence.user:
        told, is_least = evidence.user.opened()
        if opened.total() < told or (opened.total() > told and not is_least):
            yield f"{opened.total()} pages were opened again, and the user was told of {told}"


def _early(evidence: Evidence, expected: Expected) -> Iterator[str]:
    for finish in evidence.finishes:
        if finish.new == "finished" and finish.open:
            yield f"finished was said while {finish.open} pages were open"
    ends = [finish for finish in evidence.finishes if finish.new == "finished"]
    if ends and ends[-1].pages < len(expected.pages):
        yield f"finished was said with {ends[-1].pages} of {len(expected.pages)} pages"
    if sum(finish.old == "finished" for finish in evidence.finishes) != evidence.rounds - 1:
        yield f"finished was taken back, in {evidence.rounds} rounds"
    if len(ends) > evidence.rounds:
        yield "finished was said more than once"


def _stuck(evidence: Evidence) -> Iterator[str]:
    if evidence.state != "finished":
        still_open = sum(1 for outcome, _ in evidence.pages.values() if not outcome)
        yield f"the crawl is {evidence.state} with {still_open} open pages"


def _told(evidence: Evidence) -> Iterator[str]:
    if evidence.notices != evidence.rounds:
        yield f"there are {evidence.notices} notices"
    if len(set(evidence.received)) != evidence.rounds:
        yield f"{len(set(evidence.received))} different deliveries arrived"
    yield from (f"no hook was called for: {what}" for what in evidence.not_called)


def _left(evidence: Evidence) -> Iterator[str]:
    yield from (f"the key {key}" for key in evidence.left_in_redis)
    yield from (f"the job {job}" for job in evidence.left_in_queues)
    yield from (f"{worker} has not come to rest" for worker in evidence.left_working)


def _counted(evidence: Evidence, expected: Expected) -> Iterator[str]:
    yield from (what for what in evidence.disagreements if what.startswith("the counters said"))
    outcomes = Counter(outcome for outcome, _ in evidence.pages.values() if outcome)
    statuses = Counter(str(status) for outcome, status in evidence.pages.values() if outcome and status is not None)
    counters = evidence.counters
    if counters.discovered != len(evidence.pages):
        yield f"the crawl counts {counters.discovered} pages, the table has {len(evidence.pages)}"
    if Counter(counters.outcomes) != outcomes or Counter(counters.statuses) != statuses:
        yield f"the crawl counts {dict(counters.outcomes)} {dict(counters.statuses)}, not {outcomes} {statuses}"
    yield from _receipt(evidence.receipt, expected.receipt)


def _logged_in(evidence: Evidence, expected: Expected, resets: int) -> Iterator[str]:
    """Once, and once more after each disturbance that ends a session, or loses it; of which each may also strike the
    worker that logs in."""
    if expected.titles and evidence.logins > 1 + 2 * resets:
        yield f"it logged in {evidence.logins} times, with {resets} disturbances that end a session or a worker"


def _blamed(evidence: Evidence) -> Iterator[str]:
    """A worker that dies over a page has asked for it, and so has the one that got its answer. A process that is killed
    may have noted one page and not asked for it yet."""
    in_vain = {path: deaths - max(0, evidence.hits.get(path, 0) - 1) for path, deaths in evidence.deaths.items()}
    in_vain = {path: times for path, times in in_vain.items() if times > 0}
    if sum(in_vain.values()) > (len(evidence.struck) + evidence.hook_kills) * len(evidence.crew):
        for path in in_vain:
            yield f"{path} was asked for {evidence.hits.get(path, 0)} times, and counts {evidence.deaths[path]} deaths"


_SAME = ("discovered", "fetched", "failed", "skipped", "cancelled", "statuses", "rendered")


def _receipt(receipt: Mapping[str, object], expected: Mapping[str, object]) -> Iterator[str]:
    """It must say what is expected; how much work it took may differ."""
    if not receipt:
        return  # that there is no notice was said already
    for name in _SAME:
        if receipt.get(name) != expected.get(name):
            yield f"the receipt says {name} = {receipt.get(name)}, not {expected.get(name)}"
    skipped = receipt.get("skipped")
    parts = [receipt.get(name) for name in ("fetched", "failed", "cancelled")]
    parts += list(skipped.values()) if isinstance(skipped, dict) else []
    if receipt.get("discovered") != sum(part for part in parts if isinstance(part, int)):
        yield f"the receipt does not add up: {dict(receipt)}"
