"""Crawls by the beginning of their ID, their site, and @last."""

from uuid import UUID

import pytest

from crawler.core.errors import BadInput
from crawler.management.crawls import crawl_of
from crawler.models import Crawl
from tests.factories import make_crawl

pytestmark = pytest.mark.django_db


def made(digits: str, *start_urls: str, source: str = "") -> Crawl:
    """A crawl whose ID begins with these digits."""
    crawl = make_crawl(source=source, id=UUID(digits.ljust(32, "0")))
    crawl.start_urls = list(start_urls or ["http://site.test/"])
    crawl.save()
    return crawl


def test_the_whole_id_names_a_crawl() -> None:
    crawl = made("5a0a5a2e")
    assert crawl_of(str(crawl.id)) == crawl


@pytest.mark.parametrize("typed", ["5a0a", "5A0A", "5a0a5a2e-00", "5"])
def test_the_beginning_of_an_id_names_the_one_crawl_that_has_it(typed: str) -> None:
    crawl, _ = made("5a0a5a2e"), made("6a0a5a2e")
    assert crawl_of(typed) == crawl


def test_a_beginning_that_several_have_lists_them() -> None:
    first, second = made("5a0a1"), made("5a0a2")
    with pytest.raises(BadInput, match="Several crawls begin with 5a0a") as refused:
        crawl_of("5a0a")
    assert str(first.id) in str(refused.value)
    assert str(second.id) in str(refused.value)


@pytest.mark.parametrize("typed", ["shop.test", "https://shop.test/", "SHOP.test", "shop.test/en"])
def test_a_site_names_its_newest_crawl(typed: str) -> None:
    made("1", "https://shop.test/en/")
    newest = made("2", "https://www.shop.test/en/")
    made("3", "https://shop.test.evil.test/en/")
    assert crawl_of(typed) == newest


def test_a_site_is_found_whatever_its_port() -> None:
    crawl = made("1", "http://shop.test:8080/")
    assert crawl_of("shop.test") == crawl_of("shop.test:8080") == crawl


def test_a_list_is_found_by_its_name() -> None:
    crawl = made("1", source="urls.csv")
    assert crawl_of("urls.csv") == crawl


def test_last_is_the_newest_crawl() -> None:
    made("9")
    newest = made("1")
    assert crawl_of("@last") == newest


def test_last_without_a_crawl_says_how_to_start_one() -> None:
    with pytest.raises(BadInput, match="There are no crawls yet"):
        crawl_of("@last")
