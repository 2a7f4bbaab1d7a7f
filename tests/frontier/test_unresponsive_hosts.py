"""How long a host has not answered is kept for each crawl apart."""

from crawler.core.pages.outcomes import Outcome
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_state import FailureStreak

HOST = "example.com"


def test_of_a_host_that_answers_nothing_is_kept(frontier: Frontier) -> None:
    assert frontier.unresponsive_hosts.get(HOST) is None


def test_times_are_counted_from_the_first_one(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    assert frontier.unresponsive_hosts.record_failure(HOST, Outcome.TIMEOUT, 15.0) == FailureStreak(
        2, 10.0, Outcome.TIMEOUT
    )
    assert frontier.unresponsive_hosts.get(HOST) == FailureStreak(2, 10.0, Outcome.TIMEOUT)


def test_unresponsive_hosts_are_distinguished_from_others(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    assert frontier.unresponsive_hosts.among([HOST, "other.example"]) == {HOST}


def test_an_answer_ends_it(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    frontier.unresponsive_hosts.remove(HOST)
    assert frontier.unresponsive_hosts.get(HOST) is None


def test_retried_dead_letters_reset_unresponsive_hosts(frontier: Frontier) -> None:
    frontier.unresponsive_hosts.record_failure(HOST, Outcome.CONNECT, 10.0)
    frontier.requeue_dead_letters(None)
    assert frontier.unresponsive_hosts.get(HOST) is None
