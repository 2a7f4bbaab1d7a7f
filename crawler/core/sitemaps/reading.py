"""Reading of a whole sitemap: decompression, size limits, detection of its format, and its entries."""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from crawler.core.protocol.messages import SitemapEntry
from crawler.core.sitemaps.formats import (
    MAX_EXAMPLES,
    Break,
    EntryTexts,
    Markup,
    NotASitemap,
    SitemapFault,
    SitemapProblem,
    TextReader,
)
from crawler.core.text.gzip import MAGIC, Broken, gunzipped
from crawler.core.urls.normalise import normalise

MIN_PIECE = 64 * 1024  # bytes read at a time, except the last


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as they are, or decoded if they begin with the magic number of gzip."""
    source = iter(pieces)
    head = b""
    while len(head) < len(MAGIC) and (piece := next(source, b"")):
        head += piece
    whole = chain((head,), source)
    if not head.startswith(MAGIC):
        yield from whole
        return
    try:
        yield from gunzipped(whole)
    except Broken as broken:
        raise Break(SitemapFault.DAMAGED, str(broken)) from broken


def joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same in pieces of MIN_PIECE bytes at least, except the last: a packed file may come byte by byte, and parsers
    read incomplete tokens again."""
    held, size = list[bytes](), 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= MIN_PIECE:
                yield b"".join(held)
                held, size = [], 0
    except Break:
        if held:
            yield b"".join(held)
        raise
    if held:
        yield b"".join(held)


def limited(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The first `most` bytes; then a Break, if there are more."""
    room = most
    for piece in pieces:
        yield piece[:room]
        if len(piece) > room:
            raise Break(SitemapFault.TOO_LARGE)
        room -= len(piece)


# A whole sitemap file of any format.

# https://www.sitemaps.org/protocol.html: "no more than 50,000 URLs and must be no larger than 50MB (52,428,800 bytes)"
MAX_BYTES = 52_428_800  # decoded
MAX_ENTRIES = 50_000
MAX_CHARACTERS = 20_000_000  # of all URLs together: resolved relative ones can be longer than the file
MAX_EXAMPLE = 100  # characters of a skipped entry
MAX_LASTMOD = 40  # characters; an RFC 822 date has 31

_SNIFFED = 1024  # bytes from which the format is detected
_BLANK = b" \t\r\n"
_PREAMBLE = _BLANK + BOM_UTF8  # no format begins with a byte of the mark
_HTML = re.compile(
    rb"(?>(?:<\?xml[^>]*>|<!--.*?-->|\s)*)<(?:!doctype\s+html|html|head|body|title|meta|script)[\s>]",
    re.IGNORECASE | re.DOTALL,
)


class Sitemap(msgspec.Struct, frozen=True):
    """The result of reading a file."""

    entries: tuple[SitemapEntry, ...]  # each URL once, in order of appearance
    is_sitemap: bool = True  # False: it is something else
    problem: SitemapProblem | None = None  # None = it was read to its end
    left_out: int = 0  # entries that are no URL
    examples: tuple[str, ...] = ()  # the first of these, as written, cut to MAX_EXAMPLE


def read(pieces: Iterable[bytes], url: str) -> Sitemap:
    """The sitemap at the normalised `url`, gzipped or not. It never raises for its content.

    1. What begins with "<" is XML, anything else plain text.
    2. A break ends the reading; what was read before it counts.
    3. At most MAX_ENTRIES of at most MAX_BYTES are read.
    4. URLs are resolved against `url`, and invalid ones are skipped and counted.
    """
    gathered = _EntryList(url)
    try:
        _gather(pieces, gathered)
    except NotASitemap as reason:
        return Sitemap(entries=(), is_sitemap=False, problem=reason.problem)
    except Break as reason:
        return gathered.sitemap(reason.problem)
    return gathered.sitemap()


def _gather(pieces: Iterable[bytes], gathered: _EntryList) -> None:
    head, source = _sniffed(joined(limited(unpacked(pieces), MAX_BYTES)))
    reader = _reader_of(head)
    for piece in source:
        gathered.add(reader.feed(piece))
    gathered.add(reader.close())
    if isinstance(reader, TextReader) and reader.skipped:
        gathered.leave_out(*reader.examples, number=reader.skipped)
        if not gathered.entries:
            raise NotASitemap(SitemapFault.NO_LIST)


def _sniffed(pieces: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, without byte order mark and leading blanks, and the pieces from there."""
    source, head = iter(pieces), b""
    try:
        while len(head) < _SNIFFED and (piece := next(source, b"")):
            head = (head + piece).lstrip(_PREAMBLE)
    except Break as reason:
        if not head:
            raise NotASitemap(*reason.problem) from reason
        return head, _broken_off(head, reason)
    return head, chain((head,), source)


def _broken_off(head: bytes, reason: Break) -> Iterator[bytes]:
    yield head
    raise reason


def _reader_of(head: bytes) -> Markup | TextReader:
    if not head:
        raise NotASitemap(SitemapFault.EMPTY)
    start = head[:_SNIFFED]
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        start = start[2:].replace(b"\0", b"").lstrip(_BLANK)
    if _HTML.match(start):
        raise NotASitemap(SitemapFault.HTML)
    return Markup() if start.startswith(b"<") else TextReader(head)


class _EntryList:
    """The entries found so far."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._listed = 0
        self.entries: dict[str, SitemapEntry] = {}
        self._only_alternate: set[str] = set()
        self.left_out = 0
        self._examples = list[str]()  # the first skipped ones
        self._room = MAX_CHARACTERS

    def add(self, listed: Iterable[EntryTexts]) -> None:
        for entry in listed:
            self._listed += 1
            if self._listed <= MAX_ENTRIES:
                self._add(entry)
            if self._listed > MAX_ENTRIES or len(self.entries) > MAX_ENTRIES:
                raise Break(SitemapFault.ENTRIES)
            if self._room < 0:
                raise Break(SitemapFault.CHARACTERS)

    def sitemap(self, problem: SitemapProblem | None = None) -> Sitemap:
        entries = tuple(self.entries.values())[:MAX_ENTRIES]
        return Sitemap(entries, problem=problem, left_out=self.left_out, examples=tuple(self._examples))

    def leave_out(self, *written: str, number: int = 1) -> None:
        """Count skipped entries, and keep examples."""
        self.left_out += number
        self._examples += [text[:MAX_EXAMPLE] for text in written[: MAX_EXAMPLES - len(self._examples)]]

    def _add(self, listed: EntryTexts) -> None:
        url = normalise(listed.loc, self._url) if listed.loc else None
        if url is None:
            self.leave_out(*filter(None, [listed.loc]))
            return
        lastmod = (listed.lastmod or "")[:MAX_LASTMOD]
        entry = SitemapEntry(url, lastmod, priority_of(listed.priority), listed.is_sitemap)
        if url in self._only_alternate:
            self._only_alternate.discard(url)
            self.entries[url] = entry
        elif url not in self.entries:
            self._enter(entry)
        for reference in listed.alternate:
            if len(self.entries) > MAX_ENTRIES or self._room < 0:
                return
            self._add_alternate(reference, url)

    def _add_alternate(self, reference: str, base: str) -> None:
        """The same page in another language; an entry of its own takes precedence."""
        url = normalise(reference, base)
        if url is None:
            self.leave_out(reference)
        elif url not in self.entries:
            self._enter(SitemapEntry(url))
            self._only_alternate.add(url)

    def _enter(self, entry: SitemapEntry) -> None:
        self.entries[entry.url] = entry
        self._room -= len(entry.url)


def priority_of(text: str | None) -> int | None:
    """0 (last) to 10 (first) for the protocol's 0.0 to 1.0; None if it is no number."""
    try:
        number = float((text or "").replace(",", "."))
    except ValueError:
        return None
    return round(min(max(number, 0.0), 1.0) * 10) if math.isfinite(number) else None
