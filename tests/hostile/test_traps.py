"""One crawl of everything a hostile site can do: it ends, each trap comes to what the table says, and nobody knocks at
the canary."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis
from django.conf import settings
from django.test.utils import override_settings

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.counters import adds_up
from crawler.crawls.start import start_crawl
from tests.hostile.server import MOST, Server
from tests.hostile.traps import BODY_MB, HOSTS, MARKUP, SECURE, SITEMAPS, TRAPS, Host, Secure, Trap, contexts, hosts
from tests.http.differences import of_trap
from tests.stack import OWN_WORKER, Stack

OPTIONS: dict[str, Any] = {
    "externals": "check", "sitemaps": True, "concurrency": 64, "throttle": False, "max_depth": 6,
    "exclude": ("/flood/",), "keep": ("html", "text", "markdown"), "near_duplicates": True,
    "fields": (
        {"name": "first", "selector": "div > p, title"},
        {"name": "all", "selector": "[href]", "many": True, "pattern": "(a+)+$"},
    ),
}  # fmt: skip


LIMITS = {
    "CRAWLER_MAX_BODY_MB": str(BODY_MB), "CRAWLER_PAGE_SECONDS": "8", "CRAWLER_MAX_ATTEMPTS": "1",
    "CRAWLER_WORKER_MB": "10000",
}  # fmt: skip


LED_TO_BY_REFUSED = "/to/several-a"  # by one that libcurl refuses to read
CANARY_PAGES = {"area", "base/x", "canonical", "frame", "next", "redirected", "refresh", "relative", "tab", "x"}
"""What leads there; pictures, scripts, styles, forms and what else a page may name do not lead anywhere."""


@dataclass
class Crawled:
    """What came of it."""

    http_client: str
    server: Server
    stack: Stack
    crawl: UUID
    receipt: dict[str, Any]
    pages: dict[tuple[str, str], dict[str, Any]]  # (kind, URL) -> row
    peak: float  # MB of the worker

    def row(self, trap: Trap) -> dict[str, Any]:
        kind = "sitemap" if trap in SITEMAPS else "page"
        return self.pages[kind, f"http://{trap.host}:{self.server.port}{trap.path}"]


@pytest.fixture(
    scope="module", params=["builtin", *(pytest.param(name, marks=pytest.mark.long) for name in ("curl", "requests"))]
)
def crawled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, redis_url: str
) -> Iterator[Crawled]:
    client = redis.Redis.from_url(redis_url)
    client.flushall()
    client.close()
    folder = tmp_path_factory.mktemp("traps")
    tls, trusted = contexts(folder)
    with Server(hosts(), tls=tls) as server:
        stack = Stack(folder, redis_url, **LIMITS, SSL_CERT_FILE=str(trusted), CRAWLER_HTTP_CLIENT=request.param)
        try:
            worker = stack.spawn(*OWN_WORKER)
            crawl = stack.within(partial(started, server))
            receipt = stack.wait_until_finished(crawl, 120)
            stack.wait_for(lambda: not left_of(stack, crawl), 10)
            rows = stack.rows("SELECT * FROM crawler_page WHERE crawl_id = ?", crawl.hex)
            pages = {(row["kind"], row["url"]): row for row in rows}
            yield Crawled(request.param, server, stack, crawl, receipt, pages, peak_of(worker.pid))
        finally:
            stack.end()


def started(server: Server) -> UUID:
    """A crawl that may ask the addresses of the traps, to the port, and no other."""
    options = CrawlOptions.from_plain({**OPTIONS, "hosts": [*server.addresses, server.canary.address]})
    with override_settings(CRAWLER_PRIVATE_HOSTS=server.addresses, CRAWLER_MAX_BODY_MB=BODY_MB):
        return start_crawl([server.url], options).id


def left_of(stack: Stack, crawl: UUID) -> list[str]:
    """What Redis keeps of a crawl that is over, but for its dead letters, which stay for a day."""
    return [key for key in stack.left_over() if str(crawl) in key and not key.endswith(":dead")]


def peak_of(process: int) -> float:
    """MB of memory it had at the most."""
    said = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(said[1]) / 1024 if said else 0.0


def told(row: dict[str, Any], names: str) -> tuple[str, str]:
    """The outcome of a page, and of its error what is to stand in it: all of it where that is not so, or nothing is."""
    is_named = names and names in row["error"]
    return row["outcome"], names if is_named else row["error"]


@pytest.mark.parametrize("trap", [*TRAPS, *SITEMAPS], ids=lambda trap: trap.path)
def test_a_trap_comes_to_what_the_table_says(crawled: Crawled, trap: Trap) -> None:
    if crawled.http_client == "curl" and trap.path == LED_TO_BY_REFUSED:
        assert crawled.server.asked[trap.name] == 0
        return
    row = crawled.row(trap)
    outcome, names = of_trap(crawled.http_client, trap.path, trap.outcome, trap.names)
    assert told(row, names) == (outcome, names)
    assert (crawled.server.asked[trap.name] > 0) == (trap.outcome != "limit")
    assert crawled.server.taken[trap.name] <= trap.most


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.does)
def test_a_host_comes_to_what_the_table_says(crawled: Crawled, host: Host) -> None:
    row = crawled.pages["page", f"http://{host.address}:{crawled.server.port}/"]
    assert told(row, host.names) == (host.outcome, host.names)
    assert crawled.server.asked[f"{host.address}/robots.txt"] >= 1
    assert crawled.server.taken[f"{host.address}/robots.txt"] <= host.most


@pytest.mark.parametrize("host", SECURE, ids=lambda host: host.does)
def test_a_host_of_tls_comes_to_what_the_table_says(crawled: Crawled, host: Secure) -> None:
    row = crawled.pages["page", f"https://{host.address}:{crawled.server.port}/"]
    outcome, names = of_trap(crawled.http_client, host.address, host.outcome, host.names)
    assert told(row, names) == (outcome, names)
    assert crawled.server.asked[host.address] >= 1
    assert (crawled.server.asked[f"{host.address}/"] > 0) == (host.outcome == "2xx")  # nothing was said to the others


def test_nobody_knocks_at_the_canary(crawled: Crawled) -> None:
    assert crawled.server.canary.knocks == []
    port = f":{crawled.server.canary.port}/"
    led = {url: row for (_, url), row in crawled.pages.items() if port in url}
    assert {row["outcome"] for row in led.values()} == {"private_address"}
    assert {(row["kind"], url.replace(port, "/")) for url, row in led.items()} == {
        *(("external", f"http://{host}/") for host in ("0.0.0.0", "[::1]", "[::ffff:7f00:1]", "localhost")),
        *(("page", f"{scheme}://127.0.0.1/") for scheme in ("http", "https")),
        *(("page", f"http://127.0.0.1/{name}") for name in CANARY_PAGES),
        *(("sitemap", f"http://127.0.0.1/{name}") for name in ("map.xml", "sitemap.xml")),
    }


def test_what_can_be_read_is_read(crawled: Crawled) -> None:
    sent = {path for host in hosts().values() for path in host}
    assert "/seen/" in sent
    seen = {
        url.rpartition("/")[2] for (_, url), row in crawled.pages.items() if "/seen/" in url and row["outcome"] == "2xx"
    }
    expected = {"utf-16", "mark", "japanese", "zlib", "bomb", "endless", "seven", "quoted", "idna", "untyped"}
    assert seen >= expected | {"nested", "line", "comment", "tables", "base", "ze%EF%BF%BDros"}
    assert not [url for (_, url) in crawled.pages if "/unseen" in url]


@pytest.mark.parametrize("trap", MARKUP, ids=lambda trap: trap.path)
def test_markup_is_kept_as_text_and_read_by_rules(crawled: Crawled, trap: Trap) -> None:
    query = "SELECT kept, fields, notes FROM crawler_pagefacts WHERE page_id = ? AND crawl_id = ?"
    (facts,) = crawled.stack.rows(query, crawled.row(trap)["id"], crawled.crawl.hex)
    assert json.loads(facts["kept"]).keys() == set(OPTIONS["keep"])
    assert json.loads(facts["fields"]).keys() == {"first", "all"}


def test_of_two_locations_only_the_first_is_followed(crawled: Crawled) -> None:
    is_read = of_trap(crawled.http_client, "/to/several", "3xx", "")[0] == "3xx"
    assert crawled.server.asked["127.0.0.1/to/several-a"] == is_read
    assert crawled.server.asked["127.0.0.1/to/several-b"] == 0


def test_endless_pages_end(crawled: Crawled) -> None:
    outcomes = Counter(row["outcome"] for (_, url), row in crawled.pages.items() if "/endless/" in url)
    assert outcomes["limit"] + outcomes["trap"] == 3
    chain = [row["outcome"] for (_, url), row in crawled.pages.items() if "/to/chain/" in url]
    assert Counter(chain) == {"3xx": 11, "too_many_redirects": 1}


def test_the_receipt_adds_up_and_nothing_is_left(crawled: Crawled) -> None:
    assert adds_up(crawled.receipt)
    assert not [url for (_, url), row in crawled.pages.items() if row["outcome"] in ("", "crashed")]
    assert crawled.stack.rows("SELECT what FROM crawler_disagreement") == []
    assert left_of(crawled.stack, crawled.crawl) == []


def test_the_worker_is_alive_and_said_nothing_strange(crawled: Crawled) -> None:
    assert [child.poll() for child in crawled.stack.children] == [None]
    log = crawled.stack.log()
    assert "Traceback" not in log
    assert all(character.isprintable() or character == "\n" for character in log)


def test_the_worker_needed_no_more_memory_than_it_may_have(crawled: Crawled) -> None:
    assert 0 < crawled.peak < settings.CRAWLER_WORKER_MB
    assert sum(crawled.server.taken.values()) < len(crawled.server.taken) * MOST
