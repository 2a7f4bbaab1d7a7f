"""`manage.py host`: the state of a host, and the end of its wait."""

import json
import time

import pytest
from django.core.management import call_command
from redis import Redis

from crawler.core.politeness.throttle import Throttle
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.host_throttle import encoded_throttle
from crawler.frontier.ready_queue import QueueItem
from tests.factories import make_crawl
from tests.management.calls import exit_code
from tests.stops import stop_host

pytestmark = pytest.mark.django_db

HOST = "site.test"


@pytest.fixture
def crawl_id(real_redis: Redis) -> str:
    """Of a crawl of a host that answered 429."""
    crawl = make_crawl(f"http://{HOST}/", discovered=1)
    Frontier(real_redis, str(crawl.id)).ready_queue.enqueue([QueueItem(1, HOST, 0)])
    HostLimiter(real_redis, 10).take_slot(HOST, f"{crawl.id}:fetch-1:0", HostPolicy(str(crawl.id)), time.time())
    stop_host(real_redis, HOST, 3600, time.time())
    throttle = Throttle(
        limit=0.5, delay=4.0, seconds=0.3, failures=3, status=503, weight=10, failed=3, news_at=time.time()
    )
    mapping = {"stop_status": 429, "stops": 2, "crawl_delay": 10, **encoded_throttle(throttle, time.time())}
    real_redis.hset(keys.host(HOST), mapping=mapping)
    return str(crawl.id)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    call_command("host", *words)
    return capsys.readouterr().out


def test_it_prints_what_is_known(crawl_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, HOST).splitlines()
    assert lines[0].startswith("Wait           it responded with 429 and asked to wait until ")
    assert lines[0].endswith(", 2 times in a row")
    assert lines[1:] == [
        "Throttle       slowed to one request in 4.0 s: the last 3 responses were 503",
        "Crawl-delay    10 s",
        "Response time  0.3 s",
        f"Connections    1 in use by crawl {crawl_id} ({HOST})",
        f"Crawl          {crawl_id} ({HOST}, running): 1 page waiting",
    ]


def test_a_url_names_its_host(crawl_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = json.loads(said(capsys, f"HTTP://{HOST.upper()}/some/page?x", "--json"))
    assert (known["host"], known["stop"]["status"], known["crawl_delay"]) == (HOST, 429, 10.0)


def test_forgetting_ends_the_wait_and_may_be_repeated(
    crawl_id: str, real_redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, HOST, "--forget") == f"The wait for {HOST} is ended: 1 crawl with its pages continues.\n"
    assert said(capsys, HOST, "--forget") == f"No wait for {HOST} can be ended.\n"
    shown = said(capsys, HOST)
    assert "Wait" not in shown
    assert "Throttle" not in shown
    assert "Crawl-delay  10 s\n" in shown


@pytest.mark.usefixtures("real_redis")
def test_of_an_unknown_host_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "nowhere.test") == (
        "Nothing is known about nowhere.test: no crawl has pages on it or requested it in the last 24 hours.\n"
    )
    assert said(capsys, "nowhere.test", "--json") == "null\n"
    assert said(capsys, "nowhere.test", "--forget") == "No wait for nowhere.test can be ended.\n"


@pytest.mark.parametrize("typed", ["", "a b", "http://", "exa|mple.com"])
def test_what_is_no_host_ends_with_2(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("host", typed) == 2
    assert capsys.readouterr().err == f"{typed!r} is not a host; write example.com, or example.com:8080.\n"
