"""Which pages of a large site are shown as one: those whose URLs begin alike, by host, then by folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

FAN = 100  # parts a folder may fall into at once; where it has more, it falls apart by their letters
LARGE = 20  # one of so many parts of the whole: what is smaller does not fall apart by letters, which mean little

Cut = Callable[[str, int], str]
"""The beginning of a URL that is one step longer than these many characters."""


class Cluster(NamedTuple):
    """Neighbours in a sorted list of URLs that begin alike."""

    prefix: str  # what they have in common; of a single page its URL
    first: int  # place of the first
    end: int  # place behind the last

    @property
    def size(self) -> int:
        return self.end - self.first


def clustered(urls: Sequence[str], most: int) -> list[Cluster]:
    """At most so many clusters that hold each of these URLs once, in their order; `urls` are sorted, each there once.

    1. All of them are one cluster.
    2. The largest falls apart: at the next "/" or "?", or at the next letter where that gives too many and it is large.
    3. Step 2 is done again with what is largest then. What would fall into too many stays as it is.
    """
    done = list[Cluster]()
    waiting = [(-len(urls), 0, len(urls))] if urls else []
    while waiting:
        _, first, end = heappop(waiting)
        whole = Cluster(_common(urls[first], urls[end - 1]), first, end)
        parts = _parts(urls, whole, most - len(done) - len(waiting))
        if len(parts) < 2:
            done.append(whole)
        for part_first, part_end in parts if len(parts) > 1 else []:
            heappush(waiting, (part_first - part_end, part_first, part_end))
    return sorted(done, key=lambda cluster: cluster.first)


def _parts(urls: Sequence[str], whole: Cluster, room: int) -> list[tuple[int, int]]:
    """The places of what it falls into; [] when that is more than there is room for."""
    by_folder = _cut(urls, whole, _folder, min(room, FAN))
    if by_folder or whole.size * LARGE <= len(urls):
        return by_folder
    return _cut(urls, whole, _letter, room)


def _cut(urls: Sequence[str], whole: Cluster, longer: Cut, most: int) -> list[tuple[int, int]]:
    starts, beginning = list[int](), ""
    for place in range(whole.first, whole.end):
        next_beginning = longer(urls[place], len(whole.prefix))
        if next_beginning != beginning or not starts:
            if len(starts) == most:
                return []
            starts.append(place)
            beginning = next_beginning
    return list(zip(starts, [*starts[1:], whole.end], strict=True))


def _folder(url: str, known: int) -> str:
    """Up to the next "/" or "?"; the whole URL when there is none."""
    ends = [at for at in (url.find("/", known), url.find("?", known)) if at >= 0]
    return url[: min(ends) + 1] if ends else url


def _letter(url: str, known: int) -> str:
    return url[: known + 1]


def _common(first: str, last: str) -> str:
    """What two URLs begin with, and so all that stand between them."""
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((place for place, (one, other) in pairs if one != other), min(len(first), len(last)))]
