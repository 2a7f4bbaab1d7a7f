"""Which lane a page, a crawl and a batch take; the number of a batch's collector is part of the batch's id."""

import pytest

from crawler.capabilities.browser.lanes import RENDER
from crawler.capabilities.scrapy.lanes import SCRAPY
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.collectors import MAX_COLLECTORS, batch_id, collector_of
from crawler.core.protocol.lanes import (
    FETCH,
    Lane,
    base_lane,
    chosen_slot_lanes,
    lane_of_batch,
    lanes,
    slot_lane_of,
    slot_lanes,
)
from crawler.core.protocol.messages import PAGE, SITEMAP


@pytest.mark.parametrize(
    ("options", "base", "with_slots"),
    [
        (CrawlOptions(), FETCH, ()),
        (CrawlOptions(render="auto"), FETCH, (RENDER,)),
        (CrawlOptions(render="always"), FETCH, (RENDER,)),
        (CrawlOptions(engine="scrapy"), SCRAPY, ()),
    ],
)
def test_a_crawl_has_one_base_lane_and_the_slot_lanes_it_chose(
    options: CrawlOptions, base: Lane, with_slots: tuple[Lane, ...]
) -> None:
    assert (base_lane(options), chosen_slot_lanes(options)) == (base, with_slots)


@pytest.mark.parametrize(
    ("render", "kind", "noted", "expected"),
    [
        ("never", PAGE, "", ("", "")),
        ("auto", PAGE, "", ("", "")),  # not yet
        ("auto", PAGE, "root", ("b", "root")),
        ("always", PAGE, "", ("b", "always")),
        ("always", SITEMAP, "", ("", "")),
    ],
)
def test_a_page_takes_a_slot_lane_for_a_reason(render: str, kind: str, noted: str, expected: tuple[str, str]) -> None:
    assert slot_lane_of(CrawlOptions(render=render), kind, noted) == expected


@pytest.mark.parametrize("lane", lanes(), ids=lambda lane: lane.queue)
def test_the_id_of_a_batch_names_its_lane_and_its_collector(lane: Lane) -> None:
    batch = batch_id(f"{lane.queue}-0123456789abcdef", 2)
    assert (lane_of_batch(batch), collector_of(batch)) == (lane, 2)


def test_any_other_batch_is_one_of_plain_http() -> None:
    assert lane_of_batch("b1") is FETCH


def test_lanes_are_told_apart_by_their_queues_and_suffixes() -> None:
    queues, suffixes = [lane.queue for lane in lanes()], [lane.suffix for lane in slot_lanes()]
    assert len(set(queues)) == len(queues)
    assert not any("-" in queue for queue in queues)  # the ids of batches begin with them
    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix.isascii() and suffix.islower() and suffix.isalpha() for suffix in suffixes)


@pytest.mark.parametrize("collector", range(MAX_COLLECTORS))
def test_the_id_of_a_batch_names_its_collector(collector: int) -> None:
    assert collector_of(batch_id("fetch-0123456789abcdef", collector)) == collector


@pytest.mark.parametrize("batch", ["fetch-0123456789abcdef", "b1", "", "fetch-0123-9", "fetch-0123-x", "fetch-0123-"])
def test_any_other_batch_is_left_to_the_first(batch: str) -> None:
    assert collector_of(batch) == 0
