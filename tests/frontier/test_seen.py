"""The seen-set tells which keys are surely stored, and claims nothing else."""

from __future__ import annotations

from crawler.frontier.frontier import Frontier
from crawler.frontier.seen import CHUNK


def test_what_was_added_is_seen(frontier: Frontier) -> None:
    frontier.seen.add([b"a", b"b"])
    assert frontier.seen.unseen([b"a", b"x", b"b", b"y"]) == [1, 3]


def test_an_empty_set_has_seen_nothing(frontier: Frontier) -> None:
    assert frontier.seen.unseen([b"a"]) == [0]
    assert frontier.seen.unseen([]) == []


def test_more_keys_than_fit_one_call(frontier: Frontier) -> None:
    keys = [number.to_bytes(16, "big") for number in range(2 * CHUNK + 5)]
    frontier.seen.add(keys[::2])
    assert frontier.seen.unseen(keys) == list(range(1, len(keys), 2))
