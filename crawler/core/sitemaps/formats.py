"""The formats of sitemaps (XML, feeds, plain text), their entries, and what these add to a crawl."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from xml.parsers import expat

from crawler.core.crawl.discovery import Discovery, Place
from crawler.core.crawl.messages import SITEMAP, USUAL_PRIORITY, PageResult, SitemapEntry
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome
from crawler.core.urls.crawl_scope import Scope, Side
from crawler.core.urls.normalise import host_of, normalise, origin_of

# One entry of a sitemap, as it is written there.


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The texts of one entry, stripped; None where the file does not say."""

    loc: str | None = None
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    alternate: tuple[str, ...] = ()  # the same page in other languages
    is_sitemap: bool = False


# Where a site's sitemaps are looked for.

USUAL = "/sitemap.xml"


def usual_places(start_urls: Iterable[str]) -> tuple[str, ...]:
    """/sitemap.xml at the origin of each of these normalised URLs, each once."""
    return tuple(dict.fromkeys(origin_of(url) + USUAL for url in start_urls))


def named_in_robots(references: Iterable[str], origin: str) -> tuple[str, ...]:
    """The normalised URLs of an origin's sitemap lines. They should be whole (RFC 9309, 2.2.4); relative ones are
    taken for what is meant."""
    urls = (normalise(reference, f"{origin}/") for reference in references)
    return tuple(dict.fromkeys(url for url in urls if url is not None))


# What sitemaps add to a crawl: pages, and further sitemaps.
#
# All sitemaps stand at depth 0, so that with a depth limit they are read before the first link is followed; the pages
# they name stand at depth 1, like links of a start page.

MAX_STEPS = 5  # indexes and redirects in a row that lead to a sitemap; the protocol knows of one index
FIRST = 10  # the priority of sitemaps: what they say of pages is best known early


def sitemap_at(url: str, parent_id: int | None = None, steps: int = 0) -> Discovery:
    """A sitemap to be read."""
    if steps <= MAX_STEPS:
        return Discovery(url, 0, steps, parent_id, kind=SITEMAP, priority=FIRST)
    error = f"more than {MAX_STEPS} indexes and redirects in a row lead to this sitemap"
    return Discovery(url, 0, steps, parent_id, Outcome.LIMIT, error, kind=SITEMAP, priority=FIRST)


def named_by_robots(results: Iterable[PageResult], scope: Scope) -> Iterator[Discovery]:
    """The sitemaps that robots.txt files name, told beside the results of pages whatever became of these."""
    for result in results:
        yield from (sitemap_at(url) for url in result.sitemaps if _may_be_read(url, scope))


def followed(result: PageResult, place: Place, scope: Scope) -> Iterator[Discovery]:
    """What one sitemap leads to."""
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
    """A sitemap that another leads to. It may lie on the other's host, whatever that is: a person named the first."""
    if _may_be_read(url, scope, beside=place.url):
        yield sitemap_at(url, result.id, place.hops + 1)


def _may_be_read(url: str, scope: Scope, beside: str = "") -> bool:
    """A sitemap of the site that is not excluded. Include patterns and path prefixes are about pages."""
    is_near = scope.is_on_site(url) or (beside and host_of(url) == host_of(beside))
    return bool(is_near) and scope.side(url) is not Side.NOWHERE


def _page_at(url: str, entry: SitemapEntry, parent_id: int) -> Discovery:
    return Discovery(
        url,
        1,
        0,
        parent_id,
        priority=USUAL_PRIORITY if entry.priority is None else entry.priority,
        linked=False,
        in_sitemap=True,
        lastmod=entry.lastmod,
    )


def to_begin_with(start_urls: Sequence[str], options: CrawlOptions) -> list[Discovery]:
    """The sitemaps a crawl over these normalised URLs begins with. Those of robots.txt come when it is read."""
    usual = usual_places(start_urls) if options.sitemaps else ()
    return [sitemap_at(url) for url in dict.fromkeys((*usual, *options.sitemap_urls))]


class Break(Exception):
    """Reading ends here, and the message says why. What was read before counts."""


class NotASitemap(Break):
    """The file is something else altogether."""


# A sitemap in plain text: one URL a line, in UTF-8 unless a byte order mark says otherwise.

MAX_EXAMPLES = 3  # of what is no address are named
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST = 64 * 1024  # characters of a line that is still waited for; a URL is far shorter
_ADDRESS = re.compile(r"https?:", re.IGNORECASE)


class Lines:
    """Reads the text as it comes. What does not begin like a web address is passed over."""

    form = "text"

    def __init__(self, head: bytes) -> None:
        utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        self._decoder = codecs.getincrementaldecoder("utf-16" if utf16 else "utf-8")(errors="replace")
        self._rest = ""
        self.passed_over = 0  # lines that are neither empty nor an address
        self.examples: list[str] = []  # the first of them

    def feed(self, piece: bytes) -> Iterator[Listed]:
        *whole, self._rest = _LINE_END.split(self._rest + self._decoder.decode(piece))
        if len(self._rest) > _LONGEST:
            self._rest = self._rest[:_LONGEST]
        return self._listed(whole)

    def close(self) -> Iterator[Listed]:
        return self._listed([self._rest + self._decoder.decode(b"", final=True)])

    def _listed(self, lines: list[str]) -> Iterator[Listed]:
        for line in map(str.strip, lines):
            if _ADDRESS.match(line):
                yield Listed(loc=line)
            elif line:
                self.passed_over += 1
                if self.passed_over <= MAX_EXAMPLES:
                    self.examples.append(line)


# Sitemaps in XML, and the feeds that may serve as one (RSS 2.0, RSS 1.0, Atom), read by expat as they come.
#
# Nothing outside the file is ever asked for, and no entity is put in: a file that declares entities of its own is not
# read, nor is one that declares attributes; a reference to an outside entity is left out. Depth, the length of one
# piece of markup and what may stand before the root are bounded, so that time and memory are too.

MAX_LEVELS = 64  # elements in one another
MAX_NAMES = 1000  # of elements and attributes: expat remembers each to the end
MAX_TOKEN = 1024 * 1024  # bytes of one tag, comment or declaration, and of all that stands before the root
MAX_TEXT = 8192  # characters kept of one text; a URL is shorter

Attributes = Mapping[str, str]
_TOLD = frozenset(
    (
        *("loc", "lastmod", "changefreq", "priority", "link", "guid", "pubdate", "dc:date"),
        *("updated", "published", "modified", "issued"),
    )
)  # children of an entry whose text is kept, whatever shape it has


@dataclass(slots=True)
class _Draft:
    """An entry while it is being read."""

    attributes: Attributes
    texts: dict[str, str] = field(default_factory=dict)  # child -> its text; the first that is not empty counts
    links: list[Attributes] = field(default_factory=list)  # children called "link" that have a href

    def first(self, *names: str) -> str | None:
        """The text of the first of these children that is there."""
        return next((self.texts[name] for name in names if name in self.texts), None)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where a kind of file keeps its entries."""

    path: tuple[str, ...]  # element names from below the root down to an entry
    listed: Callable[[_Draft], Listed]


def _of_sitemap(draft: _Draft) -> Listed:
    alternate = (link["href"] for link in draft.links if link.get("rel", "alternate") == "alternate")
    return Listed(
        loc=draft.first("loc"),
        lastmod=draft.first("lastmod"),
        changefreq=draft.first("changefreq"),
        priority=draft.first("priority"),
        alternate=tuple(alternate),
    )


def _of_index(draft: _Draft) -> Listed:
    return replace(_of_sitemap(draft), is_sitemap=True)


def _of_rss(draft: _Draft) -> Listed:
    """RSS 2.0: an item without a link is found by its guid, if that is one."""
    guid = draft.first("guid") or ""
    loc = draft.first("link") or (guid if guid.startswith(("http://", "https://")) else None)
    return Listed(loc=loc, lastmod=draft.first("pubdate", "dc:date"))


def _of_rdf(draft: _Draft) -> Listed:
    """RSS 1.0."""
    return Listed(loc=draft.first("link") or draft.attributes.get("rdf:about"), lastmod=draft.first("dc:date"))


def _of_atom(draft: _Draft) -> Listed:
    """RFC 4287, 4.2.7.2: a link without a rel is the entry's own page."""
    own = (link["href"] for link in draft.links if link.get("rel", "alternate") == "alternate")
    return Listed(loc=next(own, None), lastmod=draft.first("updated", "published", "modified", "issued"))


_SHAPES = {
    "urlset": _Shape(("url",), _of_sitemap),
    "sitemapindex": _Shape(("sitemap",), _of_index),
    "rss": _Shape(("channel", "item"), _of_rss),
    "rdf": _Shape(("item",), _of_rdf),
    "feed": _Shape(("entry",), _of_atom),
}


class Markup:
    """Reads the markup as it comes. Prefixes matter only below an entry, to tell its own children from others."""

    def __init__(self) -> None:
        self.form = ""  # the root's name, once it is known
        self._names: set[str] = set()
        self._path: list[str] = []  # names of the open elements, without prefixes
        self._shape: _Shape | None = None
        self._draft: _Draft | None = None
        self._prefix = ""  # of the entry at hand: "sm:" in <sm:url>
        self._text: list[str] = []  # of the child at hand
        self._room = 0  # characters it may still have; 0 between two children
        self._done: list[Listed] = []
        self._fed = 0
        self._parser = self._new_parser()

    def feed(self, piece: bytes) -> Iterator[Listed]:
        """The entries that this piece completes; Break when it cannot be read on."""
        reason = self._parse(piece, final=False) or self._oversized(len(piece))
        yield from self._taken()
        if reason:
            raise reason

    def close(self) -> Iterator[Listed]:
        """What the end of the file completes."""
        reason = self._parse(b"", final=True)
        yield from self._taken()
        if reason:
            raise reason

    def _taken(self) -> list[Listed]:
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
        """Why it cannot be read on, if so; what was read is in `_done` all the same."""
        try:
            self._parser.Parse(piece, final)
        except Break as reason:
            return reason
        except expat.ExpatError as error:
            return self._broken(f"breaks off at line {error.lineno}: {expat.ErrorString(error.code)}")
        except (LookupError, ValueError):  # pyexpat, of encodings it does not know or that need several bytes
            return self._broken("is in an encoding that cannot be read")
        return None

    def _oversized(self, fed: int) -> Break | None:
        """Expat begins a piece of markup anew each time it is fed: the time for one grows with its length squared."""
        self._fed += fed
        if self._fed - self._parser.CurrentByteIndex > MAX_TOKEN + fed:
            return Break("a tag, comment or declaration of the XML is larger than 1 MB")
        return None if self.form or self._fed <= MAX_TOKEN else NotASitemap("its first megabyte holds no element")

    def _broken(self, how: str) -> Break:
        return Break(f"the XML {how}") if self.form else NotASitemap(f"this is not a sitemap: as XML it {how}")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._names.update((name, *attributes))
        if len(self._names) > MAX_NAMES:
            raise Break(f"it has more than {MAX_NAMES:,} names of elements and attributes")
        prefix, _, local = name.lower().rpartition(":")
        self._path.append(local)
        level = len(self._path)
        if level > MAX_LEVELS:
            raise Break(f"its elements lie more than {MAX_LEVELS} levels deep")
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
            raise NotASitemap("this is an HTML page, not a sitemap")
        self._shape = _SHAPES.get(name)
        self.form = name
        if self._shape is None:
            raise NotASitemap(f"its root element is <{name[:40]}>, which is that of no sitemap and no feed")

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
        if self._draft is not None and child in _TOLD and not self._draft.texts.get(child):
            self._draft.texts[child] = text

    def _characters(self, text: str) -> None:
        if self._room and self._shape is not None and len(self._path) == len(self._shape.path) + 2:
            self._text.append(text[: self._room])
            self._room -= min(len(text), self._room)


def _refuse_entity(name: str, parameter: bool, value: str | None, *_: object) -> None:
    """Of one that lies outside (no value) only the reference is left out, by expat itself."""
    if value is not None:
        raise NotASitemap(f"it declares an entity of its own ({name[:40]}), which is never read")


def _refuse_attributes(*_: object) -> None:
    """Their defaults would be added to every tag: a short file can mean a great deal of work."""
    raise NotASitemap("it declares attributes of its own, which no sitemap needs")
