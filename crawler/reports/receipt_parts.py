"""What capabilities add to the receipt of a crawl."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from crawler import registry
from crawler.models import Crawl


class ReceiptPart(msgspec.Struct, frozen=True):
    """One key of the receipt."""

    key: str

    value: Callable[[Crawl], Any]
    """As plain JSON; None if the receipt of this crawl has none."""

    line: Callable[[Any], tuple[str, str]] | None = None  # value -> name and text, on the terminal and in mails
    row: Callable[[Any], tuple[str, str]] | None = None  # the same on the crawl's page
    is_setting: bool = False  # its line stands above the counts


@cache
def receipt_parts() -> tuple[ReceiptPart, ...]:
    return registry.entries("receipt_parts", ReceiptPart)


def values_of(crawl: Crawl) -> dict[str, Any]:
    """Key -> value."""
    values = {part.key: part.value(crawl) for part in receipt_parts()}
    return {key: value for key, value in values.items() if value is not None}


def lines_of(receipt: Mapping[str, Any], *, are_settings: bool) -> Iterator[tuple[str, str]]:
    for part in receipt_parts():
        if part.line is not None and part.is_setting == are_settings and part.key in receipt:
            yield part.line(receipt[part.key])


def rows_of(receipt: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part in receipt_parts():
        if part.row is not None and part.key in receipt:
            yield part.row(receipt[part.key])
