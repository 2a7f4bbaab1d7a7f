"""The examples of docs/hooks.md, docs/login.md and docs/scrapy.md do what they say."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command

from crawler.core.access.credentials import parse
from crawler.encryption import opened
from crawler.launch import worker
from crawler.management.inputs import credentials_of
from crawler.models import Crawl
from tests.documented import commands, crawl_of, text_of
from tests.factories import a_crawl_that_logs_in

HOOKS, LOGIN, SCRAPY = map(text_of, ("hooks.md", "login.md", "scrapy.md"))
PASSWORD = "swordfish-9"


def test_the_command_of_the_hooks_writes_a_module(tmp_path: Path) -> None:
    [words] = re.findall(r"`python manage\.py new-hook (\S+ --folder) /srv/hooks`", HOOKS)
    call_command("new_hook", *words.split(), str(tmp_path))
    assert {file.name for file in tmp_path.iterdir()} == {"my_prices.py", "test_my_prices.py"}


def test_bin_crawl_understands_how_to_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_PASSWORD", PASSWORD)
    command, resumed = commands(LOGIN, "bin/crawl")
    assert crawl_of(resumed)[0]["login_field"] == ["user=ann", "password=env:SITE_PASSWORD"]
    typed, options = crawl_of(command)
    assert typed["urls"] == ["https://example.com/"]
    assert options == {"login_url": "https://example.com/login", "login_check": "a.my-account"}
    assert credentials_of(typed) == parse(login_fields=["user=ann", f"password={PASSWORD}"])


@pytest.mark.django_db
@pytest.mark.usefixtures("real_redis")
def test_a_crawl_with_a_wrong_password_gets_another_one_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_PASSWORD", PASSWORD)
    crawl = a_crawl_that_logs_in()
    change, resume = commands(LOGIN, "python manage.py")
    by_manage_py(change, crawl)
    assert opened(crawl.sealed) == parse(
        headers=["X-Key: swordfish-1"], login_fields=["user=ann", f"password={PASSWORD}"]
    )
    assert crawl.state == "paused"
    by_manage_py(resume, crawl)
    assert crawl.state == "running"


@pytest.mark.django_db
@pytest.mark.usefixtures("real_redis")
def test_a_page_that_this_user_may_not_see_is_left_out() -> None:
    crawl = a_crawl_that_logs_in()
    [command] = re.findall(r"`manage\.py (change ID [^`]+)`", LOGIN)
    by_manage_py(command, crawl)
    assert crawl.chosen.exclude == ("/admin/",)


def by_manage_py(command: str, crawl: Crawl) -> None:
    name, *words = shlex.split(command)
    call_command(name, *[str(crawl.id) if word == "ID" else word for word in words])
    crawl.refresh_from_db()


def test_bin_crawl_understands_how_to_use_scrapy() -> None:
    assert [(typed["urls"], options) for typed, options in map(crawl_of, commands(SCRAPY, "bin/crawl"))] == [
        (["https://example.com/"], {"engine": "scrapy"}),
        (["https://shop.example/"], {"engine": "scrapy", "spider": "shop.spiders.Prices"}),
    ]


def test_its_worker_is_started_by_either_command(monkeypatch: pytest.MonkeyPatch) -> None:
    [line] = commands(SCRAPY, "bin/worker")
    executed: list[list[str]] = []
    monkeypatch.setattr(worker.os, "execve", lambda program, words, variables: executed.append(words))
    worker.main(shlex.split(line, comments=True))
    assert [words[-1] for words in executed] == ["scrapy"]
    [other] = re.findall(r"# .*: rq worker (\w+)", line)
    assert other == "scrapy"
