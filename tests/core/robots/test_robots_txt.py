"""robots.txt, against two recorded suites, by table and by property."""

import re
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.robots.robots_txt import (
    MAX_BYTES,
    ForeignFile,
    Oddity,
    RobotsAnswer,
    RobotsRules,
    oddity_of,
    parse,
    verdict_of_status,
)
from crawler.core.urls.normalise import normalise
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled
from tests.suites import cases

EXACT_TOKEN = (
    'RFC 9309, 2.2.1: "case-insensitive matching to find the group that matches the product token"; no prefixes'
)
TOKEN_LETTERS = 'RFC 9309, 2.2.1: a product token has "only uppercase and lowercase letters", underscores and hyphens'
OTHER_RECORDS = 'RFC 9309, 2.2.4: other records "MUST NOT interfere with the parsing of explicitly defined records"'
DOLLAR_ENDS = 'RFC 9309, 2.2.3: "$" is "the end of the match pattern"; a "$" meant verbatim is written "%24"'
MOST_OCTETS = (
    'RFC 9309, 2.2.2: "The most specific match is the match that has the most octets"; no file name is special'
)
UNENCODED = 'RFC 9309, 2.2.2: a percent-encoded octet "MUST be unencoded prior to comparison", unless it is reserved'

# Recorded expectations that contradict the RFC: where they stand -> the sentence that decides. We answer the opposite.
GOOGLE_DECIDED_OTHERWISE = {
    ("ID_Encoding", 441): UNENCODED,  # the RFC's own table has this very rule match this very path
}
PROTEGO_DECIDED_OTHERWISE = {
    ("/totalitarianism/foo.htm", "Mozilla/5.0 (compatible; Львів-bot/1.1)"): TOKEN_LETTERS,
    ("http://foo.bar/horcrux", "harry potter"): TOKEN_LETTERS,
    ("http://foo.bar/myprofile", "foobot"): TOKEN_LETTERS,
    ("/foo", "agent"): OTHER_RECORDS,
    ("/foobar", "agent"): OTHER_RECORDS,
    ("/content/2", "agent"): OTHER_RECORDS,
    ("http://foo.com/allowed-slash/", "footbot"): MOST_OCTETS,
    ("http://foo.bar/x/abc$", "FooBot", "disallow: /x/abc$"): DOLLAR_ENDS,
    ("http://foo.bar/x/abc%24", "FooBot", "disallow: /x/abc$"): DOLLAR_ENDS,
    ("/group1", "hedwig-news2"): EXACT_TOKEN,
    ("/group2", "hedwig-new"): EXACT_TOKEN,
    ("/group3", "hedwig-new"): EXACT_TOKEN,
    ("/group2", "hedwig-images"): EXACT_TOKEN,
    ("/group3", "hedwig-images"): EXACT_TOKEN,
}


def name_of(case: dict[str, Any]) -> str:
    return str(case["test"]).rpartition("::")[2]


def protego_cases(function: str) -> list[dict[str, Any]]:
    return [case for case in cases("robots_protego") if case["func"] == function]


def protego_url(case: dict[str, Any]) -> str | None:
    return normalise(case["args"][0], "https://site.local/")


def decided_otherwise(case: dict[str, Any]) -> bool:
    return any(
        (case["args"][0], case["args"][1]) == place[:2]
        and all(line in case["robots"].splitlines() for line in place[2:])
        for place in PROTEGO_DECIDED_OTHERWISE
    )


def test_it_answers_as_googles_parser_does() -> None:
    for case in (case for case in cases("robots_google") if not case["google_only"]):
        answer = parse(b64decode(case["robots_b64"])).allows(case["url"], case["ua"])
        otherwise = (case["test"], case["line"]) in GOOGLE_DECIDED_OTHERWISE
        assert answer is (case["allowed"] is not otherwise), case


def test_it_answers_as_protego_does() -> None:
    """Its URLs are put in our normal form first; one of them, of an FTP server, has none."""
    suite = protego_cases("can_fetch")
    for case in suite:
        url = protego_url(case)
        answer = url and parse(case["robots"]).allows(url, case["args"][1])
        assert url is None or answer is (case["expect"] is not decided_otherwise(case)), case
    assert sum(map(decided_otherwise, suite)) == len(PROTEGO_DECIDED_OTHERWISE)


def test_it_reads_crawl_delays_as_protego_does() -> None:
    suite = protego_cases("crawl_delay")
    assert [case for case in suite if parse(case["robots"]).crawl_delay(case["args"][0]) != case["expect"]] == []


@pytest.mark.parametrize("case", protego_cases("request_rate"), ids=name_of)
def test_it_reads_request_rates_as_protego_does(case: dict[str, Any]) -> None:
    """As the seconds between two requests that keep to it; the hours of the day are not looked at. Of a line with
    neither a colon nor the key's hyphen we do not guess the meaning."""
    rate = re.match(r"RequestRate\(requests=(\d+), seconds=(\d+)", case["expect"] or "")
    gap = int(rate[2]) / int(rate[1]) if rate and "request rate 1/10s" not in case["robots"] else None
    assert parse(case["robots"]).request_gap(case["args"][0]) == gap


@pytest.mark.parametrize("case", protego_cases("sitemaps"), ids=name_of)
def test_it_reads_sitemaps_as_protego_does(case: dict[str, Any]) -> None:
    assert list(parse(case["robots"]).sitemaps) == case["expect"]


def allows(pattern: str, path: str) -> bool:
    """Whether a path is still allowed when `pattern` is not."""
    return parse(f"User-agent: *\nDisallow: {pattern}").allows(f"https://example.com{path}", "bot")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/a", "/ab", True),
        ("/a", "/b/a", False),
        ("a", "/ab", True),  # a forgotten slash is added
        ("/A", "/a", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/*/b", "/a/b/c", True),
        ("/*b$", "/abab", True),  # the last part is looked for at the end, not at its first occurrence
        ("/a*a$", "/a", False),  # the two "a" are not the same one
        ("/a*bc*c$", "/abc", False),
        ("/a**b", "/axb", True),
        ("*", "/", True),
        ("*$", "/x", True),
        ("$", "/", True),
        ("$", "/x", False),
        ("/a$b", "/a$bc", True),  # only a "$" at the end is special
        ("/a%24", "/a$", True),
        ("/a%2Ab", "/a*b", True),
        ("/a%2Ab", "/axb", False),
        # Encodings: the table of RFC 9309, 2.2.2
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", True),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", True),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/%7ejoe", "/~joe", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2fb", "/a/b", False),  # in a path an encoded slash is not a slash
        ("/a|b", "/a%7Cb", True),
        ("/a%7cb", "/a|b", True),
        ("/?q='", "/?q=%27", True),  # a browser encodes it in a query
        ("/100%", "/100%", True),
    ],
)
def test_a_pattern_fits_a_path(pattern: str, path: str, fits: bool) -> None:
    assert allows(pattern, path) is not fits


def test_a_rule_in_another_encoding_fits_the_same_octets() -> None:
    rules = parse("User-agent: *\nDisallow: /caf\xe9".encode("latin-1"))
    assert not rules.allows("https://example.com/caf%E9", "bot")
    assert rules.allows("https://example.com/caf%C3%A9", "bot")


GROUPS = """\
User-agent: One
Disallow: /one
Crawl-delay: 2.5

User-agent: two
User-agent: Three/1.0

Disallow: /two
# a comment
user-agent: ONE
Disallow: /again

User-agent: *
Disallow: /any
Crawl-delay: 1
"""


@pytest.mark.parametrize(
    ("token", "disallowed"),
    [
        ("one", {"/one", "/again"}),  # two groups for one crawler are one
        ("One/2.0 (+https://example.com)", {"/one", "/again"}),
        ("two", {"/two"}),
        ("three", {"/two"}),
        ("someone", {"/any"}),
        ("on", {"/any"}),
        ("", {"/any"}),
    ],
)
def test_a_crawler_obeys_the_groups_that_name_it_or_else_those_for_all(token: str, disallowed: set[str]) -> None:
    rules = parse(GROUPS)
    paths = {"/one", "/again", "/two", "/any"}
    assert {path for path in paths if not rules.allows(f"https://example.com{path}", token)} == disallowed


@pytest.mark.parametrize(("token", "delay"), [("one", 2.5), ("two", None), ("someone", 1.0)])
def test_a_crawl_delay_is_for_the_crawlers_named_with_it(token: str, delay: float | None) -> None:
    assert parse(GROUPS).crawl_delay(token) == delay


@pytest.mark.parametrize("value", ["-1", "inf", "nan", "", "1,5", "soon"])
def test_a_crawl_delay_that_is_no_duration_is_passed_over(value: str) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {value}").crawl_delay("bot") is None


@pytest.mark.parametrize(
    ("value", "gap"),
    [
        ("1/10", 10.0),
        ("1 / 10 s", 10.0),
        ("100/15M", 9.0),
        ("2/1h", 1800.0),
        ("1/1d 0600-0845", 86400.0),
        ("5/0", 0.0),
        ("0/5", None),
        ("1/10x", None),
        ("-1/10", None),
        ("1/", None),
        ("10", None),
        ("", None),
    ],
)
def test_a_request_rate_is_read_as_the_seconds_between_two_requests(value: str, gap: float | None) -> None:
    assert parse(f"User-agent: *\nRequest-rate: {value}").request_gap("bot") == gap


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ("Crawl-delay: 2\nRequest-rate: 1/5", 5.0),
        ("Crawl-delay: 7\nRequest-rate: 1/5", 7.0),
        ("Crawl-delay: 7", 7.0),
        ("Request-rate: 1/5", 5.0),
        ("Crawl-delay: 0", 0.0),
        ("Disallow: /", None),
    ],
)
def test_of_crawl_delay_and_request_rate_the_slower_is_kept(lines: str, delay: float | None) -> None:
    assert parse(f"User-agent: *\n{lines}").delay("bot") == delay


def test_a_crawl_delay_does_not_end_the_list_of_names() -> None:
    rules = parse("User-agent: a\nCrawl-delay: 9\nUser-agent: b\nDisallow: /")
    assert not rules.allows("https://example.com/", "a")
    assert (rules.crawl_delay("a"), rules.crawl_delay("b")) == (9.0, None)


def test_the_rules_file_itself_is_always_allowed() -> None:
    rules = parse("User-agent: *\nDisallow: /")
    assert rules.allows("https://example.com/robots.txt", "bot")
    assert not rules.allows("https://example.com/robots.txt?x", "bot")


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /",
        "\ufeffUser-agent: *\rDisallow: /",
        "\ufeffUser-agent: *\r\nDisallow: /".encode("utf-16-le"),
        "\ufeffUser-agent: *\nDisallow: /".encode("utf-16-be"),
        "\ufeffUser-agent: *\nDisallow: /\n".encode("utf-16-le") + b"/",  # half a character at its end
    ],
)
def test_a_byte_order_mark_tells_the_encoding_and_is_passed_over(text: str | bytes) -> None:
    assert not parse(text).allows("https://example.com/", "bot")


def test_what_is_not_ascii_is_the_same_in_utf_16() -> None:
    rules = parse("User-agent: *\nDisallow: /ツ".encode("utf-16"))
    assert not rules.allows("https://example.com/%E3%83%84", "bot")


def test_only_the_first_half_megabyte_is_read_and_no_half_rule_of_it() -> None:
    start = b"User-agent: *\nDisallow: /first\n"
    cut = b"\nDisallow: /private"
    filler = b"#" * (MAX_BYTES - len(start) - len(cut) + len(b"private"))
    rules = parse(start + filler + cut + b"\nDisallow: /last\n")
    assert not rules.allows("https://example.com/first", "bot")
    assert rules.allows("https://example.com/", "bot")  # "Disallow: /" is not what it says
    assert rules.allows("https://example.com/last", "bot")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_last_rule_that_just_fits_is_read(line_end: str) -> None:
    rule = f"{line_end}Disallow: /private"
    start = f"User-agent: *{line_end}#"
    text = start + "x" * (MAX_BYTES - len(start) - len(rule)) + rule
    assert len(text) == MAX_BYTES
    for ending in ("", line_end, f"{line_end}more"):
        assert not parse(text + ending).allows("https://example.com/private", "bot")
    assert parse(f"{text}-parts").allows("https://example.com/private", "bot")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("User-agent: *\nDisallow: /private\n", 2),
        ("# hello\r\n\r\nuser-agent:*\r\n  disallow :/priv*  # why\r\n", 4),
        ("User-agent: *\rAllow: /\rDisallow: /p\rDisallow: /private", 4),
        ("User-agent: *\nDisallow: /private\nDisallow: /private", 2),  # the first of equals
        ("User-agent: *\ndisallow /", 2),
        ("User-agent: *\nDisallow: /public", None),
    ],
)
def test_the_line_that_closes_a_page_is_known(text: str, line: int | None) -> None:
    rule = parse(text).deciding("https://example.com/private", "bot")
    assert (rule and rule.line) == line


@pytest.mark.parametrize(
    ("body", "media_type", "oddity"),
    [
        (b"User-agent: *\nDisallow: /", "text/plain", None),
        (b"User-agent: *\nDisallow: /", "text/html", None),  # many a server calls every file that
        (b"", "text/html", None),
        (b"", "text/plain", None),
        (b"\xff\xfeD\0i\0", "text/plain", None),
        (b"# nothing is forbidden \xe9", "text/plain", None),
        (b"\n <!doctype html><p>Not found", "text/plain", (ForeignFile.HTML, False)),
        (b"Not found", "text/html", (ForeignFile.HTML, False)),
        (b"\xef\xbb\xbf<html>", "", (ForeignFile.HTML, False)),
        (b"<pre>\nUser-agent: *\nDisallow: /\n", "", (ForeignFile.HTML, True)),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png", (ForeignFile.BINARY, False)),
        (b"\x1f\x8b\x08\0", "", (ForeignFile.BINARY, False)),
        (b"User-agent: *\nDisallow: /\0", "", (ForeignFile.BINARY, True)),
    ],
)
def test_what_is_no_rules_file_is_called_by_its_name(
    body: bytes, media_type: str, oddity: tuple[ForeignFile, bool] | None
) -> None:
    assert oddity_of(body, media_type) == (oddity and Oddity(False, *oddity))


def test_a_file_that_was_not_read_to_its_end_is_called_that() -> None:
    assert oddity_of(b"#" * MAX_BYTES, "") is None
    assert oddity_of(b"#" * (MAX_BYTES + 1), "") == Oddity(True, None, has_rules=False)
    assert oddity_of(b"<" * (MAX_BYTES + 1), "") == Oddity(True, ForeignFile.HTML, has_rules=False)


def test_sitemaps_belong_to_the_host_and_are_listed_once() -> None:
    rules = parse("Sitemap: https://a/1.xml # main\nSITEMAP:/2.xml\nSite-map: https://a/1.xml\nSitemap:\n")
    assert rules.sitemaps == ("https://a/1.xml", "/2.xml")


def test_a_page_that_is_no_rules_file_allows_everything() -> None:
    rules = parse("<!doctype html><title>Not found</title><a href='http://x/'>Disallow: /</a>")
    assert rules == RobotsRules({}, ())
    assert rules.allows("https://example.com/x", "bot")


def test_a_hostile_pattern_is_matched_without_backtracking() -> None:
    pattern = "/" + "*a" * 50_000 + "*b$"
    assert allows(pattern, "/" + "a" * 4000)


@pytest.mark.parametrize(
    ("http_status", "answer"),
    [
        (200, RobotsAnswer.PARSE),
        (204, RobotsAnswer.PARSE),
        (301, RobotsAnswer.ALLOW_ALL),
        (403, RobotsAnswer.ALLOW_ALL),
        (404, RobotsAnswer.ALLOW_ALL),
        (429, RobotsAnswer.ALLOW_ALL),
        (500, RobotsAnswer.UNREACHABLE),
        (503, RobotsAnswer.UNREACHABLE),
        (None, RobotsAnswer.UNREACHABLE),
        (100, RobotsAnswer.UNREACHABLE),
        (999, RobotsAnswer.UNREACHABLE),
    ],
)
def test_a_missing_rules_file_allows_and_an_unreachable_one_forbids(
    http_status: int | None, answer: RobotsAnswer
) -> None:
    assert verdict_of_status(http_status) is answer


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=12), st.booleans())
def test_wildcards_fit_what_the_same_regular_expression_fits(pattern: str, path: str, anchored: bool) -> None:
    twin = re.compile("/" + ".*".join(map(re.escape, pattern.split("*"))) + ("$" if anchored else ""))
    assert allows(f"/{pattern}{'$' if anchored else ''}", f"/{path}") is not bool(twin.match(f"/{path}"))


@pytest.mark.parametrize(
    "part",
    [b"user-agent: *\n", b"user-agent: a%d\n", b"user-agent: a%d\ncrawl-delay: 1\n"],
    ids=["one", "many", "delays"],
)
def test_many_rules_for_many_crawlers_take_no_longer_than_their_length_says(part: bytes) -> None:
    def read(text: bytes) -> None:
        assert oddity_of(text, "text/plain") is None
        assert not parse(text).allows("https://site.local/a", "a5")

    def grown(size: int) -> bytes:
        return filled(b"user-agent: a5\n" + filled(b"", part, b"", size // 2), b"disallow:/a\n", b"", size)

    assert not climb(read, grown, 500_000, 4.0).fault


def test_each_crawler_has_what_was_said_after_it_was_named() -> None:
    rules = parse(
        "user-agent: a\ncrawl-delay: 1\nuser-agent: b\nuser-agent: a\ncrawl-delay: 2\nrequest-rate: 1/3\nallow: /"
    )
    assert (rules.delay("a"), rules.delay("b")) == (3, 3)
    assert (rules.crawl_delay("a"), rules.crawl_delay("b")) == (1, 2)
    assert (len(rules.groups["a"].rules), sorted(rules.groups)) == (1, ["a", "b"])
