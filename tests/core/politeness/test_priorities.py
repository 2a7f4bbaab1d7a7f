import pytest

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions, check_options
from crawler.core.politeness.priorities import priority_of

NEWS = "https://example.com/news/1?page=2"


@pytest.mark.parametrize(
    ("rules", "priority"),
    [
        ((), 5),
        (("/news/=9",), 9),
        (("/shop/=9",), 5),
        (("/news/=9", "page=10"), 9),  # the first that matches
        (("/shop/=9", r"\?page=\d+=0"), 0),  # a pattern may have a sign of equality
        (("/news/ = 10 ",), 10),
        (("(?i)/NEWS/=10",), 10),
    ],
)
def test_the_first_rule_that_matches_gives_the_priority(rules: tuple[str, ...], priority: int) -> None:
    check_options(CrawlOptions(priorities=rules))
    assert priority_of(NEWS, None, rules) == priority


def test_a_priority_of_its_own_counts_before_the_rules() -> None:
    assert priority_of(NEWS, 2, ("/news/=9",)) == 2


@pytest.mark.parametrize("rule", ["/news/", "/news/=11", "/news/=-1", "/news/=", "=9", "/news/=9.5", ""])
def test_a_rule_has_a_pattern_and_a_number(rule: str) -> None:
    with pytest.raises(BadInput, match=r"write a regular expression, = and 0 .* such as /news/=9\.$") as error:
        check_options(CrawlOptions(priorities=(rule,)))
    assert error.value.field == "priorities"


def test_a_pattern_that_could_take_forever_is_refused() -> None:
    with pytest.raises(BadInput, match="not a valid regular expression"):
        check_options(CrawlOptions(priorities=(r"(a+)+\1=9",)))
