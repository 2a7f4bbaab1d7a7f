"""The report on an unfinished crawl, as rows for page and terminal."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from crawler.core.crawl.diagnosis import Hold, Manager
from crawler.core.crawl.politeness import Reason
from crawler.reports import diagnosis_text

REPORT: dict[str, Any] = {
    "at": "2026-11-21T12:00:10.000+00:00",
    "sentences": ["1 batch with 3 pages is being fetched right now.", "30 pages are open."],
    "open": {
        "count": 30,
        "shown": [
            {
                "url": "https://example.com/a",
                "depth": 2,
                "found_on": "https://example.com/",
                "attempts": 2,
                "deaths": 1,
                "error": "connection refused.",
                "due_in": 0.0,
                "hold": "fetching",
                "holder": "here:42",
            }
        ],
    },
    "workers": {"crawl": 2, "fetch": 3},
    "queues": {"crawl": 1, "fetch": 0},
    "manager": {
        "doing": "coming",
        "lock_left": None,
        "sent_for_at": "2026-11-21T12:00:09.500+00:00",
        "last_run_at": "2026-11-21T12:00:08.000+00:00",
        "last_run_said": "took in 4 reports",
        "reports": 2,
        "handed_out": 5,
    },
    "batches": [
        {
            "id": "fetch-1",
            "hold": "fetching",
            "holder": "here:42",
            "since": "2026-11-21T12:00:07.000+00:00",
            "lease_left": 8.25,
            "back_in": None,
            "hosts": ["example.com", "b.test", "c.test", "d.test"],
            "pages": 5,
            "open": 3,
        }
    ],
    "hosts": {
        "waiting": 2,
        "shown": [
            {
                "host": "example.com",
                "suspects": False,
                "pages": 1200,
                "next_in": 12.0,
                "reason": "robots",
                "trouble": "",
                "stop": None,
                "delay": 30.0,
                "crawl_delay": 30.0,
                "connections": 1,
                "connections_allowed": 2,
                "used_by": [{"by": "this crawl", "connections": 1, "crawl": "7"}],
            }
        ],
    },
    "given_up": {
        "last_hour": 1,
        "newest": [
            {
                "url": "javascript:alert(1)",
                "outcome": "timeout",
                "error": "No answer.",
                "at": "2026-11-21T11:58:58+00:00",
            }
        ],
    },
    "ends": {"deadline_in": 300.0, "next_expiry_in": None, "put_off_pages_close_in": None},
    "disagreements": {"count": 1, "newest": [{"at": "2026-11-21T11:00:10+00:00", "what": "they differ"}]},
}


def rows(name: str, **changed: Any) -> list[dict[str, str]]:
    [section] = [section for section in diagnosis_text.sections({**REPORT, **changed}) if section.name == name]
    return section.rows


def test_a_batch_tells_who_holds_it_and_for_how_long() -> None:
    [row] = rows("batches")
    assert (row["answer"], row["url"]) == ("being fetched", "example.com, b.test and 2 more")
    assert (row["note"], row["time"], row["size"]) == ("held by here:42 for 3.0 s", "8.2 s left", "3 pages")


def test_a_batch_whose_worker_is_silent_tells_when_it_goes_back() -> None:
    batch = {**REPORT["batches"][0], "hold": "silent", "lease_left": -2.0, "back_in": -2.0}
    [row] = rows("batches", batches=[batch])
    assert (row["answer"], row["tone"], row["time"]) == ("worker silent", "bad", "0.0 s left")
    assert row["note"].endswith("goes back to the others now")


def test_a_host_tells_when_it_may_be_asked_and_why_not_sooner() -> None:
    [row] = rows("hosts")
    assert (row["answer"], row["url"]) == ("in 12 s", "example.com")
    assert row["note"] == "its robots.txt asks for a Crawl-delay of 30 s"
    assert (row["time"], row["size"], row["ends"]) == ("1 of 2 in use", "1,200 pages", "")


HOST = REPORT["hosts"]["shown"][0]


@pytest.mark.parametrize(
    ("changed", "note", "ends"),
    [
        (
            {"reason": "stop", "stop": {"until": "2026-11-21T14:03:20+00:00", "status": 429}},
            "it answered 429 and asked to wait until 14:03:20 UTC",
            "example.com",
        ),
        (
            {"reason": "throttle", "delay": 4.0},
            "slowed down, because it is slow or in trouble: one request in 4.0 s",
            "example.com",
        ),
        ({"reason": "delay", "delay": 5.0}, "the delay chosen for this crawl: 5.0 s", ""),
        (
            {"reason": "busy", "connections": 2, "used_by": [{"by": "another crawl", "connections": 2}]},
            "its connections are all in use; 2 by another crawl",
            "",
        ),
    ],
)
def test_a_host_tells_the_figures_of_its_reason_and_whether_a_user_may_end_it(
    changed: dict[str, Any], note: str, ends: str
) -> None:
    [row] = rows("hosts", hosts={"waiting": 1, "shown": [{**HOST, **changed}]})
    assert (row["note"], row["ends"]) == (note, ends)


def test_pages_that_may_have_killed_a_worker_are_named_so() -> None:
    host = {**REPORT["hosts"]["shown"][0], "suspects": True, "reason": "retry", "trouble": "timed out"}
    [row] = rows("hosts", hosts={"waiting": 1, "shown": [host]})
    assert row["note"] == ("a page that failed is tried again; timed out; pages whose worker died, in small company")


def test_an_open_page_tells_where_it_is_and_what_happened_to_it() -> None:
    [row] = rows("open")
    assert (row["answer"], row["href"]) == ("being fetched", "https://example.com/a")
    assert row["note"] == "connection refused; its worker died; held by here:42; found on https://example.com/"
    assert (row["time"], row["size"]) == ("2 times", "depth 2")


def test_a_page_nobody_has_waits_or_has_a_time() -> None:
    page = {**REPORT["open"]["shown"][0], "hold": None, "holder": ""}
    later = {**page, "due_in": 90.0}
    assert [row["answer"] for row in rows("open", open={"count": 2, "shown": [page, later]})] == [
        "waits",
        "in 1 min 30 s",
    ]


def test_a_page_given_up_and_a_disagreement_tell_how_long_ago() -> None:
    [letter], [said] = rows("given-up"), rows("disagreements")
    assert (letter["answer"], letter["href"], letter["size"]) == ("timed out", "", "1 min 12 s ago")
    assert (said["answer"], said["url"]) == ("1 h 0 min ago", "they differ")


def test_what_has_nothing_in_it_is_not_shown() -> None:
    empty = {
        "batches": None,
        "hosts": None,
        "given_up": None,
        "open": {"count": 0, "shown": []},
        "disagreements": {"count": 0, "newest": []},
    }
    assert diagnosis_text.sections({**REPORT, **empty}) == []
    assert diagnosis_text.known({**REPORT, "manager": None}) == []


def test_every_state_has_its_words() -> None:
    assert (set(diagnosis_text.HOLDS), set(diagnosis_text.REASONS)) == (set(Hold), set(Reason))
    assert set(diagnosis_text.MANAGERS) == set(Manager)


def test_the_terminal_shows_the_sentences_then_the_tables() -> None:
    assert diagnosis_text.text(REPORT) == (
        "1 batch with 3 pages is being fetched right now.\n"
        "30 pages are open.\n"
        "\n"
        "1 batch handed out\n"
        "STATE          OF                              LEASE       OPEN\n"
        "being fetched  example.com, b.test and 2 more  8.2 s left  3 pages  held by here:42 for 3.0 s\n"
        "\n"
        "2 hosts with pages that wait\n"
        "MAY BE REQUESTED  HOST         CONNECTIONS    PAGES\n"
        "in 12 s           example.com  1 of 2 in use  1,200 pages  its robots.txt asks for a Crawl-delay of 30 s\n"
        "\n"
        "The first 1 of 30 open pages\n"
        "STATE          PAGE                   ATTEMPTS  DEPTH\n"
        "being fetched  https://example.com/a  2 times   depth 2  connection refused; its worker died; "
        "held by here:42; found on https://example.com/\n"
        "\n"
        "Given up lately\n"
        "RESPONSE   PAGE                   WHEN\n"
        "timed out  javascript:alert(1)    1 min 12 s ago  No answer.\n"
        "\n"
        "Disagreements of the checks for the end\n"
        "WHEN           WHAT\n"
        "1 h 0 min ago  they differ\n"
        "\n"
        "Manager                  sent for 0.5 s ago\n"
        "Its last run             2.0 s ago: took in 4 reports\n"
        "Reports to process       2\n"
        "Pages handed out         5\n"
        'Workers for "crawl"      2\n'
        'Workers for "fetch"      3\n'
        'Jobs waiting in "crawl"  1\n'
        'Jobs waiting in "fetch"  0\n'
        "Deadline                 in 5 min 0 s\n"
    )


def test_a_run_that_was_cut_off_tells_when_another_may_take_over() -> None:
    report = deepcopy(REPORT)
    report["manager"] |= {"doing": "silent", "lock_left": 4.0, "last_run_at": None}
    assert diagnosis_text.known(report)[:2] == [
        ("Manager", "at work, without a sign of life; another may take over in 4.0 s"),
        ("Its last run", "–"),  # noqa: RUF001 (an en dash is meant)
    ]
