"""What a notice says to people."""

from crawler.core.options.events import Event
from crawler.models import Crawl
from crawler.reports.text import EVENTS, SENTENCES, event_word, figures, sentence


def test_there_are_words_for_every_event() -> None:
    assert set(EVENTS) == set(SENTENCES) == set(Event)


def test_an_event_of_an_older_version_is_shown_as_it_is() -> None:
    assert event_word("finished") == "finished"


def test_a_notice_of_an_earlier_version_can_still_be_sent() -> None:
    told = {"discovered": 3, "fetched": 3, "failed": 0, "skipped": {}, "seconds": 12.0, "bytes": 9}
    assert sentence(Crawl(), Event.FINISHED, told) == "The crawl is finished."
    assert [name for name, _ in figures(told)] == ["Discovered", "Fetched", "Failed", "Skipped", "Time", "Received"]
