"""Judges suspected pages by the counts of their traps. The counts move in the transaction that inserts the pages, under
the lock on the crawl's row, by the rows that are really new: so they are exact whatever is killed or done twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F, Q, QuerySet
from msgspec.structs import replace

from crawler.core.crawl.discovery import Discovery
from crawler.core.crawl.messages import PageResult
from crawler.core.crawl.outcomes import Outcome
from crawler.core.crawl.traps import LEARNT, MEANINGS, Count, Suspicion, Verdict, judge
from crawler.models import Crawl, Page, Trap
from crawler.storage.variants import Parts

KEYS_PER_STATEMENT = 900  # keys a statement; SQLite's smallest limit is 999 values


@dataclass(frozen=True)
class Judged:
    """What is to be inserted, and what is not even to get a row."""

    pages: Sequence[Discovery]
    left_out: Collection[bytes] = frozenset()  # keys
    set_aside: Mapping[int, Sequence[int]] = field(default_factory=dict)  # trap id -> pages that need not be asked for
    reopened: Sequence[int] = ()  # pages that were set aside, and are to be asked for after all


def sort_out(crawl: Crawl, found: Sequence[Discovery], closed: Sequence[PageResult]) -> Judged:
    """Judge the suspects among these pages, in their order. To be called in the transaction that inserts them.

    1. What the pages say that this very transaction `closed` may tell of a trap.
    2. Only a page that is new and that nothing else vouches for is judged.
    3. A page beyond the rows of its trap is counted with the page it was found on, if that was closed now. So a report
       that is taken in twice counts once.
    """
    if not closed or not crawl.chosen.traps:
        return _judged(crawl, found, frozenset(), None)
    parts = Parts(crawl)
    parts.learn(closed, found)
    judged = _judged(crawl, parts.with_suspicions(found), {page.id for page in closed}, parts)
    parts.save()
    return judged


def _judged(crawl: Crawl, found: Sequence[Discovery], closed: Collection[int], parts: Parts | None) -> Judged:
    set_aside, reopened = (parts.set_aside, parts.reopened) if parts is not None else ({}, ())
    suspects = _in_doubt(crawl, found)
    if not suspects:
        return Judged(found, set_aside=set_aside, reopened=reopened)
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
        if verdict is Verdict.LEAVE_OUT:
            left_out.add(key)
            count = count if page.parent_id in closed else counts[trap]
        elif verdict is Verdict.QUARANTINE:
            sentenced[key] = _quarantined(page, traps[trap].id)
        counts[trap] = count
    _save(traps.values(), counts)
    kept = [page for page in found if page.key not in left_out]
    return Judged([sentenced.get(page.key, page) for page in kept], left_out, set_aside, reopened)


def shown(crawl: Crawl) -> QuerySet[Trap]:
    """The traps of a crawl that people are shown: those that kept pages out, or did until they were released."""
    caught = Q(quarantined__gt=0) | Q(left_out__gt=0) | Q(released=True)
    return Trap.objects.filter(caught, crawl=crawl).order_by("id")


def quarantined(traps: QuerySet[Trap]) -> QuerySet[Page]:
    """The pages that are closed on account of these traps, in the order of their discovery."""
    crawls = traps.values("crawl_id")
    ids = traps.values("id")
    return Page.objects.filter(crawl_id__in=crawls, trap_id__in=ids, outcome=Outcome.TRAP).order_by("id")


def release(traps: QuerySet[Trap]) -> int:
    """Let these traps keep out nothing any more; how many there were. Their pages are for `pages.release` to open."""
    return traps.update(released=True, pages=F("pages") + F("quarantined"), quarantined=0)


def _in_doubt(crawl: Crawl, found: Sequence[Discovery]) -> dict[bytes, Discovery]:
    """Key -> page, of those that are suspected, have no row yet, and are not open on other grounds."""
    suspects = {page.key: page for page in found if page.suspicion}
    if not suspects:
        return {}
    vouched = {page.key for page in found if not page.suspicion and page.outcome is None}
    for chunk in _chunks(list(suspects)):
        vouched.update(map(bytes, Page.objects.filter(crawl=crawl, key__in=chunk).values_list("key", flat=True)))
    return {key: page for key, page in suspects.items() if key not in vouched}


def _traps_of(crawl: Crawl, suspicions: Iterable[Suspicion]) -> dict[bytes, Trap]:
    """The rows of these traps; those that are new are inserted."""
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
