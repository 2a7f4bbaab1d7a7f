"""What extraction rules find on a page, and why one has no value there, in words, as both are stored with the page."""

from __future__ import annotations

import logging
from typing import Any

from rq.timeouts import BaseTimeoutException

from crawler.core.extraction import extractor
from crawler.core.extraction.extractor import (
    MAX_BYTES,
    MAX_TOTAL,
    MAX_VALUE,
    MAX_VALUES,
    Extraction,
    FieldFault,
    FieldProblem,
)
from crawler.core.extraction.rules import FieldRule
from crawler.core.extraction.xpath import Evaluate
from crawler.core.html.document import Document

log = logging.getLogger(__name__)

MAX_SHOWN = 60  # characters of a text

_TEXTS = {
    FieldFault.PAGE_TOO_LARGE: (
        f"the page is too large for extraction: it has more than {MAX_BYTES // 1024 // 1024} MB or 20,000 tags"
    ),
    FieldFault.UNREADABLE: "the extraction rules could not read the page",
    FieldFault.TOO_SLOW: "the selector or the pattern takes too long on this page",
    FieldFault.NO_MATCH: "the pattern does not match what the selector finds",
    FieldFault.XPATH: "the XPath does not work on this page: {text}",
    FieldFault.CHARACTERS: f"the values of this page together exceed {MAX_TOTAL:,} characters",
    FieldFault.VALUES: f"only the first {MAX_VALUES} are kept",
    FieldFault.CUT: f"cut after {MAX_VALUE:,} characters",
    FieldFault.NO_NUMBER: "no number in {shown}",
    FieldFault.NUMBERS: "{number} numbers in {shown}; use a pattern to select one",
    FieldFault.LONG_NUMBER: "{shown} is too long for a number",
    FieldFault.NOT_A_NUMBER: "{shown} is not a number",
    FieldFault.LARGE_NUMBER: "{shown} is too large a number",
    FieldFault.NOT_WHOLE: "{text} is not a whole number",
    FieldFault.NO_DATE: "{shown} is not a recognized date, such as 2026-03-12 or 12 March 2026",
    FieldFault.NO_URL: "{shown} is not a web address",
}


def extracted(
    page: bytes | Document, url: str, rules: tuple[FieldRule, ...], evaluate: Evaluate
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of the fields, and the notes on them. A fault of ours costs the page its fields alone."""
    try:
        found = extractor.extract(page, url, rules, evaluate)
    except BaseTimeoutException:
        raise  # RQ ends this job
    except Exception:
        log.exception("no fields could be read from %s", url)
        found = extractor.nothing(rules, FieldFault.UNREADABLE)
    return found.values, notes_of(found)


def notes_of(found: Extraction) -> dict[str, str]:
    """Name of a field -> why it has no value, or only part of it."""
    return {name: note_of(problem) for name, problem in found.problems.items()}


def note_of(problem: FieldProblem) -> str:
    fault, text, number = problem
    shown = repr(text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…")
    return _TEXTS[fault].format(text=text, shown=shown, number=number)
