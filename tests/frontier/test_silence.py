"""How long a host has not answered is kept for each crawl apart."""

from __future__ import annotations

from crawler.core.crawl.outcomes import Outcome
from crawler.frontier.frontier import Frontier
from crawler.frontier.unresponsive_hosts import Silence

HOST = "example.com"


def test_of_a_host_that_answers_nothing_is_kept(frontier: Frontier) -> None:
    assert frontier.silences.of(HOST) is None


def test_times_are_counted_from_the_first_one(frontier: Frontier) -> None:
    frontier.silences.note(HOST, Outcome.CONNECT, 10.0)
    assert frontier.silences.note(HOST, Outcome.TIMEOUT, 15.0) == Silence(2, 10.0, Outcome.TIMEOUT)
    assert frontier.silences.of(HOST) == Silence(2, 10.0, Outcome.TIMEOUT)


def test_silent_hosts_are_told_from_others(frontier: Frontier) -> None:
    frontier.silences.note(HOST, Outcome.CONNECT, 10.0)
    assert frontier.silences.among([HOST, "other.example"]) == {HOST}


def test_an_answer_ends_it(frontier: Frontier) -> None:
    frontier.silences.note(HOST, Outcome.CONNECT, 10.0)
    frontier.silences.is_over(HOST)
    assert frontier.silences.of(HOST) is None


def test_dead_letters_sent_again_find_no_silence(frontier: Frontier) -> None:
    frontier.silences.note(HOST, Outcome.CONNECT, 10.0)
    frontier.revive(None)
    assert frontier.silences.of(HOST) is None
