"""A Redis that is killed comes back as it was, as it was a moment ago, or empty."""

from __future__ import annotations

from tools.chaos.memory import Memory


def test_it_comes_back_with_its_data(memory: Memory) -> None:
    memory.client.set("name", "value")
    memory.kill()
    assert not memory.answers()
    memory.start()
    assert memory.client.get("name") == b"value"


def test_it_comes_back_as_it_was_a_moment_ago(memory: Memory) -> None:
    memory.client.set("name", "old")
    written = memory.written()
    memory.client.set("name", "new")
    memory.kill()
    memory.rewind(written)
    memory.start()
    assert memory.client.get("name") == b"old"


def test_it_comes_back_empty(memory: Memory) -> None:
    memory.client.set("name", "value")
    memory.kill()
    memory.empty()
    memory.start()
    assert memory.client.get("name") is None
