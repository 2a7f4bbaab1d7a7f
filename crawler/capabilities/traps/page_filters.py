"""Finds traps among a crawl's branches, keeps their pages out, and lets some in as a check.

All this happens in the transaction that closes and inserts pages, with the crawl's row locked, and only pages that it
closes are counted: a result that is processed twice counts once, and a rollback undoes what was learnt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from django.db import connection, transaction
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
from crawler.models import Crawl, Page, Trap
from crawler.storage.bulk import Statement, chunks
from crawler.storage.quarantine import PageFilter, Quarantine, TrapDecision
from crawler.storage.sql import stored_id

MAX_QUARANTINED = 10_000  # rows of one trap; further pages are only counted
CHECKS_PER_DOUBLING = 3  # pages of a trap that are requested nevertheless, each time their number has doubled
CHECKS_NEW, CHECKS_IN_NEW = 2, 20  # a trap is released when so many of them, and one in 20, say something new

_STORE_COUNTS = Statement(
    """
    INSERT INTO crawler_branchcounts (crawl_id, counts) SELECT {crawl}, {counts} {rows}
    WHERE true ON CONFLICT (crawl_id) DO UPDATE SET counts = excluded.counts
    """,
    {"crawl": "uuid", "counts": "bytea"},
)

_MEANINGS: Mapping[TrapReason, str] = {
    TrapReason.SILENT: "the last {pages:,} pages of its branch {pattern} repeated what {others:,} others say",
    TrapReason.PARAMETER: "it differs from other pages in a parameter that makes no difference: {pages:,} pages of"
    " {pattern} repeated others",
    TrapReason.SEGMENT: "it differs from other pages in a part of the path that makes no difference: {pages:,} pages of"
    " {pattern} repeated others",
    TrapReason.LONGER: "its URL is longer than the long one it was found on",
    TrapReason.SERIES: "it is one of an endless row of next pages",
}


_BY_WORDS = "the last {pages:,} pages of its branch {pattern} had only words of {others:,} others"


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
    far = any(may_exceed(page.url, page.depth) for page in pages)
    if not (has_traps or learns or far):
        return TrapDecision(found)
    known = _known(crawl) if learns else None
    has_traps = has_traps or far or (known is not None and known.had_traps)
    traps = list(Trap.objects.filter(crawl=crawl)) if has_traps else []
    return _Sorting(crawl, found, pages, closed, traps, far).decide(known)


def _known(crawl: Crawl) -> Branches:
    with connection.cursor() as cursor:
        cursor.execute("SELECT counts FROM crawler_branchcounts WHERE crawl_id = %s", [stored_id(crawl.id)])
        row = cursor.fetchone()
    return msgspec.msgpack.decode(row[0], type=Branches) if row is not None else Branches()


def _may_be_kept_out(page: Discovery) -> bool:
    return page.kind == PAGE and page.outcome is None and not page.in_sitemap and page.parent_id is not None


@dataclass
class _Sorting:
    """One transaction's."""

    crawl: Crawl
    found: Sequence[Discovery]
    pages: Sequence[Discovery]  # those of `found` that may be kept out
    closed: Mapping[str, PageResult]  # by URL
    traps: Sequence[Trap]
    is_far: bool  # one of the pages may exceed a bound
    set_aside: list[Quarantine] = field(default_factory=list)
    reopened: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._wants_text = False
        self._memory = BitMemory(str(self.crawl.id))
        self._traps = {bytes(trap.key): trap for trap in self.traps}
        self._changed = set[Trap]()
        self._released = {trap.pattern for trap in self.traps if trap.released}

    def decide(self, known: Branches | None) -> TrapDecision:
        """`known`: the branches, if there is something to learn."""
        if known is not None:
            self._learn(known)
        left_out, sentenced = set[bytes](), dict[bytes, Discovery]()
        closed = {result.id for result in self.closed.values()}
        active = {trap.pattern: trap for trap in self._active()}
        for key, page in self._suspects().items():
            trap = self._trap_of(page, active)
            if trap is None:
                continue
            self._changed.add(trap)
            if self._lets_in(trap, page):
                trap.pages += 1
            elif trap.quarantined < MAX_QUARANTINED:
                trap.quarantined += 1
                sentenced[key] = replace(page, outcome=Outcome.TRAP, error=_meaning(trap), trap_id=trap.id)
            else:
                left_out.add(key)
                trap.left_out += page.parent_id in closed  # a result processed twice counts once
        for trap in self._changed:
            trap.save()
        if known is not None or self._memory.taken:
            transaction.on_commit(self._store_memory)
        kept = self.found
        if sentenced or left_out:
            kept = [sentenced.get(page.key, page) for page in self.found if page.key not in left_out]
        return TrapDecision(kept, left_out, self.set_aside, self.reopened)

    # What pages say

    def _learn(self, known: Branches) -> None:
        read = self._read_pages()
        self._note_checks(known, read)
        ignored = {trap.pattern for trap in self._active()} | self._released
        spared = {path for trap in self._active() for path in trap.evidence["spared"]}
        for finding in rules.learn(known, read, self._memory, ignored, spared):
            self._make_trap(finding)
        self._wants_text = rules.wants_text(known)
        _STORE_COUNTS.run([{"crawl": stored_id(self.crawl.id), "counts": msgspec.msgpack.encode(known)}])

    def _read_pages(self) -> list[ReadPage]:
        """The closed pages."""
        led_to: dict[int | None, list[str]] = {}
        for page in self.pages:
            led_to.setdefault(page.parent_id, []).append(page.url)
        return [ReadPage(url, SAID.of(result), led_to.get(result.id, ())) for url, result in self.closed.items()]

    def _note_checks(self, known: Branches, pages: Sequence[ReadPage]) -> None:
        """Count the checks that were read; a trap that says something new is released."""
        active = self._active()
        read = {key_of(page.url).hex(): page for page in pages} if active else {}
        for trap in active:
            for key in [asked for asked in trap.evidence["asked"] if asked in read]:
                page = read[key]
                trap.evidence["asked"].remove(key)
                self._changed.add(trap)
                said = page.said and (page.said.words if trap.evidence["by_words"] else page.said.blocks)
                if not said:
                    continue
                trap.evidence["read"] += 1
                if self._memory.take(said):
                    trap.evidence["new"] += 1
                    for pattern in branches_of(page.url):
                        known.known.pop(pattern, None)
            if trap.evidence["new"] >= max(CHECKS_NEW, trap.evidence["read"] / CHECKS_IN_NEW):
                self._open_again(trap)

    def _open_again(self, trap: Trap) -> None:
        rows = Page.objects.filter(crawl=self.crawl, trap_id=trap.id, outcome=Outcome.TRAP)
        self.reopened += rows.order_by("id").values_list("id", flat=True)
        trap.pages += trap.quarantined
        trap.quarantined, trap.evidence = 0, {}

    def _make_trap(self, finding: TrapFinding) -> None:
        """Quarantine its open pages, except start pages, those in a sitemap, and checks."""
        trap = self._row(finding.reason, finding.pattern)
        kept_out_before = {page for each in self.set_aside for page in each.pages}
        rows = Page.objects.filter(crawl=self.crawl, kind=PAGE, status=Page.OPEN, in_sitemap=False)
        rows = rows.exclude(parent_id=None).filter(url__contains=rules.likely_part(finding.pattern)).order_by("id")
        pages = [
            (page, url)
            for page, url in rows.values_list("id", "url").iterator()
            if page not in kept_out_before
            and finding.pattern in (patterns := branches_of(url))
            and patterns[0] not in finding.spared
            and self._released.isdisjoint(patterns)
        ]
        may_be_checks = [each for each in pages if all(map(self._memory.knows, _rest(trap, each[1])))]
        places = spread(len(may_be_checks), CHECKS_PER_DOUBLING * len(may_be_checks).bit_length())
        checks = dict(may_be_checks[place] for place in places)
        trap.evidence = {
            "pages": finding.pages,
            "others": finding.others,
            "by_words": finding.by_words,
            "spared": list(finding.spared),
            "asked": [key_of(url).hex() for url in checks.values()],
            "checks": len(checks),
            "read": 0,
            "new": 0,
        }
        kept_out = [page for page, url in pages if page not in checks and not self._takes_new_rest(trap, url)]
        trap.pages += len(pages) - len(kept_out)  # besides those that were requested before
        trap.quarantined += len(kept_out)
        self.set_aside.append(Quarantine(trap.id, _meaning(trap), kept_out))

    # Which pages are kept out

    def _suspects(self) -> dict[bytes, Discovery]:
        """The pages without a row."""
        if not self.is_far and not self._active():
            return {}
        pages = {page.key: page for page in self.pages}
        rows = [Page.objects.filter(crawl=self.crawl, key__in=keys) for keys in chunks(list(pages))]
        known = {bytes(key) for each in rows for key in each.values_list("key", flat=True)}
        return {key: page for key, page in pages.items() if key not in known}

    def _trap_of(self, page: Discovery, active: Mapping[str, Trap]) -> Trap | None:
        if may_exceed(page.url, page.depth):
            parent = Page.objects.values_list("url", flat=True).get(id=page.parent_id or 0)
            if (bound := bound_of(page.url, page.depth, parent)) is not None:
                trap = self._row(bound.reason, bound.pattern)
                is_exceeded = not trap.released and trap.pages >= bound.pages
                trap.pages += not is_exceeded
                return trap if is_exceeded else None
        patterns = branches_of(page.url) if active else []
        if not self._released.isdisjoint(patterns):
            return None
        found = (active[pattern] for pattern in patterns if pattern in active)
        return next((trap for trap in found if patterns[0] not in trap.evidence["spared"]), None)

    def _lets_in(self, trap: Trap, page: Discovery) -> bool:
        if not _is_found(trap):
            return False
        if self._takes_new_rest(trap, page.url):
            return True
        evidence, kept_out = trap.evidence, trap.quarantined + trap.left_out
        if evidence["checks"] >= CHECKS_PER_DOUBLING * kept_out.bit_length():
            return False
        evidence["asked"].append(page.key.hex())
        evidence["checks"] += 1
        return True

    def _takes_new_rest(self, trap: Trap, url: str) -> bool:
        """Whether it is the first page with this rest of its URL, of a parameter or folder that makes no difference."""
        return self._memory.take(_rest(trap, url)) > 0

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


def _rest(trap: Trap, url: str) -> Sequence[int]:
    """The hash of the rest of a URL without the value that makes no difference; none for other traps."""
    hashes = value_and_rest(url, trap.pattern) if trap.reason != TrapReason.SILENT else None
    return hashes[1:] if hashes is not None else ()


def _is_found(trap: Trap) -> bool:
    """Whether it is a branch that says nothing new. Earlier versions stored other evidence."""
    return "asked" in trap.evidence


def spread(places: int, number: int) -> range:
    """Which of the pages of a trap are requested as a check: far apart, because honest ones may be in a row."""
    step = max(1, places // max(1, number))
    return range(step - 1, places, step)[:number]


PAGE_FILTERS = (PageFilter(sort_out),)
