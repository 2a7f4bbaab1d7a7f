"""SimHash of texts: near-duplicates have hashes that differ in few bits; and the words of a text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import combinations, islice, pairwise

BYTES = 8
BITS = BYTES * 8
SHINGLE = 3  # words of one feature
MIN_WORDS = 20  # of a text that is long enough to compare
MAX_WORDS = 20_000  # of a text that are hashed
MAX_DISTANCE_BITS = 5  # between near-duplicates: about one word in two hundred
_MAX_ALL_PAIRS = 32  # hashes that agree in two blocks; of more not every pair is compared
_NEIGHBOURS = 4  # each of them is compared with so many
_EDGES = (0, 10, 19, 28, 37, 46, 55, BITS)  # bounds of the blocks: two more than MAX_DISTANCE_BITS


def sketch_of(words: Sequence[str]) -> bytes:
    """The 64-bit SimHash of a text, after Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW
    2007); b"" when it is too short.

    1. The features are all runs of SHINGLE words, in lower case, each once: else long texts would be alike because they
       are in one language. Each is hashed to 64 bits.
    2. A bit of the SimHash is set if it is set in more than half of the hashes.

    All hashes are in one large number, so that a bit of all of them is counted at once.
    """
    text = [word.lower() for word in words[:MAX_WORDS]]
    if len(text) < MIN_WORDS:
        return b""
    shingles = set(zip(*(text[at:] for at in range(SHINGLE)), strict=False))
    hashes = [_hash(" ".join(shingle)) for shingle in shingles]
    every = int.from_bytes(b"".join(hashes), "big")
    first_bits = int.from_bytes((b"\0" * (BYTES - 1) + b"\1") * len(hashes), "big")
    sketch = 0
    for bit in range(BITS):
        if 2 * (every >> bit & first_bits).bit_count() > len(hashes):
            sketch |= 1 << bit
    return sketch.to_bytes(BYTES, "big")


def alike(sketches: Mapping[int, bytes]) -> list[list[int]]:
    """The groups of pages that are connected by distances of at most MAX_DISTANCE_BITS; each in the order of the pages,
    the largest group first.

    1. Sketches that differ in at most 5 of 64 bits agree in two of 7 blocks, so only those are
       compared.
    2. Where many agree in two blocks, each is compared only with its neighbours in order: they are nearly always of
       one group, and other pairs of blocks find the rest.
    """
    of_sketch: dict[int, list[int]] = defaultdict(list)
    for page, value in sketches.items():
        of_sketch[int.from_bytes(value, "big")].append(page)
    leaders = _Leaders(of_sketch)
    for first, second in _candidates(list(of_sketch)):
        if (first ^ second).bit_count() <= MAX_DISTANCE_BITS:
            leaders.join(first, second)
    groups: dict[int, list[int]] = defaultdict(list)
    for sketch, pages in of_sketch.items():
        groups[leaders.of(sketch)].extend(pages)
    found = [sorted(pages) for pages in groups.values() if len(pages) > 1]
    return sorted(found, key=lambda pages: (-len(pages), pages[0]))


_BLOCKS = tuple((1 << end) - (1 << begin) for begin, end in pairwise(_EDGES))
_MASKS = tuple(one | other for one, other in combinations(_BLOCKS, 2))


class _Leaders:
    """The leader of each hash, while groups are joined (union-find)."""

    def __init__(self, sketches: Mapping[int, object]) -> None:
        self._leader = {sketch: sketch for sketch in sketches}

    def of(self, sketch: int) -> int:
        while (leader := self._leader[sketch]) != sketch:
            self._leader[sketch] = sketch = self._leader[leader]
        return sketch

    def join(self, first: int, second: int) -> None:
        self._leader[self.of(second)] = self.of(first)


def _candidates(sketches: Sequence[int]) -> Iterator[tuple[int, int]]:
    for mask in _MASKS:
        alone: dict[int, int] = {}
        together: dict[int, list[int]] = {}
        for sketch in sketches:
            first = alone.setdefault(sketch & mask, sketch)
            if first != sketch:
                together.setdefault(first, [first]).append(sketch)
        for members in together.values():
            yield from _pairs(members)


def _pairs(members: list[int]) -> Iterator[tuple[int, int]]:
    if len(members) <= _MAX_ALL_PAIRS:
        yield from combinations(members, 2)
        return
    members.sort()
    for place, member in enumerate(members):
        for neighbour in members[place + 1 : place + 1 + _NEIGHBOURS]:
            yield member, neighbour


def _hash(shingle: str) -> bytes:
    return blake2b(shingle.encode("utf-8", "replace"), digest_size=BYTES).digest()


# The words of a text, counted in bounded memory: a list of a million words takes a hundred megabytes.

_SPLIT_BELOW = 1_000_000  # characters; a shorter text is split at once, which is ten times as fast
_WORD = re.compile(r"\S+")


def words_of(text: str, most: int) -> tuple[list[str], int]:
    """The first `most` words, and how many there are; they are separated by white space."""
    if len(text) <= _SPLIT_BELOW:
        words = text.split()
        return words[:most], len(words)
    found = _WORD.finditer(text)
    first = [word[0] for word in islice(found, most)]
    return first, len(first) + sum(1 for _ in found)


def count_of(text: str) -> int:
    return words_of(text, 0)[1]
