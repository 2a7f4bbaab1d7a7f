"""Each situation a crawl can be in has a sentence a person understands."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion

from crawler.capabilities.browser.lanes import RENDER
from crawler.capabilities.scrapy.lanes import SCRAPY
from crawler.core.politeness.host_rules import ConnectionUse, HostWait, WaitReason
from crawler.core.protocol.completion import State
from crawler.core.protocol.diagnosis import LOCK_SILENT_AFTER_S, Facts, HandedOut, Hold, Manager, SilentLock
from crawler.reports.explanation import explain
from tests.text_files import listed

RUNNING = Facts(State.RUNNING, open_pages=100)
FETCHING = HandedOut(Hold.FETCHING, 64, 8.0)
DEAD = HandedOut(Hold.SILENT, 64, 6.0)
QUEUED = HandedOut(Hold.QUEUED, 20, 3.0)
LOST = HandedOut(Hold.LOST, 20, 7.0)


def a_host(next_in: float = 12.0, reason: WaitReason = WaitReason.ROBOTS, trouble: str = "") -> HostWait:
    return HostWait("example.com", 5, next_in, reason, trouble)


def waiting(*hosts: HostWait) -> dict[str, Any]:
    return {"hosts": hosts, "hosts_waiting": len(hosts)}


LOCKED = SilentLock("10.0.0.3", 6.0, 4.0)
BUSY = replace(a_host(0, WaitReason.BUSY), used=[ConnectionUse("another crawl", 2)], allowed=2)
IDLE = a_host(0, WaitReason.NOTHING)

SITUATIONS: dict[str, dict[str, Any]] = {
    # it is over
    "finished": {"state": State.FINISHED, "open_pages": 0},
    "cancelled": {"state": State.CANCELLED, "open_pages": 0},
    "finished with open pages, which cannot be": {"state": State.FINISHED, "open_pages": 2},
    # nobody can go on with it
    "Redis is down": {"redis_answers": False},
    "Redis is down, and the checks have disagreed": {"redis_answers": False, "disagreements": 1},
    "paused": {"state": State.PAUSED},
    "paused with no open page": {"state": State.PAUSED, "open_pages": 0},
    "paused while a batch is fetched": {"state": State.PAUSED, "batches": [FETCHING]},
    "no worker": {"crawl_workers": 0, "fetch_workers": 0, "batches": [QUEUED]},
    "no worker, and one died": {"crawl_workers": 0, "fetch_workers": 0, "batches": [DEAD]},
    "no worker, and an autoscaler runs": {
        "crawl_workers": 0,
        "fetch_workers": 0,
        "is_autoscaled": True,
        "batches": [QUEUED],
    },
    "no worker for fetch": {"fetch_workers": 0},
    "no worker for crawl": {"crawl_workers": 0},
    "no worker for Scrapy": {"lane": SCRAPY, "stirred": True, "batches": [QUEUED]},
    "a worker for Scrapy": {"lane": SCRAPY, "fetch_workers": 0, "lane_workers": 1, "batches": [FETCHING]},
    "pages wait for a browser worker": {"for_slots": [(RENDER, 7, 0)], "batches": [FETCHING]},
    "a page waits for one, and for nothing else": {"open_pages": 1, "for_slots": [(RENDER, 1, 0)]},
    "pages wait for a place in the browsers": {"for_slots": [(RENDER, 7, 12)]},
    "a page waits for the only place": {"for_slots": [(RENDER, 1, 1)], "batches": [FETCHING]},
    # RQ lists nobody, but somebody is at work
    "a worker RQ does not list": {"crawl_workers": 0, "fetch_workers": 0, "stirred": True},
    "a worker RQ does not list fetches": {
        "crawl_workers": 0,
        "fetch_workers": 0,
        "stirred": True,
        "batches": [FETCHING],
    },
    # somebody vanished with the crawl's row locked
    "its row is locked": {"locked": LOCKED, "reports": 5, "manager": Manager.WORKING},
    "its row is locked without end": {"locked": SilentLock("", 60.0, None), "state": State.PAUSED},
    "its row is locked by a slow tick": {
        "locked": SilentLock("10.0.0.3", LOCK_SILENT_AFTER_S / 2, 9.0),
        "batches": [FETCHING],
    },
    # pages are handed out
    "one batch is fetched": {"batches": [FETCHING]},
    "three batches are fetched while a host rests": {"batches": [FETCHING] * 3, **waiting(a_host())},
    "one batch is fetched, one worker died": {"batches": [DEAD, FETCHING]},
    "a worker died": {"batches": [DEAD]},
    "a worker died with one page, and its time is over": {"batches": [replace(DEAD, pages=1, back_in=-0.5)]},
    "two workers died": {"batches": [DEAD, replace(DEAD, back_in=2.0)]},
    "a worker died with no open page": {"batches": [replace(DEAD, pages=0)]},
    "one batch is queued": {"batches": [QUEUED]},
    "two batches are queued for four workers": {"batches": [QUEUED, QUEUED], "fetch_workers": 4},
    "one batch is queued while hosts rest": {"batches": [QUEUED], **waiting(a_host(), a_host(40))},
    "one batch is being started": {"batches": [replace(QUEUED, hold=Hold.BEGINNING)]},
    "one batch is lost": {"batches": [LOST]},
    "batches of every kind": {
        "batches": [FETCHING, QUEUED, replace(DEAD, pages=3), replace(QUEUED, hold=Hold.REPORTED, pages=4)]
    },
    # what was found waits for the manager
    "reports wait for a manager at work": {"reports": 5, "manager": Manager.WORKING},
    "a report waits for a manager in the queue": {"reports": 1, "manager": Manager.COMING},
    "reports wait for a manager that died": {"reports": 2, "manager": Manager.SILENT, "lock_left": 4.0},
    "reports wait for the next run": {"reports": 2},
    # hosts are left in peace
    "a host rests by its Crawl-delay": waiting(a_host()),
    "a host rests by the chosen delay": waiting(a_host(0.5, WaitReason.DELAY)),
    "a page is tried again": waiting(a_host(90, WaitReason.RETRY, "it answered 503")),
    "the connections are in use": waiting(BUSY),
    "a server asked to wait": waiting(replace(a_host(3550, WaitReason.STOP), until=1_800_000_000.0, status=429)),
    "a host may be asked": waiting(IDLE),
    "two hosts of three may be asked": waiting(IDLE, IDLE, a_host(3)),
    "a worker waits for all its hosts": {
        "batches": [FETCHING],
        "held_up": [replace(BUSY, used=[ConnectionUse("another crawl", 1)], allowed=1)],
        **waiting(IDLE),
    },
    # nothing is lined up
    "just started": {"has_begun": False, "is_lined_up": False},
    "started, three workers, and no manager has run": {
        "has_begun": False,
        "begun_for": 66.0,
        "manager": Manager.COMING,
        "crawl_workers": 3,
        "sent_ago": 66.0,
    },
    "started, one worker, and no manager has run": {
        "has_begun": False,
        "begun_for": 66.0,
        "manager": Manager.COMING,
        "crawl_workers": 1,
        "sent_ago": 66.0,
    },
    "started, and no manager is queued": {"has_begun": False, "begun_for": 66.0},
    "started, and the manager ran just now": {"has_begun": False, "begun_for": 66.0, "ran_ago": 2.0},
    "no manager has run for long": {"begun_for": 900.0, "ran_ago": 70.0},
    "Redis was emptied": {"is_lined_up": False},
    "Redis was emptied long after the start": {"is_lined_up": False, "begun_for": 900.0},
    "pages must be queued": {},
    "one page must be queued": {"open_pages": 1},
    # every page is done
    "every page is done": {"open_pages": 0},
    "every page is done, a batch is out": {"open_pages": 0, "batches": [replace(FETCHING, pages=0)]},
    # what else is to be known
    "the manager is at work": {"manager": Manager.WORKING},
    "the manager died": {"manager": Manager.SILENT, "lock_left": 4.0},
    "the manager is queued": {"manager": Manager.COMING, "sent_ago": 40.0},
    "a deadline": {"ends_in": 300.0},
    "a deadline that has passed": {"ends_in": -1.0},
    "a page expires": {"expires_in": 20.0},
    "a page was given up": {"given_up": 1},
    "pages were given up": {"given_up": 12},
    "the checks have disagreed": {"disagreements": 2},
}


def test_each_situation_is_explained(golden: SnapshotAssertion) -> None:
    assert listed({name: explain(replace(RUNNING, **seen)) for name, seen in SITUATIONS.items()}) == golden


def test_a_manager_that_vanished_with_the_row_locked_is_not_said_to_be_at_work() -> None:
    told = explain(replace(RUNNING, locked=LOCKED, manager=Manager.WORKING))
    assert not any("running now" in sentence for sentence in told)


def test_while_pages_are_fetched_nobody_needs_to_know_which_host_rests() -> None:
    assert not any("example.com" in told for told in explain(replace(RUNNING, batches=[FETCHING], **waiting(a_host()))))


def test_a_worker_that_has_to_wait_for_all_hosts_in_its_hands_is_not_said_to_fetch() -> None:
    told = explain(replace(RUNNING, **SITUATIONS["a worker waits for all its hosts"]))
    assert not any("being fetched right now" in sentence for sentence in told)


batches = st.builds(HandedOut, st.sampled_from(Hold), st.integers(0, 500), st.floats(-10, 30))
hosts = st.builds(HostWait, st.just("example.com"), st.integers(1, 9), st.floats(0, 300), st.sampled_from(WaitReason))


@given(
    st.builds(
        Facts,
        st.sampled_from(State),
        st.integers(0, 1_000_000),
        redis_answers=st.booleans(),
        crawl_workers=st.integers(0, 3),
        fetch_workers=st.integers(0, 3),
        is_autoscaled=st.booleans(),
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
