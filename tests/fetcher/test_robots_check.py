"""robots.txt as a crawl meets it: which rule closes a page, whose answer is whose, and for how long it counts."""

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.robots.robots_txt import ForeignFile, Oddity, parse
from crawler.fetcher.robots_check import MAX_SHOWN, shown, told
from crawler.frontier import keys
from crawler.frontier.host_state import HostStates
from crawler.models import Page
from crawler.queueing import queues
from tests.bench import Bench
from tests.site import Reply, Site, moved, page

RULES = "# ours\nUser-agent: *\nDisallow: /private # not for you\nAllow: /private/but\n"
TREE = {"/": page("/private/a", "/private/but", "/b"), "/private/a": page(), "/private/but": page(), "/b": page()}


def outcomes(bench: Bench) -> dict[str, str]:
    """Path -> outcome."""
    return {one.url.removeprefix(bench.site.url): one.outcome for one in Page.objects.filter(crawl=bench.crawl)}


def crawled(bench: Bench) -> dict[str, str]:
    bench.start()
    bench.work()
    assert bench.state() == "finished"
    return outcomes(bench)


def remembered(bench: Bench) -> str:
    """The key under which these crawls, which may ask this machine, find the site's file."""
    [key] = queues.connection().scan_iter(keys.robots(f"*{bench.site.url}"))
    return str(key, "ascii")


FORBIDDEN = {"/": "2xx", "/private/a": "robots", "/private/but": "2xx", "/b": "2xx"}


@pytest.mark.site(TREE | {"/robots.txt": Reply(RULES)})
def test_a_page_that_is_forbidden_names_the_rule_and_its_line(bench: Bench) -> None:
    assert crawled(bench) == FORBIDDEN
    closed = Page.objects.get(outcome=Outcome.ROBOTS)
    assert closed.error == "robots.txt does not allow it: Disallow: /private (line 3)"
    assert (closed.attempts, closed.http_status) == (1, None)
    assert "/private/a" not in bench.site.hits


@pytest.mark.site(TREE | {"/robots.txt": Reply(b"User-agent: *\nDisallow: /\xff\0" + RULES.encode())})
def test_what_no_table_can_hold_stops_nothing(bench: Bench) -> None:
    assert crawled(bench) == FORBIDDEN


def test_rules_behind_a_redirect_to_another_host_are_those_of_the_host_that_redirects(bench: Bench) -> None:
    with Site({"/rules": Reply(RULES), "/robots.txt": Reply("User-agent: *\nDisallow: /")}).serving() as other:
        bench.site.pages |= TREE | {"/robots.txt": moved(f"{other.url}/rules")}
        assert crawled(bench) == FORBIDDEN
        assert other.hits == {"/rules": 1}


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        (
            Reply(status=500),
            "robots",
            "robots.txt could not be fetched, so no page may be fetched: the server returned 500",
        ),
        (moved("http://127.0.0.1:2/rules"), "robots", "it redirects to http://127.0.0.1:2/rules, and there: "),
        (moved("mailto:a@b.c"), "robots", "it redirects to an invalid URL"),
    ],
)
def test_a_robots_txt_that_is_unreachable_closes_pages_by_name(
    bench: Bench, settings: object, answer: Reply, outcome: str, said: str
) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1  # type: ignore[attr-defined]  # pytest-django's wrapper has no types
    bench.site.pages |= TREE | {"/robots.txt": answer}
    assert crawled(bench) == {"/": outcome}
    assert said in Page.objects.get().error


@pytest.mark.site({"/": page("/a"), "/a": page(), "/robots.txt": Reply(RULES)})
def test_its_day_over_it_is_asked_for_again(bench: Bench) -> None:
    crawled(bench)
    assert 0 < queues.connection().ttl(remembered(bench)) <= 24 * 3600
    crawled(bench)
    assert bench.site.hits["/robots.txt"] == 1
    queues.connection().delete(remembered(bench))
    bench.site.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /a")
    assert crawled(bench) == {"/": "2xx", "/a": "robots"}
    assert bench.site.hits["/robots.txt"] == 2


@pytest.mark.parametrize(
    ("asked", "delay"), [("Crawl-delay: 0.02", 0.02), ("Request-rate: 50/1", 0.02), ("Crawl-delay: 0", None)]
)
def test_the_pace_it_asks_for_is_known_to_all_crawls(bench: Bench, asked: str, delay: float | None) -> None:
    bench.site.pages["/robots.txt"] = Reply(f"User-agent: SiteCrawler\n{asked}")
    crawled(bench)
    known = HostStates(queues.connection()).read([bench.site.host], bench.context.now())[bench.site.host]
    assert known.crawl_delay == delay


GROUPS = "User-agent: SiteCrawler\nDisallow: /a\n\nUser-agent: ExampleBot\nDisallow: /b\n\nUser-agent: *\nDisallow: /"


@pytest.mark.site({"/": page("/a", "/b"), "/a": page(), "/b": page(), "/robots.txt": Reply(GROUPS)})
def test_the_group_is_that_of_the_user_agent_that_every_request_is_sent_with(bench: Bench) -> None:
    sent = "Mozilla/5.0 (compatible; ExampleBot/2.0)"
    bench.start(user_agent=sent)
    bench.work()
    assert outcomes(bench) == {"/": "2xx", "/a": "2xx", "/b": "robots"}
    assert {request.headers["User-Agent"] for request in bench.site.requests} == {sent}


@pytest.mark.site({"/": page("/a"), "/a": page(), "/robots.txt": Reply("User-agent: *\nAllow: /")})
def test_a_robots_txt_sent_to_one_user_agent_is_not_anothers(bench: Bench) -> None:
    for agent in ("", "ExampleBot/1.0", "ExampleBot/1.0", ""):
        bench.start(user_agent=agent)
        bench.work()
    assert bench.site.hits["/robots.txt"] == 2


@pytest.mark.site({"/": Reply(page("/a"), headers={"X-Robots-Tag": "examplebot: noindex"}), "/a": page()})
def test_directives_are_those_for_its_name(bench: Bench) -> None:
    said = []
    for agent in ("", "ExampleBot/1.0"):
        bench.start(user_agent=agent)
        bench.work()
        said.append(Page.objects.get(crawl=bench.crawl, url=f"{bench.site.url}/").directives)
    assert said == ["", "noindex"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("User-agent: *\nDisallow: /private\n", "Disallow: /private (line 2)"),
        ("# hello\r\n\r\nuser-agent:*\r\n  disallow :/priv*  # why\r\n", "disallow :/priv* (line 4)"),
        ("User-agent: *\rAllow: /\rDisallow: /p\rDisallow: /private", "Disallow: /private (line 4)"),
        ("User-agent: *\nDisallow: /private\nDisallow: /private", "Disallow: /private (line 2)"),  # the first of equals
        ("User-agent: *\ndisallow /", "disallow / (line 2)"),
        (f"User-agent: *\nDisallow: /private{'*' * 900}", f"Disallow: /private{'*' * (MAX_SHOWN - 18)}… (line 2)"),
        ("User-agent: *\nDisallow: /public", None),
    ],
)
def test_the_rule_that_closes_a_page_is_named(text: str, told: str | None) -> None:
    rule = parse(text).deciding("https://example.com/private", "bot")
    assert (rule and shown(rule)) == told


def test_a_rule_is_told_on_one_line_of_text_whatever_its_octets() -> None:
    rules = parse(b"User-agent: *\nDisallow: /\x00\xe9\x1b[31m\xe2\x80\xa8")
    ((rule,),) = (group.rules for group in rules.groups.values())
    assert shown(rule) == "Disallow: /\ufffd\ufffd\ufffd[31m (line 2)"


@pytest.mark.parametrize(
    ("oddity", "said"),
    [
        (Oddity(True, None, False), "robots.txt is larger than 500 KiB; the rest was not read"),
        (Oddity(False, ForeignFile.HTML, False), "robots.txt is an HTML page; it contains no rules"),
        (
            Oddity(False, ForeignFile.BINARY, True),
            "robots.txt is a binary file; lines that look like rules were used as rules",
        ),
        (
            Oddity(True, ForeignFile.HTML, False),
            "robots.txt is larger than 500 KiB; the rest was not read. "
            "robots.txt is an HTML page; it contains no rules",
        ),
    ],
)
def test_what_is_odd_is_said(oddity: Oddity, said: str) -> None:
    assert told(oddity) == said
