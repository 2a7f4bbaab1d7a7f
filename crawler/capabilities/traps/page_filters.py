"""Finds traps among a crawl's branches, keeps their pages out, and lets some in as a check.

All this happens in the transaction that closes and inserts pages, with the crawl's row locked, and only pages that it
closes are counted: a result that is processed twice counts once, and a rollback undoes what was learnt.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from django.db import transaction
from msgspec.structs import replace

from crawler.capabilities.traps import branches as rules
from crawler.capabilities.traps.bounds import bound_of, may_exceed
from crawler.capabilities.traps.branches import Branches, ReadPage, TrapFinding, branches_of, value_and_rest
from crawler.capabilities.traps.memory import BitMemory
from crawler.capabilities.traps.result_fields import SAID
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import TrapReason, key_of_trap
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PAGE, PageResult
from crawler.core.urls.normalise import key_of
from crawler.models import BranchCounts, Crawl, Page, Trap
from crawler.storage.bulk import chunks
from crawler.storage.quarantine import PageFilter, Quarantine, TrapDecision

MAX_QUARANTINED = 10_000  # rows of one trap; further pages are only counted
CHECKS_PER_DOUBLING = 3  # pages of a trap that are requested nevertheless, each time their number has doubled
CHECKS_NEW, CHECKS_IN_NEW = 2, 20  # a trap is released when so many of them, and one in 20, say something new

_SAME = "it differs from other pages only in a value without effect: {pages:,} pages of {pattern} repeated others"

_MEANINGS: Mapping[TrapReason, str] = {
    TrapReason.SILENT: "the last {pages:,} pages of its branch {pattern} repeated the content of {others:,} others",
    TrapReason.PARAMETER: _SAME,
    TrapReason.SEGMENT: _SAME,
    TrapReason.LONGER: "its URL is longer than the already long URL of the page that links to it",
    TrapReason.SERIES: "it belongs to an endless series of next pages",
}

_BY_WORDS = "the last {pages:,} pages of its branch {pattern} had only words that {others:,} others have"


def _meaning(trap: Trap) -> str:
    meaning = _BY_WORDS if trap.evidence.get("by_words") else _MEANINGS[TrapReason(trap.reason)]
    return meaning.format(pattern=trap.pattern, **trap.evidence)


def sort_out(crawl: Crawl, found: Sequence[Discovery], closed: Mapping[str, PageResult]) -> TrapDecision:
    """1. Learn from the pages that were closed, which may find a trap, or release one.
    2. Judge the pages that are new: not those in a sitemap, which is a finite list, nor start pages.
    """
    if not crawl.chosen.traps:
        return TrapDecision(found)
    listed = {page.url for page in found if page.in_sitemap and page.kind == PAGE}
    pages = [page for page in found if _may_be_kept_out(page) and page.url not in listed]
    has_traps = crawl.outcomes.get(Outcome.TRAP.value, 0) > 0
    is_large = crawl.discovered >= rules.READING_PAGES
    learns = is_large and bool(closed) and (has_traps or bool(pages) or any(map(SAID.of, closed.values())))
    is_far = any(may_exceed(page.url, page.depth) for page in pages)
    if not (has_traps or learns or is_far):
        return TrapDecision(found)
    return _Sorting(crawl, found, pages, closed, is_far).decide(learns=learns)


def _may_be_kept_out(page: Discovery) -> bool:
    return page.kind == PAGE and page.outcome is None and not page.in_sitemap and page.parent_id is not None


@dataclass
class _Sorting:
    """One transaction's."""

    crawl: Crawl
    found: Sequence[Discovery]
    pages: Sequence[Discovery]  # those of `found` that may be kept out
    closed: Mapping[str, PageResult]  # by URL
    is_far: bool  # one of the pages may exceed a bound
    set_aside: list[Quarantine] = field(default_factory=list)
    reopened: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        traps = Trap.objects.filter(crawl=self.crawl)
        self._wants_text = False
        self._memory = BitMemory(str(self.crawl.id))
        self._traps = {bytes(trap.key): trap for trap in traps}
        self._changed = set[Trap]()
        self._released = {trap.pattern for trap in self._traps.values() if trap.released}

    def decide(self, *, learns: bool) -> TrapDecision:
        if learns:
            self._learn()
        left_out, sentenced = set[bytes](), dict[bytes, Discovery]()
        closed = {result.id for result in self.closed.values()}
        active = {trap.pattern: trap for trap in self._active()}
        for page in self._suspects():
            trap = self._trap_of(page, active)
            if trap is None:
                continue
            self._changed.add(trap)
            if self._lets_in(trap, page.url, page.key):
                trap.pages += 1
            elif trap.quarantined < MAX_QUARANTINED:
                trap.quarantined += 1
                sentenced[page.key] = replace(page, outcome=Outcome.TRAP, error=_meaning(trap), trap_id=trap.id)
            else:
                left_out.add(page.key)
                trap.left_out += page.parent_id in closed  # a result processed twice counts once
        for trap in self._changed:
            trap.save()
        if learns or self._memory.taken:
            transaction.on_commit(self._store_memory)
        kept = self.found
        if sentenced or left_out:
            kept = [sentenced.get(page.key, page) for page in self.found if page.key not in left_out]
        return TrapDecision(kept, left_out, self.set_aside, self.reopened)

    # What pages say

    def _learn(self) -> None:
        stored = BranchCounts.objects.filter(crawl=self.crawl).values_list("counts", flat=True).first()
        known = Branches() if stored is None else msgspec.msgpack.decode(stored, type=Branches)
        led_to = defaultdict[int | None, list[str]](list)
        for page in self.pages:
            led_to[page.parent_id].append(page.url)
        read = [ReadPage(url, SAID.of(result), led_to[result.id]) for url, result in self.closed.items()]
        self._note_checks(known, read)
        ignored = {trap.pattern for trap in self._active()} | self._released
        spared = {path for trap in self._active() for path in trap.evidence["spared"]}
        for finding in rules.learn(known, read, self._memory, ignored, spared):
            self._make_trap(finding)
        self._wants_text = rules.wants_text(known)
        counts = BranchCounts(crawl=self.crawl, counts=msgspec.msgpack.encode(known))
        BranchCounts.objects.bulk_create(
            [counts], update_conflicts=True, unique_fields=["crawl"], update_fields=["counts"]
        )

    def _note_checks(self, known: Branches, pages: Sequence[ReadPage]) -> None:
        """Count the checks that were read; a trap that says something new is released."""
        active = self._active()
        read = {key_of(page.url).hex(): page for page in pages} if active else {}
        for trap in active:
            evidence = trap.evidence
            for key in [asked for asked in evidence["asked"] if asked in read]:
                evidence["asked"].remove(key)
                self._changed.add(trap)
                page, said = read[key], read[key].said
                hashes = () if said is None else said.words if evidence["by_words"] else said.blocks
                evidence["read"] += bool(hashes)
                if self._memory.take(hashes):
                    evidence["new"] += 1
                    for pattern in branches_of(page.url):
                        known.known.pop(pattern, None)
            if evidence["new"] >= max(CHECKS_NEW, evidence["read"] / CHECKS_IN_NEW):
                self._open_again(trap)

    def _open_again(self, trap: Trap) -> None:
        rows = Page.objects.filter(crawl=self.crawl, trap_id=trap.id, outcome=Outcome.TRAP)
        self.reopened += rows.order_by("id").values_list("id", flat=True)
        trap.pages += trap.quarantined
        trap.quarantined, trap.evidence = 0, {}

    def _make_trap(self, finding: TrapFinding) -> None:
        """Quarantine its open pages, except start pages, those in a sitemap, and checks. Their order is that of their
        keys, so that the checks are far apart: honest pages may be in a row."""
        trap = self._row(finding.reason, finding.pattern)
        trap.evidence = {
            "pages": finding.pages,
            "others": finding.others,
            "by_words": finding.by_words,
            "spared": list(finding.spared),
            "asked": [],
            "checks": 0,
            "read": 0,
            "new": 0,
        }
        kept_out_before = {page for each in self.set_aside for page in each.pages}
        rows = Page.objects.filter(crawl=self.crawl, kind=PAGE, status=Page.OPEN, in_sitemap=False)
        rows = rows.exclude(parent_id=None).filter(url__contains=rules.likely_part(finding.pattern)).order_by("key")
        kept_out: list[int] = []
        self.set_aside.append(Quarantine(trap.id, _meaning(trap), kept_out))
        for page, url, key in rows.values_list("id", "url", "key").iterator():
            if page in kept_out_before or self._branch_of(url, {trap.pattern: trap}) is None:
                continue
            if self._lets_in(trap, url, bytes(key)):
                trap.pages += 1  # besides those that were requested before
            else:
                trap.quarantined += 1
                kept_out.append(page)

    # Which pages are kept out

    def _suspects(self) -> list[Discovery]:
        """The pages without a row."""
        if not self.is_far and not self._active():
            return []
        pages = {page.key: page for page in self.pages}
        for keys in chunks(list(pages)):
            for key in Page.objects.filter(crawl=self.crawl, key__in=keys).values_list("key", flat=True):
                pages.pop(bytes(key), None)
        return list(pages.values())

    def _trap_of(self, page: Discovery, active: Mapping[str, Trap]) -> Trap | None:
        if may_exceed(page.url, page.depth):
            parent = Page.objects.values_list("url", flat=True).get(id=page.parent_id or 0)
            if (bound := bound_of(page.url, page.depth, parent)) is not None:
                trap = self._row(bound.reason, bound.pattern)
                is_exceeded = not trap.released and trap.pages >= bound.pages
                trap.pages += not is_exceeded
                return trap if is_exceeded else None
        return self._branch_of(page.url, active)

    def _branch_of(self, url: str, active: Mapping[str, Trap]) -> Trap | None:
        """The narrowest of these traps that the URL belongs to."""
        patterns = branches_of(url) if active else []
        if not self._released.isdisjoint(patterns):
            return None
        found = (active[pattern] for pattern in patterns if pattern in active)
        return next((trap for trap in found if patterns[0] not in trap.evidence["spared"]), None)

    def _lets_in(self, trap: Trap, url: str, key: bytes) -> bool:
        """Whether a page is requested nevertheless: as a check, or as the first one with this rest of its URL, of a
        parameter or folder that makes no difference."""
        if not _is_found(trap):
            return False
        hashes = value_and_rest(url, trap.pattern) if trap.reason != TrapReason.SILENT else None
        if hashes is not None and self._memory.take(hashes[1:]):
            return True
        evidence, kept_out = trap.evidence, trap.quarantined + trap.left_out
        if evidence["checks"] >= CHECKS_PER_DOUBLING * kept_out.bit_length():
            return False
        evidence["asked"].append(key.hex())
        evidence["checks"] += 1
        return True

    def _active(self) -> list[Trap]:
        """The branches that are traps."""
        return [trap for trap in self._traps.values() if _is_found(trap) and not trap.released]

    def _row(self, reason: TrapReason, pattern: str) -> Trap:
        key = key_of_trap(reason, pattern)
        if key not in self._traps:
            self._traps[key] = Trap.objects.create(crawl=self.crawl, key=key, reason=reason.value, pattern=pattern)
        self._changed.add(self._traps[key])
        return self._traps[key]

    def _store_memory(self) -> None:
        self._memory.store()
        if self._wants_text or any(trap.evidence["asked"] for trap in self._active()):
            self._memory.listen()
        elif any(map(SAID.of, self.closed.values())):
            self._memory.rest()


def _is_found(trap: Trap) -> bool:
    """Whether it is a branch that says nothing new. Earlier versions stored other evidence."""
    return "asked" in trap.evidence


PAGE_FILTERS = (PageFilter(sort_out),)
