"""When schedules fire: spans, cron expressions, clocks that are put forward and back; and when crawls are deleted."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.options.schedule import deleted_on, parse

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("every 6h", "2026-03-01T18:00+00:00"),
        ("every 30m", "2026-03-01T12:30+00:00"),
        ("every 2 days", "2026-03-03T12:00+00:00"),
        ("Every  1h 30m ", "2026-03-01T13:30+00:00"),
        ("every hour", "2026-03-01T13:00+00:00"),
        ("every day", "2026-03-02T12:00+00:00"),
        ("every 60s", "2026-03-01T12:01+00:00"),
        ("0 3 * * *", "2026-03-02T03:00+00:00"),
        ("*/15 * * * *", "2026-03-01T12:15+00:00"),
        ("0 12 * * *", "2026-03-02T12:00+00:00"),  # strictly after
        ("0 9 * * mon", "2026-03-02T09:00+00:00"),
        ("0 9 * * MON-FRI", "2026-03-02T09:00+00:00"),
        ("0 0 1 jan *", "2027-01-01T00:00+00:00"),
        ("5-5 3-3 * * *", "2026-03-02T03:05+00:00"),  # croniter alone would take it for every minute
        ("0 3-3,14-14/2 * jan-jan,mar-mar sat-sat", "2026-03-07T03:00+00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00+00:00"),
        ("30 0 L * *", "2026-03-31T00:30+00:00"),  # the last of a month
        ("0 0 * * 7", "2026-03-08T00:00+00:00"),  # Sunday, as 0
        ("  0   3 * * *\t", "2026-03-02T03:00+00:00"),
    ],
)
def test_the_first_time_after_a_sunday_noon(rule: str, expected: str) -> None:
    assert parse(rule).next_after(NOON) == at(expected)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("", "needs a rule"),
        ("   ", "needs a rule"),
        ("0 0 30 2 *", "would never run"),
        ("0 0 31 4,6,9,11 *", "would never run"),
        ("every", "every 6h"),
        ("every 6", "every 6h"),  # of what?
        ("every now and then", "every 6h"),
        ("every -6h", "every 6h"),
        ("every 30s", "a minute"),
        ("every 0h", "a minute"),
        ("every 9999999 days", "366 days"),
        ("every " + "9" * 80 + "d", "366 days"),
        ("daily", "cron expression"),
        ("@daily", "cron expression"),
        ("0 3 * *", "cron expression"),
        ("0 3 * * * *", "cron expression"),  # croniter would take the sixth for seconds
        ("61 * * * *", "out of range"),
        ("0 25 * * *", "out of range"),
        ("a b c d e", "not acceptable"),
        ("r r * * *", "is not a cron field"),  # croniter rolls dice for these
        ("h h * * *", "is not a cron field"),
        ("0 0 * * $", "is not a cron field"),
        ("*/0 * * * *", "is not a valid schedule"),
        ("0 0 * * mon#9", "is not a valid schedule"),
        ("0 0 ? * ?-?", "is not a cron field"),
        ("0 3 * * * " * 20, "longer than"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_word_of_advice(rule: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        parse(rule)
    assert refused.value.field == "schedule"
    assert "\n" not in refused.value.message


def a_field(least: int, most: int, named: int | None = None) -> st.SearchStrategy[tuple[str, set[int]]]:
    """A field of a cron expression, and the values it names; by their numbers those up to `named` alone."""
    number, every = st.integers(least, named or most), set(range(least, most + 1))
    return st.one_of(
        st.just(("*", every)),
        number.map(lambda value: (str(value), {value})),
        st.tuples(number, number).map(lambda pair: (f"{min(pair)}-{max(pair)}", set(range(min(pair), max(pair) + 1)))),
        st.lists(number, min_size=2, max_size=4).map(lambda values: (",".join(map(str, values)), set(values))),
        st.integers(2, 9).map(lambda step: (f"*/{step}", set(range(least, most + 1, step)))),
    )


@given(st.tuples(a_field(0, 59), a_field(0, 23), a_field(1, 31, named=28), a_field(1, 12)))
def test_a_cron_expression_fires_next_when_all_its_fields_fit(fields: tuple[tuple[str, set[int]], ...]) -> None:
    minutes, hours, days, months = (values for _, values in fields)
    found = parse(" ".join([*(text for text, _ in fields), "*"])).next_after(NOON)
    assert found > NOON
    assert found.utcoffset() == timedelta(0)
    assert (found.minute in minutes, found.hour in hours) == (True, True)
    assert (found.day in days, found.month in months) == (True, True)
    same_day = {NOON.replace(hour=hour, minute=minute) for hour in hours for minute in minutes}
    if NOON.day in days and NOON.month in months and max(same_day) > NOON:
        assert found == min(moment for moment in same_day if moment > NOON)


@given(st.integers(1, 366), st.sampled_from(["m", "h", "d", " minutes", " hours", " days"]))
def test_a_span_fires_next_when_it_is_over(amount: int, unit: str) -> None:
    name = {"m": "minutes", "h": "hours", "d": "days"}[unit.strip()[0]]
    assert parse(f"every {amount}{unit}").next_after(NOON) == NOON + timedelta(**{name: amount})


def test_a_run_that_was_begun_late_does_not_move_the_next_ones() -> None:
    every = parse("every 6h")
    assert every.next_after(NOON + timedelta(minutes=7), since=NOON) == NOON + timedelta(hours=6)


def test_times_that_were_missed_are_passed_over() -> None:
    assert parse("every 6h").next_after(NOON + timedelta(days=3), since=NOON) == NOON + timedelta(days=3, hours=6)
    assert parse("0 3 * * *").next_after(NOON + timedelta(days=3), since=NOON) == at("2026-03-05T03:00+00:00")


def test_a_clock_that_was_put_back_waits_for_the_time_it_had_promised() -> None:
    assert parse("every 6h").next_after(NOON - timedelta(hours=1), since=NOON) == NOON


def test_the_wall_of_a_zone_decides_what_time_a_cron_line_means() -> None:
    assert parse("0 3 * * *", BERLIN).next_after(NOON) == at("2026-03-02T03:00+01:00")
    assert parse("0 3 * * *", timezone(timedelta(hours=-5))).next_after(NOON) == at("2026-03-02T03:00-05:00")


def fires(rule: str, begin: str, times: int) -> list[str]:
    """The next moments of a cron line in Berlin, as the wall there shows them."""
    timetable, moment, found = parse(rule, BERLIN), at(begin), []
    for _ in range(times):
        moment = timetable.next_after(moment)
        found.append(moment.astimezone(BERLIN).isoformat(timespec="minutes"))
    return found


def test_a_time_that_spring_leaves_out_comes_an_hour_later() -> None:
    assert fires("30 2 * * *", "2026-03-28T12:00+01:00", 3) == [
        "2026-03-29T03:30+02:00",
        "2026-03-30T02:30+02:00",
        "2026-03-31T02:30+02:00",
    ]
    assert fires("0,30 2,3 * * *", "2026-03-29T01:00+01:00", 3) == [
        "2026-03-29T03:00+02:00",
        "2026-03-29T03:30+02:00",
        "2026-03-30T02:00+02:00",
    ]


def test_a_time_that_autumn_has_twice_counts_once() -> None:
    assert fires("30 2 * * *", "2026-10-24T12:00+02:00", 3) == [
        "2026-10-25T02:30+02:00",
        "2026-10-26T02:30+01:00",
        "2026-10-27T02:30+01:00",
    ]
    assert fires("*/30 2 * * *", "2026-10-25T02:00+01:00", 1) == ["2026-10-26T02:00+01:00"]


def test_the_days_around_a_change_keep_their_time() -> None:
    assert fires("0 20 * * *", "2026-10-24T12:00+02:00", 3) == [
        "2026-10-24T20:00+02:00",
        "2026-10-25T20:00+01:00",
        "2026-10-26T20:00+01:00",
    ]


def test_a_span_is_a_span_whatever_the_clock_on_the_wall_does() -> None:
    before = at("2026-03-28T12:00+01:00")
    assert parse("every 1 day", BERLIN).next_after(before) - before == timedelta(hours=24)


def test_a_time_that_the_clock_passes_over_is_not_missed_by_who_asks_right_before_it() -> None:
    timetable = parse("30 2 * * *", BERLIN)
    comes = at("2026-03-29T03:30+02:00")
    assert timetable.next_after(comes - timedelta(seconds=1)) == comes


@given(st.datetimes(min_value=NOON.replace(tzinfo=None), timezones=st.just(UTC)))
def test_no_moment_is_passed_over_and_none_comes_twice(moment: datetime) -> None:
    """Asked from any moment before it, the next time is the same."""
    for rule in ("*/20 * * * *", "30 2 * * *", "15 1-3 * * sun"):
        timetable = parse(rule, BERLIN)
        found = timetable.next_after(moment)
        assert timetable.next_after(found - timedelta(seconds=1)) == found
        assert timetable.next_after(found) > found


OVER = datetime(2026, 1, 1, tzinfo=UTC)


def test_its_time_counts_from_its_end() -> None:
    assert deleted_on(OVER, 1.5, is_kept=False) == OVER + timedelta(hours=36)


@pytest.mark.parametrize(
    ("finished_at", "days", "is_kept"),
    [(None, 30, False), (OVER, 0, False), (OVER, 30, True)],
    ids=["not over", "kept for ever", "kept by somebody"],
)
def test_some_have_no_such_day(finished_at: datetime | None, days: float, is_kept: bool) -> None:
    assert deleted_on(finished_at, days, is_kept=is_kept) is None


def test_more_days_than_a_calendar_has_are_no_error() -> None:
    assert deleted_on(OVER, 1e12, is_kept=False) is not None
