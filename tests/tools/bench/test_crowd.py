"""The hosts of the list: who is dead, who answers what, and after how long."""

from __future__ import annotations

from statistics import median

from tools.bench.crowd import Crowd, Health, address, host_at, page_at, path
from tools.bench.million import differences

CROWD = Crowd(urls=20_000, hosts=2_000)


def test_three_hosts_of_a_hundred_are_dead_half_of_them_silent() -> None:
    healths = [CROWD.health(host) for host in range(CROWD.hosts)]

    assert healths.count(Health.REFUSING) == healths.count(Health.SILENT) == 30


def test_two_urls_of_a_hundred_have_an_error() -> None:
    statuses = [CROWD.status(host, page) for host in range(CROWD.hosts) for page in range(10)]

    assert 0.015 < sum(status != 200 for status in statuses) / len(statuses) < 0.025
    assert set(statuses) == {200, 404, 500, 503}


def test_a_host_takes_some_150_ms() -> None:
    latencies = [CROWD.latency(host, 3) for host in range(CROWD.hosts)]

    assert 0.14 < median(latencies) < 0.16
    assert min(latencies) > 0.01
    assert max(latencies) <= 5


def test_an_address_and_a_path_name_one_host_and_one_page() -> None:
    for host in (0, 249, 250, 9_999, 62_500):
        assert host_at(address(host)) == host
        assert address(host).startswith("127.")
    assert page_at(path(12)) == 12
    assert page_at("/robots.txt") is None


def test_the_list_has_every_url_once_and_spreads_them_over_all_hosts() -> None:
    places = list(CROWD.places())

    assert len(set(places)) == len(places) == CROWD.urls
    assert len({host for host, _ in places[: CROWD.hosts]}) == CROWD.hosts


def test_a_receipt_that_says_what_is_expected_has_no_differences() -> None:
    expected = CROWD.expected()
    statuses = {status: number for status, number in expected.items() if status != "dead"}
    receipt = {
        "discovered": CROWD.urls,
        "fetched": sum(statuses.values()),
        "failed": expected["dead"] - 5,
        "skipped": {"robots": 5},
        "cancelled": 0,
        "statuses": statuses,
    }

    assert differences(receipt, expected) == []
    assert differences({**receipt, "failed": 0}, expected)
    assert differences({**receipt, "statuses": {**statuses, "302": 1}}, expected) == [
        "1 pages of status 302, there are 0"
    ]
