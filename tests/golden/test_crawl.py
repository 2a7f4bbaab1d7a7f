"""A crawl of a small site gives the same exports, receipt and JSON as ever."""

import json
from collections.abc import Iterator
from uuid import UUID

import pytest
import redis
from django.contrib.auth.models import User
from syrupy.assertion import SnapshotAssertion

from crawler.core.access.permissions import Scope
from crawler.core.pages.content_formats import PICTURES
from crawler.core.protocol.messages import PAGE
from crawler.exports.formats import FORMATS
from crawler.models import Page
from tests.api.calling import Caller, a_token
from tests.golden.exported import Crawled, readable
from tests.golden.masking import masked
from tests.golden.site import RULES, pages
from tests.site import Site
from tests.stack import OWN_WORKER, Stack


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Crawled]:
    redis.Redis.from_url(redis_url).flushall()
    stack = Stack(tmp_path_factory.mktemp("golden"), redis_url)
    try:
        stack.spawn(*OWN_WORKER)
        with Site({}).serving() as elsewhere, Site(pages(f"{elsewhere.url}/")).serving() as site:
            crawl = stack.start(
                f"{site.url}/",
                concurrency=1,
                sitemaps=True,
                externals="check",
                near_duplicates=True,
                fields=RULES,
                keep=("html", "text", "markdown", "warc"),
            )
            stack.wait_until_finished(crawl)
        names = {str(crawl): "CRAWL", site.host: "site.test", elsewhere.host: "elsewhere.test"}
        in_files = {word.replace(":", "_"): name for word, name in names.items()}
        yield Crawled(stack, crawl, {**names, **in_files})
    finally:
        stack.end()


@pytest.mark.parametrize("key", [key for key, made in FORMATS.items() if made.form not in PICTURES])
def test_an_export(key: str, crawled: Crawled, golden: SnapshotAssertion) -> None:
    assert masked(readable(key, crawled.written(key)), crawled.names) == golden


def test_the_links_to_other_sites(crawled: Crawled, golden: SnapshotAssertion) -> None:
    assert masked(readable("csv", crawled.written("csv", externals=True)), crawled.names) == golden


def test_the_receipt(crawled: Crawled, golden: SnapshotAssertion) -> None:
    assert masked(json.dumps(crawled.stack.receipt(crawled.id), indent=1), crawled.names) == golden


def test_what_the_api_says(crawled: Crawled, golden: SnapshotAssertion) -> None:
    told = crawled.stack.within(lambda: dict(_answers(crawled.id)))
    assert masked(json.dumps(told, indent=1, ensure_ascii=False), crawled.names) == golden


def _answers(crawl: UUID) -> Iterator[tuple[str, object]]:
    someone = User.objects.create(username="someone", is_superuser=True, is_staff=True)
    caller = Caller(a_token(someone, *Scope))
    start = Page.objects.get(crawl=crawl, depth=0, kind=PAGE).id
    reports = [report["slug"] for report in caller.get(f"/crawls/{crawl}/reports").json()["items"]]
    places = [
        *(
            "",
            "/receipt",
            "/why",
            "/figures",
            "/pages?limit=100",
            "/dead-letters",
            "/orphans",
            "/reports",
            "/comparisons",
        ),
        *(f"/pages/{start}{part}" for part in ("", "/links-out", "/links-in", "/ways")),
        *(f"/reports/{slug}" for slug in reports),
        *("/reports", "/graph", "/traps", "/notices", "/exports"),
    ]
    for place in places:
        answer = caller.get(f"/crawls/{crawl}{place}")
        assert answer.status_code == 200, (place, answer.content)
        told = answer.json()
        told.pop("pace", None)  # how the crawl went second by second
        yield place, told
