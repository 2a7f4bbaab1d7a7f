"""Which ports may be listed, and which nobody may list."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.urls.addresses import DEFAULT_PORTS, is_bad, parse_ports


@pytest.mark.parametrize("port", [0, 1, 22, 25, 53, 110, 143, 161, 465, 993, 2049, 4190, 5060, 6000, 6667, 10080])
def test_ports_of_other_protocols_are_bad(port: int) -> None:
    assert is_bad(port)


@pytest.mark.parametrize("port", [80, 81, 443, 3000, 5000, 6379, 8080, 8443, 9000, 65535])
def test_ports_where_a_site_may_be_are_not(port: int) -> None:
    assert not is_bad(port)


def test_no_usual_port_is_bad() -> None:
    assert not any(map(is_bad, DEFAULT_PORTS))


def test_they_are_taken_as_typed() -> None:
    assert parse_ports(["80", "9000"]) == {80, 9000}


def test_a_star_stands_for_all() -> None:
    ports = parse_ports(["80", "*"])
    assert all(port in ports for port in (1, 9000, 65535))


@pytest.mark.parametrize("typed", ["", "http", "0", "65536", "-1", "80-90", "٨٠", "443 80", "99999999999"])
def test_what_is_no_port_is_refused(typed: str) -> None:
    with pytest.raises(BadInput, match=r"is not a port; give numbers such as 80,443,8080"):
        parse_ports([typed])


def test_a_bad_port_cannot_be_listed_for_every_host() -> None:
    with pytest.raises(BadInput, match=r"Port 25 is one that browsers refuse; allow it for one host, as host:25"):
        parse_ports(["80", "25"])
