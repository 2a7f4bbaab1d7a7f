import json
import time
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from redis import Redis

from crawler import clock
from crawler.core.protocol.completion import State
from crawler.models import Crawl
from crawler.reports.cause_text import PAUSED_FOR_ROOM
from tests.factories import a_crawl_with_a_queue, make_crawl

pytestmark = pytest.mark.django_db


def test_it_lists_the_newest_crawls_first(capsys: pytest.CaptureFixture[str]) -> None:
    crawls = [make_crawl(f"http://site{number}.test/") for number in range(22)]
    call_command("status")
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert ids == [str(crawl.id) for crawl in reversed(crawls)][:20]


def test_without_a_crawl_it_says_how_to_start_one(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("status")
    assert capsys.readouterr().out == "There are no crawls yet. Start one: bin/crawl https://example.com/\n"


def test_a_list_as_json_is_one_array(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=2, outcomes={"2xx": 1})
    call_command("status", "--json")
    [found] = json.loads(capsys.readouterr().out)
    assert (found["id"], found["discovered"], found["closed"], found["open"]) == (str(crawl.id), 2, 1, 1)


def test_a_running_crawl_shows_its_receipt_so_far_and_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(discovered=3, outcomes={"2xx": 2}, statuses={"200": 2})
    call_command("status", str(crawl.id))
    shown = capsys.readouterr().out
    assert "  fetched    2 (200: 2)\n" in shown
    assert shown.endswith("Now: 2 of 3 pages\n")


def test_a_running_crawl_shows_the_rates_of_its_queue_and_the_age_of_its_oldest_page(
    real_redis: Redis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(clock, "epoch_seconds", lambda: now)
    call_command("status", str(a_crawl_with_a_queue(real_redis, now).id))
    rates = "Pages a minute: 300 in, 90 out, 3.0 retried, 1.0 dead letters"
    assert f"{rates}; the oldest page that is due waits for 1 min 30 s" in capsys.readouterr().out.splitlines()


def test_of_a_crawl_that_is_held_it_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(state=State.PAUSED, discovered=1)
    Crawl.objects.filter(pk=crawl.pk).update(held_until=timezone.now())
    call_command("status", str(crawl.id))
    assert capsys.readouterr().out.endswith(f"Now: 0 of 1 page\n{PAUSED_FOR_ROOM}\n")


def test_of_a_crawl_that_has_closed_no_page_for_a_while_it_says_why(
    real_redis: object, capsys: pytest.CaptureFixture[str]
) -> None:
    now = timezone.now()
    crawl = make_crawl(discovered=2, outcomes={"2xx": 1}, round_began_at=now - timedelta(minutes=1))
    for closed_ago, says_why in ((2, False), (20, True)):
        Crawl.objects.filter(pk=crawl.pk).update(samples=[[now.timestamp() - closed_ago, 2, 1]])
        call_command("status", str(crawl.id))
        assert ("\nNo worker is running: " in capsys.readouterr().out) == says_why


def test_a_finished_crawl_shows_its_receipt_alone(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(state=State.FINISHED, discovered=1, outcomes={"2xx": 1})
    call_command("status", str(crawl.id))
    assert "Now:" not in capsys.readouterr().out


def test_one_crawl_as_json_is_one_object_with_its_receipt(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl()
    call_command("status", str(crawl.id), "--json")
    assert json.loads(capsys.readouterr().out)["receipt"]["id"] == str(crawl.id)
