"""With CRAWLER_LOG_URLS each URL has a line in the log, whichever worker asks for it."""

import json

import pytest

from tests.site import Site, page
from tests.stack import OWN_WORKER, Stack

PAGES = {"/": page("/a", "/gone"), "/a": page()}
STOCK_WORKER = ("rq", "worker", "crawl", "fetch")


@pytest.mark.parametrize(
    "worker",
    [
        pytest.param(STOCK_WORKER, id="a stock worker", marks=pytest.mark.long),
        pytest.param(OWN_WORKER, id="the project's own"),
    ],
)
@pytest.mark.parametrize("setting", ["1", pytest.param("0", marks=pytest.mark.long)])
def test_each_url_has_its_line_when_the_setting_says_so(stack: Stack, worker: tuple[str, ...], setting: str) -> None:
    stack.env |= {"CRAWLER_LOG_URLS": setting, "CRAWLER_LOG_FORMAT": "json", "CRAWLER_LOG_LEVEL": "WARNING"}
    stack.spawn(*worker)
    with Site(PAGES).serving() as site:
        crawl = stack.start(f"{site.url}/")
        stack.wait_until_finished(crawl)
        start = f"{site.url}/"
    told = [json.loads(line) for line in stack.log().splitlines() if line.startswith("{")]
    lines = {line["url"]: line for line in told if line["logger"] == "crawler.urls"}
    if setting == "0":
        assert lines == {}
        return
    assert lines.keys() == stack.pages(crawl).keys() == {start, f"{start}a", f"{start}gone"}
    assert [(line["outcome"], line["status"]) for _, line in sorted(lines.items())] == [
        ("2xx", 200),
        ("2xx", 200),
        ("4xx", 404),
    ]
    first, row = lines[start], stack.pages(crawl)[start]
    assert (first["crawl"], first["page"], first["level"]) == (str(crawl), row["id"], "INFO")
    assert (first["bytes"], first["ms"], first["attempt"]) == (row["bytes"], row["elapsed_ms"], 1)
    assert first["started"].endswith("+00:00")
