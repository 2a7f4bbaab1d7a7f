"""The report on an unfinished crawl, as rows for page and terminal."""

from copy import deepcopy
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.politeness.host_rules import WaitReason
from crawler.core.protocol.diagnosis import Hold, Manager
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
                "load": "",
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


BATCH, HOST, PAGE = REPORT["batches"][0], REPORT["hosts"]["shown"][0], REPORT["open"]["shown"][0]
STOPPED = {**HOST, "reason": "stop", "stop": {"until": "2026-11-21T14:03:20+00:00", "status": 429}}
SLOWED = "slowed to one request in 4.0 s: 30 % of its responses were 503"
THROTTLED = {**HOST, "reason": "throttle", "delay": 4.0, "load": SLOWED}
DELAYED = {**HOST, "reason": "delay", "delay": 5.0}
BUSY = {**HOST, "reason": "busy", "connections": 2, "used_by": [{"by": "another crawl", "connections": 2}]}
SUSPECTS = {**HOST, "suspects": True, "reason": "retry", "trouble": "timed out"}
SILENT = {**BATCH, "hold": "silent", "lease_left": -2.0, "back_in": -2.0}
WAITING = {**PAGE, "hold": None, "holder": ""}


def rows(name: str, **changed: Any) -> list[dict[str, str]]:
    [section] = [section for section in diagnosis_text.sections({**REPORT, **changed}) if section.name == name]
    return section.rows


def test_the_terminal_shows_the_sentences_then_the_tables(golden: SnapshotAssertion) -> None:
    assert diagnosis_text.text(REPORT) == golden


def test_every_kind_of_row_has_its_words(golden: SnapshotAssertion) -> None:
    shown = [HOST, STOPPED, THROTTLED, DELAYED, BUSY, SUSPECTS]
    report = {
        **REPORT,
        "batches": [BATCH, SILENT],
        "hosts": {"waiting": len(shown), "shown": shown},
        "open": {"count": 3, "shown": [PAGE, WAITING, {**WAITING, "due_in": 90.0}]},
    }
    assert diagnosis_text.text(report) == golden


def test_a_batch_whose_worker_is_silent_stands_out() -> None:
    [row] = rows("batches", batches=[SILENT])
    assert row["tone"] == "bad"


@pytest.mark.parametrize(
    ("host", "ends"), [(HOST, ""), (STOPPED, "example.com"), (THROTTLED, "example.com"), (DELAYED, ""), (BUSY, "")]
)
def test_a_user_may_end_the_wait_of_some_hosts(host: dict[str, Any], ends: str) -> None:
    [row] = rows("hosts", hosts={"waiting": 1, "shown": [host]})
    assert row["ends"] == ends


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
    assert (set(diagnosis_text.HOLDS), set(diagnosis_text.REASONS)) == (set(Hold), set(WaitReason))
    assert set(diagnosis_text.MANAGERS) == set(Manager)


def test_a_run_that_was_cut_off_tells_when_another_may_take_over() -> None:
    report = deepcopy(REPORT)
    report["manager"] |= {"doing": "silent", "lock_left": 4.0, "last_run_at": None}
    assert diagnosis_text.known(report)[:2] == [
        ("Manager", "running, without a heartbeat; another may take over in 4.0 s"),
        ("Last run", "–"),  # noqa: RUF001 (an en dash is meant)
    ]
