"""On PostgreSQL no session waits for a lock, or keeps one, for longer than it may; and it is seen who keeps one."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from crawler.core.protocol.completion import State
from crawler.core.protocol.diagnosis import SilentLock
from crawler.crawls import reconcile
from crawler.models import Crawl, Page
from crawler.storage import database
from crawler.storage.database import LIMITS, is_lock_timeout, silent_lock
from tests.postgresql import PostgresStack, row_locked

T = TypeVar("T")
URL = "http://site.test/"


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


@pytest.fixture
def crawl(postgres_stack: PostgresStack) -> UUID:
    return postgres_stack.within(lambda: Crawl.objects.create(start_urls=[URL], options={}).id)


@pytest.fixture
def locked(postgres_stack: PostgresStack, crawl: UUID) -> Iterator[Any]:
    """The other connection, in whose transaction the crawl's row is locked."""
    with row_locked(postgres_stack, crawl) as other:
        yield other


def seen_after(stack: PostgresStack, seconds: float, look: Callable[[], T]) -> T:
    time.sleep(seconds)
    return stack.within(look)


def test_each_session_has_the_limits(postgres_stack: PostgresStack) -> None:
    found = postgres_stack.within(lambda: {name: setting(name) for name in LIMITS})
    assert (found["lock_timeout"], found["idle_in_transaction_session_timeout"]) == ("3s", "10s")
    asked = [int(found[f"tcp_keepalives_{name}"]) for name in ("idle", "interval", "count")]
    assert 0 < asked[0] + asked[1] * asked[2] < 25
    assert found["tcp_user_timeout"] == "10000"  # milliseconds, as the socket has it


def test_what_the_operator_says_in_the_address_of_the_database_stays(postgres_stack: PostgresStack) -> None:
    postgres_stack.url += "?options=-c%20lock_timeout%3D7s%20--tcp-user-timeout%3D4s%20-c%20deadlock_timeout%3D2s"
    names = ("lock_timeout", "tcp_user_timeout", "idle_in_transaction_session_timeout", "deadlock_timeout")
    assert postgres_stack.within(lambda: [setting(name) for name in names]) == ["7s", "4000", "10s", "2s"]


def test_a_migration_may_wait(postgres_stack: PostgresStack) -> None:
    def limits() -> list[str]:
        return [setting("lock_timeout"), setting("idle_in_transaction_session_timeout")]

    def migrated() -> list[list[str]]:
        emit_pre_migrate_signal(verbosity=0, interactive=False, db="default")
        meanwhile = limits()
        emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
        return [meanwhile, limits()]

    assert postgres_stack.within(migrated) == [["0", "0"], ["3s", "10s"]]


@pytest.mark.usefixtures("locked")
def test_a_lock_that_cannot_be_had_is_known_as_such(postgres_stack: PostgresStack, crawl: UUID) -> None:
    def lock() -> bool:
        try:
            with transaction.atomic():
                Crawl.objects.select_for_update().get(id=crawl)
        except OperationalError as error:
            return is_lock_timeout(error)
        return False

    assert postgres_stack.within(lock)


def test_of_two_that_wait_for_each_other_one_is_told_that_there_is_no_lock(
    postgres_stack: PostgresStack,
) -> None:
    """PostgreSQL ends the one that waited first: the other looks a second after its own wait began."""
    with postgres_stack.connect(autocommit=False) as other, ThreadPoolExecutor(1) as pool:
        other.execute("SET LOCAL deadlock_timeout = '30s'")
        other.execute("LOCK TABLE crawler_page IN ACCESS EXCLUSIVE MODE")

        def lock() -> bool:
            try:
                with transaction.atomic():
                    list(Crawl.objects.select_for_update())
                    pool.submit(other.execute, "LOCK TABLE crawler_crawl IN ACCESS EXCLUSIVE MODE")
                    Page.objects.exists()
            except OperationalError as error:
                return is_lock_timeout(error) and "deadlock detected" in str(error)
            return False

        assert postgres_stack.within(lock)


def test_other_errors_are_no_lock_timeouts() -> None:
    assert not is_lock_timeout(OperationalError("server closed the connection unexpectedly"))
    assert not is_lock_timeout(ValueError("55P03"))


def test_who_has_locked_the_row_and_says_nothing_is_seen(
    postgres_stack: PostgresStack, crawl: UUID, locked: Any
) -> None:
    found = seen_after(postgres_stack, 0.2, lambda: silent_lock(crawl))
    assert found is not None
    assert found.client == "127.0.0.1"
    assert found.silent_for >= 0.2
    assert found.ends_in == pytest.approx(10 - found.silent_for)
    locked.rollback()
    assert postgres_stack.within(lambda: silent_lock(crawl)) is None


@pytest.mark.usefixtures("locked")
def test_only_the_crawl_whose_row_it_is_is_locked(postgres_stack: PostgresStack) -> None:
    def other() -> SilentLock | None:
        return silent_lock(Crawl.objects.create(start_urls=[URL], options={}).id)

    assert postgres_stack.within(other) is None


def test_a_look_at_all_crawls_goes_by_one_that_is_locked(postgres_stack: PostgresStack, crawl: UUID) -> None:
    """The one is held, and would go on by now; the other wants a tick."""

    def look() -> reconcile.ScanResult:
        Crawl.objects.create(start_urls=[URL], options={})
        return reconcile.scan()

    over = timezone.now() - timedelta(seconds=1)
    held = Crawl.objects.filter(id=crawl)
    assert postgres_stack.within(lambda: held.update(state=State.PAUSED, held_until=over)) == 1
    with row_locked(postgres_stack, crawl):
        assert postgres_stack.within(look).woken == 1
    assert postgres_stack.within(reconcile.scan).running == 2


@pytest.mark.django_db
def test_on_other_databases_nothing_is_looked_for() -> None:
    if connections["default"].vendor != database.VENDOR:
        assert silent_lock(UUID(int=0)) is None
