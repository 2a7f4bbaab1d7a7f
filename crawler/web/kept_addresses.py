"""Secret addresses of an earlier crawl on the form of a new one: a line stands for each, and is taken for it."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.core.options import MAY_BE_SECRET
from crawler.core.receivers import SEALED
from crawler.models import Crawl

Kept = dict[str, str]
"""What stands in the form -> the encrypted address it stands for."""


def kept_of(crawl: Crawl | None) -> Kept:
    """Those of a crawl. The lines tell nothing of the addresses: whoever may see a crawl may not see those."""
    if crawl is None:
        return {}
    return {_line(number): address for number, address in enumerate(_addresses(crawl), start=1)}


def shown(kept: Kept, addresses: Sequence[str]) -> list[str]:
    """The lines that stand for these addresses."""
    lines = {address: line for line, address in kept.items()}
    return [lines.get(address, address) for address in addresses]


def meant(kept: Kept, typed: Sequence[str]) -> list[str]:
    """What was typed, with the addresses in place of the lines that stand for them."""
    return [kept.get(line, line) for line in typed]


def _addresses(crawl: Crawl) -> list[str]:
    named = [address for field in MAY_BE_SECRET for address in getattr(crawl.chosen, field)]
    return [address for address in named if address.startswith(SEALED)]


def _line(number: int) -> str:
    return f"(the address of last time, {number})"
