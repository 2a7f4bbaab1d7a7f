"""Branches of a site that no longer say anything new: the one rule for endless series.

A branch is a set of URLs: those of a host, below a folder, of one path in which numbers do not count, or with one
parameter. It is a trap when its latest pages said next to nothing that this crawl had not read before, and led to at
least as many new pages of the same branch. A branching process whose mean offspring is below one dies out by itself
(Harris, The Theory of Branching Processes, 1963, theorem I.6.1), so such a branch needs no rule.

A parameter or folder with a new value in every link is found earlier: it makes no difference when pages that differ
in this value alone say nothing new. One page for each rest of the URL is requested then.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, chain, takewhile
from operator import add
from zlib import crc32

import msgspec
from msgspec.structs import astuple

from crawler.capabilities.traps.bounds import starred
from crawler.capabilities.traps.novelty import Said
from crawler.core.pages.traps import TrapReason
from crawler.core.urls.normalise import host_of

SPAN = 100  # pages that are counted together
SPANS = 8  # complete ones that are remembered of a branch
GROWING_PAGES = 200  # nothing is known of a smaller branch
GROWING_IN_TEN = 9  # new pages for ten: some of a chain fail, or another page finds them first
MOST_OFFSPRING = 32  # of one page that count: a table of contents is found once; a month has at most 31 days
NEWEST_PAGES, NEWEST_IN_TEN = 60, 5  # the very latest of these, and their new pages for ten
READING_PAGES = SPAN + NEWEST_PAGES  # of a growing branch, before its pages are read
SILENT_PAGES = 300  # that were read, and of which hardly one said anything new
SILENT_HOST_PAGES = 400  # a host is also the branch of everything else on it
NEW_IN_HUNDRED = 2  # of these pages: a trap may show a notice, or a text that changes each day
DULL_PAGES = 60  # enough to take a link to more of the same path for no news
LIVELY_PATH_PAGES, LIVELY_PATH_IN_TEN = 2, 5  # of a path that is spared though its host or folder is a trap
SAME_PAGES = 100  # with a new value and a known rest of the URL
WORDED_IN_SILENT = 6  # of so many silent pages, one must have had its words read, see `Span.soup`
SOUP_IN_HUNDRED = 90
SOUP_OFFSPRING_IN_TEN = 15  # honest pages may have known words only, but do not multiply for long

LIVELY_PAGES = 100  # that say something new in LIVELY_IN_HUNDRED cases: reading rests for REST_PAGES
LIVELY_IN_HUNDRED = 10
REST_PAGES = 400

MAX_BRANCHES = 200  # of a crawl; those that had no page for longest are forgotten
RECENT_PAGES = 200  # of the crawl: a branch without a page among them does not grow now
MAX_FOLDERS = 3  # levels
MAX_PARAMETERS = 8  # of one URL


class Span(msgspec.Struct, array_like=True):
    """Counts of up to SPAN pages of a branch."""

    pages: int = 0
    grown: int = 0  # new pages of the branch that they led to, at most MOST_OFFSPRING each
    read: int = 0  # of the pages, those whose text was read
    new: int = 0  # of these, those that said something new
    worded: int = 0  # of these, those whose words were read
    soup: int = 0  # of these, those with known words alone, most of which were never in this order


def _plus(one: Span, other: Span) -> Span:
    return Span(*map(add, astuple(one), astuple(other)))


class Branch(msgspec.Struct, array_like=True):
    """The counts of one branch."""

    spans: list[Span]  # the last one is incomplete
    pages: int = 0
    turn: int = 0  # pages of the crawl at its last one
    same: int = 0  # pages with a new value of this parameter or folder, and a known rest of their URL
    same_new: int = 0  # of these, those that said something new

    def span(self) -> Span:
        """The one for the next page."""
        if self.spans[-1].pages >= SPAN:
            self.spans = [*self.spans[-SPANS:], Span()]
        return self.spans[-1]

    def is_growing(self, pages: int = GROWING_PAGES, in_ten: int = GROWING_IN_TEN) -> bool:
        """Whether at least so many of its latest pages led to as many new ones. The very latest have to do so as well:
        most of an honest site is found by its first pages."""
        latest = self.spans[-1 - GROWING_PAGES // SPAN :]
        newest = next((span for span in reversed(latest) if span.pages >= NEWEST_PAGES), self.spans[-1])
        counted = reduce(_plus, latest)
        is_growing_still = newest.grown * 10 >= newest.pages * NEWEST_IN_TEN
        return counted.pages >= pages and counted.grown * 10 >= counted.pages * in_ten and is_growing_still

    def latest(self, pages: int) -> Span | None:
        """The counts of its latest pages of which so many were read; None if fewer were."""
        return next((found for found in accumulate(reversed(self.spans), _plus) if found.read >= pages), None)

    def is_silent(self, pages: int) -> bool:
        """Whether so many of its latest pages said next to nothing new."""
        found = self.latest(pages)
        return found is not None and found.new * 100 <= found.read * NEW_IN_HUNDRED

    def is_dull(self, pages: int) -> bool:
        """Whether so many of its latest pages are of no use, in one way or the other."""
        return self.is_silent(pages) or self.is_soup(pages)

    def is_soup(self, pages: int) -> bool:
        """Whether so many of its latest pages are made from one list of words."""
        found = self.latest(pages)
        if found is None or found.worded * WORDED_IN_SILENT < pages:
            return False
        return found.soup * 100 >= found.worded * SOUP_IN_HUNDRED and self.is_growing(
            min(pages, GROWING_PAGES), SOUP_OFFSPRING_IN_TEN
        )

    @property
    def is_lively(self) -> bool:
        """Whether many of its latest pages said something new, and not with known words alone."""
        found = self.latest(LIVELY_PAGES)
        if found is None:
            return False
        return found.new * 100 >= found.read * LIVELY_IN_HUNDRED and found.soup * 2 <= found.worded

    @property
    def is_spared(self) -> bool:
        """Whether its pages say something new, as far as few pages can say."""
        found = self.latest(LIVELY_PATH_PAGES)
        return found is not None and found.new * 10 >= found.read * LIVELY_PATH_IN_TEN

    @property
    def makes_no_difference(self) -> bool:
        return self.same >= SAME_PAGES and self.same_new * 100 <= self.same * NEW_IN_HUNDRED


class Branches(msgspec.Struct, array_like=True):
    """What is known of the branches of a crawl."""

    known: dict[str, Branch] = {}  # by pattern, the one with the latest page last
    pages: int = 0  # of the crawl that were counted
    read: int = 0  # of these, those whose text was read
    rests_until: int = 0  # no text is read until `pages` is so large


class ReadPage(msgspec.Struct, frozen=True):
    """A page that was closed now."""

    url: str
    said: Said | None  # None = its text was not read
    led_to: Sequence[str] = ()  # new pages


class TrapFinding(msgspec.Struct, frozen=True):
    """A branch that is a trap from now on."""

    pattern: str
    reason: TrapReason
    pages: int  # latest pages of it that said nothing new
    others: int  # pages of the crawl that were read
    by_words: bool = False  # they have new sentences, of known words
    spared: tuple[str, ...] = ()  # paths within it that say something new, and are no part of it


@dataclass
class Memory:
    """What the crawl has read and requested, as hashes. `taken` is new since the transaction began."""

    taken: set[int] = field(default_factory=set)

    def knows(self, value: int) -> bool:
        return value in self.taken

    def take(self, values: Iterable[int]) -> int:
        """The number of new ones; they are known from now on."""
        news = {each for each in values if not self.knows(each)}
        self.taken |= news
        return len(news)


def branches_of(url: str) -> list[str]:
    """The patterns of the branches of a normalised URL, as users see them: of its path, its parameters, its folders,
    its host."""
    host = host_of(url)
    address, _, query = url.partition("?")
    segments = address[address.index("/", 8) + 1 :].split("/")
    names = [f"{host}/…?{name}=*" for name in _names(query.split("&"))] if query else []
    if ";" in address:
        names += [f"{host}/…;{name}=*" for segment in segments for name in _names(segment.split(";")[1:])]
    parts = starred(segments)
    path = parts if query or "*" in parts else [*parts[:-1], "*"]
    levels = range(min(len(segments) - 1, MAX_FOLDERS), 0, -1)
    folders = [f"{host}/{'/'.join(parts[:level])}/…" for level in levels]
    return list(dict.fromkeys([f"{host}/{'/'.join(path)}", *names, *folders, f"{host}/…"]))


def _names(pieces: Iterable[str]) -> list[str]:
    """Of parameters with a value, each once."""
    found = dict.fromkeys(name for name, _, value in (piece.partition("=") for piece in pieces) if name and value)
    return list(found)[:MAX_PARAMETERS]


def value_and_rest(url: str, pattern: str) -> tuple[int, int] | None:
    """Hashes of the value that a URL of this branch has for its parameter, or as the next folder or file, and of the
    rest of the URL. None for a path: it has no one value."""
    _, mark, name = pattern.partition("/…")
    if not mark:
        return None
    begin = url.index("/", 8)
    if name:
        begin = max(url.find(f"{each}{name[1:-1]}", begin) for each in "?&;") + len(name) - 1
    else:
        for _ in range(pattern.count("/")):
            begin = url.find("/", begin) + 1
    end = min(place for each in ("&;?/" if name else "/?") if (place := f"{url}{each}".find(each, begin)) >= 0)
    value, rest = url[begin:end], f"{url[:begin]}*{url[end:]}"
    return crc32(f"value {pattern} {value}".encode()), crc32(f"rest {pattern} {rest}".encode())


def likely_part(pattern: str) -> str:
    """A text that every URL of the branch contains, for a query."""
    before, mark, name = pattern.partition("/…")
    return name[1:-1] if mark and name else before.partition("*")[0]


def learn(
    known: Branches, pages: Sequence[ReadPage], memory: Memory, ignored: Set[str], spared: Set[str] = frozenset()
) -> list[TrapFinding]:
    """Count these pages, and return the branches that are traps from now on. Pages in a branch of `ignored`, which is a
    trap already or which a user has released, do not count, unless their path is `spared`."""
    counted: list[Sequence[str]] = []
    for page in pages:
        patterns = branches_of(page.url)
        if ignored.isdisjoint(patterns) or patterns[0] in spared:
            counted.append(patterns)
            _count(known, page, patterns, memory)
        elif page.said is not None:
            memory.take(chain(*astuple(page.said)))
    for pattern in list(known.known)[:-MAX_BRANCHES]:
        del known.known[pattern]
    return _findings(known, counted)


def wants_text(known: Branches) -> bool:
    """Whether to read the text of pages: while a branch grows, with rests if all that grow say much."""
    if known.pages < known.rests_until:
        return False
    recent = takewhile(lambda each: each.turn > known.pages - RECENT_PAGES, reversed(known.known.values()))
    growing = [branch for branch in recent if branch.is_growing(READING_PAGES)]
    if growing and all(branch.is_lively for branch in growing):
        known.rests_until = known.pages + REST_PAGES
        for branch in growing:
            branch.spans = [Span(span.pages, span.grown) for span in branch.spans]
        return False
    return bool(growing)


def _count(known: Branches, page: ReadPage, patterns: Sequence[str], memory: Memory) -> None:
    known.pages += 1
    said = page.said
    led_to = [branches_of(url) for url in page.led_to]
    grown = Counter(chain.from_iterable(led_to))
    lively: list[list[str]] = []
    says_more = is_soup = False
    if said is not None:
        known.read += 1
        says_more = memory.take(said.blocks) > 0
        has_new_words = memory.take(said.words) > 0
        is_soup = bool(said.words) and not has_new_words and memory.take(said.triples) * 2 > len(said.triples)
        lively = [] if says_more else [branches for branches in led_to if not _is_dull(known, branches)]
    for pattern in patterns:
        known.known[pattern] = branch = known.known.pop(pattern, Branch([Span()]))
        branch.turn, span = known.pages, branch.span()
        branch.pages += 1
        span.pages += 1
        span.grown += min(MOST_OFFSPRING, grown[pattern])
        if said is None:
            continue
        is_new = says_more or any(pattern not in branches for branches in lively)
        span.read += 1
        span.new += is_new
        span.worded += bool(said.words)
        span.soup += is_soup
        if (hashes := value_and_rest(page.url, pattern)) is not None:
            value, rest = hashes
            if memory.knows(rest) and not memory.knows(value):
                branch.same += 1
                branch.same_new += is_new
            memory.take(hashes)


def _is_dull(known: Branches, patterns: Sequence[str]) -> bool:
    """Whether a link to a page of these branches is no news, because others of its path say nothing new."""
    branch = known.known.get(patterns[0])
    return branch is not None and branch.is_silent(DULL_PAGES)


def _findings(known: Branches, latest: Sequence[Sequence[str]]) -> list[TrapFinding]:
    """The traps among the branches of the `latest` pages, the narrowest first. Branches that share pages with one of
    them begin from zero: what they counted may be its pages."""
    found: list[TrapFinding] = []
    touched = {pattern for patterns in latest for pattern in patterns if pattern in known.known}
    for pattern in sorted(touched, key=lambda each: (known.known[each].pages, each.endswith("/…"))):
        finding = _judged(known, pattern, latest) if pattern in known.known else None
        if finding is None:
            continue
        found.append(finding)
        for other in {each for patterns in latest if finding.pattern in patterns for each in patterns}:
            if other not in finding.spared:
                known.known.pop(other, None)
    return found


def _judged(known: Branches, pattern: str, latest: Sequence[Sequence[str]]) -> TrapFinding | None:
    branch = known.known[pattern]
    if not branch.is_growing():
        return None
    if branch.makes_no_difference:
        reason = TrapReason.PARAMETER if pattern.endswith("=*") else TrapReason.SEGMENT
        return TrapFinding(pattern, reason, branch.same, known.read)
    is_host = pattern.endswith("/…") and pattern.count("/") == 1
    pages = SILENT_HOST_PAGES if is_host else SILENT_PAGES + SILENT_PAGES // 3 * pattern.endswith("=*")
    if not branch.is_dull(pages):
        return None
    near = {each for patterns in latest if patterns[0] == pattern for each in patterns if each.endswith("=*")}
    pattern = next((each for each in near if _explains(known.known.get(each), branch)), pattern)
    branch = known.known[pattern]
    read = reduce(_plus, branch.spans).read
    by_words = not branch.is_silent(min(read, SILENT_PAGES))
    spared = tuple(each for each, path in known.known.items() if path.is_spared and _is_path_within(each, pattern))
    return TrapFinding(pattern, TrapReason.SILENT, read, known.read, by_words, spared)


def _is_path_within(pattern: str, folder: str) -> bool:
    """Whether a path is in a folder, or on a host."""
    return folder.endswith("/…") and "…" not in pattern and pattern.startswith(folder[:-1])


def _explains(part: Branch | None, path: Branch) -> bool:
    """Whether most pages of a silent path that lack this parameter say something new: they are no part of the trap."""
    if part is None:
        return False
    on_path, with_it = reduce(_plus, path.spans), reduce(_plus, part.spans)
    rest, new = on_path.read - with_it.read, on_path.new - with_it.new
    return part.is_dull(DULL_PAGES) and part.is_growing() and 0 < rest <= new * 2
