"""What a result says of a page, in words."""

import pytest

from crawler.core.html.links import MAX_LINKS, MAX_TEXT, MAX_WORDS
from crawler.core.html.page_metadata import MalformedHref
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.fetcher.page_result import result_of
from crawler.http.fetcher import FetchResult

PAGE = "https://example.com/a/page?q"


def of(html: str) -> PageResult:
    return result_of(PageTask(1, PAGE, 1), FetchResult(outcome=Outcome.SUCCESS, http_status=200, body=html.encode()), 0)


@pytest.mark.parametrize(
    ("html", "error"),
    [
        (
            "".join(f"<a href={number}>" for number in range(MAX_LINKS + 1)),
            "it has more than 20,000 links; the rest was not read",
        ),
        (
            f"<base href='/{'b' * 4000}/'>" + "".join(f"<a href={number}>" for number in range(600)),
            "its links exceed 2,000,000 characters in total; the rest was not read",
        ),
        ("<a>" * 100_001, "it has more than 100,000 tags that may be links; the rest was not read"),
        (
            f"<a href=x>{'words' * 30}</a>" * (MAX_WORDS // MAX_TEXT + 1),
            "the texts of its links exceed 2,000,000 characters in total; the rest was not stored",
        ),
        ("<a href=x>", ""),
    ],
    ids=["links", "characters", "tags", "anchor texts", "few"],
)
def test_it_says_what_of_the_links_is_missing(html: str, error: str) -> None:
    assert of(html).error == error


@pytest.mark.parametrize(
    ("href", "problem"),
    [
        ("//", "not a valid URL: no host"),
        ("http://[::1", "not a valid URL: invalid host"),
        ("http://a:x/", "not a valid URL: invalid port"),
        (f"/{'x' * 4096}", "longer than 4,096 characters"),
        ("localhost:3000", "no scheme before host and port"),
        ("HTP:/x", "unknown scheme htp"),
    ],
)
def test_it_says_what_is_wrong_with_a_link(href: str, problem: str) -> None:
    facts = of(f"<base href='htp:/'><a rel=ugc href='{href}'>Text</a>").facts
    assert facts.malformed_number == 2
    assert facts.malformed == (
        MalformedHref("htp:/", "", "", "unknown scheme htp (it is the base of the page's links)"),
        MalformedHref(href[:500], "Text", "ugc", problem),
    )
