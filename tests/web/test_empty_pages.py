"""The words of the pages that have nothing to show yet: what each is for, and what to do."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from syrupy.assertion import SnapshotAssertion

from crawler.models import Crawl
from tests.factories import a_crawl, a_finished_crawl
from tests.text_files import listed
from tests.web.reading import words_of

OF_A_CRAWL = ["compare/", "dead-letters/", "exports/", "figures", "graph/", "notices/", "orphans/", "pages/"]
OF_A_CRAWL += ["reports/", "reports/missing-titles/", "reports/orphans/", "traps/", "why/"]
OF_A_PERSON = ["account/", "account/notifications/", "account/tokens/", "schedules/"]


def words_at(browser: Client, address: str) -> list[str]:
    return words_of(browser.get(address).content.decode())


@pytest.mark.parametrize("made", [a_crawl, a_finished_crawl], ids=["running", "finished"])
def test_of_a_crawl(as_ann: Client, ann: User, made: Callable[[User], Crawl], golden: SnapshotAssertion) -> None:
    crawl = made(ann)
    assert listed({part: words_at(as_ann, f"/crawls/{crawl.id}/{part}") for part in OF_A_CRAWL}) == golden


def test_of_a_person(as_ann: Client, golden: SnapshotAssertion) -> None:
    assert listed({page: words_at(as_ann, f"/{page}") for page in OF_A_PERSON}) == golden
