"""Why a field has no value, in words."""

from syrupy.assertion import SnapshotAssertion

from crawler.core.extraction.extractor import FieldFault, FieldProblem
from crawler.reports.extraction_text import note_of
from tests.text_files import listed

PROBLEMS = [
    FieldProblem(FieldFault.PAGE_TOO_LARGE),
    FieldProblem(FieldFault.UNREADABLE),
    FieldProblem(FieldFault.TOO_SLOW),
    FieldProblem(FieldFault.NO_MATCH),
    FieldProblem(FieldFault.XPATH, "Invalid type"),
    FieldProblem(FieldFault.CHARACTERS),
    FieldProblem(FieldFault.VALUES),
    FieldProblem(FieldFault.CUT),
    FieldProblem(FieldFault.NO_NUMBER, "it's {free}"),
    FieldProblem(FieldFault.NO_NUMBER, "x" * 61),
    FieldProblem(FieldFault.NUMBERS, "3 of 5", 2),
    FieldProblem(FieldFault.LONG_NUMBER, "9" * 50),
    FieldProblem(FieldFault.NOT_A_NUMBER, "1.2.3"),
    FieldProblem(FieldFault.LARGE_NUMBER, "1e999"),
    FieldProblem(FieldFault.NOT_WHOLE, "4.5"),
    FieldProblem(FieldFault.NO_DATE, "soon"),
    FieldProblem(FieldFault.NO_URL, "x"),
]


def test_it_says_why_there_is_no_value(golden: SnapshotAssertion) -> None:
    assert {problem.fault for problem in PROBLEMS} == set(FieldFault)
    assert listed({f"{problem.fault} {problem.text}".strip(): note_of(problem) for problem in PROBLEMS}) == golden
