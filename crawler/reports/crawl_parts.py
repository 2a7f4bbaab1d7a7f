"""What capabilities show of a crawl besides its receipt: a section of its page, and metrics of all crawls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import msgspec

from crawler import registry
from crawler.models import Crawl

Row = dict[str, str]
"""The text of each cell of a line."""


class CrawlMetric(msgspec.Struct, frozen=True):
    """Numbers of all stored crawls, for Prometheus."""

    name: str
    about: str
    labels: tuple[str, ...]
    read: Callable[[], Mapping[tuple[str, ...], int]]
    """The values of the labels -> number. Raises the errors of the database."""


class CrawlPart(msgspec.Struct, frozen=True, kw_only=True):
    """A section of a crawl's page, shown while it has lines."""

    name: str  # of its lines in the status of the crawl
    title: str
    rows: Callable[[Crawl], list[Row]]
    template: str  # of one line
    is_at_work: Callable[[Crawl], bool] = lambda crawl: False  # its lines may still change after the end
    metrics: tuple[CrawlMetric, ...] = ()


@cache
def crawl_parts() -> tuple[CrawlPart, ...]:
    return registry.entries("crawl_parts", CrawlPart)


def rows_of(crawl: Crawl) -> dict[str, list[Row]]:
    return {part.name: part.rows(crawl) for part in crawl_parts()}


def is_any_at_work(crawl: Crawl) -> bool:
    return any(part.is_at_work(crawl) for part in crawl_parts())


def read_metrics() -> dict[CrawlMetric, Mapping[tuple[str, ...], int]]:
    return {metric: metric.read() for part in crawl_parts() for metric in part.metrics}
