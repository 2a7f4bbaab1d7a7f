"""The response cache: what goes in comes out, to the same partition alone, until it expires."""

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.models import Answer, AnswersTotal
from crawler.storage import response_cache

pytestmark = pytest.mark.django_db

URL = "http://site.test/"
NOW = 1_800_000_000.0
DAY = 86400.0
USUAL = b""


def an_answer(**facts: Any) -> PageResult:
    values = {"id": 3, "attempt": 1, "http_status": 200, "etag": '"a"', "fetched_at": NOW} | facts
    return PageResult(outcome=Outcome.SUCCESS, **values)


def test_what_was_stored_is_recalled() -> None:
    response_cache.store(USUAL, {URL: an_answer(title="Home", links=(f"{URL}a",))}, NOW)
    known = response_cache.load(USUAL, [URL, f"{URL}other"])
    assert list(known) == [URL]
    assert (known[URL].result.title, known[URL].result.links) == ("Home", (f"{URL}a",))
    assert (known[URL].stored_at, known[URL].etag) == (NOW, '"a"')
    assert response_cache.validators(USUAL, [URL, f"{URL}other"]) == {URL: ('"a"', "")}


def test_a_newer_answer_takes_the_place_of_an_older_one() -> None:
    response_cache.store(USUAL, {URL: an_answer(title="Old")}, NOW)
    response_cache.store(USUAL, {URL: an_answer(title="New", etag="", fetched_at=NOW + 9)}, NOW + 9)
    known = response_cache.load(USUAL, [URL])[URL]
    assert (known.result.title, known.stored_at) == ("New", NOW + 9)
    assert response_cache.validators(USUAL, [URL]) == {}
    assert Answer.objects.count() == 1


def test_another_circle_does_not_see_it() -> None:
    response_cache.store(b"ann", {URL: an_answer()}, NOW)
    assert response_cache.load(USUAL, [URL]) == response_cache.load(b"bob", [URL]) == {}
    assert response_cache.validators(b"bob", [URL]) == {}
    assert list(response_cache.load(b"ann", [URL])) == [URL]


def test_an_answer_is_as_old_as_the_last_time_the_server_stood_by_it() -> None:
    response_cache.store(USUAL, {URL: an_answer()}, NOW)
    assert response_cache.load(USUAL, [URL], since=NOW) == {}
    response_cache.refresh(USUAL, [URL], NOW + 50)
    assert list(response_cache.load(USUAL, [URL], since=NOW + 40)) == [URL]


def test_many_urls_take_few_statements(django_assert_num_queries: Any) -> None:
    known = {f"{URL}{number}": an_answer() for number in range(250)}
    response_cache.store(USUAL, known, NOW)
    with django_assert_num_queries(3):
        assert len(response_cache.load(USUAL, known)) == 250
    with django_assert_num_queries(3):
        assert len(response_cache.validators(USUAL, known)) == 250


@pytest.mark.parametrize("packed", [b"", b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_an_answer_that_cannot_be_read_is_as_good_as_none(packed: bytes, caplog: pytest.LogCaptureFixture) -> None:
    response_cache.store(USUAL, {URL: an_answer()}, NOW)
    Answer.objects.update(result=packed)
    with caplog.at_level(logging.WARNING):
        assert response_cache.load(USUAL, [URL]) == {}
    assert "cannot be read" in caplog.text


def test_what_is_too_old_is_deleted_a_bit_at_a_time(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(response_cache, "MAX_ROWS_PER_SWEEP", 3)
    settings.CRAWLER_ANSWER_DAYS = 2
    response_cache.store(USUAL, {f"{URL}{number}": an_answer() for number in range(4)}, NOW)
    response_cache.refresh(USUAL, [f"{URL}fresh"], NOW)
    assert response_cache.delete_expired(NOW + 1.9 * DAY) == 0
    assert [response_cache.delete_expired(NOW + 2.1 * DAY) for _ in range(3)] == [3, 1, 0]


def test_whoever_stores_answers_makes_room_for_them(settings: Any) -> None:
    """So the table does not grow without end where no clock runs."""
    settings.CRAWLER_ANSWER_DAYS = 2
    response_cache.store(USUAL, {f"{URL}old": an_answer()}, NOW)
    response_cache.store(USUAL, {f"{URL}new": an_answer(fetched_at=NOW + 3 * DAY)}, NOW + 3 * DAY)
    assert list(response_cache.load(USUAL, [f"{URL}old", f"{URL}new"])) == [f"{URL}new"]


def test_nothing_to_store_touches_nothing(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        response_cache.store(USUAL, {}, NOW)
        response_cache.refresh(USUAL, [], NOW)


# The limit on their size


MB = 1024 * 1024


def size() -> int:
    """What all rows take."""
    return int(Answer.objects.aggregate(total=Sum("bytes"))["total"] or 0)


def total() -> int:
    """What they take at most, as it is kept."""
    return AnswersTotal.objects.get().bytes


def row_size() -> int:
    """What the row of `an_answer` takes."""
    response_cache.store(b"scale", {URL: an_answer()}, NOW)
    found = size()
    Answer.objects.all().delete()
    AnswersTotal.objects.all().delete()
    return found


def names() -> set[str]:
    """Which of 100 URLs are cached."""
    return {url.removeprefix(URL) for url in response_cache.load(USUAL, [f"{URL}{number}" for number in range(100)])}


def store(number: int) -> None:
    """The response of one URL, received `number` seconds after NOW."""
    response_cache.store(USUAL, {f"{URL}{number}": an_answer(fetched_at=NOW + number)}, NOW + number)


def test_a_row_counts_with_all_that_is_in_it() -> None:
    response_cache.store(USUAL, {URL: an_answer(etag="", title="")}, NOW)
    small = size()
    dated = {"etag": '"abc"', "last_modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
    response_cache.store(USUAL, {URL: an_answer(**dated)}, NOW)
    row = Answer.objects.get()
    assert row.bytes == size() == response_cache.ROW_BYTES + len(row.result) + 5 + 29 > small


def test_the_ones_confirmed_least_recently_make_room_for_new_ones(settings: Any) -> None:
    settings.CRAWLER_CACHE_MB = 10.5 * row_size() / MB
    for number in range(10):
        store(number)
    response_cache.refresh(USUAL, [f"{URL}0"], NOW + 9.5)
    assert len(names()) == 10
    for number in range(10, 14):
        store(number)
        assert size() <= settings.CRAWLER_CACHE_MB * MB
    assert names() == {"0", *(str(number) for number in range(5, 14))}


def test_what_is_replaced_does_not_count_twice(settings: Any) -> None:
    settings.CRAWLER_CACHE_MB = 3.5 * row_size() / MB
    store(1)
    for _ in range(20):
        store(2)
    assert names() == {"1", "2"}
    assert size() <= total() <= settings.CRAWLER_CACHE_MB * MB


def test_a_lower_limit_is_reached_in_small_steps(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "MAX_ROWS_PER_SWEEP", 3)
    monkeypatch.setattr(response_cache, "MAX_SWEEPS_FOR_ROOM", 2)
    one = row_size()
    for number in range(20):
        store(number)
    settings.CRAWLER_CACHE_MB = 5.4 * one / MB
    assert [response_cache.make_room() for _ in range(4)] == [6, 6, 3, 0]
    assert names() == {"15", "16", "17", "18", "19"}
    assert total() == size()


def test_with_no_room_at_all_nothing_is_stored_and_what_there_was_goes(settings: Any) -> None:
    store(1)
    settings.CRAWLER_CACHE_MB = 0
    store(2)
    assert names() == {"1"}
    assert response_cache.make_room() == 1
    assert not Answer.objects.exists()


def test_moved_content_changes_what_a_row_takes(settings: Any) -> None:
    old, new = {"html": ["a/1", 0, 9]}, {"html": ["b/" + "x1y2z3" * 9, 0, 9]}
    response_cache.store(USUAL, {URL: an_answer(kept=old)}, NOW)
    response_cache.make_room()
    before = size(), total()
    response_cache.replace_content(USUAL, {URL: (old, new)})
    row = Answer.objects.get()
    assert row.bytes == response_cache.ROW_BYTES + len(row.result) + 3 > before[0]
    assert total() - before[1] == size() - before[0]


def test_while_there_is_room_that_is_one_look(django_assert_num_queries: Any) -> None:
    store(1)
    response_cache.make_room()
    with django_assert_num_queries(1):
        assert response_cache.make_room() == 0


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads a table as small as this one as a whole")
def test_all_rows_are_counted_by_an_index_alone() -> None:
    """Reading the rows themselves, up to 2 GB, would take a tick many seconds."""
    store(1)
    with CaptureQueriesContext(connection) as seen:
        AnswersTotal.objects.update(bytes=3000 * MB)
        response_cache.make_room()
    [counting] = [query["sql"] for query in seen.captured_queries if "SUM(" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {counting}")
        assert "COVERING INDEX answer_oldest" in str(cursor.fetchall())


@pytest.mark.django_db(transaction=True)
def test_two_managers_that_store_at_once_stay_below_the_limit(settings: Any) -> None:
    one = row_size()
    settings.CRAWLER_CACHE_MB = 30.5 * one / MB

    def manage(first: int) -> None:
        try:
            for number in range(first, 100, 2):
                store(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as both:
        list(both.map(manage, (0, 1)))
    assert 20 <= len(names()) <= 30
    assert size() <= total() <= settings.CRAWLER_CACHE_MB * MB
