"""The fields of a page that say why a browser rendered it, and how it loaded there."""

from __future__ import annotations

from crawler.core.pages.page_field import ColumnPlace, PageField, Unit, ValueType

LOAD = "load"
"""The table `PageLoad`; only a page that a browser rendered has a row there."""

PAGE_FIELDS = (
    PageField(
        "rendering",
        "Rendered because",
        "Why a browser rendered it: `always`, or `noscript`, `root` or `empty` if its HTML is nearly empty; empty "
        "if it was not rendered.",
        "root",
        column=ColumnPlace(15, "rendering"),
        kept_as="lane_reason",
        follows="reused",
    ),
    PageField(
        "lcp_ms",
        "Largest Contentful Paint",
        "Milliseconds until the browser showed the largest text or image; null when the page was not rendered, or "
        "not measured.",
        812,
        ValueType.INTEGER,
        Unit.MILLISECONDS,
        LOAD,
        is_nullable=True,
    ),
    PageField(
        "cls",
        "Cumulative Layout Shift",
        "Layout movement while the browser loaded the page, from 0; null when the page was not rendered, or not "
        "measured.",
        0.02,
        ValueType.FLOAT,
        table=LOAD,
        is_nullable=True,
    ),
    PageField(
        "console_errors",
        "Console errors",
        "Number of errors on the browser's console; null when the page was not rendered, like the numbers below.",
        0,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "failed_requests",
        "Failed requests",
        "Requests of the rendered page without a response, or with a status of 400 or above.",
        0,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "blocked_requests",
        "Blocked requests",
        "Requests of the rendered page that the crawler blocked.",
        4,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "resources",
        "Resources",
        "Requests that the rendered page sent: scripts, style sheets, data ...; without its document.",
        12,
        ValueType.INTEGER,
        table=LOAD,
    ),
    PageField(
        "resource_bytes",
        "Size of the resources",
        "Their transferred bytes; null when unknown.",
        184_220,
        ValueType.INTEGER,
        Unit.BYTES,
        LOAD,
        is_nullable=True,
    ),
)
