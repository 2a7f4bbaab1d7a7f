"""The cookies of a crawl that logs in: which are kept, and which a request gets (RFC 6265, by Python's own jar).

Only the crawl's own hosts give cookies and get them: that is stricter than any list of public suffixes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple, cast
from urllib.request import Request

import msgspec

from crawler.core.access.credentials import is_own

MAX_COOKIES = 200  # of a crawl
MAX_COOKIES_PER_DOMAIN = 50  # RFC 6265, 6.1, asks for so many at least
MAX_COOKIE_CHARACTERS = 4096  # name and value; the same
SAME_EXPIRY_S = 60  # a cookie that is sent again expires later each time; less than this is no change


class CookieRecord(NamedTuple):
    """A cookie as it is kept for other workers."""

    name: str
    value: str
    domain: str
    is_for_subdomains: bool
    path: str
    secure: bool
    expires: int | None  # epoch seconds; None = with the session

    @classmethod
    def of(cls, cookie: Cookie) -> CookieRecord:
        value = cookie.value or ""
        below = cookie.domain_specified
        return cls(cookie.name, value, cookie.domain, below, cookie.path, cookie.secure, cookie.expires)

    def cookie(self) -> Cookie:
        return Cookie(
            version=0,
            name=self.name,
            value=self.value,
            port=None,
            port_specified=False,
            domain=self.domain,
            domain_specified=self.is_for_subdomains,
            domain_initial_dot=self.domain.startswith("."),
            path=self.path,
            path_specified=True,
            secure=self.secure,
            expires=self.expires,
            discard=self.expires is None,
            comment=None,
            comment_url=None,
            rest={},
        )


class Cookies:
    """The jar of a crawl, as one worker has it."""

    def __init__(self, own_hosts: Collection[str]) -> None:
        self._own_hosts = frozenset(own_hosts)
        self._jar = CookieJar()
        self._jar.set_policy(_BoundedPolicy(self._jar))
        self.received: list[tuple[str, Sequence[str]]] = []
        """URL and Set-Cookie headers that changed the jar since it was last loaded or saved."""

    def pairs(self, url: str) -> list[str]:
        """ "name=value" of each cookie that a request of this normalised URL gets."""
        if not is_own(url, self._own_hosts):
            return []
        request = Request(url)  # noqa: S310 (nothing is requested with it)
        self._jar.add_cookie_header(request)
        return list(filter(None, (request.get_header("Cookie") or "").split("; ")))

    def note(self, url: str, headers: Sequence[str]) -> None:
        """Keep what a response of this normalised URL sets."""
        if headers and is_own(url, self._own_hosts) and self._take(url, headers):
            self.received.append((url, headers))

    def note_again(self, received: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Repeat changes on a jar that was loaded."""
        for url, headers in received:
            self.note(url, headers)

    def dumped(self) -> bytes:
        return msgspec.json.encode([CookieRecord.of(cookie) for cookie in self._jar])

    def load(self, data: bytes) -> None:
        """Have these cookies and no others."""
        self._jar.clear()
        self.received = []
        for stored in msgspec.json.decode(data, type=list[CookieRecord]):
            self._jar.set_cookie(stored.cookie())

    def _take(self, url: str, headers: Sequence[str]) -> bool:
        """Whether it changed the jar."""
        before = self._known()
        message = Message()
        for header in headers:
            message["Set-Cookie"] = header
        self._jar.extract_cookies(cast(Any, _Response(message)), Request(url))  # noqa: S310 (as above)
        return self._known() != before

    def _known(self) -> set[CookieRecord]:
        known = map(CookieRecord.of, self._jar)
        return {one._replace(expires=one.expires and one.expires // SAME_EXPIRY_S) for one in known}


def redacted(headers: str) -> str:
    """The headers of a response, one per line, without the values of cookies: they are the crawl's session."""
    if "set-cookie" not in headers.lower():
        return headers
    return "\n".join(map(_redacted_line, headers.split("\n")))


def without_value(header: str) -> str:
    """A Set-Cookie header with the name of the cookie alone."""
    return f"{header.partition('=')[0].strip()}=…"


def _redacted_line(line: str) -> str:
    name, colon, value = line.partition(":")
    return f"{name}{colon} {without_value(value)}" if name.strip().lower() == "set-cookie" else line


class _Response(NamedTuple):
    """A response as CookieJar reads it."""

    headers: Message

    def info(self) -> Message:
        return self.headers


class _BoundedPolicy(DefaultCookiePolicy):
    """Refuses a cookie beyond the limits. A cookie that the jar has already may always change."""

    def __init__(self, jar: CookieJar) -> None:
        super().__init__(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain)  # as RFC 6265, 5.4
        self._jar = jar

    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        if not super().set_ok(cookie, request) or len(cookie.name) + len(cookie.value or "") > MAX_COOKIE_CHARACTERS:
            return False
        same = [one for one in self._jar if one.domain == cookie.domain]
        if any((one.name, one.path) == (cookie.name, cookie.path) for one in same):
            return True
        return len(same) < MAX_COOKIES_PER_DOMAIN and len(self._jar) < MAX_COOKIES
