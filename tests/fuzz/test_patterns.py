"""Every regular expression of the package, against texts that make bad ones take the square of their length."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections import deque
from collections.abc import Iterator

import crawler

SIZE = 1000
STEEP = 24.0  # times as long for eight times as much: a square takes 64
FLOOR = 0.02  # seconds for 8 * SIZE characters
OF_ITS_OWN = " \t\n'\"=<>/-.,:;&#%@[](){}*0a1Z_\\é"
BOUNDED = {
    "crawler.core.charsets._CHARSET": "a header, or the first 1,024 bytes of a page",
    "crawler.core.charsets._COMMENT": "the first 1,024 bytes of a page",
    "crawler.core.charsets._META": "the same",
    "crawler.core.charsets._ATTRIBUTE": "the same",
}
"""Those that are given no long texts, and what they are given."""
LOOKED_FOR = {"search", "finditer", "findall", "sub", "split"}  # else a pattern is held against one place alone

Pattern = re.Pattern[str] | re.Pattern[bytes]


def _all() -> Iterator[tuple[str, Pattern, bool]]:
    """Each with its name, and whether it is looked for all over a text."""
    for found in pkgutil.walk_packages(crawler.__path__, "crawler."):
        if found.name.startswith(("crawler.migrations", "crawler.management.commands", "crawler.launch")):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                used = set(re.findall(rf"\b{name}\.(\w+)", inspect.getsource(module)))
                yield f"{found.name}.{name}", value, not used or bool(used & LOOKED_FOR)


def _attacks(pattern: str) -> list[str]:
    """What is repeated: each character the pattern names or its classes hold, pairs of them, and its literal words."""
    letters = sorted({letter for letter in pattern if letter in OF_ITS_OWN} | set(" 0a-"))
    words = [word for word in re.findall(r"[A-Za-z<&!?-]{2,}", pattern) if len(word) < 20]
    pairs = [one + other for one in letters for other in letters if one < other][:10]
    return [*letters, *words[:8], *(f"{word} " for word in words[:8]), *pairs]


def _seconds(pattern: Pattern, text: str, everywhere: bool) -> float:
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    begun = time.thread_time()
    if everywhere:
        deque(pattern.finditer(subject), maxlen=0)  # type: ignore[arg-type]  # each has a text of its own kind
    pattern.match(subject)  # type: ignore[arg-type]
    pattern.fullmatch(subject)  # type: ignore[arg-type]
    return time.thread_time() - begun


def _is_steep(pattern: Pattern, part: str, everywhere: bool) -> bool:
    for begin, end in (("", "\0"), ("<a 1", "!")):
        short, long = (begin + part * (size // len(part)) + end for size in (SIZE, 8 * SIZE))
        if _seconds(pattern, short, everywhere) > FLOOR / 40:  # a square would be above it with the long one
            once = max(0.0001, min(_seconds(pattern, short, everywhere) for _ in range(2)))
            if min(_seconds(pattern, long, everywhere) for _ in range(2)) > max(FLOOR, STEEP * once):
                return True
    return False


def test_no_pattern_takes_the_square_of_its_text() -> None:
    steep = []
    for name, pattern, everywhere in _all():
        source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
        steep += [f"{name} {part!r}" for part in _attacks(source) if _is_steep(pattern, part, everywhere)][:1]
    assert sorted({name.split()[0] for name in steep} - set(BOUNDED)) == []


def test_it_would_find_a_bad_one() -> None:
    assert len(list(_all())) > 50
    assert _is_steep(re.compile(r"\s*;"), " ", everywhere=True)
    assert not _is_steep(re.compile(r"\s*+;"), " ", everywhere=False)
