"""An impolite log is found out, each kind of impoliteness by its name, and a polite one is not."""

import pytest

from tests.sim.factories import ROBOTS, TERMS, asked, log_of
from tests.sim.log import NEVER, Connection, Log, Request
from tests.sim.manners import Wrong, violations
from tests.sim.world import Host, Page, Robots, World

PAGES = (Page("/a"), Page("/b"), Page("/c"), Page("/no/x", forbidden=True))
WORLD = World(
    (
        Host("127.0.9.1", PAGES, robots=Robots.RULES, closed_to="/no/"),
        Host("127.0.9.2", PAGES, robots=Robots.RULES, closed_to="/no/", crawl_delay=0.5),
        Host("127.0.9.3", PAGES, inside=False),
    )
)


def wrongs(*requests: Request, connections: tuple[Connection, ...] = ()) -> list[Wrong]:
    return [found.wrong for found in violations(log_of(*requests, connections=connections), WORLD, TERMS)]


def test_a_polite_log_has_none() -> None:
    assert wrongs(asked(0, ROBOTS), asked(0.2, "/a"), asked(0.4, "/b")) == []
    assert violations(Log(()), WORLD, TERMS) == []


@pytest.mark.parametrize(("gap", "found"), [(0.2, []), (0.196, []), (0.19, [Wrong.TOO_SOON]), (0.0, [Wrong.TOO_SOON])])
def test_a_request_within_the_delay_comes_too_soon(gap: float, found: list[Wrong]) -> None:
    assert wrongs(asked(0, ROBOTS), asked(1, "/a"), asked(1 + gap, "/b")) == found


def test_another_host_may_be_asked_at_the_same_moment() -> None:
    assert wrongs(asked(0, ROBOTS), asked(0, ROBOTS, host=1), asked(0.5, "/a"), asked(0.5, "/a", host=1)) == []


def test_a_crawl_delay_counts_once_robots_txt_is_read() -> None:
    polite = [asked(0, ROBOTS, host=1), asked(0.5, "/a", host=1), asked(1, "/b", host=1)]
    assert wrongs(*polite) == []
    assert wrongs(*polite, asked(1.2, "/c", host=1)) == [Wrong.TOO_SOON]
    assert wrongs(asked(0, ROBOTS, host=1), asked(0.2, "/a", host=1)) == [Wrong.TOO_SOON]


def test_until_robots_txt_is_had_the_chosen_delay_is_enough() -> None:
    late = [asked(0, ROBOTS, host=1, status=503), asked(0.2, ROBOTS, host=1)]
    assert wrongs(*late) == []


def test_a_page_that_said_when_to_come_again_is_left_alone_until_then() -> None:
    stop = asked(1, "/a", status=503, retry_after=2.0)
    assert wrongs(asked(0, ROBOTS), stop, asked(1.5, "/b"), asked(3.01, "/a")) == []
    assert wrongs(asked(0, ROBOTS), stop, asked(2.9, "/a")) == [Wrong.STAY_AWAY]


def test_a_host_that_said_when_to_come_again_is_left_alone_until_then() -> None:
    stop = asked(1, "/a", status=429, retry_after=2.0)
    assert wrongs(asked(0, ROBOTS), stop, asked(3.01, "/b")) == []
    assert wrongs(asked(0, ROBOTS), stop, asked(2.9, "/b")) == [Wrong.STAY_AWAY]
    assert wrongs(asked(0, ROBOTS), stop, asked(2.9, ROBOTS)) == [Wrong.STAY_AWAY]


def test_what_was_under_way_when_it_said_so_is_no_fault() -> None:
    stop = asked(1, "/a", status=429, retry_after=2.0, until=1.25)
    assert wrongs(asked(0, ROBOTS), stop, asked(1.3, "/b")) == []
    assert wrongs(asked(0, ROBOTS), stop, asked(1.36, "/b")) == [Wrong.STAY_AWAY]


def test_no_more_requests_than_allowed_may_be_under_way() -> None:
    slow = [asked(1 + 0.2 * number, path, until=2.0) for number, path in enumerate(["/a", "/b"])]
    assert wrongs(asked(0, ROBOTS), *slow) == []
    assert wrongs(asked(0, ROBOTS), *slow, asked(1.4, "/c")) == [Wrong.TOO_MANY]
    assert wrongs(asked(0, ROBOTS), *slow, asked(2.0, "/c")) == []


def test_a_request_nobody_answers_counts_while_it_is_under_way() -> None:
    waiting = [asked(1 + 0.2 * number, path, status=0, until=NEVER) for number, path in enumerate(["/a", "/b"])]
    assert wrongs(asked(0, ROBOTS), *waiting, asked(9, "/c")) == [Wrong.TOO_MANY]


def test_no_more_connections_than_allowed_may_be_open() -> None:
    two = (Connection(0, 0.0, 5.0), Connection(0, 1.0))
    assert wrongs(asked(0, ROBOTS), connections=two) == []
    assert wrongs(asked(0, ROBOTS), connections=(*two, Connection(1, 2.0))) == []
    assert wrongs(asked(0, ROBOTS), connections=(*two, Connection(0, 4.95))) == []  # the first is being closed
    assert wrongs(asked(0, ROBOTS), connections=(*two, Connection(0, 4.0))) == [Wrong.TOO_MANY]


def test_a_forbidden_page_must_not_be_asked_for() -> None:
    assert wrongs(asked(0, ROBOTS), asked(1, "/no/x")) == [Wrong.FORBIDDEN]


def test_robots_txt_must_be_had_before_the_first_page() -> None:
    assert wrongs(asked(0, "/a"), asked(1, ROBOTS)) == [Wrong.BEFORE_ROBOTS]
    assert wrongs(asked(0, ROBOTS, status=503), asked(1, "/a")) == [Wrong.BEFORE_ROBOTS]
    assert wrongs(asked(0, ROBOTS, status=404), asked(1, "/a")) == []


def test_pages_that_nothing_leads_to_and_hosts_outside_must_not_be_asked_for() -> None:
    assert wrongs(asked(0, ROBOTS), asked(1, "/invented")) == [Wrong.UNKNOWN]
    assert wrongs(asked(0, ROBOTS, host=2)) == [Wrong.OUTSIDE]


def test_a_crawler_says_its_name() -> None:
    assert wrongs(asked(0, ROBOTS, agent="python-requests/2.32")) == [Wrong.ANONYMOUS]


def test_a_violation_says_who_when_and_what() -> None:
    (found,) = violations(log_of(asked(10, ROBOTS), asked(11, "/a"), asked(11.1, "/b")), WORLD, TERMS)
    assert str(found) == "1.100 s, 127.0.9.1: too soon: /b came 100.0 ms after /a, not 200"
