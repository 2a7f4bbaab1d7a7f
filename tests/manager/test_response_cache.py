"""Second crawls: what has not changed is not sent again, what is fresh is not even asked for, and nothing is missed."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.crawls.start import start_crawl
from crawler.encryption import seal
from crawler.manager.dispatch import dispatch
from crawler.manager.tick import manage
from crawler.models import Answer, Crawl, Disagreement, Page
from crawler.reports.receipt import receipt_of
from crawler.storage import response_cache
from tests.bench import Bench
from tests.site import Answer as SiteAnswer
from tests.site import Reply, Request, Site, moved, page


class Validating(Site):
    """Its pages have ETags, and it sends no page that has not changed."""

    def __init__(self, pages: dict[str, SiteAnswer]) -> None:
        super().__init__(pages)
        self.sent: Counter[str] = Counter()  # bodies, by path
        self.forgetful = threading.Event()  # set: it says "not modified" to whatever it is asked

    def answer(self, request: Request) -> Reply:
        reply = super().answer(request)
        if reply.status != 200:
            return reply
        etag = f'"{hash(reply.body)}"'
        if request.headers.get("If-None-Match") == etag or self.forgetful.is_set():
            return Reply(status=304)
        self.sent[request.path] += 1
        return Reply(reply.body, headers={**reply.headers, "ETag": etag})


PAGES: dict[str, SiteAnswer] = {
    "/robots.txt": Reply("User-agent: *\nDisallow:\n", headers={"Content-Type": "text/plain"}),
    "/": page("/a", "/b", "/moved", "/gone"),
    "/a": page("/deep", title="A"),
    "/b": page("/a", title="B"),
    "/deep": page("/", title="Deep"),
    "/moved": moved("/behind", 301),
    "/behind": page(title="Behind"),
}


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Validating(PAGES).serving() as site:
        yield Bench(site)


def run(bench: Bench, **options: Any) -> Crawl:
    """A whole crawl; what the site counted before is forgotten."""
    assert isinstance(bench.site, Validating)
    bench.site.requests.clear()
    bench.site.sent.clear()
    bench.run(**options)
    assert bench.state() == "finished"
    assert not Disagreement.objects.exists()
    return bench.crawl


def rows(crawl: Crawl, *fields: str) -> dict[str, Any]:
    """Path -> these facts of its page."""
    found = Page.objects.filter(crawl=crawl).values_list("url", *fields)
    return {"/" + url.split("/", 3)[3]: facts[0] if len(facts) == 1 else tuple(facts) for url, *facts in found}


def sent(bench: Bench) -> set[str]:
    assert isinstance(bench.site, Validating)
    return set(bench.site.sent) - {"/robots.txt"}


ALL = {"/", "/a", "/b", "/deep", "/moved", "/behind", "/gone"}
HTML = {"/", "/a", "/b", "/deep", "/behind"}


def test_a_site_that_has_not_changed_is_found_again_without_a_body(bench: Bench) -> None:
    first = run(bench, revisit=True)
    second = run(bench, revisit=True)
    assert sent(bench) == set()
    assert set(rows(second, "url")) == set(rows(first, "url")) == ALL
    outcomes = dict.fromkeys(HTML, "unchanged") | {"/moved": "3xx", "/gone": "4xx"}
    assert rows(second, "outcome") == outcomes
    facts = ("title", "content_type", "depth", "redirect_to")
    assert rows(second, *facts) == rows(first, *facts)
    receipt = receipt_of(second)
    assert receipt["statuses"] == {"301": 1, "304": 5, "404": 1}
    assert (receipt["discovered"], receipt["fetched"]) == (7, 7)


def test_what_changed_is_taken_in_and_what_lies_behind_it_is_found(bench: Bench) -> None:
    run(bench, revisit=True)
    bench.site.pages |= {"/b": page("/new", title="B2"), "/new": page("/newer"), "/newer": page()}
    second = run(bench, revisit=True)
    assert sent(bench) == {"/b", "/new", "/newer"}
    assert set(rows(second, "url")) == ALL | {"/new", "/newer"}
    assert rows(second, "title")["/b"] == "B2"
    third = run(bench, revisit=True)
    assert sent(bench) == set()
    assert set(rows(third, "url")) == ALL | {"/new", "/newer"}


def test_a_crawl_that_does_not_say_so_asks_for_everything_and_leaves_nothing(bench: Bench) -> None:
    run(bench, revisit=True)
    known = Answer.objects.count()
    second = run(bench)
    assert sent(bench) == HTML
    assert set(rows(second, "outcome").values()) == {"2xx", "3xx", "4xx"}
    assert not any("If-None-Match" in request.headers for request in bench.site.requests)
    Answer.objects.all().delete()
    run(bench)
    assert (known, Answer.objects.count()) == (7, 0)


def test_fresh_answers_are_not_asked_for_at_all(bench: Bench) -> None:
    first = run(bench, response_ttl=600.0)
    second = run(bench, response_ttl=600.0)
    assert bench.site.requests == []
    facts = ("outcome", "http_status", "title", "content_type", "depth", "redirect_to")
    assert rows(second, *facts) == rows(first, *facts)
    assert set(rows(second, "reused", "bytes", "attempts").values()) == {(True, 0, 0)}
    assert (second.requests, second.bytes, second.retries) == (0, 0, 0)
    assert not any(rows(first, "reused").values())


def test_an_answer_beyond_its_time_is_asked_for_again(bench: Bench) -> None:
    run(bench, response_ttl=600.0)
    Answer.objects.update(stored_at=1.0)
    second = run(bench, response_ttl=600.0)
    assert sent(bench) == HTML
    assert not any(rows(second, "reused").values())


def test_beyond_its_time_it_is_asked_for_with_its_validators_by_a_crawl_that_wants_both(bench: Bench) -> None:
    run(bench, response_ttl=600.0, revisit=True)
    Answer.objects.exclude(etag="").update(stored_at=1.0)
    second = run(bench, response_ttl=600.0, revisit=True)
    assert sent(bench) == set()
    assert rows(second, "reused") == {path: path in ("/moved", "/gone") for path in ALL}
    third = run(bench, response_ttl=600.0, revisit=True)  # being confirmed has made them fresh
    assert all(rows(third, "reused").values())


def test_a_page_limit_counts_pages_from_memory(bench: Bench) -> None:
    run(bench, response_ttl=600.0)
    second = run(bench, response_ttl=600.0, max_pages=3)
    receipt = receipt_of(second)
    assert (receipt["fetched"], receipt["requests"]) == (3, 0)


def test_a_depth_limit_cuts_off_the_same_pages_from_memory(bench: Bench) -> None:
    run(bench, response_ttl=600.0)
    second = run(bench, response_ttl=600.0, max_depth=1)
    assert rows(second, "outcome")["/deep"] == "limit"
    assert receipt_of(second)["requests"] == 0


def test_half_remembered_crawls_ask_for_the_other_half(bench: Bench) -> None:
    run(bench, response_ttl=600.0)
    response_cache.Answer.objects.filter(key__in=list(Answer.objects.values_list("key", flat=True)[:4])).delete()
    second = run(bench, response_ttl=600.0)
    assert set(rows(second, "url")) == ALL
    assert list(rows(second, "reused").values()).count(True) == 3


@pytest.mark.parametrize("meanwhile", ["forgotten", "replaced", "evicted"])
def test_an_answer_that_goes_missing_while_the_server_confirms_it_is_asked_for_again(
    bench: Bench, meanwhile: str, settings: Any
) -> None:
    """Nothing is lost, and no attempt is counted."""
    first = run(bench, revisit=True)
    bench.start(revisit=True)
    bench.work("crawl", at_most=1)  # the question about "/" is on its way
    bench.work("fetch", at_most=1)  # and has been answered
    if meanwhile == "forgotten":
        Answer.objects.all().delete()
    elif meanwhile == "evicted":  # another crawl stores responses, and there is room for few
        settings.CRAWLER_CACHE_MB = 0.001
        other = PageResult(id=1, attempt=1, outcome=Outcome.SUCCESS, http_status=200, fetched_at=time.time() + 9)
        response_cache.store(b"other", {"http://other.test/": other}, time.time())
        assert 0 < Answer.objects.count() < 7
        settings.CRAWLER_CACHE_MB = 2000
    else:
        Answer.objects.update(etag='"another"')
    bench.work()
    assert bench.state() == "finished"
    second = bench.crawl
    assert rows(second, "title", "depth") == rows(first, "title", "depth")
    assert rows(second, "outcome")["/"] == "2xx"
    assert rows(second, "attempts")["/"] == 1
    assert second.retries == 0
    assert second.requests == 1 + 1 + 6  # "/" twice; robots.txt is remembered elsewhere


@pytest.mark.parametrize("reuse", [{"revisit": True}, {"response_ttl": 600.0}])
def test_a_site_that_is_larger_than_the_cache_is_crawled_in_full(
    bench: Bench, reuse: dict[str, Any], settings: Any
) -> None:
    settings.CRAWLER_CACHE_MB = 0.001
    first = run(bench, **reuse)
    assert 0 < Answer.objects.count() < 7
    second = run(bench, **reuse)
    facts = ("title", "content_type", "depth", "redirect_to")
    assert rows(second, *facts) == rows(first, *facts)
    assert rows(second, "attempts").keys() == ALL
    assert second.retries == 0


def test_an_unrequested_304_is_a_redirect_without_a_target(bench: Bench) -> None:
    assert isinstance(bench.site, Validating)
    bench.site.forgetful.set()
    first = run(bench, revisit=True)
    assert rows(first, "outcome", "http_status") == {"/": ("3xx", 304)}
    assert not Answer.objects.exists()


def test_trouble_that_may_pass_is_not_remembered(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    bench.site.pages["/b"] = Reply("no", status=503)
    run(bench, revisit=True, response_ttl=600.0)
    second = run(bench, revisit=True, response_ttl=600.0)
    assert rows(second, "reused")["/b"] is False
    assert bench.site.hits == {"/b": 1}


def test_a_response_to_a_login_is_used_for_no_other_crawl(bench: Bench) -> None:
    """Nor is what everybody is told taken for what he would be told. Typed anew, the same password is the same."""
    for headers in ([], ["X-Team: red"], ["X-Team: blue"]):
        for asks in (True, False):
            bench.site.requests.clear()
            bench.crawl = start_crawl(
                [f"{bench.site.url}/"],
                CrawlOptions(response_ttl=600.0),
                allow_private=True,
                sealed=seal(parse(headers=headers)),
            )
            bench.work()
            assert bench.state() == "finished"
            assert bool(set(bench.site.hits) - {"/robots.txt"}) is asks


def test_crawls_that_may_ask_for_less_share_nothing_with_those_that_may_ask_for_more(bench: Bench) -> None:
    run(bench, response_ttl=600.0, obey_robots=False)
    run(bench, response_ttl=600.0)
    assert sent(bench) == HTML


def test_a_crawl_from_memory_asks_for_another_tick_when_this_one_has_gone_on_for_long(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(bench, response_ttl=600.0)
    monkeypatch.setattr("crawler.manager.dispatch.MAX_CACHE_REPLAY_S", 0.0)
    crawl = start_crawl([f"{bench.site.url}/"], CrawlOptions(response_ttl=600.0), allow_private=True)
    bench.crawl = crawl
    bench.context.frontier.results.clear_mark()
    assert dispatch(bench.context) == 0
    assert bench.context.frontier.results.mark() is not None
    assert Page.objects.filter(crawl=crawl, status=Page.CLOSED).count() == 1
    manage(crawl.id)
    bench.work()
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["requests"] == 0
