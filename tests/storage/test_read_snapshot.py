"""Queries within `read_snapshot` see the database at one time."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from crawler.models import Crawl
from crawler.storage.database import read_snapshot
from tests.factories import make_crawl

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(act: Callable[[], object]) -> None:
    """Over another connection."""

    def with_own_connection() -> None:
        try:
            act()
        finally:
            connection.close()

    thread = threading.Thread(target=with_own_connection)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits for a lock"


def test_what_another_connection_writes_meanwhile_is_not_seen_and_does_not_wait() -> None:
    crawl = make_crawl()
    with read_snapshot():
        assert Crawl.objects.get(pk=crawl.pk).requests == 0
        elsewhere(lambda: Crawl.objects.filter(pk=crawl.pk).update(requests=5))
        assert Crawl.objects.get(pk=crawl.pk).requests == 0
    assert Crawl.objects.get(pk=crawl.pk).requests == 5


def test_writers_lock_at_the_start_of_their_transactions_as_before() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the mode is one of SQLite")
    before = connection.transaction_mode  # type: ignore[attr-defined]
    with read_snapshot():
        assert connection.transaction_mode == before  # type: ignore[attr-defined]
    assert connection.transaction_mode == before  # type: ignore[attr-defined]


def test_within_a_transaction_it_is_that_of_the_transaction() -> None:
    crawl = make_crawl()
    with transaction.atomic(), read_snapshot():
        assert Crawl.objects.filter(pk=crawl.pk).exists()
