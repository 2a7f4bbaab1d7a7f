"""What a crawl of the site must come to, and what its evidence says: lost, twice, early, stuck, left over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tools.chaos.evidence import Evidence, Page, Shown
from tools.chaos.site import Content, Site

REFETCH_SHARE = 0.05  # of the pages may be asked for once more than needed, whatever happened

LOST = "lost"  # pages that are missing, open, or closed otherwise than undisturbed
TWICE = "twice"  # pages that closed more than once, were opened again, or deleted
EARLY = "early"  # finished was said while something was missing
STUCK = "stuck"  # what did not happen in time
TOLD = "told"  # notices missing or repeated
LEFT = "left"  # what was left behind
COUNTED = "counted"  # numbers that do not add up
REFETCHED = "refetched"  # pages asked for again too often
BLAMED = "blamed"  # pages that deaths are counted against although they were not in hand
AFTER_THE_END = frozenset({LOST, TOLD, LEFT, COUNTED, BLAMED})  # of a crawl that is stuck these say nothing


@dataclass(frozen=True)
class Expected:
    pages: Mapping[str, Page]
    hits: Mapping[str, int]  # path -> requests that are needed
    receipt: Mapping[str, Any]
    shown: Mapping[str, Shown] = field(default_factory=dict)  # of pages that a browser renders
    titles: Mapping[str, str] = field(default_factory=dict)  # URL -> of pages behind a log-in


def measured(undisturbed: Evidence) -> Expected:
    return Expected(undisturbed.pages, undisturbed.hits, undisturbed.receipt, undisturbed.shown)


def walked(site: Site, content: Content, lost: Container[str] = (), roots: Sequence[str] = ("/",)) -> Expected:
    """For the generated site, whose links are plain paths and whose robots.txt forbids `/private/`. The pages at these
    paths were lost with their workers, which may have asked for them, and lead nowhere."""
    found: dict[str, Page] = {}
    hits = Counter({"/robots.txt": 1})
    waiting = [*roots]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        if path.startswith("/private/"):
            found[path] = ("robots", None)
            continue
        if path in lost:
            found[path] = ("lost", None)
            hits[path] += 2
            continue
        reply = content(path, 0)
        hits[path] += 1
        if reply.status == 503:
            reply = content(path, 1)
            hits[path] += 1
        found[path] = (f"{reply.status // 100}xx", reply.status)
        body = reply.body if isinstance(reply.body, str) else reply.body.decode()
        waiting += [*re.findall(r'href="(/[^"]*)"', body), *filter(None, [reply.headers.get("Location")])]
    return of_pages({site.origin + path: page for path, page in found.items()}, hits)


def of_pages(pages: Mapping[str, Page], hits: Mapping[str, int], **more: Any) -> Expected:
    """With the receipt of these pages."""
    statuses = Counter(str(status) for _, status in pages.values() if status is not None)
    outcomes = Counter(outcome for outcome, _ in pages.values())
    receipt = {
        "discovered": len(pages),
        "fetched": statuses.total(),
        "failed": outcomes["lost"],
        "skipped": {name: outcomes[name] for name in ("robots", "excluded") if outcomes[name]},
        "cancelled": 0,
        "statuses": dict(statuses),
    }
    return Expected(pages, hits, receipt, **more)


@dataclass(frozen=True)
class Verdict:
    """Sentences, by the kind of promise that was broken."""

    broken: Mapping[str, Sequence[str]]

    def number(self, *kinds: str) -> int:
        return sum(len(self.broken.get(kind, ())) for kind in kinds)

    @property
    def faults(self) -> list[str]:
        return [f"{kind}: {sentence}" for kind, sentences in self.broken.items() for sentence in sentences]


def judge(
    evidence: Evidence, expected: Expected, allowed: int = 0, more: Mapping[str, Iterable[str]] | None = None
) -> Verdict:
    """`allowed`: requests beyond those that are needed, and beyond `REFETCH_SHARE`. `more`: further sentences of a
    scene. Of a crawl that is stuck only that is said which is wrong already."""
    found: dict[str, list[str]] = {
        LOST: [*_lost(evidence, expected)],
        TWICE: [*_twice(evidence)],
        EARLY: [*_early(evidence, expected)],
        STUCK: [*_stuck(evidence)],
        TOLD: [*_told(evidence)],
        LEFT: [f"the key {key}" for key in evidence.left_in_redis],
        COUNTED: [*_counted(evidence, expected)],
        REFETCHED: [*_refetched(evidence, expected, allowed)],
    }
    found[LEFT] += [f"the job {job}" for job in evidence.left_in_queues]
    for kind, sentences in (more or {}).items():
        found[kind] = [*found.get(kind, ()), *sentences]
    left_out = AFTER_THE_END if found[STUCK] else ()
    return Verdict({kind: sentences for kind, sentences in found.items() if sentences and kind not in left_out})


def refetched(evidence: Evidence, expected: Expected) -> int:
    """Requests beyond the undisturbed run's."""
    return (Counter(evidence.hits) - Counter(expected.hits)).total()


def _refetched(evidence: Evidence, expected: Expected, allowed: int) -> Iterator[str]:
    most = int(REFETCH_SHARE * len(expected.pages)) + allowed
    if (number := refetched(evidence, expected)) > most:
        yield f"{number} requests too many, {most} are allowed"


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
        shown, wanted = evidence.shown.get(url), expected.shown.get(url)
        if shown != wanted:
            yield f"{url} was rendered as {shown}, not {wanted}"
    for url, title in expected.titles.items():
        if url in evidence.pages and evidence.titles.get(url) != title:
            yield f"{url} was stored as {evidence.titles.get(url)!r}, not {title!r}"


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


def _early(evidence: Evidence, expected: Expected) -> Iterator[str]:
    ends = [finish for finish in evidence.finishes if finish.new == "finished"]
    yield from (f"finished was said while {finish.open} pages were open" for finish in ends if finish.open)
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


_SAME = ("discovered", "fetched", "failed", "skipped", "cancelled", "statuses", "rendered")


def _receipt(receipt: Mapping[str, object], expected: Mapping[str, object]) -> Iterator[str]:
    """It must equal the expected one, except for the amount of work."""
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
