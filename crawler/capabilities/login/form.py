"""Logs in: requests the page of the form, sends it filled in, and checks that it worked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from urllib.parse import urlencode

import msgspec

from crawler.capabilities.login.forms import Form, login_form, matches
from crawler.capabilities.login.options import LoginOptions
from crawler.core.access.credential_kinds import Pair
from crawler.core.access.credentials import is_own
from crawler.core.html import charsets
from crawler.core.html.document import Document, document_of
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.urls.normalise import host_of, normalise, origin_of
from crawler.http.client import HttpFetcher
from crawler.http.cookies import Cookies
from crawler.http.fetcher import FetchResult, is_html

MAX_HOPS = 10  # redirects in a row
MAX_TRIES = 3  # of the page with the form, while it does not respond
_KEEPS_METHOD = (307, 308)  # redirects that repeat the request with its body


class LoginFailed(Exception):
    """The message says why, for users; it holds no value of a field."""


class LoginShown(Exception):
    """The response to a page asks for a log-in; it is no result of that page."""


class LoginResponse(msgspec.Struct, frozen=True):
    """The last response of a chain of redirects."""

    url: str
    fetched: FetchResult


class LoginForm:
    """The log-in of a crawl, as its user described it."""

    def __init__(self, policy: FetchPolicy, values: Sequence[Pair]) -> None:
        chosen = LoginOptions.of(policy)
        self.url, self._check, self._values = chosen.login_url, chosen.login_check, values
        self._own_hosts: Collection[str] = frozenset(policy.own_hosts)
        self._names = frozenset(name for name, _ in values)

    def is_page(self, url: str) -> bool:
        """Whether this normalised URL is the page with the form, whatever its query says."""
        return _without_query(url) == _without_query(self.url)

    def check(self, url: str, fetched: FetchResult, document: Document | None) -> None:
        """Raises LoginShown."""
        if self._is_shown(url, fetched, document):
            raise LoginShown

    def _is_shown(self, url: str, fetched: FetchResult, document: Document | None) -> bool:
        """Whether a response, with this page, asks for a log-in: it redirects to the form's page, or has the form, and
        is not the form's own page. Where there is a sign of being logged in, a page with it does not ask, and one
        without it does even if its form for a password has other fields."""
        if self.is_page(url):
            return False
        if fetched.outcome is Outcome.REDIRECT:
            target = normalise(fetched.location, url) if fetched.location else None
            return target is not None and self.is_page(target)
        if document is None and _is_refusal(fetched):
            document = document_in(fetched)
        if document is None:
            return False
        form = login_form(document, self._names, or_password=bool(self._check))
        return form is not None and not (self._check and matches(document, self._check))

    def log_in(self, fetcher: HttpFetcher, wait: Callable[[], bool]) -> Cookies:
        """The cookies of a new session. Raises LoginFailed. `wait` waits until a request may be sent; False: that takes
        too long.

        1. Request the page with the form; its redirects are followed on the crawl's own hosts.
        2. Find the form that has all the fields, else one for a password, with what its hidden fields hold.
        3. Send it filled in, once, and follow redirects.
        4. Check: the sign of being logged in is there, or else the form is gone.
        """
        cookies = Cookies(self._own_hosts)
        fetcher.use_cookies(cookies)
        page = self._page_with_form(fetcher, wait)
        document = document_in(page.fetched)
        form = login_form(document, self._names, or_password=True) if document is not None else None
        if form is None:
            raise LoginFailed(f"{page.url} has no form with the fields {', '.join(sorted(self._names))}")
        has_names = form.has_all(self._names)
        answer = self._sent(form, page.url, fetcher, wait)
        self._verify(answer, has_names=has_names)
        return cookies

    def _page_with_form(self, fetcher: HttpFetcher, wait: Callable[[], bool]) -> LoginResponse:
        for number in range(MAX_TRIES):
            answer = self._followed(self.url, fetcher, wait)
            status = answer.fetched.http_status
            is_last = number == MAX_TRIES - 1
            if is_last or (status is not None and status < 500 and status != 429):
                break
        if answer.fetched.outcome is not Outcome.SUCCESS and not _is_refusal(answer.fetched):
            raise LoginFailed(f"the page with the form cannot be loaded: {_problem(answer)}")
        return answer

    def _sent(self, form: Form, page_url: str, fetcher: HttpFetcher, wait: Callable[[], bool]) -> LoginResponse:
        base = normalise(form.base, page_url) if form.base else page_url
        target = normalise(form.action, base or page_url) if form.action else page_url
        if form.method != "post":
            raise LoginFailed(
                f"the form of {page_url} would send the password in a URL (its method is {form.method}), where "
                "servers log it"
            )
        if target is None:
            raise LoginFailed(f"the form of {page_url} is sent to an invalid address")
        self._check_own(target, "the form is sent to")
        body = urlencode(form.filled_in(self._values)).encode()
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Referer": page_url,
            "Origin": origin_of(page_url),
        }
        for _ in range(MAX_HOPS):
            _wait(wait)
            fetched = fetcher.submit(target, body, headers)
            if fetched.http_status not in _KEEPS_METHOD:
                break
            target = self._target(LoginResponse(target, fetched))
        answer = LoginResponse(target, fetched)
        if fetched.outcome is Outcome.REDIRECT:
            return self._followed(self._target(answer), fetcher, wait)
        return answer

    def _verify(self, answer: LoginResponse, *, has_names: bool) -> None:
        document = document_in(answer.fetched)
        if answer.fetched.outcome is not Outcome.SUCCESS:
            raise LoginFailed(f"the site rejected the log-in: {_problem(answer)}")
        if self._check:
            if document is None or not matches(document, self._check):
                raise LoginFailed(
                    f"nothing on {answer.url} matches {self._check!r}, which shows that the log-in worked"
                )
        elif document is not None and login_form(document, self._names, or_password=not has_names):
            raise LoginFailed(f"{answer.url} shows the form again: check the values of its fields")

    def _followed(self, url: str, fetcher: HttpFetcher, wait: Callable[[], bool]) -> LoginResponse:
        """The response behind all redirects, on the crawl's own hosts."""
        for _ in range(MAX_HOPS):
            _wait(wait)
            answer = LoginResponse(url, fetcher.get(url))
            if answer.fetched.outcome is not Outcome.REDIRECT:
                return answer
            url = self._target(answer)
        raise LoginFailed(f"{self.url} redirects more than {MAX_HOPS} times in a row")

    def _target(self, answer: LoginResponse) -> str:
        target = normalise(answer.fetched.location, answer.url) if answer.fetched.location else None
        if target is None:
            raise LoginFailed(f"{answer.url} redirects to an invalid address")
        self._check_own(target, f"{answer.url} redirects to")
        return target

    def _check_own(self, url: str, what: str) -> None:
        if not is_own(url, self._own_hosts):
            raise LoginFailed(
                f"{what} {origin_of(url)}, which is not one of the crawl's own hosts; if it belongs to the site, start "
                f"the crawl with {host_of(url)} among its “Further hosts”"
            )


def document_in(fetched: FetchResult) -> Document | None:
    """The page in this response; None if it is not HTML."""
    if not fetched.body or not is_html(fetched.content_type or "text/html"):
        return None
    return document_of(charsets.utf_8(fetched.body, fetched.content_type_header))


def _is_refusal(fetched: FetchResult) -> bool:
    """Some sites show the form with one of these."""
    return fetched.http_status in (401, 403)


def _problem(answer: LoginResponse) -> str:
    fetched = answer.fetched
    return f"{answer.url}: {fetched.error}" if fetched.error else f"{answer.url} returned {fetched.http_status}"


def _wait(wait: Callable[[], bool]) -> None:
    if not wait():
        raise LoginFailed("the host requires too long a wait between requests")


def _without_query(url: str) -> str:
    return url.partition("?")[0].rstrip("/")
