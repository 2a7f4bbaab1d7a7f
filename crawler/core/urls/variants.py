"""Parts of URLs without effect on the page: a query parameter or a path segment with a new value in every link, such
as a session id under any name.

Pages whose URLs differ in one part only are variants of each other. A part is followed from the first page that repeats
the text of one of its variants and links to more URLs with that part. It is a trap once many pages did so and hardly
any page of the part had a new text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from crawler.core.pages.traps import MAX_SEGMENTS, TrapReason
from crawler.core.urls.normalise import host_of

MIN_REPEATS = 200  # pages with a repeated text and further links, before a part is a trap
DIFFERENT_SHARE = 20  # one page in so many may differ from its variants: shops have many equal "sold out" pages

FOLLOWED_PARTS = 50  # of a crawl at a time; the one with the fewest repeats is replaced
FOLLOWED_PAGES = 20_000  # of one part, after which it is no trap: limits its rows
HONEST_PAGES = 100  # that differ from their variants: as soon as they are the majority, the part is no trap

VARIANTS_KEPT = 3  # requested pages per group of variants of a trap: one for its text, two to check it
MAX_TEXTS = 32  # of each group of variants; a real trap has one
MAX_PARAMETERS = 16  # of a URL with more no parameter is examined
TEXT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Variants:
    """The counts of pages that differ in one part only. Judged: after the part was found to be a trap."""

    pages: int = 0  # requested or to be requested; counted after the part is judged
    same: int = 0  # that repeated a text
    different: int = 0  # with a new text, without the first page
    texts: tuple[bytes, ...] = ()

    @property
    def are_different(self) -> bool:
        """Whether these, of a judged part, are no trap after all: a quarter of those requested since differ."""
        return self.different >= 2 and self.different * 3 >= self.same

    @property
    def want_more(self) -> bool:
        """Whether one more of them is requested although their part is a trap."""
        return self.pages < VARIANTS_KEPT or self.are_different

    def with_text(self, text: bytes, *, counts: bool) -> Variants:
        """The same after one more page with this text. `counts`: a repetition counts."""
        if text in self.texts:
            return replace(self, same=self.same + counts)
        more = self.texts if len(self.texts) >= MAX_TEXTS else (*self.texts, text)
        return replace(self, different=self.different + bool(self.texts), texts=more)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The counts of one part."""

    pages: int = 0
    same: int = 0
    different: int = 0

    @property
    def is_trap(self) -> bool:
        return self.same >= MIN_REPEATS and self.different * DIFFERENT_SHARE <= self.same + self.different

    @property
    def is_honest(self) -> bool:
        return self.pages >= FOLLOWED_PAGES or self.different >= max(HONEST_PAGES, self.same)

    def plus(self, before: Variants, after: Variants) -> Evidence:
        """The same after one more page of the part."""
        same, different = after.same - before.same, after.different - before.different
        return Evidence(self.pages + 1, self.same + same, self.different + different)


def remainders(url: str) -> dict[str, str]:
    """Pattern of each part of a normalised URL -> the URL without its value. URLs with the same remainder are variants.
    A parameter applies to the whole host, a segment to its folder."""
    host, start = host_of(url), url.index("/", 8)
    address, mark, query = url.partition("?")
    found: dict[str, str] = {}
    pieces = query.split("&") if query else []
    for name in _names(pieces):
        kept = "&".join(piece for piece in pieces if piece.partition("=")[0] != name)
        found[f"{host}/…?{name}=*"] = f"{address}?{kept}" if kept else address
    segments = address[start + 1 :].split("/")
    for at, segment in enumerate(segments) if len(segments) <= MAX_SEGMENTS else ():
        for name in _names(behind := segment.split(";")[1:]):
            [value, *_] = [piece for piece in behind if piece.partition("=")[0] == name]
            found[f"{host}/…;{name}=*"] = url.replace(f";{value}", "", 1)
        if segment:
            before, after = "".join(f"{each}/" for each in segments[:at]), segments[at + 1 :]
            found[f"{host}/{before}*"] = f"{url[:start]}/{'/'.join([before + '*', *after])}{mark}{query}"
    return found


def _names(pieces: Sequence[str]) -> list[str]:
    """The names of parameters with a value, each once."""
    named = dict.fromkeys(name for name, equals, _ in (piece.partition("=") for piece in pieces) if name and equals)
    return list(named) if len(named) <= MAX_PARAMETERS else []


def found_by(pattern: str) -> str:
    """A substring of every URL of the part, for a database query."""
    if "…" in pattern:
        return pattern[pattern.index("…") + 2 : -1]
    return f"//{pattern[:-1]}"


def differing_part(url: str, other: str) -> str | None:
    """The pattern of the only part in which `url` differs from `other`, which may lack it."""
    of_other = remainders(other)
    for pattern, remainder in remainders(url).items():
        if remainder in (of_other.get(pattern), other):
            return pattern
    return None


def reason_of(pattern: str) -> TrapReason:
    """No normalised URL contains the character for any path."""
    return TrapReason.PARAMETER if "…" in pattern else TrapReason.SEGMENT


def leads_on(pattern: str, new: Iterable[Mapping[str, str]]) -> bool:
    """Whether most new pages that a page links to (their remainders) are variants: a trap links to itself. Pages of a
    gallery without text link to pictures, and pages without links to nothing."""
    inside = [pattern in parts for parts in new]
    return any(inside) and sum(inside) * 2 >= len(inside)


def is_check_due(kept_out: int, checks: int) -> bool:
    """Whether one more variant is requested as a check: each time the number of skipped pages has doubled."""
    return checks < kept_out.bit_length()


def checked(places: int) -> range:
    """Which of the open pages of a judged part are requested as a check: few, and far apart, because a shop may have
    its "sold out" pages in a row."""
    number = places.bit_length()
    step = max(1, places // max(1, number))
    return range(step - 1, places, step)[:number]


def key_of_remainder(remainder: str) -> bytes:
    """16 bytes that identify a group of variants within its part."""
    return blake2b(remainder.encode(), digest_size=16).digest()


def key_of_text(digest: bytes, title: str) -> bytes:
    """TEXT_BYTES that identify the content of a page: its visible text and its title."""
    return blake2b(title.encode("utf-8", "replace"), digest_size=TEXT_BYTES, key=digest).digest()
