"""Pages that are slow, large or deep."""

from __future__ import annotations

from django.db.models import Q

from crawler.models import Crawl
from crawler.reports.catalogue.page_queries import IS_HTML, site_pages
from crawler.reports.catalogue.report import Column, Group, Kind, Line, Report, Selected

SLOW_FIRST_BYTE_MS = 800  # what https://web.dev/articles/ttfb calls good ends here
SLOW_MS = 2000
LARGE_BYTES = 500_000  # of HTML, as it came over the wire; a fast phone takes a second for it
DEEP = 4  # links from a start page

IS_LATE = Q(reused=False, facts__first_byte_ms__gte=SLOW_FIRST_BYTE_MS)
IS_SLOW = Q(reused=False, http_status__isnull=False, elapsed_ms__gte=SLOW_MS)
IS_LARGE = IS_HTML & Q(bytes__gte=LARGE_BYTES)
IS_DEEP = IS_HTML & Q(depth__gt=DEEP)

_PAGE = Column("url", "Page", Kind.URL)
_FIRST_BYTE = Column("first_byte_ms", "First byte", Kind.MILLISECONDS)
_WHOLE = Column("elapsed_ms", "Whole answer", Kind.MILLISECONDS)
_BYTES = Column("bytes", "Size", Kind.BYTES)
_DEPTH = Column("depth", "Depth", Kind.NUMBER)
_TITLE = Column("title", "Title")


def _line(page: int, *cells: str | int | None) -> Line:
    return Line(cells, page)


def _late(crawl: Crawl) -> Selected:
    rows = site_pages(crawl).filter(IS_LATE)
    rows = rows.order_by("-facts__first_byte_ms", "id")
    return Selected(crawl, rows, ("url", "facts__first_byte_ms", "elapsed_ms", "bytes"), _line)


def _slow(crawl: Crawl) -> Selected:
    rows = site_pages(crawl).filter(IS_SLOW)
    rows = rows.order_by("-elapsed_ms", "id")
    return Selected(crawl, rows, ("url", "facts__first_byte_ms", "elapsed_ms", "bytes"), _line)


def _large(crawl: Crawl) -> Selected:
    rows = site_pages(crawl).filter(IS_LARGE).order_by("-bytes", "id")
    return Selected(crawl, rows, ("url", "bytes", "facts__words", "title"), _line)


def _deep(crawl: Crawl) -> Selected:
    rows = site_pages(crawl).filter(IS_DEEP).order_by("-depth", "id")
    return Selected(crawl, rows, ("url", "depth", "title"), _line)


SLOW_FIRST_BYTE = Report(
    slug="slow-first-byte",
    title="Slow to answer",
    group=Group.WEIGHT,
    about=f"Pages whose first byte took {SLOW_FIRST_BYTE_MS} ms or more, seen from where the crawl ran.",
    remedy="That is the server at work: look for slow queries, cache what is made anew each time, serve from near. "
    "A crawl is a load of its own; with fewer connections you see whether that was it.",
    praise=f"Every page began to answer within {SLOW_FIRST_BYTE_MS} ms.",
    columns=(_PAGE, _FIRST_BYTE, _WHOLE, _BYTES),
    which=IS_LATE,
    lines=_late,
)
SLOW_PAGES = Report(
    slug="slow-pages",
    title="Slow pages",
    group=Group.WEIGHT,
    about=f"Pages whose whole answer took {SLOW_MS // 1000} seconds or more.",
    remedy="Beside the time to the first byte it is the size that counts: compress, and send less.",
    praise=f"Every page was there within {SLOW_MS // 1000} seconds.",
    columns=(_PAGE, _FIRST_BYTE, _WHOLE, _BYTES),
    which=IS_SLOW,
    lines=_slow,
)
LARGE_PAGES = Report(
    slug="large-pages",
    title="Large pages",
    group=Group.WEIGHT,
    about=f"HTML pages of {LARGE_BYTES // 1000} kB or more as they were sent, without pictures and the like.",
    remedy="Split long lists into pages, take out what is written into the page again and again, and compress.",
    praise=f"Every page is smaller than {LARGE_BYTES // 1000} kB.",
    columns=(_PAGE, _BYTES, Column("words", "Words", Kind.NUMBER), _TITLE),
    which=IS_LARGE,
    lines=_large,
)
DEEP_PAGES = Report(
    slug="deep-pages",
    title="Deep pages",
    group=Group.WEIGHT,
    about=f"Pages that are more than {DEEP} links away from where the crawl began.",
    remedy="Link to those that matter from pages nearer to the start: readers and search engines come less often to "
    "what lies deep.",
    praise=f"Every page can be reached by {DEEP} links.",
    columns=(_PAGE, _DEPTH, _TITLE),
    which=IS_DEEP,
    lines=_deep,
)
