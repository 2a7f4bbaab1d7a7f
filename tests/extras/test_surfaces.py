"""Where an extra is wanted and missing, each surface names it with what to type, and nothing is made."""

import html
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from crawler import extras
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.content_formats import FORMS, MARKDOWN, WARC
from crawler.crawls.start import start_crawl
from crawler.exports.formats import FORMATS
from crawler.extras import Extra
from crawler.frontier.slots import LaneSlots
from crawler.models import Crawl, Page, Schedule
from crawler.settings import sign_in
from tests.api.calling import Caller
from tests.bench import Bench
from tests.factories import a_finished_crawl, a_page
from tests.management.calls import exit_code
from tests.missing import leave_out
from tests.site import page

pytestmark = pytest.mark.django_db

SITE = "http://127.0.0.1:8/"
XPATH_RULE = {"name": "title", "xpath": "//h1"}

EXPORTS = [(key, made.extra) for key, made in FORMATS.items() if made.extra is not None]
each_export = pytest.mark.parametrize(("key", "extra"), EXPORTS, ids=[key for key, _ in EXPORTS])

WANTED = {
    "markdown": (extras.MARKDOWN, {"keep": [MARKDOWN]}, {"keep_markdown": "on"}, ["--keep", "markdown"]),
    "warc": (extras.WARC, {"keep": [WARC]}, {"keep_warc": "on"}, ["--keep", "warc"]),
    "xpath": (
        extras.XPATH,
        {"fields": [XPATH_RULE]},
        {"rules": "title: {xpath: //h1}"},
        ["--fields", "rules.yaml"],
    ),
    "scrapy": (extras.SCRAPY, {"engine": "scrapy"}, {"engine": "scrapy"}, ["--engine", "scrapy"]),
    "browser": (extras.BROWSER, {"render": "auto"}, {"render": "auto"}, ["--render", "auto"]),
}
"""What a crawl may ask for: the extra, and how it is asked for in the API, on the form and on the command line."""
each_wanted = pytest.mark.parametrize(("extra", "sent", "typed", "words"), WANTED.values(), ids=WANTED)


@each_wanted
def test_the_form_refuses_a_crawl_that_asks_for_it(
    as_root: Client,
    real_redis: object,
    monkeypatch: pytest.MonkeyPatch,
    extra: Extra,
    sent: dict[str, Any],
    typed: dict[str, str],
    words: list[str],
) -> None:
    leave_out(monkeypatch, extra)
    response = as_root.post("/crawls/", {"start_urls": SITE, "allow_private": "on", **typed})
    assert response.status_code == 400
    assert extra.missing in html.unescape(response.content.decode())
    assert not Crawl.objects.exists()


@each_wanted
def test_the_api_refuses_it_with_a_problem(
    by_root: Caller,
    real_redis: object,
    monkeypatch: pytest.MonkeyPatch,
    extra: Extra,
    sent: dict[str, Any],
    typed: dict[str, str],
    words: list[str],
) -> None:
    leave_out(monkeypatch, extra)
    response = by_root.post("/crawls", {"start_urls": [SITE], "allow_private": True, **sent})
    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert extra.missing in error["detail"]
    assert error["pointer"].startswith(f"#/{next(iter(sent))}")
    assert not Crawl.objects.exists()


@each_wanted
def test_the_command_refuses_it_in_one_line(
    real_redis: object,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    extra: Extra,
    sent: dict[str, Any],
    typed: dict[str, str],
    words: list[str],
) -> None:
    (tmp_path / "rules.yaml").write_text("title: {xpath: //h1}\n")
    monkeypatch.chdir(tmp_path)
    leave_out(monkeypatch, extra)
    assert exit_code("crawl", SITE, "--allow-private", *words) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert printed.err.endswith(f"{extra.missing}\n")
    assert not Crawl.objects.exists()


@each_wanted
def test_no_schedule_is_made_of_it(
    by_root: Caller,
    real_redis: object,
    monkeypatch: pytest.MonkeyPatch,
    extra: Extra,
    sent: dict[str, Any],
    typed: dict[str, str],
    words: list[str],
) -> None:
    leave_out(monkeypatch, extra)
    body = {"start_urls": [SITE], "allow_private": True, "schedule": "every 1d", **sent}
    assert by_root.post("/crawls", body).status_code == 422
    assert not Schedule.objects.exists()


def test_a_browser_worker_of_another_machine_renders_what_this_one_cannot(
    real_redis: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crawler.capabilities.browser.lanes import RENDER
    from crawler.clock import epoch_seconds

    leave_out(monkeypatch, extras.BROWSER)
    with pytest.raises(BadInput, match="playwright"):
        start_crawl([SITE], CrawlOptions(render="auto"), allow_private=True)
    LaneSlots(real_redis, RENDER).register("elsewhere", 6, epoch_seconds())
    assert start_crawl([SITE], CrawlOptions(render="auto"), allow_private=True).state == "running"


@pytest.mark.parametrize(
    ("extra", "options"),
    [
        (extras.MARKDOWN, {"keep": ("markdown",)}),
        (extras.WARC, {"keep": ("warc",)}),
        (extras.XPATH, {"fields": (FieldRule(name="title", xpath="//h1"),)}),
    ],
)
@pytest.mark.site({"/": page()})
def test_a_worker_without_it_leaves_the_page_to_another(
    database_and_redis: None, bench: Bench, monkeypatch: pytest.MonkeyPatch, extra: Extra, options: dict[str, Any]
) -> None:
    bench.start(**options)
    leave_out(monkeypatch, extra)
    monkeypatch.setattr("crawler.fetcher.slice.MISSING_PAUSE_S", 0.0)
    for queue in ("crawl", "fetch", "crawl"):
        bench.work(queue, at_most=1)
    left = Page.objects.get(crawl=bench.crawl)
    assert (left.status, left.attempts) == (Page.OPEN, 0)


@each_export
def test_the_page_of_exports_says_it_and_sends_no_file(
    as_root: Client, root: User, monkeypatch: pytest.MonkeyPatch, key: str, extra: Extra
) -> None:
    crawl = a_finished_crawl(root, options=CrawlOptions(keep=FORMS))
    leave_out(monkeypatch, extra)
    shown = html.unescape(as_root.get(f"/crawls/{crawl.id}/exports/").content.decode())
    assert shown.count(extra.missing) == 1
    assert f"export.{key}" not in shown
    response = as_root.get(f"/crawls/{crawl.id}/export.{key}")
    assert response.status_code == 400
    assert "Content-Disposition" not in response
    assert html.unescape(response.content.decode()).count(extra.missing) == 2  # on top, and at the format


@each_export
def test_the_api_does_not_list_it_and_says_it_as_a_problem(
    by_root: Caller, root: User, monkeypatch: pytest.MonkeyPatch, key: str, extra: Extra
) -> None:
    crawl = a_finished_crawl(root, options=CrawlOptions(keep=FORMS))
    leave_out(monkeypatch, extra)
    listed = by_root.get(f"/crawls/{crawl.id}/exports").json()["items"]
    assert {one["format"] for one in listed} == FORMATS.keys() - {key}
    response = by_root.get(f"/crawls/{crawl.id}/exports/{key}")
    assert (response.status_code, response["Content-Type"]) == (422, "application/problem+json")
    assert extra.missing in response.json()["errors"][0]["detail"]


@each_export
def test_the_command_says_it_and_writes_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, extra: Extra
) -> None:
    crawl = a_finished_crawl(options=CrawlOptions(keep=FORMS))
    a_page(crawl)
    leave_out(monkeypatch, extra)
    assert exit_code("export", str(crawl.id), "--format", key, "--output", str(tmp_path / "file")) == 2
    assert capsys.readouterr() == ("", f"{extra.missing}\n")
    assert list(tmp_path.iterdir()) == []


@each_export
def test_a_crawl_whose_export_cannot_be_written_is_not_started(
    real_redis: object,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    key: str,
    extra: Extra,
) -> None:
    leave_out(monkeypatch, extra)
    assert exit_code("crawl", SITE, "--allow-private", "--export", str(tmp_path / f"pages.{key}")) == 2
    assert capsys.readouterr() == ("", f"{extra.missing}\n")
    assert not Crawl.objects.exists()
    assert list(tmp_path.iterdir()) == []


def test_the_setting_for_a_second_factor_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_ALLAUTH", "on")
    leave_out(monkeypatch, extras.AUTH)
    with pytest.raises(ImproperlyConfigured) as refused:
        sign_in.settings_of([], [])
    assert str(refused.value) == extras.AUTH.missing
