"""The seen-set tells which keys are surely stored, and claims nothing else."""

from hashlib import blake2b

from crawler.frontier.frontier import Frontier
from crawler.frontier.seen_set import KEYS_PER_CALL


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
