"""What errors say is short, and when Redis is."""

import pytest

from crawler.core.installation.backpressure import (
    Memory,
    Shortage,
    concerns,
    of_database,
    of_redis,
)

MB = 2**20

OF_REDIS = {
    "command not allowed when used memory > 'maxmemory'.": Shortage.REDIS_FULL,
    "Command # 1 (RPUSH k v) of pipeline caused error: command not allowed when used memory > 'maxmemory'.": (
        Shortage.REDIS_FULL
    ),
    "Error running script: @user_script:17: -OOM command not allowed when used memory > 'maxmemory'.": (
        Shortage.REDIS_FULL
    ),
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.": (
        Shortage.REDIS_UNSAVED
    ),
    "You can't write against a read only replica.": Shortage.REDIS_READ_ONLY,
    "READONLY You can't write against a read only replica.": Shortage.REDIS_READ_ONLY,
    "WRONGTYPE Operation against a key holding the wrong kind of value": None,
    "invalid username-password pair or user is disabled.": None,
}

OF_DATABASE = {
    ("", "database or disk is full"): Shortage.DATABASE_FULL,
    ("", "attempt to write a readonly database"): Shortage.DATABASE_READ_ONLY,
    ("", "disk I/O error"): Shortage.DATABASE_UNWELL,  # SQLite's word where its log or index of it cannot grow
    ("", "unable to open database file"): Shortage.DATABASE_UNWELL,
    ("", "no such table: crawler_crawl"): None,
    ("", "database is locked"): None,
    ("53100", 'could not extend file "base/1/2": No space left on device'): Shortage.DATABASE_FULL,
    ("25006", "cannot execute UPDATE in a read-only transaction"): Shortage.DATABASE_READ_ONLY,
    ("58030", "could not write file: I/O error"): Shortage.DATABASE_UNWELL,
    ("53300", "too many connections"): None,
    ("23505", "a value with the words: database or disk is full"): None,
}


@pytest.mark.parametrize(("message", "short"), OF_REDIS.items())
def test_what_redis_refuses_is_understood(message: str, short: Shortage | None) -> None:
    assert of_redis(message) is short


@pytest.mark.parametrize(("said", "short"), OF_DATABASE.items())
def test_what_the_database_refuses_is_understood(said: tuple[str, str], short: Shortage | None) -> None:
    assert of_database(*said) is short


@pytest.mark.parametrize(
    ("used", "held", "is_short"),
    [(89, False, False), (90, False, True), (120, False, True), (89, True, True), (80, True, True), (79, True, False)],
)
def test_redis_is_short_before_it_is_full_and_until_there_is_a_good_deal_of_room(
    used: int, held: bool, is_short: bool
) -> None:
    assert Memory(used * MB, 100 * MB, "noeviction").is_short(held=held) is is_short


def test_a_redis_without_limit_is_never_short() -> None:
    assert not Memory(100 * MB, 0, "noeviction").is_short(held=True)


def test_a_redis_that_throws_keys_away_is_not_short_but_that_is_known() -> None:
    memory = Memory(100 * MB, 100 * MB, "allkeys-lru")
    assert not memory.is_short(held=False)
    assert memory.evicts_any_key


def test_only_crawls_that_keep_content_wait_for_its_storage() -> None:
    assert [concerns(Shortage.STORAGE_FULL, keeps=keeps) for keeps in (True, False)] == [True, False]
    assert all(concerns(short, keeps=False) for short in Shortage if short is not Shortage.STORAGE_FULL)
