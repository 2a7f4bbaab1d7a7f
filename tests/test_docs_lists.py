"""docs/queue.md: its lists and rules are read as it says."""

import re
from pathlib import Path

from crawler.core.options.catalogue import CrawlOptions, check_options
from crawler.core.politeness.priorities import priority_of
from crawler.core.url_lists.entries import Entry, entries_of

QUEUE = (Path(__file__).resolve().parent.parent / "docs" / "queue.md").read_text()
A, B, C = (f"https://example.com/{name}" for name in "abc")
LATER = 1795464900.0


def example(language: str) -> list[object]:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", QUEUE, re.MULTILINE | re.DOTALL)
    return list(entries_of([block.encode()], "urls.txt"))


def test_the_table_is_read_as_the_page_says() -> None:
    assert example("csv") == [
        Entry(2, A, 9, meta={"customer": "4711"}),
        Entry(3, B, ttl=1800.0),
        Entry(4, C, not_before=LATER, meta={"customer": "0815"}),
    ]


def test_the_json_lines_are_read_as_the_page_says() -> None:
    assert example("json") == [
        Entry(1, A, 9, meta={"customer": 4711}),
        Entry(2, B, ttl=1800.0),
        Entry(3, C, not_before=LATER, meta={"customer": "0815"}),
    ]


def test_the_rules_give_the_priorities_that_the_page_says() -> None:
    rules = tuple(re.findall(r"--priority '(.*?)'", QUEUE))
    check_options(CrawlOptions(priorities=rules))
    paths = ("news/1?page=2", "shop/?page=2", "")
    assert [priority_of(f"https://example.com/{path}", None, rules) for path in paths] == [9, 1, 3]
