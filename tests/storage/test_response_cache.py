"""The response cache: what goes in comes out, to the same partition alone, until it expires."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from crawler.core.crawl.messages import PageResult
from crawler.core.crawl.outcomes import Outcome
from crawler.models import Answer
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
