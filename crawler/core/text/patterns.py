"""Regular expressions of users, matched in linear time: no pattern can block the manager."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import re2

from crawler.core.errors import BadInput

# Instructions of a compiled pattern. The time to search a URL is at worst its length times these: 0.1 s for 4,096
# characters, 1 ms for a URL of common length. A list of two hundred long paths stays below it.
MAX_PROGRAM = 4_000
MAX_TOGETHER = 50_000  # of all patterns of one field, which are matched as one; the engine accepts half a million
MAX_LENGTH = 20_000  # characters; the engine needs 17 seconds to reject "\\pL" repeated a hundred thousand times

_NO_ENGINE = {
    "invalid perl operator: (?=": "lookahead is not supported",
    "invalid perl operator: (?!": "lookahead is not supported",
    "invalid perl operator: (?<": "lookbehind is not supported",
    "invalid escape sequence: \\Z": r"write \z or $ for \Z",
    "invalid escape sequence": "backreferences are not supported",
}
"""Messages of the engine about features of Python's that it lacks, because they can take exponential time."""


class Patterns(msgspec.Struct, frozen=True):
    """Some regular expressions, in RE2's syntax. The engine's work grows with the text and never explodes."""

    compiled: Any = None  # one alternative each; None = no pattern, which matches nothing

    @classmethod
    def of(cls, patterns: Sequence[str]) -> Patterns:
        """These patterns, which have passed `check_pattern`."""
        return cls(_compiled("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None)

    def __bool__(self) -> bool:
        return self.compiled is not None

    def found_in(self, text: str) -> bool:
        """Whether one of them is found anywhere in the text."""
        return self.compiled is not None and self.compiled.search(text) is not None


def check_patterns(field: str, patterns: Sequence[str]) -> None:
    """BadInput naming the field when one of these cannot be used, or they cannot be used together."""
    for pattern in patterns:
        check_pattern(field, pattern)
    try:
        together = Patterns.of(patterns)
        fits = not together or together.compiled.programsize <= MAX_TOGETHER
    except re2.error:
        fits = False
    if not fits:
        raise BadInput(field, "The regular expressions are too large in total; use fewer or shorter ones.")


def check_pattern(field: str, pattern: str) -> None:
    """BadInput naming the field when this is no regular expression of the kind that can be used."""
    if len(pattern) > MAX_LENGTH:
        raise BadInput(field, f"{pattern[:80]!r} is longer than {MAX_LENGTH:,} characters; split it into several.")
    try:
        size = int(_compiled(pattern).programsize)
    except UnicodeEncodeError:
        raise BadInput(field, f"{pattern[:80]!r} is not valid text: it contains half of a character.") from None
    except re2.error as error:
        raise BadInput(field, f"{pattern!r} is not a valid regular expression: {_reason(error)}.") from None
    if size > MAX_PROGRAM:
        raise BadInput(field, f"{pattern[:80]!r} is too large a regular expression; split it into several.")
    try:
        _compiled(f"(?:{pattern})")
    except re2.error:  # without an end, the patterns after it would be quoted too
        raise BadInput(field, rf"{pattern!r} begins literal text with \Q; end it with \E.") from None


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    return re2.compile(pattern, options)


def _reason(error: Exception) -> str:
    reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
    for beginning, meaning in _NO_ENGINE.items():
        if reason.startswith(beginning):
            return f"{reason} ({meaning}, because it can take forever; use a second include or exclude pattern)"
    return reason
