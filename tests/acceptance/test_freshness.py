"""A site is crawled again by real workers: what has not changed is not sent again, what is fresh is not asked for, and
whatever lies behind either is found."""

import csv
import io
import zipfile
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from crawler.models import Schedule
from tests.site import Reply, Request, Site, page
from tests.stack import Stack

WORKERS = 2
SECTIONS, PAGES_EACH = 6, 10
LONG_AGO = "Thu, 01 Jan 2026 00:00:00 GMT"
LONG_PAST = datetime(2026, 1, 1, tzinfo=UTC)


class Library(Site):
    """Sections of pages, each with an ETag or a date: a page behind each page. What has not changed is not sent."""

    def __init__(self) -> None:
        leaves = {
            f"/{section}/{number}": page(f"/{section}/{number + 1}" if number + 1 < PAGES_EACH else "/", title="A leaf")
            for section in range(SECTIONS)
            for number in range(PAGES_EACH)
        }
        super().__init__({"/": page(*(f"/{section}/0" for section in range(SECTIONS)), title="Home"), **leaves})
        self.bodies: Counter[str] = Counter()

    def answer(self, request: Request) -> Reply:
        reply = super().answer(request)
        if reply.status != 200:
            return reply
        etag = f'"{blake2b(str(reply.body).encode(), digest_size=8).hexdigest()}"'
        by_date = request.path.startswith("/0/")  # this section has dates alone, and never changes
        validators = {"Last-Modified": LONG_AGO} if by_date else {"ETag": etag}
        asked = request.headers.get("If-Modified-Since" if by_date else "If-None-Match")
        if asked in validators.values():
            return Reply(status=304, headers=validators)
        self.bodies[request.path] += 1
        return Reply(reply.body, headers=validators)

    def forget(self) -> None:
        self.requests.clear()
        self.bodies.clear()

    @property
    def asked(self) -> set[str]:
        return set(self.hits) - {"/robots.txt"}


def test_the_second_crawl_is_sent_what_changed_and_nothing_else(crew: Stack) -> None:
    with Library().serving() as site:
        first = crew.start(f"{site.url}/", revisit=True)
        assert crew.wait_until_finished(first)["statuses"] == {"200": 61}
        site.forget()
        site.pages["/1/3"] = page("/1/4", "/new", title="Changed")
        site.pages["/2/9"] = page("/", title="Changed, too")
        site.pages["/new"] = page("/newer")
        site.pages["/newer"] = page("/")
        second = crew.start(f"{site.url}/", revisit=True)
        receipt = crew.wait_until_finished(second)
        assert receipt["statuses"] == {"200": 4, "304": 59}
        assert dict(site.bodies) == {"/1/3": 1, "/2/9": 1, "/new": 1, "/newer": 1}
        before, after = crew.pages(first), crew.pages(second)
        assert set(after) == set(before) | {f"{site.url}/new", f"{site.url}/newer"}
        assert all(after[url]["depth"] == row["depth"] for url, row in before.items())
        assert {url for url in before if after[url]["title"] != before[url]["title"]} == {
            f"{site.url}/1/3",
            f"{site.url}/2/9",
        }
        assert sum(row["outcome"] == "unchanged" for row in after.values()) == 59
        assert receipt["bytes"] < 1500


@pytest.mark.long
def test_within_its_time_to_live_no_page_is_asked_for_again(crew: Stack) -> None:
    with Library().serving() as site:
        first = crew.start(f"{site.url}/", response_ttl=600)
        crew.wait_until_finished(first)
        site.forget()
        second = crew.start(f"{site.url}/", response_ttl=600)
        receipt = crew.wait_until_finished(second)
        assert site.asked == set()
        assert (receipt["statuses"], receipt["requests"], receipt["bytes"]) == ({"200": 61}, 0, 0)
        before, after = crew.pages(first), crew.pages(second)
        kept = ("outcome", "title", "depth", "content_type")
        assert {url: [row[name] for name in kept] for url, row in after.items()} == {
            url: [row[name] for name in kept] for url, row in before.items()
        }
        assert all(row["reused"] for row in after.values())
        crawls = (f"crawler:{first}", f"crawler:{second}")
        crew.wait_for(lambda: not [key for key in crew.left_over() if key.startswith(crawls)], 10)


@pytest.mark.long
@pytest.mark.parametrize(("reuse", "bodies"), [({"revisit": True}, 2), ({"response_ttl": 600}, 0)])
def test_the_second_crawl_has_the_content_of_pages_that_are_not_sent_again(
    crew: Stack, tmp_path: Path, reuse: dict[str, Any], bodies: int
) -> None:
    """Also when the first crawl, with its copy, is gone. With a limit on age alone it is the content of then."""
    with Library().serving() as site:
        first = crew.start(f"{site.url}/", keep=["html"], **reuse)
        crew.wait_until_finished(first)
        before = kept(crew, first, tmp_path)
        assert len(before) == 61
        assert all(before.values())
        site.forget()
        site.pages["/1/3"] = page("/1/4", title="Changed")
        site.pages["/2/9"] = page("/", title="Changed, too")
        second = crew.start(f"{site.url}/", keep=["html"], **reuse)
        receipt = crew.wait_until_finished(second)
        assert (receipt["fetched"], site.bodies.total()) == (61, bodies)
        crew.command("delete", str(first), "--yes")
        after = kept(crew, second, tmp_path)
        changed = {f"{site.url}/1/3", f"{site.url}/2/9"} if bodies else set()
        assert {url for url in before if after[url] != before[url]} == changed
        assert after.keys() == before.keys()
        assert not (crew.folder / "content" / str(first)).exists()


def kept(crew: Stack, crawl: UUID, folder: Path) -> dict[str, bytes]:
    """URL -> its HTML, as it is exported."""
    file = folder / f"{crawl}.html.zip"
    crew.command("export", str(crawl), "--format", "html.zip", "--output", str(file))
    with zipfile.ZipFile(file) as archive:
        rows = csv.DictReader(io.StringIO(archive.read("index.csv").decode("utf-8-sig")))
        return {row["url"]: archive.read(row["file"]) for row in rows}


@pytest.mark.long
def test_the_clock_begins_the_next_run_of_a_schedule_and_it_is_sent_nothing(crew: Stack) -> None:
    with Library().serving() as site:
        added = ("schedule", "add", f"{site.url}/", "--every", "6h", "--revisit", "--allow-private")
        crew.command(*added)
        crew.wait_for(lambda: [row["state"] for row in runs(crew)] == ["finished"])
        site.forget()
        crew.within(lambda: Schedule.objects.update(next_at=LONG_PAST))
        clocks = [crew.spawn("python", "manage.py", "clock") for _ in range(2)]  # of which one begins it
        crew.wait_for(lambda: [row["state"] for row in runs(crew)] == ["finished", "finished"])
        for clock in clocks:
            clock.terminate()
        first, second = runs(crew)
        assert (second["previous_id"], second["schedule_id"]) == (first["id"], first["schedule_id"])
        assert second["discovered"] == first["discovered"] == 61
        assert site.bodies == {}


def runs(crew: Stack) -> list[dict[str, Any]]:
    """Of the one schedule."""
    return crew.rows("SELECT * FROM crawler_crawl WHERE schedule_id IS NOT NULL ORDER BY created_at")
