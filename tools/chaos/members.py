"""The site of `bin/chaos --login`: its pages are for members, and it ends all sessions now and then."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.login_site import FORM_TITLE, Members
from tests.site import Reply, Request
from tools.chaos.site import HOOK, Site

if TYPE_CHECKING:  # the table of disturbances names the function below
    from tools.chaos.scene import Scene

LOGIN = "/login"
WELCOME = "/members/0"  # where the form leads to
SETTLED_PAGES = 8  # that members saw since the last log-in: it is over, and its session is in use
FIND_SECONDS = 10.0


class MembersSite(Site):
    """With so many pages for members."""

    def __init__(self, members: int, latency: float) -> None:
        super().__init__(lambda path, before: Reply(), latency)
        self._number = members
        self.forget()

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


def end_sessions(scene: Scene, dice: Random) -> str | None:
    """Once the last one is in use: a log-in whose session ends before its first page has failed."""
    site = scene.site
    assert isinstance(site, MembersSite)
    scene.wait_for(lambda: site.members.shown_since_login >= SETTLED_PAGES or scene.over, FIND_SECONDS)
    if site.members.shown_since_login < SETTLED_PAGES or scene.over:
        return None
    time.sleep(dice.uniform(0, 0.05))
    site.members.end_sessions()
    return f"the site ends all sessions, after {site.members.logins} log-ins"
