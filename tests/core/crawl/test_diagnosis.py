"""Each situation a crawl can be in has a sentence a person understands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.crawl.completion import State
from crawler.core.crawl.diagnosis import (
    LOCK_SILENT_AFTER_S,
    MANAGER_SILENT_AFTER_S,
    MAX_CLAIM_S,
    WORKER_SILENT_AFTER_S,
    Facts,
    HandedOut,
    Hold,
    Manager,
    SilentLock,
    explain,
    hold_of,
    manager_of,
)
from crawler.core.crawl.politeness import HostWait, Reason, Used

RUNNING = Facts(State.RUNNING, open_pages=100)
FETCHING = HandedOut(Hold.FETCHING, 64, 8.0)
DEAD = HandedOut(Hold.SILENT, 64, 6.0)
QUEUED = HandedOut(Hold.QUEUED, 20, 3.0)
LOST = HandedOut(Hold.LOST, 20, 7.0)


def a_host(next_in: float = 12.0, reason: Reason = Reason.ROBOTS, trouble: str = "") -> HostWait:
    return HostWait("example.com", 5, next_in, reason, trouble)


def waiting(*hosts: HostWait) -> dict[str, Any]:
    return {"hosts": hosts, "hosts_waiting": len(hosts)}


ANSWERS: list[tuple[dict[str, Any], str]] = [
    # it is over
    ({"state": State.FINISHED, "open_pages": 0}, "It is finished: no page is open."),
    ({"state": State.CANCELLED, "open_pages": 0}, "It was cancelled: no page is open."),
    (
        {"state": State.FINISHED, "open_pages": 2},  # cannot be
        "It is finished, yet 2 pages are open in the table: please report this.",
    ),
    # nobody can go on with it
    (
        {"redis_answers": False},
        "Redis does not answer, so nothing is fetched. The crawl goes on by itself once Redis is back.",
    ),
    ({"state": State.PAUSED}, "It is paused: no page is requested until a user resumes it."),
    (
        {"state": State.PAUSED, "open_pages": 0},
        "It is paused, although no page is open: once a user resumes it, it is finished.",
    ),
    (
        {"crawl_workers": 0, "fetch_workers": 0, "batches": [QUEUED]},
        "No worker is running: start one in the project folder with bin/worker.",
    ),
    (
        {"fetch_workers": 0},
        'Workers are running, but none of them listens to the queue "fetch": '
        "start one in the project folder with bin/worker.",
    ),
    (
        {"crawl_workers": 0},
        'Workers are running, but none of them listens to the queue "crawl": '
        "start one in the project folder with bin/worker.",
    ),
    # RQ lists nobody, but somebody is at work
    (
        {"crawl_workers": 0, "fetch_workers": 0, "stirred": True, "batches": [FETCHING]},
        "1 batch with 64 pages is being fetched right now.",
    ),
    # somebody vanished with the crawl's row locked
    (
        {"locked": SilentLock("10.0.0.3", 6.0, 4.0), "reports": 5, "manager": Manager.WORKING},
        "The crawl's row is locked by a connection from 10.0.0.3 that has not answered for 6.0 s: "
        "the crawl goes on once PostgreSQL ends it, in 4.0 s.",
    ),
    (
        {"locked": SilentLock("", 60.0, None), "state": State.PAUSED},
        "The crawl's row is locked by a connection that has not answered for 1 min 0 s: "
        "the crawl goes on once that is ended.",
    ),
    (
        {"locked": SilentLock("10.0.0.3", LOCK_SILENT_AFTER_S / 2, 9.0), "batches": [FETCHING]},  # a slow tick
        "1 batch with 64 pages is being fetched right now.",
    ),
    # pages are handed out
    ({"batches": [FETCHING]}, "1 batch with 64 pages is being fetched right now."),
    ({"batches": [FETCHING] * 3, **waiting(a_host())}, "3 batches with 192 pages are being fetched right now."),
    ({"batches": [DEAD, FETCHING]}, "1 batch with 64 pages is being fetched right now."),
    (
        {"batches": [DEAD]},
        "A worker seems to have died with 64 pages in hand; they go back to the others in 6.0 s.",
    ),
    (
        {"batches": [replace(DEAD, pages=1, back_in=-0.5)]},
        "A worker seems to have died with 1 page in hand; it goes back to the others at the manager's next run.",
    ),
    (
        {"batches": [DEAD, replace(DEAD, back_in=2.0)]},
        "2 workers seem to have died with 128 pages in hand; they go back to the others in 6.0 s.",
    ),
    ({"batches": [replace(DEAD, pages=0)]}, "A worker seems to have died with no open page in hand."),
    ({"batches": [QUEUED]}, "1 batch with 20 pages waits for a free worker (1 is running)."),
    (
        {"batches": [QUEUED, QUEUED], "fetch_workers": 4},
        "2 batches with 40 pages wait for a free worker (4 are running).",
    ),
    ({"batches": [replace(QUEUED, hold=Hold.BEGINNING)]}, "1 batch with 20 pages is just being started by a worker."),
    (
        {"batches": [LOST]},
        "The queue has lost 1 batch with 20 pages, as it does when a worker is killed; "
        "they go back to the others in 7.0 s.",
    ),
    # what was found waits for the manager
    (
        {"reports": 5, "manager": Manager.WORKING},
        "5 reports of fetched pages wait to be taken in by the manager, which is at work right now.",
    ),
    (
        {"reports": 1, "manager": Manager.COMING},
        "1 report of fetched pages waits to be taken in by the manager, which waits for a free worker.",
    ),
    (
        {"reports": 2, "manager": Manager.SILENT, "lock_left": 4.0},
        "2 reports of fetched pages wait to be taken in; "
        "the manager seems to have died at work, and another may take over in 4.0 s.",
    ),
    ({"reports": 2}, "2 reports of fetched pages wait to be taken in at the manager's next run."),
    # hosts are left in peace
    (
        waiting(a_host()),
        "It is waiting for example.com, which may be asked again in 12 s (Crawl-delay).",
    ),
    (
        waiting(a_host(0.5, Reason.DELAY)),
        "It is waiting for example.com, which may be asked again in 0.5 s (the delay chosen for this crawl).",
    ),
    (
        waiting(a_host(90, Reason.RETRY, "it answered 503")),
        "It is waiting for example.com, where a page that failed is tried again in 1 min 30 s (it answered 503).",
    ),
    (
        waiting(replace(a_host(0, Reason.BUSY), used=[Used("another crawl", 2)], allowed=2)),
        "2 of 2 connections to example.com are in use: 2 by another crawl.",
    ),
    (
        waiting(replace(a_host(3550, Reason.STOP), until=1_800_000_000.0, status=429)),
        "example.com answered 429 and asked to wait until 08:00:00 UTC (in 59 min 10 s).",
    ),
    (
        waiting(a_host(0, Reason.NOTHING)),
        "example.com may be asked now: pages are handed out at the manager's next run.",
    ),
    (
        waiting(a_host(0, Reason.NOTHING), a_host(0, Reason.NOTHING), a_host(3)),
        "example.com and 1 other host may be asked now: pages are handed out at the manager's next run.",
    ),
    # nothing is lined up
    (
        {"has_begun": False, "is_lined_up": False},
        "It has just been started: the first pages are handed out at the manager's next run.",
    ),
    (
        {"is_lined_up": False},
        "Redis does not know the open pages: the manager queues them again from the table.",
    ),
    ({}, "The open pages in the table must be queued: that is done at the manager's next run."),
    # every page is done
    ({"open_pages": 0}, "No page is open any more; the crawl is finished at the manager's next run."),
    (
        {"open_pages": 0, "batches": [replace(FETCHING, pages=0)]},
        "No page is open any more; 1 batch handed out must come back before it is finished.",
    ),
]


@pytest.mark.parametrize(("seen", "answer"), ANSWERS, ids=[answer for _, answer in ANSWERS])
def test_the_first_sentence_is_the_answer(seen: dict[str, Any], answer: str) -> None:
    assert explain(replace(RUNNING, **seen))[0] == answer


ALSO_TOLD: list[tuple[dict[str, Any], str]] = [
    ({}, "100 pages are open."),
    ({"open_pages": 1}, "1 page is open."),
    (
        {"batches": [FETCHING, QUEUED, replace(DEAD, pages=3), replace(QUEUED, hold=Hold.REPORTED, pages=4)]},
        "100 pages are open: 64 being fetched, 4 fetched and not taken in yet, 20 handed out and not begun, "
        "3 on their way back, 9 waiting.",
    ),
    (
        {"batches": [FETCHING, DEAD]},
        "A worker seems to have died with 64 pages in hand; they go back to the others in 6.0 s.",
    ),
    (
        {"crawl_workers": 0, "fetch_workers": 0, "batches": [DEAD]},
        "A worker seems to have died with 64 pages in hand; they go to another one as soon as it runs.",
    ),
    ({"state": State.PAUSED, "batches": [FETCHING]}, "1 batch with 64 pages is being fetched right now."),
    ({"batches": [QUEUED], **waiting(a_host(), a_host(40))}, "Pages of 2 hosts wait in all."),
    ({"manager": Manager.WORKING}, "The manager is at work right now."),
    (
        {"locked": SilentLock("10.0.0.3", 6.0, 4.0), "reports": 5, "manager": Manager.WORKING},
        "5 reports of fetched pages wait to be taken in then.",
    ),
    (
        {"manager": Manager.SILENT, "lock_left": 4.0},
        "The manager seems to have died at work, and another may take over in 4.0 s.",
    ),
    (
        {"manager": Manager.COMING, "sent_ago": 40.0},
        "The manager was queued 40 s ago and waits for a free worker.",
    ),
    (
        {"crawl_workers": 0, "fetch_workers": 0, "stirred": True},
        "No worker is listed, yet one was at work a moment ago.",
    ),
    ({"ends_in": 300.0}, "Its deadline is in 5 min 0 s: pages that are open then close as expired."),
    ({"ends_in": -1.0}, "Its deadline has passed: pages that are open close as expired at the manager's next run."),
    ({"expires_in": 20.0}, "The next open page expires in 20 s."),
    ({"given_up": 12}, "12 pages were given up in the last hour."),
    ({"given_up": 1}, "1 page was given up in the last hour."),
    (
        {"disagreements": 2},
        "The checks that decide whether it is finished have disagreed 2 times; the table was believed.",
    ),
    (
        {"redis_answers": False, "disagreements": 1},
        "The checks that decide whether it is finished have disagreed once; the table was believed.",
    ),
]


@pytest.mark.parametrize(("seen", "sentence"), ALSO_TOLD, ids=[sentence for _, sentence in ALSO_TOLD])
def test_what_else_is_to_be_known_is_told_after_the_answer(seen: dict[str, Any], sentence: str) -> None:
    assert sentence in explain(replace(RUNNING, **seen))[1:]


def test_a_manager_that_vanished_with_the_row_locked_is_not_said_to_be_at_work() -> None:
    told = explain(replace(RUNNING, locked=SilentLock("10.0.0.3", 6.0, 4.0), manager=Manager.WORKING))
    assert not any("at work" in sentence for sentence in told)


def test_while_pages_are_fetched_nobody_needs_to_know_which_host_rests() -> None:
    assert not any("example.com" in told for told in explain(replace(RUNNING, batches=[FETCHING], **waiting(a_host()))))


def test_a_worker_that_has_to_wait_for_all_hosts_in_its_hands_is_not_said_to_fetch() -> None:
    busy = replace(a_host(0, Reason.BUSY), used=[Used("another crawl", 1)], allowed=1)
    told = explain(replace(RUNNING, batches=[FETCHING], held_up=[busy], **waiting(a_host(0, Reason.NOTHING))))
    assert told[:2] == [
        "1 of 1 connection to example.com is in use: 1 by another crawl.",
        "1 batch with 64 pages is held by a worker that waits for this.",
    ]
    assert not any("being fetched right now" in sentence for sentence in told)


batches = st.builds(HandedOut, st.sampled_from(Hold), st.integers(0, 500), st.floats(-10, 30))
hosts = st.builds(HostWait, st.just("example.com"), st.integers(1, 9), st.floats(0, 300), st.sampled_from(Reason))


@given(
    st.builds(
        Facts,
        st.sampled_from(State),
        st.integers(0, 1_000_000),
        redis_answers=st.booleans(),
        crawl_workers=st.integers(0, 3),
        fetch_workers=st.integers(0, 3),
        stirred=st.booleans(),
        has_begun=st.booleans(),
        is_lined_up=st.booleans(),
        batches=st.lists(batches, max_size=4),
        hosts=st.lists(hosts, max_size=3),
        held_up=st.lists(hosts, max_size=1),
        reports=st.integers(0, 9),
        manager=st.sampled_from(Manager),
        ends_in=st.none() | st.floats(-10, 1000),
        expires_in=st.none() | st.floats(-10, 1000),
    )
)
def test_whatever_is_seen_there_is_an_answer_and_every_sentence_ends(facts: Facts) -> None:
    told = explain(facts)
    assert told
    assert len(set(told)) == len(told)
    assert all(sentence.endswith(".") and "  " not in sentence for sentence in told)


HOLDS = [
    ("its job waits in the queue", {"queued": True}, Hold.QUEUED),
    ("a worker has the job", {"started": True}, Hold.BEGINNING),
    ("a worker has just taken the job from the queue", {}, Hold.BEGINNING),
    ("the manager missed the job some seconds ago", {"missed_for": 0.1}, Hold.LOST),
    ("a worker is slow to begin", {"started": True, "missed_for": MAX_CLAIM_S - 0.1}, Hold.BEGINNING),
    ("a worker died as it began", {"started": True, "missed_for": MAX_CLAIM_S}, Hold.LOST),
    ("the job was found after all", {"queued": True, "missed_for": 0.1}, Hold.QUEUED),
    ("a claim was renewed just now", {"held": True, "started": True}, Hold.FETCHING),
    ("a claim is not renewed", {"held": True, "started": True, "silent_for": WORKER_SILENT_AFTER_S + 0.1}, Hold.SILENT),
    ("the job has ended and left reports", {"held": True, "silent_for": 60.0, "reports": 2}, Hold.REPORTED),
    ("other reports wait while it works", {"held": True, "started": True, "reports": 2}, Hold.FETCHING),
    ("the job has ended and left nothing", {"held": True, "silent_for": WORKER_SILENT_AFTER_S + 0.1}, Hold.SILENT),
]


@pytest.mark.parametrize(("seen", "hold"), [case[1:] for case in HOLDS], ids=[case[0] for case in HOLDS])
def test_who_has_a_batch_follows_from_its_claim_and_its_job(seen: dict[str, Any], hold: Hold) -> None:
    nothing = {
        "held": False,
        "silent_for": 0.0,
        "queued": False,
        "started": False,
        "missed_for": None,
        "reports": 0,
    }
    assert hold_of(**(nothing | seen)) is hold


MANAGER = [
    ("nothing is to be done", {}, Manager.RESTING),
    ("it was sent for", {"is_coming": True}, Manager.COMING),
    ("it is at work", {"silent_for": 0.1, "is_coming": True}, Manager.WORKING),
    ("its worker was killed", {"silent_for": MANAGER_SILENT_AFTER_S + 0.1, "is_coming": True}, Manager.SILENT),
]


@pytest.mark.parametrize(("seen", "doing"), [case[1:] for case in MANAGER], ids=[case[0] for case in MANAGER])
def test_what_the_manager_is_doing(seen: dict[str, Any], doing: Manager) -> None:
    nothing = {"silent_for": None, "is_coming": False}
    assert manager_of(**(nothing | seen)) is doing
