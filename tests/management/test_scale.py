"""`manage.py scale`: how many workers would be useful."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from redis import Redis

from tests.factories import a_crawl, a_finished_crawl
from tests.management.calls import exit_code
from tests.web.conftest import NOWHERE

pytestmark = pytest.mark.django_db


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    call_command("scale", *words)
    return capsys.readouterr().out


def test_nothing_to_do_is_told(real_redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    a_finished_crawl()
    assert json.loads(said(capsys, "--json")) == {
        "wanted": 0,
        "running": 0,
        "browsers_wanted": 0,
        "browsers_running": 0,
        "reasons": ["Nothing is due within 60 seconds."],
    }
    assert len(said(capsys).splitlines()) == 2


def test_a_crawl_that_waits_for_its_first_tick_has_a_line(
    real_redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = a_crawl()
    found = json.loads(said(capsys, "--json"))
    assert (found["wanted"], found["running"]) == (1, 0)
    first, last = found["reasons"]
    assert str(crawl.pk) in first
    lines = said(capsys).splitlines()
    assert lines[1:] == [first, last]


def test_it_says_when_redis_is_down(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    settings.REDIS_URL = NOWHERE
    assert exit_code("scale") == 1
    assert "Redis" in capsys.readouterr().err
