"""The seen-set tells which keys are surely stored, and claims nothing else."""

from collections.abc import Callable
from hashlib import blake2b

import pytest

from crawler.core.protocol.counters import Watermark
from crawler.frontier.frontier import Frontier
from crawler.frontier.seen_set import KEYS_PER_CALL, MOST_NOTED_SHARDS


def keys(*names: object) -> list[bytes]:
    return [blake2b(str(name).encode(), digest_size=16).digest() for name in names]


def test_what_was_added_is_seen(frontier: Frontier) -> None:
    frontier.seen.add(keys("a", "b"))
    assert frontier.seen.missing(keys("a", "x", "b", "y")) == [1, 3]


def test_an_empty_set_has_seen_nothing(frontier: Frontier) -> None:
    assert frontier.seen.missing(keys("a")) == [0]
    assert frontier.seen.missing([]) == []


def test_more_keys_than_fit_one_call(frontier: Frontier) -> None:
    many = keys(*range(2 * KEYS_PER_CALL + 5))
    frontier.seen.add(many[::2])
    assert frontier.seen.missing(many) == list(range(1, len(many), 2))


def test_keys_that_differ_in_few_places_are_different_keys(frontier: Frontier) -> None:
    key = bytes(16)
    others = [bytes([*key[:place], 1, *key[place + 1 :]]) for place in range(8)]
    frontier.seen.add([key])
    assert frontier.seen.missing([key, *others]) == list(range(1, 9))


def test_forgetting_forgets_all(frontier: Frontier) -> None:
    many = keys(*range(500))
    frontier.seen.add(many)
    frontier.seen.clear()
    assert len(frontier.seen.missing(many)) == 500
    assert frontier.redis.keys("*") == []


def collect(frontier: Frontier, *names: object) -> None:
    """As a tick does it."""
    frontier.note_rows(Watermark(len(names), 1), keys(*names))


def collect_by_an_earlier_version(frontier: Frontier, number: int) -> None:
    frontier.redis.set(frontier.keys.watermark, "7 1")
    frontier.redis.sadd(f"{frontier.keys.seen}:9", number)


def test_only_the_shards_that_have_keys_are_deleted(frontier: Frontier) -> None:
    """16,384 others cost Redis some ten milliseconds, a crawl of one page as well."""
    collect(frontier, "a", "b")
    collect(frontier, "c")
    elsewhere = f"{frontier.keys.seen}:9"
    frontier.redis.sadd(elsewhere, 1)
    frontier.seen.clear()
    assert set(frontier.redis.keys("*")) == {elsewhere.encode(), frontier.keys.watermark.encode()}


def test_a_crawl_without_results_has_no_shards(frontier: Frontier) -> None:
    collect(frontier)
    frontier.seen.clear()
    assert frontier.redis.keys("*") == [frontier.keys.watermark.encode()]


def earlier_at_first(frontier: Frontier) -> None:
    collect_by_an_earlier_version(frontier, 1)
    collect(frontier, "a")


def earlier_at_last(frontier: Frontier) -> None:
    collect(frontier, "a")
    collect_by_an_earlier_version(frontier, 1)


def earlier_in_between(frontier: Frontier) -> None:
    earlier_at_last(frontier)
    collect(frontier, "b")
    collect(frontier, "c")


def notes_are_lost(frontier: Frontier) -> None:
    collect(frontier, "a")
    frontier.redis.delete(frontier.keys.seen_shards)


def notes_are_lost_in_between(frontier: Frontier) -> None:
    notes_are_lost(frontier)
    collect(frontier, "b")


def the_watermark_is_lost(frontier: Frontier) -> None:
    collect(frontier, "a")
    frontier.redis.delete(frontier.keys.watermark)


def there_are_many(frontier: Frontier) -> None:
    collect(frontier, *range(2 * MOST_NOTED_SHARDS))
    collect(frontier, "a")
    assert frontier.redis.scard(frontier.keys.seen_shards) < 5


@pytest.mark.parametrize(
    "happens",
    [
        *(earlier_at_first, earlier_at_last, earlier_in_between),
        *(notes_are_lost, notes_are_lost_in_between, the_watermark_is_lost, there_are_many),
    ],
)
def test_all_shards_are_deleted_if_others_may_have_keys(
    frontier: Frontier, happens: Callable[[Frontier], None]
) -> None:
    happens(frontier)
    frontier.seen.clear()
    frontier.redis.delete(frontier.keys.watermark)
    assert frontier.redis.keys("*") == []


def test_when_the_table_is_another_one_no_note_counts(frontier: Frontier) -> None:
    collect(frontier, "a")
    frontier.redis.sadd(f"{frontier.keys.seen}:9", 1)
    frontier.forget_table()
    assert frontier.redis.keys("*") == []
