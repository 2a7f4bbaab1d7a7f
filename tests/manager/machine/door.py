"""What keeps others than members out of some pages of the world: a form, a password, and sessions that end."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs

from tests.site import Reply, Request, moved

LOGIN = "north/login"  # the page of the form, which is sent to it, too
WELCOME = "north/welcome"  # where members are sent
USER, PASSWORD, WRONG = "ann", "right", "wrong"
MEMBERS = frozenset(
    {
        *("north/hub", "north/a", "north/leaf2", "north/busy", "north/old", "north/sick", "north/f", "north/e"),
        *("south/hub", "south/leaf3", "south/away", "south/slow", "south/deep1", "south/deep3"),
    }
)
"""Pages for members, in stories of crawls that log in. Others see the form in place of them, or are sent to it."""


class Door:
    """`url_of`: the URL of a page, by its name."""

    def __init__(self, url_of: Callable[[str], str]) -> None:
        self._url_of = url_of
        self.begin_anew(frozenset())

    def begin_anew(self, members: frozenset[str]) -> None:
        self.members = members
        self.refused = self.logins = 0  # forms that were sent
        self.ended = 0  # times that all sessions ended
        self._sessions: set[str] = set()

    def end_sessions(self) -> None:
        self._sessions.clear()
        self.ended += 1

    def answer(self, name: str, request: Request) -> Reply | None:
        """What it says to a request for this page; None if the page itself is to respond."""
        path, _, _ = name.partition("?")
        if not self.members or path not in (*self.members, LOGIN, WELCOME):
            return None
        if path == LOGIN:
            return self._sent(request) if request.body else self._form()
        session = re.search(r"sid=(\w+)", request.headers.get("Cookie", ""))
        if session is not None and session[1] in self._sessions:
            return Reply("<p>Hello") if path == WELCOME else None
        return self._form() if path.startswith("north/") else moved(f"{self._url_of(LOGIN)}?next={path}")

    def _form(self) -> Reply:
        fields = '<input name="user"><input type="password" name="password">'
        return Reply(f'<title>Log in</title><form method="post" action="{self._url_of(LOGIN)}">{fields}</form>')

    def _sent(self, request: Request) -> Reply:
        fields = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        if fields != {"user": USER, "password": PASSWORD}:
            self.refused += 1
            return self._form()
        self.logins += 1
        session = f"session{self.logins}"
        self._sessions.add(session)
        to = {"Location": self._url_of(WELCOME), "Set-Cookie": f"sid={session}; Path=/"}
        return Reply(status=303, headers=to)


def fields_with(password: str) -> tuple[str, ...]:
    """As users type them."""
    return (f"user={USER}", f"password={password}")
