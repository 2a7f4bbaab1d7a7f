"""Each reason for the end of a crawl is a sentence, with the limits that were reached."""

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State, ended
from crawler.core.protocol.counters import Tallies
from crawler.reports.end_text import end_text
from tests.core.protocol.test_completion import COUNTS, LIMITS, OVER, tallies, why
from tests.text_files import listed

OPTIONS = CrawlOptions(max_pages=40, max_depth=2, max_bytes=10_000_000, deadline=7200.0, page_ttl=60.0)


@given(COUNTS, LIMITS, st.sampled_from(OVER))
def test_what_is_over_ended_for_a_reason_that_can_be_told(
    outcomes: dict[str, int], limits: dict[str, int], state: State
) -> None:
    counted = Tallies(discovered=sum(outcomes.values()), outcomes=outcomes)
    reason = ended(state, counted, limits)
    assert reason is not None
    for options in (OPTIONS, CrawlOptions()):
        told = end_text(reason, counted, limits, options)
        assert told.endswith(".")
        assert "None" not in told


SENTENCES: dict[str, tuple[Tallies, dict[str, int]]] = {
    "complete": (tallies(ok=3), {}),
    "one page failed": (tallies(ok=3, dns=1), {}),
    "nothing was fetched": (tallies(robots=1), {}),
    "a limit": (tallies(ok=40, limit=1), {"pages": 1}),
    "two limits, and pages failed": (tallies(ok=38, timeout=2, limit=417), {"pages": 400, "depth": 17}),
    "the limit on bytes": (tallies(ok=3, limit=9), {"bytes": 9}),
    "the deadline, and a limit": (tallies(ok=3, expired=5, limit=9), {"deadline": 5, "depth": 9}),
    "cancelled": (tallies(ok=3, cancelled=6), {}),
}


def test_the_reason_is_a_sentence(golden: SnapshotAssertion) -> None:
    reasons = {name: why(*ending) for name, ending in SENTENCES.items()}
    assert listed({name: end_text(reasons[name], *SENTENCES[name], OPTIONS) for name in SENTENCES}) == golden
