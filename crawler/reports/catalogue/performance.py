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
    about=f"Pages whose first byte took {SLOW_FIRST_BYTE_MS} ms or more, measured where the crawl ran.",
    remedy="Look for slow queries, cache pages, and serve from near the readers. A crawl with fewer connections "
    "shows whether the crawl itself was the cause.",
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
    remedy="Compress responses, and send less.",
    praise=f"Every page loaded within {SLOW_MS // 1000} seconds.",
)
LARGE_PAGES = page_report(
    IS_LARGE,
    ("url", "bytes", "words", "title"),
    largest="bytes",
    slug="large-pages",
    title="Large pages",
    group=ReportGroup.WEIGHT,
    about=f"HTML pages of {LARGE_BYTES // 1000} kB or more as transferred, without images and scripts.",
    remedy="Split long lists into pages, remove repeated markup, and compress.",
    praise=f"Every page is smaller than {LARGE_BYTES // 1000} kB.",
)
DEEP_PAGES = page_report(
    IS_DEEP,
    ("url", "depth", "title"),
    largest="depth",
    slug="deep-pages",
    title="Deep pages",
    group=ReportGroup.WEIGHT,
    about=f"Pages more than {DEEP_LINKS} links away from the start.",
    remedy="Link to the important ones from nearer pages: readers and search engines rarely reach deep pages.",
    praise=f"Every page is within {DEEP_LINKS} links of the start.",
)
