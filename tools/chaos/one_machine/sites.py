"""The sites of `bin/chaos --render` and `--login`: an application whose every page is a shell that tries to reach a
private address; and pages for members, on a site that ends all sessions now and then."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from urllib.parse import urlsplit

from tests.browser_sites.expected import BrowserSite
from tests.browser_sites.spa import GONE, data_path
from tests.login_site import FORM_TITLE, Members
from tests.site import Reply, Request
from tools.chaos.one_machine.scene import FIND_SECONDS, MachineScene, NothingThere
from tools.chaos.site import HOOK, Content, Site
from tools.chaos.verdict import Expected, of_pages

SITE_ADDRESS, CANARY_ADDRESS = "127.0.0.1", "127.0.0.2"
"""The crawl may reach the first; the second is as private, and is not allowed."""

REASON = "noscript"  # why each page is rendered


def shop(known: BrowserSite, canary: str) -> Content:
    """`canary`: "host:port" that the scripts of each page ask for something."""
    knock = f'<script>fetch("http://{canary}/").catch(() => 0); new Image().src = "http://{canary}/i"</script></head>'

    def content(path: str, before: int) -> Reply:
        answer = known.pages.get(path, Reply("not here", status=404))
        if isinstance(answer, str):
            return Reply(answer.replace("</head>", knock))
        return answer if isinstance(answer, Reply) else answer(before)

    return content


def expected_of(known: BrowserSite, site: Site) -> Expected:
    """Each page has what only its scripts write; one link of the home page leads to no page."""
    paths, (script,) = list(known.expected), [path for path in known.pages if path.startswith("/static/")]
    hits = Counter({"/robots.txt": 1, GONE: 1, script: len(paths)})
    hits.update(2 * paths)  # the shell is asked for once to know that it is one, and once more for the browser
    hits.update(data_path(path) for path in paths)
    pages = {**{site.origin + path: ("2xx", 200) for path in paths}, site.origin + GONE: ("4xx", 404)}
    shown = {site.origin + path: (REASON, page.title) for path, page in known.expected.items()}
    expected = of_pages(pages, hits, shown=shown)
    return replace(expected, receipt={**expected.receipt, "rendered": {REASON: len(paths)}})


def times_rendered(hits: Mapping[str, int], shown: Mapping[str, object]) -> Mapping[str, int]:
    """Path of a page -> how often its scripts fetched what they show."""
    return {path: hits.get(data_path(path), 0) for path in (urlsplit(url).path for url in shown)}


LOGIN = "/login"
WELCOME = "/members/0"  # where the form leads to
SETTLED_PAGES = 8  # that members saw since the last log-in: it is over, and its session is in use


class MembersSite(Site):
    """With so many pages for members."""

    def __init__(self, members: int, latency: float) -> None:
        self._number = members
        super().__init__(lambda path, before: Reply(), latency)

    def forget(self) -> None:
        super().forget()
        self.members = Members(self._number)
        self.members.url = self.origin

    def answer(self, request: Request) -> Reply:
        path = urlsplit(request.path).path
        if path == HOOK:
            return super().answer(request)
        self.page_at(path)  # counts it, and takes its time
        reply = self.members.answer(request)
        if path == LOGIN or not is_form(reply):
            self.answered(path)
        return reply


def is_form(reply: Reply) -> bool:
    """Whether it asks for a log-in."""
    return reply.status in (302, 303) or FORM_TITLE in str(reply.body)


def of_members(site: MembersSite) -> Expected:
    """Each page once, and what one log-in requests: the form twice, and the page it leads to."""
    pages = dict.fromkeys(site.members.expected, ("2xx", 200))
    paths = {url: urlsplit(url).path for url in pages}
    titles = {url: FORM_TITLE if path == LOGIN else "A page" for url, path in paths.items()}
    return of_pages(pages, Counter(["/robots.txt", LOGIN, LOGIN, WELCOME, *paths.values()]), titles=titles)


def end_sessions(scene: MachineScene, dice: Random) -> str:
    """Once the last one is in use: a log-in whose session ends before its first page has failed."""
    site = scene.site
    assert isinstance(site, MembersSite)
    scene.wait_for(lambda: site.members.shown_since_login >= SETTLED_PAGES or scene.over, FIND_SECONDS)
    if site.members.shown_since_login < SETTLED_PAGES or scene.over:
        raise NothingThere
    time.sleep(dice.uniform(0, 0.05))
    site.members.end_sessions()
    return f"the site ends all sessions, after {site.members.logins} log-ins"
