"""The blocks of special addresses: those of IANA's registries, without a gap."""

import csv
import io
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from crawler.core.urls.addresses import is_public
from crawler.core.urls.special_addresses import BLOCKS, block_of
from tests import special_addresses

ROWS = [
    row
    for file in sorted(special_addresses.REGISTRIES.glob("*.csv"))
    for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))
]


def test_the_table_is_what_the_registries_say() -> None:
    source = Path(special_addresses.MODULE).read_text(encoding="utf-8")
    assert source == special_addresses.written(source)


def test_both_registries_are_there_in_full() -> None:
    assert len(ROWS) >= 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["Address Block"])
def test_no_address_is_public_that_iana_does_not_call_reachable(row: dict[str, str]) -> None:
    for text in row["Address Block"].split(","):
        network = ip_network(text.split()[0])
        if row["Globally Reachable"] != "True":
            assert not is_public(str(network.network_address))
            assert not is_public(str(network.broadcast_address))


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254"])
def test_the_smallest_block_names_an_address(address: str) -> None:
    block = block_of(ip_address(address))
    assert block is not None
    assert "metadata" in block.name


def test_each_block_is_there_once() -> None:
    assert len({block.network for block in BLOCKS}) == len(BLOCKS)
