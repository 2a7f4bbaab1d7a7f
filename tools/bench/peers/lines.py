"""Knows what a peer stores of a page: one line of JSON with its URL, status, title and links."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self


class Lines:
    def __init__(self, file: Path) -> None:
        self._file = file.open("w", encoding="utf-8")
        self._urls = set[str]()
        self.links = 0

    def write(self, url: str, status: int, title: str | None, links: Sequence[str]) -> None:
        row = {"url": url, "status": status, "title": title, "links": links}
        self._file.write(json.dumps(row) + "\n")
        if url not in self._urls:  # Scrapy gets its start page twice, where a link leads back to it
            self._urls.add(url)
            self.links += len(links)

    def report(self, seconds: float, cpu_seconds: float, peak_bytes: int = 0) -> str:
        """All of the crawl alone, without what its program took to start; memory where it was looked at."""
        told = {"pages": len(self._urls), "links": self.links, "seconds": seconds, "cpu_seconds": cpu_seconds}
        return json.dumps({**told, "peak_bytes": peak_bytes})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
