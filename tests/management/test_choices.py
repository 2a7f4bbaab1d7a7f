"""What the words behind `crawl` come to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawler.core.crawl.options import CrawlOptions
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule
from crawler.core.urls.query_params import USUAL
from crawler.management.commands.crawl import Command
from crawler.management.crawl_options import chosen

EVERYTHING = {
    "max_pages": (["--max-pages", "10"], 10),
    "max_depth": (["--max-depth", "2"], 2),
    "max_bytes": (["--max-bytes", "1.5GB"], 1_500_000_000),
    "include": (["--include", "/a/", "--include", "/b/"], ("/a/", "/b/")),
    "exclude": (["--exclude", "/c/"], ("/c/",)),
    "subdomains": (["--subdomains"], True),
    "hosts": (["--host", "a.test", "--host", "*.b.test"], ("a.test", "*.b.test")),
    "path_prefixes": (["--path-prefix", "/docs/"], ("/docs/",)),
    "recursive": (["--no-recursive"], False),
    "externals": (["--externals", "check"], "check"),
    "traps": (["--no-traps"], False),
    "drop_parameters": (["--drop-parameter", "ref"], (*USUAL, "ref")),
    "sitemaps": (["--sitemaps"], True),
    "sitemap_urls": (["--sitemap", "https://a.test/map.xml"], ("https://a.test/map.xml",)),
    "delay": (["--delay", "0.5"], 0.5),
    "per_minute": (["--per-minute", "30"], 30.0),
    "concurrency": (["--concurrency", "1"], 1),
    "throttle": (["--no-throttle"], False),
    "obey_robots": (["--ignore-robots"], False),
    "obey_nofollow": (["--obey-nofollow"], True),
    "obey_noindex": (["--obey-noindex"], True),
    "near_duplicates": (["--near-duplicates"], True),
    "revisit": (["--revisit"], True),
    "response_ttl": (["--cache", "60s"], 60.0),
    "keep": (["--keep", "warc", "--keep", "html", "--keep", "warc"], ("warc", "html")),
    "deadline": (["--deadline", "2h"], 7200.0),
    "page_ttl": (["--page-ttl", "90"], 90.0),
    "notify_emails": (["--notify", "a@b.test"], ("a@b.test",)),
    "notify_webhooks": (["--notify", "https://b.test/hook"], ("https://b.test/hook",)),
    "notify_slack": (
        ["--notify", "https://hooks.slack.com/services/T/B/X"],
        ("https://hooks.slack.com/services/T/B/X",),
    ),
    "notify_discord": (["--notify", "discord:https://b.test/api/webhooks/1/X"], ("https://b.test/api/webhooks/1/X",)),
    "notify_events": (["--notify-on", "started", "--notify-on", "crawl.page"], ("crawl.started", "crawl.page")),
}
"""Option -> the words that change it, and what it is then."""


def options_for(*words: str) -> CrawlOptions:
    parser = Command().create_parser("manage.py", "crawl")
    return chosen(vars(parser.parse_args(["https://a.test/", *words])))


def test_a_url_alone_means_the_default_options() -> None:
    assert options_for() == CrawlOptions()


def test_every_option_can_be_typed() -> None:
    others = {"private_hosts", "fields"}  # that is --allow-private, and below
    assert set(EVERYTHING) == set(CrawlOptions.__struct_fields__) - others
    words = [word for typed, _ in EVERYTHING.values() for word in typed]
    assert options_for(*words) == CrawlOptions(**{name: value for name, (_, value) in EVERYTHING.items()})


def test_rules_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("title: h1\n")
    assert options_for("--fields", str(file)).fields == (FieldRule(name="title", selector="h1"),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "there are no rules in it"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"- name: a", "Rule 1 ('a') has no selector"),
    ],
)
def test_a_file_that_holds_no_rules_is_bad_input(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "rules.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInput, match=re.escape(said)):
        options_for("--fields", str(file))


def test_the_usual_parameters_can_be_kept() -> None:
    assert options_for("--keep-parameters").drop_parameters == ()
    assert options_for("--keep-parameters", "--drop-parameter", "sid").drop_parameters == ("sid",)
