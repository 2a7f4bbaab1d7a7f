"""What a crawl of the site must come to: as an undisturbed crawl found it, or as a walk through the site's content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.login_site import FORM_TITLE
from tools.chaos.evidence import Evidence, Page, Shown
from tools.chaos.members import LOGIN, WELCOME, MembersSite
from tools.chaos.queue_disturbances import ARCHIVE
from tools.chaos.site import Content, Site


@dataclass(frozen=True)
class Expected:
    pages: Mapping[str, Page]
    hits: Mapping[str, int]  # path -> requests that are needed
    receipt: Mapping[str, Any]
    shown: Mapping[str, Shown] = field(default_factory=dict)  # of pages that a browser renders
    titles: Mapping[str, str] = field(default_factory=dict)  # URL -> of pages behind a log-in


def measured(undisturbed: Evidence) -> Expected:
    return Expected(undisturbed.pages, undisturbed.hits, undisturbed.receipt, undisturbed.shown)


def used_as_queue(site: Site, content: Content, evidence: Evidence) -> Expected:
    """What is expected of a crawl to which a user did all that. The pages the user added that are in the table lead on;
    a leaf of the archive may have been left out by a pattern."""
    there = {urlsplit(url).path: page for url, page in evidence.pages.items()}
    added = {path for path in there if re.fullmatch(r"/(extra|archive)/[^/]+", path)}
    expected = walked(
        site,
        content,
        roots=(
            "/",
            *sorted(
                added
                | {path for path in (evidence.user.added() if evidence.user else ()) if path.startswith("/extra/")}
            ),
        ),
    )
    left_out = [path for path in map(_path, expected.pages) if path.startswith(ARCHIVE)]
    pages, hits = dict(expected.pages), Counter(expected.hits) + evidence.opened
    for path in left_out:
        if there.get(path, ("excluded", None)) == ("excluded", None):
            hits.pop(path)
            pages.pop(site.origin + path)
            if path in there:
                pages[site.origin + path] = ("excluded", None)
    return Expected(pages, hits, _receipt({_path(url): page for url, page in pages.items()}))


def of_members(site: MembersSite) -> Expected:
    """Each page once, and what one log-in requests: the form twice, and the page it leads to."""
    pages = dict.fromkeys(site.members.expected, ("2xx", 200))
    titles = {url: FORM_TITLE if _path(url) == LOGIN else "A page" for url in pages}
    hits = Counter(["/robots.txt", LOGIN, LOGIN, WELCOME, *map(_path, pages)])
    return Expected(pages, hits, _receipt({_path(url): page for url, page in pages.items()}), titles=titles)


def _path(url: str) -> str:
    return urlsplit(url).path


def walked(site: Site, content: Content, lost: Container[str] = (), roots: Sequence[str] = ("/",)) -> Expected:
    """For the generated site, whose links are plain paths and whose robots.txt forbids `/private/`. The pages at these
    paths were lost with their workers, which may have asked for them, and lead nowhere."""
    found: dict[str, Page] = {}
    hits = Counter({"/robots.txt": 1})
    waiting = [*roots]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        if path.startswith("/private/"):
            found[path] = ("robots", None)
            continue
        if path in lost:
            found[path] = ("lost", None)
            hits[path] += 2
            continue
        reply = content(path, 0)
        hits[path] += 1
        if reply.status == 503:
            reply = content(path, 1)
            hits[path] += 1
        found[path] = (f"{reply.status // 100}xx", reply.status)
        body = reply.body if isinstance(reply.body, str) else reply.body.decode()
        waiting += [*re.findall(r'href="(/[^"]*)"', body), *filter(None, [reply.headers.get("Location")])]
    return Expected({site.origin + path: page for path, page in found.items()}, hits, _receipt(found))


def _receipt(found: Mapping[str, Page]) -> dict[str, Any]:
    statuses = Counter(str(status) for _, status in found.values() if status is not None)
    outcomes = Counter(outcome for outcome, _ in found.values())
    return {
        "discovered": len(found),
        "fetched": statuses.total(),
        "failed": outcomes["lost"],
        "skipped": {name: outcomes[name] for name in ("robots", "excluded") if outcomes[name]},
        "cancelled": 0,
        "statuses": dict(statuses),
    }
