"""A crawl's progress as a stream: what is said, when it ends, and where it goes on."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.api.problems import Problem
from crawler.api.routes import progress
from crawler.api.routes.progress import MAX_STREAM_S, MAX_STREAMS, POLL_INTERVAL_S, Stream
from crawler.core.protocol.completion import State
from crawler.core.protocol.progress import ProgressState
from tests.api.calling import Caller
from tests.factories import a_crawl, a_finished_crawl


def seen(closed: int, *, state: str = "running") -> ProgressState:
    over = state == "finished"
    return ProgressState(state, over, 1, 9, closed, progress={"closed": closed}, receipt={"fetched": closed})


class Course:
    """A crawl as it is seen look by look, the last for good, with a clock that goes on as the stream sleeps."""

    def __init__(self, *looks: ProgressState) -> None:
        self._looks, self._now = list(looks), 0.0

    def look(self) -> ProgressState:
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]

    def clock(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds

    def said(self, last_id: str = "") -> list[str]:
        stream = Stream(self.look, last_id, clock=self.clock, sleep=self.sleep)
        try:
            return [piece.decode() for piece in stream]
        finally:
            stream.close()


def names(pieces: list[str]) -> list[str]:
    return [line.removeprefix("event: ") for piece in pieces for line in piece.splitlines() if line.startswith("event")]


def test_it_tells_state_progress_and_the_end() -> None:
    said = Course(seen(1), seen(2), seen(9, state="finished")).said()
    assert names(said) == ["state", "progress", "progress", "state", "finished"]
    assert said[0] == "retry: 1000\n\n"
    assert said[-1] == 'id: finished.1.9.9\nevent: finished\ndata: {"fetched":9}\n\n'


def test_a_client_that_reconnects_gets_nothing_twice() -> None:
    assert names(Course(seen(1), seen(2), seen(9, state="finished")).said("running.1.9.1")) == [
        "progress",
        "state",
        "finished",
    ]


def test_while_nothing_changes_it_is_heard_now_and_then_and_ends_in_time() -> None:
    course = Course(seen(1))
    said = course.said()
    assert names(said) == ["state", "progress"]
    assert said.count(": still here\n\n") == 2
    assert course.clock() == pytest.approx(MAX_STREAM_S, abs=POLL_INTERVAL_S)


def test_a_crawl_that_is_deleted_meanwhile_ends_it() -> None:
    looks = iter([seen(1)])

    def look() -> ProgressState:
        found = next(looks, None)
        if found is None:
            raise Problem(404, "gone")
        return found

    stream = Stream(look, "", clock=lambda: 0.0, sleep=lambda seconds: None)
    assert names([piece.decode() for piece in stream])[-1] == "deleted"
    stream.close()


@pytest.fixture
def no_place() -> Iterator[None]:
    streams = [Stream(lambda: seen(1), "") for _ in range(MAX_STREAMS)]
    yield
    for stream in streams:
        stream.close()


@pytest.mark.usefixtures("no_place")
def test_beyond_its_places_it_tells_how_things_stand_and_ends() -> None:
    said = Course(seen(1), seen(2)).said()
    assert (said[0], names(said)) == ("retry: 5000\n\n", ["state", "progress"])


def test_a_place_is_given_back_once_however_it_ends() -> None:
    for _ in range(MAX_STREAMS + 1):
        stream = Stream(lambda: seen(1), "")
        assert stream._has_place
        stream.close()
        stream.close()


def test_the_end_of_a_crawl_comes_over_http(by_ann: Caller, ann: User) -> None:
    response = by_ann.get(f"/crawls/{a_finished_crawl(ann).id}/events")
    assert response["Content-Type"] == "text/event-stream"
    assert names([b"".join(response.streaming_content).decode()]) == ["state", "finished"]
    response.close()


def test_a_client_that_got_the_end_gets_204(by_ann: Caller, ann: User) -> None:
    path = f"/crawls/{a_finished_crawl(ann).id}/events"
    assert by_ann.get(path, Last_Event_ID="finished.1.3.3").status_code == 204


def test_a_running_crawl_is_followed_over_http(by_ann: Caller, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = a_crawl(ann)

    def finish(seconds: float) -> None:
        type(crawl).objects.filter(pk=crawl.pk).update(state=State.CANCELLED, outcomes={"cancelled": 1})

    original: Any = Stream.__init__
    monkeypatch.setattr(progress.Stream, "__init__", lambda *given, **named: original(*given, **named, sleep=finish))
    response = by_ann.get(f"/crawls/{crawl.id}/events")
    assert names([b"".join(response.streaming_content).decode()]) == ["state", "progress", "state", "finished"]
    response.close()
