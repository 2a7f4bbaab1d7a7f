"""What users do to a crawl that they use as a queue while everything else happens, and what it must come to."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any
from urllib.parse import urlsplit

from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.scene import MachineScene
from tools.chaos.one_machine.user import User
from tools.chaos.site import Content, Site
from tools.chaos.verdict import Expected, of_pages, walked

EXTRA = "/extra/{}"  # pages that nothing links to
ARCHIVE = "/archive/"  # leaves that a pattern leaves out at times
CHANGES: tuple[dict[str, Any], ...] = (
    {"delay": 0.05},
    {"concurrency": 2},
    {"max_pages": 100_000},
    {"max_pages": None},
    {"deadline": 3600.0},
    {"deadline": None},
    {"exclude": ["/like-nothing/"]},
    *[{"exclude": [ARCHIVE]}] * 3,
    {"exclude": []},
)
SLOW_SECONDS = 4.0  # for which a crawl has a delay


def add_pages(scene: MachineScene, dice: Random) -> str:
    """New ones, open ones and closed ones; for now or later, first or last, some of them again. Or leaves of the
    archive that wait, and that a pattern may leave out by then."""
    user, new = _user(scene), [EXTRA.format(f"{len(_user(scene).calls)}-{number}") for number in range(3)]
    if dice.random() < 0.4:
        leaves = [f"{ARCHIVE}{len(user.calls)}-{number}" for number in range(3)]
        user.add(scene.crawl, leaves, again=False, delay=6.0)
        return f"add {leaves} for later"
    paths = [*new[: dice.randint(1, 3)], *_some_known(scene, dice, 2)]
    place = {"delay": dice.choice((None, 0.0, 2.0, 5.0)), "priority": dice.choice((None, 0, 9))}
    again = dice.random() < 0.5
    dies = _may_die(user, dice)
    user.add(scene.crawl, paths, again, **place)
    return f"add {paths} {place} again={again}{dies}"


def request_again(scene: MachineScene, dice: Random) -> str:
    """Some pages by their URLs, or those that pass a filter."""
    user, crawl = _user(scene), scene.crawl
    dies = _may_die(user, dice)
    if dice.random() < 0.5:
        paths = _some_known(scene, dice, 4)
        user.again(crawl, paths)
        return f"request again {paths}{dies}"
    which = dice.choice(({"outcome": "4xx"}, {"outcome": "3xx"}, {"outcome": "excluded"}, {"http_status": 404}))
    user.again(crawl, None, **which)
    return f"request again {which}{dies}"


def change_options(scene: MachineScene, dice: Random) -> str:
    user, options = _user(scene), dice.choice(CHANGES)
    if "delay" in options:
        scene.later(SLOW_SECONDS, lambda: _not_slow(user, scene))
    dies = _may_die(user, dice)
    user.change(scene.crawl, **options)
    return f"change {options}{dies}"


def _not_slow(user: User, scene: MachineScene) -> None:
    user.change(scene.crawl, delay=0.0)


def _some_known(scene: MachineScene, dice: Random, number: int) -> list[str]:
    """Paths that were answered; most of these pages are closed."""
    known = sorted(path for path in scene.site.done if path.startswith("/page/"))
    return dice.sample(known, min(number, len(known)))


def _user(scene: MachineScene) -> User:
    assert scene.user is not None
    return scene.user


def _may_die(user: User, dice: Random) -> str:
    """Some users die in the middle of their call."""
    if dice.random() >= 0.4:
        return ""
    user.dies_after = dice.uniform(0.001, 0.05)
    return f", dying after {user.dies_after * 1000:.0f} ms"


def used_as_queue(site: Site, content: Content, evidence: MachineEvidence) -> Expected:
    """What is expected of a crawl to which a user did all that. The pages the user added that are in the table lead on;
    a leaf of the archive may have been left out by a pattern."""
    there = {urlsplit(url).path: page for url, page in evidence.pages.items()}
    added = {path for path in there if re.fullmatch(r"/(extra|archive)/[^/]+", path)}
    told = {path for path in (evidence.user.added() if evidence.user else ()) if path.startswith("/extra/")}
    expected = walked(site, content, roots=("/", *sorted(added | told)))
    pages, hits = dict(expected.pages), Counter(expected.hits) + evidence.opened
    for url in expected.pages:
        path = urlsplit(url).path
        if path.startswith(ARCHIVE) and there.get(path, ("excluded", None)) == ("excluded", None):
            hits.pop(path)
            pages.pop(url)
            if path in there:
                pages[url] = ("excluded", None)
    return of_pages(pages, hits)
