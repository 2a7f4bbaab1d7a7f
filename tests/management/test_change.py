"""`manage.py change` changes the options of a crawl under way; `manage.py finish` ends one that is kept open."""

import pytest

from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import opened
from crawler.models import Crawl
from tests.factories import a_crawl, a_crawl_that_logs_in
from tests.management.calls import exit_code

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def crawl() -> Crawl:
    return a_crawl(options=CrawlOptions(max_pages=10, exclude=("/a",), stay_open=True))


def options_of(crawl: Crawl) -> CrawlOptions:
    crawl.refresh_from_db()
    return crawl.chosen


def test_what_is_typed_is_changed_and_told(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("change", str(crawl.id), "--delay", "2", "--exclude", "/b", "--exclude", "/c") == 0
    told = "Changed: No URLs that match from /a to /b, /c; Delay from 0 to 2.\n"
    assert capsys.readouterr().out == told
    assert options_of(crawl) == CrawlOptions(max_pages=10, exclude=("/b", "/c"), stay_open=True, delay=2.0)


def test_an_option_is_dropped(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("change", str(crawl.id), "--without", "max-pages", "--without", "exclude", "--no-stay-open") == 0
    assert options_of(crawl) == CrawlOptions()
    told = "Page limit from 10 to none; Keep it open from on to off; No URLs that match from /a to none."
    assert told in capsys.readouterr().out


def test_the_rules_of_priorities_are_changed_and_dropped(crawl: Crawl) -> None:
    assert exit_code("change", str(crawl.id), "--priority", "/news/=9", "--priority", ".=3") == 0
    assert options_of(crawl).priorities == ("/news/=9", ".=3")
    assert exit_code("change", str(crawl.id), "--without", "priority") == 0
    assert options_of(crawl).priorities == ()


def test_receivers_are_told_by_their_number(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("change", str(crawl.id), "--notify", "me@example.com", "--notify-on", "started") == 0
    assert "from 0 to 1; Events of notices from " in capsys.readouterr().out
    assert options_of(crawl).notify_emails == ("me@example.com",)


def test_the_fields_of_a_log_in_are_replaced_and_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = a_crawl_that_logs_in()
    monkeypatch.setenv("SITE_PASSWORD", "swordfish-3")
    words = ("--login-field", "user=ann", "--login-field", "password=env:SITE_PASSWORD", "--login-check", "a.me")
    assert exit_code("change", str(crawl.id), *words) == 0
    told = "Changed: Sign of being logged in from none to a.me; Fields of the log-in form (2).\n"
    assert capsys.readouterr().out == told
    crawl.refresh_from_db()
    typed = ["user=ann", "password=swordfish-3"]
    assert opened(crawl.sealed) == parse(headers=["X-Key: swordfish-1"], login_fields=typed)


def test_the_same_again_is_no_change(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("change", str(crawl.id), "--max-pages", "10") == 0
    assert capsys.readouterr().out == "Nothing to change.\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Name at least one option to change, such as --delay 2."),
        (("--delay", "2", "--max-pages", "0"), "Page limit must be 1 or more, not 0"),
        (("--exclude", "["), "["),
        (
            ("--max-pages", "5", "--without", "max-pages"),
            "--max-pages is both set and removed; leave out one of the two.",
        ),
        (("--max-depth", "5"), "--max-depth"),
        (("--delay", "2", "--login-field", "user=ann"), "This crawl does not log in."),
        (("--delay", "2", "--login-field", "password=env:NOT_SET"), "the environment variable NOT_SET is not set."),
    ],
)
def test_what_cannot_be_used_changes_nothing(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    before = options_of(crawl)
    assert exit_code("change", str(crawl.id), *words) == 2
    assert told in capsys.readouterr().err
    assert options_of(crawl) == before


def test_a_crawl_that_is_kept_open_is_finished(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert [exit_code("finish", str(crawl.id)), exit_code("finish", str(crawl.id))] == [0, 0]
    assert not options_of(crawl).stay_open
    first, second = capsys.readouterr().out.splitlines()
    assert first == "The crawl will finish once all open pages are done."
    assert second == "It is not kept open: it finishes automatically once all open pages are done."
