"""Learns from page content which parts of URLs make no difference, and judges new pages by them.

It runs in the transaction that closes and inserts pages, with the crawl's row locked, and learns only from pages that
this transaction closed: a result processed twice counts once, and a rollback undoes what was learnt. A crawl whose
pages all have different texts costs two queries a transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from django.db.models import Exists, OuterRef, Subquery
from msgspec.structs import replace as with_values

from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import Count, Suspicion, TrapVerdict, judge
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PAGE, PageResult
from crawler.core.urls.variants import (
    FOLLOWED_PARTS,
    TEXT_BYTES,
    VARIANTS_KEPT,
    Evidence,
    Variants,
    checked,
    differing_part,
    found_by,
    is_check_due,
    key_of_remainder,
    key_of_text,
    leads_on,
    reason_of,
    remainders,
)
from crawler.models import Crawl, Page, PageFacts, PageVariants, Trap, VaryingPart

VALUES_PER_STATEMENT = 400  # a statement; SQLite's smallest limit is 999
ROWS_PER_STATEMENT = 100  # 6 values each

_T = TypeVar("_T")
Remainders = dict[str, str]
"""Pattern -> remainder, as `core.urls.variants.remainders` gives them."""
Group = tuple[int, bytes]
"""The pages that differ in one part alone: id of the part, key of their remainder."""


@dataclass(frozen=True)
class _ClosedPage:
    """A page that this transaction closed."""

    text: bytes
    parts: Remainders
    led_to: Sequence[Remainders]  # new pages; known only of pages whose text another page has


@dataclass
class VaryingParts:
    """The varying parts of a crawl, for one transaction. `crawler.storage.writer` changes the pages that have rows."""

    crawl: Crawl
    set_aside: dict[int, list[int]] = field(default_factory=dict)  # trap id -> open pages that are not requested
    reopened: list[int] = field(default_factory=list)  # pages in quarantine whose content differs after all

    def __post_init__(self) -> None:
        rows = VaryingPart.objects.filter(crawl=self.crawl).select_related("trap").order_by("id")
        self._parts = {row.pattern: row for row in rows}
        self._groups: dict[Group, Variants] = {}
        self._saved: dict[Group, Variants] = {}
        self._moved: set[str] = set()  # patterns of the parts to save

    def learn(self, closed: Sequence[PageResult], found: Iterable[Discovery]) -> None:
        """Learn from the pages that this transaction closed and the pages they link to.

        1. A page with the text of another page and with new links may show a part to follow.
        2. Each page counts for its followed parts: as the first of its variants, a repetition or a difference.
        3. A part is judged when there is enough evidence.
        """
        facts = {page.id: page.facts for page in closed if page.outcome is Outcome.SUCCESS and page.facts.digest}
        led_to = _led_to([page for page, said in facts.items() if not said.shows_more], found)
        twins = _twins(self.crawl, led_to)
        if not twins and not self._followed():
            return
        pages = _pages({*facts, *(other for others in twins.values() for other in others)})
        new = self._new({parent: led_to[parent] for parent in twins})
        answers = {
            page: _ClosedPage(key_of_text(said.digest, pages[page][1]), remainders(pages[page][0]), new.get(page, ()))
            for page, said in facts.items()
            if page in pages
        }
        for page, others in twins.items():
            for other in others:
                if page in pages and other in pages and pages[page][1] == pages[other][1]:
                    self._follow(answers[page], differing_part(pages[page][0], pages[other][0]))
        self._count(answers.values())
        for pattern, part in self._followed().items():
            self._conclude(pattern, part)

    def with_suspicions(self, found: Sequence[Discovery]) -> Sequence[Discovery]:
        """The same pages; those that are one more variant by their URL have that suspicion."""
        judged = {pattern: part for pattern, part in self._followed().items() if part.trap_id is not None}
        if not judged:
            return found
        groups = dict[bytes, dict[str, Group]]()
        for page in found:
            if page.kind == PAGE and page.outcome is None and not page.in_sitemap and page.suspicion is None:
                shared = remainders(page.url).items()
                groups[page.key] = {name: _group(judged[name], rest) for name, rest in shared if name in judged}
        self._load(group for of_page in groups.values() for group in of_page.values())
        return [self._suspected(page, groups.get(page.key)) for page in found]

    def judge(self, page: Discovery, suspicion: Suspicion, count: Count) -> tuple[TrapVerdict, Count]:
        """The verdict on a suspected page, and the count of its trap afterwards."""
        part = self._parts[suspicion.pattern]
        group = _group(part, remainders(page.url)[suspicion.pattern])
        if self._lets_in(part, group, count.quarantined + count.left_out):
            return TrapVerdict.LET_IN, replace(count, pages=count.pages + 1)
        return judge(suspicion, count)

    def save(self) -> None:
        for pattern in self._moved:
            self._parts[pattern].save()
        rows = [
            PageVariants(
                part_id=part,
                key=key,
                pages=known.pages,
                same=known.same,
                different=known.different,
                texts=b"".join(known.texts),
            )
            for (part, key), known in self._groups.items()
            if self._saved.get((part, key)) != known
        ]
        PageVariants.objects.bulk_create(
            rows,
            batch_size=ROWS_PER_STATEMENT,
            update_conflicts=True,
            unique_fields=["part", "key"],
            update_fields=["pages", "same", "different", "texts"],
        )

    def _followed(self) -> dict[str, VaryingPart]:
        """The parts that pages count for: neither honest nor released."""
        return {
            pattern: part
            for pattern, part in self._parts.items()
            if not part.is_honest and (part.trap is None or not part.trap.released)
        }

    def _new(self, led_to: Mapping[int, Sequence[Discovery]]) -> dict[int, list[Remainders]]:
        """The linked pages that have no row yet."""
        known = set[bytes]()
        for chunk in _chunks([page.key for pages in led_to.values() for page in pages]):
            rows = Page.objects.filter(crawl=self.crawl, key__in=chunk)
            known.update(map(bytes, rows.values_list("key", flat=True)))
        return {
            parent: [remainders(page.url) for page in pages if page.key not in known]
            for parent, pages in led_to.items()
        }

    def _follow(self, answer: _ClosedPage, pattern: str | None) -> None:
        """Follow a part, unless it is known. When there are too many, the least likely one is removed."""
        if pattern is None or pattern in self._parts or not leads_on(pattern, answer.led_to):
            return
        known = [part for part in self._parts.values() if part.trap is None]
        if len(known) >= FOLLOWED_PARTS:
            least = min(known, key=lambda part: (not part.is_honest, part.same, part.id))
            del self._parts[least.pattern]
            self._forget_groups(least)
            self._moved.discard(least.pattern)
            least.delete()
        key = Suspicion(reason_of(pattern), pattern).key
        part = VaryingPart.objects.create(crawl=self.crawl, key=key, pattern=pattern)
        self._parts[pattern] = part
        first_text = answer.text  # the page with the same text is the first variant
        self._groups[_group(part, answer.parts[pattern])] = Variants(texts=(first_text,))

    def _count(self, answers: Iterable[_ClosedPage]) -> None:
        followed = self._followed()
        mine = [
            (answer, pattern, followed[pattern], _group(followed[pattern], rest))
            for answer in answers
            for pattern, rest in answer.parts.items()
            if pattern in followed
        ]
        self._load(group for *_, group in mine)
        for answer, pattern, part, group in mine:
            before = self._groups[group]
            is_judged = part.trap is not None
            after = before.with_text(answer.text, counts=is_judged or leads_on(pattern, answer.led_to))
            evidence = _evidence(part).plus(before, after)
            part.pages, part.same, part.different = evidence.pages, evidence.same, evidence.different
            self._moved.add(pattern)
            self._groups[group] = after
            if is_judged and after.are_different and not before.are_different:
                self._reopen(part, pattern, group)

    def _conclude(self, pattern: str, part: VaryingPart) -> None:
        if part.trap is not None:
            return
        if _evidence(part).is_trap:
            self._make_trap(part, pattern)
        elif _evidence(part).is_honest:
            part.is_honest = True
            self._moved.add(pattern)
            self._forget_groups(part)

    def _make_trap(self, part: VaryingPart, pattern: str) -> None:
        """Quarantine the open pages that are variants of others, except start pages and pages in a sitemap."""
        part.trap = Trap.objects.create(
            crawl=self.crawl, key=part.key, reason=reason_of(pattern).value, pattern=pattern
        )
        self._moved.add(pattern)
        self._load(_group_of(row) for row in PageVariants.objects.filter(part=part))
        rows = Page.objects.filter(crawl=self.crawl, kind=PAGE, url__contains=found_by(pattern)).order_by("id")
        asked, waiting = Counter[Group](), list[tuple[int, Group, bool]]()
        for page, url, status, http_status, parent, listed in rows.values_list(
            "id", "url", "status", "http_status", "parent_id", "in_sitemap"
        ).iterator():
            rest = remainders(url).get(pattern)
            if rest is None:
                continue
            if status == Page.OPEN:
                waiting.append((page, _group(part, rest), listed or parent is None))
            elif http_status is not None:
                asked[_group(part, rest)] += 1
        for group in {*asked, *(group for _, group, _ in waiting), *self._groups_of(part)}:
            texts = self._groups.get(group, Variants()).texts
            self._groups[group] = Variants(pages=asked[group], texts=texts)
        more = list[tuple[int, Group]]()
        for page, group, is_named in waiting:
            if is_named or self._groups[group].want_more:
                self._let_in(group)
            else:
                more.append((page, group))
        checks = checked(len(more))
        for _, group in (more[place] for place in checks):
            self._let_in(group)
        part.checks = len(checks)
        kept_out = [page for place, (page, _) in enumerate(more) if place not in checks]
        self.set_aside[part.trap.id] = kept_out
        part.trap.quarantined = len(kept_out)
        part.trap.pages = asked.total() + len(waiting) - len(kept_out)
        part.trap.save()

    def _reopen(self, part: VaryingPart, pattern: str, group: Group) -> None:
        """The variants of one group have different texts: request all of them."""
        if part.trap is None:
            return
        rows = Page.objects.filter(crawl=self.crawl, trap_id=part.trap.id, outcome=Outcome.TRAP)
        pages = [
            page
            for page, url in rows.order_by("id").values_list("id", "url").iterator()
            if _group(part, remainders(url)[pattern]) == group
        ]
        self._groups[group] = replace(self._groups[group], pages=self._groups[group].pages + len(pages))
        self.reopened += pages
        part.trap.quarantined -= len(pages)
        part.trap.pages += len(pages)
        part.trap.save()

    def _suspected(self, page: Discovery, groups: Mapping[str, Group] | None) -> Discovery:
        """With several parts, the one whose group has most pages counts."""
        if not groups:
            return page
        pattern = max(groups, key=lambda pattern: min(self._groups[groups[pattern]].pages, VARIANTS_KEPT))
        return with_values(page, suspicion=Suspicion(reason_of(pattern), pattern))

    def _lets_in(self, part: VaryingPart, group: Group, kept_out: int) -> bool:
        if not self._groups[group].want_more:
            if not is_check_due(kept_out, part.checks):
                return False
            part.checks += 1
            self._moved.add(part.pattern)
        self._let_in(group)
        return True

    def _let_in(self, group: Group) -> None:
        self._groups[group] = replace(self._groups[group], pages=self._groups[group].pages + 1)

    def _load(self, groups: Iterable[Group]) -> None:
        wanted = sorted(set(groups).difference(self._groups))
        for chunk in _chunks(wanted):
            parts, keys = {part for part, _ in chunk}, {key for _, key in chunk}
            for row in PageVariants.objects.filter(part__in=parts, key__in=keys):
                if (group := _group_of(row)) not in self._groups:
                    self._groups[group] = self._saved[group] = _variants(row)
        for group in wanted:
            self._groups.setdefault(group, Variants())

    def _groups_of(self, part: VaryingPart) -> list[Group]:
        return [group for group in self._groups if group[0] == part.id]

    def _forget_groups(self, part: VaryingPart) -> None:
        for group in self._groups_of(part):
            del self._groups[group]
        PageVariants.objects.filter(part=part).delete()


def _led_to(parents: Iterable[int], found: Iterable[Discovery]) -> dict[int, list[Discovery]]:
    """Parent -> the pages found on it."""
    led_to: dict[int, list[Discovery]] = {}
    of = set(parents)
    for page in found:
        if page.kind == PAGE and page.parent_id in of and not page.in_sitemap:
            led_to.setdefault(page.parent_id, []).append(page)
    return led_to


def _twins(crawl: Crawl, pages: Iterable[int]) -> dict[int, list[int]]:
    """Pages whose text other pages have, with the first and the last ones of those."""
    same = PageFacts.objects.filter(crawl=crawl, digest=OuterRef("digest"), page_id__gt=0)  # uses the index of digests
    others = same.exclude(page_id=OuterRef("page_id")).order_by("page_id").values("page_id")
    few = [Subquery(each) for each in (others[:1], others.reverse()[:1], others.reverse()[1:2])]
    found: dict[int, list[int]] = {}
    for chunk in _chunks(sorted(pages)):
        repeated = list(PageFacts.objects.filter(Exists(others), page_id__in=chunk).values_list("page_id", flat=True))
        if repeated:
            rows = PageFacts.objects.filter(page_id__in=repeated).values_list("page_id", *few)
            found.update((page, [other for other in dict.fromkeys(ids) if other]) for page, *ids in rows)
    return found


def _pages(ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Id -> URL and title, without sitemaps and links to other sites."""
    found: dict[int, tuple[str, str]] = {}
    for chunk in _chunks(sorted(ids)):
        rows = Page.objects.filter(id__in=chunk, kind=PAGE).values_list("id", "url", "title")
        found.update((page, (url, title)) for page, url, title in rows)
    return found


def _group(part: VaryingPart, remainder: str) -> Group:
    return part.id, key_of_remainder(remainder)


def _group_of(row: PageVariants) -> Group:
    return row.part_id, bytes(row.key)


def _variants(row: PageVariants) -> Variants:
    texts = bytes(row.texts)
    each = tuple(texts[at : at + TEXT_BYTES] for at in range(0, len(texts), TEXT_BYTES))
    return Variants(row.pages, row.same, row.different, each)


def _evidence(part: VaryingPart) -> Evidence:
    return Evidence(part.pages, part.same, part.different)


def _chunks(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (values[at : at + VALUES_PER_STATEMENT] for at in range(0, len(values), VALUES_PER_STATEMENT))
