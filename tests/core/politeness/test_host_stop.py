"""A whole host is stopped by evidence, not by one page."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.core.politeness.host_rules import FIRST_STOP_S, STOP_PAGES, STOP_WINDOW_S, HostStop, Refusal, after_refusal

NOW, LONGEST, HOUR = 1_000_000.0, 300.0, 3600.0


def too_many(page: str, wait: float = HOUR, **facts: bool) -> Refusal:
    return Refusal(page, 429, wait, **facts)


def busy(page: str, wait: float = HOUR, **facts: bool) -> Refusal:
    return Refusal(page, 503, wait, **facts)


def after(*refusals: Refusal, known: HostStop | None = None, now: float = NOW, apart: float = 0.1) -> HostStop:
    stop = known or HostStop()
    for number, refusal in enumerate(refusals):
        stop = after_refusal(stop, refusal, now + number * apart, LONGEST)
    return stop


def test_one_page_that_is_busy_stops_nothing() -> None:
    assert after(busy("/a")).until == 0
    assert after(busy("/a"), busy("/a"), busy("/a"), busy("/a")).until == 0


def test_different_pages_that_are_busy_stop_the_host() -> None:
    pages = [busy(f"/{number}") for number in range(STOP_PAGES)]
    assert after(*pages[:-1]).until == 0
    assert after(*pages, apart=0).until == NOW + LONGEST


def test_pages_that_were_busy_long_ago_are_no_evidence() -> None:
    assert after(*(busy(f"/{number}") for number in range(9)), apart=STOP_WINDOW_S / 2 + 1).until == 0


def test_pages_that_were_busy_while_others_answered_are_no_evidence() -> None:
    assert after(*(busy(f"/{number}", others_answered=True) for number in range(9))).until == 0


def test_one_page_that_says_too_many_requests_stops_the_host_for_seconds() -> None:
    stop = after(too_many("/a"))
    assert (stop.until, stop.status, stop.stops) == (NOW + FIRST_STOP_S, 429, 1)


def test_a_shorter_time_is_kept_as_it_was_said() -> None:
    assert after(too_many("/a", wait=2)).until == NOW + 2


def test_another_page_that_says_so_on_trial_is_believed() -> None:
    first = after(too_many("/a"))
    second = after(too_many("/b", wait=60), known=first, now=first.until)
    assert (second.until, second.stops) == (first.until + 60, 2)
    assert after(too_many("/c"), known=second, now=second.until).until == second.until + LONGEST


def test_a_busy_page_confirms_a_stop_as_well() -> None:
    first = after(too_many("/a"))
    assert after(busy("/b", wait=60), known=first, now=first.until).until == first.until + 60


def test_the_page_that_led_to_the_stop_cannot_prolong_it() -> None:
    first = after(too_many("/a", wait=5))
    again = after(too_many("/a", wait=5, is_repeat=True), known=first, now=first.until + 40)
    assert (again.until, again.stops) == (first.until, 1)


def test_a_page_that_repeats_itself_while_others_answer_stops_nothing() -> None:
    assert after(too_many("/a", is_repeat=True, others_answered=True)).until == 0


def test_responses_that_were_under_way_do_not_shorten_a_stop() -> None:
    first = after(too_many("/a", wait=8))
    assert after(too_many("/b", wait=1), known=first, now=NOW + 1).until == NOW + 8
    assert after(too_many("/b", wait=1), known=first, now=NOW + 1).stops == 1


def test_many_connections_refused_at_once_are_believed() -> None:
    assert after(*(too_many(f"/{number}", wait=60) for number in range(STOP_PAGES)), apart=0).until == NOW + 60


refusals = st.builds(
    Refusal,
    st.sampled_from("abcdef"),
    st.sampled_from([429, 503]),
    st.floats(0.001, 1e7),
    is_repeat=st.booleans(),
    others_answered=st.booleans(),
)


@given(st.lists(st.tuples(refusals, st.floats(0, 400)), max_size=30))
def test_no_stop_is_longer_than_allowed_and_none_is_shortened(events: Sequence[tuple[Refusal, float]]) -> None:
    stop, now = HostStop(), NOW
    for refusal, later in events:
        now += later
        before, stop = stop, after_refusal(stop, refusal, now, LONGEST)
        assert before.until <= stop.until <= max(before.until, now + LONGEST)
        assert len(stop.refusals) <= STOP_PAGES


@given(st.lists(st.tuples(refusals, st.floats(0, 400)), max_size=30))
def test_a_single_page_never_stops_a_host_for_more_than_seconds(events: Sequence[tuple[Refusal, float]]) -> None:
    stop, now = HostStop(), NOW
    for refusal, later in events:
        now += later
        stop = after_refusal(stop, replace(refusal, page="/one"), now, LONGEST)
        assert stop.until <= now + FIRST_STOP_S
