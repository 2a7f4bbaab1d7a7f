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
_VOCABULARY = (
    "acorn anchor basin beacon bridge candle canyon cedar cinder clover copper coral cradle delta ember falcon fern "
    "fjord flint gable garnet glacier grove harbor hazel heron ivory jasper juniper kernel kettle lagoon lantern "
    "larch ledger linen maple marble meadow mica mortar nectar oak onyx orchard osprey otter pebble pine plover "
    "prism quarry quartz raven reed ridge saffron sage slate spruce tallow tern thistle timber topaz umber vale walnut"
)
WORDS = _VOCABULARY.split()
COUNT = len(WORDS)
SECTIONS = 30  # folders


@dataclass(frozen=True)
class Site:
    pages: int
    seed: int = 7

    def path(self, page: int) -> str:
        if page == 0:
            return "/"
        return f"/{WORDS[page % SECTIONS]}/{WORDS[page * 7 % COUNT]}-{WORDS[page // COUNT * 11 % COUNT]}-{page}.html"

    def page_at(self, path: str) -> int | None:
        """Which page has this path; None = there is no such page."""
        if path == "/":
            return 0
        name = path.rpartition("-")[2].removesuffix(".html")
        page = int(name) if 0 < len(name) <= 9 and name.isascii() and name.isdecimal() else 0
        return page if 0 < page < self.pages and self.path(page) == path else None

    def links(self, page: int) -> list[int]:
        """The pages it leads to, in the order of the text: its menu, the page above, those below, and some others."""
        dice = mixed(page, self.seed)
        others, step = 6 + dice % 32, dice >> 24
        above = [(page - 1) // CHILDREN] if page else []
        below = range(CHILDREN * page + 1, min(CHILDREN * page + CHILDREN + 1, self.pages))
        menu = range(min(MENU, self.pages))
        return [*menu, *above, *below, *((dice + number * step) % self.pages for number in range(others))]

    def html(self, page: int) -> bytes:
        """5 to 20 KB, with a link in every paragraph until they are used up."""
        dice = mixed(page, self.seed + 1)
        links, path = self.links(page), self.path
        title = f"{WORDS[dice % COUNT].title()} {WORDS[(dice >> 16) % COUNT]}, page {page:,}"
        menu, text = links[:MENU], links[MENU:]
        items = "".join([f'<li><a href="{path(link)}">{WORDS[link % COUNT]}</a></li>' for link in menu])
        parts = [_HEAD % (title, items, title)]
        paragraphs = self._paragraphs
        for place in range(max(12 + (dice >> 32) % 24, len(text))):
            if place < len(text):
                parts.append(f'<p id="p{place}"><a href="{path(text[place])}">{WORDS[text[place] % COUNT]}</a>: ')
            else:
                parts.append(f'<p id="p{place}">')
            parts.append(paragraphs[(dice + 7 * place) % len(paragraphs)])
        if dice % 4 == 0:
            parts.append(f'<p>See also <a href="https://www.example.org/{WORDS[dice % COUNT]}">elsewhere</a>.</p>')
        parts.append(_FOOT)
        return "".join(parts).encode()

    @cached_property
    def _paragraphs(self) -> list[str]:
        dice = Random(self.seed)
        return [_paragraph(dice) for _ in range(61)]

    def __iter__(self) -> Iterator[str]:
        return (self.path(page) for page in range(self.pages))


def mixed(number: int, seed: int) -> int:
    """64 bits that look drawn by lot (splitmix64), the same in every version of Python and quickly had."""
    bits = (number + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 & MASK
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & MASK
    return bits ^ bits >> 31


def _paragraph(dice: Random) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randrange(30, 60))).capitalize() + ".</p>\n"


_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta name="viewport" content="width=device-width"></head>
<body><nav><ul>%s</ul></nav>
<main><h1>%s</h1>
"""
_FOOT = """</main>
<footer><p>Made from a seed. <a href="#p0">To the top</a></p></footer></body></html>
"""
