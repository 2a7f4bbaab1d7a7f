"""Knows a site of any size that is made from a seed: each page is computed when it is asked for, and always the same.

Page 0 is the start page. Page n leads to the pages CHILDREN*n+1 to CHILDREN*n+CHILDREN, so every page can be reached,
and a million lie at most seven links deep; the other links go anywhere, as menus and cross-references do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random

CHILDREN = 8  # pages that are found first on the same page
MENU = 10  # the same links on every page
MASK = (1 << 64) - 1
WORDS = (
    "acorn anchor basin beacon bridge candle canyon cedar cinder clover copper coral cradle delta ember falcon fern "
    "fjord flint gable garnet glacier grove harbor hazel heron ivory jasper juniper kernel kettle lagoon lantern "
    "larch ledger linen maple marble meadow mica mortar nectar oak onyx orchard osprey otter pebble pine plover "
    "prism quarry quartz raven reed ridge saffron sage slate spruce tallow tern thistle timber topaz umber vale walnut"
).split()  # noqa: SIM905 (seventy quotes would not read better)
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Site:
    pages: int
    seed: int = 7

    def path(self, page: int) -> str:
        if page == 0:
            return "/"
        dice = mixed(page, self.seed)
        section, first, second = (WORDS[(dice >> shift) % len(WORDS)] for shift in (0, 16, 32))
        return f"/{section}/{first}-{second}-{_base36(page)}.html"

    def page_at(self, path: str) -> int | None:
        """Which page has this path; None = there is no such page."""
        if path == "/":
            return 0
        name = path.rpartition("-")[2].removesuffix(".html")
        page = int(name, 36) if 0 < len(name) <= 8 and name.isascii() and name.isalnum() else 0
        return page if 0 < page < self.pages and self.path(page) == path else None

    def links(self, page: int) -> list[int]:
        """The pages it leads to, in the order of the text: its menu, the page above, those below, and some others."""
        dice = mixed(page, self.seed + 1)
        others = 6 + dice % 32
        above = [(page - 1) // CHILDREN] if page else []
        below = range(CHILDREN * page + 1, min(CHILDREN * page + CHILDREN + 1, self.pages))
        menu = range(min(MENU, self.pages))
        return [*menu, *above, *below, *(mixed(dice, number) % self.pages for number in range(others))]

    def html(self, page: int) -> bytes:
        """5 to 20 KB, with a link in every paragraph until they are used up."""
        dice = mixed(page, self.seed + 2)
        links = self.links(page)
        title = f"{WORDS[dice % len(WORDS)].title()} {WORDS[(dice >> 16) % len(WORDS)]}, page {page:,}"
        menu, text = links[:MENU], links[MENU:]
        parts = [_HEAD % (title, "".join(self._item(link) for link in menu), title)]
        paragraphs = self._paragraphs
        for place in range(max(12 + (dice >> 32) % 24, len(text))):
            lead = f'<a href="{self.path(text[place])}">{self._label(text[place])}</a>: ' if place < len(text) else ""
            parts.append(f'<p id="p{place}">{lead}{paragraphs[(dice + 7 * place) % len(paragraphs)]}</p>\n')
        if dice % 4 == 0:
            parts.append(f'<p>See also <a href="https://www.example.org/{WORDS[dice % len(WORDS)]}">elsewhere</a>.</p>')
        parts.append(_FOOT)
        return "".join(parts).encode()

    @cached_property
    def _paragraphs(self) -> list[str]:
        dice = Random(self.seed)  # noqa: S311 (nothing secret is made here)
        return [" ".join(dice.choices(WORDS, k=dice.randrange(30, 60))).capitalize() + "." for _ in range(61)]

    def _item(self, page: int) -> str:
        return f'<li><a href="{self.path(page)}">{self._label(page)}</a></li>'

    def _label(self, page: int) -> str:
        return WORDS[mixed(page, self.seed) % len(WORDS)].title()

    def __iter__(self) -> Iterator[str]:
        return (self.path(page) for page in range(self.pages))


def mixed(number: int, seed: int) -> int:
    """64 bits that look drawn by lot (splitmix64), the same in every version of Python and quickly had."""
    bits = (number + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 & MASK
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & MASK
    return bits ^ bits >> 31


def _base36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = DIGITS[digit] + text
    return text


_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta name="viewport" content="width=device-width"></head>
<body><nav><ul>%s</ul></nav>
<main><h1>%s</h1>
"""
_FOOT = """</main>
<footer><p>Made from a seed. <a href="#p0">To the top</a></p></footer></body></html>
"""
