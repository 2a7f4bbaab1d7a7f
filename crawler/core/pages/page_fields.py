"""The fields of a page, each described once: exports, API, web table, sort keys and documentation derive from it.

It is in `core` because `reports` and `exports`, which do not import each other, and `page_query` all read it.
"""

from __future__ import annotations

from crawler import registry
from crawler.core.pages.page_field import (
    METADATA,
    ColumnPlace,
    Ordering,
    PageField,
    Sort,
    Unit,
    ValueType,
    in_order,
)

PARENT = "parent"  # its database column is `parent_id`; its value is the URL of that page

_KERNEL = (
    PageField(
        "url",
        "Page",
        "The normalised URL.",
        "https://example.com/docs/",
        ValueType.URL,
        ordering=Ordering(Sort.URL, "URL, A to Z", "URL, Z to A"),
    ),
    PageField(
        "status",
        "State",
        "0 = open: it has no outcome yet; 1 = closed.",
        1,
        ValueType.INTEGER,
    ),
    PageField(
        "outcome",
        "Outcome",
        "Its outcome: `2xx`, `3xx`, `4xx`, `5xx`, `timeout`, `robots` ...; null while it is open.",
        "2xx",
        empty_is_null=True,
    ),
    PageField(
        "http_status",
        "Status",
        "The HTTP status of the response; null without one.",
        200,
        ValueType.INTEGER,
        is_nullable=True,
        ordering=Ordering(Sort.STATUS, "Lowest status", "Highest status"),
    ),
    PageField(
        "content_type",
        "Content type",
        "The media type of the response.",
        "text/html",
        column=ColumnPlace(5, "type"),
    ),
    PageField(
        "title",
        "Title",
        "The text of the title element.",
        "Documentation",
        column=ColumnPlace(1, "title", is_default=True),
        ordering=Ordering(Sort.TITLE, "Title, A to Z", "Title, Z to A"),
    ),
    PageField(
        "depth",
        "Depth",
        "Links from the nearest start URL.",
        1,
        ValueType.INTEGER,
        column=ColumnPlace(2, "depth", is_default=True),
        ordering=Ordering(Sort.DEPTH, "Shallowest", "Deepest"),
    ),
    PageField(
        PARENT,
        "Found on",
        "The URL of the page it was first found on; null for a start URL.",
        "https://example.com/",
        ValueType.URL,
        empty_is_null=True,
    ),
    PageField(
        "redirect_to",
        "Redirects to",
        "The target of a 3xx response; null without one.",
        None,
        ValueType.URL,
        empty_is_null=True,
    ),
    PageField(
        "bytes",
        "Size",
        "The size of the body.",
        18_204,
        ValueType.INTEGER,
        Unit.BYTES,
        column=ColumnPlace(4, "size", is_default=True),
        ordering=Ordering(Sort.SIZE, "Smallest", "Largest"),
    ),
    PageField(
        "elapsed_ms",
        "Total time",
        "Milliseconds from the request to the end of the response.",
        41,
        ValueType.INTEGER,
        Unit.MILLISECONDS,
        column=ColumnPlace(3, "time", is_default=True),
        ordering=Ordering(Sort.TIME, "Fastest", "Slowest"),
    ),
    PageField(
        "attempts",
        "Attempts",
        "How often the page was requested.",
        1,
        ValueType.INTEGER,
        column=ColumnPlace(7, "attempts"),
    ),
    PageField(
        "fetched_at",
        "Fetched at",
        "When the response arrived, in UTC; null without one.",
        "2026-11-21T10:00:00.700Z",
        ValueType.DATETIME,
        is_nullable=True,
        column=ColumnPlace(8, "fetched"),
    ),
    PageField(
        "error",
        "Error",
        "The reason why it has no usable response.",
        "",
    ),
    PageField(
        "directives",
        "Directives",
        "The values of meta robots and X-Robots-Tag.",
        "",
        column=ColumnPlace(13, "directives"),
    ),
    PageField(
        "rel",
        "Rel of the first link",
        "The rel of the first link to it: `nofollow ugc sponsored`.",
        "",
    ),
    PageField(
        "not_followed",
        "Links not followed",
        "Number of links not followed because of nofollow.",
        0,
        ValueType.INTEGER,
    ),
    PageField(
        "reused",
        "From the cache",
        "Whether the response came from the cache, without a request.",
        False,
        ValueType.BOOLEAN,
    ),
    PageField(
        "kind",
        "Type",
        "`page`, `sitemap`, or `external` for a link to another site.",
        "page",
    ),
    PageField(
        "in_sitemap",
        "In a sitemap",
        "Whether a sitemap lists it.",
        False,
        ValueType.BOOLEAN,
        column=ColumnPlace(14, "sitemap"),
    ),
    PageField(
        "linked",
        "Linked from a page",
        "Whether a link leads to it, or it is a start URL; false if only a sitemap lists it.",
        True,
        ValueType.BOOLEAN,
    ),
    PageField(
        "lastmod",
        "Last modified, by the sitemap",
        "The date of the last change, from the sitemap.",
        "",
    ),
    PageField(
        "meta",
        "From the list",
        "The other values of its line in the list of URLs, without address, priority and times; null without any.",
        {"customer": "4711"},
        ValueType.JSON,
        is_nullable=True,
    ),
    PageField(
        "given_up",
        "Dead letter",
        "A dead letter: it failed, but another attempt might succeed.",
        False,
        ValueType.BOOLEAN,
        is_exported=False,
    ),
    PageField(
        "description",
        "Description",
        "The text of the meta description.",
        "How to use it.",
        table=METADATA,
        column=ColumnPlace(10, "description"),
    ),
    PageField(
        "h1",
        "Heading (h1)",
        "The text of the first h1.",
        "Documentation",
        table=METADATA,
        column=ColumnPlace(11, "h1"),
    ),
    PageField(
        "h1_count",
        "Headings (h1)",
        "Number of h1 elements; null when they were not counted.",
        1,
        ValueType.INTEGER,
        table=METADATA,
        is_nullable=True,
        is_exported=False,
    ),
    PageField(
        "canonical",
        "Canonical address",
        "The URL of link rel=canonical, normalised.",
        "https://example.com/docs/",
        ValueType.URL,
        table=METADATA,
        empty_is_null=True,
        column=ColumnPlace(12, "canonical"),
    ),
    PageField(
        "canonicals",
        "Canonical addresses",
        "Number of link rel=canonical elements.",
        1,
        ValueType.INTEGER,
        table=METADATA,
        is_exported=False,
    ),
    PageField(
        "words",
        "Words",
        "Number of words in the visible text; null when they were not counted.",
        412,
        ValueType.INTEGER,
        table=METADATA,
        is_nullable=True,
        column=ColumnPlace(9, "words"),
    ),
    PageField(
        "first_byte_ms",
        "Time to first byte",
        "Milliseconds from the request until the headers of the response arrived.",
        30,
        ValueType.INTEGER,
        Unit.MILLISECONDS,
        METADATA,
        column=ColumnPlace(6, "first-byte"),
    ),
    PageField(
        "certificate_error",
        "Certificate not verified",
        "The certificate error, in a crawl with `--ignore-tls-errors`; empty if the certificate was trusted or not "
        "needed.",
        "",
        table=METADATA,
    ),
)
PAGE_FIELDS = in_order(_KERNEL, registry.entries("page_fields", PageField))
"""In the order of the columns of an export: those of a page first, then its metadata, then those of capabilities."""

FIELDS = {field.name: field for field in PAGE_FIELDS}
EXPORTED = tuple(field for field in PAGE_FIELDS if field.is_exported)
SORTED_BY = {field.ordering.key: field for field in PAGE_FIELDS if field.ordering}


def fields_from(table: str) -> tuple[PageField, ...]:
    """The fields whose values are in one table."""
    return tuple(field for field in PAGE_FIELDS if field.table == table)


def label(name: str) -> str:
    """What readers call a field."""
    return FIELDS[name].label
