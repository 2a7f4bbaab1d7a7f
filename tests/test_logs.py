"""Lines of the log: whom they are about, and that nothing in them passes for another line."""

import importlib
import json
import logging
import sys
import threading
from io import StringIO
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from crawler import logs
from crawler.json_log import Json
from crawler.logs import Context, TextFormatter, about


def a_record(message: str = "%s", *values: object, **more: object) -> logging.LogRecord:
    record = logging.LogRecord("crawler.fetcher.loop", logging.WARNING, __file__, 1, message, values, None)
    record.__dict__.update(more)
    assert Context().filter(record)
    return record


def trouble_with(text: str) -> logging.LogRecord:
    record = a_record("a page could not be worked on")
    try:
        raise ValueError(text)
    except ValueError:
        record.exc_info = sys.exc_info()
    return record


def test_a_line_of_text_ends_with_what_it_is_about() -> None:
    with about(crawl="c", batch="b"):
        line = TextFormatter().format(a_record("%s is slow", "x.test", page=7))
    assert line.endswith(" WARNING crawler.fetcher.loop: x.test is slow [crawl=c batch=b page=7]")


def test_a_line_about_nothing_has_no_end() -> None:
    assert TextFormatter().format(a_record("hello")).endswith("loop: hello")


def test_a_json_line_has_the_same_in_fields() -> None:
    with about(crawl="c", batch="b"):
        line = json.loads(Json().format(a_record("%s is slow", "x.test", page=7)))
    time = line.pop("time")
    assert time.endswith("+00:00")
    assert line == {
        "level": "WARNING",
        "logger": "crawler.fetcher.loop",
        "message": "x.test is slow",
        "crawl": "c",
        "batch": "b",
        "page": 7,
    }


def test_what_a_line_says_itself_counts() -> None:
    with about(crawl="c"), about(batch="b"):
        assert a_record(**logs.of("other")).crawl == "other"  # type: ignore[attr-defined]
    assert not hasattr(a_record(), "crawl")


def test_it_counts_in_its_thread_alone() -> None:
    seen = []
    with about(crawl="c"):
        other = threading.Thread(target=lambda: seen.append(hasattr(a_record(), "crawl")))
        other.start()
        other.join()
    assert seen == [False]


HOSTILE = [
    "a\nWARNING crawler: forged",
    "a\r\nforged",
    "\x1b]0;title\x07\x1b[2J",
    "a\x00b\x7f\x9b31m",
    "right\u202eleft",
    "line\u2028separator\u0085",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_site_sends_stays_on_its_line_and_moves_no_cursor(text: str) -> None:
    for line in (TextFormatter().format(a_record("%s", text)), Json().format(a_record("%s", text))):
        assert line.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_line_of_a_traceback_passes_for_a_line_of_the_log(text: str) -> None:
    first, *others = TextFormatter().format(trouble_with(text)).split("\n")
    assert first.endswith("could not be worked on")
    assert all(line.startswith("    ") and line.isprintable() for line in others)
    assert "ValueError" in others[-1] or "ValueError" in others[-2]
    assert "ValueError" in json.loads(Json().format(trouble_with(text)))["exc_info"]


def of_rq(level: int, message: str, *values: object) -> str:
    """What becomes of what RQ's worker logs."""
    importlib.import_module("crawler.jobs")  # as every worker does for its first job
    record = logging.LogRecord("rq.worker", level, __file__, 1, message, values, None)
    assert logging.getLogger("rq.worker").filter(record)
    return record.getMessage()


@pytest.mark.parametrize("text", HOSTILE)
def test_nor_does_one_of_the_traceback_of_a_job_in_the_log_of_rq(text: str) -> None:
    first, *others = of_rq(logging.ERROR, "job %s:\n%s", "7", f"Traceback\nValueError: 100 % {text}").split("\n")
    assert first == "job 7:"
    assert all(line.startswith("    ") and line.isprintable() for line in others)


def test_what_rq_says_besides_keeps_its_colours() -> None:
    assert of_rq(logging.INFO, "\x1b[32m%s", "Job OK") == "\x1b[32mJob OK"


def breaks(request: HttpRequest, token: str = "") -> HttpResponse:
    raise ValueError("\x1b[2J\nforged")


urlpatterns = [path("breaks/", breaks), path("opens/<str:token>/", breaks)]


@pytest.fixture
def written(settings: Any, monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What the web server writes, with the addresses above."""
    settings.ROOT_URLCONF = __name__
    to = StringIO()
    for handler in logging.getLogger("django").handlers:
        monkeypatch.setattr(handler, "stream", to, raising=False)
    return to


@pytest.mark.django_db
def test_a_page_that_breaks_is_told_once_and_forges_nothing(written: StringIO) -> None:
    assert Client(raise_request_exception=False).get("/breaks/").status_code == 500
    first, *others = written.getvalue().splitlines()
    assert " ERROR django.request: Internal Server Error: /breaks/ [request_id=" in first
    assert "ValueError" in written.getvalue()
    assert all(line.startswith("    ") and line.isprintable() for line in others)


@pytest.mark.django_db
@pytest.mark.parametrize("formatter", [TextFormatter, Json])
def test_where_a_link_breaks_it_is_not_spelled_out(
    written: StringIO, monkeypatch: pytest.MonkeyPatch, formatter: type[logging.Formatter]
) -> None:
    [handler] = logging.getLogger("django").handlers
    monkeypatch.setattr(handler, "formatter", formatter())
    Client(raise_request_exception=False).get("/opens/swordfish/?key=swordfish")
    assert "Internal Server Error: /opens/" in written.getvalue()
    assert "swordfish" not in written.getvalue()


@pytest.mark.django_db
def test_an_address_that_somebody_guessed_is_no_line(written: StringIO) -> None:
    assert Client().get("/wp-admin.php").status_code == 404
    assert written.getvalue() == ""
