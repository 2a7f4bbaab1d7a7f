"""Private addresses are for the users who may allow them: what others name in a shared crawl gets no further than a
crawl of their own would. The installation allows the address of the site to all users, that of the canary to none."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from crawler.core.access.reach import OPERATOR, Namer
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls.change import change
from crawler.crawls.import_urls import load_list
from crawler.manager import add as adding
from crawler.manager.add import add, ask_again
from crawler.manager.dispatch import dispatch
from crawler.models import Crawl, Page
from tests.bench import Bench
from tests.factories import a_person
from tests.site import Site, moved, page

MEMBER = Namer()
CANARY = {"/": page("/further", title="Canary"), "/further": page(title="Canary")}
PAGES = {
    "/": page("/a"),
    "/a": page(),
    "/b": page("/c", title="Added"),
    "/c": page(),
    "/robots.txt": "User-agent: *\nAllow: /",
}
pytestmark = pytest.mark.site(PAGES)


@pytest.fixture
def canary() -> Iterator[Site]:
    with Site(CANARY).serving() as served:
        yield served


@pytest.fixture(autouse=True)
def _site_is_allowed_to_all(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = [bench.site.host]


def a_list(bench: Bench, *urls: str, **options: Any) -> Crawl:
    lines = "\n".join(urls or [f"{bench.site.url}/"]).encode()
    bench.crawl = load_list(BytesIO(lines), "list.txt", CrawlOptions(**options), allow_private=True)
    return bench.crawl


def whys(bench: Bench, *urls: str, by: Namer = MEMBER, **more: Any) -> list[str]:
    """Why the URLs are refused that this user adds."""
    done = add(bench.crawl.id, urls, by=by, **more)
    assert done is not None
    return [told.why for told in done.reasons]


def row(url: str) -> Page:
    return Page.objects.get(url=url)


def test_a_member_adds_no_private_address_to_a_superusers_list(bench: Bench, canary: Site) -> None:
    a_list(bench, f"{bench.site.url}/", f"{canary.url}/")
    assert ["private address" in why for why in whys(bench, f"{canary.url}/further")] == [True]
    assert whys(bench, f"{canary.url}/further", by=OPERATOR) == []


def test_a_list_has_the_hosts_of_its_pages_as_scope_for_others(bench: Bench) -> None:
    a_list(bench, f"{bench.site.url}/", "http://listed.example/")
    owner, other = Namer(is_owner=True), "http://other.example/"
    assert whys(bench, "http://www.listed.example/b", f"{bench.site.url}/b") == []
    assert whys(bench, other) == ["Its host is not in the crawl's list; the crawl's owner can add it."]
    assert whys(bench, other, by=owner) == []
    assert whys(bench, f"{other}more") == []


def test_one_call_asks_for_few_hosts_of_a_list(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "MAX_LOOKUPS", 1)
    a_list(bench, f"{bench.site.url}/", "http://listed.example/")
    assert len(whys(bench, f"{bench.site.url}/b", "http://listed.example/b")) == 1


def test_what_resolves_to_a_private_address_later_is_not_requested(
    bench: Bench, canary: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_list(bench, f"{bench.site.url}/", f"{canary.url}/")
    monkeypatch.setattr(adding, "MAX_LOOKUPS", 0)  # as if the name server had answered otherwise when it was added
    monkeypatch.setattr("crawler.manager.add._Doors.refusal", lambda doors, url: "")
    assert whys(bench, f"{canary.url}/further", f"{bench.site.url}/b") == []
    bench.work()
    assert (canary.hits["/"], canary.hits["/further"]) == (1, 0)
    assert (row(f"{canary.url}/further").outcome, row(f"{bench.site.url}/b").title) == ("private_address", "Added")


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_links_and_redirects_of_an_added_page_are_no_further(bench: Bench, canary: Site) -> None:
    bench.site.pages["/b"] = page(f"{canary.url}/further")
    bench.site.pages["/moved"] = moved(f"{canary.url}/")
    bench.run(hosts=(canary.host,))
    whys(bench, f"{bench.site.url}/b", f"{bench.site.url}/moved")
    bench.work()
    assert canary.hits == {}
    assert row(f"{canary.url}/further").outcome == "private_address"
    assert bench.state() == "finished"


@pytest.mark.site({"/": page("/a"), "/a": page("/")})
def test_nor_are_the_sitemaps_that_its_robots_txt_names(bench: Bench, canary: Site) -> None:
    bench.run(hosts=(canary.host,), sitemaps=True, recursive=False)
    before = canary.hits
    bench.site.pages["/robots.txt"] = f"Sitemap: {canary.url}/map.xml"
    bench.context.frontier.redis.flushall()  # robots.txt is requested again
    whys(bench, f"{bench.site.url}/a")
    bench.work()
    assert canary.hits == before


def test_pages_of_both_kinds_are_in_batches_of_their_own(bench: Bench) -> None:
    bench.start()
    whys(bench, f"{bench.site.url}/b", f"{bench.site.url}/c")
    reaches = set()
    while bench.state() == "running":
        dispatch(bench.context)
        reaches |= {
            (batch.policy.private_hosts, task.url.removeprefix(bench.site.url))
            for batch in [*_waiting(bench)]
            for part in batch.slices
            for task in part.pages
        }
        bench.work(at_most=1)
    everything, site = ("*",), (bench.site.host,)
    assert reaches == {(everything, "/"), (everything, "/a"), (site, "/b"), (site, "/c")}
    assert bench.site.hits["/c"] == 1


def _waiting(bench: Bench) -> list[Any]:
    from rq import Queue

    from crawler.core.protocol.messages import Batch
    from crawler.queueing import queues

    jobs = [job for job in Queue("fetch", connection=queues.connection()).jobs if job.args]
    return [Batch.from_plain(job.args[0]) for job in jobs]


def test_a_page_that_a_superuser_names_too_is_requested_by_that_right(bench: Bench) -> None:
    bench.run()
    whys(bench, f"{bench.site.url}/b")
    assert row(f"{bench.site.url}/b").public_only
    whys(bench, f"{bench.site.url}/b", by=OPERATOR)
    assert not row(f"{bench.site.url}/b").public_only
    bench.work()
    whys(bench, f"{bench.site.url}/b", again=True)
    assert row(f"{bench.site.url}/b").public_only


def test_pages_that_are_asked_for_again_keep_the_right_of_who_named_them(bench: Bench) -> None:
    bench.run()
    whys(bench, f"{bench.site.url}/b")
    bench.work()
    ask_again(bench.crawl.id, Page.objects.values_list("id", flat=True))
    kinds = dict(Page.objects.values_list("url", "public_only"))
    assert {url.removeprefix(bench.site.url): kind for url, kind in kinds.items()} == {
        **dict.fromkeys(("/", "/a"), False),
        **dict.fromkeys(("/b", "/c"), True),
    }


def test_a_response_of_another_crawl_is_not_shown_instead(bench: Bench, canary: Site) -> None:
    bench.run(response_ttl=600.0)
    bench.start(response_ttl=600.0)
    whys(bench, f"{bench.site.url}/a")
    bench.work()
    assert bench.site.hits["/a"] == 2
    assert bench.site.hits["/"] == 1


@pytest.mark.parametrize(
    "values",
    [{"include": ("/",)}, {"exclude": ("/x",)}, {"notify_webhooks": ("{canary}/hook",)}, {"login_fields": ("a=b",)}],
    ids=lambda values: next(iter(values)),
)
def test_a_member_does_not_change_where_requests_of_such_a_crawl_go(
    bench: Bench, canary: Site, values: dict[str, tuple[str, ...]]
) -> None:
    bench.start(stay_open=True)
    given = {name: tuple(value.format(canary=canary.url) for value in some) for name, some in values.items()}
    with pytest.raises(BadInput):
        change(bench.crawl.id, given, by=MEMBER)
    assert change(bench.crawl.id, {"delay": 1.0}, by=MEMBER)
    if "login_fields" not in given:
        assert change(bench.crawl.id, given, by=OPERATOR)


def test_an_owner_who_is_no_superuser_any_more_reaches_no_private_address(bench: Bench, canary: Site) -> None:
    root = a_person("root", superuser=True)
    a_list(bench, f"{bench.site.url}/", f"{canary.url}/")
    Crawl.objects.update(owner=root)
    type(root).objects.update(is_superuser=False)
    bench.work()
    assert canary.hits == {}
    assert (row(f"{canary.url}/").outcome, row(f"{bench.site.url}/").outcome) == ("private_address", "2xx")


def test_only_superusers_start_crawls_with_private_addresses(bench: Bench) -> None:
    ann, lines = a_person("ann"), BytesIO(f"{bench.site.url}/".encode())
    with pytest.raises(BadInput, match="Only a superuser"):
        load_list(lines, "list.txt", CrawlOptions(), owner=ann, allow_private=True)
