"""A crawl of two real manuals gives the same receipt, exports and JSON as ever.

The manuals are those that `bin/bench --sites FOLDER` has unpacked, of some 1,700 pages. They are not part of the
project, so this is run by hand: `REAL_SITES=FOLDER bin/test tests/golden/test_real_sites.py`. Their exports are too
large to keep: a snapshot holds the number of rows and the SHA-256 of each, and its first rows.

The digests are those of one release of the manuals (Debian's postgresql-doc-15 15.20-0+deb12u1 and python3.11-doc
3.11.2-6+deb12u9). With another release they differ, and so does "bytes" in the receipt.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis
from django.contrib.auth.models import User
from syrupy.assertion import SnapshotAssertion

from crawler.core.access.permissions import Scope
from crawler.core.pages.content_formats import MARKDOWN
from crawler.exports.formats import FORMATS
from tests.api.calling import Caller, a_token
from tests.golden.exported import Crawled, readable
from tests.golden.masking import masked
from tests.stack import OWN_WORKER, Stack
from tools.bench.sites import MANUALS, Manual, root_in, served

FOLDER = os.environ.get("REAL_SITES")
SITES = [manual for manual in MANUALS if not manual.is_large]
SAMPLE_ROWS = 5
SAMPLE_CHARACTERS = 1000  # of a row
KEPT = (MARKDOWN,)
BY_TIME = ("slow-first-byte", "slow-pages")  # reports that list other pages on a busy machine
PAGE_ID = re.compile(
    r"""(?:(?<=\ id="n)|(?<=source="n)|(?<=target="n)  # in GraphML
    |(?<="page":\ )|(?<="id":\ )|(?<="key":\ "))[0-9]+  # in JSON
    |(?<=-)[0-9]+(?=\.md(?:,|$))  # in the name of a file""",
    re.VERBOSE | re.MULTILINE,
)

pytestmark = [pytest.mark.long, pytest.mark.skipif(not FOLDER, reason="REAL_SITES names no folder with the manuals")]


@pytest.fixture(scope="module", params=SITES, ids=lambda manual: manual.name)
def crawled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, redis_url: str
) -> Iterator[Crawled]:
    """One worker and one connection: so pages are fetched in the order in which they were found, and ids, parents and
    depths are always the same."""
    manual: Manual = request.param
    root = root_in(Path(FOLDER or ""), manual)
    assert root is not None, f"{manual.package} is not unpacked in {FOLDER}"
    redis.Redis.from_url(redis_url).flushall()
    stack = Stack(tmp_path_factory.mktemp("golden"), redis_url)
    try:
        stack.spawn(*OWN_WORKER)
        with served([(manual, root)], 0, stack.folder) as [site]:
            crawl = stack.start(site.url, concurrency=1, near_duplicates=True, keep=KEPT)
            stack.wait_until_finished(crawl)
        host = site.url.split("/")[2]
        yield Crawled(stack, crawl, {str(crawl): "CRAWL", host: "site.test", host.replace(":", "_"): "site.test"})
    finally:
        stack.end()


def test_a_manual(crawled: Crawled, golden: SnapshotAssertion) -> None:
    numbers = numbers_of(crawled)
    kept = [key for key, made in FORMATS.items() if made.form in ("", *KEPT)]
    exports = {key: rows_of(readable(key, crawled.written(key)), crawled, numbers) for key in kept}
    answers = crawled.stack.within(lambda: dict(answers_of(crawled.id)))
    of_api = {place: rows_of(json.dumps(told, indent=1), crawled, numbers) for place, told in answers.items()}
    digests = {name: f"{len(rows)} {digest(rows)}" for name, rows in {**exports, **of_api}.items()}
    samples = {name: [row[:SAMPLE_CHARACTERS] for row in rows[:SAMPLE_ROWS]] for name, rows in exports.items()}
    facts = {
        "receipt": crawled.stack.receipt(crawled.id),
        "figures": answers["api/figures"],
        "rows and SHA-256": digests,
        "first rows": samples,
    }
    assert masked(json.dumps(facts, indent=1, ensure_ascii=False), crawled.names) == golden


def numbers_of(crawled: Crawled) -> Mapping[str, str]:
    """Page id -> its place among the pages of the site. The ids differ from crawl to crawl: links to other sites are
    rows too, and how many of them lie between two pages depends on how many reports a tick finds."""
    query = "SELECT id FROM crawler_page WHERE crawl_id = ? AND kind = 'page' ORDER BY id"
    rows = crawled.stack.rows(query, crawled.id.hex)
    return {str(row["id"]): str(place) for place, row in enumerate(rows, 1)}


def rows_of(text: str, crawled: Crawled, numbers: Mapping[str, str]) -> list[str]:
    return PAGE_ID.sub(lambda found: numbers.get(found[0], found[0]), masked(text, crawled.names)).splitlines()


def answers_of(crawl: UUID) -> Iterator[tuple[str, Any]]:
    someone = User.objects.create(username="someone", is_superuser=True, is_staff=True)
    caller = Caller(a_token(someone, *Scope))
    listed = whole(caller, f"/crawls/{crawl}/reports")
    reports = [f"/reports/{slug}" for report in listed["items"] if (slug := report["slug"]) not in BY_TIME]
    for place in ("", "/receipt", "/figures", "/pages", "/graph", *reports):
        yield f"api{place}", whole(caller, f"/crawls/{crawl}{place}")


def whole(caller: Caller, address: str) -> dict[str, Any]:
    """The response with the items of all its pages."""
    answer = caller.get(address)
    assert answer.status_code == 200, (address, answer.content)
    told: dict[str, Any] = answer.json()
    following = told.pop("next", None)
    while following:
        page = caller.get(following).json()
        told["items"] += page["items"]
        following = page["next"]
    told.pop("pace", None)  # how the crawl went second by second
    return told


def digest(rows: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()
