"""Patterns are found in linear time, whatever they are; those that cannot be are refused in words."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.text.patterns import Patterns, check_pattern, check_patterns

LONG = "https://example.com/" + "a" * 4000 + "!"


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){12}b", "(?:a?){300}a{300}$"])
def test_a_pattern_that_backtracks_for_years_elsewhere_comes_to_an_end(pattern: str) -> None:
    check_pattern("include", pattern)
    assert not Patterns.of([pattern]).found_in(LONG)  # Python's own engine doubles its time with each further "a"


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("(", "missing )"),
        ("*bad", "no argument"),
        ("^(?!.*draft)", "lookahead is not supported"),
        ("(?<=a)b", "lookbehind is not supported"),
        (r"(a)\1", "backreferences are not supported"),
        (r"end\Z", r"\z"),
        ("a{1000000}", "repetition"),
        ("(?:a?){1000}(?:b?){1000}", "split it"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(pattern: str, word: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_pattern("exclude", pattern)
    assert refused.value.field == "exclude"
    assert word in str(refused.value)


@pytest.mark.parametrize(
    ("patterns", "text", "found"),
    [
        ([], "anything", False),
        (["a|b", "c$"], "xbx", True),
        (["a|b", "c$"], "xcx", False),
        (["(?i)DOCS", "x"], "/docs/", True),
        (["(?i)docs", "X"], "x", False),  # a flag holds for its own pattern
        (["^https://"], "https://example.com/", True),
        ([""], "", True),
    ],
)
def test_each_of_several_patterns_counts_for_itself(patterns: list[str], text: str, found: bool) -> None:
    assert Patterns.of(patterns).found_in(text) is found


def test_a_hundred_long_paths_are_not_too_many() -> None:
    check_pattern("include", "|".join(f"/section-{number}/chapter-{number}/" for number in range(100)))


def test_patterns_that_are_too_large_together_are_refused() -> None:
    alone = "/" + "a" * 3000
    check_patterns("include", [alone] * 10)
    with pytest.raises(BadInput, match="too large in total"):
        check_patterns("include", [f"{number}{alone}" for number in range(20)])


@pytest.mark.parametrize(
    ("pattern", "word"), [("\ud800", "is not valid text"), ("\\pL" * 10_000, "longer than 20,000")]
)
def test_what_no_engine_should_be_given_is_refused(pattern: str, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        check_pattern("include", pattern)


def test_literal_text_must_end_so_that_it_does_not_include_the_next_pattern() -> None:
    check_pattern("include", r"\Qa+b\E/")
    with pytest.raises(BadInput, match=r"end it with \\E"):
        check_pattern("include", r"\Qa+b")
