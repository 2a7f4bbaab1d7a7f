"""A page may be asked for until the crawl's deadline or its own time to live is over, whichever comes first."""

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.retries import expiry


@pytest.mark.parametrize(
    ("deadline", "page_ttl", "expected"),
    [
        (None, None, None),
        (100.0, None, 1100.0),
        (None, 30.0, 1080.0),
        (100.0, 30.0, 1080.0),
        (100.0, 60.0, 1100.0),
    ],
)
def test_the_earlier_of_both_counts(deadline: float | None, page_ttl: float | None, expected: float | None) -> None:
    options = CrawlOptions(deadline=deadline, page_ttl=page_ttl)
    assert expiry(options, round_began_at=1000.0, now=1050.0) == expected
