"""The examples of docs/queue.md do what they say: each command, the call of curl, and the Python code."""

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from crawler import clock
from crawler.core.access.permissions import Scope
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl, Page
from tests.api.calling import Caller, a_token
from tests.documented import commands, crawl_of, text_of
from tests.factories import a_crawl, a_page, a_person

DOCUMENT = text_of("queue.md")
MOMENT_S = 120.0  # which a test takes at most
HOUR_S = 3600.0
DEADLINE_S = 2 * HOUR_S  # of the crawl

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def root() -> User:
    return a_person("root", superuser=True)


@pytest.fixture
def crawl(root: User) -> Crawl:
    """One that is kept open, with pages that were fetched, not found, left out, and given up."""
    crawl = a_crawl(
        root,
        options=CrawlOptions(stay_open=True, deadline=DEADLINE_S),
        discovered=5,
        outcomes={"2xx": 1, "4xx": 1, "limit": 1, "timeout": 1, "dns": 1},
        statuses={"200": 1, "404": 1},
    )
    a_page(crawl, "https://example.com/prices")
    a_page(crawl, "https://example.com/gone", 404)
    a_page(crawl, "https://example.com/more", Outcome.LIMIT, error="beyond the limit of 2 pages")
    for url, outcome in (("https://example.com/slow", Outcome.TIMEOUT), ("https://other.example/", Outcome.DNS)):
        a_page(crawl, url, outcome, given_up=True, given_up_at=clock.epoch_seconds() - 60)
    return crawl


# What each command of the document does.


def opened(*urls: str, delay: float = 0, until: float = DEADLINE_S, priority: int = 5) -> Callable[..., None]:
    """These pages are open, and no others: due after `delay` seconds, or at once; closed `until` seconds from now."""

    def check(crawl: Crawl, out: str) -> None:
        now = clock.epoch_seconds()
        pages = {page.url: page for page in Page.objects.filter(crawl=crawl, status=Page.OPEN)}
        assert set(pages) == set(urls)
        for page in pages.values():
            assert page.priority == priority
            assert page.not_before == (pytest.approx(now + delay, abs=MOMENT_S) if delay else None)
            assert page.expires_at == pytest.approx(now + until, abs=MOMENT_S)

    return check


def opened_on(url: str, time: datetime) -> Callable[..., None]:
    def check(crawl: Crawl, out: str) -> None:
        [page] = Page.objects.filter(crawl=crawl, status=Page.OPEN)
        assert (page.url, page.not_before) == (url, max(time.timestamp(), page.not_before))  # a past time is now
        assert page.not_before <= max(time.timestamp(), clock.epoch_seconds())

    return check


def changed(**expected: object) -> Callable[..., None]:
    def check(crawl: Crawl, out: str) -> None:
        crawl.refresh_from_db()
        plain = {"stay_open": True, "deadline": DEADLINE_S, **expected}
        assert crawl.chosen == CrawlOptions(**{name: value for name, value in plain.items() if value is not None})

    return check


def told(*words: str, without: str = "") -> Callable[..., None]:
    """It prints these words, and changes nothing."""

    def check(crawl: Crawl, out: str) -> None:
        assert all(word in out for word in words), out
        assert not without or without not in out
        assert not Page.objects.filter(status=Page.OPEN).exists()

    return check


PRICES, GONE, MORE = (f"https://example.com/{name}" for name in ("prices", "gone", "more"))
SLOW, OTHER = "https://example.com/slow", "https://other.example/"
EFFECTS: dict[str, Callable[..., None]] = {
    "add ID https://example.com/new https://example.com/sale": opened(
        "https://example.com/new", "https://example.com/sale"
    ),
    "add ID --list urls.txt --priority 2": opened("https://example.com/listed", priority=2),
    "add ID https://example.com/news --delay 10m --ttl 1h": opened(
        "https://example.com/news", delay=600, until=600 + HOUR_S
    ),
    "add ID https://example.com/prices --not-before 2026-12-01T08:00": opened_on(
        PRICES, datetime(2026, 12, 1, 8, tzinfo=UTC)
    ),
    "again ID https://example.com/prices": opened(PRICES),
    "again ID --status 4xx --delay 1h": opened(GONE, delay=HOUR_S),
    "again ID --outcome limit": opened(MORE),
    "again ID --all": opened(PRICES, GONE, MORE, SLOW, OTHER),
    "add ID https://example.com/new": opened("https://example.com/new"),
    "finish ID": changed(stay_open=False),
    "change ID --delay 2 --concurrency 1": changed(delay=2.0, concurrency=1),
    "change ID --max-pages 500 --exclude '/archive/'": changed(max_pages=500, exclude=("/archive/",)),
    "change ID --without deadline --notify me@example.com": changed(deadline=None, notify_emails=("me@example.com",)),
    "change ID --priority '/blog/=1'": changed(priorities=("/blog/=1",)),
    "dead-letters": told(SLOW, OTHER),
    "dead-letters --counts": told("timeout", "dns"),
    "dead-letters --outcome timeout --host example.com --since 2h": told(SLOW, without=OTHER),
    "retry-failed --outcome timeout --since 2h": opened(SLOW),
    "retry-failed --all": opened(SLOW, OTHER),
}
NEW_THERE = {"add ID https://example.com/prices --not-before 2026-12-01T08:00": PRICES}
"""Commands whose page the crawl does not know yet."""


def test_each_command_of_the_document_has_its_effect_here() -> None:
    assert set(EFFECTS) == set(commands(DOCUMENT, "python manage.py"))


@pytest.mark.parametrize("command", EFFECTS)
def test_each_command_does_what_it_says(
    command: str,
    crawl: Crawl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Page.objects.filter(url=NEW_THERE.get(command)).delete()
    (tmp_path / "urls.txt").write_text("https://example.com/listed\n")
    monkeypatch.chdir(tmp_path)
    name, *words = shlex.split(command)
    call_command(name.replace("-", "_"), *[str(crawl.id) if word == "ID" else word for word in words])
    EFFECTS[command](crawl, capsys.readouterr().out)


CRAWLS: dict[str, dict[str, Any]] = {
    "https://example.com/ --stay-open": {"stay_open": True},
    "--list urls.csv --export results.jsonl": {},
    r"https://example.com/ --priority '/news/=9' --priority '\?page=\d+=1' --priority '.=3'": {
        "priorities": ("/news/=9", r"\?page=\d+=1", ".=3")
    },
    "https://example.com/ --weight 10": {"weight": 10},
    "--list checks.csv --ack early": {"ack": "early"},
}
"""Arguments of bin/crawl -> the options they choose."""


def test_bin_crawl_understands_its_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(CRAWLS) == set(commands(DOCUMENT, "bin/crawl"))
    for command, options in CRAWLS.items():
        typed, chosen = crawl_of(command)
        assert chosen == options
        assert typed["urls"] == re.findall(r"^https:\S+", command)
        assert [typed["list"] or ""] == (re.findall(r"--list (\S+)", command) or [""])
    assert crawl_of("--list urls.csv --export results.jsonl")[0]["export"] == "results.jsonl"


def test_the_call_of_curl_adds_its_pages_once(crawl: Crawl, root: User) -> None:
    [(headers, body, path)] = re.findall(
        r"^curl ((?:.*\n)+?)  -d '(\{.*?\})' \\\n  http://127\.0\.0\.1:8000/api/v1(\S+)$", DOCUMENT, re.MULTILINE
    )
    sent = dict(re.findall(r"-H [\"']([\w-]+): (.*?)[\"']", headers))
    assert sent.pop("Authorization") == "Bearer $TOKEN"
    assert sent.pop("Content-Type") == "application/json"
    caller, address = Caller(a_token(root, Scope.CRAWLS_WRITE)), path.replace("$CRAWL", str(crawl.id))
    first, second = (
        caller.post(address, body, **{name.replace("-", "_"): value for name, value in sent.items()}) for _ in range(2)
    )
    assert first.json()["added"] == 2
    assert (second.json(), second["Idempotency-Replayed"]) == (first.json(), "true")
    opened("https://example.com/a", "https://example.com/b", delay=2, priority=9)(crawl, "")


def test_the_python_example_adds_pages_tells_what_was_refused_and_finishes_the_crawl(
    crawl: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    in_an_hour = timezone.now() + timedelta(hours=1)
    exec(example, {"crawl_id": crawl.id})  # noqa: S102 (our own documentation)
    assert capsys.readouterr().out == "1 added; 1 refused: It is outside the crawl's scope.\n"
    page = Page.objects.get(status=Page.OPEN, url="https://example.com/a")
    assert page.priority == 9
    assert page.not_before == pytest.approx(in_an_hour.timestamp(), abs=MOMENT_S)
    crawl.refresh_from_db()
    assert (crawl.chosen.stay_open, crawl.state) == (False, "running")  # its page is open for an hour yet


def test_the_bodies_of_the_curl_examples_are_taken(crawl: Crawl) -> None:
    from crawler.api.routes.queue import PagesToAdd

    all_alike, own = (
        PagesToAdd.model_validate_json(body) for body in re.findall(r"-d '(\{.*?\})'", DOCUMENT, re.DOTALL)
    )
    assert (len(all_alike.urls), all_alike.place().priority) == (2, 9)
    pages = [(page.place.priority, page.place.ttl, page.meta, page.why) for page in own.pages()]
    assert pages == [(None, None, None, ""), (9, 1800.0, {"customer": "4711"}, ""), (None, None, None, "")]
