"""What a page says, as hashes: of its text blocks, of its words and of three words in a row.

Of many, those with the smallest hashes are taken, so that two pages with the same text give the same ones (A. Broder,
On the resemblance and containment of documents, 1997). Numbers are removed from the text, and so are the parts of the
page's own URL: a counter, the time of day or an echo of the address says nothing.
"""

import re
from collections.abc import Collection, Iterable
from urllib.parse import unquote
from zlib import crc32

import msgspec

MIN_BLOCK = 25  # characters: shorter pieces are labels of links and buttons
MAX_BLOCKS = 12  # of one page
MAX_OBJECTS = 8  # pictures, videos and frames of one page
MAX_WORDS = 16
MAX_TRIPLES = 8
WORDS_READ = 4_000  # characters of the text
PAGES_PER_WORDS = 4  # the words of one page in so many are read: vocabulary needs fewer pages than sentences do
MIN_ECHO = 3  # characters of a part of the URL

_ENDS = bytes.maketrans(b".!?;\t\r", b"\n" * 6)
_NUMBERS = b"0123456789,:/-'"  # and what stands between digits
_WORD = re.compile(r"[^\W\d_]{2,}")
_SEPARATOR = re.compile(r"[/?&=;]")


class Said(msgspec.Struct, frozen=True, array_like=True):
    """Hashes of 32 bits each."""

    blocks: tuple[int, ...]
    words: tuple[int, ...] = ()
    triples: tuple[int, ...] = ()


def said_of(url: str, text: str, objects: Iterable[str]) -> Said:
    """What the page at `url` says. `text` has a line for each text node, `objects` are URLs of what it shows.

    Sentences end with a line, or with one of ". ! ? ;". Short pieces count only together, and only on a page without a
    longer one. Queries of `objects` are ignored: web beacons have a new one on each page.
    """
    text = _without_echo(text, url)
    pieces = [piece.strip() for piece in text.encode("utf-8", "replace").translate(_ENDS, _NUMBERS).split(b"\n")]
    long = [piece for piece in pieces if len(piece) >= MIN_BLOCK]
    if not long and (short := b"\n".join(filter(None, pieces))):
        long = [short]
    blocks = set(map(crc32, long))
    paths = {each.partition("?")[0].encode("utf-8", "replace") for each in objects}
    shown = sorted(crc32(b"object " + path) for path in paths)[:MAX_OBJECTS]
    has_words = crc32(url.encode()) % PAGES_PER_WORDS == 0
    words, triples = _words(text) if has_words else ((), ())
    return Said((*sorted(blocks)[:MAX_BLOCKS], *shown), words, triples)


def said_of_unread(url: str) -> Said:
    """A file that is not HTML says something of its own: its content is not compared."""
    return Said((crc32(b"file " + url.encode()),))


def _words(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The smallest hashes of words, and of three words in a row."""
    words = [crc32(word.encode("utf-8", "replace")) for word in _WORD.findall(text[:WORDS_READ].lower())]
    in_a_row = {
        first * 3 ^ second * 5 ^ third * 7 for first, second, third in zip(words, words[1:], words[2:], strict=False)
    }
    triples = sorted(crc32(each.to_bytes(8, "big")) for each in in_a_row)
    return tuple(sorted(set(words))[:MAX_WORDS]), tuple(triples[:MAX_TRIPLES])


def _without_echo(text: str, url: str) -> str:
    """Whole words only: "/art" must not change "article"."""
    for part in _parts(url):
        if part in text:
            text = _without(text, part)
    return text


def _without(text: str, part: str) -> str:
    kept, begin, at = list[str](), 0, text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            kept.append(text[begin:at])
            begin = end
        at = text.find(part, end)
    return "".join([*kept, text[begin:]])


def _parts(url: str) -> Collection[str]:
    """The URL, its path and query, and what they are made of, the longest first."""
    behind = url[url.index("/", 8) :]
    found = {url, behind, behind.partition("?")[0], *_SEPARATOR.split(behind)}
    if "%" in url:
        found |= set(map(unquote, found))
    return sorted((part for part in found if len(part) >= MIN_ECHO), key=len, reverse=True)
