"""Pages that are slow, large or deep."""

from __future__ import annotations

from django.db.models import Q

from crawler.reports.catalogue.page_queries import IS_HTML
from crawler.reports.catalogue.report import ReportGroup, page_report

SLOW_FIRST_BYTE_MS = 800  # the limit of "good" in https://web.dev/articles/ttfb
SLOW_MS = 2000
LARGE_BYTES = 500_000  # of HTML as transferred; a fast phone needs a second for it
DEEP_LINKS = 4  # from a start page

IS_LATE = Q(reused=False, facts__first_byte_ms__gte=SLOW_FIRST_BYTE_MS)
IS_SLOW = Q(reused=False, http_status__isnull=False, elapsed_ms__gte=SLOW_MS)
IS_LARGE = IS_HTML & Q(bytes__gte=LARGE_BYTES)
IS_DEEP = IS_HTML & Q(depth__gt=DEEP_LINKS)

SLOW_FIRST_BYTE = page_report(
    IS_LATE,
    ("url", "first_byte_ms", "elapsed_ms", "bytes"),
    largest="first_byte_ms",
    slug="slow-first-byte",
    title="Slow to respond",
    group=ReportGroup.WEIGHT,
    about=f"Pages whose first byte took {SLOW_FIRST_BYTE_MS} ms or more, seen from where the crawl ran.",
    remedy="The server takes this time: look for slow queries, cache results, and serve from nearby. "
    "A crawl is a load of its own; with fewer connections you see whether that was it.",
    praise=f"Every page began to respond within {SLOW_FIRST_BYTE_MS} ms.",
)
SLOW_PAGES = page_report(
    IS_SLOW,
    ("url", "first_byte_ms", "elapsed_ms", "bytes"),
    largest="elapsed_ms",
    slug="slow-pages",
    title="Slow pages",
    group=ReportGroup.WEIGHT,
    about=f"Pages whose whole response took {SLOW_MS // 1000} seconds or more.",
    remedy="Beside the time to the first byte it is the size that counts: compress, and send less.",
    praise=f"Every page loaded within {SLOW_MS // 1000} seconds.",
)
LARGE_PAGES = page_report(
    IS_LARGE,
    ("url", "bytes", "words", "title"),
    largest="bytes",
    slug="large-pages",
    title="Large pages",
    group=ReportGroup.WEIGHT,
    about=f"HTML pages of {LARGE_BYTES // 1000} kB or more as they were sent, without pictures and the like.",
    remedy="Split long lists into pages, remove repeated inline content, and compress.",
    praise=f"Every page is smaller than {LARGE_BYTES // 1000} kB.",
)
DEEP_PAGES = page_report(
    IS_DEEP,
    ("url", "depth", "title"),
    largest="depth",
    slug="deep-pages",
    title="Deep pages",
    group=ReportGroup.WEIGHT,
    about=f"Pages that are more than {DEEP_LINKS} clicks away from the start URL.",
    remedy="Link to those that matter from pages nearer to the start: readers and search engines come less often to "
    "what lies deep.",
    praise=f"Every page can be reached by {DEEP_LINKS} links.",
)
