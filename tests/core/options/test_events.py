"""What can be told of a crawl, as people type it."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.options.events import OF_PAGES, chosen_events


def test_an_event_may_be_typed_with_or_without_its_beginning_and_counts_once() -> None:
    assert chosen_events("field", ["started", "crawl.started", " page "]) == ("crawl.started", "crawl.page")


@pytest.mark.parametrize("typed", ["begun", "test", "crawl.crawl.started", ""])
def test_an_event_that_there_is_not_is_refused_with_those_there_are(typed: str) -> None:
    with pytest.raises(BadInput) as caught:
        chosen_events("field", [typed])
    assert all(event.removeprefix("crawl.") in caught.value.message for event in OF_PAGES)
