import json

import pytest
from django.core.management import call_command
from redis import Redis

from crawler.core.protocol.completion import State
from tests.factories import make_crawl, make_page
from tests.web.conftest import NOWHERE

pytestmark = pytest.mark.django_db


@pytest.fixture
def without_redis(settings: object) -> None:
    settings.REDIS_URL = NOWHERE  # type: ignore[attr-defined]  # pytest-django's wrapper has no types


def test_the_answer_comes_first_then_what_is_open(real_redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=1)
    make_page(crawl, "http://site.test/")
    call_command("why", str(crawl.id))
    shown = capsys.readouterr().out
    assert shown.startswith("No worker is running: start one with bin/worker.\n")
    assert "\n1 open page\nSTATE  PAGE" in shown


def test_whoever_asks_wakes_a_crawl_with_no_sign_of_life(real_redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=1)
    make_page(crawl, "http://site.test/")
    call_command("why", str(crawl.id), "--json")
    assert json.loads(capsys.readouterr().out)["manager"]["doing"] == "coming"
    assert real_redis.llen("rq:queue:crawl") == 1


@pytest.mark.usefixtures("without_redis")
def test_without_redis_the_table_is_still_told(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=1)
    make_page(crawl, "http://site.test/")
    call_command("why", str(crawl.id))
    shown = capsys.readouterr().out
    assert shown.startswith("Redis does not respond")
    assert "http://site.test/" in shown


@pytest.mark.usefixtures("without_redis")
def test_a_finished_crawl_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(state=State.FINISHED, discovered=1, outcomes={"2xx": 1})
    call_command("why", str(crawl.id))
    assert capsys.readouterr().out == "It is finished: no page is open.\n"
