"""User agents as people type them: what is refused, and by which name robots.txt knows them."""

import pytest

from crawler import conf
from crawler.core.errors import BadInput
from crawler.core.robots.user_agent import MAX_LENGTH, check_user_agent, product_token


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("ExampleBot/1.0 (+https://example.com/bot)", "ExampleBot"),
        ("ExampleBot", "ExampleBot"),
        ("Example-Bot_2 Library/3", "Example-Bot_2"),
        ("Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)", "ExampleBot"),
        ("Mozilla/5.0 (X11; compatible;ExampleBot) Chrome/1", "ExampleBot"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (compatible; x)", "Mozilla"),
        ("", ""),
    ],
)
def test_its_name_is_that_of_its_product(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


def test_ours_is_found_in_robots_txt_as_ever() -> None:
    assert product_token(conf.user_agent()) == "SiteCrawler"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("a" * (MAX_LENGTH + 1), "longer than 200 characters"),
        ("Bot\r\nX-Injected: 1", "one line of ASCII"),
        ("Bot\n", "one line of ASCII"),
        (" Bot", "one line of ASCII"),
        ("Bot ", "one line of ASCII"),
        ("Böt/1", "one line of ASCII"),
        ("Bot\x7f", "one line of ASCII"),
        ("/1.0", "must begin with a name"),
        ("(Bot)", "must begin with a name"),
    ],
)
def test_what_is_no_header_or_has_no_name_is_refused(typed: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        check_user_agent("user_agent", typed)


def test_visible_ascii_is_taken() -> None:
    check_user_agent("user_agent", "x" * MAX_LENGTH)
    check_user_agent("user_agent", 'Bot/1.0 (a; "b") [c] {d} ~!')
