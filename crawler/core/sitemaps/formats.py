"""The formats of sitemaps (XML, feeds, plain text), their entries, and what these add to a crawl."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from xml.parsers import expat

import msgspec
from msgspec.structs import replace

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import Discovery, Place
from crawler.core.protocol.messages import SITEMAP, PageResult, SitemapEntry
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.core.urls.normalise import host_of, normalise, origin_of

# One entry of a sitemap, as written.


class EntryTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of one entry, stripped; None if missing."""

    loc: str | None = None
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    alternate: tuple[str, ...] = ()  # the same page in other languages
    is_sitemap: bool = False


# The locations of a site's sitemaps.

DEFAULT_PATH = "/sitemap.xml"


def default_places(start_urls: Iterable[str]) -> tuple[str, ...]:
    """/sitemap.xml at the origin of each of these normalised URLs, each once."""
    return tuple(dict.fromkeys(origin_of(url) + DEFAULT_PATH for url in start_urls))


def named_in_robots(references: Iterable[str], origin: str) -> tuple[str, ...]:
    """The normalised URLs of an origin's sitemap lines. They should be whole (RFC 9309, 2.2.4); relative ones are
    resolved."""
    urls = (normalise(reference, f"{origin}/") for reference in references)
    return tuple(dict.fromkeys(url for url in urls if url is not None))


# What sitemaps add to a crawl: pages, and further sitemaps. All sitemaps have depth 0, so that they are read before the
# first link is followed; their pages have depth 1, like links of a start page.

MAX_STEPS = 5  # indexes and redirects in a row before a sitemap; the protocol allows one index
FIRST = 10  # the priority of sitemaps, because their metadata of pages is needed early


def sitemap_at(url: str, parent_id: int | None = None, steps: int = 0) -> Discovery:
    """A sitemap to read."""
    if steps <= MAX_STEPS:
        return Discovery(url, 0, steps, parent_id, kind=SITEMAP, priority=FIRST)
    return Discovery(url, 0, steps, parent_id, Outcome.LIMIT, kind=SITEMAP, priority=FIRST)


def named_by_robots(results: Iterable[PageResult], scope: Scope) -> Iterator[Discovery]:
    """The sitemaps of robots.txt files, which are reported with the results of pages."""
    for result in results:
        yield from (sitemap_at(url) for url in result.sitemaps if _may_be_read(url, scope))


def followed(result: PageResult, place: Place, scope: Scope) -> Iterator[Discovery]:
    """The pages and sitemaps of one sitemap."""
    if place.kind != SITEMAP:
        return
    if result.redirect_to:
        yield from _further(result.redirect_to, result, place, scope)
    for entry in result.entries:
        if entry.is_sitemap:
            yield from _further(entry.url, result, place, scope)
        elif scope.holds(url := scope.tidied(entry.url)):
            yield _page_at(url, entry, result.id)


def _further(url: str, result: PageResult, place: Place, scope: Scope) -> Iterator[Discovery]:
    """A sitemap in an index: on a host of the site, or on that of the index, which a user named."""
    if _may_be_read(url, scope, beside=place.url):
        yield sitemap_at(url, result.id, place.hops + 1)


def _may_be_read(url: str, scope: Scope, beside: str = "") -> bool:
    """A sitemap of the site that is not excluded. Include patterns and path prefixes apply to pages only."""
    is_near = scope.is_on_site(url) or (beside and host_of(url) == host_of(beside))
    return bool(is_near) and scope.side(url) is not Side.NOWHERE


def _page_at(url: str, entry: SitemapEntry, parent_id: int) -> Discovery:
    return Discovery(
        url,
        1,
        0,
        parent_id,
        priority=entry.priority,
        linked=False,
        in_sitemap=True,
        lastmod=entry.lastmod,
    )


def initial_sitemaps(start_urls: Sequence[str], options: CrawlOptions) -> list[Discovery]:
    """The first sitemaps of a crawl of these normalised URLs. Those in robots.txt are added when it is read."""
    usual = default_places(start_urls) if options.sitemaps else ()
    return [sitemap_at(url) for url in dict.fromkeys((*usual, *options.sitemap_urls))]


class SitemapFault(StrEnum):
    """Why the reading of a file ends early, or why it is no sitemap."""

    TOO_LARGE = "too_large"
    DAMAGED = "damaged"  # its gzip data; with what is wrong with it
    EMPTY = "empty"
    HTML = "html"
    NO_LIST = "no_list"  # neither XML nor a list of URLs
    ENTRIES = "entries"  # too many
    CHARACTERS = "characters"  # too many in its URLs
    NOT_WELL_FORMED = "not_well_formed"  # the XML; with the line and expat's message
    ENCODING = "encoding"  # of the XML
    MARKUP = "markup"  # one tag, comment or declaration is too large
    PROLOGUE = "prologue"  # too large
    NAMES = "names"  # too many
    LEVELS = "levels"  # too many
    ROOT = "root"  # of no known format; with its name
    ENTITY = "entity"  # declared; with its name
    ATTRIBUTES = "attributes"  # declared


class SitemapProblem(NamedTuple):
    """The fault of one file."""

    fault: SitemapFault
    detail: str = ""


class Break(Exception):
    """Reading ends here. Entries before it count."""

    def __init__(self, fault: SitemapFault, detail: str = "") -> None:
        super().__init__(fault, detail)
        self.problem = SitemapProblem(fault, detail)


class NotASitemap(Break):
    """The file is no sitemap."""


# A sitemap in plain text: one URL per line, in UTF-8 or the encoding of its byte order mark.

MAX_EXAMPLES = 3  # of lines that are no URL
_LINE_END = re.compile(r"\r\n|\r|\n")
_MAX_LINE = 64 * 1024  # characters of an incomplete line; a URL is far shorter
_ADDRESS = re.compile(r"https?:", re.IGNORECASE)


class TextReader:
    """Reads the text in pieces. Lines that do not begin like a URL are skipped."""

    form = "text"

    def __init__(self, head: bytes) -> None:
        utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        self._decoder = codecs.getincrementaldecoder("utf-16" if utf16 else "utf-8")(errors="replace")
        self._rest = ""
        self.skipped = 0  # lines that are neither empty nor a URL
        self.examples: list[str] = []  # the first of them

    def feed(self, piece: bytes) -> Iterator[EntryTexts]:
        *whole, self._rest = _LINE_END.split(self._rest + self._decoder.decode(piece))
        if len(self._rest) > _MAX_LINE:
            self._rest = self._rest[:_MAX_LINE]
        return self._listed(whole)

    def close(self) -> Iterator[EntryTexts]:
        return self._listed([self._rest + self._decoder.decode(b"", final=True)])

    def _listed(self, lines: list[str]) -> Iterator[EntryTexts]:
        for line in map(str.strip, lines):
            if _ADDRESS.match(line):
                yield EntryTexts(loc=line)
            elif line:
                self.skipped += 1
                if self.skipped <= MAX_EXAMPLES:
                    self.examples.append(line)


# Sitemaps in XML, and feeds (RSS 2.0, RSS 1.0, Atom), read by expat in pieces.
#
# No external resource is requested and no entity is expanded: a file that declares entities or attributes is not read,
# and a reference to an external entity is skipped. Depth, the length of one token and the text before the root are
# limited, and so are time and memory.

MAX_LEVELS = 64  # nested elements
MAX_NAMES = 1000  # of elements and attributes: expat keeps each to the end
MAX_TOKEN = 1024 * 1024  # bytes of one tag, comment or declaration, and of everything before the root
MAX_NAME = 40  # characters of a name that is told
MAX_TEXT = 8192  # characters kept of one text; a URL is shorter

Attributes = Mapping[str, str]
_TEXT_CHILDREN = frozenset(
    (
        *("loc", "lastmod", "changefreq", "priority", "link", "guid", "pubdate", "dc:date"),
        *("updated", "published", "modified", "issued"),
    )
)  # children of an entry whose text is kept, in all formats


@dataclass(slots=True)
class _Draft:
    """An entry while it is parsed."""

    attributes: Attributes
    texts: dict[str, str] = field(default_factory=dict)  # child -> its text; the first that is not empty counts
    links: list[Attributes] = field(default_factory=list)  # children named "link" with a href

    def first(self, *names: str) -> str | None:
        """The text of the first of these children that exists."""
        return next((self.texts[name] for name in names if name in self.texts), None)


class _Shape(msgspec.Struct, frozen=True):
    """The place of the entries in a format."""

    path: tuple[str, ...]  # element names from below the root down to an entry
    listed: Callable[[_Draft], EntryTexts]


def _of_sitemap(draft: _Draft) -> EntryTexts:
    alternate = (link["href"] for link in draft.links if link.get("rel", "alternate") == "alternate")
    return EntryTexts(
        loc=draft.first("loc"),
        lastmod=draft.first("lastmod"),
        changefreq=draft.first("changefreq"),
        priority=draft.first("priority"),
        alternate=tuple(alternate),
    )


def _of_index(draft: _Draft) -> EntryTexts:
    return replace(_of_sitemap(draft), is_sitemap=True)


def _of_rss(draft: _Draft) -> EntryTexts:
    """RSS 2.0: the URL of an item without a link is its guid, if that is a URL."""
    guid = draft.first("guid") or ""
    loc = draft.first("link") or (guid if guid.startswith(("http://", "https://")) else None)
    return EntryTexts(loc=loc, lastmod=draft.first("pubdate", "dc:date"))


def _of_rdf(draft: _Draft) -> EntryTexts:
    """RSS 1.0."""
    return EntryTexts(loc=draft.first("link") or draft.attributes.get("rdf:about"), lastmod=draft.first("dc:date"))


def _of_atom(draft: _Draft) -> EntryTexts:
    """RFC 4287, 4.2.7.2: a link without a rel is the entry's own page."""
    own = (link["href"] for link in draft.links if link.get("rel", "alternate") == "alternate")
    return EntryTexts(loc=next(own, None), lastmod=draft.first("updated", "published", "modified", "issued"))


_SHAPES = {
    "urlset": _Shape(("url",), _of_sitemap),
    "sitemapindex": _Shape(("sitemap",), _of_index),
    "rss": _Shape(("channel", "item"), _of_rss),
    "rdf": _Shape(("item",), _of_rdf),
    "feed": _Shape(("entry",), _of_atom),
}


class Markup:
    """Reads the markup in pieces. Prefixes matter only below an entry, to distinguish its own children."""

    def __init__(self) -> None:
        self.form = ""  # the root's name, once it is known
        self._names: set[str] = set()
        self._path: list[str] = []  # names of the open elements, without prefixes
        self._shape: _Shape | None = None
        self._draft: _Draft | None = None
        self._prefix = ""  # of the current entry: "sm:" in <sm:url>
        self._text: list[str] = []  # of the current child
        self._room = 0  # characters left for it; 0 between two children
        self._done: list[EntryTexts] = []
        self._fed = 0
        self._parser = self._new_parser()

    def feed(self, piece: bytes) -> Iterator[EntryTexts]:
        """The entries that this piece completes; Break when reading must end."""
        reason = self._parse(piece, final=False) or self._oversized(len(piece))
        yield from self._taken()
        if reason:
            raise reason

    def close(self) -> Iterator[EntryTexts]:
        """The entries that the end of the file completes."""
        reason = self._parse(b"", final=True)
        yield from self._taken()
        if reason:
            raise reason

    def _taken(self) -> list[EntryTexts]:
        done, self._done = self._done, []
        return done

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = _refuse_entity
        parser.AttlistDeclHandler = _refuse_attributes
        return parser

    def _parse(self, piece: bytes, *, final: bool) -> Break | None:
        """Why reading must end, if so; the entries before are in `_done`."""
        try:
            self._parser.Parse(piece, final)
        except Break as reason:
            return reason
        except expat.ExpatError as error:
            return self._broken(SitemapFault.NOT_WELL_FORMED, f"{error.lineno}: {expat.ErrorString(error.code)}")
        except (LookupError, ValueError):  # pyexpat, for unknown or multi-byte encodings
            return self._broken(SitemapFault.ENCODING)
        return None

    def _oversized(self, fed: int) -> Break | None:
        """Expat parses an incomplete token again at each piece: its time grows with the square of its length."""
        self._fed += fed
        if self._fed - self._parser.CurrentByteIndex > MAX_TOKEN + fed:
            return Break(SitemapFault.MARKUP)
        return None if self.form or self._fed <= MAX_TOKEN else NotASitemap(SitemapFault.PROLOGUE)

    def _broken(self, fault: SitemapFault, detail: str = "") -> Break:
        return Break(fault, detail) if self.form else NotASitemap(fault, detail)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._names.update((name, *attributes))
        if len(self._names) > MAX_NAMES:
            raise Break(SitemapFault.NAMES)
        prefix, _, local = name.lower().rpartition(":")
        self._path.append(local)
        level = len(self._path)
        if level > MAX_LEVELS:
            raise Break(SitemapFault.LEVELS)
        if self._shape is None:
            self._begin_root(local)
        elif level == len(self._shape.path) + 1 and tuple(self._path[1:]) == self._shape.path:
            self._draft, self._prefix = _Draft(attributes), prefix + ":" if prefix else ""
        elif self._draft is not None and level == len(self._shape.path) + 2:
            self._text, self._room = [], MAX_TEXT
            if local == "link" and "href" in attributes:
                self._draft.links.append(attributes)

    def _begin_root(self, name: str) -> None:
        if name == "html":
            raise NotASitemap(SitemapFault.HTML)
        self._shape = _SHAPES.get(name)
        self.form = name
        if self._shape is None:
            raise NotASitemap(SitemapFault.ROOT, name[:MAX_NAME])

    def _end(self, name: str) -> None:
        level = len(self._path)
        self._path.pop()
        if self._draft is None or self._shape is None:
            return
        if level == len(self._shape.path) + 2:
            self._end_child(name)
        elif level == len(self._shape.path) + 1:
            self._done.append(self._shape.listed(self._draft))
            self._draft = None

    def _end_child(self, name: str) -> None:
        child = name.lower().removeprefix(self._prefix)
        text = "".join(self._text).strip()
        self._room = 0
        if self._draft is not None and child in _TEXT_CHILDREN and not self._draft.texts.get(child):
            self._draft.texts[child] = text

    def _characters(self, text: str) -> None:
        if self._room and self._shape is not None and len(self._path) == len(self._shape.path) + 2:
            self._text.append(text[: self._room])
            self._room -= min(len(text), self._room)


def _refuse_entity(name: str, parameter: bool, value: str | None, *_: object) -> None:
    """For an external one (no value) expat skips the reference by itself."""
    if value is not None:
        raise NotASitemap(SitemapFault.ENTITY, name[:MAX_NAME])


def _refuse_attributes(*_: object) -> None:
    """Their defaults would be added to every tag: a short file could cause much work."""
    raise NotASitemap(SitemapFault.ATTRIBUTES)
