"""A crawl of several hosts through two proxies, of which one dies on the way; under a User-Agent of its own, with a
field that an XPath expression finds."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.http.proxy import ProxyServer
from tests.site import Reply, Site, page
from tests.stack import Stack

HOSTS, PAGES = 6, 8
COMMAND = ("python", "manage.py", "crawl", "--allow-private", "--ignore-robots", "--concurrency", "1", "--json")


@pytest.mark.long
def test_a_proxy_that_dies_costs_no_page(stack: Stack, tmp_path: Path) -> None:
    urls, rules, export = tmp_path / "urls.txt", tmp_path / "rules.yaml", tmp_path / "pages.jsonl"
    rules.write_text("heading: {xpath: //title}\n")
    answer = Reply(page(title="A kettle"), after=0.3)
    with ExitStack() as held, ThreadPoolExecutor(1) as thread:
        sites = [held.enter_context(Site({f"/{n}": answer for n in range(PAGES)}).serving()) for _ in range(HOSTS)]
        urls.write_text("\n".join(f"{site.url}{path}" for site in sites for path in site.pages))
        living = [held.enter_context(ExitStack()) for _ in range(2)]
        proxies = [life.enter_context(ProxyServer()) for life in living]
        named = [word for proxy in proxies for word in ("--proxy", f"http://127.0.0.1:{proxy.port}")]
        stack.start_worker()
        more = ("--list", str(urls), "--fields", str(rules), "--export", str(export), "--user-agent", "Kettles/1")
        done = thread.submit(stack.run, *COMMAND, *named, *more)
        stack.wait_for(lambda: any(proxy.targets() for proxy in proxies))
        next(life for life, proxy in zip(living, proxies, strict=True) if proxy.targets()).close()
        receipt = json.loads(done.result().stdout)
    assert (receipt["discovered"], receipt["fetched"]) == (HOSTS * PAGES, HOSTS * PAGES)
    rows = [json.loads(line) for line in export.read_text().splitlines()]
    assert {(row["outcome"], row["heading"]) for row in rows} == {("2xx", "A kettle")}
    assert {request.headers["User-Agent"] for site in sites for request in site.requests} == {"Kettles/1"}
