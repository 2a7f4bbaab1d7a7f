"""The broken links a crawl tells of are those that another program reads out of the site's files.

The sites: the manuals that `bin/bench --sites FOLDER` has unpacked, of some 1,700 pages. They are not part of the
project, so this is run by hand: `REAL_SITES=FOLDER bin/test tests/acceptance/test_known_answers.py`.
"""

import csv
import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from crawler.core.access.permissions import Scope
from tests.api.calling import Caller, a_token
from tests.stack import OWN_WORKER, Stack
from tools.bench.sites import MANUALS, Manual, root_in, served

FOLDER = os.environ.get("REAL_SITES")
SITES = [manual for manual in MANUALS if not manual.is_large]
HREF = re.compile(r"""<a\s[^>]*?\bhref\s*=\s*["']([^"']+)""", re.IGNORECASE)  # as these manuals write them

Broken = dict[str, set[str]]
"""Path of a page that cannot be had -> paths of the pages that link to it."""


def broken_in(root: Path) -> Broken:
    """What somebody finds who follows all links between the files of a folder."""
    broken, seen, waiting = defaultdict[str, set[str]](set), {"/"}, ["/"]
    while waiting:
        path = waiting.pop()
        file = root / unquote(path).lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        for href in set(HREF.findall(file.read_text("utf-8"))) if file.suffix == ".html" else ():
            there = urlsplit(urljoin(f"http://site.test{path}", unescape(href).strip()))
            if (there.scheme, there.netloc) != ("http", "site.test"):
                continue
            target = there.path or "/"
            if not (root / unquote(target).lstrip("/")).exists():
                broken[target].add(path)
            elif target not in seen:
                seen.add(target)
                waiting.append(target)
    return dict(broken)


def broken_of(lines: list[Mapping[str, str]]) -> Broken:
    """Of the rows of a report: one a link."""
    broken = defaultdict[str, set[str]](set)
    for line in lines:
        assert line["answer"].startswith("404"), line
        broken[urlsplit(line["url"]).path].add(urlsplit(line["page"]).path)
    return dict(broken)


@pytest.mark.skipif(not FOLDER, reason="REAL_SITES names no folder with the manuals")
@pytest.mark.parametrize("manual", SITES, ids=lambda manual: manual.name)
def test_the_broken_links_of_a_manual_are_told_by_command_by_file_and_by_api(stack: Stack, manual: Manual) -> None:
    root = root_in(Path(FOLDER or ""), manual)
    assert root is not None, f"{manual.package} is not unpacked in {FOLDER}"
    expected = broken_in(root)

    for _ in range(2):
        stack.spawn(*OWN_WORKER)
    with served([(manual, root)], 0, stack.folder) as [site]:
        crawl = stack.start(site.url)
        stack.wait_until_finished(crawl)
    command = stack.run("python", "manage.py", "report", str(crawl), "broken-links", "--json").stdout
    counts, exported = stack.within(lambda: by_api(crawl))

    assert broken_of([json.loads(line) for line in command.splitlines()]) == expected
    assert broken_of(list(csv.DictReader(exported.splitlines()))) == expected
    assert counts == {path: len(pages) for path, pages in expected.items()}


def by_api(crawl: UUID) -> tuple[dict[str, int], str]:
    """From path to the number of pages that link to it; and the report as a file."""
    someone = User.objects.create(username="someone", is_superuser=True, is_staff=True)
    caller = Caller(a_token(someone, *Scope))
    report = caller.get(f"/crawls/{crawl}/reports/broken-links").json()
    exported = caller.get(f"/crawls/{crawl}/reports/broken-links/exports/csv")
    lines = [line["cells"] for line in report["items"]]
    counts = {urlsplit(line["url"]).path: line["linking_pages"] for line in lines}
    return counts, b"".join(exported.streaming_content).decode("utf-8-sig")
