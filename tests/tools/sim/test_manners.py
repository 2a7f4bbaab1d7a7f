"""An impolite log is found out, each kind of impoliteness by its name, and a polite one is not."""

import pytest

from tools.sim.factories import ROBOTS, TERMS, asked, log_of
from tools.sim.log import NEVER, Connection, Log, Request
from tools.sim.manners import Wrong, violations
from tools.sim.world import Host, Page, Robots, World

PAGES = (Page("/a"), Page("/b"), Page("/c"), Page("/no/x", forbidden=True))
WORLD = World(
    (
        Host("127.0.9.1", PAGES, robots=Robots.RULES, closed_to="/no/"),
        Host("127.0.9.2", PAGES, robots=Robots.RULES, closed_to="/no/", crawl_delay=0.5),
        Host("127.0.9.3", PAGES, inside=False),
    )
)
FIRST = asked(0, ROBOTS)
SECOND = asked(0, ROBOTS, host=1)
BUSY = asked(1, "/a", status=503, retry_after=2.0)  # speaks of its page
LIMITED = asked(1, "/a", status=429, retry_after=2.0, until=1.25)  # speaks of its host
SLOW = [asked(1 + 0.2 * number, path, until=2.0) for number, path in enumerate(["/a", "/b"])]
SILENT = [asked(1 + 0.2 * number, path, status=0, until=NEVER) for number, path in enumerate(["/a", "/b"])]


@pytest.mark.parametrize(
    ("requests", "wrong"),
    [
        ([FIRST, asked(0.2, "/a"), asked(0.4, "/b")], None),
        ([FIRST, asked(1, "/a"), asked(1.196, "/b")], None),  # the stamps are not exact
        ([FIRST, asked(1, "/a"), asked(1.19, "/b")], Wrong.TOO_SOON),
        ([FIRST, SECOND, asked(0.5, "/a"), asked(0.5, "/a", host=1)], None),
        ([SECOND, asked(0.5, "/a", host=1), asked(1.0, "/b", host=1)], None),
        ([SECOND, asked(0.2, "/a", host=1)], Wrong.TOO_SOON),  # by its Crawl-delay
        ([asked(0, ROBOTS, host=1, status=503), asked(0.2, ROBOTS, host=1)], None),  # which is not known yet
        ([FIRST, BUSY, asked(1.5, "/b"), asked(3.01, "/a")], None),
        ([FIRST, BUSY, asked(2.9, "/a")], Wrong.STAY_AWAY),
        ([FIRST, LIMITED, asked(1.3, "/b"), asked(3.26, "/b")], None),  # the first of them was under way
        ([FIRST, LIMITED, asked(1.36, "/b")], Wrong.STAY_AWAY),
        ([FIRST, LIMITED, asked(3.2, ROBOTS)], Wrong.STAY_AWAY),
        ([FIRST, *SLOW, asked(2.0, "/c")], None),
        ([FIRST, *SLOW, asked(1.4, "/c")], Wrong.TOO_MANY),
        ([FIRST, *SILENT, asked(9, "/c")], Wrong.TOO_MANY),
        ([FIRST, asked(1, "/no/x")], Wrong.FORBIDDEN),
        ([asked(0, "/a"), asked(1, ROBOTS)], Wrong.BEFORE_ROBOTS),
        ([asked(0, ROBOTS, status=503), asked(1, "/a")], Wrong.BEFORE_ROBOTS),
        ([asked(0, ROBOTS, status=404), asked(1, "/a")], None),
        ([FIRST, asked(1, "/invented")], Wrong.UNKNOWN),
        ([asked(0, ROBOTS, host=2)], Wrong.OUTSIDE),
        ([asked(0, ROBOTS, agent="python-requests/2.32")], Wrong.ANONYMOUS),
    ],
)
def test_what_is_wrong_with_requests_is_named(requests: list[Request], wrong: Wrong | None) -> None:
    assert [found.wrong for found in violations(log_of(*requests), WORLD, TERMS)] == ([wrong] if wrong else [])


@pytest.mark.parametrize(
    ("third", "wrong"),
    [
        (Connection(1, 2.0), None),
        (Connection(0, 4.95), None),  # the first is being closed
        (Connection(0, 4.0), Wrong.TOO_MANY),
    ],
)
def test_no_more_connections_than_allowed_may_be_open(third: Connection, wrong: Wrong | None) -> None:
    log = log_of(FIRST, connections=(Connection(0, 0.0, 5.0), Connection(0, 1.0), third))
    assert [found.wrong for found in violations(log, WORLD, TERMS)] == ([wrong] if wrong else [])


def test_a_violation_says_who_when_and_what() -> None:
    assert violations(Log(()), WORLD, TERMS) == []
    (found,) = violations(log_of(asked(10, ROBOTS), asked(11, "/a"), asked(11.1, "/b")), WORLD, TERMS)
    assert str(found) == "1.100 s, 127.0.9.1: too soon: /b came 100.0 ms after /a, not 200"
