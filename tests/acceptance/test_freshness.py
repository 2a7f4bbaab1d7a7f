"""A site is crawled again by real workers: what has not changed is not sent again, and what lies behind it is found."""

from collections import Counter
from hashlib import blake2b

from tests.site import Reply, Request, Site, page
from tests.stack import Stack

WORKERS = 2
SECTIONS, PAGES_EACH = 6, 10
LONG_AGO = "Thu, 01 Jan 2026 00:00:00 GMT"


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
