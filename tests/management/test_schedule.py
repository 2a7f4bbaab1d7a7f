"""`manage.py schedule` adds, lists and changes schedules, and reports invalid arguments in one line."""

import json
from uuid import uuid4

import pytest
from django.core.management import call_command

from crawler.core.access.credentials import parse
from crawler.core.protocol.completion import State
from crawler.crawls.schedules import run_due
from crawler.encryption import opened
from crawler.models import Crawl, Schedule

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("real_redis")]

SITE = "http://127.0.0.1:8/"


def run(*words: str) -> int:
    try:
        call_command("schedule", *words)
    except SystemExit as ended:
        return int(str(ended.code))
    return 0


def add(*words: str) -> Schedule:
    assert run("add", SITE, "--allow-private", *words) == 0
    return Schedule.objects.latest("created_at")


def test_adding_one_begins_its_first_run(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = add("--every", "6h", "--revisit", "--max-pages", "9")
    crawl = Crawl.objects.get()
    assert (schedule.rule, crawl.schedule) == ("every 6h", schedule)
    assert (crawl.chosen.revisit, crawl.chosen.max_pages) == (True, 9)
    told = capsys.readouterr()
    assert told.out.startswith(f"Schedule {schedule.id}: every 6h, next on ")
    assert str(crawl.id) in told.err


def test_the_first_run_can_wait_for_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = add("--cron", "0 3 * * *", "--later")
    assert not Crawl.objects.exists()
    assert f"Schedule {schedule.id}: 0 3 * * *, first on " in capsys.readouterr().out


def test_credentials_are_kept_sealed_for_every_run() -> None:
    schedule = add("--every", "6h", "--header", "X-Key: secret")
    crawl = Crawl.objects.get()
    assert crawl.sealed == schedule.sealed
    assert "secret" not in schedule.sealed
    assert opened(schedule.sealed) == parse(headers=["X-Key: secret"])
    Crawl.objects.update(state=State.FINISHED)
    run_due(schedule.next_at)
    assert Crawl.objects.get(previous=crawl).sealed == schedule.sealed


def test_they_are_listed_with_their_runs(capsys: pytest.CaptureFixture[str]) -> None:
    first, paused = add("--every", "6h"), add("--every", "1 day", "--later")
    run("pause", str(paused.id))
    capsys.readouterr()
    assert run("list") == 0
    head, one, other = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "ID"
    assert str(first.id) in one
    assert "running" in one
    assert "paused" in other
    run("list", "--json")
    listed = json.loads(capsys.readouterr().out)
    assert [entry["id"] for entry in listed] == [str(first.id), str(paused.id)]
    assert [entry["last_run"] for entry in listed] == [str(Crawl.objects.get().id), None]


def test_an_empty_list_says_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    assert "schedule add" in capsys.readouterr().out


def test_one_is_paused_resumed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = add("--every", "6h")
    typed = str(schedule.id)
    assert [run("pause", typed), run("pause", typed)] == [0, 1]
    assert [run("resume", typed), run("resume", typed)] == [0, 1]
    assert [run("remove", typed), run("remove", typed)] == [0, 2]
    assert not Schedule.objects.exists()
    assert Crawl.objects.count() == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["add", SITE, "--allow-private"], "one of the arguments --every --cron is required"),
        (["add", SITE, "--every", "6h", "--cron", "* * * * *"], "not allowed with"),
        (["add", SITE, "--allow-private", "--cron", "0 0 30 2 *"], "would never run"),
        (["add", SITE, "--allow-private", "--every", "now and then"], "is not a valid schedule"),
        (["add", SITE, "--every", "6h"], "is refused"),
        (["add", "--every", "6h"], "at least one start URL"),
        (["add", SITE, "--every", "6h", "--list", "urls.txt"], "A schedule needs start URLs; it cannot crawl a list"),
        (["pause", "nonsense"], "There is no schedule 'nonsense'"),
        (["resume", str(uuid4())], "schedule list"),
        (["dance"], "invalid choice"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 2
    told = capsys.readouterr().err
    assert line.lower() in told.lower()
    assert told.count("\n") == 1
    assert not Schedule.objects.exists()
