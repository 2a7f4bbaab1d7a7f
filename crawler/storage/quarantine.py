"""Judges suspected pages by the counts of their traps. The counts change in the transaction that inserts the pages,
with the crawl's row locked, by the rows that are new, so that crashes and repetitions do not change them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Q, QuerySet
from msgspec.structs import replace

from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import LEARNT, Count, Suspicion, TrapReason, TrapVerdict, judge
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page, Trap
from crawler.storage.variants import VaryingParts

KEYS_PER_STATEMENT = 900  # keys a statement; SQLite's smallest limit is 999 values

MEANINGS: dict[TrapReason, str] = {
    TrapReason.REPEATED: "its path goes round in circles",
    TrapReason.LONGER: "its URL is longer than the long one it was found on",
    TrapReason.SESSION: "it carries a session id, which changes with every visit",
    TrapReason.DATES: "its calendar goes on for ever",
    TrapReason.SERIES: "it is one of an endless row of next pages",
    TrapReason.FILTERS: "it is one more combination of the same filters",
    TrapReason.PARAMETER: "it differs from other pages in a parameter that makes no difference to the text",
    TrapReason.SEGMENT: "it differs from other pages in a part of the path that makes no difference to the text",
}
"""Each reason as the error of a page."""


@dataclass(frozen=True)
class TrapDecision:
    """The pages to insert, and the pages that get no row."""

    pages: Sequence[Discovery]
    left_out: Collection[bytes] = frozenset()  # keys
    set_aside: Mapping[int, Sequence[int]] = field(default_factory=dict)  # trap id -> pages that are not requested
    reopened: Sequence[int] = ()  # pages in quarantine to open again


def sort_out(crawl: Crawl, found: Sequence[Discovery], closed: Sequence[PageResult]) -> TrapDecision:
    """Judge the suspects among these pages, in their order, in the transaction that inserts them.

    1. Learn traps from the pages that this transaction `closed`.
    2. Judge only pages that are new and not found in another, unsuspected way.
    3. Count a page without a row only when its parent was closed now, so that a result processed twice counts once.
    """
    if not closed or not crawl.chosen.traps:
        return _decide(crawl, found, frozenset(), None)
    parts = VaryingParts(crawl)
    parts.learn(closed, found)
    judged = _decide(crawl, parts.with_suspicions(found), {page.id for page in closed}, parts)
    parts.save()
    return judged


def _decide(
    crawl: Crawl, found: Sequence[Discovery], closed: Collection[int], parts: VaryingParts | None
) -> TrapDecision:
    set_aside, reopened = (parts.set_aside, parts.reopened) if parts is not None else ({}, ())
    suspects = _in_doubt(crawl, found)
    if not suspects:
        return TrapDecision(found, set_aside=set_aside, reopened=reopened)
    traps = _traps_of(crawl, [page.suspicion for page in suspects.values() if page.suspicion])
    counts = {key: _count_of(trap) for key, trap in traps.items()}
    left_out: set[bytes] = set()
    sentenced: dict[bytes, Discovery] = {}
    for key, page in suspects.items():
        assert page.suspicion is not None  # noqa: S101 (for the type checker: suspects have one)
        trap = page.suspicion.key
        if parts is not None and page.suspicion.reason in LEARNT:
            verdict, count = parts.judge(page, page.suspicion, counts[trap])
        else:
            verdict, count = judge(page.suspicion, counts[trap])
        if verdict is TrapVerdict.LEAVE_OUT:
            left_out.add(key)
            count = count if page.parent_id in closed else counts[trap]
        elif verdict is TrapVerdict.QUARANTINE:
            sentenced[key] = _quarantined(page, traps[trap].id)
        counts[trap] = count
    _save(traps.values(), counts)
    kept = [page for page in found if page.key not in left_out]
    return TrapDecision([sentenced.get(page.key, page) for page in kept], left_out, set_aside, reopened)


def shown(crawl: Crawl) -> QuerySet[Trap]:
    """The traps of a crawl that users see: those that keep pages out, or did until they were released."""
    caught = Q(quarantined__gt=0) | Q(left_out__gt=0) | Q(released=True)
    return Trap.objects.filter(caught, crawl=crawl).order_by("id")


def quarantined(traps: QuerySet[Trap]) -> QuerySet[Page]:
    """The pages in quarantine for these traps, in the order of their discovery."""
    crawls = traps.values("crawl_id")
    ids = traps.values("id")
    return Page.objects.filter(crawl_id__in=crawls, trap_id__in=ids, outcome=Outcome.TRAP).order_by("id")


def release(traps: QuerySet[Trap]) -> int:
    """Release these traps; returns how many. `writer.release` opens their pages."""
    return traps.update(released=True, pages=F("pages") + F("quarantined"), quarantined=0)


def _in_doubt(crawl: Crawl, found: Sequence[Discovery]) -> dict[bytes, Discovery]:
    """Key -> page, of suspected pages without a row that were not found in another, unsuspected way."""
    suspects = {page.key: page for page in found if page.suspicion}
    if not suspects:
        return {}
    vouched = {page.key for page in found if not page.suspicion and page.outcome is None}
    for chunk in _chunks(list(suspects)):
        vouched.update(map(bytes, Page.objects.filter(crawl=crawl, key__in=chunk).values_list("key", flat=True)))
    return {key: page for key, page in suspects.items() if key not in vouched}


def _traps_of(crawl: Crawl, suspicions: Iterable[Suspicion]) -> dict[bytes, Trap]:
    """The rows of these traps; new ones are inserted."""
    wanted = {suspicion.key: suspicion for suspicion in suspicions}
    known: dict[bytes, Trap] = {}
    for chunk in _chunks(list(wanted)):
        known.update((bytes(trap.key), trap) for trap in Trap.objects.filter(crawl=crawl, key__in=chunk))
    for key, suspicion in wanted.items():
        if key not in known:
            reason, pattern = suspicion.reason.value, suspicion.pattern
            known[key] = Trap.objects.create(crawl=crawl, key=key, reason=reason, pattern=pattern)
    return known


def _count_of(trap: Trap) -> Count:
    return Count(trap.pages, trap.quarantined, trap.left_out, trap.released, trap.seen_values)


def _save(traps: Iterable[Trap], counts: Mapping[bytes, Count]) -> None:
    for trap in traps:
        count = counts[bytes(trap.key)]
        if count == _count_of(trap):
            continue
        trap.pages, trap.quarantined, trap.left_out = count.pages, count.quarantined, count.left_out
        trap.seen_values = dict(count.values)
        trap.save(update_fields=["pages", "quarantined", "left_out", "seen_values"])


def _quarantined(page: Discovery, trap_id: int) -> Discovery:
    meaning = MEANINGS[page.suspicion.reason] if page.suspicion else ""
    return replace(page, outcome=Outcome.TRAP, error=meaning, trap_id=trap_id)


def _chunks(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[at : at + KEYS_PER_STATEMENT] for at in range(0, len(keys), KEYS_PER_STATEMENT))
