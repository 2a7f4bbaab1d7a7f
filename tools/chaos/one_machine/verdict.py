"""What the evidence of a run on this machine says, besides what it says of every crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import assert_never
from urllib.parse import urlsplit

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness import host_rules
from tools.chaos import verdict
from tools.chaos.one_machine.crew import Role
from tools.chaos.one_machine.disturbances import KINDS, InBrowsers, Kind
from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.sites import times_rendered
from tools.chaos.verdict import BLAMED, COUNTED, LEFT, LOST, TOLD, TWICE, Expected, Verdict

MAX_RENDERED_PAGES = 4  # of a batch; see docs/rendering.md

RENDERED = "rendered"  # pages rendered again too often


def judge(evidence: MachineEvidence, expected: Expected, batch_pages: int) -> Verdict:
    """`batch_pages`: pages of one host that may be in hand at a time."""
    resets = sum(KINDS[struck.kind].resets for struck in evidence.struck) + evidence.hook_kills
    in_hand = resets * batch_pages
    more = {
        LOST: _lost(evidence, in_hand),
        TWICE: _opened_again(evidence),
        TOLD: (f"no hook was called for: {what}" for what in evidence.not_called),
        LEFT: (f"{worker} has not come to rest" for worker in evidence.left_working),
        COUNTED: _logged_in(evidence, expected, resets),
        BLAMED: _blamed(evidence),
        RENDERED: _rendered(evidence, expected),
    }
    return verdict.judge(evidence, expected, in_hand, more)


def rendered_again(evidence: MachineEvidence, expected: Expected) -> int:
    """Times that a page was rendered once more."""
    return sum(max(0, times - 1) for times in times_rendered(evidence.hits, expected.shown).values())


def _rendered(evidence: MachineEvidence, expected: Expected) -> Iterator[str]:
    most = sum(_may_be_rendered_again(evidence, KINDS[struck.kind]) for struck in evidence.struck)
    if (number := rendered_again(evidence, expected)) > most:
        yield f"{number} times too many, {most} are allowed"


def _may_be_rendered_again(evidence: MachineEvidence, kind: Kind) -> int:
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


def _lost(evidence: MachineEvidence, allowed: int) -> Iterator[str]:
    """A crawl that acknowledges early may lose what dead workers had, and says how much that was."""
    if evidence.knocks:
        yield f"{evidence.knocks} connections reached the address that no page may reach"
    if len(evidence.lost) > allowed:
        yield f"{len(evidence.lost)} pages were lost with their workers, which had {allowed} at most"
    if evidence.receipt.get("lost", 0) != len(evidence.lost):
        yield f"the receipt says that {evidence.receipt.get('lost')} pages were lost, not {len(evidence.lost)}"


def _opened_again(evidence: MachineEvidence) -> Iterator[str]:
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


def _logged_in(evidence: MachineEvidence, expected: Expected, resets: int) -> Iterator[str]:
    """Once, and once more after each disturbance that ends a session, or loses it; of which each may also strike the
    worker that logs in."""
    if expected.titles and evidence.logins > 1 + 2 * resets:
        yield f"it logged in {evidence.logins} times, with {resets} disturbances that end a session or a worker"


def _blamed(evidence: MachineEvidence) -> Iterator[str]:
    """A worker that dies over a page has asked for it, and so has the one that got its answer. A process that is killed
    may have noted one page and not asked for it yet."""
    in_vain = {path: deaths - max(0, evidence.hits.get(path, 0) - 1) for path, deaths in evidence.deaths.items()}
    in_vain = {path: times for path, times in in_vain.items() if times > 0}
    if sum(in_vain.values()) > (len(evidence.struck) + evidence.hook_kills) * len(evidence.crew):
        for path in in_vain:
            yield f"{path} was asked for {evidence.hits.get(path, 0)} times, and counts {evidence.deaths[path]} deaths"
