"""Keeps a crawl logged in: one of its workers logs in while the others wait, and again when a page shows the form."""

from __future__ import annotations

import logging

from crawler import encryption
from crawler.capabilities.login.credentials import LoginCredentials
from crawler.capabilities.login.form import LoginFailed, LoginForm, LoginShown
from crawler.capabilities.login.logout import is_logout_url
from crawler.capabilities.login.sessions import MAX_LOGINS_PER_HOUR, Logins, LoginState
from crawler.clock import Clock
from crawler.core.errors import SealBroken
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import EXTERNAL, PageResult, PageTask
from crawler.crashpoints import crash_point
from crawler.fetcher.host_slot import HostSlot, RateLimited
from crawler.fetcher.page_step import Fetch
from crawler.http.client import HttpFetcher
from crawler.http.cookies import Cookies
from crawler.http.errors import RequestAborted

log = logging.getLogger(__name__)

LOGIN_POLL_S = 0.2  # between two looks whether another worker has logged in
MAX_SAVES = 5  # tries to store cookies while other workers store some
MAX_REQUESTS = 4  # for one page; others log in between them


class Session:
    """The session of a crawl, as the slices of one batch share it. It takes over cookies that other workers got."""

    def __init__(self, policy: FetchPolicy, logins: Logins) -> None:
        self.logins = logins
        self.form = LoginForm(policy, LoginCredentials.of(encryption.opened(policy.sealed)).login_fields)
        self.cookies = Cookies(policy.own_hosts)  # another jar for each session and revision
        self.sealed = policy.sealed
        self._own_hosts, self._state = policy.own_hosts, LoginState()

    def read(self, page: int) -> LoginState:
        """The state before a request for this page; `cookies` belong to its session."""
        state = self.logins.read(page, self.sealed)
        if (state.session, state.revision) != (self._state.session, self._state.revision):
            self._load()
        return state._replace(session=self._state.session, revision=self._state.revision)

    def keep(self, cookies: Cookies, session: str) -> None:
        """Store what responses in this session have set in this jar, together with what other workers got. A response
        that comes when there is another session changes nothing: it may have ended its own."""
        received, cookies.received = cookies.received, []
        for _ in range(MAX_SAVES):
            if not received or session != self._state.session:
                return
            if cookies is not self.cookies:
                self.cookies.note_again(received)
            revision = self.logins.save(self._state, encryption.seal_cookies(self.cookies.dumped()))
            if revision > 0:
                self.cookies.received, self._state = [], self._state._replace(revision=revision)
                return
            self._load()

    def forget(self) -> None:
        """Drop the jar: a response that shows the form may have changed it."""
        self._state = LoginState()

    def _load(self) -> None:
        self._state, sealed = self.logins.jar()
        self.cookies = Cookies(self._own_hosts)
        try:
            self.cookies.load(encryption.opened_cookies(sealed) if sealed else b"[]")
        except SealBroken:  # stored under a former SECRET_KEY: as if there were no session
            self._state = LoginState()


class LoginKeeper:
    """Requests the pages of one slice within the session."""

    def __init__(self, session: Session, fetcher: HttpFetcher, slot: HostSlot, holder: str, now: Clock) -> None:
        self._session, self._fetcher, self._slot, self._holder, self._now = session, fetcher, slot, holder, now
        self._is_logging_in = False
        self._logged_in_for = 0  # the last page that has shown the form

    @property
    def form(self) -> LoginForm:
        return self._session.form

    def fetch(self, task: PageTask, fetch: Fetch) -> PageResult | RateLimited:
        """The result of a page, within a session; or when to go on, because another worker logs in. Raises
        RequestAborted if the log-in has failed: the next tick pauses the crawl; or if a user has changed the log-in:
        the next batch with this page knows the new one.

        If the page shows the form, and no other worker has logged in since it was requested, this one does. A page that
        then shows it again pauses the crawl. One that showed it to another worker, which died or handed it back, does
        not: that session may have ended like the one before it.
        """
        if task.kind == EXTERNAL:
            return fetch(task)
        if is_logout_url(task.url):
            error = "a crawl that logs in does not request log-out links"
            return PageResult(id=task.id, attempt=task.attempt, outcome=Outcome.EXCLUDED, error=error)
        try:
            return self._fetch_within_session(task, fetch)
        except LoginFailed as error:
            log.warning("a page waits until the crawl is resumed: %s: %s", task.url, error)
            raise RequestAborted from None

    def _fetch_within_session(self, task: PageTask, fetch: Fetch) -> PageResult | RateLimited:
        for _ in range(MAX_REQUESTS):
            state = self._session.read(task.id)
            if state.is_outdated:
                raise RequestAborted
            if state.failed:
                raise LoginFailed(state.failed)
            try:
                if state.may_request:
                    return self._fetch(task, fetch, state)
            except LoginShown:
                self._slot.end_grant()
                self._session.forget()
                if self._session.logins.read().session != state.session:
                    continue  # another worker has logged in meanwhile
                is_again, self._logged_in_for = self._logged_in_for == task.id, task.id
                why = _shown_again(task.url)
                if not self._session.logins.note_shown(state.session, task.id, why, is_of_this_page=is_again):
                    raise LoginFailed(_shown_again(task.url)) from None
            limited = self._log_in(state.session)
            if limited is not None:
                return limited
        return RateLimited(self._now() + LOGIN_POLL_S)

    def _fetch(self, task: PageTask, fetch: Fetch, state: LoginState) -> PageResult | RateLimited:
        cookies = self._session.cookies
        self._fetcher.use_cookies(cookies)
        result = fetch(task)
        if isinstance(result, RateLimited):
            return result
        if self.form.is_page(task.url):  # many sites begin a new session there
            self._session.forget()
        else:
            self._session.keep(cookies, state.session)
        if state.is_suspicious and result.fetched_at:
            self._session.logins.forget_shown(task.id)
        return result

    def renew(self) -> None:
        """Renew the lock while this slice logs in; called in the heartbeat's thread."""
        if self._is_logging_in:
            self._session.logins.renew_lock()

    def _log_in(self, ended: str) -> RateLimited | None:
        """Log in, unless another worker does or has done so since this session ended."""
        logins = self._session.logins
        if not logins.acquire_lock(self._holder):
            return RateLimited(self._now() + LOGIN_POLL_S)
        self._is_logging_in = True
        try:
            state = logins.read(sealed=self._session.sealed)
            if state.session != ended or state.is_outdated:
                return None
            crash_point("login: begun")
            if logins.is_too_often():
                raise LoginFailed(f"the site ended the session {MAX_LOGINS_PER_HOUR} times within an hour")
            cookies = self._session.form.log_in(self._fetcher, self._slot.wait_for_grant)
            crash_point("login: form accepted")
            if logins.begin_session(self._holder, encryption.seal_cookies(cookies.dumped())):
                log.info("logged in at %s", self._session.form.url)
            return None
        except LoginFailed as error:
            why = f"the log-in at {self._session.form.url} has failed: {error}"
            if not logins.fail(self._holder, why):
                return None  # it took so long that another worker logs in
            raise LoginFailed(why) from None
        finally:
            self._is_logging_in = False
            self._slot.end_grant()
            logins.release_lock(self._holder)


def _shown_again(url: str) -> str:
    return (
        f"{url} shows the log-in form although the log-in worked; if this user may not see the page, exclude it with "
        "“No URLs that match”"
    )
