"""A worker's machine vanishes in the middle of a tick: PostgreSQL hears nothing of it, and keeps what it had locked.

Real workers over a real PostgreSQL, by the machine's own clock; the settings are those every installation has."""

import os
import re
import signal
import time
from collections.abc import Iterator
from uuid import UUID

import pytest

from crawler.core.protocol.counters import adds_up
from tests.faults.scenes import SMALL
from tests.postgresql import PostgresStack, row_locked
from tests.site import Site
from tests.stack import OWN_WORKER, ROOT

PROTOCOL = ROOT / "docs" / "protocol.md"
ROWS = re.findall(r"^\| `([^`]+)`[^|]*the machine vanishes \|.*\| (\d+) s \|$", PROTOCOL.read_text(), re.MULTILINE)
"""Of the table in docs/protocol.md: the moment, and seconds from then to the end of the crawl."""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(SMALL).serving() as site:
        yield site


def frozen_at(stack: PostgresStack, moment: str) -> int:
    """A worker that has come to this moment and does nothing any more; its process id."""
    child = stack.spawn("python", "-m", "tests.faults.frozen", moment)
    flags = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
    stack.wait_for(lambda: os.waitid(os.P_PID, child.pid, flags) is not None)
    return child.pid


def is_finished(stack: PostgresStack, crawl: UUID) -> bool:
    return bool(stack.crawl(crawl)["state"] == "finished")


def why(stack: PostgresStack, crawl: UUID) -> list[str]:
    from crawler.models import Crawl  # when Django is set up
    from crawler.reports.diagnosis import why_of

    sentences: list[str] = stack.within(lambda: why_of(Crawl.objects.get(id=crawl)))["sentences"]
    return sentences


def failed_jobs(stack: PostgresStack) -> int:
    return sum(int(stack.redis.zcard(f"rq:failed:{queue}")) for queue in ("crawl", "fetch"))


def test_there_are_rows() -> None:
    assert ROWS


@pytest.mark.long
@pytest.mark.parametrize(("moment", "within"), ROWS)
def test_the_others_go_on_when_a_machine_vanishes(
    moment: str, within: str, postgres_stack: PostgresStack, site: Site
) -> None:
    crawl = postgres_stack.start(f"{site.url}/", obey_robots=False)
    frozen = frozen_at(postgres_stack, moment)
    began = time.monotonic()
    workers = [postgres_stack.spawn(*OWN_WORKER) for _ in range(2)]
    postgres_stack.wait_for(lambda: postgres_stack.redis.scard("rq:workers") == 3)
    up = time.monotonic()  # on a busy machine they take seconds to start, in which nobody is there to go on
    postgres_stack.wait_for(lambda: is_locked_by_nobody_who_answers(postgres_stack, crawl))
    postgres_stack.wait_for(lambda: is_finished(postgres_stack, crawl), float(within) - (time.monotonic() - up))
    print(f"finished {time.monotonic() - began:.1f} s after the machine vanished")  # seen with -s
    os.kill(frozen, signal.SIGCONT)  # it was only held up: what it had in hand changes nothing any more
    postgres_stack.wait_for(lambda: "idle-in-transaction" in postgres_stack.log())
    assert adds_up(postgres_stack.receipt(crawl))
    assert {page["outcome"] for page in postgres_stack.pages(crawl).values()} == {"2xx"}
    assert all(worker.poll() is None for worker in workers)


def is_locked_by_nobody_who_answers(stack: PostgresStack, crawl: UUID) -> bool:
    return "row is locked by a connection from 127.0.0.1 that has not responded for" in why(stack, crawl)[0]


@pytest.mark.long
def test_a_locked_crawl_holds_up_no_other_and_goes_on_by_itself(postgres_stack: PostgresStack, site: Site) -> None:
    """With a single worker, which would wait for the lock and do nothing else."""
    crawl = postgres_stack.start(f"{site.url}/", obey_robots=False)
    with row_locked(postgres_stack, crawl):
        postgres_stack.spawn(*OWN_WORKER)
        postgres_stack.wait_for(lambda: gave_way(postgres_stack, crawl))
        assert is_locked_by_nobody_who_answers(postgres_stack, crawl), why(postgres_stack, crawl)
        other = postgres_stack.start(f"{site.url}/", obey_robots=False)
        postgres_stack.wait_for(lambda: is_finished(postgres_stack, other))
        assert postgres_stack.crawl(crawl)["state"] == "running"
        told = postgres_stack.run("python", "manage.py", "cancel", str(crawl), check=False)
        assert "try again in a few seconds" in told.stderr
        assert told.returncode == 1
    postgres_stack.wait_for(lambda: is_finished(postgres_stack, crawl))
    assert adds_up(postgres_stack.receipt(crawl))
    assert failed_jobs(postgres_stack) == 0


def gave_way(stack: PostgresStack, crawl: UUID) -> bool:
    said = stack.redis.get(f"crawler:{crawl}:tick")
    return said is not None and b"gave way" in said
