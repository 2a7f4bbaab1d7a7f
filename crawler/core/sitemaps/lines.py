"""A sitemap in plain text: one URL a line, in UTF-8 unless a byte order mark says otherwise."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from crawler.core.sitemaps.listed import Listed

MAX_EXAMPLES = 3  # of what is no address are named
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST = 64 * 1024  # characters of a line that is still waited for; a URL is far shorter
_ADDRESS = re.compile(r"https?:", re.IGNORECASE)


class Lines:
    """Reads the text as it comes. What does not begin like a web address is passed over."""

    form = "text"

    def __init__(self, head: bytes) -> None:
        utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        self._decoder = codecs.getincrementaldecoder("utf-16" if utf16 else "utf-8")(errors="replace")
        self._rest = ""
        self.passed_over = 0  # lines that are neither empty nor an address
        self.examples: list[str] = []  # the first of them

    def feed(self, piece: bytes) -> Iterator[Listed]:
        *whole, self._rest = _LINE_END.split(self._rest + self._decoder.decode(piece))
        if len(self._rest) > _LONGEST:
            self._rest = self._rest[:_LONGEST]
        return self._listed(whole)

    def close(self) -> Iterator[Listed]:
        return self._listed([self._rest + self._decoder.decode(b"", final=True)])

    def _listed(self, lines: list[str]) -> Iterator[Listed]:
        for line in map(str.strip, lines):
            if _ADDRESS.match(line):
                yield Listed(loc=line)
            elif line:
                self.passed_over += 1
                if self.passed_over <= MAX_EXAMPLES:
                    self.examples.append(line)
