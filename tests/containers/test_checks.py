"""What `deploy/try` accepts of containers and receipts."""

from typing import Any

import pytest

from tests.containers.checks import PLACES, confined, exact, receipt_in, sandboxed

STATUS = """\
Name:\ttini
Uid:\t10001\t10001\t10001\t10001
Gid:\t10001\t10001\t10001\t10001
CapInh:\t0000000000000000
CapPrm:\t0000000000000000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
CapAmb:\t0000000000000000
NoNewPrivs:\t1
"""
MAY_WRITE = [place for place, may in PLACES.items() if may]
RECEIPT = {"state": "finished", "discovered": 2, "fetched": 2, "failed": 0, "cancelled": 0}
BOTH = ["/fast/0", "/fast/1"]


def test_a_confined_container_is_accepted() -> None:
    assert all(check.is_kept for check in confined("web", STATUS, MAY_WRITE))


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("Uid:\t10001", "Uid:\t0"),
        ("Gid:\t10001\t10001", "Gid:\t10001\t0"),
        ("CapBnd:\t0000000000000000", "CapBnd:\t00000000a80425fb"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0"),
    ],
)
def test_one_that_may_do_more_is_not(former: str, now: str) -> None:
    assert former in STATUS
    assert [check.is_kept for check in confined("web", STATUS.replace(former, now), MAY_WRITE)].count(False) == 1


@pytest.mark.parametrize("written", [[*MAY_WRITE, "/app"], MAY_WRITE[1:], []])
def test_one_that_writes_elsewhere_or_cannot_write_is_not(written: list[str]) -> None:
    assert not confined("web", STATUS, written)[-1].is_kept


def test_an_exact_crawl_is_accepted() -> None:
    assert all(check.is_kept for check in exact(RECEIPT, BOTH, 2))


@pytest.mark.parametrize(
    ("receipt", "requested"),
    [
        (RECEIPT, ["/fast/0"]),
        (RECEIPT, [*BOTH, "/fast/1"]),
        ({**RECEIPT, "state": "running"}, BOTH),
        ({**RECEIPT, "fetched": 1, "failed": 1}, BOTH),
        ({}, BOTH),
    ],
)
def test_any_other_is_not(receipt: dict[str, Any], requested: list[str]) -> None:
    assert not all(check.is_kept for check in exact(receipt, requested, 2))


BROWSER = [
    "tini -- /app/deploy/container/start worker --render",
    "chrome --headless",
    "chrome --type=zygote --no-zygote-sandbox",
    "chrome --type=zygote",
]


def test_a_browser_in_its_sandbox_is_accepted() -> None:
    assert sandboxed(BROWSER).is_kept


@pytest.mark.parametrize("commands", [[*BROWSER, "chrome --type=renderer --no-sandbox"], BROWSER[:3], []])
def test_one_without_its_sandbox_or_that_does_not_run_is_not(commands: list[str]) -> None:
    assert not sandboxed(commands).is_kept


def test_the_receipt_is_found_between_other_lines() -> None:
    assert receipt_in('Starting ...\n{"state": "finished"}\n0\n') == {"state": "finished"}
    assert receipt_in("Redis is not ready.") == {}
