"""Which export formats there are, and which one a file name asks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Protocol

from django.db.models import QuerySet

from crawler.core.errors import BadInput
from crawler.exports import csv, jsonl
from crawler.models import Crawl, Page


class Lines(Protocol):
    """An export's text, piece by piece: of the pages, of the links that leave the site, or of these rows alone."""

    def __call__(
        self, crawl: Crawl, *, externals: bool = False, among: QuerySet[Page] | None = None
    ) -> Iterator[str]: ...


FORMATS: dict[str, Lines] = {
    "jsonl": jsonl.lines,
    "csv": csv.lines,
}
"""Format -> the function that gives an export's text."""


def format_of(file: str) -> str:
    """The format a file name's ending asks for; "-" (standard output) is JSON lines."""
    if file == "-":
        return "jsonl"
    ending = PurePath(file).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise BadInput("export", f"The format of {file} is not known; its name must end in {_endings()}.")
    return ending


def _endings() -> str:
    return " or ".join(f".{name}" for name in FORMATS)
