import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from django.core.management import call_command, load_command_class
from django.utils import timezone

from crawler.core.access.credentials import parse
from crawler.core.protocol.completion import State
from crawler.crawls.control import cancel, hold, pause
from crawler.crawls.delete import delete
from crawler.crawls.retry import retry_failed
from crawler.encryption import opened, seal
from crawler.exports import csv, jsonl
from crawler.frontier.autoscalers import Membership
from crawler.management import waiting
from crawler.management.commands.crawl import Command
from crawler.management.waiting import CrawlWait, Stop, WaitEnd
from crawler.models import Crawl, Delivery, Notice, Page
from crawler.queueing import queues
from crawler.reports.receipt import receipt_of
from crawler.running import announced, settings_of_workers
from tests.factories import make_crawl, make_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

SITE = "http://site.test/"
NOBODY = str(UUID(int=7))


def crawl_and_exit(*words: str) -> int:
    """The exit code."""
    try:
        call_command("crawl", *words)
    except SystemExit as ended:
        return int(str(ended.code))
    return 0


def make_finished(outcome: str = "2xx", http_status: int | None = 200, **fields: Any) -> Crawl:
    statuses = {} if http_status is None else {str(http_status): 1}
    crawl = make_crawl(state=State.FINISHED, discovered=1, outcomes={outcome: 1}, statuses=statuses)
    make_page(crawl, SITE, status=Page.CLOSED, outcome=outcome, http_status=http_status, **fields)
    return crawl


def make_running(**fields: Any) -> Crawl:
    crawl = make_crawl(discovered=1, **fields)
    make_page(crawl, SITE)
    return crawl


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "Enter at least one start URL"),
        ([SITE, "--max-pages", "many"], "Argument --max-pages: 'many' is not a whole number (see crawl --help)"),
        ([SITE, "--max-pages", "0"], "1 or more"),
        ([SITE, "--deadline", "soon"], "Argument --deadline: 'soon' is not a time such as 2h, 30m, 90s or 90"),
        ([SITE, "--timeout", "0"], "Argument --timeout: it must be more than 0"),
        ([SITE, "--detach", "--timeout", "5"], "--detach does not wait for the crawl; leave out --timeout."),
        ([SITE, "--workers", "0"], "Argument --workers: it must be 1 or more"),
        ([SITE, "--max-bytes", "much"], "Argument --max-bytes: 'much' is not a size such as 500kB, 10MB or 2GB"),
        ([SITE, "--externals", "love"], "Argument --externals: invalid choice: 'love'"),
        ([SITE, "--host", "https://site.test/"], "'https://site.test/'"),
        ([SITE, "--include", "("], "'(' is not a valid regular expression"),
        ([SITE, "--notify", "nobody"], "'nobody' is neither an e-mail address nor a web address"),
        ([SITE, "--export", "pages.doc"], "must end in .csv, .xlsx"),
        ([SITE, "--export", "no/such/folder/pages.csv"], "no/such/folder/pages.csv cannot be written"),
        ([SITE, "--no-such-option"], "--no-such-option"),
        (["--resume", NOBODY], f"There is no crawl '{NOBODY}'"),
        (["--resume", NOBODY, SITE, "--max-pages", "3"], "leave out the URL, --max-pages"),
        (["http://127.0.0.1:8/"], "allow"),
        (["http://1.1.1.1:25/", "--allow-private"], "port 25 is blocked by browsers"),
        (["http://1.1.1.1:6379/"], "allow it for this host by 1.1.1.1:6379 in CRAWLER_PRIVATE_HOSTS"),
        (["http://no-such-host.invalid/"], "no-such-host.invalid"),
    ],
)
def test_what_cannot_be_used_ends_with_2_and_one_line_and_nothing_made(
    words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crawl_and_exit(*words) == 2
    printed = capsys.readouterr()
    assert line in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not Crawl.objects.exists()


def test_the_receipt_of_a_finished_crawl_is_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_finished()
    assert crawl_and_exit("--resume", str(crawl.id)) == 0
    printed = capsys.readouterr()
    assert f"Crawl        {crawl.id}\n" in printed.out
    assert "  fetched    1 (200: 1)\n" in printed.out
    assert printed.err == ""


def test_as_json_the_receipt_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_finished()
    crawl.finished_at = crawl.created_at
    crawl.save()
    assert crawl_and_exit("--resume", str(crawl.id), "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == receipt_of(crawl)
    assert printed.err == ""


def test_the_pages_are_written_as_the_file_name_says(tmp_path: Path) -> None:
    crawl = make_finished()
    assert crawl_and_exit("--resume", str(crawl.id), "--export", str(tmp_path / "pages.csv")) == 0
    assert (tmp_path / "pages.csv").read_bytes().decode() == "".join(csv.lines(crawl))


def test_pages_on_stdout_send_the_receipt_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_finished()
    assert crawl_and_exit("--resume", str(crawl.id), "--export", "-") == 0
    printed = capsys.readouterr()
    assert printed.out == "".join(jsonl.lines(crawl))
    assert "Discovered   1 page\n" in printed.err


@pytest.mark.parametrize(
    ("page", "happened"),
    [
        ({"outcome": "4xx", "http_status": 404}, "responded with 404"),
        ({"outcome": "5xx", "http_status": 500}, "responded with 500"),
        ({"outcome": "connect", "http_status": None, "error": "refused"}, "did not respond (refused)"),
    ],
)
def test_a_start_url_that_could_not_be_crawled_ends_with_1_and_says_why(
    page: dict[str, Any], happened: str, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_finished(**page)
    assert crawl_and_exit("--resume", str(crawl.id)) == 1
    printed = capsys.readouterr()
    assert printed.err == f"The start URL {SITE} {happened}, so there was nothing to follow.\n"
    assert "State        finished\n" in printed.out


def test_one_good_start_url_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_finished()
    crawl.start_urls.append("http://b.test/")
    crawl.save()
    make_page(crawl, "http://b.test/", status=Page.CLOSED, outcome="4xx", http_status=404)
    assert crawl_and_exit("--resume", str(crawl.id)) == 0
    error = capsys.readouterr().err
    assert error == "1 of the 2 start URLs returned no links: http://b.test/ responded with 404.\n"


def test_a_failed_login_ends_the_command_with_the_reason_and_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_running()
    crawl.options = {**crawl.options, "login_url": "http://site.test/login"}
    crawl.save()
    with elsewhere(lambda: pause(crawl.id, "the log-in at http://site.test/login has failed")):
        assert crawl_and_exit("--resume", str(crawl.id)) == 1
    first, again, other = capsys.readouterr().err.splitlines()
    assert first == "It is paused: the log-in at http://site.test/login has failed. Resume it to try again."
    assert again == f"To resume it: bin/crawl --resume {crawl.id}"
    assert other.endswith(f"bin/crawl --resume {crawl.id} --login-field NAME=VALUE ...")


def test_a_hold_is_left_as_it_is_when_the_command_ends() -> None:
    """Where workers run, it ends without the command."""
    crawl = make_running()
    tomorrow = timezone.now() + timedelta(hours=20)
    with elsewhere(lambda: hold(crawl.id, tomorrow)):
        assert crawl_and_exit("--resume", str(crawl.id)) == 1
    crawl.refresh_from_db()
    assert (crawl.state, crawl.held_until) == (State.PAUSED, tomorrow)


def test_a_crawl_is_resumed_with_other_values_for_its_login_form() -> None:
    crawl = make_running(state=State.PAUSED, sealed=seal(parse(login_fields=["user=ann", "password=wrong"])))
    crawl.options = {**crawl.options, "login_url": "http://site.test/login"}
    crawl.save()
    given = ["--login-field", "user=ann", "--login-field", "password=right"]
    assert crawl_and_exit("--resume", str(crawl.id), *given, "--timeout", "0.1") == 1
    crawl.refresh_from_db()
    assert opened(crawl.sealed).login_fields == (("user", "ann"), ("password", "right"))


def test_a_detached_crawl_is_left_to_the_workers_that_run(capsys: pytest.CaptureFixture[str]) -> None:
    Membership(0, 1).beat(queues.connection())
    assert crawl_and_exit("http://127.0.0.1:8/", "--allow-private", "--detach") == 0
    crawl = Crawl.objects.get()
    assert capsys.readouterr().out == f"{crawl.id}\n"
    assert crawl.state == State.RUNNING


def test_settings_that_the_workers_of_bin_up_do_not_have_are_refused(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.DATA_DIR = str(tmp_path)
    have = settings_of_workers(os.environ)
    monkeypatch.setenv("CRAWLER_HOOKS", "my_hooks.Prices")
    monkeypatch.setenv("CRAWLER_LOG_LEVEL", "ERROR")  # of this command alone
    monkeypatch.delenv("REDIS_URL", raising=False)
    with announced(tmp_path, "http://127.0.0.1:8123", "unix:///a/socket", have):
        assert crawl_and_exit("http://127.0.0.1:8/", "--allow-private") == 2
    line = capsys.readouterr().err
    assert "The workers of bin/up (http://127.0.0.1:8123) lack these settings of this command: CRAWLER_HOOKS." in line
    assert "my_hooks" not in line
    assert not Crawl.objects.exists()


def test_the_settings_of_an_installation_on_another_redis_do_not_matter(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = str(tmp_path)
    Membership(0, 1).beat(queues.connection())
    monkeypatch.setenv("CRAWLER_HOOK_SECONDS", "3")
    monkeypatch.setenv("REDIS_URL", "redis://here:1/0")
    with announced(tmp_path, "http://127.0.0.1:8123", "redis://elsewhere:1/0", {}):
        assert crawl_and_exit("http://127.0.0.1:8/", "--allow-private", "--detach") == 0


def test_without_a_worker_no_crawl_is_detached(capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl_and_exit("http://127.0.0.1:8/", "--allow-private", "--detach") == 1
    out, err = capsys.readouterr()
    assert (out, Crawl.objects.count()) == ("", 0)
    assert err.startswith("Nothing was started, because no worker is running.")


@pytest.mark.parametrize("state", [State.RUNNING, State.PAUSED])
def test_a_crawl_that_takes_too_long_is_paused_and_the_line_says_how_to_go_on(
    state: State, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    crawl = make_running(state=state)
    export = str(tmp_path / "pages.csv")
    assert crawl_and_exit("--resume", str(crawl.id), "--timeout", "0.3", "--json", "--export", export) == 1
    printed = capsys.readouterr()
    crawl.refresh_from_db()
    assert crawl.state == State.PAUSED
    line, more = printed.err.splitlines()
    assert line == f"Not finished after 0.3 s. The crawl is paused; to resume it: bin/crawl --resume {crawl.id}"
    assert more.startswith("Nothing is exported yet: add --export to that command, or export the results so far with ")
    assert more.endswith(f"manage.py export {crawl.id} --format csv --output {export}")
    assert json.loads(printed.out)["state"] == "paused"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["http://127.0.0.1:8/", "--allow-private"], ["--list", "LIST"]])
def test_bin_crawl_is_told_when_the_crawl_has_begun(words: list[str], tmp_path: Path) -> None:
    """For a list before it is read, which may take minutes."""
    (tmp_path / "list").write_text("http://127.0.0.1:8/\n")
    command = cast(Command, load_command_class("crawler", "crawl"))
    begun = list[int]()
    command.has_begun = lambda: begun.append(Crawl.objects.count())
    with pytest.raises(SystemExit):
        call_command(command, *(str(tmp_path / "list") if word == "LIST" else word for word in words), "--timeout=0.01")
    assert begun == ([0, 1] if "LIST" in words else [1])


def test_the_limits_in_time_are_kept_with_the_crawl() -> None:
    words = ["--deadline", "2h", "--page-ttl", "90", "--page-timeout", "2.5", "--timeout", "0.01"]
    assert crawl_and_exit("http://127.0.0.1:8/", "--allow-private", *words) == 1
    chosen = Crawl.objects.get().chosen
    assert (chosen.deadline, chosen.page_ttl, chosen.page_timeout) == (7200.0, 90.0, 2.5)


def test_a_crawl_that_is_cancelled_elsewhere_ends_the_wait_with_its_receipt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawl = make_running()
    with elsewhere(lambda: cancel(crawl.id)):
        assert crawl_and_exit("--resume", str(crawl.id), "--json") == 1
    printed = capsys.readouterr()
    receipt = json.loads(printed.out)
    assert (receipt["state"], receipt["cancelled"]) == ("cancelled", 1)
    assert printed.err == "The crawl was cancelled; its open pages were not requested.\n"


def test_a_crawl_that_is_deleted_elsewhere_ends_the_wait(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_running()
    with elsewhere(lambda: delete(crawl.id)):
        assert crawl_and_exit("--resume", str(crawl.id)) == 1
    assert capsys.readouterr() == ("", "The crawl was deleted.\n")


def test_dead_letters_that_are_sent_again_elsewhere_are_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_running()
    letter = make_page(crawl, "http://site.test/slow", status=Page.CLOSED, outcome="timeout", given_up=True, attempts=3)
    Crawl.objects.filter(pk=crawl.pk).update(discovered=2, outcomes={"timeout": 1})
    with elsewhere(lambda: retry_failed(crawl.id)):
        assert crawl_and_exit("--resume", str(crawl.id), "--timeout", "1") == 1
    letter.refresh_from_db()
    assert letter.status == Page.OPEN
    assert "  open       2\n" in capsys.readouterr().out


@contextmanager
def elsewhere(act: Callable[[], object]) -> Iterator[None]:
    """Something another process does to the crawl while the command waits for it: at its second look."""
    looks = itertools.count()

    def look_and_act(waiting: CrawlWait, crawl: Crawl) -> WaitEnd | None:
        if next(looks) == 1:
            act()
        return look(waiting, crawl)

    look = CrawlWait._look
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CrawlWait, "_look", look_and_act)
        yield


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_crawl_is_paused_and_the_line_says_how_to_go_on(
    number: signal.Signals, exit_code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_running()
    interrupter = threading.Thread(target=interrupt_when_it_waits, args=(number,))
    interrupter.start()
    assert crawl_and_exit("--resume", str(crawl.id)) == exit_code
    interrupter.join()
    crawl.refresh_from_db()
    assert crawl.state == State.PAUSED
    error = capsys.readouterr().err
    assert error == f"Interrupted. The crawl is paused; to resume it: bin/crawl --resume {crawl.id}\n"


def interrupt_when_it_waits(number: signal.Signals) -> None:
    for _ in range(3000):
        stop = getattr(signal.getsignal(number), "__self__", None)
        if isinstance(stop, Stop) and stop.is_gentle:
            os.kill(os.getpid(), number)
            return
        time.sleep(0.01)


def test_a_notice_that_did_not_go_out_is_mentioned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "NOTICE_TIMEOUT_S", 0.1)
    crawl = make_finished()
    notice = Notice.objects.create(crawl=crawl, event="finished", receipt={})
    Delivery.objects.create(notice=notice, transport="email", address="me@site.test")
    assert crawl_and_exit("--resume", str(crawl.id)) == 0
    error = capsys.readouterr().err
    assert error == "The notice to me@site.test was not sent yet; the next worker sends it.\n"
