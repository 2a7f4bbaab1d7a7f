"""What is said of a crawl to whoever follows it."""

import json

from crawler.core.protocol.progress import ProgressState, event, events_since, retry

RUNNING = ProgressState("running", False, 1, 120, 80, progress={"closed": 80}, receipt={})
FINISHED = ProgressState("finished", True, 1, 120, 120, progress={}, receipt={"fetched": 120})


def test_a_newcomer_is_told_state_and_progress() -> None:
    state, progress = events_since(RUNNING, "")
    assert state == b'event: state\ndata: {"state":"running"}\n\n'
    assert progress == b'id: running.1.120.80\nevent: progress\ndata: {"closed":80}\n\n'


def test_whoever_knows_it_is_told_nothing() -> None:
    assert list(events_since(RUNNING, RUNNING.id)) == []


def test_whoever_knows_the_state_is_told_the_progress_alone() -> None:
    assert len(list(events_since(RUNNING, "running.1.120.79"))) == 1


def test_the_end_has_the_receipt() -> None:
    assert list(events_since(FINISHED, RUNNING.id))[-1].splitlines()[1] == b"event: finished"


def test_a_crawl_that_goes_on_after_its_end_is_news() -> None:
    again = ProgressState("running", False, 2, 120, 119, progress={}, receipt={})
    assert again.id != RUNNING.id
    assert len(list(events_since(again, FINISHED.id))) == 2


def test_whatever_is_told_stays_in_its_line() -> None:
    said = event("progress", {"text": "a\nevent: finished\r\n\u2028"})
    assert said.count(b"\n") == 3
    assert json.loads(said.splitlines()[1].removeprefix(b"data: "))["text"].startswith("a\n")


def test_it_says_when_to_come_back() -> None:
    assert retry(1000) == b"retry: 1000\n\n"
