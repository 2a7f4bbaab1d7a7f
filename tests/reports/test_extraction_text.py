"""Why a field has no value, in words."""

import pytest

from crawler.core.extraction.extractor import FieldFault, FieldProblem
from crawler.reports.extraction_text import note_of


@pytest.mark.parametrize(
    ("problem", "note"),
    [
        (
            FieldProblem(FieldFault.PAGE_TOO_LARGE),
            "the page is too large for extraction: it has more than 5 MB or 20,000 tags",
        ),
        (FieldProblem(FieldFault.UNREADABLE), "the page could not be read by the extraction rules"),
        (FieldProblem(FieldFault.TOO_SLOW), "the selector or the pattern takes too long on this page"),
        (FieldProblem(FieldFault.NO_MATCH), "the pattern does not match what the selector finds"),
        (FieldProblem(FieldFault.XPATH, "Invalid type"), "the XPath cannot be used on this page: Invalid type"),
        (FieldProblem(FieldFault.CHARACTERS), "the values of this page have more than 200,000 characters together"),
        (FieldProblem(FieldFault.VALUES), "only the first 200 are kept"),
        (FieldProblem(FieldFault.CUT), "cut after 10,000 characters"),
        (FieldProblem(FieldFault.NO_NUMBER, "it's {free}"), 'there is no number in "it\'s {free}"'),
        (FieldProblem(FieldFault.NO_NUMBER, "x" * 61), f"there is no number in '{'x' * 59}…'"),
        (
            FieldProblem(FieldFault.NUMBERS, "3 of 5", 2),
            "there are 2 numbers in '3 of 5'; a pattern can say which is meant",
        ),
        (FieldProblem(FieldFault.LONG_NUMBER, "9" * 50), f"'{'9' * 50}' is too long for a number"),
        (FieldProblem(FieldFault.NOT_A_NUMBER, "1.2.3"), "'1.2.3' is no number"),
        (FieldProblem(FieldFault.LARGE_NUMBER, "1e999"), "'1e999' is too large a number"),
        (FieldProblem(FieldFault.NOT_WHOLE, "4.5"), "4.5 is not a whole number"),
        (
            FieldProblem(FieldFault.NO_DATE, "soon"),
            "'soon' is no date that can be read, such as 2026-03-12 or 12 March 2026",
        ),
        (FieldProblem(FieldFault.NO_URL, "x"), "'x' is not a web address"),
    ],
)
def test_it_says_why_there_is_no_value(problem: FieldProblem, note: str) -> None:
    assert note_of(problem) == note


@pytest.mark.parametrize("fault", FieldFault)
def test_each_fault_has_a_text(fault: FieldFault) -> None:
    assert note_of(FieldProblem(fault))
