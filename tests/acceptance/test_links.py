"""Every link of a site, from a crawl by a stock worker to the file of links and the reports."""

import csv
import json

import pytest
from django.core.management import call_command

from tests.site import Site
from tests.stack import Stack

HOME = """<title>Home</title><nav><a href=/a>Menu</a></nav><p><a href=/a rel=nofollow>Text</a> <a href=/a#part>Part</a>
<a href=htp:/x>Typo</a> <a href='http://[::1'>Bracket</a> <a href=mailto:a@b.c>Mail</a></p><a href=/gone>1</a>
<a href=/gone>2</a><svg><a xlink:href=/drawn><text>Drawn</text></a></svg>"""
PAGES = {"/": HOME, "/a": "<a href=/gone>3</a>", "/drawn": "<a href=//>Nowhere</a>"}
PAGES = {path: f"<!DOCTYPE html><html><body>{html}</body></html>" for path, html in PAGES.items()}


def test_every_link_is_told_and_none_vanishes(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    stack.start_worker()
    with Site(PAGES).serving() as site:
        crawl = stack.start(site.url)
        stack.wait_until_finished(crawl)

    def told_by(command: str, *words: str) -> list[str]:
        """The lines on stdout."""
        stack.within(lambda: call_command(command, str(crawl), *words))
        return capsys.readouterr().out.splitlines()

    lines = [list(line.values()) for line in csv.DictReader(told_by("export", "--format", "links.csv"))]
    home = f"{site.url}/"
    assert [[line[1].removeprefix(site.url), *line[2:]] for line in lines if line[0] == home] == [
        ["/a", "Menu", "", "200", ""],
        ["/a", "Text", "nofollow", "200", ""],
        ["/a", "Part", "", "200", ""],
        ["/gone", "1", "", "404", ""],
        ["/gone", "2", "", "404", ""],
        ["/drawn", "Drawn", "", "200", ""],
        ["htp:/x", "Typo", "", "malformed", "unknown scheme htp"],
        ["http://[::1", "Bracket", "", "malformed", "not a valid URL: invalid host"],
    ]
    assert [line[1:] for line in lines if line[0] == f"{site.url}/drawn"] == [
        ["//", "Nowhere", "", "malformed", "not a valid URL: no host"]
    ]
    malformed = [json.loads(line) for line in told_by("report", "malformed-links", "--json")]
    assert [(row["page"], row["written"], row["text"]) for row in malformed] == [
        (home, "htp:/x", "Typo"),
        (home, "http://[::1", "Bracket"),
        (f"{site.url}/drawn", "//", "Nowhere"),
    ]
    assert [json.loads(line)["text"] for line in told_by("report", "broken-links", "--json")] == ["1", "2", "3"]
