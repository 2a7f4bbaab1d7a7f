"""`crawl --list`: import, progress and result."""

import io
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from crawler.core.errors import LoadStopped
from crawler.core.protocol.completion import State
from crawler.core.url_lists.entries import Entry, Invalid, ListReport
from crawler.crawls.import_urls import STOPPED_MESSAGE
from crawler.management import list_input, progress_bar
from crawler.models import Crawl, Page
from tests.management.test_crawl import crawl_and_exit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("real_redis")]

URL = "http://127.0.0.1:2/"


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    """Stands in for those who fetch: closes the pages of a crawl that runs, and finishes it."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.02):
            for crawl in Crawl.objects.filter(state=State.RUNNING):
                number = Page.objects.filter(crawl=crawl).update(status=Page.CLOSED, outcome="connect")
                Crawl.objects.filter(id=crawl.id).update(state=State.FINISHED, outcomes={"connect": number})
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.fixture
def urls(tmp_path: Path) -> Path:
    file = tmp_path / "urls.txt"
    file.write_text(f"{URL}a\nnonsense\n{URL}b\n{URL}a\n")
    return file


def test_a_list_is_read_and_told_of_and_every_ending_is_a_success(
    urls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crawl_and_exit("--list", str(urls), "--allow-private", "--json") == 0
    out, err = capsys.readouterr()
    assert err.splitlines()[:3] == [
        "4 lines: 2 URLs, 1 duplicate, 1 invalid.",
        "  line 2: 'nonsense' is not a web address; enter one such as https://example.com/.",
        f"Crawl {Crawl.objects.get().id} of urls.txt (2 URLs) started.",
    ]
    receipt = json.loads(out)
    assert receipt["list"] == {"lines": 4, "taken": 2, "invalid": 1, "duplicates": 1}
    assert receipt["start_urls"] == [f"{URL}a"]


def test_the_receipt_as_a_table_speaks_of_the_list(urls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl_and_exit("--list", str(urls), "--allow-private") == 0
    assert "List         4 lines: 2 URLs, 1 duplicate, 1 invalid\n" in capsys.readouterr().out


def test_a_list_comes_from_stdin_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"url;weight\n{URL};9\n".encode())))
    assert crawl_and_exit("--list", "-", "--priority-column", "weight", "--allow-private") == 0
    assert Page.objects.get().priority == 9
    assert Crawl.objects.get().source == "stdin"


def test_lines_that_cannot_be_used_are_written_to_a_file(
    urls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with urls.open("a") as file:
        file.writelines("ftp://a\tb\n" for _ in range(list_input.MAX_SHOWN_LINES))
    target = tmp_path / "invalid.tsv"
    assert crawl_and_exit("--list", str(urls), "--invalid", str(target), "--allow-private") == 0
    lines = target.read_text().splitlines()
    assert lines[0] == "2\t'nonsense' is not a web address; enter one such as https://example.com/.\tnonsense"
    assert [line.split("\t")[0] for line in lines] == ["2", "5", "6", "7", "8", "9"]
    assert f"  and 1 more line; all of them are in {target}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--list", "{urls}", URL], "Give URLs or a list, not both."),
        (["--list", "{urls}", "--sitemaps"], "A list contains all its pages"),
        (["--list", "{urls}", "--list-column", "page"], "The list has no column 'page'"),
        (["--list", "{urls}.gone"], "urls.txt.gone cannot be read: No such file or directory."),
        (["--list", "{folder}"], "cannot be read: Is a directory."),
        (["--list", "{noise}"], "noise.png is not a list of URLs: line 1 contains NUL bytes"),
        (["--list", "{empty}"], "empty.txt is not a list of URLs: it is empty."),
        (["--list", "{urls}", "--invalid", "{folder}"], "cannot be written"),
        ([URL, "--priority-column", "x"], "--priority-column needs a list; add --list FILE."),
        (["--resume", "x", "--list", "{urls}"], "leave out --list."),
    ],
)
def test_what_cannot_be_used_is_said_and_nothing_is_made(
    urls: Path, tmp_path: Path, words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "noise.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "empty.txt").touch()
    places = {"urls": urls, "folder": tmp_path, "noise": tmp_path / "noise.png", "empty": tmp_path / "empty.txt"}
    assert crawl_and_exit(*(word.format(**places) for word in words)) == 2
    assert line in capsys.readouterr().err
    assert not Crawl.objects.exists()


def test_a_list_that_is_none_leaves_an_older_report_as_it_was(tmp_path: Path) -> None:
    target, empty = tmp_path / "invalid.tsv", tmp_path / "empty.txt"
    target.write_text("of last time")
    empty.touch()
    assert crawl_and_exit("--list", str(empty), "--invalid", str(target)) == 2
    assert target.read_text() == "of last time"


def test_a_list_whose_crawl_is_cancelled_meanwhile_ends_with_a_word(
    urls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> Crawl:
        raise LoadStopped(STOPPED_MESSAGE)

    monkeypatch.setattr(list_input, "load_list", stopped)
    assert crawl_and_exit("--list", str(urls), "--allow-private") == 1
    assert "cancelled or deleted while its list was being read" in capsys.readouterr().err


@pytest.mark.parametrize("is_terminal", [True, False])
def test_reading_shows_how_far_it_is(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(list_input, "LINE_INTERVAL_S", 0.0)
    monkeypatch.setattr(progress_bar, "DRAW_INTERVAL_S", 0.0)
    said: list[str] = []
    report = ListReport().plus([Entry(1, URL, 5), Entry(2, URL, 5), Invalid(3, "x", "no")], taken=1)
    with list_input._shown(said.append, is_terminal=is_terminal) as show:
        show(report)
    shown = capsys.readouterr().err if is_terminal else said[0]
    assert "3 lines: 1 URL, 1 duplicate, 1 invalid, at" in shown
