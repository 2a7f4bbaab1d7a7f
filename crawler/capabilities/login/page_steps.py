"""The pages of a crawl that logs in are requested within its session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from msgspec.structs import replace

from crawler import encryption
from crawler.capabilities.login.credentials import LoginCredentials
from crawler.capabilities.login.form import LoginFailed, LoginForm
from crawler.capabilities.login.keeper import LoginKeeper, Session
from crawler.capabilities.login.logout import is_logout_text
from crawler.capabilities.login.options import LoginOptions
from crawler.capabilities.login.sessions import Logins
from crawler.core.html import link_codec
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.fetcher.host_slot import RateLimited
from crawler.fetcher.page_step import CannotPrepare, Fetch, PageStep, SliceContext, Stage, Visit
from crawler.http.client import HttpFetcher


class LoginStep(PageStep):
    stage = Stage.CHECK

    def __init__(self, keeper: LoginKeeper) -> None:
        self._keeper = keeper

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        """Raises SealBroken."""
        if not LoginOptions.of(context.policy).login_url:
            return None
        if "login" not in context.shared:
            logins = Logins(context.frontier.redis, context.frontier.keys)
            context.shared["login"] = Session(context.policy, logins)
        return cls(LoginKeeper(context.shared["login"], context.fetcher, context.slot, context.holder, context.now))

    @classmethod
    def prepare(cls, policy: FetchPolicy, fetcher: HttpFetcher, wait: Callable[[], bool]) -> None:
        """Log in; `fetcher` gets the cookies."""
        url = LoginOptions.of(policy).login_url
        if not url:
            return
        try:
            form = LoginForm(policy, LoginCredentials.of(encryption.opened(policy.sealed)).login_fields)
            fetcher.use_cookies(form.log_in(fetcher, wait))
        except LoginFailed as error:
            raise CannotPrepare(url, f"the log-in has failed: {error}") from error

    def around(self, task: PageTask, fetch: Fetch) -> PageResult | RateLimited:
        return self._keeper.fetch(task, fetch)

    def parsed(self, visit: Visit) -> PageResult | None:
        """Raises LoginShown, for `LoginKeeper.fetch`."""
        if visit.shown is not None:
            self._keeper.form.check(visit.task.url, visit.shown, visit.document)
        return None

    def finish(self, visit: Visit) -> None:
        """Links whose text says that they log out are named."""
        if visit.result is not None and visit.document is not None:
            found = link_codec.unpacked(visit.result.linkage, visit.task.url)
            links = tuple(dict.fromkeys(link.url for link in found if is_logout_text(link.text)))
            visit.result = replace(visit.result, barred_links=links)

    def renew(self) -> None:
        self._keeper.renew()


PAGE_STEPS = (LoginStep,)
