"""The fields of a page that say why a browser rendered it, and how it loaded there."""

from __future__ import annotations

from crawler.core.pages.page_field import ColumnPlace, PageField, Unit, ValueType

LOAD = "load"
"""The table `PageLoad`; only a page that a browser rendered has a row there."""

PAGE_FIELDS = (
    PageField(
        "rendering",
        "Rendered because",
        "Why a browser rendered it: `always`, or `noscript`, `root` or `empty` where its own HTML says next to "
        "nothing; empty if none did.",
        "root",
        column=ColumnPlace(15, "rendering"),
        kept_as="lane_reason",
        follows="reused",
    ),
    PageField(
        "lcp_ms",
        "Largest Contentful Paint",
        "Milliseconds until the largest text or image was shown in the browser; null when it was not rendered, or not "
        "measured.",
        812,
        ValueType.INTEGER,
        Unit.MILLISECONDS,
        LOAD,
        is_nullable=True,
    ),
    PageField(
        "cls",
        "Cumulative Layout Shift",
        "How much the page moved in the browser while it loaded, from 0; null when it was not rendered, or not "
        "measured.",
        0.02,
        ValueType.FLOAT,
        table=LOAD,
        is_nullable=True,
    ),
    PageField(
        "console_errors",
        "Console errors",
        "Errors on the browser's console; null when it was not rendered, as the numbers below.",
        0,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "failed_requests",
        "Failed requests",
        "Requests of the page in the browser without a response, or with a status of 400 and above.",
        0,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "blocked_requests",
        "Blocked requests",
        "Requests of the page in the browser that the crawler did not send.",
        4,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "resources",
        "Resources",
        "Requests of the page in the browser that were sent: scripts, style sheets, data ...; its document is not "
        "among them.",
        12,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "resource_bytes",
        "Size of the resources",
        "Their bytes as transferred; null when none is known.",
        184_220,
        ValueType.INTEGER,
        Unit.BYTES,
        LOAD,
        is_nullable=True,
    ),
)
